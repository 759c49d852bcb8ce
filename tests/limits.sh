#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: NFS over a device that has little of one thing or another, and over
# one that can't register memory at all, which must be refused.
#
#	limits.sh LIMIT=VALUE[,LIMIT=VALUE]...
#
# LIMIT is a parameter of mimic, the device for tests.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

parameters=/sys/module/mimic/parameters

# limit NAME=VALUE[,NAME=VALUE] - for the devices made from now on
limit() {
	local limit

	for limit in ${1//,/ }; do
		echo "${limit#*=}" >"$parameters/${limit%=*}" ||
			lab_fail "no limit $limit"
	done
}

# unlimit NAME=VALUE[,NAME=VALUE]
unlimit() {
	local limit

	for limit in ${1//,/ }; do
		limit "${limit%=*}=-1"
	done
}

refused() {
	limit max_fast_reg=0
	nfs_start mimic
	! lab_mount 4.2 retrans=1,retry=0 2>/dev/null || lab_fail "mounted without registrations"
	dmesg | grep -q 'r0 lacks memory management extensions' ||
		lab_fail "nobody says why"
	nfs_stop
	must umount "$LAB_EXPORT"
	unlimit max_fast_reg
}

# Each Call that is granted has a Receive, where the server's are the connection's own.
grants_have_receives() {
	[ "$(sum server receive_queue_shared)" = 1 ] ||
		[ "$(sum server responder_credits)" -lt "$(sum server receive_queue_depth)" ] ||
		lab_fail "$(sum server responder_credits) Calls are granted"
}

must lab_insmod mimic
refused
for setting; do
	limit "$setting"
	nfs_start mimic
	must lab_mount 4.2
	work files
	work offsets
	grants_have_receives
	must umount "$LAB_MOUNT"
	nfs_stop
	must umount "$LAB_EXPORT"
	unlimit "$setting"
	echo "$setting: well"
done
