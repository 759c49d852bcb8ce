// SPDX-License-Identifier: GPL-2.0
/*
 * Completion queues, and the vectors that their handlers are called by: a tasklet on
 * the vector's CPU, like an interrupt that stands for several CQs.
 */
#include <linux/delay.h>

#include "mimic.h"

/* Bits of mimic_cq.pending */
#define CQ_PENDING	0

static void vector_run(struct tasklet_struct *t)
{
	struct mimic_vector *vector = from_tasklet(vector, t, tasklet);
	struct llist_node *list = llist_del_all(&vector->pending);
	struct mimic_cq *cq, *next;

	list = llist_reverse_order(list);
	llist_for_each_entry_safe(cq, next, list, node) {
		/* From here on it may be put there again, ... */
		clear_bit(CQ_PENDING, &cq->pending);
		/* ... or destroyed, but not before this tasklet is over. */
		cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
	}
}

static void vector_interrupt(void *data)
{
	struct mimic_vector *vector = data;

	tasklet_hi_schedule(&vector->tasklet);
}

/* On any CPU, softirqs off */
static void vector_kick(struct mimic_cq *cq)
{
	struct mimic_vector *vector = cq->vector;

	if (test_and_set_bit(CQ_PENDING, &cq->pending))
		return;
	if (!llist_add(&cq->node, &vector->pending))
		return;
	if (vector->cpu == smp_processor_id() || !cpu_online(vector->cpu))
		tasklet_hi_schedule(&vector->tasklet);
	else
		smp_call_function_single_async(vector->cpu, &vector->csd);
}

int mimic_vectors_init(struct mimic_dev *dev)
{
	unsigned int i, n = dev->limits.vectors;
	int cpu = cpumask_first(cpu_online_mask);

	dev->vectors = kcalloc(n, sizeof(*dev->vectors), GFP_KERNEL);
	if (!dev->vectors)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		struct mimic_vector *vector = &dev->vectors[i];

		vector->cpu = cpu;
		init_llist_head(&vector->pending);
		tasklet_setup(&vector->tasklet, vector_run);
		INIT_CSD(&vector->csd, vector_interrupt, vector);
		cpu = cpumask_next(cpu, cpu_online_mask);
		if (cpu >= nr_cpu_ids)
			cpu = cpumask_first(cpu_online_mask);
	}
	dev->ib.num_comp_vectors = n;
	return 0;
}

void mimic_vectors_exit(struct mimic_dev *dev)
{
	unsigned int i;

	for (i = 0; dev->vectors && i < dev->limits.vectors; i++)
		tasklet_kill(&dev->vectors[i].tasklet);
	kfree(dev->vectors);
}

int mimic_create_cq(struct ib_cq *ib, const struct ib_cq_init_attr *attr,
		    struct mimic_create_cq_arg *unused)
{
	struct mimic_dev *dev = to_mimic(ib->device);
	struct mimic_cq *cq = to_mimic_cq(ib);
	int rc;

	if (!attr->cqe || attr->cqe > dev->limits.max_cqe)
		return -EINVAL;
	rc = mimic_refuse(dev, MIMIC_CREATE_CQ);
	if (rc)
		return rc;
	spin_lock_init(&cq->lock);
	cq->entries = attr->cqe;
	cq->ib.cqe = attr->cqe;
	cq->vector = &dev->vectors[attr->comp_vector % dev->limits.vectors];
	cq->ring = kvcalloc(roundup_pow_of_two(cq->entries),
			    sizeof(*cq->ring), GFP_KERNEL);
	return cq->ring ? 0 : -ENOMEM;
}

int mimic_destroy_cq(struct ib_cq *ib, struct ib_udata *udata)
{
	struct mimic_cq *cq = to_mimic_cq(ib);

	/* No QP has it, so that nothing is added. */
	while (test_bit(CQ_PENDING, &cq->pending))
		usleep_range(10, 100);
	tasklet_unlock_wait(&cq->vector->tasklet);
	kvfree(cq->ring);
	return 0;
}

