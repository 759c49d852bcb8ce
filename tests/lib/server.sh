# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The module and the NFS server of this guest.

# The module under test; or rpcrdma, the kernel's own
TRANSPORT=rpcrdma2

# load_transport - load the module, with the parameters in $PARAMETERS. Blanks or colons
# separate them.
# shellcheck disable=SC2086 # several parameters, or none
load_transport() {
	local parameters=${PARAMETERS:-}

	if [ "$TRANSPORT" = rpcrdma ]; then
		must modprobe rpcrdma
	else
		must lab_insmod "$TRANSPORT" ${parameters//:/ }
	fi
}

# nfs_serve [EXPORT] - start a server that accepts I/O of 1 MiB, and end its grace period. (If
# the grace period is over already, nfsd answers "busy".)
nfs_serve() {
	[ -e /proc/fs/nfsd/threads ] || must mount -t nfsd nfsd /proc/fs/nfsd
	echo 1048576 >/proc/fs/nfsd/max_block_size
	must lab_nfs_server "${1:-tmpfs}"
	echo Y 2>/dev/null >/proc/fs/nfsd/v4_end_grace
}

# nfs_serve_at_address - start a server that listens at $LAB_SERVER only
nfs_serve_at_address() {
	must mkdir -p "$LAB_EXPORT"
	must lab_make_export tmpfs
	must mount -t nfsd nfsd /proc/fs/nfsd
	must lab_nfs_daemons
	must exportfs -o rw,no_root_squash,insecure,fsid=0 "*:$LAB_EXPORT"
	must rpc.mountd -N 2
	echo 10 >/proc/fs/nfsd/nfsv4leasetime
	echo 10 >/proc/fs/nfsd/nfsv4gracetime
	"$LAB_TREE/tests/listen.py" rdma "$LAB_SERVER" 20049 ||
		skip "this nfsd can't listen at an address"
	echo 8 >/proc/fs/nfsd/threads
}

# nfs_start PROVIDER [EXPORT] - make the device, load the module, start the server.
nfs_start() {
	must lab_rdma_up "$1"
	load_transport
	nfs_serve "${2:-tmpfs}"
}

# nfs_stop - undo nfs_start. The module can be unloaded only if nothing holds a reference.
# Where the kernel counts mappings, none may be left.
nfs_stop() {
	must rpc.nfsd 0
	must nfs_unload
	must rdma link delete r0
	nothing_is_mapped
}

# nfs_unload - unload the module. The last user of a transport leaves some time before the
# transport is freed, so this tries for 30 seconds.
nfs_unload() {
	count_end
	lab_until 30 rmmod "$TRANSPORT" 2>/dev/null || rmmod "$TRANSPORT"
}
