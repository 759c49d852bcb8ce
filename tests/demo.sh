#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: "make demo" installs and loads the module, exports, mounts, copies files, and
# shows how they went over the wire. It runs in one guest, or in a pair whose server has the
# kernel's own rpcrdma. In a pair, TEST_ARGS in the environment has the argument.
#
#	demo.sh DIRECTORY
#	TEST_ARGS=DIRECTORY

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

source=${1:-$TEST_ARGS}
copy=/run/copy

title() { echo "== $*"; }

# checksums DIRECTORY - print the checksums of all files.
checksums() { (cd "$1" && find . -type f -print0 | sort -z | xargs -0 sha256sum); }

# compare WHAT DIRECTORY - check that the files in DIRECTORY equal the source's.
compare() {
	checksums "$2" >/run/sums
	cmp /run/sums /run/sums.source || lab_fail "$1: checksums differ"
	echo "$1: all $(wc -l </run/sums) checksums are equal"
}

count_messages() {
	local whole="reads == 0 && writes == 0 && reply == 0 && nomsg == 0"

	count_event ready rpcrdma2/rpcrdma2_conn_ready
	count_event replies rpcrdma2/rpcrdma2_reply_recv
	count_event inline rpcrdma2/rpcrdma2_call_send "$whole"
	count_event chunked rpcrdma2/rpcrdma2_call_send "!($whole)"
	count_event registered rpcrdma2/rpcrdma2_mr_register
	count_event inv_remote rpcrdma2/rpcrdma2_mr_inv_remote
	count_event inv_local rpcrdma2/rpcrdma2_mr_inv_local
	count_event closed rpcrdma2/rpcrdma2_conn_close
}

show_negotiated() {
	echo "protocol: RPC-over-RDMA $(last_field ready dialect)"
	echo "inline thresholds: $(last_field ready send_limit) octets sent," \
	     "$(last_field ready recv_limit) received"
	echo "credits: $(last_field replies credit)"
}

show_messages() {
	local inline chunked

	# More Calls may be sent between the two counts.
	inline=$(counted inline)
	chunked=$(counted chunked)
	echo "RPCs: $((inline + chunked)), of which $inline inline and" \
	     "$chunked with chunks"
	echo "memory registrations: $(counted registered), ended by" \
	     "$(counted inv_remote) remote and" \
	     "$(counted inv_local) local invalidations"
	grep -m 1 xprt: /proc/self/mountstats
	[ "$(counted closed)" -eq 0 ] || lab_fail "a connection was lost"
}

export_here() {
	title "Exporting $LAB_EXPORT over a soft RoCE device"
	rdma link show r0/1
	nfs_serve
	cat /proc/fs/nfsd/portlist
}

await_server() {
	title "Waiting for a server with the kernel's own rpcrdma"
	must lab_wait ready 300
}

if [ "$LAB_ROLE" = server ]; then
	# shellcheck disable=SC2034 # lib.sh uses it
	TRANSPORT=rpcrdma
	pair_server tmpfs
fi

title "Installing the module and its modprobe.d file"
must cp -r "$LAB_SHARE/root/lib/modules" /lib
must cp -r "$LAB_SHARE/root/etc/modprobe.d" /etc
modprobe -n -v --ignore-install rpcrdma | tail -n 1
must modprobe rpcrdma2
lsmod | grep -w ^rpcrdma2
[ ! -e /sys/module/rpcrdma ] || lab_fail "the kernel's own rpcrdma is loaded"

must lab_rdma_up rxe
if [ "$LAB_ROLE" = client ]; then
	await_server
else
	export_here
fi

title "Mounting it"
count_messages
must lab_mount 4.2
grep " $LAB_MOUNT " /proc/mounts
show_negotiated

title "Copying $source in, and out again"
must cp -r "$source" "$LAB_MOUNT/tree"
must sync
checksums "$source" >/run/sums.source
[ "$LAB_ROLE" = client ] || compare "on the server" "$LAB_EXPORT/tree"
echo 3 >/proc/sys/vm/drop_caches
must cp -r "$LAB_MOUNT/tree" $copy
compare "back from the server" $copy

title "What went over the wire"
show_messages
if [ "$LAB_ROLE" = client ]; then
	pair_client_stop
else
	must umount "$LAB_MOUNT"
	nfs_stop
fi
