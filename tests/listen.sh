#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: a listener that is bound to an address outlives its device, and its
# address. The log says when it can't listen, and when it can again; a line each.
#
#	listen.sh DEVICE

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

run=/sys/kernel/debug/rpcrdma2_echo_crowd/run
where=$LAB_SERVER:20055
# Seconds. An attempt to connect may have to wait for the next one.
patience=60

# job WORDS...
job() { echo "$*" >$run || lab_fail "$*: $(cat $run)"; }

# said TEXT TIMES - so many lines of the log have that text
said() { [ "$(dmesg | grep -c "rpcrdma2: $1")" -eq "$2" ]; }

device_goes() { must timeout 60 rdma link delete r0; }

# lost TIMES - the listener, until now
lost() {
	lab_until 10 said "not listening at $where" "$1" ||
		lab_fail "no line says that nobody listens"
}

# serves TIMES - after it was lost so often
serves() {
	lab_until 20 said "listening at $where again" "$1" ||
		lab_fail "nobody listens again"
	job call 1
	said "not listening at $where" "$1" || lab_fail "more than a line for each loss"
}

change_address() { must ip address "$1" "$LAB_SERVER/24" dev "$LAB_NETDEV"; }

must lab_rdma_up "$1"
load_transport
must lab_insmod rpcrdma2_echo_crowd patience=$patience
job bound
job connect 4

echo "the device goes, and comes back"
device_goes
lost 1
# Until it has tried a second time
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
