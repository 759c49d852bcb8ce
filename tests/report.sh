# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Host scripts report their checks with these functions. A script ends with the test
# [ $failures -eq 0 ].

failures=0

# check TITLE COMMAND... - run COMMAND, which must succeed. If it fails, show its output.
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
