# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# These functions read what the module says about its connections, and what devices say about
# messages without a Receive.

CONNECTIONS=/sys/kernel/debug/rpcrdma2

# The code of the RDMA2_ERROR that answers the next Call with chunks
INJECT=$CONNECTIONS/inject_error

can_inject() { [ -e $INJECT ]; }

# connection_of client|server - print the files of that end's connections.
connection_of() { grep -l "^role: *$1\$" $CONNECTIONS/[0-9]* 2>/dev/null; }

# sum ROLE NAME - add the values of NAME in the files of that end's connections.
sum() {
	# shellcheck disable=SC2046 # several files
	awk -v name="$2:" '$1 == name { n += $2 } END { print n + 0 }' \
		$(connection_of "$1")
}

# no_rnr [WHEN] - check by the devices' own counters that every message found a Receive. (The
# counters do not exist on iWARP: there, a message without a Receive ends the connection.)
no_rnr() {
	local counter

	for counter in /sys/class/infiniband/*/ports/1/hw_counters/*_rnr_err; do
		[ ! -e "$counter" ] || [ "$(cat "$counter")" -eq 0 ] ||
			lab_fail "$counter: $(cat "$counter") $*"
	done
}
