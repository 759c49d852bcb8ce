// SPDX-License-Identifier: GPL-2.0
/*
 * The engine executes the work requests of a Send Queue in order. A transfer copies
 * memory between the two QPs and adds a completion at each end that expects one.
 *
 * An engine is the tasklet of its QP. It runs on the CPU that posted, or on engine_cpu,
 * where the engines of all QPs take turns. It runs with softirqs off, in an RCU
 * read-side critical section, and holds the peer's mimic_qp.target while it transfers.
 * It alone moves mimic_qp.executed and the tail of the Send Queue.
 */
#include "mimic.h"

/*
 * Results of execute() other than a status: the engine must wait; the entry needs
 * another turn
 */
#define TRY_LATER	-1
#define GOES_ON		-2

/* Octets that a QP copies in a turn on a shared engine_cpu: RoCE's largest packet */
#define TURN		SZ_4K

/**
 * mimic_fall - move a QP to ERR, and disconnect its iWARP endpoint
 * @qp: the QP
 *
 * Context: process or softirq, without locks of the QP.
 */
void mimic_fall(struct mimic_qp *qp)
{
	mimic_iwarp_lost(qp);
	mimic_qp_state(qp, IB_QPS_ERR);
}

/* A request failed at the peer, so the peer's QP fails, too. */
static void end_peer(struct mimic_qp *peer, enum ib_event_type event)
{
	mimic_qp_event(peer, event);
	mimic_fall(peer);
}

static bool can_be_reached(const struct mimic_qp *qp)
{
	return qp->state == IB_QPS_RTR || qp->state == IB_QPS_RTS;
}

/* How long a sender waits for a Receive, by the code of the receiver's min_rnr_timer */
static unsigned long rnr_delay(u32 code)
{
	u32 hundredths = 65536;

	if (code)
		hundredths = code & 1 ? 3 << (code / 2) >> 1 : 1 << (code / 2);
	return usecs_to_jiffies(10 * hundredths);
}

/* Execute nothing for @delay jiffies, even if the ULP posts meanwhile. */
static void wait_for(struct mimic_qp *qp, unsigned long delay)
{
	WRITE_ONCE(qp->waits, true);
	mod_delayed_work(mimic_wq, &qp->later, delay);
}

/*
 * The peer has no Receive. RoCE waits and tries again, rnr_retry times; iWARP fails.
 * Return: TRY_LATER, or a completion status.
 */
static int not_ready(struct mimic_qp *qp, const struct mimic_qp *peer)
{
	if (qp->dev->limits.iwarp)
		return IB_WC_REM_OP_ERR;
	mimic_count(peer->dev, MIMIC_SENT_RNR);
	mimic_count(qp->dev, MIMIC_GOT_RNR);
	if (!qp->rnr_left) {
		mimic_count(qp->dev, MIMIC_RNR_EXCEEDED);
		return IB_WC_RNR_RETRY_EXC_ERR;
	}
	if (qp->rnr_left < 7)
		qp->rnr_left--;
	wait_for(qp, rnr_delay(peer->attr.min_rnr_timer));
	return TRY_LATER;
}

/*
 * Take the oldest Receive off the Queue. Return: a copy of it, or NULL if there is
 * none.
 */
static struct mimic_wqe *take_recv(struct mimic_qp *qp, struct mimic_queue *q)
{
	struct mimic_wqe *wqe, *taken = NULL;
	unsigned long flags;

	spin_lock_irqsave(&q->lock, flags);
	if (q->head != q->tail) {
		taken = qp->taken;
		wqe = mimic_queue_at(q, q->tail++);
		memcpy(taken, wqe, struct_size(wqe, sge, wqe->num_sge));
	}
	spin_unlock_irqrestore(&q->lock, flags);
	return taken;
}

/* Each limit that the ULP sets raises one event. */
static void srq_limit(struct mimic_srq *srq)
{
	unsigned long flags;

	spin_lock_irqsave(&srq->rq.lock, flags);
	if (srq->limit && srq->rq.head - srq->rq.tail < srq->limit) {
		srq->limit = 0;
		queue_work(mimic_wq, &srq->event_work);
	}
	spin_unlock_irqrestore(&srq->rq.lock, flags);
}

