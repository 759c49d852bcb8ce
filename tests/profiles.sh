#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: NFS, and RPCs of every form, over a device with the limits of real
# ones, at both ends.
#
#	profiles.sh PROFILE...
#
# Environment: SUITES, of the echo module

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

: "${SUITES:=echo_connect,echo_forms,echo_many,echo_rare,echo_disconnect,echo_reverse}"

profile_nfs() {
	nfs_start "mimic:$1"
	must lab_mount 4.2
	work files
	work offsets
	work storm
	must umount "$LAB_MOUNT"
	nfs_stop
	must umount "$LAB_EXPORT"
}

profile_echo() {
	must "$LAB_TREE/tests/echo.sh" "mimic:$1" "suites=$SUITES"
	must rdma link delete r0
}

[ $# -gt 0 ] || lab_fail "profiles.sh PROFILE..."
for profile; do
	echo "=== $profile"
	profile_nfs "$profile"
	profile_echo "$profile"
done
