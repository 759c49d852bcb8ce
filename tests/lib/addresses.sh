# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Addresses of servers and of clients.

# go_to ADDRESS FORMER - have all transports to a server's address FORMER use ADDRESS. This
# waits for at most one attempt to connect.
go_to() {
	local files file

	files=$(grep -lx "$2" /sys/kernel/sunrpc/xprt-switches/*/xprt-*/dstaddr) || return
	for file in $files; do
		timeout 10 sh -c "echo $1 >$file" || return
	done
}

# The number of addresses that a device's port can use: the index of an address is one octet.
ADDRESSES=250

# strangers_add DEVICE CLIENTS - give this machine CLIENTS addresses, from 10.77.1.0 on, and devices
# with these addresses. A client that connects to such an address also connects from it.
strangers_add() {
	local i

	for ((i = 0; i < $2; i++)); do
		[ $((i % ADDRESSES)) -ne 0 ] ||
			echo "link add strange$((i / ADDRESSES)) up type dummy"
		echo "address add 10.77.$((i / 256 + 1)).$((i % 256))/32" \
			"dev strange$((i / ADDRESSES))"
	done >/run/strangers
	must ip -batch /run/strangers
	for ((i = 0; i * ADDRESSES < $2; i++)); do
		must rdma link add "s$i" type "${1%%:*}" netdev "strange$i"
	done
}

# strangers_remove CLIENTS - undo strangers_add.
strangers_remove() {
	local i

	for ((i = 0; i * ADDRESSES < $1; i++)); do
		must rdma link delete "s$i"
		must ip link delete "strange$i"
	done
}
