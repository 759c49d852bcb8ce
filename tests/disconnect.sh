#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: sunrpc breaks connections under load, at either end.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

faults=/sys/kernel/debug/fail_sunrpc

# break_connections END - have sunrpc break connections at END ten times, and never at the
# other end.
break_connections() {
	echo Y >$faults/ignore-cache-wait
	echo Y >$faults/ignore-client-disconnect
	echo Y >$faults/ignore-server-disconnect
	echo N >"$faults/ignore-$1-disconnect"
	echo 0 >$faults/verbose
	echo 100 >$faults/probability
	echo 40 >$faults/interval
	echo 10 >$faults/times
}

all_broken() { [ "$(cat $faults/times)" -eq 0 ]; }

[ -d $faults ] || skip "this kernel has no CONFIG_FAIL_SUNRPC"
for end in client server; do
	nfs_start rxe
	count_event closed rpcrdma2/rpcrdma2_conn_close
	must lab_mount 4.2
	load_start
	break_connections $end
	lab_until 120 all_broken || lab_fail "$(cat $faults/times) faults were not used"
	load_advances 60 || lab_fail "the mount did not come back"
	load_stop
	echo "$end: $(counted closed) ends of connections were closed"
	[ "$(counted closed)" -ge 10 ] || lab_fail "too few"
	must umount "$LAB_MOUNT"
	nfs_stop
	must umount "$LAB_EXPORT"
done
