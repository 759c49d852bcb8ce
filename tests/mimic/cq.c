// SPDX-License-Identifier: GPL-2.0
/*
 * Completion queues, and the completion vectors that call their handlers. A vector is a
 * tasklet on one CPU, which stands for an interrupt that several CQs share.
 *
 * Owns the rings of CQs and the vectors' lists. The engine adds completions with
 * softirqs off; ULPs poll and arm a CQ in any context; handlers run in softirq context.
 */
#include <linux/delay.h>

#include "mimic.h"

/* Bit of mimic_cq.pending: the CQ is on its vector's list, or about to be. */
#define CQ_PENDING	0

static void vector_run(struct tasklet_struct *t)
{
	struct mimic_vector *vector = from_tasklet(vector, t, tasklet);
	struct llist_node *list = llist_del_all(&vector->pending);
	struct mimic_cq *cq, *next;

	list = llist_reverse_order(list);
	llist_for_each_entry_safe(cq, next, list, node) {
		/*
		 * The handler may cause another completion, so let vector_kick() queue
		 * @cq again.
		 */
		clear_bit(CQ_PENDING, &cq->pending);
		/*
		 * mimic_destroy_cq() may find the bit clear and free @cq, but first
		 * waits for this tasklet.
		 */
		cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
	}
}

static void vector_interrupt(void *data)
{
	struct mimic_vector *vector = data;

	tasklet_hi_schedule(&vector->tasklet);
}

/* Softirqs are off. */
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

/**
 * mimic_vectors_init - spread a device's completion vectors over the CPUs
 * @dev: the device, whose limits are set
 *
 * Context: process.
 *
 * Return: 0 or -ENOMEM.
 */
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

/**
 * mimic_vectors_exit - free a device's completion vectors
 * @dev: the device, which has no CQ any more
 *
 * Context: process, may sleep.
 */
void mimic_vectors_exit(struct mimic_dev *dev)
{
	unsigned int i;

	for (i = 0; dev->vectors && i < dev->limits.vectors; i++)
		tasklet_kill(&dev->vectors[i].tasklet);
	kfree(dev->vectors);
}

/**
 * mimic_create_cq - create_cq verb
 * @ib: the CQ
 * @attr: number of entries, completion vector
 * @unused: not used
 *
 * Context: process, may sleep.
 *
 * Return: 0; -EINVAL for a size that the device lacks; -ENOMEM; an error that a fault
 *	asks for.
 */
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

/**
 * mimic_destroy_cq - destroy_cq verb
 * @ib: the CQ, which no QP uses any more
 * @udata: not used
 *
 * Waits for a running handler.
 *
 * Context: process, may sleep.
 *
 * Return: 0.
 */
int mimic_destroy_cq(struct ib_cq *ib, struct ib_udata *udata)
{
	struct mimic_cq *cq = to_mimic_cq(ib);

	/* No QP uses the CQ, so nobody sets the bit again. */
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

/**
 * mimic_poll_cq - poll_cq verb
 * @ib: the CQ
 * @max: entries of @wc
 * @wc: receives the completions
 *
 * An entry of a Send Queue becomes free here, not when it was executed.
 *
 * Context: any.
 *
 * Return: number of completions.
 */
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

/**
 * mimic_req_notify_cq - req_notify_cq verb
 * @ib: the CQ
 * @flags: IB_CQ_REPORT_MISSED_EVENTS, or not; IB_CQ_SOLICITED counts as any completion
 *
 * Context: any.
 *
 * Return: 1 if the CQ has completions and the caller wants to know; else 0.
 */
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
 * mimic_complete - add a completion to a CQ
 * @ib: the CQ
 * @wc: the completion
 * @frees: Send Queue entries that become free when the ULP polls this completion
 *
 * Logs an error if the CQ overruns; the completion is lost then.
 *
 * Context: softirqs off.
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

/**
 * mimic_cq_forget - drop the completions of a QP that is destroyed
 * @ib: the CQ
 * @qp: the QP
 *
 * Context: any.
 */
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
