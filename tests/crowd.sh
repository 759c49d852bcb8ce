#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: a server with very many clients, all in this guest, keeps to limits of memory
# and of delay.
#
#	crowd.sh DEVICE CLIENTS [IDLE [BUSY [TRANSPORT]]]
#
# They connect at once; have RPCs under way, all at the same time; find their server
# restarted while each waits for an answer, all from one address and from an address each;
# and their device goes away. Nobody may ever find no Receive. On the device
# for tests, also: what an idle connection costs the server, and a busy one at the most, is
# printed, and may be no more than IDLE and BUSY KiB; nobody waits for what the server sends
# to somebody else, who is slow; one accept doesn't wait for another.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

run=/sys/kernel/debug/rpcrdma2_echo_crowd/run
faults=/sys/kernel/debug/mimic/r0/faults
device=$1
clients=$2
limit=${3:-}
busy_limit=${4:-}
TRANSPORT=${5:-rpcrdma2}
# Milliseconds that each RDMA Write takes
slow=20
# More than one address may have places
strangers=$((clients > 200 ? clients : 200))
# Milliseconds until all have to be served after a restart, besides what connecting took
# at first, which is CPU time: sunrpc has a client wait for three seconds after a refusal.
time_limit=10000
# To make all QPs of the server one after the other would take twice as long, if each takes
# so many milliseconds.
slow_qp=$((2 * time_limit / clients))

# job WORDS... - and its line of figures, in $line, too
job() {
	local status=0

	echo "$*" >$run || status=1
	read -r line <$run
	echo "$line"
	[ $status -eq 0 ] || lab_fail "$*"
}

# result NAME - of the last job
result() { sed -n "s/\(.* \|^\)$1=\([0-9]*\).*/\2/p" <<<"$line"; }

qps_are() { [ "$(resources qp)" -eq "$1" ]; }

# kib_at_most KIB LIMIT - if there is one
kib_at_most() { [ -z "$2" ] || [ "$1" -le "$2" ] || lab_fail "$1 KiB, more than $2"; }

# in_time NAME CLIENTS - of the last job, which was about so many
in_time() {
	local most=$((time_limit + connect_ms * $2 / clients))

	[ "$(result "$1")" -le $most ] ||
		lab_fail "$1: $(result "$1"), more than $most"
}

# kib FIGURES - of each()
kib() {
	local kib=${1#kib=}

	echo "${kib%% *}"
}

# The clients go, and what they say then is lost: all that is left is the server's.
idle_memory() {
	local before qps found both

	before=$(memory)
	qps=$(resources qp)
	job connect "$clients"
	both=$(each "$clients" "$before" "$(memory)")
	echo "both ends: $both"
	echo "mad lose times=0" >$faults
	job disconnect
	# (rpcrdma's go when the CM has given up, which takes 16 times 4 s.)
	lab_until 150 qps_are $((qps + clients)) ||
		lab_fail "$(resources qp) QPs, not $((qps + clients))"
	found=$(each "$clients" "$before" "$(memory)")
	echo "server: $found"
	echo clear >$faults
	found=$(kib "$found")
	kib_at_most "$found" "$limit"
	client_idle=$(($(kib "$both") - found))
	# Now they are told.
	must rmmod rpcrdma2_echo_crowd
	lab_until 60 qps_are "$qps" || lab_fail "$(resources qp) QPs are left, not $qps"
	must lab_insmod rpcrdma2_echo_crowd
}

# busy_memory BEFORE - all that is not an idle client's is taken for the server's, the
# clients' part of their RPCs, too.
busy_memory() {
	local found

	least_during job call 16
	found=$(each "$clients" "$1" "$least")
	echo "both ends, busy: $found"
	found=$(($(kib "$found") - client_idle))
	echo "server, busy: no more than $found KiB"
	kib_at_most "$found" "$busy_limit"
}

# twice_at_most PERCENTILE NS - beside the slow one, what it is alone; and so much more
twice_at_most() {
	[ "$(result "beside_$1")" -le $((2 * $(result "$1") + $2)) ]
}

# Each large Reply is many RDMA Writes, for which the CPU has little to do. With all checks,
# one of a hundred RPCs takes long where they share the CPU with other guests, even alone:
# there, it may take as much more as a Write. An RPC that waits for all of the large ones is
# one of many, too; but none may wait for 25 Writes.
is_fair() {
	local more=20000

	[ "$LAB_FLAVOUR" = uml ] || more=$((slow * 1000000))
	echo "write delay times=0 ms=$slow" >$faults
	# What is left when the time is over need not take as long.
	(sleep 3; echo clear >$faults) &
	job fair 1000
	wait
	twice_at_most p50 100000 && twice_at_most p99 $more &&
		[ "$(result beside_max)" -lt $((25 * slow * 1000000)) ]
}

# What else there is to do on this machine changes from one second to the next.
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

# Many addresses, one client each
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

# Heartbeats would find the clients gone that idle_memory() needs.
: "${PARAMETERS:=heartbeat=0}"
must lab_rdma_up "$device"
load_transport
must lab_insmod rpcrdma2_echo_crowd
# What stays after the first
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
