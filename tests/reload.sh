#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: load and unload, every tenth time with a mount in between, and
# nothing is left behind.
#
#	reload.sh [CYCLES]

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

cycles=${1:-50}

use() {
	nfs_serve
	must lab_mount 4.2
	must cp "$LAB_MODULES/rpcrdma2.ko" "$LAB_MOUNT"
	must cmp "$LAB_MODULES/rpcrdma2.ko" "$LAB_MOUNT/rpcrdma2.ko"
	must umount "$LAB_MOUNT"
	must rpc.nfsd 0
	must umount "$LAB_EXPORT"
}

must lab_rdma_up rxe
for ((cycle = 1; cycle <= cycles; cycle++)); do
	must lab_insmod rpcrdma2
	[ $((cycle % 10)) -ne 0 ] || use
	must nfs_unload
done
must rdma link delete r0
must lab_kmemleak
echo "$cycles cycles"
