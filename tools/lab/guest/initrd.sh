#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Init of the initrd of a QEMU guest. The host's files come over 9p, read-only. The script lays
# the kernel's files and a tmpfs over them, and runs init.sh there.

/bin/busybox mkdir -p /host /kernel /lab /root
/bin/busybox --install /bin
export PATH=/bin

for module in /modules/*; do
	insmod "$module"
done
# 9p may cache: no file of the host that matters changes during a run.
options=trans=virtio,version=9p2000.L,msize=262144,cache=loose,ro
mount -t 9p -o $options host /host
mount -t 9p -o $options kernel /kernel
mount -t tmpfs lab /lab
mkdir /lab/upper /lab/work
mount -t overlay -o lowerdir=/kernel:/host,upperdir=/lab/upper,workdir=/lab/work \
	lab /root

export LAB_ROOT_READY=1
exec switch_root /root "$LAB_INIT"
