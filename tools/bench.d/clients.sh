#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: measure the memory of a server's connections, and how a server does with very
# many connections. Both ends are in this guest, on the device for tests.
#
#	clients.sh TRANSPORT CONNECTIONS...
#
# The results are lines of NAME=VALUE in $LAB_SHARE/figures.
#
# Memory is in KiB for each connection:
#   end=both	of both ends
#   end=server	of the server, after its clients went without its knowledge
#   state=busy	the maximum while each connection has 16 RPCs at once
#   state=used	after that
#
# Latencies are in ns, for a small RPC on one connection:
#   p50, p99	alone
#   beside_...	while another connection has 64 Replies of a MiB under way
#   slow_...	while these are slow, but the CPU is not busy
#
# Environment:
#   PARAMETERS	of rpcrdma2
#   STEP	how many clients connect at once (all)
#   ONLY	"fairness": measure latencies only, ROUNDS times (1)

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

TRANSPORT=$1
shift
run=/sys/kernel/debug/rpcrdma2_echo_crowd/run
faults=/sys/kernel/debug/mimic/r0/faults
counter=/sys/class/infiniband/r0/ports/1/hw_counters/send_rnr_err
figures=$LAB_SHARE/figures

# job WORDS... - run a benchmark; $line has its figures
job() {
	echo "$*" >$run || { cat $run; lab_fail "$*"; }
	read -r line <$run
}

# result NAME - print a value of the last job
result() { sed -n "s/\(.* \|^\)$1=\([0-9]*\).*/\2/p" <<<"$line"; }

figure() {
	echo "part=clients transport=$TRANSPORT connections=$n $*" | tee -a "$figures"
}

# connect - in steps, because not every transport bears all clients at once
connect() {
	local left=$n step ms=0

	while [ "$left" -gt 0 ]; do
		step=${STEP:-$n}
		[ "$step" -lt "$left" ] || step=$left
		job connect "$step"
		ms=$((ms + $(result ms)))
		left=$((left - step))
	done
	figure connect_ms=$ms step="${STEP:-$n}"
}

qps_are() { [ "$(resources qp)" -eq "$1" ]; }

# lose_clients - disconnect the clients without the server's knowledge. It keeps its ends of the
# connections. (rpcrdma's clients go when the CM gives up, after 16 times 4 s.)
lose_clients() {
	echo "mad lose times=0" >$faults
	job disconnect
	lab_until 150 qps_are $((qps + n)) ||
		lab_fail "$(resources qp) QPs, not $n of connections"
}

forget_clients() {
	echo clear >$faults
	must rmmod rpcrdma2_echo_crowd
	lab_until 120 qps_are "$qps" || lab_fail "$(resources qp) QPs are left"
	must lab_insmod rpcrdma2_echo_crowd
}

# cost STATE - measure the memory of both ends, and then of the server alone
cost() {
	figure state="$1" end=both "$(each "$n" "$before" "$(memory)")"
	lose_clients
	figure state="$1" end=server "$(each "$n" "$before" "$(memory)")"
	forget_clients
}

# busy RPCS - measure the maximum of memory while each connection has so many RPCs at once
busy() {
	least_during job call "$1"
	figure call_ms="$(result ms)"
	figure state=busy end=both "$(each "$n" "$before" "$least")"
}

percentiles() { grep -o '[a-z_]*p[59][09]=[0-9]*' <<<"$line" | xargs; }

fairness() {
	job fair 3000
	figure "$(percentiles)"
	# Each Reply is many RDMA Writes. When the measurement is over, the rest may be fast.
	echo "write delay times=0 ms=20" >$faults
	(sleep 7; echo clear >$faults) &
	job fair 3000
	wait
	figure "$(percentiles | sed 's/beside/slow/g; s/^p50=[0-9]* p99=[0-9]* //')"
}

# strangers_and_removal - remove the device while all connections exist, and add it again. Then
# restart the server for as many clients that it doesn't know. (rpcrdma can't serve so many
# clients at once.)
strangers_and_removal() {
	local start ms

	start=${EPOCHREALTIME//[^0-9]/}
	must rdma link delete r0
	ms=$(((${EPOCHREALTIME//[^0-9]/} - start) / 1000))
	must lab_rdma_up mimic
	job call 1
	figure removal_ms=$ms
	job disconnect
	strangers_add mimic "$n"
	job strangers "$n"
	figure strangers_ms="$(result up_ms)"
	job disconnect
	strangers_remove "$n"
}

measure() {
	before=$(memory)
	qps=$(resources qp)
	connect
	cost idle
	before=$(memory)
	connect
	busy 16
	cost used
	connect
	fairness
	job storm
	figure storm_ms="$(result ms)" down_ms="$(result down_ms)" rnr="$(cat $counter)"
	[ "$TRANSPORT" != rpcrdma2 ] || strangers_and_removal
	job disconnect
}

must lab_rdma_up mimic
load_transport
must lab_insmod rpcrdma2_echo_crowd
# Connect before measuring: first connections are slow, and get memory that stays allocated.
n=4
job connect 4
job call 16
job disconnect
for n; do
	if [ "${ONLY:-}" = fairness ]; then
		connect
		for ((round = 0; round < ${ROUNDS:-1}; round++)); do fairness; done
		job disconnect
	else
		measure
	fi
done
must rmmod rpcrdma2_echo_crowd
must nfs_unload
must rdma link delete r0
