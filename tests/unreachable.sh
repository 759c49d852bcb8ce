#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: attempts of a client that gets no answer to connect affect nobody else, and leave
# nothing behind.
#
#	unreachable.sh PROVIDER
#
# The guest's network device drops packets to an address that nobody has. siw's driver sleeps in
# its call to connect until TCP gives up, here after 31 s. The module gives up after 15 s. No user
# has to wait for either: an attempt ends when nobody wants the connection any more.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

nobody=${LAB_SERVER%.*}.99
leaving=${LAB_SERVER%.*}.98

attempts_made() { [ "$(counted connecting)" -ge "$1" ]; }
attempts_ended() { [ "$(counted closed)" -ge "$1" ]; }
all_gone() { [ "$(counted gone)" -eq "$(counted made)" ]; }
no_transport() { ! grep -qs '^netid: *rdma' /sys/kernel/debug/sunrpc/rpc_xprt/*/info; }

# mount_lost COMMAND... - make a mount, have COMMAND break it, and leave a process that waits for it
mount_lost() {
	must ip address add "$leaving/32" dev "$LAB_NETDEV"
	LAB_SERVER=$leaving must lab_mount 3 nolock,timeo=10 /run/lost
	must "$@"
	ls /run/lost 2>/dev/null &
	reader=$!
}

# unmount_lost - check that unmounting does not wait for the connection, nor does the transport
unmount_lost() {
	SECONDS=0
	kill -KILL $reader
	umount -i -f /run/lost &
	must lab_until 30 no_transport
	must wait $!
	echo "a mount without a server was gone after $SECONDS s"
	[ $SECONDS -le 15 ] || lab_fail "unmounting took $SECONDS s"
}

serve_again() {
	must rpc.nfsd --no-udp 8
	echo "rdma 20049" >/proc/fs/nfsd/portlist || lab_fail "no listener"
}

# Stop serving before the address goes, because nfsd closes its connections. rxe's GSI queue pair
# would stay in ERR if it had to send from an address that is gone.
leave() {
	must rpc.nfsd 0
	must lab_until 15 all_gone
	must ip address del "$leaving/32" dev "$LAB_NETDEV"
}

nfs_start "$1"
must sysctl -q -w net.ipv4.tcp_syn_retries=4
count_event made rpcrdma2/rpcrdma2_conn_new
count_event closed rpcrdma2/rpcrdma2_conn_close
count_event gone rpcrdma2/rpcrdma2_conn_state 'to == 8'
mkdir /run/nobody
mount.nfs "$nobody:/" /run/nobody -o vers=4.2,proto=rdma,port=20049,retry=0 &
mounter=$!
sleep 2

SECONDS=0
must lab_mount 4.2
echo "another mount took $SECONDS s"
[ $SECONDS -le 10 ] || lab_fail "another mount took $SECONDS s"
work files

# Wait for two attempts: the second one would find remains of the first one.
must lab_until 150 attempts_ended 2
dmesg | grep -F "no connection to $nobody:20049 (device r0, port 1), connecting: it does not answer" ||
	lab_fail "the log does not say why"
kill $mounter
wait $mounter && lab_fail "nobody's export was mounted"
must umount "$LAB_MOUNT"
must lab_until 15 all_gone

# Unmount while an attempt is under way.
count_event connecting rpcrdma2/rpcrdma2_conn_state 'to == 3'
mount_lost leave
must lab_until 60 attempts_made 2
unmount_lost
serve_again

# Unmount while the next attempt is put off, which takes longer each time.
mount_lost rpc.nfsd 0
failed=$(counted closed)
must lab_until 60 attempts_ended $((failed + 4))
unmount_lost

give_up() { timeout -s KILL 1 ls /run/lost; } 2>/dev/null

# Processes that give up their wait for an attempt must not delay the next attempt.
impatient() {
	local i

	serve_again
	LAB_SERVER=$leaving must lab_mount 3 nolock,timeo=10 /run/lost
	must rpc.nfsd 0
	for i in {1..12}; do
		give_up
	done
	serve_again
	SECONDS=0
	must timeout 90 ls /run/lost
	echo "after $i who gave up, a server was found in $SECONDS s"
	[ $SECONDS -le 30 ] || lab_fail "that is long"
	must umount /run/lost
}

[ "$1" = siw ] || impatient
nfs_stop
