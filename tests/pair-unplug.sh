#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Script of both guests: the RDMA device of one end goes away under load, and comes back. The
# other end's device stays. (unplug.sh has both ends on one device.)

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

unplug() {
	must timeout 60 rdma link delete r0
	sleep 1
	must lab_rdma_up rxe
}

# The client calls this function of the server.
unplug_server() {
	unplug
	lab_signal unplugged
}

# load_goes_on WHAT - check that the load goes on after the loss of this device
load_goes_on() {
	load_advances 90 || lab_fail "the mount did not come back after $1"
	echo "$1: the mount is back after $SECONDS s"
}

if [ "$LAB_ROLE" = server ]; then
	nfs_start rxe
	lab_signal ready
	answer unplug_server
	nfs_stop
	exit
fi
pair_client 4.2
load_start
for _ in 1 2; do
	SECONDS=0
	unplug
	load_goes_on "the client's device"
	SECONDS=0
	lab_signal unplug_server
	must lab_wait unplugged 60
	load_goes_on "the server's device"
done
load_stop
pair_client_stop
