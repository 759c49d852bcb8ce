#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: NFS and RPCs of every form work over mimic with the limits of real devices, at
# both ends.
#
#	profiles.sh PROFILE...
#
# Environment: SUITES are the suites of the echo module.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

: "${SUITES:=echo_connect,echo_forms,echo_many,echo_rare,echo_disconnect,echo_reverse}"

faults=/sys/kernel/debug/mimic/r0/faults

# list - list a directory that the client has not cached. Sets $one to the number of Calls with
# a Reply chunk of one segment, and $several to the number with a longer Reply chunk.
list() {
	local event=rpcrdma2/rpcrdma2_call_send

	echo 3 >/proc/sys/vm/drop_caches
	count_event one $event 'reply == 1 && segments == 1'
	count_event several $event 'reply == 1 && segments > 1'
	[ "$(ls "$LAB_MOUNT/names")" = "$(ls "$LAB_EXPORT/names")" ] || lab_fail "not the listing"
	one=$(counted one) several=$(counted several)
	count_end
	echo "Reply chunks of one segment: $one, of several: $several"
}

is_refused() { [[ $(<$faults) = *struck=[1-9]* ]]; }
can_bridge() { [ "$(sum client requester_gap_registrations)" -gt 0 ]; }

# Head, pages and tail of a Reply lie apart. A device that bridges gaps registers them as one
# segment. A device that does not, or that refuses to, registers several.
profile_gaps() {
	must mkdir "$LAB_EXPORT/names"
	must touch "$LAB_EXPORT/names"/a-name-that-is-not-so-short-{1..400}
	[ "$1" != mlx5 ] || echo "alloc-mr refuse times=0" >$faults
	list
	((one == 0 && several > 0)) || lab_fail "one segment without a registration for it"
	[ "$1" = mlx5 ] || return 0
	must lab_until 10 is_refused
	echo clear >$faults
	list
	must lab_until 10 can_bridge
	list
	((one > 0 && several == 0)) || lab_fail "several segments on $1"
	[ "$(sum client gap_registrations)" -ge "$one" ] || lab_fail "nobody counted"
}

profile_nfs() {
	nfs_start "mimic:$1"
	must lab_mount 4.2
	profile_gaps "$1"
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
