#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: the RDMA device goes away under load, and comes back.
#
#	unplug.sh PROVIDER...

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

for provider; do
	nfs_start "$provider"
	must lab_mount 4.2
	load_start
	for _ in 1 2 3; do
		replug "$provider" 1
	done
	load_stop
	must umount "$LAB_MOUNT"
	nfs_stop
	must umount "$LAB_EXPORT"
	echo "$provider: well"
done
