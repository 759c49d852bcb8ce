#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Host script: a hostile peer attacks the module, and an honest mount beside it must not
# notice. The script builds the peer (tests/peer), and runs itself in a guest.
#
#	hostile.sh client PROVIDER [TEXT...]	a client attacks the server
#	hostile.sh flood rxe			many clients send messages that use no credit
#	hostile.sh hold rxe [CASE]		clients make the server hold memory; without
#						CASE, the flood goes first
#	hostile.sh time rxe			the server disconnects such clients in time
#	hostile.sh server rxe [TEXT]		a server misbehaves towards the module's
#						client
#
# TEXT and CASE select cases. FLAVOUR in the environment is the guest's kernel (debug).
#
# The flood needs a newer kernel than Linux 6.1, whose rxe repeats messages in softirqs, so that
# no thread gets the CPU. KASAN keeps freed memory, so "hold" needs another flavour than debug.
# With siw, the peer can't be the server: siw omits the handle when a program sends With Invalidate.

# shellcheck disable=SC2317 # not unreachable: functions are called by name, too

if [ -z "${LAB_LIB:-}" ]; then
	tree=$(realpath "$(dirname "$0")/..")
	cache=${RPCRDMA2_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rpcrdma2}
	peer=$cache/peer-$(echo "$tree" | sha256sum | cut -c 1-10)
	# Another run may be building the peer, too.
	"$tree/tools/lab/lab" deps peer &&
		flock "$tree/tests/peer" make -s -C "$tree/tests/peer" O="$peer" &&
		exec "$tree/tools/lab/lab" run "${FLAVOUR:-debug}" \
			--timeout 1500 -e "PEER_PROGRAM=$peer/peer" "$0" "$@"
	exit 1
fi

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

# honest_start - start the load on the honest mount. The load pauses for a second between rounds:
# with a fifth of this pause, it took half of the CPU.
honest_start() {
	must lab_mount 4.2
	LOAD_PAUSE=1 load_start
}

honest_stop() {
	must load_advances 60
	load_stop
	must umount "$LAB_MOUNT"
}

attack_server() {
	local host

	yes hostile 2>/dev/null | head -c 65536 >"$LAB_EXPORT/data"
	: >"$LAB_EXPORT/sink"
	chmod 666 "$LAB_EXPORT/data" "$LAB_EXPORT/sink"
	for host in 2 3 4 5 6; do
		must ip address add 192.168.77.$host/24 dev "$LAB_NETDEV"
	done
	"$PEER_PROGRAM" client "$LAB_SERVER" 20049 "$@" || return
	! dmesg | grep "makes no queue pair" ||
		lab_fail "the log blames the device for clients that gave up"
}

rnr_naks() { cat /sys/class/infiniband/r0/ports/1/hw_counters/rcvd_rnr_err; }

