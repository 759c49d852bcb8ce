#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script for both ends: the other end vanishes without a message, for some time. Measure
# when this end notices, and when work goes on.
#
#	TEST_ARGS="TRANSPORT HEARTBEAT OUTAGE PATIENCE"
#
# TRANSPORT is rxe, siw or tcp. HEARTBEAT is the module's parameter. The script waits OUTAGE
# seconds at most for an end to notice, and PATIENCE seconds at most for work to go on.
#
# The results are lines of NAME=VALUE in $LAB_SHARE/figures-*, in seconds:
#   noticed	until this end noticed
#   on		until work went on, from the end of the outage, or from the command that gave
#		the mount another address
#   NAME=>N	it did not happen within N seconds

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

read -r transport heartbeat outage patience <<<"${TEST_ARGS:-$LAB_ARGS}"
# shellcheck disable=SC2034 # lib.sh uses it
PARAMETERS=heartbeat=$heartbeat
# nfsd's default. The figures depend on it: a client waits up to half a lease between two
# attempts to connect. TCP gives up a connection after one lease.
# shellcheck disable=SC2034 # lib.sh uses it
LAB_LEASE=90

# The second address of the server, which it has unless the client signalled "alone"
ELSEWHERE=192.168.79.1

lab_make_export() { export_on_disk; }

# figure STATE EVENT NAME=VALUE - write a line of figures
figure() {
	echo "part=outages transport=$transport heartbeat=$heartbeat state=$1 event=$2" \
		"end=$LAB_ROLE $3" | tee -a "$LAB_SHARE/figures-$LAB_ROLE"
}

# measure STATE EVENT NAME LIMIT COMMAND... - measure when COMMAND succeeds, since $SECONDS was 0
measure() {
	local state=$1 event=$2 name=$3 limit=$4
	shift 4

	if true_within "$limit" "$@"; then
		figure "$state" "$event" "$name=$SECONDS"
	else
		figure "$state" "$event" "$name=>$limit"
	fi
}

device_up() {
	[ "$transport" != tcp ] || set -- rxe
	must lab_rdma_up "$1"
}

### Server: it does what the client asks for

# connection - print the newest one. Others may be left from outages that the server missed.
connection() {
	if [ "$transport" = tcp ]; then
		ss -Htn state established sport = :2049 dst "$(cat "$LAB_SHARE/port")" |
			awk '{ print $4 }'
	else
		connection_of server | sort -V | tail -n 1
	fi
}

is_lost() { [ "$(connection)" != "$1" ]; }

# loses STATE EVENT - measure when the server notices that $connection is lost
loses() { measure "$1" "$2" noticed "$outage" is_lost "$connection"; }

# outage_of STATE EVENT BEGIN END - have an outage of the client, and measure at the server
outage_of() {
	local connection start

	connection=$(connection)
	[ -n "$connection" ] || lab_fail "there is no connection"
	start=$(date +%s)
	must "$3"
	SECONDS=0
	loses "$1" "$2"
	until_passed "$start" "$outage"
	lab_signal over
	must "$4"
}

idle() { outage_of idle network true true; }
busy() { outage_of busy network true true; }
pause() { outage_of busy client-paused lab_pause lab_resume; }
cut() { outage_of busy client-power lab_power_off lab_power_on; }
leave() { must ip address del "$LAB_SERVER/24" dev "$LAB_NETDEV"; }

server() {
	lab_wait alone 0 2>/dev/null ||
		must ip address add $ELSEWHERE/24 dev "$LAB_NETDEV"
	device_up "$transport"
	load_transport
	nfs_serve
	lab_signal ready
	answer idle busy pause cut leave
	nfs_stop
}

### Client

# Count lost connections, because the server may be back before the script looks.
count_lost() {
	if [ "$transport" = tcp ]; then
		count_event lost sunrpc/rpc_socket_close
	else
		count_event lost rpcrdma2/rpcrdma2_conn_close
	fi
}

