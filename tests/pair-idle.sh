#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Script of both guests: without heartbeats, a server closes the connection of a lost client
# within thirteen minutes. Nothing tells the server of the loss. sunrpc looks for idle
# connections every six minutes, and closes one that was idle since it looked last.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

# shellcheck disable=SC2034 # lib.sh uses it
PARAMETERS=heartbeat=0

none_left() { ! connection_of server >/dev/null; }

server() {
	nfs_start rxe
	lab_signal ready
	must lab_wait silent
	none_left && lab_fail "no connection is to be seen"
	SECONDS=0
	must lab_until 780 none_left
	echo "closed after $SECONDS s"
	lab_signal closed
	lab_wait_end
	nfs_stop
}

client() {
	pair_client 3
	must ls "$LAB_MOUNT"
	silence
	lab_signal silent
	must lab_wait closed 800
	end_silence
	must timeout 120 ls "$LAB_MOUNT"
	pair_client_stop
}

"$LAB_ROLE"
