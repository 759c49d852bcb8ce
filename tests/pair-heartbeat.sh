#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Script of both guests: when network, server or client disappears, the other end notices
# within two periods and 5 s. The mount continues within 15 s after the server is back, after
# another machine takes its address, or after the client learns another address. A slow server
# keeps its connection.
#
#	TEST_ARGS="PROVIDER [PERIOD [OUTAGE [VERSION [SLOW]]]]"
#
# PERIOD is the module's parameter heartbeat. Each outage lasts for at least OUTAGE seconds, and
# until an end notices it. The server is slow for SLOW seconds. (A mount of NFS version 3 may
# wait for a minute more: the server drops an RPC that comes again while it still executes.
# For comparison, tools/bench --outages measures TCP, and RDMA without heartbeats.)

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

# shellcheck disable=SC2086 # several arguments
set -- ${TEST_ARGS:-$LAB_ARGS}
provider=$1 period=${2:-2} outage=${3:-0} version=${4:-4.2} slow=${5:-}
slow=${slow:-$((4 * period + 4))}
# shellcheck disable=SC2034 # lib.sh uses it
PARAMETERS=heartbeat=$period
# This is nfsd's default. A client waits for at most half a lease between two attempts to
# connect.
# shellcheck disable=SC2034 # lib.sh uses it
LAB_LEASE=90
# Two periods. The 5 s allow for half a period more if there was an RPC just before, for
# rounding to full seconds, and for slow guests.
noticed_in=$((2 * period + 5))
# The mount goes on 15 s after the client can reach a server. A slow guest may take 5 s more.
on_in=$((15 + 5))

# The server has this address, too.
ELSEWHERE=192.168.79.1

lab_make_export() { export_on_disk; }

# has_ended CONNECTIONS - have more connections ended than these?
has_ended() { [ "$(counted closed)" -gt "$1" ]; }
none_left() { ! connection_of server >/dev/null; }

# notices WHAT COMMAND... - check that this end notices in time, so that COMMAND becomes true.
# The time began when $SECONDS was 0.
notices() {
	local what=$1
	shift

	true_within $noticed_in "$@" ||
		lab_fail "$what: the $LAB_ROLE did not notice in $noticed_in s ($SECONDS)"
	echo "$what: noticed by the $LAB_ROLE after $SECONDS s"
}

### Server: functions that the client calls

# watch - check that there is a connection to lose, and start the clock
watch() {
	none_left && lab_fail "there is no connection"
	SECONDS=0
}

# loses_client WHAT - check that the connection goes in time, and tell the client
loses_client() {
	notices "$1" none_left
	lab_signal noticed
}

cut_net() {
	watch
	lab_signal watched
	loses_client "network cut"
}

pause_me() {
	local start

	start=$(date +%s)
	watch
	must lab_pause
	loses_client "busy, client stands still"
	until_passed "$start" "$outage"
	must lab_resume
}

cut_me() {
	watch
	must lab_power_off
	loses_client "busy, client without power"
	must lab_power_on
}

freeze() {
	must fsfreeze -f /run/disk
	sleep "$slow"
	must fsfreeze -u /run/disk
	lab_signal thawed
}

leave() { must ip address del "$LAB_SERVER/24" dev "$LAB_NETDEV"; }

# take_over - act as another machine, whose Ethernet address is in no neighbour table yet
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
	answer cut_net pause_me cut_me freeze leave
	nfs_stop
}

### Client

# goes_on WHAT - check that the load goes on in time. The time began when $SECONDS was 0.
goes_on() {
	true_within $on_in load_is_at $(($(cat /run/load.rounds) + 1)) ||
		lab_fail "$1: the mount did not go on in $on_in s ($SECONDS)"
	echo "$1: the mount went on after $SECONDS s"
}

# cut - silence the network, when the server watches
cut() {
	lab_signal cut_net
	must lab_wait watched 60
	silence
}

is_done() { ! kill -0 "$1" 2>/dev/null; }

idle_and_cut() {
	local before start

	must ls "$LAB_MOUNT" >/dev/null
	before=$(counted closed)
	start=$(date +%s)
	must cut
	SECONDS=0
	notices "idle, network cut" has_ended "$before"
	must lab_wait noticed 60
	until_passed "$start" "$outage"
	end_silence
	SECONDS=0
	stat -f "$LAB_MOUNT" >/dev/null &
	true_within $on_in is_done $! ||
		lab_fail "idle, network back: the mount did not go on in $on_in s ($SECONDS)"
	must wait $!
	echo "idle, network back: the mount went on after $SECONDS s"
}

# gone WHAT BEGIN END - have an outage under load, which BEGIN begins and END ends
gone() {
	local before start

	must load_advances 60
	before=$(counted closed)
	start=$(date +%s)
	must "$2"
	SECONDS=0
	notices "busy, $1" has_ended "$before"
	until_passed "$start" "$outage"
	SECONDS=0
	must "$3"
	goes_on "busy, after that"
}

# End the silence, but not before the server has noticed, too.
join() {
	must lab_wait noticed 60
	end_silence
	SECONDS=0
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

leave_address() { lab_signal leave; }

go_elsewhere() { go_to $ELSEWHERE "$LAB_SERVER"; }

power_cut() {
	must load_advances 60
	must lab_restart_server
	must lab_wait ready 120
	SECONDS=0
	must go_to "$LAB_SERVER" $ELSEWHERE
	goes_on "busy, another machine at the address after a power cut"
}

# stand_still - have the server pause this machine
stand_still() {
	must load_advances 60
	lab_signal pause_me
	must lab_wait noticed 60
	SECONDS=0
	goes_on "busy, client goes on"
}

# The connection's file says that a connection was silent. The doctor uses this.
is_said() {
	awk '$1 == "silent_connections:" && $2 > 0 { f = 1 } END { exit !f }' \
		"$(connection_of client)"
}

beats_sent() { awk '$1 == "heartbeats:" && $2 > 0 { f = 1 } END { exit !f }' "$(connection_of client)"; }

# lose_power - write until the server cuts the power
lose_power() {
	while dd if=/dev/zero of="$LAB_MOUNT/direct" bs=65536 count=100 oflag=direct \
		conv=notrunc 2>/dev/null; do
		:
	done &
	sleep 2
	lab_signal cut_me
	sleep 60
	lab_fail "power was not cut"
}

client() {
	# Tasks wait as long as the outage lasts, and that is no fault.
	must sysctl -q kernel.hung_task_timeout_secs=$((outage + 120))
	must ip address add ${ELSEWHERE%.*}.2/24 dev "$LAB_NETDEV"
	must lab_rdma_up "$provider"
	load_transport
	if [ "$LAB_BOOT" -eq 1 ]; then
		must lab_wait ready 120
		must lab_mount "$version"
		lose_power
	fi
	must lab_wait noticed 60
	count_event closed rpcrdma2/rpcrdma2_conn_close
	count_event missed rpcrdma2/rpcrdma2_heartbeat_missed
	must lab_mount "$version"
	must lab_until 20 beats_sent
	idle_and_cut
	LOAD_FORGETFUL=1 load_start
	gone "network cut" cut join
	gone "server stands still" lab_pause lab_resume
	stand_still
	slow_but_there
	gone "address lost" leave_address go_elsewhere
	power_cut
	load_stop
	[ "$(counted missed)" -ge 1 ] || lab_fail "no heartbeat was missed"
	is_said || lab_fail "the connection's file says nothing of it"
	pair_client_stop
}

"$LAB_ROLE"
