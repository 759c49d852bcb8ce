#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: races of slots, Send buffers and killed RPCs that the kernel's own rpcrdma had
# do not happen here. Tests of nconnect found these races. With several connections, each one
# has few RPCs under way, and runs out of slots or buffers while the others go on.
#
#	reuse.sh [PART...]
#
#	slots		A server grants more than before. RPCs that wait for a slot get
#			the new ones at once, and so do later RPCs. rpcrdma lost a
#			wakeup between the search for a slot and the wait.
#	buffers		Each connection has one Send buffer. An RPC that finds none is
#			woken when the buffer is back. rpcrdma took a context while
#			another thread returned one, and then all RPCs waited.
#	contexts	Sends take long, and no RPC uses their buffers before they end.
#			rpcrdma reused a request as soon as its Reply had arrived. The
#			device could still read from its buffer.
#	late		Completions of Sends come long after the Replies. RPCs wait for
#			buffers, Replies too, and none is lost. rxe of Linux 7.3
#			completes so late: one of its threads handles completions,
#			another one received messages.
# (The suite echo_disconnect kills RPCs while their Calls are being sent.)

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

control=/sys/kernel/debug/mimic/r0
# With shared Receives, a server would grant little at first.
# shellcheck disable=SC2034 # lab_rdma_up uses it
MIMIC=max_srq_wr=0
waiters=24

none_closed() {
	[ "$(counted closed)" -eq 0 ] || lab_fail "$1: a connection was lost"
}

### Slots

make_files() {
	local i

	for ((i = 0; i < waiters; i++)); do
		echo "$i" >"$LAB_EXPORT/file.$i"
	done
}

# Start processes that write: half of them when /run/write exists, and half when /run/late
# exists. Most wait for a slot, and none ends before the file system is thawed. They open their
# files first, because a lookup takes RPCs, too.
start_waiters() {
	python3 - "$LAB_MOUNT" $waiters >/run/waiters <<-'END' &
	import mmap, os, sys, time
	data = mmap.mmap(-1, 4096)
	files = [os.open(f"{sys.argv[1]}/file.{i}", os.O_WRONLY | os.O_DIRECT)
	         for i in range(int(sys.argv[2]))]
	print("open", flush=True)
	for number, file in enumerate(files):
	    when = "/run/write" if number % 2 else "/run/late"
	    if not os.fork():
	        while not os.path.exists(when):
	            time.sleep(0.1)
	        os._exit(os.pwrite(file, data, 0) != 4096)
	sys.exit(any(os.wait()[1] for _ in files))
	END
	pid=$!
	must lab_until 20 grep -q open /run/waiters
}

waits_for_slots() { [ "$(sum client requester_outstanding)" -eq 2 ]; }
are_out() { [ "$(sum client requester_outstanding)" -eq "$1" ]; }

slots() {
	local pid

	make_files
	echo 2 >/sys/module/rpcrdma2/parameters/max_requests
	must lab_mount 3
	start_waiters
	must fsfreeze --freeze "$LAB_EXPORT"
	touch /run/write
	must lab_until 10 waits_for_slots
	sleep 2
	echo 64 >/sys/module/rpcrdma2/parameters/max_requests
	echo qp-fatal >$control/event
	lab_until 6 are_out $((waiters / 2)) ||
		lab_fail "$(sum client requester_outstanding) RPCs that waited have a slot"
	touch /run/late
	lab_until 6 are_out $waiters ||
		lab_fail "$(sum client requester_outstanding) RPCs of $waiters have a slot"
	must fsfreeze --unfreeze "$LAB_EXPORT"
	must wait "$pid"
	must umount "$LAB_MOUNT"
	echo "slots: all of $waiters RPCs got one"
}

### Send buffers

buffers() {
	prepare_failures
	between require "$(addresses rpcrdma2_send_get)"
	fail_allocations 100 1 $MOST
	must lab_mount 3 nconnect=2
	count_event closed rpcrdma2/rpcrdma2_conn_close
	echo "send delay ms=5 times=0 chance=500000 seed=1" >$control/faults ||
		lab_fail "no such fault"
	work parallel buffers
	echo clear >$control/faults
	both probability 0
	none_closed buffers
	[ "$(sum client send_buffers)" -eq 2 ] ||
		lab_fail "there were $(sum client send_buffers) Send buffers, not 2"
	[ "$(sum client send_buffer_waits)" -gt 10 ] || lab_fail "hardly any RPC waited"
	echo "buffers: RPCs waited $(sum client send_buffer_waits) times"
	must umount "$LAB_MOUNT"
	count_end
}

### Sends that take long

contexts() {
	must lab_mount 3 nconnect=4
	count_event closed rpcrdma2/rpcrdma2_conn_close
	echo "send delay ms=20 times=0 chance=200000 seed=1" >$control/faults ||
		lab_fail "no such fault"
	work parallel contexts
	echo "contexts: $(cat $control/faults)"
	echo clear >$control/faults
	none_closed contexts
	must umount "$LAB_MOUNT"
	count_end
}

### Sends whose completions come late

late() {
	must dd if=/dev/urandom of="$LAB_EXPORT/late" bs=1M count=8 status=none
	must lab_mount 3 rsize=4096
	count_event closed rpcrdma2/rpcrdma2_conn_close
	count_event waited rpcrdma2/rpcrdma2_wait
	echo "send late ms=200 times=0" >$control/faults || lab_fail "no such fault"
	dd if="$LAB_MOUNT/late" bs=4M iflag=direct status=none |
		cmp - "$LAB_EXPORT/late" || lab_fail "late: other contents"
	echo clear >$control/faults
	none_closed late
	echo "late: there were $(counted waited) waits"
	[ "$(counted waited)" -gt 0 ] || lab_fail "nothing waited"
	must umount "$LAB_MOUNT"
	count_end
}

[ $# -gt 0 ] || set -- slots buffers contexts late
nfs_start mimic ext4
for part; do
	"$part"
done
nfs_stop
