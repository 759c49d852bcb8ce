/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Differences between kernels that matter to a device driver, as probe.mk finds them.
 * Each name has its meaning in the newest kernel, or hides an argument that a kernel
 * lacks.
 */
#ifndef MIMIC_COMPAT_H
#define MIMIC_COMPAT_H

#include <linux/dma-direct.h>

/* Type of the last argument of create_cq */
#ifdef RPCRDMA2_HAVE_CREATE_CQ_ATTRS
#define mimic_create_cq_arg	uverbs_attr_bundle
#else
#define mimic_create_cq_arg	ib_udata
#endif

/* An argument of reg_user_mr that some kernels lack, with its comma */
#ifdef RPCRDMA2_HAVE_REG_USER_MR_DMAH
#define MIMIC_DMAH_ARG		struct ib_dmah *dmah,
#else
#define MIMIC_DMAH_ARG
#endif

/* Map memory of the CPU at @cpu to DMA addresses at @dma, @size octets. */
static inline void mimic_set_dma_region(struct bus_dma_region *region,
					phys_addr_t cpu, dma_addr_t dma,
					u64 size)
{
	region->cpu_start = cpu;
	region->dma_start = dma;
	region->size = size;
#ifdef RPCRDMA2_HAVE_DMA_REGION_OFFSET
	region->offset = cpu - dma;
#endif
}

#endif /* MIMIC_COMPAT_H */
