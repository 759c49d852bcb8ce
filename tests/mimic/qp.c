// SPDX-License-Identifier: GPL-2.0
/*
 * The verbs of queue pairs and shared receive queues. engine.c executes the work
 * requests.
 *
 * Owns the QPs in mimic_qps, their Queues and their states. ULPs post in any context,
 * also with interrupts off; the other verbs run in process context. The doorbell, two
 * delayed works and moves to ERR schedule a QP's engine. mimic_destroy_qp() stops all of
 * them before it frees the QP.
 */
#include <linux/delay.h>

#include "mimic.h"

/* Bit of mimic_qp.kicked: the interrupt of the engine's CPU is under way. */
#define QP_KICKED	0

static void raise_events(struct work_struct *work)
{
	struct mimic_qp *qp = container_of(work, struct mimic_qp, event_work);
	struct ib_event event = {
		.device		= qp->ib.device,
		.element.qp	= &qp->ib,
	};
	int i;

	for (i = 0; i < BITS_PER_LONG; i++) {
		if (!test_and_clear_bit(i, &qp->events))
			continue;
		event.event = i;
		if (qp->ib.event_handler)
			qp->ib.event_handler(&event, qp->ib.qp_context);
	}
}

/**
 * mimic_qp_event - have a workqueue raise an event
 * @qp: the QP
 * @event: the event; nothing happens if the real device's driver does not raise it
 *
 * Context: any.
 */
void mimic_qp_event(struct mimic_qp *qp, enum ib_event_type event)
{
	if (!(qp->dev->limits.events & BIT(event)))
		return;
	set_bit(event, &qp->events);
	queue_work(mimic_wq, &qp->event_work);
}

/**
 * mimic_qp_state - move a QP to another state
 * @qp: the QP
 * @state: the state; in ERR, the engine flushes both Queues
 *
 * Context: process or softirq, without locks of the QP.
 */
void mimic_qp_state(struct mimic_qp *qp, enum ib_qp_state state)
{
	spin_lock_bh(&qp->target);
	WRITE_ONCE(qp->state, state);
	if (state == IB_QPS_ERR)
		tasklet_schedule(&qp->engine);
	else if (state == IB_QPS_RESET)
		qp->last_wqe = false;
	spin_unlock_bh(&qp->target);
}

/* In an interrupt of the engine's CPU */
static void engine_kicked(void *data)
{
	struct mimic_qp *qp = data;

	clear_bit(QP_KICKED, &qp->kicked);
	/*
	 * Full barrier between the bit and sq.head; test_and_set_bit() in ring() is the
	 * other one. A poster that finds the bit set skips its interrupt, and this
	 * engine sees its entries.
	 */
	smp_mb__after_atomic();
	tasklet_schedule(&qp->engine);
}

/*
 * Ring the doorbell. The engine runs before this returns, with three exceptions:
 * interrupts are off, softirqs are off, or the engine has a CPU of its own.
 */
static void ring(struct mimic_qp *qp)
{
	if (qp->dev->engine_cpu >= 0) {
		if (!test_and_set_bit(QP_KICKED, &qp->kicked))
			smp_call_function_single_async(qp->dev->engine_cpu, &qp->kick);
		return;
	}
	if (irqs_disabled()) {
		tasklet_schedule(&qp->engine);
		return;
	}
	local_bh_disable();
	tasklet_schedule(&qp->engine);
	local_bh_enable();
}

static void nothing(void *unused)
{
}

/*
 * Stop the engine once, after the last doorbell.
 * 1. The waiting call returns during or after the interrupt that carries an earlier kick.
 * 2. The grace period waits for the end of that interrupt.
 * 3. tasklet_kill() waits for the engine, which the kick has scheduled.
 */
static void engine_stop(struct mimic_qp *qp)
{
	cancel_delayed_work_sync(&qp->later);
	cancel_delayed_work_sync(&qp->speak);
	if (qp->dev->engine_cpu >= 0) {
		smp_call_function_single(qp->dev->engine_cpu, nothing, NULL, 1);
		synchronize_rcu_expedited();
	}
	tasklet_kill(&qp->engine);
}

static void run_later(struct work_struct *work)
{
	struct mimic_qp *qp = container_of(to_delayed_work(work),
					   struct mimic_qp, later);

	WRITE_ONCE(qp->waits, false);
	ring(qp);
}

static void run_speak(struct work_struct *work)
{
	ring(container_of(to_delayed_work(work), struct mimic_qp, speak));
}

