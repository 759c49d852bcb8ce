#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Script of both guests: a server changes from the kernel's own rpcrdma to rpcrdma2 while a
# client of rpcrdma2 works on it. The client's processes see no error and keep their lock.
# Afterwards, the mount speaks version 2 by itself.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

serve() {
	TRANSPORT=rpcrdma
	must lab_rdma_up rxe
	load_transport
	must lab_nfs_server
	lab_signal ready
	must lab_wait update 200
	must rpc.nfsd 0
	must lab_until 30 rmmod rpcrdma
	TRANSPORT=rpcrdma2
	load_transport
	must rpc.nfsd --no-udp -G 10 -L 10 8
	must eval 'echo "rdma 20049" >/proc/fs/nfsd/portlist'
	lab_signal updated
	lab_wait_end
	nfs_stop
	exit
}

speaks() {
	local file
	file=$(connection_of client) && grep -q "^version: *$1\$" "$file"
}

lock_is_held() { ! flock -n "$LAB_MOUNT/lock" true; }

[ "$LAB_ROLE" = client ] || serve

pair_client 4.2
lab_until 10 speaks 1 || lab_fail "it is not version 1 that is spoken"
exec 7>"$LAB_MOUNT/lock"
must flock 7
load_start
lab_signal update
must lab_wait updated 60
SECONDS=0
load_advances 120 || lab_fail "the mount did not come back"
echo "it went on $SECONDS s after the update"
lab_until 10 speaks 2 || lab_fail "it is not version 2 that is spoken"
lock_is_held || lab_fail "the lock is lost"
load_stop
exec 7>&-
pair_client_stop
