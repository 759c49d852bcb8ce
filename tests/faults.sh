#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: a device below a busy mount fails in one way after another, and no data is lost.
#
#	faults.sh PROFILE [FAULT...]
#	faults.sh PROFILE --random LOSSES REMOVALS [SEED]
#
# FAULT is a line for the file "faults" of mimic, the device for tests, with "_" for blanks. Without
# FAULT, the script tries all faults. A fault "new-..." strikes the first messages of a new
# connection.
#
# With --random, the script draws faults. It ends after LOSSES lost connections and REMOVALS
# removals of the device, dead or alive.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

profile=$1
shift
control=/sys/kernel/debug/mimic/r0
port_was_down=false	# since the last wait_told
# No heartbeats: they would end any connection that hangs, and so hide that nothing else did.
PARAMETERS="heartbeat=0 ${PARAMETERS:-}"
# A registration covers at most 128 KiB. So some of the load's RPCs take two, and the server
# invalidates only one of these.
# shellcheck disable=SC2034 # lab_rdma_up uses it
MIMIC=max_fast_reg=32

# wr_faults - print the faults of WRs. Status 4 is LOC_PROT_ERR, status 12 is RETRY_EXC_ERR. The
# client registers memory and posts LOCAL_INV. The server posts RDMA Reads, RDMA Writes and Send
# With Invalidate. A fault of a Send strikes the first end that sends.
wr_faults() {
	local step action

	for step in send send-inv write read reg-mr local-inv; do
		for action in refuse fail_status=12 fail_status=4 delay_ms=200 late_ms=300 \
			      lose qp-fatal device-fatal port-down remove; do
			echo "${step}_$action"
		done
	done
	echo send_rnr_times=3 send-inv_rnr_times=3 send_srq-fatal recv_refuse recv_fail_status=4
}

# connection_faults - print the faults of making and ending a connection. They strike the verbs of
# either end, the CM's messages, and the first Send of either end.
connection_faults() {
	local step action

	for action in refuse fail_status=12 delay_ms=200 lose qp-fatal device-fatal port-down remove; do
		echo "new-send_$action" "new-send_${action}_after=1"
	done
	for action in delay_ms=200 device-fatal port-down remove; do
		for step in to-err destroy-qp; do
			echo "${step}_$action" "${step}_${action}_after=1"
		done
	done

	for action in refuse delay_ms=200 device-fatal port-down remove; do
		for step in create-cq create-qp alloc-mr; do
			echo "${step}_$action"
		done
		[ "$profile" != mlx5 ] || echo "create-srq_$action"
		# Each end moves its QP to INIT, RTR and RTS.
		for step in {0..5}; do
			echo "modify-qp_${action}_after=$step"
		done
	done
	case $profile in
	cxgb4|iwarp|irdma-x722)
		for action in refuse device-fatal port-down remove; do
			echo "connect_$action" "accept_$action"
		done ;;
	*)	for action in lose delay device-fatal port-down remove; do
			for step in req rep rtu dreq drep; do
				echo "${step}_$action"
			done
		done
		# Status 10: the server calls the connection stale.
		echo mad_refuse rep_reject_status=10 ;;
	esac
}

needs_connection() {
	case $1 in
	send*|write_*|read_*|reg-mr_*|local-inv_*|recv_*) false ;;
	esac
}

# removes_device FAULT - does the device have to be removed? A dead device has to be, too.
removes_device() { [[ $1 = *_remove* || $1 = *_device-fatal* ]]; }

# begin FAULT - set the fault, and wait until it has struck. Replace a device that is dead or
# removed, and bring a port up again.
begin() {
	local event='' line

	echo clear >$control/faults
	if needs_connection "$1"; then
		wait_told load_advances 60 || lab_fail "the load hangs before $1"
		event=qp-fatal
	fi
	case $1 in
	# End the old connection first: the fault must not strike it.
	new-*)	echo $event >$control/event
		event= ;;
	# A new connection makes a Queue only if the old Queue failed.
	create-srq_*)
		! grep -q connections= /sys/kernel/debug/rpcrdma2/receives || event=srq-fatal ;;
	esac
	line=${1#new-}
	echo "${line//_/ }" >$control/faults || lab_fail "no such fault: $1"
	[ -z $event ] || echo $event >$control/event
	wait_told lab_until 60 has_struck || lab_fail "$1 did not happen: $(cat $control/faults)"
	case $1 in
	*_device-fatal*)
		lab_until 30 has_no_connection || lab_fail "$1: connections outlive the device"
		echo remove >$control/event
		renew_device ;;
	*_remove*)
		renew_device ;;
	*_port-down*)
		sleep 2
		echo port-up >$control/event
		port_was_down=true ;;
	esac
}

