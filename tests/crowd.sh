#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: a server with very many clients, all in this guest, keeps to limits of memory
# and of delay.
#
#	crowd.sh DEVICE CLIENTS [IDLE [BUSY [TRANSPORT]]]
#
# All clients connect at once, and then run RPCs at the same time. The server restarts while each
# client waits for a Reply. First, all clients have one address; later, each client has its own.
# The device is removed, too. Every message must find a Receive.
#
# On mimic, the device for tests, the script also checks the following.
#
# - The server's memory is at most IDLE KiB for an idle connection, and BUSY KiB for a busy one.
# - A client's RPCs do not wait for large Replies to another client.
# - An accept does not wait for another accept.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

run=/sys/kernel/debug/rpcrdma2_echo_crowd/run
faults=/sys/kernel/debug/mimic/r0/faults
device=$1
clients=$2
limit=${3:-}
busy_limit=${4:-}
TRANSPORT=${5:-rpcrdma2}
# Milliseconds that mimic takes for each RDMA Write in is_fair()
slow=20
# Strangers: clients with an address each. One address alone would get too few places in the
# server's backlog (svc/accept.c).
strangers=$((clients > 200 ? clients : 200))
# Within this time after a restart, in ms, the server must have answered all clients. The time
# includes sunrpc's pause of three seconds after a refusal. in_time() adds the time that the
# first connect took, as this depends on the CPU.
time_limit=10000
# Milliseconds that mimic takes to create a QP in storm(). A server that created its QPs one
# after another would need twice the limit.
slow_qp=$((2 * time_limit / clients))

# job WORDS... - have the module run a job. Print its line of figures, and set $line to it.
job() {
	local status=0

	echo "$*" >$run || status=1
	read -r line <$run
	echo "$line"
	[ $status -eq 0 ] || lab_fail "$*"
}

# result NAME - print a figure of the last job.
result() { sed -n "s/\(.* \|^\)$1=\([0-9]*\).*/\2/p" <<<"$line"; }

qps_are() { [ "$(resources qp)" -eq "$1" ]; }

# kib_at_most KIB LIMIT - check a limit, unless LIMIT is empty.
kib_at_most() { [ -z "$2" ] || [ "$1" -le "$2" ] || lab_fail "$1 KiB, more than $2"; }

# in_time NAME CLIENTS - check a time of the last job, which served so many clients.
in_time() {
	local most=$((time_limit + connect_ms * $2 / clients))

	[ "$(result "$1")" -le $most ] ||
		lab_fail "$1: $(result "$1"), more than $most"
}

# kib FIGURES - print the KiB in the figures of each().
kib() {
	local kib=${1#kib=}

	echo "${kib%% *}"
}

# idle_memory - measure the server's memory for an idle connection. The clients disconnect, and
# their messages about it are lost. So all memory still in use is the server's.
idle_memory() {
	local before qps found both

	before=$(memory)
	qps=$(resources qp)
	job connect "$clients"
	both=$(each "$clients" "$before" "$(memory)")
	echo "both ends: $both"
	echo "mad lose times=0" >$faults
	job disconnect
	# (rpcrdma destroys its QPs when the CM has given up, after 16 tries of 4 s.)
	lab_until 150 qps_are $((qps + clients)) ||
		lab_fail "$(resources qp) QPs, not $((qps + clients))"
	found=$(each "$clients" "$before" "$(memory)")
	echo "server: $found"
	echo clear >$faults
	found=$(kib "$found")
	kib_at_most "$found" "$limit"
	client_idle=$(($(kib "$both") - found))
	# Unloading stops the server, which closes its connections.
	must rmmod rpcrdma2_echo_crowd
	lab_until 60 qps_are "$qps" || lab_fail "$(resources qp) QPs are left, not $qps"
	must lab_insmod rpcrdma2_echo_crowd
}

# busy_memory BEFORE - measure the server's memory for a busy connection. Only an idle client's
# memory is subtracted. So the result includes the client's memory for its RPCs.
busy_memory() {
	local found

	least_during job call 16
	found=$(each "$clients" "$1" "$least")
	echo "both ends, busy: $found"
	found=$(($(kib "$found") - client_idle))
	echo "server, busy: no more than $found KiB"
	kib_at_most "$found" "$busy_limit"
}

# twice_at_most PERCENTILE NS - beside the slow client, the latency is at most twice the latency
# alone, plus NS.
twice_at_most() {
	[ "$(result "beside_$1")" -le $((2 * $(result "$1") + $2)) ]
}

# is_fair - compare the latency of small RPCs alone and beside another client's large Replies.
# Each large Reply is many RDMA Writes, which take the device time, but hardly any CPU time.
#
# In a debug guest that shares the CPU with other guests, one RPC in a hundred takes long, even
# alone. So the 99th percentile may grow by the time of a Write there. That could hide a rare RPC
# that waits for all large Replies. So no RPC at all may take as long as 25 Writes.
is_fair() {
	local more=20000

	[ "$LAB_FLAVOUR" = uml ] || more=$((slow * 1000000))
	echo "write delay times=0 ms=$slow" >$faults
	# The job starts no more RPCs after that. The last Writes need not be slow.
	(sleep 3; echo clear >$faults) &
	job fair 1000
	wait
	twice_at_most p50 100000 && twice_at_most p99 $more &&
		[ "$(result beside_max)" -lt $((25 * slow * 1000000)) ]
}

# slow_neighbour - try three times, because the load of the host changes from second to second.
slow_neighbour() {
	is_fair || is_fair || is_fair ||
		lab_fail "small RPCs waited for large ones"
}

storm() {
	[ ! -e $faults ] || echo "create-qp delay times=0 ms=$slow_qp" >$faults
	job storm
	[ ! -e $faults ] || echo clear >$faults
	in_time up_ms "$clients"
}

peers_of_server() {
	# shellcheck disable=SC2046 # several files
	sed -n 's/^peer_address: *\(.*\):.*/\1/p' $(connection_of server) | sort -u | wc -l
}

# all_strangers - serve many addresses with one client each.
all_strangers() {
	strangers_add "$device" $strangers
	job strangers $strangers
	in_time connect_ms $strangers
	in_time up_ms $strangers
	no_rnr "after $line"
	[ "$TRANSPORT" != rpcrdma2 ] || [ "$(peers_of_server)" -eq $strangers ] ||
		lab_fail "$(peers_of_server) addresses, not $strangers"
	job storm
	in_time up_ms $strangers
	no_rnr "after $line"
	job disconnect
	strangers_remove $strangers
}

# Heartbeats would close the server's connections while idle_memory() measures them.
: "${PARAMETERS:=heartbeat=0}"
must lab_rdma_up "$device"
load_transport
must lab_insmod rpcrdma2_echo_crowd
# Warm up: memory that the first clients leave behind must not count.
job connect 2
job call 4
job disconnect
case $device in
mimic*)	idle_memory ;;
esac
[ "$TRANSPORT" != rpcrdma2 ] || echo 5 >/sys/module/rpcrdma2/parameters/heartbeat
before=$(memory)
job connect "$clients"
connect_ms=$(result ms)
no_rnr "after $line"
case $device in
mimic*)	busy_memory "$before" ;;
esac
for depth in 1 4 16; do
	job call $depth
	no_rnr "after $line"
done
case $device in
mimic*)	slow_neighbour ;;
esac
job fair 1000
storm
job call 1
no_rnr "after $line"
echo "the device goes"
must rdma link delete r0
must lab_rdma_up "$device"
job call 1
no_rnr "after $line"
job disconnect
all_strangers
must rmmod rpcrdma2_echo_crowd
must nfs_unload
must rdma link delete r0
