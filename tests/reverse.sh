#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: each level of the parameter reverse allows the callbacks that it should. With
# "none", a client mounts only NFS versions without callbacks, and the log says why. A server's
# clients go on without delegations. With "genl", callbacks with chunks, or with long Replies,
# wait for memory.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

parameter=/sys/module/rpcrdma2/parameters/reverse
faults=/sys/kernel/debug/fail_sunrpc

said() { dmesg | grep -q "rpcrdma2: no callbacks $1"; }

# lose_connection - have the server close the connection at the next Call
lose_connection() {
	echo Y >$faults/ignore-cache-wait
	echo Y >$faults/ignore-client-disconnect
	echo N >$faults/ignore-server-disconnect
	echo 0 >$faults/verbose
	echo 100 >$faults/probability
	echo 1 >$faults/times
}

client_takes_none() {
	local version

	for version in 4.1 4.2; do
		! lab_mount $version || lab_fail "$version was mounted"
	done
	said "from server $LAB_SERVER" || lab_fail "nobody was told"
	for version in 3 4.0; do
		must lab_mount $version
		work names "names-$version"
		must umount "$LAB_MOUNT"
	done
	must mount -t nfs -o proto=rdma,port=20049 "$LAB_SERVER:/" "$LAB_MOUNT"
	grep -q "$LAB_MOUNT .*vers=4.0" /proc/mounts ||
		lab_fail "which version? $(grep "$LAB_MOUNT" /proc/mounts)"
	must umount "$LAB_MOUNT"
}

# The client mounted when the parameter was "inline", and keeps that level when it reconnects.
server_sends_none() {
	must lab_mount 4.2
	count_event closed rpcrdma2/rpcrdma2_conn_close
	echo none >$parameter
	lose_connection
	work files
	[ "$(counted closed)" -gt 0 ] || lab_fail "the connection was not lost"
	lab_until 20 said "to client $LAB_SERVER" || lab_fail "nobody was told"
	grep -q '^offered_brs: *none' "$(connection_of server)" ||
		lab_fail "the server says something else"
	must umount "$LAB_MOUNT"
	count_end
}

# finds_none FUNCTION PERCENT TIMES TEST - during TEST, FUNCTION's allocations fail: PERCENT of
# them, and at most TIMES from slab and TIMES from the page allocator.
finds_none() {
	between require "$(addresses "$1")"
	fail_allocations "$2" 1 "$3"
	dmesg -C
	must lab_insmod rpcrdma2_echo_kunit suites=echo_reverse "only=$4"
	both probability 0
	dmesg | grep -q '# Totals: pass:[1-9][0-9]* fail:0' ||
		lab_fail "$1: $(dmesg | grep 'not ok')"
	echo "$1: $(failures "$3") allocations failed"
	[ "$(failures "$3")" -gt 0 ] || lab_fail "no allocation failed"
	must rmmod rpcrdma2_echo_kunit
}

# First, some allocations for a Call fail. Then, the first allocations for its Reply fail. Last,
# Replies without chunks never get memory, so they go one at a time.
replies_wait_for_memory() {
	# Without heartbeats: rxe may lack memory for a packet, too, and stand still for a while.
	must lab_insmod rpcrdma2 reverse=genl heartbeat=0
	prepare_failures
	spare_packets
	finds_none rpcrdma2_job_lend 20 $MOST large_calls_from_server
	finds_none rpcrdma2_job_reply 100 5 large_calls_from_server
	finds_none rpcrdma2_job_lend 100 $MOST long_inline_replies
	must nfs_unload
}

[ -d $faults ] || skip "this kernel has no CONFIG_FAIL_SUNRPC"
nfs_start rxe
echo none >$parameter
client_takes_none
echo inline >$parameter
server_sends_none
must rpc.nfsd 0
must nfs_unload
replies_wait_for_memory
must rdma link delete r0
must lab_kmemleak
