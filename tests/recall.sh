#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: the server recalls a delegation over the client's connection, so a local
# writer need not wait long.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

# The server grants no delegation before it knows that it can call back.
delegated() {
	exec 5<"$LAB_MOUNT/$1"
	grep -q old <&5 || lab_fail "the file can't be read"
	[ "$(counted delegation)" -gt 0 ]
}

# recall VERSION - get a delegation, and have the server recall it
recall() {
	local file=recall-$1 start

	count_event connprop rpcrdma2/rpcrdma2_connprop_send "response == 0"
	must lab_mount "$1"
	count_event reverse rpcrdma2/rpcrdma2_call_recv \
		"conn == $(last_field connprop conn)"
	count_event delegation nfsd/nfsd_deleg_read
	count_event recall nfsd/nfsd_cb_recall

	echo old >"$LAB_EXPORT/$file"
	lab_until 10 delegated "$file" || lab_fail "$1: there was no delegation"
	start=$(counted reverse)
	SECONDS=0
	must timeout 60 sh -c "echo new >$LAB_EXPORT/$file"
	[ $SECONDS -le 5 ] || lab_fail "$1: the writer waited for $SECONDS s"
	[ "$(counted recall)" -gt 0 ] || lab_fail "$1: there was no recall"
	[ "$(counted reverse)" -gt "$start" ] ||
		lab_fail "$1: no Call came to the client's end of the connection"
	exec 5<&-
	grep -q new "$LAB_MOUNT/$file" || lab_fail "$1: the client reads old data"

	must umount "$LAB_MOUNT"
	count_end
	echo "$1: recalled, the writer waited for $SECONDS s"
}

nfs_start rxe
recall 4.1
recall 4.2
nfs_stop
