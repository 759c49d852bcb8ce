#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Host script: the lab ends its own guests and no other process. While a lab runs, PIDs may wrap
# around. Then another process may have the PID of a guest that has ended.
#
#	lab_guests.sh

cd "$(dirname "$(realpath "$0")")/.." || exit
# shellcheck source=tools/lab/guests.sh
. tools/lab/guests.sh
log=$(mktemp -d) passed=0 failed=0
trap 'clean_up; rm -rf "$log"' EXIT

# check TITLE COMMAND... - the check passes if COMMAND succeeds.
check() {
	if "${@:2}"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAIL: $1"
	fi
}

dead() { ! alive "$1"; }
exists() { kill -0 "$1" 2>/dev/null; }
gone() { for _ in {1..50}; do exists "$1" || return 0; sleep 0.1; done; return 1; }

# run_guest NAME - start a guest, and wait until it has its own process group.
run_guest() {
	spawn "$1" sleep 100
	for _ in {1..50}; do
		[ "$(cut -d ' ' -f 5 "/proc/${pid[$1]}/stat")" != "${pid[$1]}" ] || return 0
		sleep 0.1
	done
	echo "FAIL: no guest"
	exit 1
}

run_guest guest
check "a guest is alive" alive guest
process=${pid[guest]}
kill_guest guest
check "it is killed" gone "$process"
check "it is not alive then" dead guest

# Another process gets the guest's PID. The lab tells them apart by their start times, in units of
# 10 ms.
sleep 0.1
run_guest other
process=${pid[other]}
pid[guest]=$process
check "a guest that is over is not alive when another process has its number" dead guest
kill_guest guest
sleep 0.2
check "that one is not killed for it" exists "$process"
clean_up
check "its own guest is killed at the end" gone "$process"

# The guest's first process has ended, but another process of its group goes on.
spawn half bash -c 'sleep 100 & echo $! >left'
check "the first process is over" gone "${pid[half]}"
process=$(<"$log/left")
check "another one is not" exists "$process"
kill_guest half
check "it is killed, too" gone "$process"

echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
