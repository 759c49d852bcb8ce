#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# resize.sh rxe|siw DIALECT [ROUNDS] - guest script: the size of Receive buffers changes
# at both ends of a connection under load, ROUNDS times from 4 to 16 to 64 KiB and back;
# first by itself, then by what is written to debugfs. Nothing is lost, and the
# connection is the same one all the time.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

dialect=${2:?dialect}
rounds=${3:-10}

# file_of client|server - the connection's, as that end has it
file_of() { grep -lE "^role: +$1" $CONNECTIONS/[0-9]* | tail -1; }

# value_of FILE KEY
value_of() { awk -v key="$2:" '$1 == key { print $2 }' "$1"; }

# has_size OCTETS - both ends know that both have it, and no buffer is of another.
has_size() {
	local file

	for file in "$client" "$server"; do
		[ "$(value_of "$file" offered_rbsiz)" = "$1" ] || return
		[ "$(value_of "$file" received_rbsiz)" = "$1" ] || return
		[ "$(value_of "$file" odd_receive_buffers)" = 0 ] || return
	done
}

# become OCTETS - within a time
become() {
	lab_until "$2" has_size "$1" && return
	cat "$client" "$server"
	cat $TRACING/trace >"$LAB_SHARE/trace"
	lab_fail "the size is not $1"
}

# resize OCTETS
resize() {
	echo "rbsiz $1" >"$client" || lab_fail "client: refused"
	echo "rbsiz $1" >"$server" || lab_fail "server: refused"
	become "$1" 30
}

same_connection() {
	[ "$(file_of client) $(file_of server)" = "$client $server" ] ||
		lab_fail "another connection"
	[ "$(value_of "$client" connects)" = 1 ] || lab_fail "connected again"
}

# mount_and_find OCTETS - a connection that starts with that size
mount_and_find() {
	must lab_mount 4.2
	lab_until 30 connected || lab_fail "no connection"
	client=$(file_of client)
	server=$(file_of server)
	[ "$(value_of "$client" dialect)" = "$dialect" ] ||
		lab_fail "another dialect"
	has_size "$1" || lab_fail "it does not start with $1"
}

connected() { [ -n "$(file_of client)" ] && [ -n "$(file_of server)" ]; }

# Shared Receives have one size.
PARAMETERS="inline_size=65536 inline_min=4096 use_srq=0 dialects=$dialect,v1"
nfs_start "$1"
echo 1 >$TRACING/events/rpcrdma2/rpcrdma2_change_send/enable
echo 1 >$TRACING/events/rpcrdma2/rpcrdma2_change_recv/enable
echo 1 >$TRACING/events/rpcrdma2/rpcrdma2_resize/enable
mount_and_find 4096

### By need

dd if=/dev/urandom of=/run/data bs=32k count=64 status=none
for i in 1 2; do
	must dd if=/run/data of="$LAB_MOUNT/data" bs=32k oflag=direct status=none
	must dd if="$LAB_MOUNT/data" of=/run/copy bs=32k iflag=direct status=none
	must cmp /run/data /run/copy
done
become 65536 30
same_connection
echo "grown by need"
become 4096 100
same_connection
echo "shrunk, being idle"

### By hand, under load

must umount "$LAB_MOUNT"
echo 0 >/sys/module/rpcrdma2/parameters/inline_min
mount_and_find 65536
load_start
for ((i = 1; i <= rounds; i++)); do
	for size in 16384 65536 4096; do
		resize $size
	done
done
must load_advances 60
load_stop
same_connection
grep -E '_rbsiz|size_changes|^(sends|receives):' "$client" "$server"
for bad in "rbsiz 5000" "rbsiz 2048" "rbsiz 524288" "rbsiz" "size 8192" ""; do
	! echo "$bad" 2>/dev/null >"$client" || lab_fail "taken: $bad"
done
must umount "$LAB_MOUNT"
nfs_stop
must lab_kmemleak
