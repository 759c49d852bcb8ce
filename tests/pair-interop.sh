#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Script of both guests: a client and a server of different kinds work together, and lose no
# data when the server loses power under load. They pass files of all sizes, a recalled
# delegation, and, with NFSv4.2, attributes that are longer than a reader's buffer. After the
# loss of power, the client's processes wait and see no error.
#
#	TEST_ARGS="CLIENT SERVER PROVIDER VERSION"
#
# CLIENT and SERVER are rpcrdma2, or rpcrdma: the kernel's own. Two rpcrdma2 speak version 2.
# Any other pair speaks version 1.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

read -r client server provider version <<<"$TEST_ARGS"
# shellcheck disable=SC2034 # lib.sh uses it
TRANSPORT=${!LAB_ROLE}

lab_make_export() { export_on_disk; }

xattr() { "$LAB_TREE/tests/xattr.py" "$@"; }

### Server

# The grace period is not cut short, because clients need it to reclaim their state.
serve() {
	must lab_rdma_up "$provider"
	load_transport
	must lab_nfs_server
	[ "$LAB_BOOT" -gt 1 ] || must xattr make "$LAB_EXPORT"
	lab_signal ready
	until [ -e "$LAB_SHARE/.lab-end" ]; do
		lab_wait recall 1 2>/dev/null && recall
	done
	nfs_stop
	exit
}

# A local process writes to the file for which the client has a delegation.
recall() {
	count_event recall nfsd/nfsd_cb_recall
	SECONDS=0
	must timeout 60 sh -c "echo new >$LAB_EXPORT/recall"
	[ "$(counted recall)" -gt 0 ] || lab_fail "there was no recall"
	[ $SECONDS -le 5 ] || lab_fail "the writer waited for $SECONDS s"
	count_end
	lab_signal recalled
}

### Client

# mount_and_look - mount, and check the dialect of the connection
mount_and_look() {
	local dialect=v1 seen

	[ "$client $server" != "rpcrdma2 rpcrdma2" ] || dialect=v2-09
	[ "$client" = rpcrdma ] || count_event ready rpcrdma2/rpcrdma2_conn_ready
	must lab_mount "$version"
	[ "$client" = rpcrdma ] && return
	seen=$(last_field ready dialect)
	[ "$seen" = $dialect ] || lab_fail "$seen is spoken, not $dialect"
	echo "$seen is spoken"
	count_end
}

# remount_and_count TIMES - mount again, and check how often the client asks for version 2. A
# server that has only version 1 is not asked again for version_retry seconds.
remount_and_count() {
	must umount "$LAB_MOUNT"
	count_event asking rpcrdma2/rpcrdma2_handshake "to == 1"
	must lab_mount "$version"
	[ "$(counted asking)" -eq "$1" ] ||
		lab_fail "$LAB_SERVER: asked $(counted asking) times, not $1"
	count_end
}

ask_again() {
	local LAB_SERVER=$LAB_SERVER retry=/sys/module/rpcrdma2/parameters/version_retry

	[ "$client $server" = "rpcrdma2 rpcrdma" ] || return 0
	remount_and_count 0
	echo 1 >$retry
	LAB_SERVER='[fd00:78::1]'
	remount_and_count 1
	sleep 2
	remount_and_count 1
	echo 600 >$retry
	LAB_SERVER=192.168.78.1
	remount_and_count 0
}

# The server grants no delegation before it knows that it can call back.
delegated() {
	exec 5<"$LAB_MOUNT/recall"
	grep -q old <&5 || lab_fail "the file can't be read"
	[ "$(counted delegation)" -gt 0 ]
}

# NFSv3 has no delegations, and NFSv4.0 has no callbacks over RDMA.
lose_delegation() {
	case $version in 3|4.0) return ;; esac
	count_event delegation nfs4/nfs4_set_delegation
	echo old >"$LAB_MOUNT/recall"
	lab_until 10 delegated || lab_fail "there was no delegation"
	lab_signal recall
	must lab_wait recalled 60
	exec 5<&-
	grep -q new "$LAB_MOUNT/recall" || lab_fail "the client reads old data"
}

# The kernel's own client is left out: it has no remedy for a Reply chunk that is too short.
reads_attributes() { [ "$client $version" = "rpcrdma2 4.2" ]; }

# This comes before the mount over RDMA, because it would share that mount's connection.
read_over_tcp() {
	reads_attributes || return 0
	must mkdir -p "$LAB_MOUNT"
	must mount -t nfs -o "vers=4.2,proto=tcp" "$LAB_SERVER:/" "$LAB_MOUNT"
	must xattr read "$LAB_MOUNT" /run/tcp value list acl
	must umount "$LAB_MOUNT"
}

read_attributes() {
	reads_attributes || return 0
	must xattr read "$LAB_MOUNT" /run/rdma value list acl
	must xattr compare /run/rdma /run/tcp
	must xattr copy "$LAB_MOUNT"
}

# Another process can't take the lock, which the client holds throughout.
lock_is_held() { ! flock -n "$LAB_MOUNT/lock" true; }

outlive_server() {
	exec 7>"$LAB_MOUNT/lock"
	must flock 7
	LOAD_FORGETFUL=1 load_start
	must lab_restart_server
	must lab_wait ready 120
	load_advances 120 || lab_fail "the mount did not come back"
	lock_is_held || lab_fail "the lock is lost"
	load_stop
	exec 7>&-
}

[ "$LAB_ROLE" = client ] || serve

must lab_rdma_up "$provider"
load_transport
must lab_wait ready 120
read_over_tcp
mount_and_look
ask_again
work files
work offsets
read_attributes
lose_delegation
outlive_server
pair_client_stop