static int check_caps(const struct mimic_profile *limits,
		      const struct ib_qp_init_attr *attr)
{
	const struct ib_qp_cap *cap = &attr->cap;

	/* The limits of the profile are for the ULP under test, not for the CM. */
	if (attr->qp_type == IB_QPT_GSI)
		return 0;
	if (cap->max_send_wr > limits->max_qp_wr ||
	    cap->max_send_sge > limits->max_send_sge || cap->max_inline_data)
		return -EINVAL;
	if (!attr->srq && (cap->max_recv_wr > limits->max_qp_wr ||
			   cap->max_recv_sge > limits->max_recv_sge))
		return -EINVAL;
	return 0;
}

static int make_queues(struct mimic_qp *qp, struct ib_qp_init_attr *attr)
{
	int rc;

	rc = mimic_sq_size(&qp->dev->limits, &attr->cap);
	if (rc)
		return rc;
	rc = mimic_queue_init(&qp->sq, attr->cap.max_send_wr,
			      attr->cap.max_send_sge);
	if (rc)
		return rc;
	if (attr->srq) {
		attr->cap.max_recv_wr = 0;
		attr->cap.max_recv_sge = 0;
	}
	rc = mimic_queue_init(&qp->rq, attr->cap.max_recv_wr,
			      attr->cap.max_recv_sge);
	if (rc)
		return rc;
	qp->taken = kmalloc(attr->srq ? to_mimic_srq(attr->srq)->rq.stride :
					qp->rq.stride, GFP_KERNEL);
	return qp->taken ? 0 : -ENOMEM;
}

static void free_queues(struct mimic_qp *qp)
{
	kfree(qp->taken);
	mimic_queue_free(&qp->sq);
	mimic_queue_free(&qp->rq);
}

static int name_qp(struct mimic_qp *qp, enum ib_qp_type type)
{
	static u32 next;

	if (type == IB_QPT_GSI) {
		qp->ib.qp_num = MIMIC_GSI_QPN;
		WRITE_ONCE(qp->dev->gsi, qp);
		return 0;
	}
	return min(0, xa_alloc_cyclic(&mimic_qps, &qp->ib.qp_num, qp,
				      XA_LIMIT(2, 0xffffff), &next,
				      GFP_KERNEL));
}

/**
 * mimic_create_qp - create_qp verb
 * @ib: the QP
 * @attr: its type, CQs and capabilities; receives the capabilities that were granted
 * @udata: not used
 *
 * Context: process, may sleep.
 *
 * Return: 0; -EOPNOTSUPP for other types than RC and GSI; -EINVAL for capabilities that
 *	the device lacks; -ENOMEM; an error that a fault asks for.
 */
int mimic_create_qp(struct ib_qp *ib, struct ib_qp_init_attr *attr,
		    struct ib_udata *udata)
{
	struct mimic_dev *dev = to_mimic(ib->device);
	struct mimic_qp *qp = to_mimic_qp(ib);
	int rc;

	if (attr->qp_type != IB_QPT_RC && attr->qp_type != IB_QPT_GSI)
		return -EOPNOTSUPP;
	rc = check_caps(&dev->limits, attr);
	if (!rc && attr->qp_type == IB_QPT_RC)
		rc = mimic_refuse(dev, MIMIC_CREATE_QP);
	if (rc)
		return rc;
	qp->dev = dev;
	spin_lock_init(&qp->target);
	qp->state = IB_QPS_RESET;
	qp->sig_all = attr->sq_sig_type == IB_SIGNAL_ALL_WR;
	rc = make_queues(qp, attr);
	if (rc)
		goto out_free;
	qp->cap = attr->cap;
	atomic_set(&qp->slots, attr->cap.max_send_wr);
	tasklet_setup(&qp->engine, mimic_engine);
	INIT_CSD(&qp->kick, engine_kicked, qp);
	INIT_DELAYED_WORK(&qp->later, run_later);
	INIT_DELAYED_WORK(&qp->speak, run_speak);
	INIT_WORK(&qp->event_work, raise_events);
	refcount_set(&qp->refs, 1);
	init_completion(&qp->unused);
	rc = name_qp(qp, attr->qp_type);
	if (!rc)
		return 0;
out_free:
	free_queues(qp);
	return rc;
}