static void fill_recv_wc(const struct mimic_qp *qp, const struct mimic_wqe *wqe,
			 struct ib_wc *wc)
{
	wc->opcode = IB_WC_RECV;
	wc->port_num = 1;
	wc->src_qp = qp->ib.qp_num;
	switch (wqe->opcode) {
	case IB_WR_SEND_WITH_INV:
		wc->wc_flags |= IB_WC_WITH_INVALIDATE;
		wc->ex.invalidate_rkey = wqe->rkey;
		break;
	case IB_WR_SEND_WITH_IMM:
		wc->wc_flags |= IB_WC_WITH_IMM;
		wc->ex.imm_data = wqe->imm;
		break;
	case IB_WR_RDMA_WRITE_WITH_IMM:
		wc->opcode = IB_WC_RECV_RDMA_WITH_IMM;
		wc->wc_flags |= IB_WC_WITH_IMM;
		wc->ex.imm_data = wqe->imm;
		break;
	default:
		break;
	}
}

/* Return: the sender's completion status; *@receiver becomes the receiver's. */
static int recv_status(enum mimic_fault_of fault, enum ib_wc_status *receiver)
{
	switch (fault) {
	case MIMIC_TOO_LONG:
		*receiver = IB_WC_LOC_LEN_ERR;
		return IB_WC_REM_INV_REQ_ERR;
	case MIMIC_TO:
		*receiver = IB_WC_LOC_PROT_ERR;
		return IB_WC_REM_OP_ERR;
	case MIMIC_FROM:
		*receiver = IB_WC_REM_ABORT_ERR;
		return IB_WC_LOC_PROT_ERR;
	default:
		return IB_WC_SUCCESS;
	}
}

/*
 * Apply a fault to the Receive that was taken. A Receive that is lost gets no
 * completion.
 * Return: the sender's completion status.
 */
static int judge_recv(struct mimic_qp *peer, int status, struct ib_wc *wc)
{
	struct mimic_verdict verdict;

	if (peer->ib.qp_type == IB_QPT_GSI)
		return status;
	verdict = mimic_strike(peer->dev, MIMIC_RECV, false);
	switch (verdict.action) {
	case MIMIC_FAIL:
		wc->status = verdict.value;
		return IB_WC_REM_OP_ERR;
	case MIMIC_LOSE:
		wc->wr_cqe = NULL;
		return IB_WC_REM_OP_ERR;
	default:
		return status;
	}
}

/*
 * Copy a Send, or the immediate data of a Write, into the peer's next Receive. The
 * caller holds peer->target.
 */
static int fill_recv(struct mimic_qp *qp, struct mimic_wqe *wqe,
		     struct mimic_qp *peer)
{
	struct mimic_srq *srq = peer->ib.srq ? to_mimic_srq(peer->ib.srq) : NULL;
	struct mimic_queue *rq = srq ? &srq->rq : &peer->rq;
	struct ib_wc wc = { .qp = &peer->ib, .status = IB_WC_SUCCESS };
	enum mimic_fault_of fault = MIMIC_FINE;
	struct mimic_wqe *recv;
	struct mimic_side from, to;
	struct ib_grh grh;
	int status;

	recv = srq && READ_ONCE(srq->failed) ? NULL : take_recv(peer, rq);
	if (!recv)
		return not_ready(qp, peer);
	from = (struct mimic_side) {
		.dev = qp->dev, .pd = qp->ib.pd,
		.sge = wqe->sge, .num_sge = wqe->num_sge,
	};
	to = (struct mimic_side) {
		.dev = peer->dev, .pd = srq ? srq->ib.pd : peer->ib.pd,
		.access = IB_ACCESS_LOCAL_WRITE,
		.sge = recv->sge, .num_sge = recv->num_sge,
	};
	fill_recv_wc(qp, wqe, &wc);
	if (qp->ib.qp_type == IB_QPT_GSI) {
		mimic_fill_grh(&grh, wqe);
		wc.wc_flags |= IB_WC_GRH | IB_WC_WITH_NETWORK_HDR_TYPE;
		wc.network_hdr_type = RDMA_NETWORK_IPV6;
		if (!mimic_put(&to, &grh, sizeof(grh)))
			fault = MIMIC_TO;
	}
	if (wqe->opcode == IB_WR_RDMA_WRITE_WITH_IMM)
		wc.byte_len = mimic_sge_octets(wqe->sge, wqe->num_sge);
	else if (!fault)
		fault = mimic_move(&to, &from, &wc.byte_len);
	if (qp->ib.qp_type == IB_QPT_GSI)
		wc.byte_len += sizeof(grh);
	wc.wr_cqe = recv->cqe;
	status = judge_recv(peer, recv_status(fault, &wc.status), &wc);
	if (!status && wqe->opcode == IB_WR_SEND_WITH_INV &&
	    !mimic_mr_invalidate(peer->dev, peer->ib.pd, wqe->rkey, true)) {
		wc.status = IB_WC_LOC_PROT_ERR;
		status = IB_WC_REM_ACCESS_ERR;
	}
	if (srq)
		srq_limit(srq);
	if (wc.wr_cqe)
		mimic_complete(peer->ib.recv_cq, &wc, 0);
	return status;
}

