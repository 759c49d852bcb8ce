#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Script of both guests: a client writes back although its module, or its server's module, gets
# no memory at all. A ready connection has all memory that an RPC needs. The server answers
# each inline Call.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

# Each local write to the file recalls the client's delegation.
recall() {
	while lab_wait delegated 500; do
		timeout 60 sh -c "echo new >$LAB_EXPORT/recall" || break
		lab_signal recalled
	done
}

start_failing() {
	between require "$1"
	fail_allocations 100 1 $MOST
}

# stop_failing WHAT - end the failures, and check that there were some
stop_failing() {
	both probability 0
	echo "$1: $(failures $MOST) allocations failed, $SECONDS s"
	[ "$(failures $MOST)" -gt 0 ] || lab_fail "$1: no allocation failed"
}

# Have no memory from the time that the client asks for it until the client has seen enough.
starve() {
	must lab_wait starve 600
	SECONDS=0
	start_failing "$(module_addresses)"
	lab_signal starving
	must lab_wait fed 300
	stop_failing "serving"
	lab_signal served
}

server() {
	local recaller

	prepare_failures
	spare_packets
	nfs_start rxe
	lab_signal ready
	recall &
	recaller=$!
	starve
	lab_wait_end
	kill $recaller 2>/dev/null
	nfs_stop
	exit
}

# mount_within SECONDS VERSION - mount, but give up after SECONDS
mount_within() {
	# shellcheck disable=SC2016 # for the other shell
	timeout -k 1 "$1" bash -c '. "$LAB_LIB" && lab_mount "$0" wsize=16384' "$2"
}

# Write more at a time than a new connection has registrations for.
copy() {
	timeout 100 dd if=/run/data of="$LAB_MOUNT/data" bs=1M conv=fsync status=none
}

compare() {
	must timeout 100 dd if="$LAB_MOUNT/data" of=/run/copy bs=256k \
		iflag=direct status=none
	must cmp /run/data /run/copy
}

be_called_back() {
	echo "of $1" >"$LAB_MOUNT/recall"
	exec 5<"$LAB_MOUNT/recall"
	lab_signal delegated
	must lab_wait recalled 60
	exec 5<&-
}

# warm_up_without FUNCTION VERSION - mount and work while all allocations in FUNCTION fail.
# FUNCTION is one that allocates memory once there is a QP.
warm_up_without() {
	local connection

	SECONDS=0
	start_failing "$(addresses "$1")"
	mount_within 60 "$2" || lab_fail "$1: can't mount"
	connection=$(connection_of client)
	must tc qdisc add dev "$LAB_NETDEV" root netem delay 20ms
	copy &
	[ "$2" = 3 ] || be_called_back "$1"
	must wait $!
	must tc qdisc del dev "$LAB_NETDEV" root
	compare
	stop_failing "$1"
	[ "$(connection_of client)" = "$connection" ] ||
		lab_fail "$1: it took another connection"
	must umount "$LAB_MOUNT"
}

# write_file - write a file, and have it written back when all memory is gone. (One process does
# both: an NFS client writes back when a process closes the file. To close it, the client needs
# more memory than sunrpc's pools have.)
write_file() {
	timeout 100 python3 - "$LAB_MOUNT/dirty" <<-END
	import os, sys, time
	data = open("/run/data", "rb").read()
	fd = os.open(sys.argv[1], os.O_CREAT | os.O_RDWR)
	os.write(fd, data)
	open("/run/written", "w")
	while not os.path.exists("/run/failing"):
	    time.sleep(0.1)
	os.fsync(fd)
	open("/run/synced", "w")
	END
}

# Write back with no memory but sunrpc's own pools.
write_back() {
	SECONDS=0
	write_file &
	lab_until 30 [ -e /run/written ] || lab_fail "nothing was written"
	start_failing "$(module_addresses)"
	touch /run/failing
	lab_until 60 [ -e /run/synced ] ||
		lab_fail "what is dirty can't be written back"
	stop_failing "writing back"
	must wait $!
	must cmp /run/data "$LAB_MOUNT/dirty"
}

# The grant of a new connection is higher than the number of its server's jobs. (Send more Calls
# at a time than there are jobs. All are inline, because RDMA Reads and Writes need memory.)
be_served() {
	local connection

	must lab_mount 4.2 rsize=8192,wsize=8192
	connection=$(connection_of client)
	lab_signal starve
	must lab_wait starving
	(copy && touch /run/copied) &
	lab_until 100 [ -e /run/copied ] ||
		lab_fail "a server without memory does not answer"
	must wait $!
	compare
	lab_signal fed
	must lab_wait served
	[ "$(connection_of client)" = "$connection" ] ||
		lab_fail "a server without memory lost its connection"
}

[ "$LAB_ROLE" = client ] || server

must lab_rdma_up rxe
load_transport
must lab_wait ready 120
prepare_failures
spare_packets
must dd if=/dev/urandom of=/run/data bs=256k count=16 status=none
warm_up_without rpcrdma2_send_get 4.2
warm_up_without rpcrdma2_credits_update 4.2
# NFSv3 has no session. A session has fewer slots than there are registrations.
warm_up_without mr_pool_refill 3
must lab_mount 4.2
write_back
must umount "$LAB_MOUNT"
be_served
pair_client_stop
must lab_kmemleak
