#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: without contiguous pages, a mount succeeds and works with single pages, and keeps
# its connection. Only a connection's QP, first buffers and first registrations may take
# contiguous pages, because their allocation can wait.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

JOBS=6

accepted() { sed -n 's/^connections_accepted: *//p' $CONNECTIONS/server; }

failed() { echo $((MOST - $(cat $PAGES/times))); }

# fragment - make the module's allocations of four or more contiguous pages fail. Two pages are
# still available, because a slab object of 4 KiB takes two with KASAN. The range from
# cm_connect_work() to cm_accept_work(), which are neighbours, is exempt. These functions make the
# QP and the first registrations, for which rxe may take more pages.
fragment() {
	local first last

	prepare_failures
	first=$(addresses cm_connect_work)
	last=$(addresses cm_accept_work)
	between reject "${first% *} ${last#* }"
	between require "$(module_addresses)"
	echo 2 >$PAGES/min-order
	echo $MOST >$PAGES/times
	echo 1 >$PAGES/interval
	echo 100 >$PAGES/probability
}

# copy JOB - copy the data to a file of the mount and back, and compare.
copy() {
	dd if=/run/data of="$LAB_MOUNT/data$1" bs=1M oflag=direct status=none &&
		dd if="$LAB_MOUNT/data$1" of="/run/copy$1" bs=1M iflag=direct \
			status=none &&
		cmp /run/data "/run/copy$1"
}

copy_all() {
	local job jobs=()

	for ((job = 0; job < JOBS; job++)); do
		copy "$job" &
		jobs+=($!)
	done
	for job in "${jobs[@]}"; do
		wait "$job" || lab_fail "data$job differs"
	done
}

# With the lab's MTU of 9000, rxe takes contiguous pages for a packet, too. A packet that rxe
# cannot allocate costs the connection.
must ip link set "$LAB_NETDEV" mtu 1500
nfs_start rxe
must dd if=/dev/urandom of=/run/data bs=1M count=4 status=none
fragment
# NFSv3, because NFSv4's EXCHANGE_ID needs more than a page for the RPC's own buffers
# shellcheck disable=SC2016 # the inner shell expands $LAB_LIB
must timeout -k 1 60 bash -c '. "$LAB_LIB" && lab_mount 3 retry=0'
before=$(accepted)
SECONDS=0
copy_all
work files
work offsets
echo "$(failed) allocations failed, $SECONDS s"
[ "$(failed)" -gt 0 ] || lab_fail "no allocation failed"
[ "$(accepted)" = "$before" ] || lab_fail "the connection was lost"

### Without memory, the client tries to add Receives once a second, not with each Reply

# Only allocations of Receives fail. Then 3000 Replies arrive, one after another.
between require "$(addresses rpcrdma2_recv_alloc)"
echo $MOST >$PAGES/times
SECONDS=0
# (A guest has no /dev/fd.)
mapfile -t names <<<"$(yes "$LAB_MOUNT/data1" 2>/dev/null | head -n 3000)"
must stat --cached=never -c %s "${names[@]}" >/dev/null
tries=$(failed)
echo "$tries pages failed in $SECONDS s, 3000 RPCs; the client has $(sum client requester_credits) credits"
[ "$tries" -gt 0 ] || lab_fail "no Receive was tried"
[ "$tries" -le $((10 * (SECONDS + 2))) ] || lab_fail "too many Receives were tried"
echo 0 >$PAGES/probability

### With memory, the client adds Receives, and so it has more credits

has_more() { copy_all; [ "$(sum client requester_credits)" -ge 16 ]; }
lab_until 20 has_more || lab_fail "memory does not help: $(sum client requester_credits) credits"
echo "with memory, the client has $(sum client requester_credits) credits"
must umount "$LAB_MOUNT"
nfs_stop
must lab_kmemleak
