#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: a server with very many clients, all in this guest.
#
#	crowd.sh DEVICE CLIENTS [LIMIT [TRANSPORT]]
#
# They connect at once; have RPCs under way, all at the same time; find their server
# restarted while each waits for an answer; and their device goes away. Nobody may ever
# find no Receive. On the device for tests, also: what an idle connection costs the server
# is printed, and may be no more than LIMIT KiB; nobody waits for what the server sends to
# somebody else, who is slow.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

run=/sys/kernel/debug/rpcrdma2_echo_crowd/run
faults=/sys/kernel/debug/mimic/r0/faults
device=$1
clients=$2
limit=${3:-}
TRANSPORT=${4:-rpcrdma2}
# Milliseconds that each RDMA Write takes
slow=20

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

# The clients go, and what they say then is lost: all that is left is the server's.
idle_memory() {
	local before qps found

	before=$(memory)
	qps=$(resources qp)
	job connect "$clients"
	echo "both ends: $(each "$clients" "$before" "$(memory)")"
	echo "mad lose times=0" >$faults
	job disconnect
	lab_until 30 qps_are $((qps + clients)) ||
		lab_fail "$(resources qp) QPs, not $((qps + clients))"
	found=$(each "$clients" "$before" "$(memory)")
	echo "server: $found"
	echo clear >$faults
	found=${found#kib=}
	found=${found%% *}
	[ -z "$limit" ] || [ "$found" -le "$limit" ] ||
		lab_fail "more than $limit KiB"
	# Now they are told.
	must rmmod rpcrdma2_echo_crowd
	lab_until 60 qps_are "$qps" || lab_fail "$(resources qp) QPs are left, not $qps"
	must lab_insmod rpcrdma2_echo_crowd
}

# Each large Reply is many RDMA Writes. Their CPU has more to do than alone, so that the
# two figures are not compared.
slow_neighbour() {
	local which=beside_p50

	# With all checks, a few take long even alone.
	[ "$LAB_FLAVOUR" != uml ] || which=beside_p99
	echo "write delay times=0 ms=$slow" >$faults
	# What is left when the time is over need not take as long.
	(sleep 3; echo clear >$faults) &
	job fair 1000
	wait
	[ "$(result $which)" -lt $((slow * 1000000 / 2)) ] ||
		lab_fail "small RPCs waited for large ones"
}

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
job connect "$clients"
no_rnr "after $line"
for depth in 1 4 16; do
	job call $depth
	no_rnr "after $line"
done
case $device in
mimic*)	slow_neighbour ;;
esac
job fair 1000
job storm
job call 1
no_rnr "after $line"
echo "the device goes"
must rdma link delete r0
must lab_rdma_up "$device"
job call 1
no_rnr "after $line"
must rmmod rpcrdma2_echo_crowd
must nfs_unload
must rdma link delete r0