/* Keep the attributes that the engine or query_qp needs. */
static void keep_attr(struct mimic_qp *qp, const struct ib_qp_attr *attr,
		      int mask)
{
	struct ib_qp_attr *mine = &qp->attr;

	if (mask & IB_QP_DEST_QPN)
		mine->dest_qp_num = attr->dest_qp_num;
	if (mask & IB_QP_PORT)
		mine->port_num = attr->port_num;
	if (mask & IB_QP_PATH_MTU)
		mine->path_mtu = attr->path_mtu;
	if (mask & IB_QP_RNR_RETRY)
		mine->rnr_retry = attr->rnr_retry;
	if (mask & IB_QP_MIN_RNR_TIMER)
		mine->min_rnr_timer = attr->min_rnr_timer;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		mine->max_rd_atomic = attr->max_rd_atomic;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		mine->max_dest_rd_atomic = attr->max_dest_rd_atomic;
	if (mask & IB_QP_RQ_PSN)
		mine->rq_psn = attr->rq_psn;
	if (mask & IB_QP_SQ_PSN)
		mine->sq_psn = attr->sq_psn;
}

static int check_modify(struct mimic_qp *qp, const struct ib_qp_attr *attr,
			int mask)
{
	const struct mimic_profile *limits = &qp->dev->limits;
	enum ib_qp_state to = mask & IB_QP_STATE ? attr->qp_state : qp->state;

	if ((mask & IB_QP_MAX_QP_RD_ATOMIC) &&
	    attr->max_rd_atomic > limits->init_rd_atom)
		return -EINVAL;
	if ((mask & IB_QP_MAX_DEST_RD_ATOMIC) &&
	    attr->max_dest_rd_atomic > limits->rd_atom)
		return -EINVAL;
	/*
	 * The endpoint has changed the state already, so the core's table does not
	 * apply.
	 */
	if (limits->iwarp)
		return 0;
	if (!ib_modify_qp_is_ok(qp->state, to, qp->ib.qp_type, mask))
		return -EINVAL;
	return 0;
}

/**
 * mimic_modify_qp - modify_qp verb
 * @ib: the QP
 * @attr: attributes
 * @mask: the attributes to change
 * @udata: not used
 *
 * The state of an iWARP QP follows its endpoint: RTR and RTS do nothing here, and SQD
 * leads to ERR.
 *
 * Context: process, may sleep.
 *
 * Return: 0; -EINVAL for a change that the state or the device does not allow; -EIO if
 *	the device is dead and this does not take the QP down; an error that a fault
 *	asks for.
 */
int mimic_modify_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		    struct ib_udata *udata)
{
	struct mimic_qp *qp = to_mimic_qp(ib);
	enum ib_qp_state to = attr->qp_state;
	bool to_err = (mask & IB_QP_STATE) && to == IB_QPS_ERR;
	int rc;

	rc = check_modify(qp, attr, mask);
	if (!rc && ib->qp_type == IB_QPT_RC) {
		rc = mimic_refuse(qp->dev, to_err ? MIMIC_TO_ERR : MIMIC_MODIFY_QP);
		/*
		 * A fault may have killed the device just now. QPs of a dead device
		 * stay in ERR.
		 */
		if (!rc && !to_err && READ_ONCE(qp->dev->dead))
			rc = -EIO;
	}
	if (rc)
		return rc;
	keep_attr(qp, attr, mask);
	qp->rnr_left = qp->attr.rnr_retry;
	if (!(mask & IB_QP_STATE))
		return 0;
	if (to_err)
		WRITE_ONCE(qp->halted, false);
	if (!qp->dev->limits.iwarp) {
		mimic_qp_state(qp, to);
	} else if (to != IB_QPS_RTR && to != IB_QPS_RTS) {
		/* The core's iWARP CM disconnects gracefully by a move to SQD. */
		if (to == IB_QPS_SQD || to == IB_QPS_ERR)
			mimic_iwarp_lost(qp);
		mimic_qp_state(qp, to == IB_QPS_SQD ? IB_QPS_ERR : to);
	}
	return 0;
}

/**
 * mimic_query_qp - query_qp verb
 * @ib: the QP
 * @attr: receives the attributes
 * @mask: not used; all attributes are reported
 * @init: receives what the QP was created with
 *
 * Context: any.
 *
 * Return: 0.
 */
