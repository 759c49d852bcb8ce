// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of a device, in /sys/class/infiniband/DEVICE/ports/1/hw_counters. They have
 * rxe's names, so that a test reads the same files on both devices.
 */
#include "mimic.h"

static const struct rdma_stat_desc descs[] = {
	[MIMIC_SENT_RNR].name		= "send_rnr_err",
	[MIMIC_GOT_RNR].name		= "rcvd_rnr_err",
	[MIMIC_RNR_EXCEEDED].name	= "retry_rnr_exceeded_err",
};

/**
 * mimic_count - add one to a counter
 * @dev: device that counts
 * @what: the counter
 *
 * Context: any.
 */
void mimic_count(struct mimic_dev *dev, enum mimic_count what)
{
	atomic64_inc(&dev->counts[what]);
}

/**
 * mimic_alloc_stats - alloc_hw_port_stats verb
 * @ib: the device
 * @port: number of the port, 1
 *
 * Context: process.
 *
 * Return: memory for the counters, or NULL.
 */
struct rdma_hw_stats *mimic_alloc_stats(struct ib_device *ib, u32 port)
{
	BUILD_BUG_ON(ARRAY_SIZE(descs) != MIMIC_COUNTS);

	/* A lifespan of 0 has the core read the counters anew for each reader. */
	return rdma_alloc_hw_stats_struct(descs, ARRAY_SIZE(descs), 0);
}

/**
 * mimic_get_stats - get_hw_stats verb
 * @ib: the device
 * @stats: receives the counters
 * @port: number of the port, 1
 * @index: counter that the core wants; all are read
 *
 * Context: process.
 *
 * Return: the number of counters.
 */
int mimic_get_stats(struct ib_device *ib, struct rdma_hw_stats *stats, u32 port,
		    int index)
{
	struct mimic_dev *dev = to_mimic(ib);
	int i;

	for (i = 0; i < MIMIC_COUNTS; i++)
		stats->value[i] = atomic64_read(&dev->counts[i]);
	return MIMIC_COUNTS;
}
