// SPDX-License-Identifier: GPL-2.0
/*
 * An endpoint's protection domain (PD), CQ and QP: sizes them, creates them, drains and
 * destroys them.
 *
 * Sizes follow struct rpcrdma2_ep_param and the limits of the device. The connection calls
 * rpcrdma2_qp_open() and rpcrdma2_qp_create() before it connects or accepts, and the other
 * functions in its teardown.
 *
 * All functions run in process context and sleep, but for qp_event(), which may run in
 * interrupt context.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/sizes.h>

#include "device.h"
#include "ep.h"

#include <trace/events/rpcrdma2.h>

/*
 * A registration covers 1 MiB even if it starts in mid-page, as far as the device can. The
 * number must not be a multiple of 256: after the last page of such a number, rxe looks for a
 * next group of 256.
 */
#define MAX_PAGES	((SZ_1M >> PAGE_SHIFT) + 1)

/*
 * SGEs of an RDMA Write: 64 KiB that start in mid-page, a head and a tail. More would make
 * Send Queues longer, and few RPCs would use them. A device that refuses gets half as many:
 * see qp_try_create().
 */
#define WRITE_SGES	((SZ_64K >> PAGE_SHIFT) + 3)
#define MIN_WRITE_SGES	4

/*
 * RDMA Reads into up to this many SGEs need no registration, unless rdma_rw is told to make
 * one.
 */
#define MIN_READ_SGES	16U

/* Calls for which an endpoint with shared Receives plans Send Queue entries */
#define SHARED_CALLS	30

/* A device that raises IB_EVENT_QP_LAST_WQE_REACHED does so well within this time. */
#define LAST_WQE_TIMEOUT	(HZ / 5)

static unsigned int qp_calls(const struct rpcrdma2_ep *ep)
{
	return ep->calls_out + ep->calls_in;
}

/*
 * Context: any, interrupts included, as long as the QP exists. A driver may call this inside
 *	ib_post_send(), so ep->lock may be held: leave the close to a work. Some devices do
 *	not flush the Queues of a failed QP before the teardown sets the error state.
 */
static void qp_event(struct ib_event *event, void *context)
{
	struct rpcrdma2_ep *ep = context;

	trace_rpcrdma2_qp_event(ep, event->event);
	switch (event->event) {
	case IB_EVENT_QP_LAST_WQE_REACHED:
		if (ep->srq)
			WRITE_ONCE(ep->srq->events, RPCRDMA2_RAISES_EVENTS);
		complete_all(&ep->member.last_wqe);
		if (READ_ONCE(ep->closing))
			break;
		/* The QP has failed. If its Send Queue was empty, no completion says so. */
		fallthrough;
	case IB_EVENT_QP_FATAL:
	case IB_EVENT_QP_REQ_ERR:
	case IB_EVENT_QP_ACCESS_ERR:
		queue_work(rpcrdma2_wq, &ep->failed_work);
		break;
	default:
		break;
	}
}

/*
 * Create a CQ with an entry for each WR that can be on the Queues: the flush completes all of
 * them, signaled or not. A CQ that overflows would lose the end of the drain, and shared
 * Receives. The device may make the Queues longer than asked for, so ep->sq_depth remembers
 * the plan.
 */
static int qp_create_cq(struct rpcrdma2_ep *ep,
			struct ib_qp_init_attr *attr)
{
	unsigned int recvs = ep->srq ? ep->srq->depth : attr->cap.max_recv_wr;
	unsigned int limit = ep->cm_id->device->attrs.max_cqe;
	unsigned int vector, cqes;

	/* An rdma_rw context may take three entries: see rdma_rw_init_qp(). */
	ep->sq_depth = attr->cap.max_send_wr + 3 * attr->cap.max_rdma_ctxs;
	cqes = ep->sq_depth + recvs;
	if (cqes > limit) {
		if (limit < 2 * recvs)
			return -EOPNOTSUPP;
		cqes = limit;
		ep->sq_depth = cqes - recvs;
	}
	vector = ep->srq ? ep->srq->vector :
		 rpcrdma2_device_vector(ep->cm_id->device, ep->active);
	ep->cq = ib_alloc_cq(ep->cm_id->device, ep, cqes, vector,
			     IB_POLL_WORKQUEUE);
	if (IS_ERR(ep->cq)) {
		int rc = PTR_ERR(ep->cq);

		ep->cq = NULL;
		return rc;
	}
	return 0;
}

