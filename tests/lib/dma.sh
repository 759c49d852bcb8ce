# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# DMA mappings and bounce buffers, as the kernel counts them.

# count_dma - set $mapped to the number of DMA mappings, if the kernel checks them, and
# $bounced to the slots of bounce buffers in use.
count_dma() {
	local checks=/sys/kernel/debug/dma-api all free

	mapped=0 bounced=0
	if [ -e $checks ]; then
		read -r all <$checks/nr_total_entries
		read -r free <$checks/num_free_entries
		mapped=$((all - free))
	fi
	read -r bounced 2>/dev/null </sys/kernel/debug/swiotlb/io_tlb_used || true
}

# dma_now_is_none - do not count the mappings that exist now: the test did not make them.
dma_now_is_none() {
	count_dma
	unmapped=$mapped unbounced=$bounced
}

dma_now_is_none

nothing_is_mapped() {
	lab_until 10 is_unmapped || lab_fail "$mapped mappings, before $unmapped;" \
		"$bounced bounce buffers in use, before $unbounced"
}

is_unmapped() {
	count_dma
	[ "$mapped" -le "$unmapped" ] && [ "$bounced" -le "$unbounced" ]
}

# dma_is_seen - check that DMA of a mount over mimic passes through this guest's bounce buffers or
# IOMMU, and that the kernel counts it
dma_is_seen() {
	local group=/sys/class/infiniband/r0/device/iommu_group

	count_dma
	! grep -q 'intel_iommu=on' /proc/cmdline || grep -q '^DMA' $group/type ||
		lab_fail "no IOMMU translates for r0"
	[ ! -e /sys/kernel/debug/dma-api ] || [ "$mapped" -gt "$unmapped" ] ||
		lab_fail "no mapping is checked"
	! grep -q 'swiotlb=.*force' /proc/cmdline || [ "$bounced" -gt "$unbounced" ] ||
		lab_fail "no bounce buffer is in use"
}
