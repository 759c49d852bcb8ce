#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: RPCs that are killed while their Calls are on a stalled Send Queue keep their
# registrations until the queue moves.
#
#	queued.sh PROFILE...

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

faults=/sys/kernel/debug/mimic/r0/faults

# A READDIR offers memory, and the process itself waits for the RPC. It opens the directory
# before the queue stalls.
reader='
import os, sys, time
fd = os.open(sys.argv[1], os.O_RDONLY)
open("/run/is-open", "w").close()
while not os.path.exists("/run/read"):
    time.sleep(0.05)
os.listdir(fd)
'

gone() { ! kill -0 "$1" 2>/dev/null; }

stands_still() { [[ $(<$faults) = *struck=1* ]]; }

has_registered() { [ "$(counted registered)" -gt "$1" ]; }

# kill_queued NUMBER - kill a reader while its Call is on the queue
kill_queued() {
	local dir=$LAB_MOUNT/dir.$1 before pid

	rm -f /run/is-open /run/read
	must mkdir "$dir"
	must touch "$dir"/{a..z}
	python3 -c "$reader" "$dir" 2>/dev/null &
	pid=$!
	lab_until 20 test -e /run/is-open || lab_fail "nobody reads"
	echo clear >$faults
	echo "send delay ms=10000" >$faults
	timeout 60 stat "$LAB_MOUNT/$1" >/dev/null 2>&1 &
	lab_until 10 stands_still || lab_fail "nothing is sent"
	before=$(counted registered)
	touch /run/read
	lab_until 3 has_registered "$before" || lab_fail "the reader has registered nothing"
	before=$(counted early)
	kill -KILL $pid
	lab_until 20 gone $pid || lab_fail "the reader can't be killed"
	[ "$(counted early)" -gt "$before" ] || lab_fail "its RPC was answered before it was killed"
	must wait
}

for profile; do
	nfs_start "mimic:$profile"
	count_event registered rpcrdma2/rpcrdma2_mr_register
	count_event early rpcrdma2/rpcrdma2_call_fenced 'received == 0 && status == 0'
	must lab_mount 4.2 actimeo=600
	# Let the module find out whether the device takes LOCAL_INV, also by a READDIR.
	must ls "$LAB_MOUNT" >/dev/null
	work files
	for i in 1 2; do
		kill_queued $i
	done
	work offsets
	must umount "$LAB_MOUNT"
	nfs_stop
	must umount "$LAB_EXPORT"
	echo "$profile: well"
done