/*
 * Plan for the typical number of entries per Call, and for the maximum number of segments of
 * one Call or Reply. Other Calls and Replies wait if the Queue is full.
 *
 * Some devices round the Queue up to a power of two, of entries or of octets. With default
 * parameters, a client's Queue takes just less than 512 entries. A server has many
 * endpoints with shared Receives, most of them idle, so each plans for few Calls. With
 * rdma_rw's entries, such a Queue takes less than 128 KiB if an entry has 448 octets, as on
 * mlx5.
 */
static unsigned int qp_send_entries(const struct rpcrdma2_ep *ep)
{
	unsigned int calls = qp_calls(ep);

	if (ep->srq)
		calls = min_t(unsigned int, calls, SHARED_CALLS);
	return calls * ep->param.wrs_per_call +
	       RPCRDMA2_OWN_SEGMENTS + RPCRDMA2_CONTROL_RECVS +
	       RPCRDMA2_HEARTBEATS;
}

/*
 * Plan the maximum number of registrations that the RDMA Reads of one Call may need. Several
 * Calls at a time seldom need more, and wait if they do. On iWARP, each segment needs a
 * registration of at most rdma_rw's size. Elsewhere, only Reads with more SGEs than the
 * device prefers need one.
 */
static unsigned int qp_read_registrations(const struct rpcrdma2_ep *ep)
{
	const struct rdma_cm_id *cm_id = ep->cm_id;
	const struct ib_device_attr *attrs = &cm_id->device->attrs;
	unsigned int pages = ep->param.job_pages + RPCRDMA2_OWN_SEGMENTS;

	if (!rdma_protocol_iwarp(cm_id->device, cm_id->port_num))
		return DIV_ROUND_UP(pages, max(attrs->max_sgl_rd, MIN_READ_SGES) + 1);
	return RPCRDMA2_OWN_SEGMENTS +
	       DIV_ROUND_UP(pages, clamp(attrs->max_fast_reg_page_list_len, 1U,
					 256U));
}

static void qp_fill_attr(struct rpcrdma2_ep *ep,
			 struct ib_qp_init_attr *attr)
{
	struct ib_device *dev = ep->cm_id->device;
	unsigned int calls = qp_calls(ep);

	attr->event_handler = qp_event;
	attr->qp_context = ep;
	attr->port_num = ep->cm_id->port_num;
	attr->sq_sig_type = IB_SIGNAL_REQ_WR;
	attr->qp_type = IB_QPT_RC;
	/* Each Queue has one entry more, for the drain. */
	if (ep->srq)
		attr->srq = ep->srq->srq;
	else
		attr->cap.max_recv_wr = min_t(u32, dev->attrs.max_qp_wr,
					      calls + RPCRDMA2_CONTROL_RECVS + 1);
	attr->cap.max_send_wr = min_t(u32, dev->attrs.max_qp_wr,
				      qp_send_entries(ep) + 1);
	attr->cap.max_send_sge = 1;
	attr->cap.max_recv_sge = 1;
	if (!ep->param.moves_data)
		return;
	/* A Send has one SGE; RDMA Writes gather. A client seldom makes RDMA Writes. */
	attr->cap.max_send_sge = min_t(u32, dev->attrs.max_send_sge,
				       ep->active ? MIN_WRITE_SGES : WRITE_SGES);
	attr->cap.max_rdma_ctxs = qp_read_registrations(ep);
}

/*
 * rdma_create_qp() sets the new QP to INIT, and fails with -EINVAL if the CM gives no
 * attributes for that. It gives none once the peer has abandoned its request to connect.
 */
static bool qp_peer_gave_up(struct rdma_cm_id *id)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT };
	int mask;

	return rdma_init_qp_attr(id, &attr, &mask) != 0;
}

/*
 * On some devices, more SGEs per WR make a Send Queue shorter, and max_qp_wr holds for the
 * minimum of SGEs. With fewer SGEs, a payload takes more RDMA Writes.
 */
static int qp_try_create(struct rpcrdma2_ep *ep,
			 struct ib_qp_init_attr *attr)
{
	struct ib_qp_cap cap = attr->cap;
	int rc;

	for (;;) {
		rc = rdma_create_qp(ep->cm_id, ep->pd, attr);
		if (!rc)
			return 0;
		if (qp_peer_gave_up(ep->cm_id))
			return -ECONNABORTED;
		if (cap.max_send_sge <= MIN_WRITE_SGES)
			break;
		cap.max_send_sge = max_t(u32, cap.max_send_sge / 2,
					 MIN_WRITE_SGES);
		/* rdma_create_qp() has added rdma_rw's entries. */
		attr->cap = cap;
	}
	pr_err_ratelimited("device %s makes no queue pair with %u Sends and %u Receives (error %d): max_requests or slot_table_entries may be too large\n",
			   ep->cm_id->device->name, cap.max_send_wr,
			   cap.max_recv_wr, rc);
	return rc;
}

