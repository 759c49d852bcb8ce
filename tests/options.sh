#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: mounts with several connections, several mounts at once, and a port from
# rpcbind work. The source address and port of each connection are in sysfs.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

connections() { grep 'xprt:' /proc/self/mountstats; }

# bind_by_rpcbind - mount with a port that the kernel asks rpcbind for. rpcbind knows only TCP's
# port, so the server listens for RDMA at the same port. (Without -i, mount.nfs would ask
# rpcbind itself.)
bind_by_rpcbind() {
	must lab_nfs_daemons
	must eval "echo 'rdma 2049' >/proc/fs/nfsd/portlist"
	must mount -i -t nfs "$LAB_SERVER:$LAB_EXPORT" "$LAB_MOUNT" -o \
		"vers=3,proto=rdma,port=0,mountproto=tcp,nolock,addr=$LAB_SERVER,mountaddr=$LAB_SERVER"
	work names names-bound
	grep -q "peer_address: *$LAB_SERVER:2049$" "$(connection_of client)" ||
		lab_fail "another port: $(cat "$(connection_of client)")"
	must umount "$LAB_MOUNT"
}

# The source address and port of each connection are the same in sysfs and in the connection's
# own file.
source_addresses() {
	local dir ports

	for dir in /sys/kernel/sunrpc/xprt-switches/*/xprt-*-rdma; do
		[ "$(cat "$dir/srcaddr")" = "$LAB_SERVER" ] ||
			lab_fail "$dir/srcaddr: $(cat "$dir/srcaddr")"
		sed -n "s/^src_port=/$LAB_SERVER:/p" "$dir/xprt_info"
	done | sort >/run/sources
	connection_of client | xargs sed -n 's/^local_address: *//p' | sort >/run/locals
	ports=$(wc -l </run/locals)
	[ "$ports" -eq "$1" ] || lab_fail "$ports connections"
	diff /run/locals /run/sources || lab_fail "sysfs has other addresses"
}

nfs_start rxe

# Linux 6.1 takes nconnect with RDMA for version 3 only.
must lab_mount 3 nconnect=4
work files
[ "$(connections | wc -l)" -eq 4 ] || lab_fail "not 4 connections: $(connections)"
connections | awk '$8 == 0 { exit 1 }' ||
	lab_fail "a connection was not used: $(connections)"
source_addresses 4
must umount "$LAB_MOUNT"
must lab_mount 4.2 nconnect=4
work offsets
must umount "$LAB_MOUNT"

for version in 3 4.0 4.1 4.2; do
	must lab_mount $version nosharecache "$LAB_MOUNT-$version"
done
workers=()
for version in 3 4.0 4.1 4.2; do
	work storm "storm-$version" "$LAB_MOUNT-$version" &
	workers+=($!)
done
for worker in "${workers[@]}"; do
	must wait "$worker"
done
for version in 3 4.0 4.1 4.2; do
	must umount "$LAB_MOUNT-$version"
done
bind_by_rpcbind
nfs_stop
