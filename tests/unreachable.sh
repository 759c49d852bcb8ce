#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: a server that nothing reaches, and no answer says so. Neither do
# others notice, nor is anything left of the attempts.
#
#	unreachable.sh PROVIDER
#
# The guest's network device drops what is for nobody. siw's driver connects when it
# is asked to, and sleeps until TCP gives up: here after 31 s, while the module lets
# a connection take 30 s.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

nobody=${LAB_SERVER%.*}.99

attempts_ended() { [ "$(counted closed)" -ge "$1" ]; }
all_closed() { [ "$(counted closed)" -eq "$(counted made)" ]; }

nfs_start "$1"
must sysctl -q -w net.ipv4.tcp_syn_retries=4
count_event made rpcrdma2/rpcrdma2_conn_new
count_event closed rpcrdma2/rpcrdma2_conn_close
mkdir /run/nobody
mount.nfs "$nobody:/" /run/nobody -o vers=4.2,proto=rdma,port=20049,retry=0 &
mounter=$!
sleep 2

SECONDS=0
must lab_mount 4.2
echo "another mount took $SECONDS s"
[ $SECONDS -le 10 ] || lab_fail "another mount took $SECONDS s"
work files

# Twice: the second attempt finds what the first one left.
must lab_until 150 attempts_ended 2
kill $mounter
wait $mounter && lab_fail "nobody's export was mounted"
must umount "$LAB_MOUNT"
# An attempt that is under way is not cut short.
must lab_until 60 all_closed
nfs_stop