int mimic_query_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init)
{
	struct mimic_qp *qp = to_mimic_qp(ib);

	*attr = qp->attr;
	attr->qp_state = READ_ONCE(qp->state);
	attr->cur_qp_state = attr->qp_state;
	attr->cap = qp->cap;
	init->event_handler = ib->event_handler;
	init->qp_context = ib->qp_context;
	init->send_cq = ib->send_cq;
	init->recv_cq = ib->recv_cq;
	init->srq = ib->srq;
	init->cap = qp->cap;
	init->sq_sig_type = qp->sig_all ? IB_SIGNAL_ALL_WR :
					  IB_SIGNAL_REQ_WR;
	init->qp_type = ib->qp_type;
	return 0;
}

static void linger(struct work_struct *work)
{
	usleep_range(1000, 2000);
}

/*
 * irdma flushes a workqueue here. The kernel warns a caller whose workqueue has a
 * rescuer, because mimic_flushed_wq has none.
 */
static void flush_another_queue(void)
{
	struct work_struct work;

	INIT_WORK_ONSTACK(&work, linger);
	queue_work(mimic_flushed_wq, &work);
	flush_work(&work);
	destroy_work_on_stack(&work);
}

/**
 * mimic_qp_put - drop a reference to a QP
 * @qp: the QP
 *
 * Context: any.
 */
void mimic_qp_put(struct mimic_qp *qp)
{
	if (refcount_dec_and_test(&qp->refs))
		complete(&qp->unused);
}

/**
 * mimic_destroy_qp - destroy_qp verb
 * @ib: the QP
 * @udata: not used
 *
 * Waits until the iWARP CM has let go of the QP.
 *
 * Context: process, may sleep.
 *
 * Return: 0.
 */
int mimic_destroy_qp(struct ib_qp *ib, struct ib_udata *udata)
{
	struct mimic_qp *qp = to_mimic_qp(ib);

	if (ib->qp_type == IB_QPT_GSI) {
		WRITE_ONCE(qp->dev->gsi, NULL);
	} else {
		mimic_refuse(qp->dev, MIMIC_DESTROY_QP);
		if (qp->dev->limits.destroy_flushes)
			flush_another_queue();
		xa_erase(&mimic_qps, ib->qp_num);
	}
	/* A peer's engine may have found this QP under RCU. */
	synchronize_rcu_expedited();
	mimic_iwarp_lost(qp);
	mimic_qp_put(qp);
	wait_for_completion(&qp->unused);
	mimic_iwarp_forget(qp);
	mimic_qp_state(qp, IB_QPS_RESET);
	/*
	 * Stop twice: the first run of the engine may have scheduled work or a tasklet.
	 * In RESET, the engine schedules nothing.
	 */
	engine_stop(qp);
	engine_stop(qp);
	cancel_work_sync(&qp->event_work);
	mimic_cq_forget(ib->send_cq, ib);
	mimic_cq_forget(ib->recv_cq, ib);
	free_queues(qp);
	return 0;
}

/*
 * Return: 0 or negative errno; *@stall becomes the ms that a fault stalls the doorbell.
 */
static int check_send(const struct mimic_qp *qp, const struct ib_send_wr *wr,
		      unsigned int *stall)
{
	const struct mimic_profile *limits = &qp->dev->limits;
	int step = mimic_step_of(qp, wr->opcode);
	u32 max_sge = qp->cap.max_send_sge;
	struct mimic_verdict verdict;

	if (step < 0 || (step == MIMIC_LOCAL_INV && limits->no_local_inv))
		return -EINVAL;
	if (step == MIMIC_READ)
		max_sge = min(max_sge, limits->max_sge_rd);
	if (wr->num_sge > max_sge)
		return -EINVAL;
	verdict = mimic_strike(qp->dev, step, true);
	if (verdict.action == MIMIC_REFUSE)
		return -ENOMEM;
	if (verdict.action == MIMIC_STALL)
		*stall = verdict.value;
	return 0;
}

