#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Script of both guests: the server loses power under load, and comes back. The
# client's processes wait, see no error, and lose nothing.
#
#	TEST_ARGS=VERSION

# shellcheck source=tests/lib.sh
. "$LAB_TREE/tests/lib.sh"

# On a disk that outlives the server, with what it remembers of its clients.
# Takes the place of lab's function, whose exports start empty.
lab_make_export() {
	local image=$LAB_SHARE/disk.img disk=/run/disk

	mkdir -p $disk || return
	if [ "$LAB_BOOT" -eq 1 ]; then
		truncate -s 512M "$image" &&
		mkfs.ext4 -q "$image" &&
		mount -o loop "$image" $disk &&
		mkdir $disk/export &&
		cp -a /var/lib/nfs $disk/nfs || return
	else
		mount -o loop "$image" $disk || return
	fi
	mount --bind $disk/nfs /var/lib/nfs &&
	mount --bind $disk/export "$LAB_EXPORT"
}

# The grace period is not cut short: clients reclaim their state in it.
serve() {
	must lab_rdma_up rxe
	must lab_insmod rpcrdma2
	must lab_nfs_server
	lab_signal ready
	lab_wait_end
	nfs_stop
	exit
}

# No errors but what the disk keeps: a lock that the client holds throughout.
lock_is_held() { ! flock -n "$LAB_MOUNT/lock" true; }

[ "$LAB_ROLE" = client ] || serve

pair_client "$TEST_ARGS"
exec 7>"$LAB_MOUNT/lock"
must flock 7
load_start
for _ in 1 2; do
	must lab_restart_server
	must lab_wait ready 120
	load_advances 120 || lab_fail "the mount did not come back"
	lock_is_held || lab_fail "the lock is lost"
done
load_stop
exec 7>&-
pair_client_stop