has_no_connection() { ! rdma resource show qp link r0/1 | grep -q 'type RC'; }

# wait_told WAITER SECONDS... - wait for the load, or until the fault strikes. While the port was
# down, an end may have closed its connection, because it could not send a Reply. The CM's message
# to the other end may be lost, too. Without heartbeats, the other end does not notice. So after 10
# seconds, this function ends all connections.
wait_told() {
	if $port_was_down && ! "$1" 10 "${@:3}"; then
		echo "one end is gone, and the other was not told"
		echo qp-fatal >$control/event
	fi
	port_was_down=false
	"$@"
}

# keep_version FAULT - the two ends still speak version 2. No fault of a device may make them fall
# back to version 1.
keep_version() {
	lab_until 60 speaks "v2-09" || lab_fail "$1 turned version 2 off"
}

# shellcheck disable=SC2046 # there may be none
speaks() { grep -q "^dialect: *$1\$" $(connection_of client) /dev/null; }

# has_struck - the fault has struck, or the device is gone with its file. This starts no process,
# because the load has the CPU.
has_struck() {
	local struck

	read -r struck 2>/dev/null <$control/faults || return 0
	[[ $struck = *struck=[1-9]* ]]
}

# renew_device - make the device again. The old device keeps its name for some time, even after it
# has left sysfs.
renew_device() {
	lab_until 60 test ! -e /sys/class/infiniband/r0 || lab_fail "r0 does not go"
	lab_until 20 lab_rdma_up "mimic:$profile" || lab_fail "r0 does not come back"
}

# count_lost - set $lost to the number of connections lost so far.
count_lost() {
	local word connects

	while read -r word _ _ _ connects _; do
		[ "$word" != xprt: ] || lost=$((connects - 1))
	done </proc/self/mountstats
}

# draw FAULT... - set $fault to one of the faults. Where a step comes often, the fault lets a few
# of them pass.
draw() {
	shift $((RANDOM % $#))
	fault=$1
	case $fault in
	*_after=*|req_*|rep_*|rtu_*|dreq_*|drep_*|mad_*|connect_*|accept_*|new-*|create-srq_*) ;;
	create-*|to-err_*|destroy-qp_*) fault+=_after=$((RANDOM % 2)) ;;
	*)	fault+=_after=$((RANDOM % 16)) ;;
	esac
}

# strike_at_random LOSSES REMOVALS [SEED] - draw faults. A fault may strike while the mount still
# recovers from the last one. Faults of WRs are drawn more often than faults of making a connection,
# after which sunrpc waits for seconds.
strike_at_random() {
	local lost=0 removals=0 seed=${3:-$RANDOM} start=$SECONDS fault name
	local -a removing=() other=()

	for name in $(for _ in {1..6}; do wr_faults; done; connection_faults); do
		if removes_device "$name"; then
			removing+=("$name")
		else
			other+=("$name")
		fi
	done
	echo "seed $seed"
	RANDOM=$seed
	while [ "$lost" -lt "$1" ] || [ $removals -lt "$2" ]; do
		if [ $((removals * $1)) -le $((lost * $2)) ]; then
			draw "${removing[@]}"
			removals=$((removals + 1))
		else
			draw "${other[@]}"
		fi
		begin "$fault"
		count_lost
		echo "$((SECONDS - start)) s: $lost lost, $fault"
	done
	wait_told load_advances 60 || lab_fail "the load hangs"
	keep_version "a fault"
	echo "$lost connections lost, $removals removals, in $((SECONDS - start)) s"
}

strike_each() {
	local fault start

	# shellcheck disable=SC2046 # several words
	[ $# -gt 0 ] || set -- $(wr_faults) $(connection_faults)
	for fault; do
		start=$SECONDS
		begin "$fault"
		wait_told load_advances 20 || lab_fail "the load hangs after $fault"
		keep_version "$fault"
		echo "$fault: $((SECONDS - start)) s"
	done
	echo "$# faults"
}

nfs_start "mimic:$profile"
# The RPC timeout is long, because a timeout would also hide connections that hang.
must lab_mount 4.1 "timeo=3000${OPTIONS:+,$OPTIONS}"
dma_is_seen
load_start
case ${1:-} in
--random) strike_at_random "${@:2}" ;;
*)	strike_each "$@" ;;
esac
must load_stop
must umount "$LAB_MOUNT"
nfs_stop
