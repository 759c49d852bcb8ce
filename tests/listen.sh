#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: a listener at an address survives the loss of its device and of its address.
# For each loss, the log has one line when the listener stops and one when it listens again.
#
#	listen.sh DEVICE [nfsd]
#
# The listener belongs to a test module. With nfsd, it belongs to an NFS server whose mount is under
# load. In Linux 6.1, nfsd can't be told an address.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

run=/sys/kernel/debug/rpcrdma2_echo_crowd/run
where=$LAB_SERVER:20055
[ "${2:-}" != nfsd ] || where=$LAB_SERVER:20049
# Seconds that the test module's RPCs may take. If an attempt to connect fails, they wait for the
# next one.
patience=60

# job WORDS... - have the test module run a job.
job() { echo "$*" >$run || lab_fail "$*: $(cat $run)"; }

# said TEXT TIMES - the log has exactly so many lines with TEXT.
said() { [ "$(dmesg | grep -c "rpcrdma2: $1")" -eq "$2" ]; }

device_goes() { must timeout 60 rdma link delete r0; }

# lost TIMES - wait until the log says that the listener stopped, for so many losses until now.
lost() {
	lab_until 10 said "not listening at $where" "$1" ||
		lab_fail "no line says that nobody listens"
}

# listens TIMES - wait until the listener listens again, after so many losses.
listens() {
	lab_until 20 said "listening at $where again" "$1" ||
		lab_fail "nobody listens again"
	said "not listening at $where" "$1" || lab_fail "more than a line for each loss"
}

# serves TIMES - the listener listens again, and clients can connect.
serves() {
	listens "$1"
	job call 1
}

change_address() { must ip address "$1" "$LAB_SERVER/24" dev "$LAB_NETDEV"; }

# nfsd_comes_back DEVICE - the mount recovers when the device returns. The removal of the device
# waits for no thread of nfsd.
nfsd_comes_back() {
	nfs_serve_at_address
	must lab_mount 4.2
	load_start
	for i in 1 2; do
		device_goes
		lost $i
		sleep 2
		must lab_rdma_up "$1"
		listens $i
		load_advances 90 || lab_fail "the mount did not come back"
	done
	load_stop
	must umount "$LAB_MOUNT"
	device_goes
	lost 3
	must timeout 20 rpc.nfsd 0
	must nfs_unload
}

must lab_rdma_up "$1"
load_transport
if [ "${2:-}" = nfsd ]; then
	nfsd_comes_back "$1"
	exit
fi
must lab_insmod rpcrdma2_echo_crowd patience=$patience
job bound
job connect 4

echo "the device goes, and comes back"
device_goes
lost 1
# The listener tries once a second. Let it fail a second time.
sleep 2
must lab_rdma_up "$1"
serves 1

echo "it comes back without the address"
device_goes
lost 2
change_address delete
must lab_rdma_up "$1"
change_address add
serves 2

echo "the address goes, and comes back"
change_address delete
change_address add
job disconnect
job connect 4
serves 2

echo "the server stops meanwhile"
for _ in 1 2 3; do
	rdma link delete r0 &
	must rmmod rpcrdma2_echo_crowd
	must wait $!
	must lab_rdma_up "$1"
	must lab_insmod rpcrdma2_echo_crowd patience=$patience
	job bound
	job connect 1
done
device_goes
must rmmod rpcrdma2_echo_crowd
must nfs_unload
must lab_rdma_up "$1"
must rdma link delete r0
