#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: the server refuses good Calls with each RDMA2_ERROR of v2-09, and the client
# sends the Call again or fails only that RPC. If the error names a remedy, one more try is
# enough, and the application notices nothing.
#
#	errors.sh PROVIDER...

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

BAD_XDR=2 INVAL_HTYPE=3 READ_CHUNKS=4 WRITE_CHUNKS=5
SEGMENTS=6 WRITE_RESOURCE=7 REPLY_RESOURCE=8 SYSTEM=9

# read_file, write_file - transfer a file in one RPC, with a Write chunk or a Read chunk. Each
# written file has other data than the last one, or a lost WRITE would look right. /run/said has
# the messages.
read_file() {
	dd if="$LAB_MOUNT/data" bs=256k count=1 iflag=direct 2>/run/said |
		cmp -s - /run/data
}

write_file() {
	dd if=/dev/urandom of=/run/new bs=256k count=1 2>/dev/null &&
		dd if=/run/new of="$LAB_MOUNT/new" bs=256k count=1 oflag=direct \
			conv=notrunc 2>/run/said && cmp -s /run/new "$LAB_EXPORT/new"
}

# list_files - list a directory in one RPC, with a Reply chunk. The kernel has not kept the list.
list_files() {
	echo 3 >/proc/sys/vm/drop_caches
	ls "$LAB_MOUNT/files" >/run/list && cmp -s /run/list /run/files
}

# refuse CODES COMMAND - run the command while one of its Calls is refused. Each digit of CODES is
# a code: the second is for the Call when it is sent again. Return the command's status.
refuse() {
	local before status
	before=$(counted errors)

	echo "$1" >$INJECT || lab_fail "the errors can't be injected"
	"$2"
	status=$?
	[ "$(cat $INJECT)" = 0 ] || lab_fail "$2: too few Calls had chunks"
	[ "$(counted errors)" -eq $((before + ${#1})) ] ||
		lab_fail "$2: errors $1 were not received, or not just once"
	return $status
}

survives() {
	refuse "$@" || lab_fail "$2 did not survive errors $1"
	echo "errors $1: $2 survives"
}

# survives_with COUNTER CODE COMMAND - the command survives, because the Call is sent again in the
# form that the client's COUNTER counts.
survives_with() {
	local counter=$1 before
	shift

	before=$(sum client "$counter")
	survives "$@"
	[ "$(sum client "$counter")" -gt "$before" ] ||
		lab_fail "error $1: the Call was sent again in the form that was refused"
}

fails() {
	! refuse "$@" || lab_fail "$2 should have failed with errors $1"
	grep -q 'Remote I/O error' /run/said || lab_fail "$2: $(cat /run/said)"
	"$2" || lab_fail "$2: errors $1 outlive their RPC"
	echo "errors $1: $2 fails, once"
}

# survives_in_one_segment CODE COMMAND - the command survives. Its Call with chunks has several
# segments. The server allows one, and the Call is sent again with one.
survives_in_one_segment() {
	local before
	before=$(counted several)

	survives "$@"
	[ "$(counted several)" -eq $((before + 1)) ] ||
		lab_fail "error $1: not just one Call had several segments"
}

# over PROVIDER - try all errors over that device.
over() {
	local code

	nfs_start "$1"
	can_inject || skip "this kernel has no fault injection"
	must lab_mount 4.2
	count_event errors rpcrdma2/rpcrdma2_error_recv
	count_event several rpcrdma2/rpcrdma2_call_send 'segments > 1'
	count_event closed rpcrdma2/rpcrdma2_conn_close
	cp /run/data "$LAB_EXPORT/data"
	: >"$LAB_EXPORT/new"
	must mkdir "$LAB_EXPORT/files"
	(cd "$LAB_EXPORT/files" && seq -f %03g 200 | tee /run/files | xargs touch)
	must read_file
	must write_file
	must list_files

	survives_with calls_sent_position_zero $READ_CHUNKS write_file
	survives_with calls_sent_reply_chunk $WRITE_CHUNKS read_file
	survives_with calls_sent_reply_chunk $WRITE_RESOURCE read_file
	survives $REPLY_RESOURCE read_file
	survives $SEGMENTS read_file
	survives $SEGMENTS write_file
	survives_in_one_segment $SEGMENTS list_files
	# The server refuses the Read chunk, and then the Position-Zero Read chunk of the next try.
	fails $READ_CHUNKS$READ_CHUNKS write_file
	for code in $BAD_XDR $INVAL_HTYPE $SYSTEM; do
		fails "$code" read_file
		fails "$code" write_file
	done
	# If an error were taken for an empty Reply, sunrpc would connect and send the Call again.
	[ "$(counted closed)" -eq 0 ] || lab_fail "an error cost the connection"
	must umount "$LAB_MOUNT"
	nfs_stop
	must umount "$LAB_EXPORT"
}

must dd if=/dev/urandom of=/run/data bs=256k count=1 2>/dev/null
for provider; do
	echo "Over $provider"
	over "$provider"
done
