/* SPDX-License-Identifier: GPL-2.0 */
/* Devices and their faults (device.c), and memory for DMA (buffer.c). */
#ifndef _RPCRDMA2_DEVICE_H
#define _RPCRDMA2_DEVICE_H

#include <rdma/ib_verbs.h>

/* device.c */
int rpcrdma2_device_setup(void);
void rpcrdma2_device_cleanup(void);
int rpcrdma2_device_check(const struct ib_device *dev);
bool rpcrdma2_device_takes_inv(const struct ib_device *dev);
void rpcrdma2_device_refuses_inv(struct ib_device *dev);
bool rpcrdma2_device_sends_references(const struct ib_device *dev);
bool rpcrdma2_device_answers_empty_reads(const struct ib_device *dev);
unsigned int rpcrdma2_device_vector(const struct ib_device *dev, bool active);

/* buffer.c */

/**
 * rpcrdma2_buffer_needs_sync - does a buffer need syncs around the device's accesses?
 * @dev: the device
 * @addr: DMA address, from rpcrdma2_buffer_alloc()
 *
 * Callers store the answer, which is valid as long as the mapping. Asking for each message
 * would touch three cache lines of the device and its parent.
 *
 * Context: Any.
 * Return: false if a sync does nothing: the device sees the CPU's caches, and the buffer is
 *	not bounced
 */
static inline bool rpcrdma2_buffer_needs_sync(struct ib_device *dev, u64 addr)
{
	return !ib_uses_virt_dma(dev) && dma_need_sync(dev->dma_device, addr);
}

/**
 * rpcrdma2_sg_reset - prepare an unmapped scatterlist for its next use
 * @sgl: its first entry
 *
 * When the DMA layer has bounced a list, it leaves a mark in the first entry. If a later mapping
 * is not bounced, the mark would still make the DMA layer unmap it as bounced.
 *
 * Context: Any.
 */
static inline void rpcrdma2_sg_reset(struct scatterlist *sgl)
{
#ifdef CONFIG_NEED_SG_DMA_FLAGS
	sgl->dma_flags = 0;
#endif
}

void *rpcrdma2_buffer_alloc(struct ib_device *dev, size_t size,
			    enum dma_data_direction dir, gfp_t gfp, u64 *addr);
void rpcrdma2_buffer_free(void *buf, size_t size);

#endif /* _RPCRDMA2_DEVICE_H */
