#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: Calls with chunks hold no more memory than read_memory allows, and a client that
# answers RDMA Reads too slowly loses its connection. The packets of siw pass through the network
# device lo, where the script delays them.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

# Seconds that the server gives an RDMA Read
READ_TIMEOUT=60
# WRITEs of 1 MiB at a time
CALLS=64

server() { sed -n "s/^$1: *//p" $CONNECTIONS/server; }

# lo_is SETTING... - set the delay or the speed of lo.
lo_is() { must tc qdisc replace dev lo root netem "$@"; }

# write_all - send all CALLS at once.
write_all() {
	must dd if=/dev/zero of="$LAB_MOUNT/file" bs=${CALLS}M count=2 \
		oflag=direct status=none
}

# most_at_a_time - print the largest number of Calls that were under RDMA Read at a time,
# according to the trace.
most_at_a_time() {
	awk '/ rpcrdma2_call_read: / { if (++n > most) most = n }
	     / rpcrdma2_call_read_done: / { n-- }
	     END { print most + 0 }' $TRACING/instances/reads/trace
}

trace_reads() {
	mkdir -p $TRACING/instances/reads
	: >$TRACING/instances/reads/trace
	echo 1024 >$TRACING/instances/reads/buffer_size_kb
	# Only the order of events counts here, and the clocks of CPUs differ.
	echo counter >$TRACING/instances/reads/trace_clock
	for event in call_read call_read_done; do
		must eval "echo 1 >$TRACING/instances/reads/events/rpcrdma2/rpcrdma2_$event/enable"
	done
}

# budget - with a limit of 4 MiB, one address may hold half, and all WRITEs succeed.
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

# pages_are_given_back - when memory is short, CPUs give back the pages kept for later Calls.
pages_are_given_back() {
	[ "$(server kept_pages)" -gt 0 ] || lab_fail "no pages are kept"
	echo 2 >/proc/sys/vm/drop_caches
	lab_until 10 none_are_kept || lab_fail "$(server kept_pages) pages are kept"
}

none_are_kept() { [ "$(server kept_pages)" -eq 0 ]; }

# one_connection - on one connection, the server reads two large Calls at a time. The second
# Call need not wait until nfsd takes the first. A third one would only take more memory.
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

# replies_wait - READs need pages for their Replies, and these count as well. With room for one
# READ at a time, all READs of one connection succeed, one after another.
replies_wait() {
	local before

	before=$(server read_page_waits)
	echo 1 >/sys/module/rpcrdma2/parameters/read_memory
	must timeout 50 dd if="$LAB_MOUNT/file" of=/dev/null bs=8M count=1 iflag=direct \
		status=none
	echo "$(($(server read_page_waits) - before)) READs waited"
	[ "$(server read_page_waits)" -gt "$before" ] || lab_fail "no READ had to wait"
	echo 4 >/sys/module/rpcrdma2/parameters/read_memory
}

# slow_reads - on a network where 1 MiB takes two minutes, the server closes the connection.
# The client then waits for TCP, so it is killed.
slow_reads() {
	local conn

	must umount "$LAB_MOUNT"
	must lab_until 30 no_connection
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
# Several connections, because the server reads only two Calls of 1 MiB at a time on each
must lab_mount 3 nconnect=8
# The delay lets other Calls arrive while one is read.
lo_is delay 300ms
budget
lo_is delay 0ms
one_connection
# The delay keeps READs under RDMA Write while others come.
replies_wait
lo_is delay 0ms
slow_reads
nfs_stop
