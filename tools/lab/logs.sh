# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Directories with the logs of runs. Scripts of tests/ read this file, too.

# drop_old_logs DIRECTORY KEEP - remove the logs of old runs. The names of the runs' directories
# begin with the time. The last KEEP runs keep their logs, and so do runs that still go on: their
# file "running" has the PID.
drop_old_logs() {
	local old

	find "$1" -mindepth 1 -maxdepth 1 -type d 2>/dev/null | sort | head -n -"$2" |
	while read -r old; do
		kill -0 "$(cat "$old/running" 2>/dev/null || echo none)" 2>/dev/null ||
			rm -rf "$old"
	done
}
