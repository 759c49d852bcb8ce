#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: RPCs of a mount with nconnect go over all of its connections, which are lost
# and made again under load. The connections are spread over the device's completion vectors,
# and so over CPUs. Each connection stays on its CPU.
#
#	nconnect.sh PROVIDER VERSION
#
# (Linux 6.1 has nconnect over RDMA for NFS version 3 only.)

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

provider=$1 version=$2
connections=4

# of_each ROLE NAME - print the value NAME of each connection of that end, a line each
of_each() {
	# shellcheck disable=SC2046 # several files
	awk -v name="$2:" '$1 == name { print $2 }' $(connection_of "$1")
}

are_all_there() {
	[ "$(of_each client state | grep -c READY)" -eq $connections ] &&
		[ "$(of_each server state | grep -c READY)" -eq $connections ]
}

# Each of the four connections should carry a quarter of the RPCs. Half of that is enough.
all_are_used() {
	local calls least=0 sum

	calls=$(of_each client calls_sent | sort -n | tr '\n' ' ')
	sum=$(of_each client calls_sent | paste -sd + | bc)
	least=${calls%% *}
	echo "Calls of each connection: $calls"
	((8 * least >= sum)) || lab_fail "not all connections are used"
}

# spread ROLE - check how many vectors this end's connections use: one for each CPU, or one for
# each connection if there are fewer connections
spread() {
	local want vectors

	want=$(nproc)
	((want < connections)) || want=$connections
	vectors=$(of_each "$1" completion_vector | sort -n | tr '\n' ' ')
	echo "vectors of the $1's connections: $vectors"
	# shellcheck disable=SC2086 # several words
	[ "$(printf '%s\n' $vectors | uniq | wc -l)" -eq "$want" ] ||
		lab_fail "not on $want vectors"
}

# The trace shows which CPU received for which connection. mimic calls the handlers of a vector
# on the vector's CPU.
stay_with_their_cpus() {
	local seen=/run/seen

	sed -n 's/.*\[\([0-9]*\)\].* conn=\([0-9]*\) .*/\2 \1/p' \
		$TRACING/instances/receives/trace | sort -u >$seen
	echo "connections and CPUs: $(tr '\n' ',' <$seen)"
	[ "$(cut -d ' ' -f 1 $seen | uniq -d | wc -l)" -eq 0 ] ||
		lab_fail "one connection's handlers ran on several CPUs"
	[ "$(cut -d ' ' -f 2 $seen | sort -u | wc -l)" -eq "$(nproc)" ] ||
		lab_fail "not all CPUs were used"
}

# Make doorbells slow, so that other threads and the completion handler wait for them.
slow_doorbells() {
	local faults=/sys/kernel/debug/mimic/r0/faults

	case $provider in mimic*) ;; *) return ;; esac
	echo "send-inv stall times=0 ms=1" >$faults
	echo "send stall times=0 ms=1" >$faults
	work parallel
	echo clear >$faults
}

# Each connection has two slots, so all but two RPCs wait, and CPUs pass slots on to each other.
few_slots() {
	local most=/sys/module/rpcrdma2/parameters/max_requests before

	before=$(cat $most)
	echo 2 >$most
	must lab_mount "$version" nconnect=$connections
	work parallel
	work storm
	must umount "$LAB_MOUNT"
	echo "$before" >$most
}

nfs_start "$provider"
few_slots
must lab_mount "$version" nconnect=$connections
case $provider in mimic*) count_event receives rpcrdma2/rpcrdma2_receive ;; esac
work files
must lab_until 10 are_all_there
case $provider in mimic*) stay_with_their_cpus ;; esac
all_are_used
spread client
spread server
work storm
work locks
slow_doorbells
load_start
for _ in 1 2; do
	replug "$provider" 0
done
load_stop
must umount "$LAB_MOUNT"
nfs_stop
