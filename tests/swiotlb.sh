#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: with too few bounce buffers, RPCs wait, and no application sees an error.
# Nothing is lost, and nothing waits for ever.
#
# The guest needs the kernel parameter swiotlb=4096,force. These buffers are enough for the
# connections, for the mappings of the processes, and for one transfer of the server. They are
# not enough for a second transfer, on the same or on another connection. (If the client had
# mapped all buffers, client and server would wait for each other: here, they share the buffers.)

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

pool=/sys/kernel/debug/swiotlb
faults=/sys/kernel/debug/mimic/r0/faults
# Another address of the server, and a mount from there
address=192.168.77.2 other=/run/other

# Print how often the log says that a mapping found no room. The kernel does not log each failure.
refusals() { dmesg | grep -c 'swiotlb buffer is full'; }

is_alone() { ! connection_of server >/dev/null; }

# write_and_read NUMBER SIZE MOUNT - write a file in WRITEs of SIZE, and read it. Compare the data
# on the mount and at the server.
write_and_read() {
	timeout 120 dd if=/run/data of="$3/$1" bs="$2" oflag=direct status=none &&
		timeout 120 dd if="$3/$1" of="/run/copy-$1" bs="$2" \
			iflag=direct status=none &&
		cmp /run/data "/run/copy-$1" && cmp /run/data "$LAB_EXPORT/$1"
}

# all_at_once SIZE MOUNT... - run a process for each MOUNT, with READs and WRITEs of SIZE
all_at_once() {
	local size=$1 number=0 mount job jobs=() closed
	shift

	closed=$(counted closed)
	SECONDS=0
	for mount; do
		write_and_read $number "$size" "$mount" &
		jobs+=($!)
		number=$((number + 1))
	done
	for job in "${jobs[@]}"; do
		must wait "$job"
	done
	echo "$# processes: $(refusals) refusals or more, $(($(counted closed) - closed)) ends of" \
	     "connections closed, $SECONDS s"
	[ "$(refusals)" -gt 0 ] || lab_fail "the pool was never full"
	[ "$(counted closed)" -eq "$closed" ] || lab_fail "the server did not wait for others to unmap"
}

[ -e $pool/io_tlb_nslabs ] || skip "this kernel has no swiotlb"
nfs_start mimic
must lab_mount 4.2
count_dma
echo "$bounced of $(cat $pool/io_tlb_nslabs) slots are used by a connection"
must dd if=/dev/urandom of=/run/data bs=1M count=6 status=none
for fault in read write; do
	echo "$fault delay ms=50 times=1000000" >$faults || lab_fail "no fault $fault"
done
count_event closed rpcrdma2/rpcrdma2_conn_close
all_at_once 768k "$LAB_MOUNT"{,,,,}
# Buffers that one connection lacks are in use by another one.
must umount "$LAB_MOUNT"
lab_until 10 is_alone || lab_fail "a connection was left"
must lab_mount 3 nolock
must ip address add "$address/24" dev "$LAB_NETDEV"
LAB_SERVER=$address must lab_mount 3 nolock $other
count_dma
echo "$bounced slots are used by two"
must dmesg -C
all_at_once 768k "$LAB_MOUNT" $other "$LAB_MOUNT" $other
must umount $other "$LAB_MOUNT"
nfs_stop
