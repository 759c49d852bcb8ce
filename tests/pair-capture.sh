#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Script of both guests: what passes between them, as captured at the client's
# network device. A 4 KiB read is one Send each way: no RDMA, no registration.

# shellcheck source=tests/lib.sh
. "$LAB_TREE/tests/lib.sh"

reads=50
client=192.168.78.2

# capture NAME COMMAND... - what passes while COMMAND runs, as /run/NAME.pcap
capture() {
	local name=$1 tcpdump
	shift

	tcpdump -i "$LAB_NETDEV" -U -w "/run/$name.pcap" -B 16384 udp port 4791 2>"/run/$name.tcpdump" &
	tcpdump=$!
	lab_until 20 grep -q 'listening on' "/run/$name.tcpdump" || lab_fail "no tcpdump"
	must "$@"
	sleep 1
	kill -INT $tcpdump
	wait $tcpdump
}

report() { must "$LAB_TREE/tests/pcap.py" "/run/$1.pcap" $client "$2"; }

# Sends of the last capture that are, or are not, like a pattern
sends() { grep -c "$@" /run/sends; }

check_versions() {
	[ "$(sends -v vers=2)" -eq 0 ] ||
		lab_fail "not of version 2: $(grep -v -m 3 vers=2 /run/sends)"
}

check_mount() {
	report mount messages >/run/sends
	head -n 4 /run/sends
	check_versions
	head -n 1 /run/sends | grep -q '^client CONNPROP.* response=0' ||
		lab_fail "the first message is not the client's CONNPROP"
	sed -n 2p /run/sends | grep -q '^server CONNPROP.* response=1' ||
		lab_fail "the second message is not the server's CONNPROP"
}

check_reads() {
	report reads messages >/run/sends
	report reads operations | tee /run/operations
	check_versions
	[ "$(sends -E '^server MSG .*length=4[0-9]{3}$')" -ge $reads ] ||
		lab_fail "fewer than $reads Replies of 4 KiB: $(head /run/sends)"
	[ "$(sends '^client')" -eq "$(sends '^server')" ] ||
		lab_fail "not one Send each way: $(cut -c 1-12 /run/sends | sort | uniq -c)"
	! grep -E '^(read|write)' /run/operations || lab_fail "there was RDMA"
	[ "$(counted register)" -eq 0 ] ||
		lab_fail "memory was registered $(counted register) times"
}

read_4k() {
	dd if="$LAB_MOUNT/file" of=/dev/null bs=4096 count=$reads iflag=direct
}

[ "$LAB_ROLE" = client ] || pair_server tmpfs

must lab_rdma_up rxe
must lab_insmod rpcrdma2
must lab_wait ready 120
capture mount lab_mount 4.2
check_mount
must dd if=/dev/urandom of="$LAB_MOUNT/file" bs=4096 count=$reads conv=fsync
must read_4k # opens it for the first time, and looks at more than data
count_event register rpcrdma2/rpcrdma2_mr_register
capture reads read_4k
check_reads
pair_client_stop
