#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script for both ends, run by tools/count-locks: count the locks and atomics that an
# inline RPC takes at each end. The modules were built so that they count.
#
#	TEST_ARGS="rpcrdma2|rpcrdma"

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

# shellcheck disable=SC2034 # lib.sh uses it
TRANSPORT=${TEST_ARGS:?}
counted=/sys/module/counted/parameters
children=8 each=500

load_transport() { must lab_insmod "$TRANSPORT"; }

# calls - print how many Calls this mount has sent
calls() { awk '$1 == "xprt:" { n += $8 } END { print n }' /proc/self/mountstats; }

reset() {
	echo 0 >$counted/locks
	echo 0 >$counted/atomics
}

sample() { echo "locks=$(cat $counted/locks) atomics=$(cat $counted/atomics)"; }

# stats - send GETATTRs, and nothing else
stats() {
	python3 - "$LAB_MOUNT/file" $children $each <<-END
	import os, sys
	for child in range(int(sys.argv[2])):
	    if not os.fork():
	        for _ in range(int(sys.argv[3])):
	            os.stat(sys.argv[1])
	        os._exit(0)
	for child in range(int(sys.argv[2])):
	    os.wait()
	END
}

server() {
	nfs_start rxe
	echo 1 >"$LAB_EXPORT/file"
	lab_signal ready
	lab_wait reset 300 || exit
	reset
	lab_signal was-reset
	lab_wait sample 300 || exit
	sample >"$LAB_SHARE/server"
	lab_signal sampled
	lab_wait_end
}

client() {
	local before mine

	must lab_rdma_up rxe
	load_transport
	must lab_wait ready 300
	must lab_mount 4.2 noac
	stats
	lab_signal reset
	must lab_wait was-reset
	before=$(calls)
	reset
	stats
	mine=$(sample)
	lab_signal sample
	must lab_wait sampled
	before=$(($(calls) - before))
	echo "COUNT $TRANSPORT client calls=$before $mine"
	echo "COUNT $TRANSPORT server calls=$before $(cat "$LAB_SHARE/server")"
	must umount "$LAB_MOUNT"
}

"$LAB_ROLE"
