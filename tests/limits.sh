#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: NFS over a device that has little of one thing or another, and over
# one that can't register memory at all, which must be refused.
#
#	limits.sh LIMIT=VALUE...
#
# LIMIT is a parameter of mimic, the device for tests.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

parameters=/sys/module/mimic/parameters

# limit NAME=VALUE - for the devices made from now on
limit() { echo "${1#*=}" >"$parameters/${1%=*}" || lab_fail "no limit $1"; }

refused() {
	limit max_fast_reg=0
	nfs_start mimic
	! lab_mount 4.2 retrans=1,retry=0 2>/dev/null || lab_fail "mounted without registrations"
	dmesg | grep -q 'r0 lacks memory management extensions' ||
		lab_fail "nobody says why"
	nfs_stop
	must umount "$LAB_EXPORT"
	limit max_fast_reg=-1
}

must lab_insmod mimic
refused
for setting; do
	limit "$setting"
	nfs_start mimic
	must lab_mount 4.2
	work files
	work offsets
	must umount "$LAB_MOUNT"
	nfs_stop
	must umount "$LAB_EXPORT"
	limit "${setting%=*}=-1"
	echo "$setting: well"
done
