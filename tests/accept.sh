#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: many clients connect at once, as after a server's restart, and its device
# takes long to accept each. They are accepted at the same time. iWARP, where accepting
# is a verb of its own.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

# The clients of that test
CLIENTS=24
faults=/sys/kernel/debug/mimic/r0/faults

waiting() { sed -n 's/^accept delay struck=//p' $faults; }

all_wait() { [ "$(waiting)" -eq $CLIENTS ]; }

must lab_rdma_up mimic:cxgb4
load_transport
# No longer than a client waits
echo "accept delay ms=25000 times=0" >$faults
lab_insmod rpcrdma2_echo_kunit only=many_clients_connect_at_once &
lab_until 20 all_wait ||
	lab_fail "$(waiting) of $CLIENTS clients are being accepted"
echo clear >$faults
must wait $!
dmesg | grep -E '^[^#]*\] *ok .*many_clients_connect_at_once' ||
	lab_fail "not all were served"
must rmmod rpcrdma2_echo_kunit
must nfs_unload
must rdma link delete r0
echo "$CLIENTS at a time"
