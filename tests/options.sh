#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: mounts with several connections, and several mounts at once.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

connections() { grep 'xprt:' /proc/self/mountstats; }

nfs_start rxe

# Linux 6.1 takes nconnect with RDMA for version 3 only.
must lab_mount 3 nconnect=4
work files
[ "$(connections | wc -l)" -eq 4 ] || lab_fail "not 4 connections: $(connections)"
connections | awk '$8 == 0 { exit 1 }' ||
	lab_fail "a connection was not used: $(connections)"
must umount "$LAB_MOUNT"
must lab_mount 4.2 nconnect=4
work offsets
must umount "$LAB_MOUNT"

for version in 3 4.0 4.1 4.2; do
	must lab_mount $version nosharecache "$LAB_MOUNT-$version"
done
workers=()
for version in 3 4.0 4.1 4.2; do
	work storm "storm-$version" "$LAB_MOUNT-$version" &
	workers+=($!)
done
for worker in "${workers[@]}"; do
	must wait "$worker"
done
for version in 3 4.0 4.1 4.2; do
	must umount "$LAB_MOUNT-$version"
done
nfs_stop