static int do_send(struct mimic_qp *qp, struct mimic_wqe *wqe,
		   struct mimic_qp *peer)
{
	int status = fill_recv(qp, wqe, peer);

	if (status >= 0)
		qp->rnr_left = qp->attr.rnr_retry;
	return status;
}

static int rdma_status(enum mimic_fault_of fault, enum mimic_fault_of remote)
{
	if (fault == MIMIC_FINE)
		return IB_WC_SUCCESS;
	if (fault == remote)
		return IB_WC_REM_ACCESS_ERR;
	return fault == MIMIC_TOO_LONG ? IB_WC_LOC_LEN_ERR :
					 IB_WC_LOC_PROT_ERR;
}

/* Find up to TURN octets that remain to be copied. Return: false if nothing remains. */
static bool next_turn(const struct mimic_wqe *wqe, struct ib_sge *turn)
{
	u32 i, done = wqe->moved;

	for (i = 0; i < wqe->num_sge; i++) {
		*turn = wqe->sge[i];
		if (done < turn->length) {
			turn->addr += done;
			turn->length = min_t(u32, turn->length - done, TURN);
			return true;
		}
		done -= turn->length;
	}
	return false;
}

/*
 * Execute an RDMA Read or Write, or one turn of it. The caller holds peer->target.
 * Return: a completion status, or GOES_ON.
 */
static int do_rdma(struct mimic_qp *qp, struct mimic_wqe *wqe,
		   struct mimic_qp *peer, bool write)
{
	u32 all = mimic_sge_octets(wqe->sge, wqe->num_sge);
	struct ib_sge there = {
		.addr	= wqe->remote_addr + wqe->moved,
		.length	= all,
		.lkey	= wqe->rkey,
	};
	struct mimic_side remote = {
		.dev = peer->dev, .pd = peer->ib.pd,
		.access = write ? IB_ACCESS_REMOTE_WRITE :
				  IB_ACCESS_REMOTE_READ,
		.sge = &there, .num_sge = there.length ? 1 : 0,
	};
	struct mimic_side local = {
		.dev = qp->dev, .pd = qp->ib.pd,
		.sge = wqe->sge, .num_sge = wqe->num_sge,
	};
	struct ib_sge turn;
	int status;
	u32 moved;

	/* All data is there: a Write With Immediate waited for a Receive. */
	if (all && wqe->moved == all)
		return IB_WC_SUCCESS;
	if (qp->dev->engine_cpu >= 0 && next_turn(wqe, &turn)) {
		local.sge = &turn;
		local.num_sge = 1;
		there.length = turn.length;
	}
	if (write) {
		status = rdma_status(mimic_move(&remote, &local, &moved), MIMIC_TO);
	} else {
		/*
		 * On iWARP, the peer answers a Read by writing to registered memory of
		 * this device.
		 */
		local.access = qp->dev->limits.iwarp ? IB_ACCESS_REMOTE_WRITE :
						       IB_ACCESS_LOCAL_WRITE;
		status = rdma_status(mimic_move(&local, &remote, &moved), MIMIC_FROM);
	}
	wqe->moved += moved;
	return status || wqe->moved == all ? status : GOES_ON;
}

