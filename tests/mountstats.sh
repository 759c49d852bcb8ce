#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: the counters of a mount in /proc/self/mountstats are right, and nfs-utils
# reads them.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

# field NUMBER - print a field of the transport's line. Field 1 is the protocol's name. The
# next 10 fields are the same as for TCP, and only RDMA has the rest.
field() { awk -v n="$1" '$1 == "xprt:" { print $(n + 1) }' /proc/self/mountstats; }

# expect WHAT NUMBER CONDITION - check a field's value, which is x in CONDITION
expect() {
	local x
	x=$(field "$2")

	if [ -z "$x" ] || ! ((${3//x/$x})); then
		lab_fail "$1: '$x', not $3"
	fi
	echo "$1: $x"
}

# An RPC's round trip is a part of its total time. Times are in milliseconds, so allow for
# rounding.
check_times() {
	awk '/RTT:/ && $0 ~ /total execute time:/ {
		n++
		sub(/.*RTT: */, "")
		if ($1 > $5 + 1)
			bad++
	}
	END { exit bad || !n }' /run/mountstats
}

nfs_start rxe
must lab_mount 4.2
work offsets
grep 'xprt:' /proc/self/mountstats

[ "$(field 1)" = rdma ] || lab_fail "the protocol is '$(field 1)'"
expect "connects"		4 "x == 1"
expect "seconds idle"		6 "x >= 0 && x < 60"
expect "sends"			7 "x > 50"
expect "receives"		8 "x >= $(field 7) - 2 && x <= $(field 7) + 2"
expect "Replies to nothing"	9 "x == 0"
expect "Read segments"		12 "x > 0"
expect "Write segments"		13 "x > 0"
expect "Reply segments"		14 "x >= 0"
expect "octets registered"	15 "x > 1048576"
expect "octets of Replies"	16 "x > 1048576"
expect "Calls not marshaled"	20 "x == 0"
expect "bad Replies"		21 "x == 0"
expect "MRs allocated"		25 "x > 0"

mountstats "$LAB_MOUNT" >/run/mountstats || lab_fail "mountstats failed"
grep -q 'WRITE:' /run/mountstats || lab_fail "mountstats shows no WRITE"
check_times || {
	cat /run/mountstats
	lab_fail "round trip times are longer than RPCs took in all"
}
must nfsiostat "$LAB_MOUNT"
must nfsstat -m
must umount "$LAB_MOUNT"
nfs_stop
