# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# These functions make memory allocations fail.

SLAB=/sys/kernel/debug/failslab
PAGES=/sys/kernel/debug/fail_page_alloc
# shellcheck disable=SC2034 # used by scripts
MOST=1000000	# failures; in effect no limit, but the kernel counts down from this number

# both NAME VALUE - set an attribute of both faults: slab's, and the page allocator's
both() {
	must eval "echo $2 >$SLAB/$1"
	must eval "echo $2 >$PAGES/$1"
}

# prepare_failures - set the faults up. rxe_create_qp() is left out: when it fails, rxe stops
# timers that were never set up.
prepare_failures() {
	[ -e $SLAB/require-start ] ||
		skip "this kernel can't make the allocations of one module fail"
	both ignore-gfp-wait N
	both verbose 0
	both stacktrace-depth 32
	echo 0 >$PAGES/min-order
	between reject "$(addresses rxe_create_qp)"
}

# addresses FUNCTION - print the addresses of a function's start and end. FUNCTION is a regular
# expression, because names differ among kernels. (The x makes awk compare addresses as strings.)
addresses() {
	awk -v name="^($1)\$" '
	$3 ~ name { start = "x" $1 }
	{ all["x" $1] }
	END {
		if (!start)
			exit 1
		for (address in all)
			if (address > start && (!end || address < end))
				end = address
		print "0" start, "0" end
	}' /proc/kallsyms || lab_fail "no function $1"
}

module_addresses() {
	local size start

	read -r size start <<<"$(awk '$1 == "rpcrdma2" { print $2, $6 }' /proc/modules)"
	echo "$start $((start + size))"
}

# spare_packets - let no allocation fail where rxe handles packets. rxe may interrupt any
# code; when it has no memory, its peer waits, or the connection is lost.
spare_packets() {
	local first last

	first=$(addresses rxe_completer)
	last=$(addresses 'rxe_responder|rxe_receiver')
	between reject "${first% *} ${last#* }"
}

# between require|reject "START END" - let allocations fail only if their stack trace has an
# address in this range (require), or has none (reject)
between() {
	both "$1-start" "${2% *}"
	both "$1-end" "${2#* }"
}

# fail_allocations PERCENT INTERVAL TIMES - start the failures. TIMES limits each of both faults.
fail_allocations() {
	both times "$3"
	both interval "$2"
	both probability "$1"
}

# failures TIMES - print how many allocations failed since fail_allocations with TIMES
failures() { echo $((2 * $1 - $(cat $SLAB/times) - $(cat $PAGES/times))); }
