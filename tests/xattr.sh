#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: reads of extended attributes and ACLs that are longer than a reader's buffer end
# as over TCP. NFS asks for these without a length, so the Reply is longer than its buffers.
#
#	xattr.sh PROVIDER [DIALECT...]

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

MODULE=/sys/module/rpcrdma2/parameters
TCP=/run/tcp

# The file systems of the usual lab_make_export() have no large attributes.
lab_make_export() {
	truncate -s 64M /run/export.img &&
		mkfs.ext4 -q -b 4096 -O ea_inode /run/export.img &&
		mount -o loop /run/export.img "$LAB_EXPORT"
}

xattr() { "$LAB_TREE/tests/xattr.py" "$@"; }

# kinds VERSION - print the kinds that a mount can read. NFSv4.0 has no user attributes.
kinds() {
	case $1 in
	4.2)	echo value list acl ;;
	*)	echo acl ;;
	esac
}

# shellcheck disable=SC2046 # several kinds
read_over_tcp() {
	must mkdir -p "$LAB_MOUNT"
	must mount -t nfs -o "vers=$1,proto=tcp" "$LAB_SERVER:/" "$LAB_MOUNT"
	grep -q 'xprt:.*tcp' /proc/self/mountstats || lab_fail "not over TCP"
	must xattr read "$LAB_MOUNT" "$TCP-$1" $(kinds "$1")
	must umount "$LAB_MOUNT"
}

# read_over_rdma VERSION DIALECT INLINE - read over RDMA, and compare with the results over TCP.
# The server refuses a Reply that is too long, but only once for each procedure, so at most twice
# with 4.2. Without 4.2, there is only the ACL, which may fit inline.
# shellcheck disable=SC2046 # several kinds
read_over_rdma() {
	local what="NFS $1, $2, inline $3" refused

	echo "$2" >$MODULE/dialects || lab_fail "no dialect $2"
	echo "$3" >$MODULE/inline_size || lab_fail "no inline_size $3"
	count_event ready rpcrdma2/rpcrdma2_conn_ready
	count_event refused rpcrdma2/rpcrdma2_error_recv
	must lab_mount "$1"
	[ "$(last_field ready dialect)" = "$2" ] ||
		lab_fail "$what: $(last_field ready dialect) is spoken"
	xattr read "$LAB_MOUNT" /run/rdma $(kinds "$1") || lab_fail "$what: see above"
	xattr compare /run/rdma "$TCP-$1" || lab_fail "$what: not as over TCP"
	[ "$1" != 4.2 ] || xattr copy "$LAB_MOUNT" || lab_fail "$what: copy2"
	refused=$(counted refused)
	[ "$1" != 4.2 ] || [ "$refused" -gt 0 ] || lab_fail "$what: no Reply was too long"
	[ "$refused" -le 2 ] || lab_fail "$what: $refused Replies were refused"
	must umount "$LAB_MOUNT"
	count_end
}

provider=$1
shift
[ $# -gt 0 ] || set -- v2-09 v2-01 v1
nfs_start "$provider" ext4
must xattr make "$LAB_EXPORT"
for version in 4.2 4.0; do
	read_over_tcp $version
	for dialect; do
		for inline in 12288 4096; do
			read_over_rdma $version "$dialect" $inline
		done
	done
done
nfs_stop
