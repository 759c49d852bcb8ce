#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: a client that connects gets no answer, nobody else is affected, and nothing is
# left of its attempts.
#
#	unreachable.sh PROVIDER
#
# The guest's network device drops what is for nobody. siw's driver connects when it
# is asked to, and sleeps until TCP gives up: here after 31 s, while the module lets
# a connection take 15 s. Neither has a user to wait for: when nobody wants the
# connection any more, the attempt ends.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

nobody=${LAB_SERVER%.*}.99
leaving=${LAB_SERVER%.*}.98

attempts_made() { [ "$(counted connecting)" -ge "$1" ]; }
attempts_ended() { [ "$(counted closed)" -ge "$1" ]; }
all_closed() { [ "$(counted closed)" -eq "$(counted made)" ]; }
no_transport() { ! grep -qs '^netid: *rdma' /sys/kernel/debug/sunrpc/rpc_xprt/*/info; }

# mount_lost COMMAND... - a mount that somebody waits for, since COMMAND
mount_lost() {
	must ip address add "$leaving/32" dev "$LAB_NETDEV"
	LAB_SERVER=$leaving must lab_mount 3 nolock,timeo=10 /run/lost
	must "$@"
	ls /run/lost 2>/dev/null &
	reader=$!
}

# unmount_lost - neither the mount nor its transport waits for what will not be.
unmount_lost() {
	SECONDS=0
	kill -KILL $reader
	umount -i -f /run/lost &
	must lab_until 30 no_transport
	must wait $!
	echo "a mount without a server was gone after $SECONDS s"
	[ $SECONDS -le 15 ] || lab_fail "unmounting took $SECONDS s"
}

nfs_start "$1"
must sysctl -q -w net.ipv4.tcp_syn_retries=4
count_event made rpcrdma2/rpcrdma2_conn_new
count_event closed rpcrdma2/rpcrdma2_conn_close
mkdir /run/nobody
mount.nfs "$nobody:/" /run/nobody -o vers=4.2,proto=rdma,port=20049,retry=0 &
mounter=$!
sleep 2

SECONDS=0
must lab_mount 4.2
echo "another mount took $SECONDS s"
[ $SECONDS -le 10 ] || lab_fail "another mount took $SECONDS s"
work files

# Twice: the second attempt finds what the first one left.
must lab_until 150 attempts_ended 2
dmesg | grep -F "no connection to $nobody:20049 (device r0, port 1), connecting: it does not answer" ||
	lab_fail "the log does not say why"
kill $mounter
wait $mounter && lab_fail "nobody's export was mounted"
must umount "$LAB_MOUNT"
must lab_until 15 all_closed

# While an attempt is under way
count_event connecting rpcrdma2/rpcrdma2_conn_state 'to == 3'
mount_lost ip address del "$leaving/32" dev "$LAB_NETDEV"
must lab_until 60 attempts_made 2
unmount_lost

# The next one is put off, for longer each time.
mount_lost rpc.nfsd 0
failed=$(counted closed)
must lab_until 60 attempts_ended $((failed + 4))
unmount_lost

serve_again() {
	must rpc.nfsd --no-udp 8
	echo "rdma 20049" >/proc/fs/nfsd/portlist || lab_fail "no listener"
}

give_up() { timeout -s KILL 1 ls /run/lost; } 2>/dev/null

# Those who give up waiting for an attempt must not put the next one off.
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
