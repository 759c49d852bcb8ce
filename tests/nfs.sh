#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: data, names and locks on a mount are right, with client and server in one
# guest. The workloads (workload.py) use sizes and offsets around every limit, many processes,
# ACLs and holes. They compare data on the server, and again with cold caches.
#
#	nfs.sh PROVIDER VERSION[:PARAMETER=VALUE]...
#
# Each VERSION of NFS is mounted in turn, with the module's parameters that follow it.
# EXPORT: the file system that the server exports, tmpfs (default) or ext4.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

provider=$1
parameters=/sys/module/rpcrdma2/parameters
declare -A defaults=()
mounts=0

workloads() {
	echo files offsets names storm locks
	case $1 in
	3)	echo acl ;;
	4.2)	echo sparse ;;
	esac
}

# set_parameters [PARAMETER=VALUE]... - set these, and all others to what they were at first
set_parameters() {
	local parameter name

	for name in "${!defaults[@]}"; do
		echo "${defaults[$name]}" >"$parameters/$name"
	done
	for parameter; do
		name=${parameter%%=*}
		defaults[$name]=$(<"$parameters/$name")
		must eval "echo ${parameter#*=} >$parameters/$name"
	done
}

# dialect_with PARAMETER... - print the dialect of a connection with these parameters
dialect_with() {
	case $* in
	*version=1*|*dialects=v1*) echo v1 ;;
	*dialects=v2-01*) echo v2-01 ;;
	*)	echo v2-09 ;;
	esac
}

# mount_and_work VERSION [PARAMETER=VALUE]...
mount_and_work() {
	local version=$1 dialect workload
	shift

	mounts=$((mounts + 1))
	set_parameters "$@"
	dialect=$(dialect_with "${PARAMETERS:-}" "$@")
	must lab_mount "$version"
	[ "$(last_field ready dialect)" = "$dialect" ] ||
		lab_fail "$(last_field ready dialect) is spoken, not $dialect"
	case $provider in mimic*) dma_is_seen ;; esac
	for workload in $(workloads "$version"); do
		work "$workload" "$workload.$mounts"
	done
	must umount "$LAB_MOUNT"
	no_rnr "after $(workloads "$version")"
}

nfs_start "$provider" "${EXPORT:-tmpfs}"
count_event ready rpcrdma2/rpcrdma2_conn_ready
for setting in "${@:2}"; do
	echo "NFS $setting over $provider"
	# shellcheck disable=SC2086 # words
	mount_and_work ${setting//:/ }
done
nfs_stop
