#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: many clients connect at once to a device that accepts slowly, while an older
# mount keeps working. The server accepts the clients in parallel. So many clients connect at
# once after a server restarts. The device is iWARP, where accepting is a verb, so the device
# can delay it.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

# The server accepts at most MOST connections of one address at a time. The other clients wait.
CLIENTS=80 MOST=64
# shellcheck disable=SC2034 # lib.sh uses it
PARAMETERS=heartbeat=1
faults=/sys/kernel/debug/mimic/r0/faults

waiting() { sed -n 's/^accept delay struck=//p' $faults; }

all_wait() { [ "$(waiting)" -ge $MOST ]; }

heartbeats() { awk '$1 == "heartbeats:" { print $2 }' "$mine"; }

goes_on() { [ "$(heartbeats)" -gt "$before" ]; }

nfs_start mimic:cxgb4
must lab_mount 3 nolock
mine=$(connection_of server)
# "clear" below ends the delay earlier.
echo "accept delay ms=25000 times=0" >$faults
lab_insmod rpcrdma2_echo_kunit only=many_clients_connect_at_once clients=$CLIENTS &
lab_until 20 all_wait ||
	lab_fail "$(waiting) of $CLIENTS clients are being accepted"
before=$(heartbeats)
lab_until 5 goes_on || lab_fail "the mount has no heartbeat meanwhile"
echo clear >$faults
must wait $!
dmesg | grep -E '^[^#]*\] *ok .*many_clients_connect_at_once' ||
	lab_fail "not all were served"
must rmmod rpcrdma2_echo_kunit
must umount "$LAB_MOUNT"
nfs_stop
echo "$MOST at a time"