/* Copy the WR, because its owner may change it as soon as the post returns. */
static void fill_send(const struct mimic_qp *qp, struct mimic_wqe *wqe,
		      const struct ib_send_wr *wr)
{
	wqe->cqe = wr->wr_cqe;
	wqe->opcode = wr->opcode;
	wqe->flags = wr->send_flags;
	if (qp->sig_all)
		wqe->flags |= IB_SEND_SIGNALED;
	wqe->judged = false;
	wqe->passed = false;
	wqe->moved = 0;
	wqe->imm = wr->ex.imm_data;
	wqe->num_sge = wr->num_sge;
	memcpy(wqe->sge, wr->sg_list, wr->num_sge * sizeof(*wqe->sge));

	switch (wr->opcode) {
	case IB_WR_REG_MR:
		wqe->mr = to_mimic_mr(reg_wr(wr)->mr);
		wqe->rkey = reg_wr(wr)->key;
		wqe->access = reg_wr(wr)->access;
		break;
	case IB_WR_LOCAL_INV:
	case IB_WR_SEND_WITH_INV:
		wqe->rkey = wr->ex.invalidate_rkey;
		break;
	case IB_WR_SEND:
		if (qp->ib.qp_type == IB_QPT_GSI) {
			struct mimic_ah *ah = to_mimic_ah(ud_wr(wr)->ah);

			wqe->dest = ah->dest;
			wqe->dest_qpn = ud_wr(wr)->remote_qpn;
			wqe->sgid = ah->sgid;
			wqe->dgid = ah->dgid;
		}
		break;
	default:
		wqe->remote_addr = rdma_wr(wr)->remote_addr;
		wqe->rkey = rdma_wr(wr)->rkey;
	}
}

/**
 * mimic_post_send - post_send verb
 * @ib: the QP
 * @wr: chain of work requests
 * @bad: receives the refused work request, or the chain's head with head_is_bad
 *
 * The work requests before a refused one are on the Queue.
 *
 * Context: any.
 *
 * Return: 0; -EINVAL for a work request or a state that does not allow posting; -ENOMEM
 *	if the Queue is full or a fault refuses.
 */
int mimic_post_send(struct ib_qp *ib, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad)
{
	struct mimic_qp *qp = to_mimic_qp(ib);
	const struct ib_send_wr *head = wr;
	unsigned int stall = 0;
	unsigned long flags;
	int rc = 0;

	spin_lock_irqsave(&qp->sq.lock, flags);
	if (READ_ONCE(qp->state) < IB_QPS_RTS)
		rc = -EINVAL;
	for (; !rc && wr; wr = wr->next) {
		rc = check_send(qp, wr, &stall);
		if (!rc && !atomic_add_unless(&qp->slots, -1, 0))
			rc = -ENOMEM;
		if (rc)
			break;
		fill_send(qp, mimic_queue_at(&qp->sq, qp->sq.head), wr);
		/*
		 * Publish the entry; the engine's acquire in run_send_queue() or
		 * flush_send_queue() pairs.
		 */
		smp_store_release(&qp->sq.head, qp->sq.head + 1);
	}
	if (rc)
		*bad = qp->dev->limits.head_is_bad ? head : wr;
	spin_unlock_irqrestore(&qp->sq.lock, flags);
	mdelay(stall);
	ring(qp);
	return rc;
}

static int post_recvs(struct mimic_queue *q, const struct ib_recv_wr *wr,
		      const struct ib_recv_wr **bad)
{
	int rc = 0;

	lockdep_assert_held(&q->lock);

	for (; wr; wr = wr->next) {
		rc = mimic_queue_recv(q, wr);
		if (rc) {
			*bad = wr;
			break;
		}
	}
	return rc;
}

/**
 * mimic_post_recv - post_recv verb
 * @ib: the QP
 * @wr: chain of Receives
 * @bad: receives the refused Receive
 *
 * In ERR, the engine flushes the Receives at once.
 *
 * Context: any.
 *
 * Return: 0; -EINVAL for a Receive or a QP that does not allow posting, or if a fault
 *	refuses; -ENOMEM if the Queue is full.
 */
int mimic_post_recv(struct ib_qp *ib, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad)
{
	struct mimic_qp *qp = to_mimic_qp(ib);
	unsigned long flags;
	int rc;

	if (ib->srq || qp->state == IB_QPS_RESET ||
	    (ib->qp_type == IB_QPT_RC &&
	     mimic_strike(qp->dev, MIMIC_RECV, true).action == MIMIC_REFUSE)) {
		*bad = wr;
		return -EINVAL;
	}
	spin_lock_irqsave(&qp->rq.lock, flags);
	rc = post_recvs(&qp->rq, wr, bad);
	spin_unlock_irqrestore(&qp->rq.lock, flags);
	if (READ_ONCE(qp->state) == IB_QPS_ERR)
		ring(qp);
	return rc;
}

static void raise_srq_event(struct work_struct *work)
{
	struct mimic_srq *srq = container_of(work, struct mimic_srq,
					     event_work);
	struct ib_event event = {
		.device		= srq->ib.device,
		.element.srq	= &srq->ib,
		.event		= READ_ONCE(srq->failed) ?
				  IB_EVENT_SRQ_ERR : IB_EVENT_SRQ_LIMIT_REACHED,
	};

	if (srq->ib.event_handler)
		srq->ib.event_handler(&event, srq->ib.srq_context);
}

