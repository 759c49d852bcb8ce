# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Functions of the host scripts: how they report their checks. A script ends with the test
# [ $failures -eq 0 ].

failures=0

# check TITLE COMMAND... - COMMAND must succeed. What it printed is shown if it does not.
check() {
	local title=$1 log
	shift

	log=$(mktemp)
	if "$@" >"$log" 2>&1; then
		echo "ok: $title"
	else
		tail -n 30 "$log"
		echo "FAILED: $title"
		failures=$((failures + 1))
	fi
	rm -f "$log"
}