static int do_remote(struct mimic_qp *qp, struct mimic_wqe *wqe,
		     struct mimic_qp *peer)
{
	int status;

	switch (wqe->opcode) {
	case IB_WR_RDMA_WRITE:
		return do_rdma(qp, wqe, peer, true);
	case IB_WR_RDMA_WRITE_WITH_IMM:
		status = do_rdma(qp, wqe, peer, true);
		return status ?: do_send(qp, wqe, peer);
	case IB_WR_RDMA_READ:
		return do_rdma(qp, wqe, peer, false);
	case IB_WR_RDMA_READ_WITH_INV:
		status = do_rdma(qp, wqe, peer, false);
		if (!status && wqe->num_sge)
			mimic_mr_invalidate(qp->dev, qp->ib.pd,
					    wqe->sge[0].lkey, false);
		return status;
	default:
		return do_send(qp, wqe, peer);
	}
}

/*
 * Find the QP that the WR is for. The caller is in an RCU read-side critical section.
 */
static struct mimic_qp *peer_of(const struct mimic_qp *qp,
				const struct mimic_wqe *wqe)
{
	if (qp->ib.qp_type == IB_QPT_GSI)
		return mimic_datagram_dest(wqe);
	return xa_load(&mimic_qps, qp->attr.dest_qp_num);
}

static int reach_peer(struct mimic_qp *qp, struct mimic_wqe *wqe)
{
	struct mimic_qp *peer = peer_of(qp, wqe);
	bool datagram = qp->ib.qp_type == IB_QPT_GSI;
	int status = IB_WC_RETRY_EXC_ERR;

	if (peer && !READ_ONCE(peer->dev->port_down) &&
	    !READ_ONCE(qp->dev->dead) && !READ_ONCE(peer->dev->dead)) {
		spin_lock(&peer->target);
		if (can_be_reached(peer))
			status = do_remote(qp, wqe, peer);
		spin_unlock(&peer->target);
	}
	if (datagram)
		/* The sender of a datagram does not learn of a loss. */
		return IB_WC_SUCCESS;
	switch (status) {
	case IB_WC_REM_ACCESS_ERR:
		end_peer(peer, IB_EVENT_QP_ACCESS_ERR);
		break;
	case IB_WC_REM_INV_REQ_ERR:
	case IB_WC_REM_OP_ERR:
		end_peer(peer, IB_EVENT_QP_REQ_ERR);
		break;
	}
	return status;
}

/* Return: a completion status, TRY_LATER or GOES_ON. */
static int execute(struct mimic_qp *qp, struct mimic_wqe *wqe)
{
	switch (wqe->opcode) {
	case IB_WR_REG_MR:
		return mimic_mr_register(wqe->mr, qp->ib.pd, wqe->rkey,
					 wqe->access) ?
		       IB_WC_SUCCESS : IB_WC_LOC_PROT_ERR;
	case IB_WR_LOCAL_INV:
		return mimic_mr_invalidate(qp->dev, qp->ib.pd, wqe->rkey,
					   false) ?
		       IB_WC_SUCCESS : IB_WC_LOC_PROT_ERR;
	default:
		return reach_peer(qp, wqe);
	}
}

static enum ib_wc_opcode wc_opcode(enum ib_wr_opcode opcode)
{
	switch (opcode) {
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return IB_WC_RDMA_WRITE;
	case IB_WR_RDMA_READ:
	case IB_WR_RDMA_READ_WITH_INV:
		return IB_WC_RDMA_READ;
	case IB_WR_REG_MR:
		return IB_WC_REG_MR;
	case IB_WR_LOCAL_INV:
		return IB_WC_LOCAL_INV;
	default:
		return IB_WC_SEND;
	}
}

/* Retire the entry at the tail, with a completion if it failed or is signaled. */
static void report(struct mimic_qp *qp)
{
	struct mimic_wqe *wqe = mimic_queue_at(&qp->sq, qp->sq.tail);
	struct ib_wc wc = {
		.wr_cqe	= wqe->cqe,
		.status	= wqe->status,
		.opcode	= wc_opcode(wqe->opcode),
		.qp	= &qp->ib,
	};

	qp->unreported++;
	if (wqe->status || (wqe->flags & IB_SEND_SIGNALED)) {
		mimic_complete(qp->ib.send_cq, &wc, qp->unreported);
		qp->unreported = 0;
	}
	WRITE_ONCE(qp->sq.tail, qp->sq.tail + 1);
}

