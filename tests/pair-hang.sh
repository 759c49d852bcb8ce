#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Script of both guests: while the network is silent, processes that wait can be killed, and the
# others continue afterwards.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

gone() { ! grep -qs '^State:.*[^Z] (' "/proc/$1/status"; }

# start_dd ARGS... - start a process that reads or writes for long. (Its arguments must have
# O_DIRECT: over any transport, a process can't be killed while it waits for the page cache.)
start_dd() {
	dd bs=65536 count=20000 "$@" 2>/dev/null &
	processes+=($!)
}

kill_all() {
	local process

	for process in "${processes[@]}"; do
		gone "$process" && lab_fail "a process did not wait"
		kill -KILL "$process"
	done
	for process in "${processes[@]}"; do
		lab_until 30 gone "$process" || {
			cat "/proc/$process/stack"
			lab_fail "a process that waits can't be killed"
		}
	done
}

# hang SECONDS - silence the network, for less or for more time than the device takes to give
# up
hang() {
	processes=()
	start_dd if=/dev/zero of="$LAB_MOUNT/direct" oflag=direct
	start_dd if="$LAB_MOUNT/data" of=/dev/null iflag=direct
	sleep 1
	silence
	sleep "$1"
	kill_all
	end_silence
	SECONDS=0
	load_advances 120 || lab_fail "the mount did not come back"
	echo "silent for $1 s: works again after $SECONDS s"
}

[ "$LAB_ROLE" = client ] || pair_server tmpfs

# The rxe of Linux 6.1 may wait for ever. Then sunrpc gives up.
pair_client 4.2 timeo=50
must truncate -s 4G "$LAB_MOUNT/data"
load_start
hang 1
hang 20
load_stop
pair_client_stop
