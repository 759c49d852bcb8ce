// SPDX-License-Identifier: GPL-2.0
/*
 * What the device counts: /sys/class/infiniband/DEVICE/ports/1/hw_counters. A count has
 * the name that it has with rxe.
 */
#include "mimic.h"

static const struct rdma_stat_desc descs[] = {
	[MIMIC_SENT_RNR].name		= "send_rnr_err",
	[MIMIC_GOT_RNR].name		= "rcvd_rnr_err",
	[MIMIC_RNR_EXCEEDED].name	= "retry_rnr_exceeded_err",
};

/**
 * mimic_count - count something
 * @dev: of this device
 * @what: which
 *
 * Any context.
 */
void mimic_count(struct mimic_dev *dev, enum mimic_count what)
{
	atomic64_inc(&dev->counts[what]);
}

struct rdma_hw_stats *mimic_alloc_stats(struct ib_device *ib, u32 port)
{
	BUILD_BUG_ON(ARRAY_SIZE(descs) != MIMIC_COUNTS);

	/* A count is never older than its reader. */
	return rdma_alloc_hw_stats_struct(descs, ARRAY_SIZE(descs), 0);
}

int mimic_get_stats(struct ib_device *ib, struct rdma_hw_stats *stats, u32 port,
		    int index)
{
	struct mimic_dev *dev = to_mimic(ib);
	int i;

	for (i = 0; i < MIMIC_COUNTS; i++)
		stats->value[i] = atomic64_read(&dev->counts[i]);
	return MIMIC_COUNTS;
}