static struct mimic_cqe *cqe_at(const struct mimic_cq *cq, u32 number)
{
	return &cq->ring[number & (roundup_pow_of_two(cq->entries) - 1)];
}

static void fill_cqe(struct mimic_cqe *cqe, const struct ib_wc *wc, u32 frees)
{
	cqe->cqe = wc->wr_cqe;
	cqe->qp = wc->qp;
	cqe->byte_len = wc->byte_len;
	cqe->ex = wc->ex.invalidate_rkey;
	cqe->src_qp = wc->src_qp;
	cqe->frees = frees;
	cqe->status = wc->status;
	cqe->opcode = wc->opcode;
	cqe->flags = wc->wc_flags;
	cqe->network_hdr_type = wc->network_hdr_type;
}

static void fill_wc(struct ib_wc *wc, const struct mimic_cqe *cqe)
{
	memset(wc, 0, sizeof(*wc));
	wc->wr_cqe = cqe->cqe;
	wc->qp = cqe->qp;
	wc->byte_len = cqe->byte_len;
	wc->ex.invalidate_rkey = cqe->ex;
	wc->src_qp = cqe->src_qp;
	wc->status = cqe->status;
	wc->opcode = cqe->opcode;
	wc->wc_flags = cqe->flags;
	wc->network_hdr_type = cqe->network_hdr_type;
	wc->port_num = 1;
}

/* Entries of the Send Queue are free again when their completion was seen. */
int mimic_poll_cq(struct ib_cq *ib, int max, struct ib_wc *wc)
{
	struct mimic_cq *cq = to_mimic_cq(ib);
	struct mimic_cqe *cqe;
	unsigned long flags;
	int n = 0;

	spin_lock_irqsave(&cq->lock, flags);
	while (n < max && cq->head != cq->tail) {
		cqe = cqe_at(cq, cq->tail++);
		if (!cqe->qp)
			continue;
		if (cqe->frees)
			atomic_add(cqe->frees, &to_mimic_qp(cqe->qp)->slots);
		fill_wc(&wc[n++], cqe);
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return n;
}

int mimic_req_notify_cq(struct ib_cq *ib, enum ib_cq_notify_flags flags)
{
	struct mimic_cq *cq = to_mimic_cq(ib);
	unsigned long irq_flags;
	int rc = 0;

	spin_lock_irqsave(&cq->lock, irq_flags);
	cq->armed = true;
	if ((flags & IB_CQ_REPORT_MISSED_EVENTS) && cq->head != cq->tail)
		rc = 1;
	spin_unlock_irqrestore(&cq->lock, irq_flags);
	return rc;
}

/**
 * mimic_complete - add a completion
 * @ib: to this CQ
 * @wc: the completion
 * @frees: Send Queue entries that are free once it was seen
 *
 * Softirqs off.
 */
void mimic_complete(struct ib_cq *ib, const struct ib_wc *wc, u32 frees)
{
	struct mimic_cq *cq = to_mimic_cq(ib);
	unsigned long flags;
	bool wake = false;

	spin_lock_irqsave(&cq->lock, flags);
	if (cq->head - cq->tail == cq->entries) {
		if (!cq->overrun)
			pr_err("mimic: ERROR: a CQ of %u entries overran\n",
			       cq->entries);
		cq->overrun = true;
	} else {
		fill_cqe(cqe_at(cq, cq->head++), wc, frees);
		wake = cq->armed;
		cq->armed = false;
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	if (wake && cq->ib.comp_handler)
		vector_kick(cq);
}

/* A QP is destroyed: what completions of it nobody has seen, nobody will. */
void mimic_cq_forget(struct ib_cq *ib, struct ib_qp *qp)
{
	struct mimic_cq *cq = to_mimic_cq(ib);
	unsigned long flags;
	u32 i;

	spin_lock_irqsave(&cq->lock, flags);
	for (i = cq->tail; i != cq->head; i++)
		if (cqe_at(cq, i)->qp == qp)
			cqe_at(cq, i)->qp = NULL;
	spin_unlock_irqrestore(&cq->lock, flags);
}