# getattrs - print how many milliseconds a thousand GETATTRs take on the honest mount.
getattrs() {
	local start=${EPOCHREALTIME//[^0-9]/} names

	# (A guest has no /dev/fd.)
	mapfile -t names <<<"$(yes "$LAB_MOUNT/flooded" 2>/dev/null | head -n 1000)"
	must stat --cached=never -c %s "${names[@]}" >/dev/null
	echo $(((${EPOCHREALTIME//[^0-9]/} - start) / 1000))
}

# flood_is_harmless - many clients fill shared Receives with messages that use no credit. The
# server closes each of these connections soon. Meanwhile, RPCs of other clients seldom lack a
# Receive.
flood_is_harmless() {
	local calm busy before peer

	: >"$LAB_EXPORT/flooded"
	calm=$(getattrs)
	before=$(rnr_naks)
	"$PEER_PROGRAM" flood "$LAB_SERVER" 20049 32 >/run/flood 2>&1 &
	peer=$!
	lab_until 120 grep -q flooding /run/flood || lab_fail "no flood: $(cat /run/flood)"
	busy=$(getattrs)
	echo "1000 GETATTRs: $calm ms, $busy ms in a flood; $(($(rnr_naks) - before)) RNR NAKs"
	lab_until 10 grep -q over /run/flood || lab_fail "the flood goes on"
	must wait $peer
	[ $(($(rnr_naks) - before)) -le 6000 ] || lab_fail "too many RNR NAKs"
	[ "$busy" -le $((4 * calm + 5000)) ] || lab_fail "that is too slow"
}

# withheld_answer - a client asks for smaller Receives, and does not answer the server's REQUEST.
# Until it does, the server has nothing to do for that connection.
withheld_answer() {
	local parameters=/sys/module/rpcrdma2/parameters function peer looks

	must eval "echo 65536 >$parameters/inline_size"
	must eval "echo 12288 >$parameters/inline_min"
	must eval "echo 0 >$parameters/use_srq"
	"$PEER_PROGRAM" withhold "$LAB_SERVER" 20049 >/run/withhold 2>&1 &
	peer=$!
	lab_until 30 grep -q withholding /run/withhold || { cat /run/withhold; return 1; }
	function=$(sed -n 's/ t rpcrdma2_resize_work\t.*//Ip' /proc/kallsyms)
	count_event looks workqueue/workqueue_execute_start "function == 0x$function"
	sleep 6
	kill $peer
	wait $peer
	looks=$(counted looks)
	# One look in 5 s is for Receives that are idle.
	((looks >= 1 && looks <= 3)) || lab_fail "the server looked $looks times within 6 s"
	must eval "echo 0 >$parameters/inline_min"
	must eval "echo 12288 >$parameters/inline_size"
	must eval "echo 1 >$parameters/use_srq"
}

no_connections() { grep -q '^connections: *0$' "$CONNECTIONS"/server; }

# stop_server - stop the server while clients are connecting. No connection may wait for its
# timeout, because it pins the module and the network namespace.
stop_server() {
	local peer

	: >/run/linger
	"$PEER_PROGRAM" linger "$LAB_SERVER" 20049 >/run/linger &
	peer=$!
	must lab_until 60 grep -q lingering /run/linger
	count_event late rpcrdma2/rpcrdma2_conn_close 'status == -110'
	must timeout 60 rpc.nfsd 0
	lab_until 60 no_connections || lab_fail "connections are left"
	[ "$(counted late)" -eq 0 ] ||
		lab_fail "$(counted late) clients pinned the module until a timeout"
	kill $peer
	wait $peer
	nfs_stop
}

### Clients that make the server hold memory

# MiB that the server may hold for RDMA Reads, RDMA Writes and waiting Replies
HOLD_LIMIT=16
# MiB that a case may take besides, mostly for the work of the honest mounts
HOLD_SLACK=24
TCP_MOUNT=/mnt/tcp

server() { sed -n "s/^$1: *//p" $CONNECTIONS/server; }
read_memory() { must eval "echo $1 >/sys/module/rpcrdma2/parameters/read_memory"; }
holder_says() { grep -q "^$1" /run/hold; }
holds_nothing() { [ "$(server read_pages)" -eq 0 ]; }

# tcp_advances - the honest mount over TCP writes and reads 4 MiB.
tcp_advances() {
	timeout 40 dd if=/run/honest of="$TCP_MOUNT/honest" bs=1M oflag=direct \
		conv=notrunc status=none &&
	timeout 40 dd if="$TCP_MOUNT/honest" of=/run/copy bs=1M iflag=direct status=none &&
	cmp /run/honest /run/copy
}

# honest_advance - the honest mounts advance, and no step takes more than 40 seconds. A longer step
# would mean that an RPC waited for its timeout.
honest_advance() {
	must tcp_advances
	must load_advances 40
}

# hold_ready CASE CONNECTIONS ADDRESSES - have the peer connect from so many addresses. Set $holder
# to its PID. Empty the file first: the shell may read it before the new process opens it.
hold_ready() {
	: >/run/hold
	"$PEER_PROGRAM" hold "$LAB_SERVER" 20049 "$@" >/run/hold 2>&1 &
	holder=$!
	lab_until 120 holder_says ready || lab_fail "$1: $(cat /run/hold)"
}

hold() {
	kill -USR1 "$holder"
	lab_until 120 holder_says holding || lab_fail "$(cat /run/hold)"
}

hold_and_advance() {
	hold
	honest_advance
}

# hold_case CASE CONNECTIONS ADDRESSES - check the memory that the server holds in this case.
hold_case() {
	local before holder held

	SECONDS=0
	hold_ready "$@"
	before=$(memory_now)
	least_during hold_and_advance
	kill "$holder"
	wait "$holder"
	held=$(((${before%% *} - ${least%% *}) / 1024))
	echo "$1: $held MiB held, $(server read_page_waits) waits, $SECONDS s"
	[ $held -le $((HOLD_LIMIT + HOLD_SLACK)) ] || lab_fail "$1: $held MiB are held"
	must lab_until 60 holds_nothing
}

# hold_prepare - make addresses for the client, and a file to read. Heartbeats are off: they would
# end most of the client's connections early.
hold_prepare() {
	local i

	echo 0 >/sys/module/rpcrdma2/parameters/heartbeat
	for ((i = 10; i < 20; i++)); do
		must ip address add 192.168.77.$i/24 dev "$LAB_NETDEV"
	done
	must dd if=/dev/urandom of="$LAB_EXPORT/huge" bs=1M count=1 status=none
}

# hold_memory [CASE] - check the cases that match CASE, beside honest mounts over RDMA and TCP.
hold_memory() {
	local memory what

	hold_prepare
	must dd if=/dev/urandom of=/run/honest bs=1M count=4 status=none
	mkdir "$TCP_MOUNT"
	must mount -t nfs -o vers=3,proto=tcp,mountproto=tcp,nolock \
		"$LAB_SERVER:$LAB_EXPORT" "$TCP_MOUNT"
	while read -r memory what; do
		[[ $what = *${1:-}* ]] || continue
		read_memory "$memory"
		# shellcheck disable=SC2086 # words
		hold_case $what
	done <<-END
	$HOLD_LIMIT replies-wait 3 1
	$HOLD_LIMIT replies-written 40 1
	4 replies-written 12 6
	4 reads 12 6
	END
	must umount "$TCP_MOUNT"
}

has_connections() { [ "$(connection_of server | wc -l)" -eq "$1" ]; }

# hold_time - a peer that takes no Reply loses its connection, even while there is enough memory,
# and without heartbeats.
hold_time() {
	local holder connections

	connections=$(connection_of server | wc -l)
	hold_prepare
	hold_ready replies-written 3 1
	hold
	SECONDS=0
	has_connections $((connections + 3)) || lab_fail "$(connection_of server)"
	lab_until 100 has_connections "$connections" ||
		lab_fail "after $SECONDS s, there is $(connection_of server)"
	echo "closed after $SECONDS s"
	[ $SECONDS -ge 50 ] || lab_fail "the client had no time"
	kill "$holder"
	wait "$holder"
}

### A server that misbehaves towards the module's client

parallel=8
file_size=$((96 * 16384))
declare -A cases=()

# read_file MOUNT - read a file by several RPCs at a time, with Write chunks, and compare it.
read_file() {
	timeout 400 dd if="$1/file" bs=$file_size count=1 iflag=direct \
		2>/dev/null | cmp - /run/expected
}

# mount_hostile MOUNT PORT [OPTIONS] - mount from the peer.
mount_hostile() {
	mkdir "$1"
	timeout 200 mount -t nfs "$LAB_SERVER:$LAB_EXPORT" "$1" -o \
		"vers=3,proto=rdma,port=$2,mountproto=tcp,nolock,rsize=16384,retry=0$3"
}

# bear CASE MOUNT PORT PEER - mount from the process PEER, read the file, and expect what the
# case's name says (peer/server/run.c).
bear() {
	local reader options=''

	# timeo: after so many tenths of a second, an RPC counts as lost.
	case $1 in
	fails-*) options=,timeo=100,retrans=1 ;;
	*-keep-the-credit) options=,timeo=50 ;;
	*-8k-*)	options=,rsize=8192 ;;
	esac
	if [[ $1 = fails-* ]]; then
		! mount_hostile "$2" "$3" "$options" ||
			lab_fail "it was mounted"
		[ $SECONDS -le 100 ] || lab_fail "that took $SECONDS s"
		return
	fi
	must mount_hostile "$2" "$3" "$options"
	case $1 in
	*-external-*) must timeout 60 ls "$2" >/dev/null ;;
	errs-*)	! read_file "$2" || lab_fail "nothing went wrong" ;;
	killed-*)
		ls "$2" &
		reader=$!
		must lab_until 60 grep -q waiting "/run/$1"
		kill -KILL $reader
		timeout 20 tail -s 0.1 --pid=$reader -f /dev/null ||
			lab_fail "the reader can't be killed"
		wait $reader
		[ $? -eq 137 ] || lab_fail "the reader did not wait"
		kill -USR1 "$4"
		sleep 1 ;;
	esac
	must read_file "$2"
	must umount "$2"
}

