#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: heartbeats come on an idle connection only, cost no message, and end a
# connection if one stays without an answer. (pair-heartbeat.sh has peers that are gone.)
#
#	heartbeat.sh PROVIDER

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

provider=$1
# What a heartbeat is there
form=RDMA-Write step=write
case $provider in siw|*iwarp*) form=RDMA-Read step=read ;; esac
faults=/sys/kernel/debug/mimic/r0/faults
deny=/sys/module/mimic/parameters/deny_reads
period=/sys/module/rpcrdma2/parameters/heartbeat
# shellcheck disable=SC2034 # lib.sh uses it
PARAMETERS=heartbeat=1

count_events() {
	count_event closed rpcrdma2/rpcrdma2_conn_close 'status == -110'
	count_event missed rpcrdma2/rpcrdma2_heartbeat_missed
	count_event beats rpcrdma2/rpcrdma2_heartbeat
	count_event posted rpcrdma2/rpcrdma2_post 'xid == 0'
}

# of END COUNTER
of() { awk -v name="$2:" '$1 == name { print $2 }' "$(connection_of "$1")"; }

beats() { [ "$(of "$1" heartbeats)" -ge "$2" ]; }

# mount_anew [VERSION] - of the protocol; version 3 of NFS says nothing of itself.
mount_anew() {
	echo "${1:-0}" >/sys/module/rpcrdma2/parameters/version
	must lab_mount 3 nolock
	must ls "$LAB_MOUNT" >/dev/null
}

unmount() {
	must umount "$LAB_MOUNT"
	lab_until 20 all_closed || lab_fail "a connection was left"
}

all_closed() { ! connection_of client >/dev/null && ! connection_of server >/dev/null; }

# What both ends say, in which order does not matter
idle() {
	local client server

	mount_anew "$1"
	client=$(of client sends) server=$(of server sends)
	lab_until 20 beats client 3 || lab_fail "the client sends no heartbeats"
	lab_until 20 beats server 3 || lab_fail "the server sends no heartbeats"
	[ "$(of client sends) $(of server sends)" = "$client $server" ] ||
		lab_fail "a heartbeat was a message"
	[ "$(last_field posted last)" = $form ] ||
		lab_fail "a heartbeat is an $(last_field posted last)"
	[ "$(counted closed)" -eq 0 ] || lab_fail "an idle connection was closed"
	echo "idle, version $(of client version): $(of client heartbeats) heartbeats"
	unmount
}

busy() {
	local before

	mount_anew
	load_start
	before=$(counted beats)
	sleep 8
	before=$(($(counted beats) - before))
	echo "busy: $before heartbeats"
	[ $before -le 1 ] || lab_fail "a busy connection has heartbeats"
	must load_stop
	unmount
}

# What was posted never completes, and nothing says so.
hang() { must eval "echo '$step delay ms=3600000 times=0' >$faults"; }

unanswered() {
	mount_anew
	hang
	SECONDS=0
	lab_until 20 has_missed || lab_fail "nobody missed a heartbeat"
	echo "unanswered: closed after $SECONDS s"
	echo clear >$faults
	must timeout 60 ls "$LAB_MOUNT" >/dev/null
	unmount
}

# The peer takes a Reply now and then, so something completes while the others wait, each
# with its pages; and it has more Calls, so it is not silent. On a busy machine the Calls
# come slowly, and the first few Replies are done in time.
trickled() {
	local i

	mount_anew
	must dd if=/dev/urandom of="$LAB_EXPORT/data" bs=64k count=16 status=none
	must eval "echo 'write delay ms=5500 times=0' >$faults"
	for ((i = 0; i < 16; i++)); do
		timeout 120 dd if="$LAB_MOUNT/data" of=/dev/null bs=64k count=1 skip=$i \
			iflag=direct status=none &
	done
	SECONDS=0
	until has_missed || [ $SECONDS -gt 60 ]; do
		timeout 120 stat "$LAB_MOUNT/$SECONDS" >/dev/null 2>&1 &
		lab_nap 0.5
	done
	has_missed || lab_fail "a peer that takes little keeps what waits for it"
	echo "trickled: closed after $SECONDS s"
	echo clear >$faults
	must wait
	unmount
}

has_missed() { [ "$(counted closed)" -gt 0 ] && [ "$(counted missed)" -gt 0 ]; }

# iWARP's heartbeats are RDMA Reads, and this server allows its client none: it goes
# without. The server may make Reads, and has its own.
denied() {
	echo 1 >$deny
	mount_anew
	lab_until 20 beats server 3 || lab_fail "the server sends no heartbeats"
	[ "$(of client heartbeat) $(of client heartbeats)" = "0 0" ] ||
		lab_fail "a client that may make no Reads sends heartbeats"
	work names
	[ "$(counted closed)" -eq "$1" ] || lab_fail "the connection was closed"
	echo "Reads denied: $(of server heartbeats) heartbeats, all the server's"
	unmount
	echo 0 >$deny
}

off() {
	local before

	before=$(counted beats)
	echo 0 >$period
	mount_anew
	sleep 5
	[ "$(counted beats)" -eq "$before" ] || lab_fail "there were heartbeats"
	[ "$(of client heartbeat) $(of client heartbeats)" = "0 0" ] || lab_fail "heartbeats were counted"
	unmount
}

nfs_start "$provider"
count_events
idle 2
idle 1
busy
[ ! -e $faults ] || unanswered
# Elsewhere, the client's heartbeats would be as late as the Replies.
case $provider in mimic:*iwarp*)
	count_end
	count_events
	trickled
	denied "$(counted closed)" ;;
esac
off
nfs_stop
