#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: the KUnit suites for the codecs and the tables of states pass. They need no
# device, and no other module of the project.

# shellcheck source=tools/lab/guest/lib.sh
. "${LAB_LIB:?run this in a guest, by tools/lab/lab}"

suites='wire_message wire_v1 wire_v2_01 wire_refuse wire_limits wire_props wire_change
wire_tables wire_extension wire_dialect wire_private_data wire_random handshake ask
job_stage owner'
log=/run/wire.log

# total WORD - add the numbers for WORD in the last lines of the suites
total() {
	sed -n "s/^# Totals:.* $1:\([0-9]*\).*/\1/p" "$log" |
		awk '{ n += $1 } END { print n + 0 }'
}

marker="wire.sh: $$: suites for the wire codecs"
echo "$marker" >/dev/kmsg
lab_insmod rpcrdma2_wire_kunit || lab_fail "can't load the suites"
dmesg --notime | sed "1,/$marker/d" >"$log"
cat "$log"
rmmod rpcrdma2_wire_kunit || lab_fail "can't unload the suites"

unfinished=0
for suite in $suites; do
	grep -q "^\(not \)\{0,1\}ok [0-9]* rpcrdma2_$suite\$" "$log" || {
		echo "rpcrdma2_$suite did not come to its end" >&2
		unfinished=$((unfinished + 1))
	}
done
if grep -E '^ *not ok |failed to initialize' "$log" >&2; then
	status=1
fi
echo "$(total pass) passed, $(total fail) failed, $(total skip) skipped"
[ "$unfinished" -eq 0 ] || lab_fail "$unfinished suites are missing"
[ "$(total pass)" -gt 0 ] || lab_fail "no test ran"
exit "${status:-0}"
