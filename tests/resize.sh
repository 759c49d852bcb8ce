#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: Receive buffers grow and shrink under load at both ends of one connection, and
# no message lacks a Receive. The size goes from 4 to 16 to 64 KiB and back, first as the
# traffic needs. Next, the server runs out of memory for Receives, and gets memory again. Then,
# writes to debugfs change the size under load. Nothing is lost.
#
#	resize.sh rxe|siw DIALECT [ROUNDS [BY-HAND]]
#
# The size changes ROUNDS times as the traffic needs, and BY-HAND (ROUNDS) times by debugfs.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

dialect=${2:?dialect}
rounds=${3:-10}
by_hand=${4:-$rounds}

# file_of client|server - print the file of that end of the connection
file_of() { grep -lE "^role: +$1" $CONNECTIONS/[0-9]* | tail -1; }

# value_of FILE KEY - print a value in the file
value_of() { awk -v key="$2:" '$1 == key { print $2 }' "$1"; }

# has_size OCTETS - do both ends know that both have this size, and do all buffers have it?
has_size() {
	local file

	for file in "$client" "$server"; do
		[ "$(value_of "$file" offered_rbsiz)" = "$1" ] || return
		[ "$(value_of "$file" received_rbsiz)" = "$1" ] || return
		[ "$(value_of "$file" odd_receive_buffers)" = 0 ] || return
	done
}

# become OCTETS SECONDS - wait until both ends have this size, for at most SECONDS
become() {
	lab_until "$2" has_size "$1" && return
	cat "$client" "$server"
	cat $TRACING/trace >"$LAB_SHARE/trace"
	lab_fail "the size is not $1"
}

# control_of FILE - print the file that controls the connection of FILE
control_of() { echo "$CONNECTIONS/control/${1##*/}"; }

# resize OCTETS - set the size at both ends by hand
resize() {
	echo "rbsiz $1" >"$(control_of "$client")" || lab_fail "client: refused"
	echo "rbsiz $1" >"$(control_of "$server")" || lab_fail "server: refused"
	become "$1" 30
}

# The connection is still the same, and nothing had to be sent again.
same_connection() {
	[ "$(file_of client) $(file_of server)" = "$client $server" ] ||
		lab_fail "another connection"
	no_rnr "on this connection"
	[ "$(value_of "$client" connects)" = 1 ] || lab_fail "connected again"
}

# mount_and_find OCTETS - mount, and check that the connection starts with this size
mount_and_find() {
	must lab_mount 4.2
	lab_until 30 connected || lab_fail "no connection"
	client=$(file_of client)
	server=$(file_of server)
	[ "$(value_of "$client" dialect)" = "$dialect" ] ||
		lab_fail "another dialect"
	has_size "$1" || lab_fail "it does not start with $1"
}

# decided EVENT... - check that the trace has each EVENT
decided() {
	local event

	for event; do
		grep -q "rpcrdma2_$event:" $TRACING/trace ||
			lab_fail "no $event in the trace"
	done
}

# transfer SIZE - write and read SIZE octets at a time. Each pass takes at least 30 RPCs, so that
# Receives grow even if resize.c forgets the earlier messages once.
transfer() {
	for _ in 1 2 3; do
		must dd if=/run/data of="$LAB_MOUNT/data" bs="$1" oflag=direct status=none
		must dd if="$LAB_MOUNT/data" of=/run/copy bs="$1" iflag=direct status=none
		must cmp /run/data /run/copy
	done
}

# Send small RPCs until $small is gone, or until an RPC fails.
small_load() {
	local n

	for ((n = 0; ; n++)); do
		[ -e $small ] || return 0
		echo $n >"$LAB_MOUNT/small" &&
			[ "$(cat "$LAB_MOUNT/small")" = $n ] || return 1
		lab_nap 0.02
	done
}

is_short() { ! grep -q '^shortages: *0$' $CONNECTIONS/receives; }

server_has() { [ "$(value_of "$server" offered_rbsiz)" = "$1" ]; }

connected() { [ -n "$(file_of client)" ] && [ -n "$(file_of server)" ]; }

# Shared Receives can't change their size.
PARAMETERS="inline_size=65536 inline_min=4096 use_srq=0"
PARAMETERS+=" receive_memory=64 dialects=$dialect,v1"
parameters=/sys/module/rpcrdma2/parameters
small=/run/small
nfs_start "$1"
echo 1 >$TRACING/events/rpcrdma2/rpcrdma2_change_send/enable
echo 1 >$TRACING/events/rpcrdma2/rpcrdma2_change_recv/enable
for event in resize grow grow_refused shrink_idle shrink_memory; do
	echo 1 >$TRACING/events/rpcrdma2/rpcrdma2_$event/enable
done
mount_and_find 4096

### As the traffic needs

dd if=/dev/urandom of=/run/data bs=48k count=20 status=none
touch $small
small_load &
for ((i = 1; i <= rounds; i++)); do
	echo 60 >$parameters/inline_idle
	transfer 12k
	become 16384 30
	transfer 32k
	become 65536 30
	echo 1 >$parameters/inline_idle
	become 4096 30
done
rm $small
must wait $!
same_connection
decided grow shrink_idle resize
grep -E '_rbsiz|size_changes' "$client" "$server"

### A server short of memory

echo 60 >$parameters/inline_idle
load_start
lab_until 60 server_has 65536 || lab_fail "the server's Receives don't grow"
echo 1 >$parameters/receive_memory
lab_until 60 server_has 4096 || lab_fail "the server's Receives keep their size"
lab_until 60 is_short || lab_fail "they had no need to grow again"
cat $CONNECTIONS/receives
server_has 4096 || lab_fail "they grew, for all that"
! echo "rbsiz 65536" 2>/dev/null >"$(control_of "$server")" || lab_fail "taken, without memory"
echo 64 >$parameters/receive_memory
lab_until 60 server_has 65536 || lab_fail "the server's Receives stay small"
load_stop
same_connection
decided shrink_memory grow_refused

### By hand, under load

must umount "$LAB_MOUNT"
echo 0 >$parameters/inline_min
mount_and_find 65536
load_start
for ((i = 1; i <= by_hand; i++)); do
	for size in 16384 65536 4096; do
		resize $size
	done
done
must load_advances 60
load_stop
same_connection
grep -E '_rbsiz|size_changes|^(sends|receives):' "$client" "$server"
for bad in "rbsiz 5000" "rbsiz 2048" "rbsiz 524288" "rbsiz" "size 8192" ""; do
	! echo "$bad" 2>/dev/null >"$(control_of "$client")" || lab_fail "taken: $bad"
done
must umount "$LAB_MOUNT"
nfs_stop
must lab_kmemleak
