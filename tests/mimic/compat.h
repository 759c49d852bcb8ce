/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What differs between kernels for a device, by the probes in Kbuild. Each name
 * reads as in the newest one, or hides what changed.
 */
#ifndef MIMIC_COMPAT_H
#define MIMIC_COMPAT_H

#include <linux/dma-direct.h>

/* What create_cq is told of its user */
#ifdef RPCRDMA2_HAVE_CREATE_CQ_ATTRS
#define mimic_create_cq_arg	uverbs_attr_bundle
#else
#define mimic_create_cq_arg	ib_udata
#endif

/* What reg_user_mr has among its arguments, with a comma */
#ifdef RPCRDMA2_HAVE_REG_USER_MR_DMAH
#define MIMIC_DMAH_ARG		struct ib_dmah *dmah,
#else
#define MIMIC_DMAH_ARG
#endif

/* Where a device sees memory; newer kernels compute the offset. */
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