static void report_all(struct mimic_qp *qp)
{
	while (qp->sq.tail != qp->executed)
		report(qp);
}

static bool is_silent(struct mimic_qp *qp)
{
	if (qp->silent && time_after_eq(jiffies, qp->speaks))
		qp->silent = false;
	return qp->silent;
}

static void fall_silent(struct mimic_qp *qp, unsigned int ms)
{
	if (qp->silent)
		return;
	qp->silent = true;
	qp->speaks = jiffies + msecs_to_jiffies(ms);
	queue_delayed_work(mimic_wq, &qp->speak, msecs_to_jiffies(ms));
}

/* The entry at mimic_qp.executed ended. */
static void finish(struct mimic_qp *qp, struct mimic_wqe *wqe, int status)
{
	wqe->status = status;
	qp->executed++;
	if (!is_silent(qp))
		report_all(qp);
}

/*
 * Swap a Read with the Send that follows, as if the peer's answer took longer. Return:
 * whether the Send is next.
 */
static bool pass_read(struct mimic_qp *qp, struct mimic_wqe *wqe, u32 head)
{
	struct mimic_wqe *next, *spare;

	if (head - qp->executed < 2)
		return false;
	next = mimic_queue_at(&qp->sq, qp->executed + 1);
	if ((next->opcode != IB_WR_SEND &&
	     next->opcode != IB_WR_SEND_WITH_INV) ||
	    (next->flags & IB_SEND_FENCE))
		return false;
	spare = kmalloc(qp->sq.stride, GFP_ATOMIC | __GFP_NOWARN);
	if (!spare)
		return false;
	memcpy(spare, next, qp->sq.stride);
	memcpy(next, wqe, qp->sq.stride);
	memcpy(wqe, spare, qp->sq.stride);
	kfree(spare);
	return true;
}

/**
 * mimic_step_of - tell which step of a fault a work request is
 * @qp: the QP
 * @opcode: opcode of the work request
 *
 * Context: any.
 *
 * Return: an enum mimic_step, or -EINVAL if the device lacks the opcode.
 */
int mimic_step_of(const struct mimic_qp *qp, enum ib_wr_opcode opcode)
{
	if (qp->ib.qp_type == IB_QPT_GSI)
		return opcode == IB_WR_SEND ? MIMIC_MAD : -EINVAL;
	switch (opcode) {
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_IMM:
		return MIMIC_SEND;
	case IB_WR_SEND_WITH_INV:
		return MIMIC_SEND_INV;
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return MIMIC_WRITE;
	case IB_WR_RDMA_READ:
	case IB_WR_RDMA_READ_WITH_INV:
		return MIMIC_READ;
	case IB_WR_REG_MR:
		return MIMIC_REG_MR;
	case IB_WR_LOCAL_INV:
		return MIMIC_LOCAL_INV;
	default:
		return -EINVAL;
	}
}

/* Ask once by the opcode, and for a datagram also by its message of the CM. */
static struct mimic_verdict verdict_on(struct mimic_qp *qp, const struct mimic_wqe *wqe)
{
	int step = mimic_step_of(qp, wqe->opcode);
	struct mimic_verdict verdict = mimic_strike(qp->dev, step, false);

	if (step == MIMIC_MAD && verdict.action == MIMIC_NO_FAULT) {
		step = mimic_cm_step(qp->dev, wqe);
		if (step != MIMIC_MAD)
			verdict = mimic_strike(qp->dev, step, false);
	}
	return verdict;
}

/*
 * Apply a fault to this entry. Return: as execute() if *@done; else 0, and the entry is
 * still to be executed.
 */
