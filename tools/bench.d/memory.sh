#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script for both ends: measure how much memory a connection takes.
#
#	TEST_ARGS="TRANSPORT CONNECTIONS idle|busy|used|grown|rested"
#
#   idle	after the connects, without further RPCs
#   busy	the server's maximum, while each connection has 16 RPCs of 1, 8 and 16 KiB at once
#   used	after 64 RPCs at once on each connection, of various sizes; it keeps that memory
#   grown	after Receive buffers that adapt (inline_min) have grown to 64 KiB
#   rested	after these buffers have shrunk to 4 KiB again
#
# Environment: PARAMETERS of rpcrdma2

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

read -r TRANSPORT connections state <<<"$TEST_ARGS"
run=/sys/kernel/debug/rpcrdma2_echo_bench/run

# report BEFORE AFTER - write a line of figures, from what memory() printed before and after
report() {
	echo "part=memory transport=$TRANSPORT end=$LAB_ROLE state=$state connections=$connections" \
		"$(each "$connections" "$1" "$2")" >>"$LAB_SHARE/figures-$LAB_ROLE"
}

start() {
	if [ "$TRANSPORT" = tcp ]; then
		set -- proto=tcp "$@"
	fi
	must lab_insmod rpcrdma2_echo_bench addr=192.168.78.1 "$@"
}

# work SIZE DEPTH - Calls, then Replies, DEPTH at once on each connection, half a second each
work() {
	local what

	for what in call reply; do
		echo "$what $1 $(($2 * connections)) 500" >$run || lab_fail "$what $1"
	done
}

# all_offer OCTETS - do all connections offer Receive buffers of this size?
all_offer() { ! grep -h '^offered_rbsiz:' $CONNECTIONS/[0-9]* | grep -qv " $1$"; }

# settle - wait until the Receive buffers of this end have their size
settle() {
	case $state in
	grown)	lab_until 60 all_offer 65536 || lab_fail "not all have grown" ;;
	rested)	lab_until 200 all_offer 4096 || lab_fail "not all have shrunk" ;;
	esac
}

must lab_rdma_up rxe
[ "$TRANSPORT" = tcp ] || load_transport

if [ "$LAB_ROLE" = server ]; then
	start connections=0
	lab_signal ready
	must lab_wait warm 120
	before=$(memory)
	lab_signal connect
	least_during must lab_wait connected 300
	settle
	[ "$state" = busy ] || least=$(memory)
	report "$before" "$least"
	lab_signal measured
	lab_wait_end
else
	must lab_wait ready 120
	start threads=0 connections=4
	must rmmod rpcrdma2_echo_bench
	before=$(memory)
	lab_signal warm
	must lab_wait connect 120
	start threads=0 connections="$connections"
	case $state in
	busy)	work 1024 16
		work 8192 16
		work 16384 16 ;;
	used)	work 1024 64
		work 8192 64
		work 65536 64
		work 1048576 8 ;;
	grown|rested)
		for _ in 1 2 3 4; do
			work 32768 4
		done
		lab_until 60 all_offer 65536 || lab_fail "not all have grown" ;;
	esac
	lab_signal connected
	settle
	[ "$state" = busy ] || report "$before" "$(memory)"
	must lab_wait measured 120
fi
must rmmod rpcrdma2_echo_bench
[ "$TRANSPORT" = tcp ] || lab_until 30 rmmod "$TRANSPORT" 2>/dev/null || must rmmod "$TRANSPORT"
