#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: files of a mount stay equal to a model under random operations, while the device
# is removed and added again. The mount has several connections.
#
#	exercise.sh PROVIDER UNPLUGS [SECONDS]
#
# The device is removed UNPLUGS times. Before each removal, the files are exercised for SECONDS
# (10). With several CPUs, no file is mapped: user-mode Linux loses mapped writes then, on any
# file system.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

provider=$1 unplugs=$2 seconds=${3:-10}
kinds="buffered direct synced reopened tree"
[ "$(nproc)" -gt 1 ] || kinds+=" mapped"
seed=${SEED:-$RANDOM}

# advance - all kinds have done more operations since note().
advance() {
	local kind

	for kind in $kinds; do
		[ "$(cat "/run/exercise.$kind")" -gt "${before[$kind]}" ] || return
	done
}

note() {
	local kind

	for kind in $kinds; do
		before[$kind]=$(cat "/run/exercise.$kind" 2>/dev/null || echo 0)
	done
}

declare -A before=()
for kind in $kinds; do
	echo 0 >"/run/exercise.$kind"
done
nfs_start "$provider"
must lab_mount 4.2 nconnect=4
echo "seed: $seed"
# shellcheck disable=SC2086 # several kinds
"$LAB_TREE/tests/exercise.py" "$LAB_MOUNT/exercise" "$LAB_EXPORT/exercise" "$seed" $kinds &
exercise=$!
note
must lab_until 60 advance
for ((i = 0; i < unplugs; i++)); do
	sleep "$seconds"
	must timeout 60 rdma link delete r0
	sleep $((RANDOM % 3))
	must lab_rdma_up "$provider"
	note
	lab_until 120 advance || lab_fail "the files stand still: $(grep . /run/exercise.*)"
done
touch /run/exercise.stop
must wait $exercise
echo "RPCs: $(awk '/xprt:/ { n += $8 } END { print n }' /proc/self/mountstats)"
must umount "$LAB_MOUNT"
nfs_stop