/**
 * mimic_create_srq - create_srq verb
 * @ib: the shared receive queue
 * @init: its type, size and limit
 * @udata: not used
 *
 * Context: process, may sleep.
 *
 * Return: 0; -EOPNOTSUPP if the device has no such queue; -EINVAL for a size or limit
 *	that the device lacks; -ENOMEM; an error that a fault asks for.
 */
int mimic_create_srq(struct ib_srq *ib, struct ib_srq_init_attr *init,
		     struct ib_udata *udata)
{
	struct mimic_dev *dev = to_mimic(ib->device);
	struct mimic_srq *srq = to_mimic_srq(ib);
	int rc;

	if (init->srq_type != IB_SRQT_BASIC || !dev->limits.max_srq_wr)
		return -EOPNOTSUPP;
	if (!init->attr.max_wr || init->attr.max_wr > dev->limits.max_srq_wr ||
	    init->attr.max_sge > dev->limits.max_recv_sge ||
	    init->attr.srq_limit > init->attr.max_wr)
		return -EINVAL;
	rc = mimic_refuse(dev, MIMIC_CREATE_SRQ);
	if (rc)
		return rc;
	srq->limit = init->attr.srq_limit;
	INIT_WORK(&srq->event_work, raise_srq_event);
	return mimic_queue_init(&srq->rq, init->attr.max_wr,
				init->attr.max_sge);
}

/**
 * mimic_modify_srq - modify_srq verb
 * @ib: the shared receive queue
 * @attr: the new limit
 * @mask: IB_SRQ_LIMIT
 * @udata: not used
 *
 * Context: process.
 *
 * Return: 0; -EOPNOTSUPP for another size; -EINVAL for a limit beyond the size.
 */
int mimic_modify_srq(struct ib_srq *ib, struct ib_srq_attr *attr,
		     enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	struct mimic_srq *srq = to_mimic_srq(ib);
	unsigned long flags;

	if (mask & IB_SRQ_MAX_WR)
		return -EOPNOTSUPP;
	if (!(mask & IB_SRQ_LIMIT))
		return 0;
	if (attr->srq_limit > srq->rq.entries)
		return -EINVAL;
	spin_lock_irqsave(&srq->rq.lock, flags);
	srq->limit = attr->srq_limit;
	spin_unlock_irqrestore(&srq->rq.lock, flags);
	return 0;
}

/**
 * mimic_query_srq - query_srq verb
 * @ib: the shared receive queue
 * @attr: receives its attributes
 *
 * Context: any.
 *
 * Return: 0.
 */
int mimic_query_srq(struct ib_srq *ib, struct ib_srq_attr *attr)
{
	struct mimic_srq *srq = to_mimic_srq(ib);

	attr->max_wr = srq->rq.entries;
	attr->max_sge = srq->rq.max_sge;
	attr->srq_limit = READ_ONCE(srq->limit);
	return 0;
}

/**
 * mimic_destroy_srq - destroy_srq verb
 * @ib: the shared receive queue
 * @udata: not used
 *
 * Context: process, may sleep.
 *
 * Return: 0.
 */
int mimic_destroy_srq(struct ib_srq *ib, struct ib_udata *udata)
{
	struct mimic_srq *srq = to_mimic_srq(ib);

	/* No QP uses the queue, so nobody queues the work again. */
	cancel_work_sync(&srq->event_work);
	mimic_queue_free(&srq->rq);
	return 0;
}

/**
 * mimic_post_srq_recv - post_srq_recv verb
 * @ib: the shared receive queue
 * @wr: chain of Receives
 * @bad: receives the refused Receive
 *
 * Context: any.
 *
 * Return: 0; -EINVAL if a Receive has too many SGEs or a fault refuses; -ENOMEM if the
 *	queue is full.
 */
int mimic_post_srq_recv(struct ib_srq *ib, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad)
{
	struct mimic_srq *srq = to_mimic_srq(ib);
	unsigned long flags;
	int rc;

	if (mimic_strike(to_mimic(ib->device), MIMIC_RECV, true).action ==
	    MIMIC_REFUSE) {
		*bad = wr;
		return -EINVAL;
	}
	spin_lock_irqsave(&srq->rq.lock, flags);
	rc = post_recvs(&srq->rq, wr, bad);
	spin_unlock_irqrestore(&srq->rq.lock, flags);
	return rc;
}
