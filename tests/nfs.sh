#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: data, names and locks on a mount, client and server in one guest.
#
#	nfs.sh PROVIDER VERSION [EXPORT]

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

provider=$1
version=$2

workloads() {
	echo files offsets names storm locks
	case $version in
	3)	echo acl ;;
	4.2)	echo sparse ;;
	esac
}

nfs_start "$provider" "${3:-tmpfs}"
count_event ready rpcrdma2/rpcrdma2_conn_ready
must lab_mount "$version"
case ${PARAMETERS:-} in
*version=1*|*dialects=v1*) dialect=v1 ;;
*dialects=v2-01*) dialect=v2-01 ;;
*)	dialect=v2-09 ;;
esac
[ "$(last_field ready dialect)" = $dialect ] ||
	lab_fail "$(last_field ready dialect) is spoken, not $dialect"
case $provider in mimic*) dma_is_seen ;; esac
for workload in $(workloads); do
	work "$workload"
done
must umount "$LAB_MOUNT"
no_rnr "after $(workloads)"
nfs_stop
