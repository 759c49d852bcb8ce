#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: Shared Receive Queues of mimic and rxe behave as a server expects.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

counter() { cat "/sys/class/infiniband/r0/ports/1/hw_counters/$1"; }

# Print how often the device must report that a QP takes no more Receives. An older rxe never
# reports it. A newer one, which has rxe_receiver(), may do so any number of times (-1).
tells() {
	case $1 in
	mimic)	echo 1 ;;
	rxe)	if grep -qw rxe_receiver /proc/kallsyms; then echo -1; else echo 0; fi ;;
	esac
}

for device in mimic rxe; do
	must lab_rdma_up $device
	dmesg -C
	must lab_insmod rpcrdma2_srq_kunit last_wqe="$(tells $device)"
	dmesg | grep -E '^[^#]*\] *(not )?ok '
	! dmesg | grep -qE '^[^#]*\] *not ok ' || { dmesg; lab_fail "$device"; }
	dmesg | grep -qE '^[^#]*\] *ok .*message_without_receive' || lab_fail "no test ran"
	# Three messages were tried again at least once, and one was not.
	[ "$(counter send_rnr_err)" -ge 4 ] ||
		lab_fail "$device: $(counter send_rnr_err) RNR NAKs were counted"
	[ "$(counter rcvd_rnr_err)" -eq "$(counter send_rnr_err)" ] ||
		lab_fail "$device: $(counter rcvd_rnr_err) of $(counter send_rnr_err) RNR NAKs arrived"
	must rmmod rpcrdma2_srq_kunit
	must rdma link delete r0
done
