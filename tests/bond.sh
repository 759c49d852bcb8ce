#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: a bond fails over under load, and the nfsd that listens at its address keeps
# working. The server must listen at the new link, and the client must connect again. On rxe,
# the old link is still reachable, because GIDs are made of IP addresses there.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

LAB_SERVER=192.168.79.1

# make_bond - make a bond of two links. It has the MAC address of its active link.
make_bond() {
	must ip link add bond7 type bond mode active-backup fail_over_mac active
	for link in dummy1 dummy2; do
		must ip link add $link type dummy
		must ip link set $link master bond7
	done
	must ip link set bond7 up
	must ip address add $LAB_SERVER/24 dev bond7
}

link_address() { cat /sys/class/net/bond7/address; }

# listening_id - print the number of the CM id that listens at the server's address.
listening_id() {
	rdma resource show cm_id |
		sed -n "s/.* cm-idn \([0-9]*\) .*state LISTEN .*src-addr $LAB_SERVER:20049.*/\1/p"
}

listens_anew() { [ -n "$(listening_id)" ] && [ "$(listening_id)" != "$id" ]; }

make_bond
must lab_rdma_up rxe bond7
load_transport
nfs_serve_at_address
must lab_mount 4.2
work names
load_start
count_event lost rpcrdma2/rpcrdma2_conn_close 'status == -99'
before=$(link_address)
id=$(listening_id)
[ -n "$id" ] || lab_fail "nobody listens"
case $(cat /sys/class/net/bond7/bonding/active_slave) in
dummy1)	other=dummy2 ;;
*)	other=dummy1 ;;
esac
echo $other >/sys/class/net/bond7/bonding/active_slave
[ "$(link_address)" != "$before" ] || lab_fail "the address is the same"
lab_until 10 listens_anew || lab_fail "nobody listens at the new link"
load_advances 60 || lab_fail "the mount did not come back"
must load_stop
[ "$(counted lost)" -ge 2 ] || lab_fail "the connection stayed at the old link"
must umount "$LAB_MOUNT"
must timeout 60 mount -t nfs -o vers=4.2,proto=rdma,port=20049,retry=0 \
	$LAB_SERVER:/ "$LAB_MOUNT"
work names after
must umount "$LAB_MOUNT"
nfs_stop
