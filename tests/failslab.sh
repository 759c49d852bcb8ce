#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: memory runs out now and then, in the kernel's threads and in the
# processes that use a mount. They may see errors; the kernel must survive, lose
# nothing for good, and leak nothing.

# shellcheck source=tests/lib.sh
. "$LAB_TREE/tests/lib.sh"

failslab=/sys/kernel/debug/failslab
rounds=${1:-8}

faults_on() {
	local kthread

	echo Y >$failslab/task-filter
	echo N >$failslab/ignore-gfp-wait
	echo 0 >$failslab/verbose
	echo -1 >$failslab/times
	echo 97 >$failslab/interval
	echo 20 >$failslab/probability
	# Those that kthreadd starts from now on inherit it.
	for kthread in 2 $(pgrep -P 2); do
		echo 1 2>/dev/null >"/proc/$kthread/make-it-fail"
	done
}

faults_off() { echo 0 >$failslab/probability; }

# What fails here may fail.
try() {
	(
		echo 1 >/proc/self/make-it-fail
		exec timeout -k 5 30 "$@"
	) >/dev/null 2>&1
}

[ -d $failslab ] || skip "this kernel has no CONFIG_FAILSLAB"
nfs_start rxe
mkdir -p "$LAB_MOUNT"
failed=0
for ((round = 0; round < rounds; round++)); do
	faults_on
	try mount -t nfs -o "vers=4.2,proto=rdma,port=20049,retry=0" \
		-o softerr,timeo=30,retrans=2 "$LAB_SERVER:/" "$LAB_MOUNT" ||
		failed=$((failed + 1))
	try "$LAB_TREE/tests/workload.py" names "$LAB_MOUNT/names-$round" ||
		failed=$((failed + 1))
	try dd if=/dev/zero of="$LAB_MOUNT/$round" bs=300000 count=20 oflag=direct ||
		failed=$((failed + 1))
	faults_off
	# A mount that failed leaves a plain directory.
	lab_until 60 umount "$LAB_MOUNT" 2>/dev/null || ! mountpoint -q "$LAB_MOUNT" ||
		lab_fail "the mount can't be undone"
	rm -rf "${LAB_MOUNT:?}"/* "${LAB_EXPORT:?}"/*
done
echo "$failed of $((rounds * 3)) commands failed for want of memory"

must lab_mount 4.2
work files
work offsets
must umount "$LAB_MOUNT"
nfs_stop
must lab_kmemleak
