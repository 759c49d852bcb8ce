#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: processes that wait for a hung server can be killed, and the mount works again
# when the server continues.
#
#	killed.sh [PROVIDER]

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

# write_forever FILE [OPTIONS] - start a process that writes to a file of the mount.
write_forever() {
	dd if=/dev/zero of="$LAB_MOUNT/$1" bs=1M count=64 "${@:2}" 2>/dev/null &
	writers+=($!)
}

# gone PID - the process has ended. A zombie counts as ended.
gone() { ! grep -qs '^State:.*[^Z] (' "/proc/$1/status" || ! kill -0 "$1" 2>/dev/null; }

nfs_start "${1:-rxe}" ext4
must lab_mount 4.2
must touch "$LAB_MOUNT/direct"
must fsfreeze --freeze "$LAB_EXPORT"
writers=()
# This one waits in a WRITE, because its file is there. The others wait to create theirs.
write_forever direct oflag=direct conv=nocreat,notrunc
write_forever sync oflag=sync
write_forever cached conv=fsync
sleep 3
grep -q ' WRITE ' /sys/kernel/debug/sunrpc/rpc_clnt/*/tasks || lab_fail "no WRITE waits"
for writer in "${writers[@]}"; do
	gone "$writer" && lab_fail "a process did not wait for the frozen server"
	kill -KILL "$writer"
done
for writer in "${writers[@]}"; do
	lab_until 20 gone "$writer" || {
		cat "/proc/$writer/stack"
		lab_fail "a process that waits can't be killed"
	}
done
must fsfreeze --unfreeze "$LAB_EXPORT"
work offsets
must umount "$LAB_MOUNT"
nfs_stop
