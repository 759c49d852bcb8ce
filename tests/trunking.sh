#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: a client uses two addresses of one server, on two devices, one of which goes
# away. RPCs go over both paths. A lost path delays its RPCs, and loses none of them. They go on
# when the path is back, or when an administrator changes its address. (Linux has no fail-over
# here: Documentation/admin/availability.rst.)
#
#	trunking.sh PROVIDER [trunkdiscovery]
#
# With trunkdiscovery, the server states its addresses. Then Linux 6.1 sleeps within
# rcu_read_lock(), over any transport. Lockdep reports that, and turns itself off.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

provider=$1
other=192.168.79.1

add_other_device() { rdma link add r1 type "$provider" netdev dummy1; }

# calls_to ADDRESS - print the number of Calls on the client's connection to ADDRESS
calls_to() {
	# shellcheck disable=SC2046 # several files
	awk -v peer="$1:20049" '
	$1 == "peer_address:" { found = $2 == peer }
	$1 == "calls_sent:" && found { print $2 }' $(connection_of client)
}

# goes_both_ways WHAT - check that each path takes at least a third of the RPCs
goes_both_ways() {
	local one two
	one=$(calls_to "$LAB_SERVER") two=$(calls_to $other)

	echo "$1: $one Calls to $LAB_SERVER, $two to $other"
	((one > 100 && 3 * one > one + two && 3 * two > one + two)) ||
		lab_fail "$1: not both ways"
}

must ip link add dummy1 type dummy
must ip link set dummy1 mtu 9000 up
must ip address add $other/24 dev dummy1
nfs_start "$provider"
must add_other_device

# Mount by both addresses: the second mount adds its path to the first one.
must lab_mount 4.2 max_connect=2
mkdir -p /run/other
must mount -t nfs -o vers=4.2,proto=rdma,port=20049,max_connect=2 $other:/ /run/other
must umount /run/other
work files
goes_both_ways max_connect
load_start
must rdma link delete r1
sleep 5
must add_other_device
must load_advances 60
must rdma link delete r1
sleep 5
SECONDS=0
must go_to "$LAB_SERVER" $other
must load_advances 60
echo "a way that leads elsewhere: the mount went on after $SECONDS s"
must load_stop
must umount "$LAB_MOUNT"

if [ "${2:-}" != trunkdiscovery ]; then
	nfs_stop
	exit
fi

# Mount once: the server states its other address.
must add_other_device
must exportfs -u "*:$LAB_EXPORT"
must exportfs -o "rw,no_root_squash,insecure,fsid=0,no_subtree_check,replicas=/@$other" \
	"*:$LAB_EXPORT"
must lab_mount 4.2 max_connect=2,trunkdiscovery
work files again
goes_both_ways trunkdiscovery
must umount "$LAB_MOUNT"
must rdma link delete r1
nfs_stop
