#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: many clients connect at once to a device that accepts slowly, and an older
# mount continues. The server accepts them at the same time, as after its restart. The device
# is iWARP, where to accept is a verb of its own.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

# One address has so many places; the other clients wait for one.
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
# No longer than a client waits
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
