// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of the operations at both ends, and its registration. The functions run in
 * process context before and after a job, but for raw_sge() and raw_registration(),
 * which run in any.
 */
#include <linux/slab.h>
#include "raw_bench.h"

/**
 * raw_memory_size - the memory of an operation at each end
 *
 * Context: any.
 *
 * Return: octets.
 */
u32 raw_memory_size(void)
{
	return raw.job->size + RAW_HEADERS_SIZE;
}

/**
 * raw_memory_init - allocate zeroed memory, and map it for DMA
 * @memory: receives the memory
 * @size: octets
 *
 * Context: process, may sleep.
 *
 * Return: 0 or a negative errno, and then there is nothing to undo.
 */
int raw_memory_init(struct raw_memory *memory, u32 size)
{
	void *start = alloc_pages_exact(size, GFP_KERNEL | __GFP_ZERO);

	if (!start)
		return -ENOMEM;
	sg_init_one(&memory->sg, start, size);
	if (ib_dma_map_sg(raw.pd->device, &memory->sg, 1,
			  DMA_BIDIRECTIONAL) != 1) {
		free_pages_exact(start, size);
		return -EIO;
	}
	memory->start = start;
	return 0;
}

/**
 * raw_memory_exit - undo raw_memory_init()
 * @memory: the memory; nothing happens if there is none
 *
 * Context: process, may sleep.
 */
void raw_memory_exit(struct raw_memory *memory)
{
	u32 size = memory->sg.length;

	if (!memory->start)
		return;
	ib_dma_unmap_sg(raw.pd->device, &memory->sg, 1, DMA_BIDIRECTIONAL);
	free_pages_exact(memory->start, size);
	memory->start = NULL;
}

/**
 * raw_sge - make the SGE of a part of memory
 * @memory: the memory
 * @offset: start of the part, in octets
 * @length: octets of the part
 *
 * Context: any.
 *
 * Return: the SGE.
 */
struct ib_sge raw_sge(const struct raw_memory *memory, u32 offset, u32 length)
{
	return (struct ib_sge) {
		.addr	= sg_dma_address(&memory->sg) + offset,
		.length	= length,
		.lkey	= raw.pd->local_dma_lkey,
	};
}

/**
 * raw_registration - make a work request that registers memory
 * @wr: receives the work request, without a completion
 * @mr: registration that ib_map_mr_sg() has prepared
 *
 * Context: any.
 */
void raw_registration(struct ib_reg_wr *wr, struct ib_mr *mr)
{
	*wr = (struct ib_reg_wr) {
		.wr.opcode	= IB_WR_REG_MR,
		.mr		= mr,
		.key		= mr->rkey,
		.access		= IB_ACCESS_LOCAL_WRITE |
				  IB_ACCESS_REMOTE_READ |
				  IB_ACCESS_REMOTE_WRITE,
	};
}

static void raw_registered(struct ib_cq *cq, struct ib_wc *wc)
{
	raw.status = wc->status == IB_WC_SUCCESS ? 0 : -EIO;
	complete(&raw.event);
}

/* Register the far end's memory once for the whole job; the near end's RDMA uses it. */
static int raw_register_far(struct raw_slot *slot)
{
	struct ib_cqe done = { .done = raw_registered };
	struct ib_reg_wr wr;

	if (ib_map_mr_sg(slot->mr, &slot->far.sg, 1, NULL, PAGE_SIZE) != 1)
		return -EIO;
	raw_registration(&wr, slot->mr);
	wr.wr.wr_cqe = &done;
	wr.wr.send_flags = IB_SEND_SIGNALED;
	return raw_wait(ib_post_send(raw.far->qp, &wr.wr, NULL));
}

static int raw_mr_init(struct raw_slot *slot)
{
	unsigned int pages = DIV_ROUND_UP(raw_memory_size(), PAGE_SIZE);
	struct ib_mr *mr;

	mr = ib_alloc_mr(raw.pd, IB_MR_TYPE_MEM_REG, pages);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	slot->mr = mr;
	return raw.exchange ? 0 : raw_register_far(slot);
}

/* The far end does the RDMA in an exchange, the near end in all other operations. */
static bool raw_comes_from_far(void)
{
	if (raw.exchange)
		return raw.opcode == IB_WR_RDMA_WRITE;
	return raw.opcode == IB_WR_RDMA_READ;
}

/**
 * raw_slot_init - allocate the memory of a slot
 * @slot: the slot, all zeros
 *
 * The caller calls raw_slot_exit() after a failure, too.
 *
 * Context: process, may sleep.
 *
 * Return: 0 or a negative errno.
 */
int raw_slot_init(struct raw_slot *slot)
{
	struct raw_memory *from;
	int ret;

	ret = raw_memory_init(&slot->near, raw_memory_size());
	if (!ret)
		ret = raw_memory_init(&slot->far, raw_memory_size());
	if (ret)
		return ret;
	from = raw_comes_from_far() ? &slot->far : &slot->near;
	memset(from->start, RAW_PATTERN, raw.job->size);
	return raw.opcode == IB_WR_SEND ? 0 : raw_mr_init(slot);
}

/**
 * raw_slot_exit - undo raw_slot_init()
 * @slot: a slot without a work request under way
 *
 * Context: process, may sleep.
 */
void raw_slot_exit(struct raw_slot *slot)
{
	if (slot->mr)
		ib_dereg_mr(slot->mr);
	raw_memory_exit(&slot->near);
	raw_memory_exit(&slot->far);
}

/**
 * raw_slot_good - check that the payload has arrived
 * @slot: a slot whose operations have ended
 *
 * Context: any.
 *
 * Return: true if the payload is what the source held.
 */
bool raw_slot_good(const struct raw_slot *slot)
{
	const struct raw_memory *to = raw_comes_from_far() ? &slot->near :
							     &slot->far;

	return !memchr_inv(to->start, RAW_PATTERN, raw.job->size);
}