# one_case CASE PORT - run a case's server and client. A server that finds a fault exits. Then the
# case ends, because the client would wait for the server for long.
one_case() {
	local peer bearer ended status

	SECONDS=0
	"$PEER_PROGRAM" server "$LAB_SERVER" "$2" "$1" &
	peer=$!
	must lab_until 10 grep -q listening "/run/$1"
	(bear "$1" "/mnt/$1" "$2" $peer) &
	bearer=$!
	wait_for_any $peer $bearer
	wait "$ended"
	status=$?
	if [ "$ended" = $peer ]; then
		status=1
	else
		kill -TERM $peer
		wait $peer || status=1
	fi
	# End all RPCs that still wait for that server.
	[ $status -eq 0 ] || umount -f -l "/mnt/$1"
	wait
	echo "$SECONDS s"
	return $status
}

# reap - wait until any case ends, and print its line.
reap() {
	local ended name

	wait_for_any "${!cases[@]}"
	name=${cases[$ended]}
	number=$((number + 1))
	if wait "$ended"; then
		echo "ok $number - $name ($(tail -n 1 "/run/$name"))"
	else
		cat "/run/$name"
		grep rpcrdma2 $TRACING/trace | grep -v WR_FLUSH_ERR | tail -n 60
		echo "not ok $number - $name"
		failed=$((failed + 1))
	fi
	unset "cases[$ended]"
}

