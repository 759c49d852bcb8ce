#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script, for both ends: how much memory does an idle connection take?
#
#	TEST_ARGS="TRANSPORT CONNECTIONS"
#
# Environment: PARAMETERS of rpcrdma2

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

read -r TRANSPORT connections <<<"$TEST_ARGS"

# What was freed asynchronously is free after some seconds.
free_kib() {
	sleep 3
	echo 3 >/proc/sys/vm/drop_caches
	awk '$1 == "MemFree:" { print $2 }' /proc/meminfo
}

# report BEFORE AFTER
report() {
	echo "part=memory transport=$TRANSPORT end=$LAB_ROLE connections=$connections kib=$((($1 - $2) / connections))" \
		>>"$LAB_SHARE/figures-$LAB_ROLE"
}

start() {
	if [ "$TRANSPORT" = tcp ]; then
		set -- proto=tcp "$@"
	fi
	must lab_insmod rpcrdma2_echo_bench addr=192.168.78.1 "$@"
}

must lab_rdma_up rxe
[ "$TRANSPORT" = tcp ] || load_transport

if [ "$LAB_ROLE" = server ]; then
	start connections=0
	lab_signal ready
	must lab_wait warm 120
	before=$(free_kib)
	lab_signal connect
	must lab_wait connected 120
	report "$before" "$(free_kib)"
	lab_signal measured
	lab_wait_end
else
	must lab_wait ready 120
	start threads=0 connections=4
	must rmmod rpcrdma2_echo_bench
	before=$(free_kib)
	lab_signal warm
	must lab_wait connect 120
	start threads=0 connections="$connections"
	lab_signal connected
	report "$before" "$(free_kib)"
	must lab_wait measured 120
fi
must rmmod rpcrdma2_echo_bench
[ "$TRANSPORT" = tcp ] || lab_until 30 rmmod "$TRANSPORT" 2>/dev/null || must rmmod "$TRANSPORT"
