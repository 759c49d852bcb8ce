#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: when a connection can't be made, one line in the log names the server, the
# device, the step and the reason. All mounts of a server share the line. After a minute of
# failures, the log gets another one.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

failures() { dmesg | grep "rpcrdma2: no connection to $1:20049"; }

reported() { [ "$(failures "$1" | wc -l)" -eq "$2" ]; }

# mount_in_vain SERVER OPTION - try to mount in the background, until killed
mount_in_vain() {
	mkdir -p "/run/$1.$2"
	mount.nfs "$1:/" "/run/$1.$2" -o "proto=rdma,port=20049,$2" &
	mounters+=($!)
}

attempts_ended() { [ "$(counted closed)" -ge "$1" ]; }

# says SERVER WORDS - check that the log has one line about SERVER, and WORDS in it
says() {
	reported "$1" 1 || {
		failures "$1"
		lab_fail "not one line about $1"
	}
	failures "$1"
	failures "$1" | grep -qF -e "$2" || lab_fail "no '$2' about $1"
}

mounters=()
nfs_start rxe
must rpc.nfsd 0
must rpc.nfsd --no-udp 8
count_event closed rpcrdma2/rpcrdma2_conn_close
SECONDS=0
mount_in_vain "$LAB_SERVER" vers=4.2
mount_in_vain "$LAB_SERVER" vers=4.1
must lab_until 60 attempts_ended 4
[ $SECONDS -lt 55 ] || lab_fail "four attempts took $SECONDS s"
says "$LAB_SERVER" "(device r0, port 1), connecting: nobody listens for RDMA at that port (error -111: invalid service ID)"

# The interface that leads to this server has no RDMA device.
must ip link add dummy7 type dummy
must ip link set dummy7 up
must ip address add 192.168.79.1/24 dev dummy7
mount_in_vain 192.168.79.2 vers=4.2
must lab_until 20 reported 192.168.79.2 1
says 192.168.79.2 "(device none, port 0), resolving the address: no RDMA device leads there"

# A mount that still fails after a minute is reported again.
must lab_until 70 reported "$LAB_SERVER" 2
[ $SECONDS -ge 60 ] || lab_fail "two lines within $SECONDS s"

kill "${mounters[@]}"
wait "${mounters[@]}"
must nfs_stop
