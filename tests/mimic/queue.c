// SPDX-License-Identifier: GPL-2.0
/*
 * Rings of work requests, as queue pairs and shared receive queues use them. A ring's
 * user does the locking.
 *
 * The numbers of entries grow without limit and wrap at 2^32. Compare them by
 * subtraction.
 */
#include "mimic.h"

/**
 * mimic_queue_init - allocate a ring
 * @q: the ring
 * @entries: entries that may be in use; 0: no ring
 * @max_sge: SGEs of an entry
 *
 * Context: process, may sleep.
 *
 * Return: 0 or -ENOMEM.
 */
int mimic_queue_init(struct mimic_queue *q, u32 entries, u32 max_sge)
{
	struct mimic_wqe *wqe;

	spin_lock_init(&q->lock);
	q->entries = entries;
	q->max_sge = max_sge;
	q->stride = ALIGN(struct_size(wqe, sge, max_sge), 64);
	if (!entries)
		return 0;
	q->size = roundup_pow_of_two(entries);
	q->ring = kvcalloc(q->size, q->stride, GFP_KERNEL);
	return q->ring ? 0 : -ENOMEM;
}

/**
 * mimic_queue_free - free a ring
 * @q: the ring; nobody uses it any more
 *
 * Context: process.
 */
void mimic_queue_free(struct mimic_queue *q)
{
	kvfree(q->ring);
}

/**
 * mimic_queue_at - find an entry
 * @q: the ring
 * @number: number of the entry, which wraps around the ring
 *
 * Context: any.
 *
 * Return: the entry.
 */
struct mimic_wqe *mimic_queue_at(const struct mimic_queue *q, u32 number)
{
	return q->ring + (size_t)(number & (q->size - 1)) * q->stride;
}

/**
 * mimic_queue_recv - put a Receive on a ring
 * @q: the ring
 * @wr: the Receive
 *
 * Context: any; the caller holds the ring's lock.
 *
 * Return: 0; -EINVAL if @wr has too many SGEs; -ENOMEM if the ring is full.
 */
int mimic_queue_recv(struct mimic_queue *q, const struct ib_recv_wr *wr)
{
	struct mimic_wqe *wqe;

	lockdep_assert_held(&q->lock);

	if (wr->num_sge > q->max_sge)
		return -EINVAL;
	if (q->head - q->tail == q->entries)
		return -ENOMEM;
	wqe = mimic_queue_at(q, q->head);
	wqe->cqe = wr->wr_cqe;
	wqe->num_sge = wr->num_sge;
	memcpy(wqe->sge, wr->sg_list, wr->num_sge * sizeof(*wqe->sge));
	q->head++;
	return 0;
}
