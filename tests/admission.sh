#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: Calls with chunks keep to read_memory, and a client that is too slow for its
# RDMA Reads loses its connection. siw's packets pass the device lo, where the script delays
# them.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

# So long the server bears with them, in seconds.
READ_TIMEOUT=60
# WRITEs of 1 MiB at a time
CALLS=64

server() { sed -n "s/^$1: *//p" $CONNECTIONS/server; }

# lo_is SETTING... - the network's delay, or its speed
lo_is() { must tc qdisc replace dev lo root netem "$@"; }

# write_all - all of them at once.
write_all() {
	must dd if=/dev/zero of="$LAB_MOUNT/file" bs=${CALLS}M count=2 \
		oflag=direct status=none
}

# most_at_a_time - of the Calls under RDMA Read in the trace
most_at_a_time() {
	awk '/ rpcrdma2_call_read: / { if (++n > most) most = n }
	     / rpcrdma2_call_read_done: / { n-- }
	     END { print most + 0 }' $TRACING/instances/reads/trace
}

trace_reads() {
	mkdir -p $TRACING/instances/reads
	: >$TRACING/instances/reads/trace
	echo 1024 >$TRACING/instances/reads/buffer_size_kb
	# CPUs' clocks differ, and the order of events is what counts here.
	echo counter >$TRACING/instances/reads/trace_clock
	for event in call_read call_read_done; do
		must eval "echo 1 >$TRACING/instances/reads/events/rpcrdma2/rpcrdma2_$event/enable"
	done
}

# No more than the administrator allows, of which one address has half, and it all gets
# through
budget() {
	local limit=$((4 * 256)) most

	echo 4 >/sys/module/rpcrdma2/parameters/read_memory
	[ "$(server read_pages_limit)" = $limit ] || lab_fail "another limit"
	[ "$(server read_pages)" = 0 ] || lab_fail "pages are still held"
	trace_reads
	write_all
	most=$(most_at_a_time)
	echo "$most Calls at a time in 4 MiB, $(server read_page_waits) waited"
	[ "$most" -gt 1 ] || lab_fail "they were not read at the same time"
	[ "$most" -le 2 ] || lab_fail "that is more"
	[ "$(server read_page_waits)" -gt 0 ] || lab_fail "no Call had to wait"
	[ "$(server read_pages)" = 0 ] || lab_fail "pages are still held"
}

# pages_are_given_back - those that CPUs keep for the next Calls, when memory is short
pages_are_given_back() {
	[ "$(server kept_pages)" -gt 0 ] || lab_fail "no pages are kept"
	echo 2 >/proc/sys/vm/drop_caches
	lab_until 10 none_are_kept || lab_fail "$(server kept_pages) pages are kept"
}

none_are_kept() { [ "$(server kept_pages)" -eq 0 ]; }

# One connection reads more than one Call, so that the next one does not wait until this
# one is handed over, but no more than that: they are large.
one_connection() {
	local most

	must umount "$LAB_MOUNT"
	must lab_until 30 no_connection
	pages_are_given_back
	must lab_mount 3
	trace_reads
	lo_is delay 300ms
	must dd if=/dev/zero of="$LAB_MOUNT/file" bs=8M count=1 oflag=direct \
		status=none
	most=$(most_at_a_time)
	echo "of one connection, $most at a time"
	[ "$most" -eq 2 ] || lab_fail "$most Calls of 1 MiB were read at a time"
}

# A network on which 1 MiB takes two minutes: the server ends that. What its client
# then waits for is TCP.
slow_reads() {
	local conn

	must umount "$LAB_MOUNT"
	must lab_until 30 no_connection
	# A heartbeat would have to wait behind the RDMA Read.
	echo 0 >/sys/module/rpcrdma2/parameters/heartbeat
	must lab_mount 3 timeo=6000
	write_all
	conn=$(basename "$(connection_of server)")
	count_event timeouts rpcrdma2/rpcrdma2_conn_close \
		"conn == $conn && status == -110"
	lo_is rate 64kbit
	dd if=/dev/zero of="$LAB_MOUNT/file" bs=1M count=1 oflag=direct \
		status=none &
	SECONDS=0
	lab_until $((READ_TIMEOUT + 30)) timed_out ||
		lab_fail "the server does not end them"
	[ $SECONDS -ge $READ_TIMEOUT ] || lab_fail "after $SECONDS s already"
	tc qdisc del dev lo root
	kill -KILL $!
	must umount -f "$LAB_MOUNT"
}

no_connection() { [ -z "$(connection_of server)" ]; }

timed_out() { [ "$(counted timeouts)" -gt 0 ]; }

nfs_start siw
# Of one connection, only two Calls of 1 MiB are read at a time.
must lab_mount 3 nconnect=8
# While one Call is read, the others come.
lo_is delay 300ms
budget
lo_is delay 0ms
one_connection
lo_is delay 0ms
slow_reads
nfs_stop
