#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: a server with very many clients, all in this guest.
#
#	crowd.sh DEVICE CLIENTS [rpcrdma]
#
# They connect at once; have RPCs under way, all at the same time; find their server
# restarted while each waits for an answer; and their device goes away. Nobody may ever
# find no Receive (RNR). One client's large Replies are not to hold up another one's
# small ones for ever; how long they do is printed.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

run=/sys/kernel/debug/rpcrdma2_echo_crowd/run
counters=/sys/class/infiniband/r0/ports/1/hw_counters
device=$1
clients=$2
TRANSPORT=${3:-rpcrdma2}

# job WORDS... - a line of figures
job() {
	local status=0

	echo "$*" >$run || status=1
	cat $run
	[ $status -eq 0 ] || lab_fail "$*"
}

# rnr - how often somebody found no Receive, by the device's own count
rnr() { cat $counters/send_rnr_err $counters/rcvd_rnr_err 2>/dev/null | paste -sd+ | bc; }

no_rnr() {
	[ -e $counters/send_rnr_err ] || return 0
	[ "$(rnr)" -eq 0 ] || lab_fail "$1: $(rnr) RNR NAKs"
}

must lab_rdma_up "$device"
load_transport
must lab_insmod rpcrdma2_echo_crowd
job connect "$clients"
no_rnr connect
for depth in 1 4 16; do
	job call $depth
	no_rnr "call $depth"
done
job fair 2000
no_rnr fair
job storm
no_rnr storm
job call 1
job disconnect
job connect "$clients"
echo "the device goes"
must rdma link delete r0
must lab_rdma_up "$device"
job call 1
must rmmod rpcrdma2_echo_crowd
must nfs_unload
must rdma link delete r0
