#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: only idle connections have heartbeats, which cost no message and end a
# connection if they are not answered. siw has none. pair-heartbeat.sh has peers that disappear.
#
#	heartbeat.sh PROVIDER

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

provider=$1
# The form of a heartbeat on this device
form=RDMA-Write step=write
case $provider in *iwarp*) form=RDMA-Read step=read ;; esac
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

# of client|server COUNTER - print a value of this end of the connection.
of() { awk -v name="$2:" '$1 == name { print $2 }' "$(connection_of "$1")"; }

beats() { [ "$(of "$1" heartbeats)" -ge "$2" ]; }

# mount_anew [VERSION] - mount, with a version of the protocol. NFSv3, because its client sends
# nothing by itself.
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

# idle [VERSION] - on an idle connection, both ends have heartbeats, and send no message.
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
	# unanswered() must not see an event of this connection.
	[ "$(counted closed)" -eq 0 ] || lab_fail "a busy connection was closed"
	must load_stop
	unmount
}

# hang - no heartbeat completes any more, and the device reports no error.
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

# trickled - the server closes the connection of a client that takes its Replies too slowly. The
# client takes a Reply now and then, and goes on to send Calls. So there are completions, but other
# Replies wait with their pages. The loop goes on for a while, as a busy machine may send the Calls
# so slowly that the first Replies are in time.
trickled() {
	local i reader readers=()

	mount_anew
	must dd if=/dev/urandom of="$LAB_EXPORT/data" bs=64k count=16 status=none
	must eval "echo 'write delay ms=5500 times=0' >$faults"
	for ((i = 0; i < 16; i++)); do
		timeout 120 dd if="$LAB_MOUNT/data" of=/dev/null bs=64k count=1 skip=$i \
			iflag=direct status=none &
		readers+=($!)
	done
	SECONDS=0
	until has_missed || [ $SECONDS -gt 60 ]; do
		timeout 120 stat "$LAB_MOUNT/$SECONDS" >/dev/null 2>&1 &
		lab_nap 0.5
	done
	has_missed || lab_fail "a peer that takes little keeps what waits for it"
	echo "trickled: closed after $SECONDS s"
	echo clear >$faults
	for reader in "${readers[@]}"; do
		must wait "$reader"
	done
	wait
	unmount
}

has_missed() { [ "$(counted closed)" -gt 0 ] && [ "$(counted missed)" -gt 0 ]; }

# denied CLOSED - iWARP's heartbeats are RDMA Reads. This server permits its client no Reads, so
# only the server has heartbeats. CLOSED connections were closed before.
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

# none - there are no heartbeats.
none() {
	local before

	before=$(counted beats)
	mount_anew
	sleep 5
	[ "$(counted beats)" -eq "$before" ] || lab_fail "there were heartbeats"
	[ "$(of client heartbeat) $(of client heartbeats)" = "0 0" ] || lab_fail "heartbeats were counted"
	unmount
}

nfs_start "$provider"
count_events
if [ "$provider" = siw ]; then
	none
	nfs_stop
	exit
fi
idle 2
idle 1
busy
[ ! -e $faults ] || unanswered
# On other devices, heartbeats are RDMA Writes, which trickled() would delay, too.
case $provider in mimic:*iwarp*)
	count_end
	count_events
	trickled
	denied "$(counted closed)" ;;
esac
echo 0 >$period
none
nfs_stop
