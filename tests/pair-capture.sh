#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Script of both guests: tshark and the dissector read a capture of the traffic between two
# guests. The capture is from the client's network device. A 4 KiB read is one Send each way,
# without RDMA Writes and without a registration. Larger reads and writes travel in chunks.
#
#	TEST_ARGS=PROVIDER

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

provider=$TEST_ARGS
client=192.168.78.2 server=192.168.78.1
reads=50 transfers=2
large=65536
pcap=$LAB_SHARE/capture.pcap
declare -A phase=()
MSG=0 CONNPROP=5
OP_READ=25 OP_READDIR=26 OP_WRITE=38

case $provider in
rxe)	traffic='udp port 4791'
	is_send='infiniband.bth.opcode in {0..5, 22, 23}'
	is_rdma='infiniband.bth.opcode in {6..16}'
	written_to=infiniband.reth.r_key
	;;
siw)	traffic='tcp port 20049'
	is_send='iwarp_rdma.opcode in {3..6}'
	is_rdma='iwarp_rdma.opcode in {0..2}'
	written_to=iwarp_ddp.stag
	;;
esac

# A heartbeat is an RDMA Write, which the checks would find.
# shellcheck disable=SC2034 # lib.sh uses it
PARAMETERS=heartbeat=0

### Capture

capture_start() {
	tcpdump -i "$LAB_NETDEV" -U -w "$pcap" -B 16384 "$traffic" 2>/run/tcpdump &
	tcpdump=$!
	lab_until 20 grep -qs 'listening on' /run/tcpdump || lab_fail "no tcpdump"
}

capture_stop() {
	kill -INT $tcpdump
	wait $tcpdump
}

captured() { tcpdump --count -r "$pcap" 2>/dev/null | sed 's/ .*//'; }

# during PHASE COMMAND... - remember which packets pass while COMMAND runs. (A capture for each
# phase would lack the beginning of the connection.)
during() {
	local name=$1 before
	shift

	before=$(captured)
	must "$@"
	sleep 1
	phase[$name]="frame.number > $before && frame.number <= $(captured)"
}

### Dissection

# show FILTER FIELD... - print these fields of the frames that a display filter selects. A
# message that is retransmitted appears more than once.
show() {
	local filter=$1
	shift

	must tshark -X lua_script:"$LAB_TREE/tools/wireshark/rpcrdma2.lua" \
		-r "$pcap" -Y "$filter" -T fields -E separator='|' "${@/#/-e}" \
		2>/run/tshark
}

# has NUMBER PATTERN FILE - check that so many lines match
has() {
	[ "$(grep -c "$2" "$3")" -eq "$1" ] ||
		lab_fail "not $1 lines like $2: $(sort "$3" | uniq -c)"
}

# All messages are of version 2, and well-formed. Each RDMA2_MSG has NFS in it. Small reads have
# no chunks.
check_all() {
	local wrong
	wrong=$(show "($is_send) && !rpcrdma2 || rpcrdma2.vers != 2 ||
		rpcrdma2.malformed || _ws.malformed ||
		_ws.expert.message contains \"Lua\" ||
		rpcrdma2.htype == $MSG && !nfs || rpcrdma2.error.code ||
		(${phase[reads]}) && ($is_rdma || rpcrdma2.segment.handle)" \
		frame.number rpcrdma2 _ws.expert.message) || exit

	[ -z "$wrong" ] || lab_fail "unexpected: $(head -n 5 <<<"$wrong")"
}

check_mount() {
	local first="$client|$CONNPROP|0|12288|1" second="$server|$CONNPROP|1|12288|1"

	show "(${phase[mount]}) && rpcrdma2" ip.src rpcrdma2.htype \
		rpcrdma2.flags.response rpcrdma2.prop.rbsiz rpcrdma2.prop.brs >/run/sends
	head -n 4 /run/sends
	[ "$(head -n 2 /run/sends)" = "$first"$'\n'"$second" ] ||
		lab_fail "the connection does not begin with two CONNPROPs"
	has 2 "|$CONNPROP|" /run/sends
}

check_reads() {
	show "(${phase[reads]}) && rpcrdma2.xid" rpcrdma2.xid ip.src \
		nfs.read.data_length | sort -u >/run/reads
	has $reads "|$server|4096$" /run/reads
	has "$(grep -c "|$server|" /run/reads)" "|$client|" /run/reads
	[ "$registered" -eq 0 ] || lab_fail "memory was registered $registered times"
}

# Each Call has the right chunk. The server has written to each segment that a Reply returns.
check_chunks() {
	show "(${phase[chunks]}) && rpcrdma2.segment.handle" rpcrdma2.xid rpcrdma2 \
		nfs.opcode rpcrdma2.read.length rpcrdma2.write.length \
		rpcrdma2.reply.length rpcrdma2.segment.handle rpcrdma2.segment.length |
		sort -u >/run/chunks
	cut -d '|' -f 2-6,8 /run/chunks | sort | uniq -c
	has $transfers "MSG Call, 1 Read.*,$OP_WRITE|$large|||" /run/chunks
	has $transfers "MSG Call, 1 Write.*,$OP_READ||$large||" /run/chunks
	has $transfers "MSG Reply, 1 Write.*,$OP_READ||$large||" /run/chunks
	has 1 " MSG Call, .* Reply .*,$OP_READDIR|||[1-9]" /run/chunks
	has 1 "NOMSG Reply, .* Reply .*||||[1-9]" /run/chunks

	grep ' Reply, ' /run/chunks | cut -d '|' -f 7,8 | used_handles >/run/returned
	show "(${phase[chunks]}) && ($is_rdma) && ip.src == $server" "$written_to" |
		sort -u >/run/written
	[ -s /run/returned ] || lab_fail "no chunk was returned"
	! comm -23 /run/returned /run/written | grep . ||
		lab_fail "handles in Replies, but not in RDMA Writes"
}

# Print the handles of segments with a length. A line of input is HANDLE,...|LENGTH,...
used_handles() {
	awk -F '|' '{
		n = split($1, handle, ","); split($2, length_of, ",")
		for (i = 1; i <= n; i++)
			if (length_of[i] > 0)
				print handle[i]
	}' | sort -u
}

### Work

read_4k() {
	dd if="$LAB_MOUNT/file" of=/dev/null bs=4096 count=$reads iflag=direct
}

use_chunks() {
	dd if=/dev/urandom of="$LAB_MOUNT/large" bs=$large count=$transfers oflag=direct &&
	dd if="$LAB_MOUNT/large" of=/dev/null bs=$large count=$transfers iflag=direct &&
	ls "$LAB_MOUNT/names" >/dev/null
}

prepare_files() {
	dd if=/dev/urandom of="$LAB_MOUNT/file" bs=4096 count=$reads conv=fsync
	read_4k # the first read also opens the file and fetches attributes
	mkdir "$LAB_MOUNT/names"
	touch "$LAB_MOUNT/names/$(printf '%0200d' 0)"{1..100}
}

[ "$LAB_ROLE" = client ] || pair_server tmpfs "$provider"

must lab_rdma_up "$provider"
load_transport
must lab_wait ready 120
capture_start
during mount lab_mount 4.2
during preparation prepare_files
count_event register rpcrdma2/rpcrdma2_mr_register
during reads read_4k
registered=$(counted register)
during chunks use_chunks
capture_stop
pair_client_stop

check_all
check_mount
check_reads
check_chunks
