#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: what devices do wrong, one thing after the other, below a mount that
# is written and read all the time. Nothing may be lost.
#
#	faults.sh PROFILE [FAULT...]
#
# FAULT is a line for the file "faults" of mimic, the device for tests, with "_" for
# blanks; without any, all of them.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

profile=$1
shift
control=/sys/kernel/debug/mimic/r0

# What can go wrong with a WR; status 12 and 13: RETRY_EXC and RNR_RETRY_EXC
wr_faults() {
	local step

	for step in send send-inv write read reg-mr; do
		for action in refuse fail_status=12 fail_status=4 delay_ms=200 lose \
			      remove; do
			echo "${step}_$action"
		done
	done
	echo send_rnr_times=3 send-inv_rnr_times=3 recv_refuse_times=1
}

# ... and with what makes a connection
connection_faults() {
	local step

	for step in create-cq create-qp modify-qp alloc-mr; do
		echo ${step}_refuse ${step}_remove
	done
	echo modify-qp_refuse_after=3 modify-qp_remove_after=4
	case $profile in
	cxgb4|iwarp|irdma-x722)
		echo connect_refuse accept_refuse connect_remove accept_remove ;;
	*)	for step in 0 1 2 3; do
			echo mad_lose_after=$step mad_delay_after=$step \
			     mad_remove_after=$step
		done
		echo mad_refuse ;;
	esac
}

needs_connection() {
	case $1 in create-*|modify-*|alloc-*|mad_*|connect_*|accept_*) ;; *) false ;; esac
}

# strike FAULT - have it happen, and see the load go on.
strike() {
	local start=$SECONDS

	echo clear >$control/faults
	echo "${1//_/ }" >$control/faults || lab_fail "no such fault: $1"
	! needs_connection "$1" || echo qp-fatal >$control/event
	lab_until 60 has_struck || lab_fail "$1 did not happen: $(cat $control/faults)"
	case $1 in
	*_remove*) renew_device ;;
	esac
	load_advances 20 || lab_fail "the load hangs after $1"
	echo "$1: $((SECONDS - start)) s"
}

has_struck() { [ ! -e $control/faults ] || grep -q 'struck=[1-9]' $control/faults; }

renew_device() {
	lab_until 60 test ! -e /sys/class/infiniband/r0 || lab_fail "r0 does not go"
	must lab_rdma_up "mimic:$profile"
}

nfs_start "mimic:$profile"
must lab_mount 4.1 "${OPTIONS:-}"
load_start
# shellcheck disable=SC2046 # words they are
[ $# -gt 0 ] || set -- $(wr_faults) $(connection_faults)
for fault; do
	strike "$fault"
done
must load_stop
must umount "$LAB_MOUNT"
nfs_stop
echo "$# faults"
