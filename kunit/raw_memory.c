// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of operations, at both ends, and its registration.
 */
#include <linux/slab.h>
#include "raw_bench.h"

/**
 * raw_memory_size - what an operation has at either end
 *
 * Return: octets
 */
u32 raw_memory_size(void)
{
	return raw.job->size + RAW_HEADERS_SIZE;
}

/**
 * raw_memory_init - get memory, full of zeroes, and map it
 * @memory: zeroed
 * @size: octets
 *
 * Return: 0 or a negative errno, with nothing to undo
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
 * @memory: also if that failed
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
 * raw_sge - a part of memory, for a Send, a Receive or RDMA
 * @memory: the memory
 * @offset: where the part starts, octets
 * @length: octets
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
 * @wr: to be filled, but for its completion
 * @mr: what ib_map_mr_sg() prepared
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

/* For as long as the job runs: of the far end, which the near end's RDMA is for. */
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

/* RDMA is by the far end in an exchange, else by the near end. */
static bool raw_comes_from_far(void)
{
	if (raw.exchange)
		return raw.opcode == IB_WR_RDMA_WRITE;
	return raw.opcode == IB_WR_RDMA_READ;
}

/**
 * raw_slot_init - get the memory of an operation
 * @slot: zeroed
 *
 * Return: 0 or a negative errno; raw_slot_exit() frees what there is in any case.
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
 * @slot: of which no work request is under way
 */
void raw_slot_exit(struct raw_slot *slot)
{
	if (slot->mr)
		ib_dereg_mr(slot->mr);
	raw_memory_exit(&slot->near);
	raw_memory_exit(&slot->far);
}

/**
 * raw_slot_good - did the payload arrive?
 * @slot: of operations that ended
 *
 * Return: whether it is what was sent
 */
bool raw_slot_good(const struct raw_slot *slot)
{
	const struct raw_memory *to = raw_comes_from_far() ? &slot->near :
							     &slot->far;

	return !memchr_inv(to->start, RAW_PATTERN, raw.job->size);
}