has_lost() { [ "$(counted lost)" -gt "$1" ]; }

# The server tells TCP connections apart by the client's address and port.
tell_port() {
	ss -Htn state established dport = :2049 | awk '{ print $3 }' >"$LAB_SHARE/port"
}

answers() { timeout $((patience + 5)) stat -f "$LAB_MOUNT" >/dev/null; }

# outage STATE EVENT BEGIN END - run BEGIN, wait for the time of an outage, and run END
outage() {
	local lost start go_on=answers

	if [ "$1" = busy ]; then
		must load_advances 120
		go_on=load_is_at
	else
		must answers
	fi
	tell_port
	lost=$(counted lost)
	start=$(date +%s)
	must "$3"
	SECONDS=0
	measure "$1" "$2" noticed "$outage" has_lost "$lost"
	until_passed "$start" "$outage"
	SECONDS=0
	must "$4"
	measure "$1" "$2" on "$patience" $go_on $(($(cat /run/load.rounds) + 1))
}

silent_idle() { silence && lab_signal idle; }
silent_busy() { silence && lab_signal busy; }

# The server times its outage itself. Wait until it is over there.
heard_again() {
	must lab_wait over 60
	end_silence
	SECONDS=0
}

power_on() {
	must lab_power_on
	must lab_wait ready 120
	SECONDS=0
}

power_on_alone() {
	lab_signal alone
	power_on
	tell "$LAB_SERVER" $ELSEWHERE
}

leave_address() { lab_signal leave; }

# tell ADDRESS FORMER - have the mount use another address of the server. A busy mount may need
# several attempts.
tell() { true_within "$patience" go_to "$@"; }

elsewhere() { tell $ELSEWHERE "$LAB_SERVER"; }

# short SECONDS - cut the network for so long; the server does not measure
short() {
	local outage=$1

	outage busy "network-$1" silence end_silence
}

# up_again - restart the server at once, so that nobody has to notice an outage
up_again() {
	must load_advances 120
	must lab_restart_server
	must lab_wait ready 120
	SECONDS=0
	measure busy restart on "$patience" load_is_at $(($(cat /run/load.rounds) + 1))
}

# of_this EVENT SIGNAL - ask the server to begin and end an outage of this client
of_this() {
	must load_advances 120
	tell_port
	lab_signal "$2"
	must lab_wait over $((outage + 60))
	SECONDS=0
	measure busy "$1" on "$patience" load_is_at $(($(cat /run/load.rounds) + 1))
}

mount_server() {
	if [ "$transport" = tcp ]; then
		mkdir -p "$LAB_MOUNT" &&
		mount -t nfs -o vers=4.2,proto=tcp "$LAB_SERVER:/" "$LAB_MOUNT"
	else
		lab_mount 4.2
	fi
}

client() {
	# Tasks wait for minutes, and that is no fault here.
	must sysctl -q kernel.hung_task_timeout_secs=0
	must ip address add ${ELSEWHERE%.*}.2/24 dev "$LAB_NETDEV"
	device_up "$transport"
	load_transport
	[ "$LAB_BOOT" -gt 1 ] || must lab_wait ready 120
	count_lost
	must mount_server
	if [ "$LAB_BOOT" -gt 1 ]; then
		pair_client_stop
		return
	fi

	echo 0 >/run/load.rounds
	outage idle network silent_idle heard_again
	LOAD_FORGETFUL=1 LOAD_PAUSE=0.2 load_start
	outage busy network silent_busy heard_again
	short 30
	short 60
	outage busy paused lab_pause lab_resume
	outage busy power lab_power_off power_on
	up_again
	of_this client-paused pause
	outage busy address leave_address elsewhere
	outage busy power-elsewhere lab_power_off power_on_alone
	must load_advances 120
	tell_port
	lab_signal cut
	sleep $((outage + 60))
	lab_fail "power was not cut"
}

"$LAB_ROLE"
