# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# These functions count tracepoints.

TRACING=/sys/kernel/tracing

# count_event NAME EVENT [FILTER] - count an event from now on, in a trace instance of its
# own. The buffer may overflow; the count stays right.
count_event() {
	local dir=$TRACING/instances/$1

	must mkdir "$dir"
	echo 64 >"$dir/buffer_size_kb"
	[ $# -lt 3 ] || echo "$3" >"$dir/events/$2/filter" || lab_fail "filter $3"
	echo 1 >"$dir/events/$2/enable" || lab_fail "no event $2"
}

# counted NAME - print how often the event came
counted() {
	cat $TRACING/instances/"$1"/per_cpu/cpu*/stats |
		awk '/^(entries|overrun):/ { n += $2 } END { print n + 0 }'
}

# last_field NAME FIELD - print a field of the last event that was counted
last_field() { sed -n "s/.* $2=\([^ ]*\).*/\1/p" $TRACING/instances/"$1"/trace | tail -n 1; }

# count_end - remove all instances.
count_end() { find $TRACING/instances -mindepth 1 -maxdepth 1 -exec rmdir {} +; }
