#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Script of both guests: a client swaps to a file on the server, and keeps all pages although
# its connection is lost again and again.
#
#	pair-swap.sh [PROVIDER [VERSION...]]
#
# Only kswapd reclaims memory: it begins early, so free memory never runs out. Otherwise, all
# allocations would wait until pages are swapped out. The kernel's CM allocates memory, too
# (ib_mad_recv_done() with GFP_KERNEL), and a new connection for the swap file needs the CM.
# siw does not work here: its driver waits for memory in the same way when it sends.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

# shellcheck disable=SC2086 # several arguments
set -- ${TEST_ARGS:-$LAB_ARGS}
provider=${1:-rxe}
shift
[ $# -gt 0 ] || set -- 4.2
faults=/sys/kernel/debug/fail_sunrpc
swapfile=$LAB_MOUNT/swap
swap_size=96
reserve=16

server() {
	nfs_start "$provider"
	must dd if=/dev/zero of="$LAB_EXPORT/swap" bs=1M count=$swap_size status=none
	must chmod 600 "$LAB_EXPORT/swap"
	must mkswap "$LAB_EXPORT/swap" >/dev/null
	lab_signal ready
	lab_wait_end
	nfs_stop
	exit
}

# of_vmstat NAME - print a value of /proc/vmstat
of_vmstat() { awk -v name="$1" '$1 == name { print $2 }' /proc/vmstat; }

# Break a few connections. The interval is so long that the RPCs which are sent again do not
# cause the next break.
connections_break() {
	echo Y >$faults/ignore-cache-wait
	echo Y >$faults/ignore-server-disconnect
	echo 0 >$faults/verbose
	echo 100 >$faults/probability
	echo 200 >$faults/interval
	echo 8 >$faults/times
}

# use_memory - use nearly all memory but the reserve
use_memory() {
	local size=$(($(of_vmstat nr_free_pages) / 256 - reserve * 3 / 2))
	local out in lost

	out=$(of_vmstat pswpout) in=$(of_vmstat pswpin) lost=$(counted closed)
	SECONDS=0
	connections_break
	must "$LAB_TREE/tests/swap.py" $size 3
	echo 0 >$faults/times
	out=$(($(of_vmstat pswpout) - out)) in=$(($(of_vmstat pswpin) - in))
	lost=$(($(counted closed) - lost))
	echo "$size MiB: $out pages swapped out, $in in, $lost connections lost, $SECONDS s"
	[ $out -ge 1024 ] || lab_fail "few pages were swapped out"
	[ $in -ge 1024 ] || lab_fail "few pages were swapped in"
	[ $lost -ge 3 ] || lab_fail "few connections were lost"
}

[ "$LAB_ROLE" = client ] || server

[ -d $faults ] || skip "this kernel has no CONFIG_FAIL_SUNRPC"
must lab_rdma_up "$provider"
load_transport
must lab_wait ready 120
count_event closed rpcrdma2/rpcrdma2_conn_close
must sysctl -q -w vm.min_free_kbytes=$((reserve * 1024)) \
	vm.watermark_scale_factor=1000 vm.watermark_boost_factor=0 vm.swappiness=200
for version; do
	# The rxe of Linux 6.1 may wait for ever after a loss.
	must lab_mount "$version" timeo=50
	must swapon "$swapfile"
	use_memory
	must swapoff "$swapfile"
	must umount "$LAB_MOUNT"
done
if dmesg | grep 'on dio swapfile'; then
	lab_fail "swapping met errors"
fi
must nfs_unload
