#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: soft mounts get errors at their deadline, hard ones log a line, and slow
# operations keep their connection. A soft mount's program gets an error after sunrpc's
# deadline, even if the connection is lost meanwhile. Heartbeats keep the connection of a slow
# operation. Clients that are refused come back less often, and not all at once.
#
#	soft.sh [SECONDS TIMEO]
#
# The slow operations take SECONDS (12), on mounts with timeo=TIMEO (50).

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

control=/sys/kernel/debug/mimic/r0
second=${LAB_SERVER%.*}.2 third=${LAB_SERVER%.*}.3
# Threads of nfsd: each Call that is sent again while the file system is frozen takes one more.
threads=48
connections=16
slow_seconds=${1:-12} slow_timeo=${2:-50}

# mount_at NAME ADDRESS VERSION OPTIONS - mount as /run/NAME. NFSv4 recognizes one server at
# several addresses, so mounts of one minor version share a connection.
# (There is no slow operation of 4.0: nfsd drops a Call that comes again while it executes. Then
# the client waits as long as the connection lasts.)
mount_at() { LAB_SERVER=$2 must lab_mount "$3" "$4" "/run/$1"; }

# connects NAME - print how many connections that mount has made
connects() {
	awk -v dir="/run/$1" '
	$1 == "device" { found = $5 == dir }
	found && $1 == "xprt:" { print $5 }' /proc/self/mountstats
}

# begin NAME COMMAND... - run COMMAND in the background. Afterwards, /run/NAME.end has the status
# and the seconds that it took.
declare -A process=()
begin() {
	local name=$1 start=$SECONDS
	shift

	{
		timeout $((90 + slow_seconds)) "$@" 2>"/run/$name.error"
		echo $? $((SECONDS - start)) >"/run/$name.end"
	} &
	process[$name]=$!
}

is_over() { [ -s "/run/$1.end" ]; }

# has_error NAME FROM TO - check that it ends with an I/O error, FROM to TO seconds after it began
has_error() {
	local status seconds

	wait "${process[$1]}"
	read -r status seconds <"/run/$1.end"
	grep -q 'Input/output error' "/run/$1.error" ||
		lab_fail "$1: status $status after $seconds s: $(cat "/run/$1.error")"
	echo "$1: an error after $seconds s"
	((seconds >= $2 && seconds <= $3)) || lab_fail "not within $2 to $3 s"
}

# succeeds NAME - check that it ends without an error
succeeds() {
	local status seconds

	wait "${process[$1]}"
	read -r status seconds <"/run/$1.end"
	[ "$status" -eq 0 ] || lab_fail "$1: status $status: $(cat "/run/$1.error")"
}

read_data() { dd if="/run/$1/data" of=/dev/null bs=64k count=1 iflag=direct; }

# slow_data write|copy NAME - open files, wait until the file system is frozen, and change a
# file. An OPEN on a frozen file system would hold the directory's lock at the client, and the
# other programs would wait for that lock.
slow_data() {
	exec python3 -c '
import mmap, os, sys, time
what, name = sys.argv[1:]
source = os.open(f"/run/{name}/data", os.O_RDONLY)
sink = os.open(f"/run/{name}/{what}", os.O_WRONLY | (os.O_DIRECT if what == "write" else 0))
open(f"/run/{name}-{what}.ready", "w").close()
while not os.path.exists("/run/frozen"):
	time.sleep(0.1)
if what == "write":
	done = os.write(sink, mmap.mmap(-1, 65536))
else:
	done = os.copy_file_range(source, sink, 65536)
sys.exit(done != 65536)' "$@"
}
export -f read_data slow_data

### A connection that sunrpc closes

# The next RPC comes after sunrpc has done everything to close the connection.
close_once() {
	count_event closes sunrpc/xprt_disconnect_auto
	must go_to "$LAB_SERVER" "$LAB_SERVER"
	must stat /run/soft3/data >/dev/null
	[ "$(counted closes)" -eq 1 ] ||
		lab_fail "sunrpc closed one connection $(counted closes) times"
	must rmdir $TRACING/instances/closes
}

### RPCs that run out of time

# No answer with data arrives: the connection is lost instead. (The soft mount is not NFSv4.1,
# which gets no error if each Call loses the connection, not even over TCP.)
lose_answers() {
	must eval "echo 'write fail times=0 status=12' >$control/faults"
	begin soft3 bash -c 'read_data soft3'
	begin hard3 bash -c 'read_data hard3'
}

# Operations that change the file system wait in nfsd; nfsd answers all others.
slow_operations() {
	local name

	begin slow4-write bash -c 'slow_data write slow4'
	begin slow4-copy bash -c 'slow_data copy slow4'
	begin deaf4-write bash -c 'slow_data write deaf4'
	for name in slow4-write slow4-copy deaf4-write; do
		lab_until 30 test -e "/run/$name.ready" || lab_fail "$name: $(cat "/run/$name.error")"
	done
	# nfsd's threads wait for the frozen file system, and not for the transport.
	echo 0 >/proc/sys/kernel/hung_task_timeout_secs
	must fsfreeze --freeze "$LAB_EXPORT"
	touch /run/frozen
}

# is_made_again NAME BEFORE - has the mount made more connections than BEFORE? The next one has
# heartbeats: see below.
is_made_again() { [ "$(connects "$1")" -gt "$2" ]; }