static int judge(struct mimic_qp *qp, struct mimic_wqe *wqe, bool *done)
{
	struct mimic_verdict verdict;

	*done = false;
	if (wqe->judged)
		return 0;
	wqe->judged = true;
	verdict = verdict_on(qp, wqe);
	switch (verdict.action) {
	case MIMIC_FAIL:
		*done = true;
		return verdict.value;
	case MIMIC_DELAY:
		wait_for(qp, msecs_to_jiffies(verdict.value));
		*done = true;
		return TRY_LATER;
	case MIMIC_LATE:
		fall_silent(qp, verdict.value);
		return 0;
	case MIMIC_LOSE:
		if (qp->ib.qp_type == IB_QPT_GSI) {
			*done = true;
			return IB_WC_SUCCESS;
		}
		fallthrough;
	case MIMIC_QP_FATAL:
		WRITE_ONCE(qp->halted, true);
		mimic_qp_event(qp, IB_EVENT_QP_FATAL);
		*done = true;
		return TRY_LATER;
	case MIMIC_RNR:
		wqe->judged = false;
		*done = true;
		return not_ready(qp, qp);
	case MIMIC_REJECT:
		mimic_reject(qp->dev, wqe, verdict.value);
		return 0;
	case MIMIC_NO_DATA:
		mimic_strip(qp->dev, wqe);
		return 0;
	default:
		return 0;
	}
}

static void run_send_queue(struct mimic_qp *qp)
{
	bool late_reads = qp->dev->limits.late_reads, late, done;
	struct mimic_wqe *wqe;
	int status;
	u32 head;

	if (!is_silent(qp))
		report_all(qp);
	while (READ_ONCE(qp->state) == IB_QPS_RTS && !READ_ONCE(qp->halted) &&
	       !READ_ONCE(qp->waits)) {
		/* Pairs with the release in mimic_post_send(). */
		head = smp_load_acquire(&qp->sq.head);
		if (head == qp->executed)
			break;
		wqe = mimic_queue_at(&qp->sq, qp->executed);
		late = late_reads &&
		       mimic_step_of(qp, wqe->opcode) == MIMIC_READ;
		if (late && !wqe->passed) {
			wqe->passed = true;
			queue_delayed_work(mimic_wq, &qp->later, 0);
			break;
		}
		if (late && pass_read(qp, wqe, head))
			continue;
		status = judge(qp, wqe, &done);
		if (!done)
			status = execute(qp, wqe);
		if (status == TRY_LATER)
			break;
		if (status != GOES_ON) {
			finish(qp, wqe, status);
			if (status)
				mimic_fall(qp);
		}
		if (qp->dev->engine_cpu >= 0) {
			/* Let other QPs' engines run before the next entry. */
			tasklet_schedule(&qp->engine);
			break;
		}
	}
}

static void flush_send_queue(struct mimic_qp *qp)
{
	u32 head;

	qp->silent = false;
	report_all(qp);
	/* Pairs with the release in mimic_post_send(). */
	while ((head = smp_load_acquire(&qp->sq.head)) != qp->executed)
		finish(qp, mimic_queue_at(&qp->sq, qp->executed),
		       IB_WC_WR_FLUSH_ERR);
}

static void flush_recv_queue(struct mimic_qp *qp)
{
	struct ib_wc wc = {
		.status	= IB_WC_WR_FLUSH_ERR,
		.opcode	= IB_WC_RECV,
		.qp	= &qp->ib,
	};
	struct mimic_wqe *wqe;

	/*
	 * No message reaches a QP in ERR, so all Receives that this QP took are in its
	 * CQ.
	 */
	if (qp->ib.srq) {
		if (!qp->last_wqe)
			mimic_qp_event(qp, IB_EVENT_QP_LAST_WQE_REACHED);
		qp->last_wqe = true;
		return;
	}
	while ((wqe = take_recv(qp, &qp->rq))) {
		wc.wr_cqe = wqe->cqe;
		mimic_complete(qp->ib.recv_cq, &wc, 0);
	}
}

/**
 * mimic_engine - tasklet of a QP
 * @t: mimic_qp.engine
 *
 * Context: softirq; a QP's tasklet runs on one CPU at a time.
 */
void mimic_engine(struct tasklet_struct *t)
{
	struct mimic_qp *qp = from_tasklet(qp, t, engine);

	rcu_read_lock();
	run_send_queue(qp);
	if (READ_ONCE(qp->state) == IB_QPS_ERR) {
		flush_send_queue(qp);
		flush_recv_queue(qp);
	}
	rcu_read_unlock();
}
