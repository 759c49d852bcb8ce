// SPDX-License-Identifier: GPL-2.0
/*
 * Rings of work requests. Numbers of entries only grow; they are compared as
 * differences.
 */
#include "mimic.h"

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

void mimic_queue_free(struct mimic_queue *q)
{
	kvfree(q->ring);
}

struct mimic_wqe *mimic_queue_at(const struct mimic_queue *q, u32 number)
{
	return q->ring + (size_t)(number & (q->size - 1)) * q->stride;
}

/* Put a Receive on a Queue. The caller holds its lock. */
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
