#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Script of both guests: the other end is gone without a word, since its network is cut,
# its machine stands still, or has lost power. Both ends notice in seconds, and the mount
# goes on when the server is back, or another machine at its address, or when it is told of
# another address. A server that is slow, but there, keeps its connection.
#
#	TEST_ARGS="PROVIDER [PERIOD [PATIENCE [VERSION [OUTAGE [SLOW]]]]]"
#
# PERIOD is the module's parameter heartbeat; with 0, nobody has to notice, and after
# PATIENCE seconds the test goes on. Each outage takes OUTAGE seconds at least; the server
# is slow for SLOW. PROVIDER may be "tcp", to compare with: PERIOD has to be 0 then.
# (Version 3 of NFS may wait for a minute more: an RPC that is sent again, while the
# server is still at it, is dropped there.)

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

# shellcheck disable=SC2086 # several arguments
set -- ${TEST_ARGS:-$LAB_ARGS}
provider=$1 period=${2:-2} patience=${3:-20} version=${4:-4.2} outage=${5:-0}
proto=rdma
[ "$provider" != tcp ] || { proto=tcp; provider=rxe; }
# shellcheck disable=SC2034 # lib.sh uses it
PARAMETERS=heartbeat=$period
# Two periods and a half, which end at full seconds, and what a slow guest takes
limit=$((3 * period + 5))
slow=${6:-$((4 * period + 4))}

# The server has this address, too.
ELSEWHERE=192.168.79.1

lab_make_export() { export_on_disk; }

# has_ended CONNECTIONS - as many have, since this is counted.
has_ended() { [ "$(counted closed)" -gt "$1" ]; }
none_left() { ! connection_of server >/dev/null; }

# notices WHAT COMMAND... - this end does, which makes COMMAND true.
notices() {
	local what=$1 wait=$limit
	shift

	[ "$period" -gt 0 ] || wait=$patience
	SECONDS=0
	if lab_until "$wait" "$@"; then
		echo "$what: noticed by the $LAB_ROLE after $SECONDS s"
	elif [ "$period" -gt 0 ]; then
		lab_fail "$what: the $LAB_ROLE did not notice in $SECONDS s"
	else
		echo "$what: not noticed by the $LAB_ROLE in $SECONDS s"
	fi
}

### Server

freeze() {
	must fsfreeze -f /run/disk
	sleep "$slow"
	must fsfreeze -u /run/disk
	lab_signal thawed
}

# take_over - as another machine, which nobody's neighbour tables have yet
take_over() {
	must sysctl -q "net.ipv4.conf.$LAB_NETDEV.arp_notify=1"
	must ip link set "$LAB_NETDEV" down
	must ip link set "$LAB_NETDEV" address 52:54:00:12:34:03
	must ip link set "$LAB_NETDEV" up
}

server() {
	[ "$LAB_BOOT" -eq 1 ] || take_over
	must ip address add $ELSEWHERE/24 dev "$LAB_NETDEV"
	nfs_start "$provider"
	lab_signal ready
	until [ -e "$LAB_SHARE/.lab-end" ]; do
		lab_wait silent 1 2>/dev/null && {
			notices "idle, network cut" none_left
			lab_signal noticed
		}
		lab_wait freeze 1 2>/dev/null && freeze
		lab_wait leave 1 2>/dev/null &&
			must ip address del "$LAB_SERVER/24" dev "$LAB_NETDEV"
	done
	nfs_stop
}

### Client

goes_on() {
	SECONDS=0
	load_advances 150 || lab_fail "the mount did not come back"
	echo "$1: the mount went on after $SECONDS s"
}

idle_and_cut() {
	local before

	must ls "$LAB_MOUNT" >/dev/null
	before=$(counted closed)
	silence
	lab_signal silent
	notices "idle, network cut" has_ended "$before"
	must lab_wait noticed $((limit + patience + 60))
	end_silence
	SECONDS=0
	must timeout 150 ls "$LAB_MOUNT" >/dev/null
	echo "idle, network back: the mount went on after $SECONDS s"
}

# until_over START - an outage that began then is to last as long as all others.
until_over() {
	while (($(date +%s) < $1 + outage)); do
		sleep 0.2
	done
}

# gone WHAT BEGIN END - under load
gone() {
	local before start

	must load_advances 60
	before=$(counted closed)
	start=$(date +%s)
	must "$2"
	notices "busy, $1" has_ended "$before"
	until_over "$start"
	must "$3"
	goes_on "busy, after that"
}

slow_but_there() {
	local before

	before=$(counted closed)
	lab_signal freeze
	must lab_wait thawed $((slow + 60))
	must load_advances 60
	[ "$(counted closed)" -eq "$before" ] ||
		lab_fail "a server that was slow for $slow s lost its connection"
	echo "slow for $slow s: kept its connection"
}

leave() { lab_signal leave; }

go_elsewhere() { go_to $ELSEWHERE "$LAB_SERVER"; }

power_cut() {
	must load_advances 60
	must lab_restart_server
	must lab_wait ready 120
	must go_to "$LAB_SERVER" $ELSEWHERE
	goes_on "busy, another machine at the address after a power cut"
}

mount_server() {
	if [ $proto = tcp ]; then
		mkdir -p "$LAB_MOUNT" &&
		mount -t nfs -o "vers=$version,proto=tcp" "$LAB_SERVER:/" "$LAB_MOUNT"
	else
		lab_mount "$version"
	fi
}

# What is left of that, for the doctor
is_said() {
	awk '$1 == "silent_connections:" && $2 > 0 { f = 1 } END { exit !f }' \
		"$(connection_of client)"
}

beats_sent() { awk '$1 == "heartbeats:" && $2 > 0 { f = 1 } END { exit !f }' "$(connection_of client)"; }

client() {
	must ip address add ${ELSEWHERE%.*}.2/24 dev "$LAB_NETDEV"
	must lab_rdma_up "$provider"
	load_transport
	must lab_wait ready 120
	count_event closed rpcrdma2/rpcrdma2_conn_close
	count_event missed rpcrdma2/rpcrdma2_heartbeat_missed
	must mount_server
	[ "$period" -eq 0 ] || must lab_until 20 beats_sent
	[ $proto = tcp ] || idle_and_cut
	LOAD_FORGETFUL=1 load_start
	gone "network cut" silence end_silence
	gone "server stands still" lab_pause lab_resume
	slow_but_there
	gone "address lost" leave go_elsewhere
	power_cut
	load_stop
	if [ "$period" -gt 0 ]; then
		[ "$(counted missed)" -ge 1 ] || lab_fail "no heartbeat was missed"
		is_said || lab_fail "the connection's file says nothing of it"
	else
		[ "$(counted missed)" -eq 0 ] || lab_fail "a heartbeat was missed"
	fi
	pair_client_stop
}

"$LAB_ROLE"