/* Each credit needs a Receive. So a device with fewer Receives allows fewer Calls. */
static void qp_limit_calls(struct rpcrdma2_ep *ep)
{
	unsigned int *larger;

	while (qp_calls(ep) + RPCRDMA2_CONTROL_RECVS > ep->recvs.depth) {
		larger = ep->calls_in > ep->calls_out ?
			 &ep->calls_in : &ep->calls_out;
		(*larger)--;
	}
	ep->grant.now = min(ep->grant.now, ep->calls_in);
	ep->grant.most = ep->grant.now;
}

static int qp_get_pd(struct rpcrdma2_ep *ep)
{
	int rc;

	rc = rpcrdma2_srq_attach(ep, rpcrdma2_recv_done);
	if (rc != -EOPNOTSUPP)
		return rc;
	ep->pd = ib_alloc_pd(ep->cm_id->device, 0);
	if (!IS_ERR(ep->pd))
		return 0;
	rc = PTR_ERR(ep->pd);
	ep->pd = NULL;
	return rc;
}

/* A registration that the device did not give up still uses the PD: leak the PD. */
static void qp_put_pd(struct rpcrdma2_ep *ep)
{
	if (ep->srq)
		rpcrdma2_srq_detach(ep);
	else if (ep->pd && !ep->keeps_pd)
		ib_dealloc_pd(ep->pd);
	ep->pd = NULL;
}

/* One entry of the Receive Queue is for the drain. */
static int qp_limit_recvs(struct rpcrdma2_ep *ep, unsigned int entries)
{
	ep->recvs.depth = qp_calls(ep) + RPCRDMA2_CONTROL_RECVS;
	if (ep->srq)
		return 0;
	ep->recvs.depth = min(ep->recvs.depth, entries - 1);
	if (ep->recvs.depth < RPCRDMA2_CONTROL_RECVS + 2)
		return -EOPNOTSUPP;
	qp_limit_calls(ep);
	return 0;
}

/**
 * rpcrdma2_qp_open - look at the device, and get a PD and perhaps shared Receives
 * @ep: an endpoint whose CM id is bound to a device
 *
 * After an error, the teardown releases the parts that were created.
 *
 * Context: Process; sleeps. The caller is between enter and exit.
 * Return: 0; -EOPNOTSUPP: the device lacks a feature; other negative errno
 */
int rpcrdma2_qp_open(struct rpcrdma2_ep *ep)
{
	struct ib_device *dev = ep->cm_id->device;
	int rc;

	rc = rpcrdma2_device_check(dev);
	if (rc)
		return rc;
	ep->no_local_inv = !rpcrdma2_device_takes_inv(dev);
	ep->sends_references = rpcrdma2_device_sends_references(dev);
	ep->max_pages = min_t(unsigned int, MAX_PAGES,
			      dev->attrs.max_fast_reg_page_list_len);
	return qp_get_pd(ep);
}

/**
 * rpcrdma2_qp_create - create CQ and QP, a buffer for one Send, and the first Receives
 * @ep: an open endpoint, with the sizes of its buffers
 *
 * After an error, the teardown releases the parts that were created.
 *
 * Context: Process; sleeps. The caller is between enter and exit.
 * Return: 0; -EOPNOTSUPP: the device is too small; -ECONNABORTED: the peer has abandoned its
 *	request to connect; other negative errno
 */
int rpcrdma2_qp_create(struct rpcrdma2_ep *ep)
{
	struct ib_qp_init_attr attr = { };
	int rc;

	qp_fill_attr(ep, &attr);
	rc = qp_create_cq(ep, &attr);
	if (rc)
		return rc;
	attr.send_cq = ep->cq;
	attr.recv_cq = ep->cq;
	rc = qp_try_create(ep, &attr);
	if (rc)
		return rc;
	ep->qp = ep->cm_id->qp;
	/* "rdma resource" shows this name; rdma_cm has put its own there. */
	ep->qp->res.kern_name = KBUILD_MODNAME;
	ep->sq_depth = min(ep->sq_depth, attr.cap.max_send_wr) - 1;
	rc = qp_limit_recvs(ep, attr.cap.max_recv_wr);
	if (rc)
		return rc;
	rc = rpcrdma2_send_pool_provide(ep, GFP_KERNEL);
	if (rc)
		return rc;
	if (!rpcrdma2_recv_pool_provide(ep, 1, GFP_KERNEL))
		return -ENOMEM;
	/* Post Receives now: the peer may send before this end does. */
	spin_lock(&ep->lock);
	rc = rpcrdma2_recv_pool_post(ep);
	spin_unlock(&ep->lock);
	return rc;
}

