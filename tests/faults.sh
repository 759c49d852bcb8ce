#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: a device fails in one way after the other below a mount that is written and
# read all the time, and no data is lost.
#
#	faults.sh PROFILE [FAULT...]
#	faults.sh PROFILE --random LOSSES REMOVALS [SEED]
#
# FAULT is a line for the file "faults" of mimic, the device for tests, with "_" for
# blanks; without any, all of them. With --random, they are drawn, until so many
# connections were lost, and the device was removed so often, dead or alive. "new-"
# before a fault: it is for a new connection's first messages.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

profile=$1
shift
control=/sys/kernel/debug/mimic/r0
port_was_down=false	# and nothing has shown since that the load goes on
# Heartbeats would notice that something is wrong, too, whatever it is.
PARAMETERS="heartbeat=0 ${PARAMETERS:-}"
# A registration of 128 KiB: some of the load's RPCs take two, and the server invalidates one.
# shellcheck disable=SC2034 # lab_rdma_up uses it
MIMIC=max_fast_reg=32

# What can go wrong with a WR; status 12 and 13: RETRY_EXC and RNR_RETRY_EXC. Registering
# memory and LOCAL_INV are the client's, RDMA Reads and Writes and Send With Invalidate the
# server's, and Sends are of whichever end comes first.
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

# ... and with what makes a connection, and ends it: the verbs of both ends in turns, the
# CM's messages, and the first Send of either end of a new one
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
		# To INIT, RTR and RTS, of either end
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
		# A stale connection
		echo mad_refuse rep_reject_status=10 ;;
	esac
}

needs_connection() {
	case $1 in
	send*|write_*|read_*|reg-mr_*|local-inv_*|recv_*) false ;;
	esac
}

# A device that is dead has to go, too.
removes_device() { [[ $1 = *_remove* || $1 = *_device-fatal* ]]; }

# begin FAULT - and wait until it has happened.
begin() {
	local event='' line

	echo clear >$control/faults
	if needs_connection "$1"; then
		wait_told load_advances 60 || lab_fail "the load hangs before $1"
		event=qp-fatal
	fi
	case $1 in
	# What is for a new connection is not to strike the one before.
	new-*)	echo $event >$control/event
		event= ;;
	# The next connection would find the Queue that is there.
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

# wait_told WAITER SECONDS... - wait for the load, or for what it runs into. Who could not
# send a Reply, as the port was down, closes its end of the connection; that the CM says so
# may be lost, too. Heartbeats would tell the other end.
wait_told() {
	if $port_was_down && ! "$1" 10 "${@:3}"; then
		echo "one end is gone, and the other was not told"
		echo qp-fatal >$control/event
	fi
	port_was_down=false
	"$@"
}

# Whatever a device does wrong, the two ends go on to speak version 2.
keep_version() {
	lab_until 60 speaks "v2-09" || lab_fail "$1 turned version 2 off"
}

# shellcheck disable=SC2046 # there may be none
speaks() { grep -q "^dialect: *$1\$" $(connection_of client) /dev/null; }

# A device that is gone has no such file. (No process is started: the load has the CPU.)
has_struck() {
	local struck

	read -r struck 2>/dev/null <$control/faults || return 0
	[[ $struck = *struck=[1-9]* ]]
}

# The name can be had again only some time after the device has left sysfs.
renew_device() {
	lab_until 60 test ! -e /sys/class/infiniband/r0 || lab_fail "r0 does not go"
	lab_until 20 lab_rdma_up "mimic:$profile" || lab_fail "r0 does not come back"
}

# count_lost - connections, so far, to $lost
count_lost() {
	local word connects

	while read -r word _ _ _ connects _; do
		[ "$word" != xprt: ] || lost=$((connects - 1))
	done </proc/self/mountstats
}

# draw FAULT... - one of them, which will be let pass a few times first, to $fault
draw() {
	shift $((RANDOM % $#))
	fault=$1
	case $fault in
	*_after=*|req_*|rep_*|rtu_*|dreq_*|drep_*|mad_*|connect_*|accept_*|new-*|create-srq_*) ;;
	create-*|to-err_*|destroy-qp_*) fault+=_after=$((RANDOM % 2)) ;;
	*)	fault+=_after=$((RANDOM % 16)) ;;
	esac
}

# strike_at_random LOSSES REMOVALS [SEED] - Where one happens before all has recovered
# from the last one, so much the better. What is wrong with a connection's making is
# drawn less often than what is with a WR: sunrpc waits for seconds then.
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

	# shellcheck disable=SC2046 # words they are
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
# Nor is an RPC to run out of time, which would hide the same.
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