# Slow operations take more than twice the time that an RPC has. They lose a connection without
# heartbeats, and keep one with heartbeats.
slow_operations_keep() {
	local before=$1 start=$SECONDS

	lab_until $((30 + slow_timeo / 5)) is_made_again deaf4 "$2" ||
		lab_fail "without heartbeats, an RPC's timeout does not close the connection"
	until ((SECONDS - start >= slow_seconds)); do
		must timeout 60 stat /run/slow4/data >/dev/null
		lab_nap 0.5
	done
	if is_over slow4-write || is_over slow4-copy; then
		lab_fail "the file system is not frozen"
	fi
	[ "$(connects slow4)" -eq "$before" ] ||
		lab_fail "slow operations cost $(($(connects slow4) - before)) connections"
	echo "slow operations: no connection lost; without heartbeats $(($(connects deaf4) - $2))"
}

# An RPC of this mount closes the connection if it has no answer after 5 s. Later RPCs close the
# connection of earlier ones again and again.
hang_with_others() {
	local i

	begin hung3 mkdir /run/hung3/0/new
	for ((i = 1; i < 20; i++)); do
		lab_until 2 is_over hung3 && break
		timeout 60 mkdir "/run/hung3/$i/new" 2>/dev/null &
	done
	has_error hung3 8 30
}

is_said() { dmesg | grep -F "$*"; }

run_out_of_time() {
	local slow deaf

	slow_operations
	slow=$(connects slow4) deaf=$(connects deaf4)
	lose_answers
	slow_operations_keep "$slow" "$deaf"
	hang_with_others
	must fsfreeze --unfreeze "$LAB_EXPORT"
	has_error soft3 25 80
	lab_until 30 is_said "server $second not responding, still trying" ||
		lab_fail "a hard mount does not say that its server does not respond"
	! is_over hard3 || lab_fail "a hard mount gave up: $(cat /run/hard3.e*)"
	echo clear >$control/faults
	succeeds hard3
	succeeds slow4-write
	succeeds slow4-copy
	succeeds deaf4-write
	wait
	must timeout 60 stat /run/hung3/0/new >/dev/null
}

### Clients that are refused

# attempts FROM TO - print when the client began to connect, in seconds since the first attempt.
# Skip attempts before FROM and after TO.
attempts() {
	sed -n 's/.* \([0-9.]*\): rpcrdma2_conn_new: .*/\1/p' \
		$TRACING/instances/attempts/trace | sort -n | awk -v from="$1" -v to="$2" '
	NR == 1 { first = $1 }
	$1 - first >= from && $1 - first < to { print $1 - first }'
}

# Several programs wait for each connection.
wait_for_all() {
	exec python3 -c '
import os, threading
def look(i):
	try:
		os.stat("/run/many/%d" % i)
	except OSError:
		pass
for i in range(4 * '$connections'):
	threading.Thread(target=look, args=(i,)).start()'
}

later_attempts() { [ "$(attempts "$1" 1000 | wc -l)" -gt 0 ]; }

# Each connection asks at once. It asks again after 3 to 4.5 s, then after 6 to 9 s, and then
# after 7 to 10 s.
refuse() {
	local early next all spread waiter

	mount_at many "$LAB_SERVER" 3 "nolock,nconnect=$connections"
	must rpc.nfsd 0
	count_event attempts rpcrdma2/rpcrdma2_conn_new 'active == 1'
	wait_for_all &
	waiter=$!
	must lab_until 90 later_attempts 8
	early=$(attempts 0 2.5 | wc -l)
	next=$(attempts 2.5 8 | wc -l)
	all=$((early + next))
	spread=$(attempts 2.5 8 | awk 'NR == 1 { first = $1 } END { print $1 - first }')
	echo "$connections connections, refused: $early attempts at first, $next from 2.5 to 8 s," \
		"$spread s from the first to the last of these"
	((early <= connections + 4)) || lab_fail "at first they ask again and again"
	((all <= 2 * connections + 8)) || lab_fail "they ask too often"
	((next >= connections / 2)) || lab_fail "they ask too seldom"
	awk -v spread="$spread" 'BEGIN { exit spread < 0.6 }' ||
		lab_fail "they come back at the same time"
	must kill -KILL $waiter
	wait $waiter
	must umount -f /run/many
}

# No lease may run out while connections are lost.
# shellcheck disable=SC2034 # lab_nfs_server uses it
LAB_LEASE=90
# On iWARP, heartbeats are RDMA Reads, so faults of RDMA Writes do not hit them.
must lab_rdma_up mimic:iwarp
load_transport
nfs_serve ext4
echo $threads >/proc/fs/nfsd/threads
must ip address add "$second/24" dev "$LAB_NETDEV"
must ip address add "$third/24" dev "$LAB_NETDEV"
must dd if=/dev/urandom of="$LAB_EXPORT/data" bs=64k count=1 status=none
cp "$LAB_EXPORT/data" "$LAB_EXPORT/write"
cp "$LAB_EXPORT/data" "$LAB_EXPORT/copy"
mkdir "$LAB_EXPORT"/{0..20}

mount_at soft3 "$LAB_SERVER" 3 nolock,soft,timeo=150,retrans=1
close_once
mount_at hard3 "$second" 3 nolock,timeo=150,retrans=1
mount_at hung3 "$third" 3 nolock,soft,timeo=50,retrans=1
mount_at slow4 "$LAB_SERVER" 4.2 noac,timeo="$slow_timeo"
echo 0 >/sys/module/rpcrdma2/parameters/heartbeat
mount_at deaf4 "$LAB_SERVER" 4.1 timeo="$slow_timeo"
echo 5 >/sys/module/rpcrdma2/parameters/heartbeat
run_out_of_time
for name in soft3 hard3 hung3 slow4 deaf4; do
	must umount "/run/$name"
done
refuse
nfs_stop