/*
 * Wait until the QP takes no more Receives of the Shared Receive Queue. The flush does not
 * complete these, as other endpoints use them. A QP that was never connected takes none.
 */
static void qp_wait_last_wqe(struct rpcrdma2_ep *ep)
{
	struct rpcrdma2_srq *srq = ep->srq;

	if (!READ_ONCE(ep->connected) ||
	    READ_ONCE(srq->events) == RPCRDMA2_RAISES_NONE ||
	    wait_for_completion_timeout(&ep->member.last_wqe, LAST_WQE_TIMEOUT))
		return;
	/* A device that has raised the event before is just late now. */
	cmpxchg(&srq->events, RPCRDMA2_MAY_RAISE, RPCRDMA2_RAISES_NONE);
}

/* ib_drain_qp() sets the error state, too, but does not return an error. */
static int qp_set_error(struct ib_qp *qp)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	/* The driver drains by a method of its own. */
	if (qp->device->ops.drain_sq)
		return 0;
	return ib_modify_qp(qp, &attr, IB_QP_STATE);
}

/**
 * rpcrdma2_qp_drain - complete all WRs, and wait until all completions are handled
 * @ep: an endpoint in teardown, with a QP
 *
 * Context: Process; sleeps.
 * Return: 0; negative errno: the device did not stop the QP
 */
int rpcrdma2_qp_drain(struct rpcrdma2_ep *ep)
{
	int rc = qp_set_error(ep->qp);

	if (rc)
		return rc;
	if (!ep->srq) {
		ib_drain_qp(ep->qp);
		return 0;
	}
	ib_drain_sq(ep->qp);
	qp_wait_last_wqe(ep);
	/* After this, the CQ has handled all completions that came before the event. */
	ib_drain_sq(ep->qp);
	return 0;
}

/*
 * Handle completions of shared Receives that came after the drain, so that the Receives go
 * back to their Queue. A device without the event may cause them. The QP is destroyed, so
 * there will be no more. The CQ's work queues itself again if it finds many, so cancel it: two
 * threads must not handle one connection's Receives.
 */
static void qp_reap_cq(struct ib_cq *cq)
{
	struct ib_wc wc;

	cancel_work_sync(&cq->work);
	while (ib_poll_cq(cq, 1, &wc) > 0)
		if (wc.wr_cqe)
			wc.wr_cqe->done(cq, &wc);
}

/*
 * Destroy the QP. No event comes after that, so @failed_work is not queued again. Cancel the
 * work without a QP, too: rdma_create_qp() may have failed after an event.
 */
static void qp_end(struct rpcrdma2_ep *ep)
{
	if (ep->qp)
		rdma_destroy_qp(ep->cm_id);
	ep->qp = NULL;
	cancel_work_sync(&ep->failed_work);
}

/**
 * rpcrdma2_qp_abort - stop a QP that cannot be drained
 * @ep: an endpoint in teardown, without users
 * @rc: negative errno of rpcrdma2_qp_drain()
 *
 * Destroys the QP. After that, the device reaches no memory through it, and the CQ gets no
 * completions. An end that moves data keeps the QP until rpcrdma2_qp_destroy(), because its
 * rdma_rw contexts need the QP to be destroyed.
 *
 * Context: Process; sleeps.
 */
void rpcrdma2_qp_abort(struct rpcrdma2_ep *ep, int rc)
{
	pr_err_ratelimited("device %s does not stop a queue pair (error %d)\n",
			   ep->cm_id->device->name, rc);
	if (ep->param.moves_data)
		return;
	qp_end(ep);
	qp_reap_cq(ep->cq);
}

/**
 * rpcrdma2_qp_destroy - release QP, CQ, buffer mappings and PD
 * @ep: an endpoint in teardown; its QP, if any, is drained or aborted
 *
 * Context: Process; sleeps.
 */
void rpcrdma2_qp_destroy(struct rpcrdma2_ep *ep)
{
	if (ep->sq.inv_refused)
		rpcrdma2_device_refuses_inv(ep->cm_id->device);
	qp_end(ep);
	if (ep->cq && ep->srq)
		qp_reap_cq(ep->cq);
	if (ep->cq)
		ib_free_cq(ep->cq);
	ep->cq = NULL;
	rpcrdma2_recv_pool_unmap(ep);
	rpcrdma2_send_pool_unmap(ep);
	qp_put_pd(ep);
}
