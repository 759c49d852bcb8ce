#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: NFS works over a device with little of one resource, and a device that cannot
# register memory is refused. A Call whose header is too long fails without harm to other Calls.
# The module examines each new device, even if an earlier one had the same name. A mount survives
# a device that cannot stop a QP.
#
#	limits.sh LIMIT=VALUE[,LIMIT=VALUE]...
#
# LIMIT is a parameter of mimic, the device for tests.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

parameters=/sys/module/mimic/parameters
control=/sys/kernel/debug/mimic/r0

# limit NAME=VALUE[,NAME=VALUE] - set limits of devices that are made from now on.
limit() {
	local limit

	for limit in ${1//,/ }; do
		echo "${limit#*=}" >"$parameters/${limit%=*}" ||
			lab_fail "no limit $limit"
	done
}

# unlimit NAME=VALUE[,NAME=VALUE] - remove these limits.
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

# too_long - a Call fails if its header exceeds the peer's Receives, and later Calls go on.
#
# A server of version 1 that sends no private data has Receives of 1024 octets. A registration
# covers three pages, so a WRITE of 512 KiB needs 43 Read segments. They take 24 octets each, which
# is too much.
too_long() {
	local status
	limit max_fast_reg=3
	PARAMETERS=version=1 nfs_start mimic
	echo "rep no-data times=0" >$control/faults
	must lab_mount 3 nolock
	[ "$(grep -c '^private_\(send\|receive\)_size: *-$' "$(connection_of client)")" -eq 2 ] ||
		lab_fail "the server has said what it sends or receives"
	timeout 30 dd if=/dev/zero of="$LAB_MOUNT/data" bs=512k count=1 oflag=direct 2>/run/said
	status=$?
	cat /run/said
	[ $status -ne 124 ] || lab_fail "a Call that is too long blocks the others"
	[ $status -eq 1 ] || lab_fail "status $status: a header has room for 43 segments?"
	must timeout 30 ls -l "$LAB_MOUNT"
	must dd if=/dev/zero of="$LAB_MOUNT/data" bs=64k count=16 oflag=direct
	must umount "$LAB_MOUNT"
	nfs_stop
	must umount "$LAB_EXPORT"
	unlimit max_fast_reg=3
	echo "a header that is too long: well"
}

# another_device - the module examines a new device, even if an earlier one had the same index.
another_device() {
	local i

	limit no_local_inv=1
	nfs_start mimic
	for i in 1 2; do
		[ "$i" -eq 1 ] || must lab_rdma_up mimic
		must lab_mount 3 nolock
		work offsets
		must umount "$LAB_MOUNT"
		[ "$(dmesg | grep -c 'device r0 takes no LOCAL_INV')" -eq "$i" ] ||
			lab_fail "device $i was taken for another one"
		[ "$i" -eq 2 ] || must rdma link delete r0
	done
	nfs_stop
	must umount "$LAB_EXPORT"
	unlimit no_local_inv=1
	echo "another device: well"
}

# undrained - the mount survives a device that does not stop a QP.
undrained() {
	nfs_start mimic
	must lab_mount 3 nolock
	work offsets
	echo "to-err refuse times=0" >$control/faults
	echo qp-fatal >$control/event
	work offsets again
	echo clear >$control/faults
	dmesg | grep -q 'r0 does not stop a queue pair' || lab_fail "nobody noticed"
	must umount "$LAB_MOUNT"
	nfs_stop
	must umount "$LAB_EXPORT"
	echo "a QP that does not stop: well"
}

# grants_have_receives - each granted Call has a Receive, unless connections share Receives.
grants_have_receives() {
	[ "$(sum server receive_queue_shared)" = 1 ] ||
		[ "$(sum server responder_credits)" -lt "$(sum server receive_queue_depth)" ] ||
		lab_fail "$(sum server responder_credits) Calls are granted"
}

must lab_insmod mimic
refused
too_long
another_device
undrained
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
