#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: memory allocations fail under load, in this module and below it, and
# applications see only a delay. A setup that fails succeeds a moment later. Nothing leaks.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

# Functions that allocate memory for a new connection, and for an RPC
CONNECTION="rpcrdma2_conn_alloc rpcrdma2_qp_create rpcrdma2_requester_create
	rpcrdma2_responder_create rpcrdma2_jobs_provide rpcrdma2_mrs_provide
	rpcrdma2_send_get"
RPC="rpcrdma2_call_alloc rpcrdma2_job_read rpcrdma2_job_reply"

mounted() { mount | grep -q " $LAB_MOUNT " || lab_mount 4.2 retry=0 2>/dev/null; }

# fail_in FUNCTION - mount and do I/O while the first two allocations of each kind fail in
# FUNCTION
fail_in() {
	SECONDS=0
	# Other data than the last ones, or a lost WRITE would look right.
	must dd if=/dev/urandom of=/run/data bs=256k count=4 status=none
	between require "$(addresses "$1")"
	fail_allocations 100 1 2
	lab_until 5 mounted || lab_fail "can't mount"
	must timeout 100 dd if=/run/data of="$LAB_MOUNT/data" bs=256k \
		oflag=direct conv=notrunc status=none
	must timeout 100 dd if="$LAB_MOUNT/data" of=/run/copy bs=256k \
		iflag=direct status=none
	must cmp /run/data /run/copy
	must cmp /run/data "$LAB_EXPORT/data"
	both probability 0
	echo "$1: $(failures 2) allocations failed, $SECONDS s"
	[ "$(failures 2)" -gt 0 ] || lab_fail "$1: no allocation failed"
}

# With ignore-gfp-wait, only allocations that may not wait for reclaim fail. The setup of a
# connection makes none of these, so the mount succeeds at once.
reclaim_is_enough() {
	both ignore-gfp-wait Y
	between require "$(addresses rpcrdma2_conn_alloc)"
	fail_allocations 100 1 $MOST
	must lab_mount 4.2 retry=0
	both probability 0
	both ignore-gfp-wait N
	must umount "$LAB_MOUNT"
}

accepted() { sed -n 's/^connections_accepted: *//p' $CONNECTIONS/server; }

# For a while, no Reply gets memory. Replies come late, but on the same connection. A READ of
# 1 MiB takes RDMA Writes, and a READ of 4 KiB takes only a Send.
replies_wait() {
	local before size

	before=$(accepted)
	spare_packets
	for size in 4k 1M; do
		between require "$(addresses rpcrdma2_job_reply)"
		fail_allocations 100 1 $MOST
		timeout 100 dd if="$LAB_MOUNT/data" of=/run/copy bs=$size \
			iflag=direct status=none &
		sleep 3
		both probability 0
		must wait $!
		must cmp /run/data /run/copy
		echo "Replies, $size: $(failures $MOST) allocations failed"
		[ "$(failures $MOST)" -gt 0 ] || lab_fail "no allocation failed"
	done
	[ "$(accepted)" = "$before" ] || lab_fail "connections were lost"
	prepare_failures
}

no_jobs() { [ -z "$(jobs -r)" ]; }

# For a while, no Call gets memory for a job. A new connection has one job, so the other Calls
# wait.
calls_wait() {
	local before i

	must umount "$LAB_MOUNT"
	must lab_mount 4.2
	before=$(accepted)
	spare_packets
	between require "$(addresses job_alloc)"
	fail_allocations 100 1 $MOST
	for ((i = 0; i < 16; i++)); do
		timeout 100 dd if="$LAB_MOUNT/data" of=/run/copy.$i bs=4k \
			iflag=direct status=none &
	done
	sleep 3
	both probability 0
	lab_until 60 no_jobs || lab_fail "Calls that wait for jobs get none"
	for ((i = 0; i < 16; i++)); do
		must cmp /run/data /run/copy.$i
	done
	echo "Calls: $(failures $MOST) allocations failed"
	[ "$(failures $MOST)" -gt 0 ] || lab_fail "no allocation failed"
	[ "$(accepted)" = "$before" ] || lab_fail "connections were lost"
	prepare_failures
}

nfs_start rxe
prepare_failures
must dd if=/dev/urandom of=/run/data bs=256k count=4 status=none
cp /run/data "$LAB_EXPORT/data"
reclaim_is_enough
for function in $CONNECTION; do
	fail_in "$function"
	must umount "$LAB_MOUNT"
done
for function in $RPC; do
	fail_in "$function"
done
replies_wait
calls_wait

some_failed() { [ "$(failures $MOST)" -gt 0 ]; }

between require "$(module_addresses)"
load_start
fail_allocations 1 4 $MOST
sleep 10
lab_until 60 some_failed || lab_fail "under load, no allocation failed"
both probability 0
echo "load: $(failures $MOST) allocations failed"
load_advances 60 || lab_fail "the load does not go on"
load_stop
must umount "$LAB_MOUNT"
nfs_stop
must lab_kmemleak
