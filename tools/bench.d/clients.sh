#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: what do a server's connections cost, and how does it do with very many?
# Both ends are in this guest, on the device for tests.
#
#	clients.sh TRANSPORT CONNECTIONS...
#
# What comes out are lines of NAME=VALUE in $LAB_SHARE/figures. Memory is in KiB for each
# connection: of both ends ("both"), and of the server ("server"): when its clients are
# gone and their farewells got lost, so that it doesn't know. "busy": at most, while each
# has 16 RPCs at once; "used": after that. How long a small RPC of one takes, in ns: alone
# ("p50", "p99"), while another one has 64 Replies of a MiB under way ("beside_..."), and
# while these are slow, but the CPU has time ("slow_...").
#
# Environment: PARAMETERS of rpcrdma2; STEP, how many connect at once (all); ONLY=fairness,
# the last of these alone, ROUNDS times (1)

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

TRANSPORT=$1
shift
run=/sys/kernel/debug/rpcrdma2_echo_crowd/run
faults=/sys/kernel/debug/mimic/r0/faults
counter=/sys/class/infiniband/r0/ports/1/hw_counters/send_rnr_err
figures=$LAB_SHARE/figures

# job WORDS... - one line of figures in $line
job() {
	echo "$*" >$run || { cat $run; lab_fail "$*"; }
	read -r line <$run
}

# result NAME - of the last job
result() { sed -n "s/\(.* \|^\)$1=\([0-9]*\).*/\2/p" <<<"$line"; }

figure() {
	echo "part=clients transport=$TRANSPORT connections=$n $*" | tee -a "$figures"
}

# connect - in steps, as not every transport bears all at once
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

# lose_clients - the server has as many connections as before, and nobody at their ends.
# (rpcrdma's clients go when the CM has given up, which takes 16 times 4 s.)
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

# cost STATE
cost() {
	figure state="$1" end=both "$(each "$n" "$before" "$(memory)")"
	lose_clients
	figure state="$1" end=server "$(each "$n" "$before" "$(memory)")"
	forget_clients
}

# busy RPCS
busy() {
	least_during job call "$1"
	figure call_ms="$(result ms)"
	figure state=busy end=both "$(each "$n" "$before" "$least")"
}

percentiles() { grep -o '[a-z_]*p[59][09]=[0-9]*' <<<"$line" | xargs; }

fairness() {
	job fair 3000
	figure "$(percentiles)"
	# Each is many RDMA Writes. What is left when the time is over may be fast.
	echo "write delay times=0 ms=20" >$faults
	(sleep 7; echo clear >$faults) &
	job fair 3000
	wait
	figure "$(percentiles | sed 's/beside/slow/g; s/^p50=[0-9]* p99=[0-9]* //')"
}

# strangers_and_removal - on what all of them have while their device goes, and when it is
# back; and as many clients that the server doesn't know, when that is restarted. (Not of
# rpcrdma, which does not take so many at once.)
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
# The first connections are the slowest, and get what stays.
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