# run_cases DIALECTS REVERSE NAME... - run cases, several at a time, with a client that asks in
# these dialects and takes such Calls from the server.
run_cases() {
	local name

	echo "$1" >/sys/module/rpcrdma2/parameters/dialects
	echo "$2" >/sys/module/rpcrdma2/parameters/reverse
	shift 2
	for name; do
		[ ${#cases[@]} -lt $parallel ] || reap
		port=$((port + 1))
		one_case "$name" $port >"/run/$name" 2>&1 &
		cases[$!]=$name
	done
	while [ ${#cases[@]} -gt 0 ]; do
		reap
	done
}

# bear_with_server [TEXT] - run the cases whose name matches TEXT.
bear_with_server() {
	local port=20100 number=0 failed=0 event names

	yes hostile 2>/dev/null | head -c $file_size >/run/expected
	must lab_nfs_daemons
	# reap() prints these events when a case fails. Each case has its own port, which is in
	# the events' addresses.
	for event in conn_new conn_state conn_close cm_event wc_error error_recv; do
		echo 1 >$TRACING/events/rpcrdma2/rpcrdma2_$event/enable ||
			lab_fail "no event $event"
	done
	names=$("$PEER_PROGRAM" list | grep -e "${1:-}")
	# shellcheck disable=SC2046 # a name is a word
	run_cases v2-09,v1 inline $(grep -e -v1- -e -both- <<<"$names" | grep -v -e -all-)
	# shellcheck disable=SC2046
	run_cases v2-09,v2-01,v1 inline $(grep -e -all- <<<"$names")
	# shellcheck disable=SC2046
	run_cases v2-09 inline $(grep -v -e -v1- -e -both- -e -genl- <<<"$names")
	# shellcheck disable=SC2046
	run_cases v2-09 genl $(grep -e -genl- <<<"$names")
	echo "$((number - failed)) passed, $failed failed"
	[ $failed -eq 0 ] && [ $number -gt 0 ]
}

# siw counts registered memory as locked.
ulimit -l unlimited
# The peer relies on this number (GRANTED). Its clients use all their credits, each for 1 MiB.
PARAMETERS="${PARAMETERS:-} max_requests=64"
nfs_start "$2"
honest_start
case $1 in
client)	attack_server "${@:3}" && withheld_answer; status=$? ;;
flood)	flood_is_harmless; status=0 ;;
hold)	[ $# -gt 2 ] || flood_is_harmless
	hold_memory "${@:3}"; status=0 ;;
time)	hold_time; status=0 ;;
server)	bear_with_server "${@:3}"; status=$? ;;
esac
honest_stop
case $1 in
client)	stop_server ;;
server)	nfs_stop ;;
esac
must lab_kmemleak
exit "$status"
