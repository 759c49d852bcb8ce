#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: a client that always uses all of its grant is not taken for one above it. Its
# next Call may arrive before the server is done with the Reply that granted it. That is rare: it
# takes two CPUs, and one must be held up at that moment. So run this beside other work, with
# less priority (nice).

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

readers=16

# connects - print how often the client connected, according to mountstats
connects() { awk '$1 == "xprt:" { print $5 }' /proc/self/mountstats; }

read_much() {
	local i

	for i in {1..4}; do
		dd if="$LAB_MOUNT/file" of=/dev/null bs=4k count=1500 iflag=direct || return
	done
} 2>/dev/null

PARAMETERS="max_requests=2"
nfs_start rxe
must lab_mount 4.2
must dd if=/dev/zero of="$LAB_MOUNT/file" bs=1M count=6 status=none
jobs=()
for ((i = 0; i < readers; i++)); do
	read_much &
	jobs+=($!)
done
for job in "${jobs[@]}"; do
	must wait "$job"
done
grep xprt: /proc/self/mountstats
[ "$(connects)" -eq 1 ] || lab_fail "the client had to connect $(connects) times"
must umount "$LAB_MOUNT"
nfs_stop
