#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# What a QEMU guest starts with: lays the kernel's files and a tmpfs over the
# host's, which 9p brings in read-only, and goes on with init.sh from there.

/bin/busybox mkdir -p /host /kernel /lab /root
/bin/busybox --install /bin
export PATH=/bin

for module in /modules/*; do
	insmod "$module"
done
# The host's files don't change during a run, or not so that it matters.
options=trans=virtio,version=9p2000.L,msize=262144,cache=loose,ro
mount -t 9p -o $options host /host
mount -t 9p -o $options kernel /kernel
mount -t tmpfs lab /lab
mkdir /lab/upper /lab/work
mount -t overlay -o lowerdir=/kernel:/host,upperdir=/lab/upper,workdir=/lab/work \
	lab /root

export LAB_ROOT_READY=1
exec switch_root /root "$LAB_INIT"
