// SPDX-License-Identifier: GPL-2.0
/*
 * A connection's protection domain, CQ and QP: sizes them, creates them, drains and destroys
 * them.
 *
 * Sizes follow the wishes of the layer above and the limits of the device. All functions run
 * in process context and sleep, but for qp_event(), which may run in interrupt context.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/sizes.h>

#include "conn.h"

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

/* Calls for which a connection with shared Receives plans Send Queue entries */
#define SHARED_CALLS	30

/* A device that raises IB_EVENT_QP_LAST_WQE_REACHED does so well within this time. */
#define LAST_WQE_TIMEOUT	(HZ / 5)

static unsigned int qp_calls(const struct rpcrdma2_conn *conn)
{
	return conn->calls_out + conn->calls_in;
}

/**
 * rpcrdma2_qp_failed_work - close a connection whose QP has failed
 * @work: the connection's; its reference is dropped here
 *
 * Context: Workqueue rpcrdma2_wq.
 */
void rpcrdma2_qp_failed_work(struct work_struct *work)
{
	struct rpcrdma2_conn *conn = container_of(work, struct rpcrdma2_conn,
						  qp_failed_work);

	rpcrdma2_conn_close(conn, -EIO);
	rpcrdma2_conn_put(conn);
}

/*
 * Context: any, interrupts included, as long as the QP exists. A driver may call this inside
 *	ib_post_send(), so conn->lock may be held: leave the close to a work. Some devices do
 *	not flush the Queues of a failed QP before the teardown sets the error state.
 */
static void qp_event(struct ib_event *event, void *context)
{
	struct rpcrdma2_conn *conn = context;

	trace_rpcrdma2_qp_event(conn, event->event);
	switch (event->event) {
	case IB_EVENT_QP_LAST_WQE_REACHED:
		if (conn->srq)
			WRITE_ONCE(conn->srq->events, RPCRDMA2_RAISES_EVENTS);
		complete_all(&conn->last_wqe);
		if (READ_ONCE(conn->state) >= RPCRDMA2_CONN_CLOSING)
			break;
		/* The QP has failed. If its Send Queue was empty, no completion says so. */
		fallthrough;
	case IB_EVENT_QP_FATAL:
	case IB_EVENT_QP_REQ_ERR:
	case IB_EVENT_QP_ACCESS_ERR:
		rpcrdma2_conn_get(conn);
		if (!queue_work(rpcrdma2_wq, &conn->qp_failed_work))
			rpcrdma2_conn_put(conn);
		break;
	default:
		break;
	}
}

/*
 * Create a CQ with an entry for each WR that can be on the Queues: the flush completes all of
 * them, signaled or not. A CQ that overflows would lose the end of the drain, and shared
 * Receives. The device may make the Queues longer than asked for, so conn->sq_depth remembers
 * the plan.
 */
static int qp_create_cq(struct rpcrdma2_conn *conn,
			struct ib_qp_init_attr *attr)
{
	unsigned int recvs = conn->srq ? conn->srq->depth : attr->cap.max_recv_wr;
	unsigned int limit = conn->cm_id->device->attrs.max_cqe;
	unsigned int vector, cqes;

	/* An rdma_rw context may take three entries: see rdma_rw_init_qp(). */
	conn->sq_depth = attr->cap.max_send_wr + 3 * attr->cap.max_rdma_ctxs;
	cqes = conn->sq_depth + recvs;
	if (cqes > limit) {
		if (limit < 2 * recvs)
			return -EOPNOTSUPP;
		cqes = limit;
		conn->sq_depth = cqes - recvs;
	}
	vector = conn->srq ? conn->srq->vector :
		 rpcrdma2_device_vector(conn->cm_id->device, conn->active);
	conn->cq = ib_alloc_cq(conn->cm_id->device, conn, cqes, vector,
			       IB_POLL_WORKQUEUE);
	if (IS_ERR(conn->cq)) {
		int rc = PTR_ERR(conn->cq);

		conn->cq = NULL;
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
 * connections with shared Receives, most of them idle, so each plans for few Calls. With
 * rdma_rw's entries, such a Queue takes less than 128 KiB if an entry has 448 octets, as on
 * mlx5.
 */
static unsigned int qp_send_entries(const struct rpcrdma2_conn *conn)
{
	unsigned int calls = qp_calls(conn);

	if (conn->srq)
		calls = min_t(unsigned int, calls, SHARED_CALLS);
	return calls * conn->param.wrs_per_call +
	       RPCRDMA2_OWN_SEGMENTS + RPCRDMA2_CONTROL_RECVS +
	       RPCRDMA2_HEARTBEATS;
}

/*
 * Plan the maximum number of registrations that the RDMA Reads of one Call may need. Several
 * Calls at a time seldom need more, and wait if they do. On iWARP, each segment needs a
 * registration of at most rdma_rw's size. Elsewhere, only Reads with more SGEs than the
 * device prefers need one.
 */
static unsigned int qp_read_registrations(const struct rpcrdma2_conn *conn)
{
	const struct rdma_cm_id *cm_id = conn->cm_id;
	const struct ib_device_attr *attrs = &cm_id->device->attrs;
	unsigned int pages = conn->param.job_pages + RPCRDMA2_OWN_SEGMENTS;

	if (!rdma_protocol_iwarp(cm_id->device, cm_id->port_num))
		return DIV_ROUND_UP(pages, max(attrs->max_sgl_rd, MIN_READ_SGES) + 1);
	return RPCRDMA2_OWN_SEGMENTS +
	       DIV_ROUND_UP(pages, clamp(attrs->max_fast_reg_page_list_len, 1U,
					 256U));
}

static void qp_fill_attr(struct rpcrdma2_conn *conn,
			 struct ib_qp_init_attr *attr)
{
	struct ib_device *dev = conn->cm_id->device;
	unsigned int calls = qp_calls(conn);

	attr->event_handler = qp_event;
	attr->qp_context = conn;
	attr->port_num = conn->cm_id->port_num;
	attr->sq_sig_type = IB_SIGNAL_REQ_WR;
	attr->qp_type = IB_QPT_RC;
	/* Each Queue has one entry more, for the drain. */
	if (conn->srq)
		attr->srq = conn->srq->srq;
	else
		attr->cap.max_recv_wr = min_t(u32, dev->attrs.max_qp_wr,
					      calls + RPCRDMA2_CONTROL_RECVS + 1);
	attr->cap.max_send_wr = min_t(u32, dev->attrs.max_qp_wr,
				      qp_send_entries(conn) + 1);
	attr->cap.max_send_sge = 1;
	attr->cap.max_recv_sge = 1;
	if (!rpcrdma2_conn_moves_data(conn))
		return;
	/* A Send has one SGE; RDMA Writes gather. A client seldom makes RDMA Writes. */
	attr->cap.max_send_sge = min_t(u32, dev->attrs.max_send_sge,
				       conn->active ? MIN_WRITE_SGES : WRITE_SGES);
	attr->cap.max_rdma_ctxs = qp_read_registrations(conn);
}

/*
 * On some devices, more SGEs per WR make a Send Queue shorter, and max_qp_wr holds for the
 * minimum of SGEs. With fewer SGEs, a payload takes more RDMA Writes.
 */
static int qp_try_create(struct rpcrdma2_conn *conn,
			 struct ib_qp_init_attr *attr)
{
	struct ib_qp_cap cap = attr->cap;
	int rc;

	for (;;) {
		rc = rdma_create_qp(conn->cm_id, conn->pd, attr);
		if (!rc || cap.max_send_sge <= MIN_WRITE_SGES)
			break;
		cap.max_send_sge = max_t(u32, cap.max_send_sge / 2,
					 MIN_WRITE_SGES);
		/* rdma_create_qp() has added rdma_rw's entries. */
		attr->cap = cap;
	}
	if (rc)
		pr_err_ratelimited("device %s makes no queue pair with %u Sends and %u Receives (error %d): max_requests or slot_table_entries may be too large\n",
				   conn->cm_id->device->name, cap.max_send_wr,
				   cap.max_recv_wr, rc);
	return rc;
}

/* Each credit needs a Receive. So a device with fewer Receives allows fewer Calls. */
static void qp_limit_calls(struct rpcrdma2_conn *conn)
{
	unsigned int *larger;

	while (qp_calls(conn) + RPCRDMA2_CONTROL_RECVS > conn->recv_depth) {
		larger = conn->calls_in > conn->calls_out ?
			 &conn->calls_in : &conn->calls_out;
		(*larger)--;
	}
	conn->grant_out = min(conn->grant_out, conn->calls_in);
	conn->grant_out_max = conn->grant_out;
}

static int qp_get_pd(struct rpcrdma2_conn *conn)
{
	int rc;

	rc = rpcrdma2_srq_attach(conn, rpcrdma2_recv_done);
	if (rc != -EOPNOTSUPP)
		return rc;
	conn->pd = ib_alloc_pd(conn->cm_id->device, 0);
	if (!IS_ERR(conn->pd))
		return 0;
	rc = PTR_ERR(conn->pd);
	conn->pd = NULL;
	return rc;
}

/* A registration that the device did not give up still uses the PD: leak the PD. */
static void qp_put_pd(struct rpcrdma2_conn *conn)
{
	if (conn->srq)
		rpcrdma2_srq_detach(conn);
	else if (conn->pd && !conn->keeps_pd)
		ib_dealloc_pd(conn->pd);
	conn->pd = NULL;
}

/* One entry of the Receive Queue is for the drain. */
static int qp_limit_recvs(struct rpcrdma2_conn *conn, unsigned int entries)
{
	conn->recv_depth = qp_calls(conn) + RPCRDMA2_CONTROL_RECVS;
	if (conn->srq)
		return 0;
	conn->recv_depth = min(conn->recv_depth, entries - 1);
	if (conn->recv_depth < RPCRDMA2_CONTROL_RECVS + 2)
		return -EOPNOTSUPP;
	qp_limit_calls(conn);
	return 0;
}

/**
 * rpcrdma2_qp_create - create PD, CQ and QP, buffers for one Send, and the first Receives
 * @conn: a connection whose CM id is bound to a device
 *
 * After an error, the teardown releases the parts that were created.
 *
 * Context: Process; sleeps. The caller is between enter and exit.
 * Return: 0; -EOPNOTSUPP: the device lacks a feature or is too small; other negative errno
 */
int rpcrdma2_qp_create(struct rpcrdma2_conn *conn)
{
	struct ib_device *dev = conn->cm_id->device;
	struct ib_qp_init_attr attr = { };
	int rc;

	rc = rpcrdma2_device_check(dev);
	if (rc)
		return rc;
	conn->no_local_inv = !rpcrdma2_device_takes_inv(dev);

	rc = qp_get_pd(conn);
	if (rc)
		return rc;
	qp_fill_attr(conn, &attr);
	rc = qp_create_cq(conn, &attr);
	if (rc)
		return rc;
	attr.send_cq = conn->cq;
	attr.recv_cq = conn->cq;
	rc = qp_try_create(conn, &attr);
	if (rc)
		return rc;
	conn->qp = conn->cm_id->qp;
	/* "rdma resource" shows this name; rdma_cm has put its own there. */
	conn->qp->res.kern_name = KBUILD_MODNAME;
	conn->sq_depth = min(conn->sq_depth, attr.cap.max_send_wr) - 1;
	rc = qp_limit_recvs(conn, attr.cap.max_recv_wr);
	if (rc)
		return rc;
	conn->max_pages = min_t(unsigned int, MAX_PAGES,
				dev->attrs.max_fast_reg_page_list_len);
	rpcrdma2_heartbeat_init(conn);
	rc = rpcrdma2_send_pool_provide(conn, GFP_KERNEL);
	if (rc)
		return rc;
	if (!rpcrdma2_recv_pool_provide(conn, 1, GFP_KERNEL))
		return -ENOMEM;
	/* Post Receives now: the peer may send before this end does. */
	spin_lock(&conn->lock);
	rc = rpcrdma2_recv_pool_post(conn);
	spin_unlock(&conn->lock);
	return rc;
}

/*
 * Wait until the QP takes no more Receives of the Shared Receive Queue. The flush does not
 * complete those, as other connections use them. A QP that was never connected takes none.
 */
static void qp_wait_last_wqe(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_srq *srq = conn->srq;

	if (!READ_ONCE(conn->connected) ||
	    READ_ONCE(srq->events) == RPCRDMA2_RAISES_NONE ||
	    wait_for_completion_timeout(&conn->last_wqe, LAST_WQE_TIMEOUT))
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
 * @conn: a connection in teardown, with a QP
 *
 * Context: Process; sleeps.
 * Return: 0; negative errno: the device did not stop the QP
 */
int rpcrdma2_qp_drain(struct rpcrdma2_conn *conn)
{
	int rc = qp_set_error(conn->qp);

	if (rc)
		return rc;
	if (!conn->srq) {
		ib_drain_qp(conn->qp);
		return 0;
	}
	ib_drain_sq(conn->qp);
	qp_wait_last_wqe(conn);
	/* After this, the CQ has handled all completions that came before the event. */
	ib_drain_sq(conn->qp);
	return 0;
}

/*
 * Handle completions of shared Receives that came after the drain, so that the Receives go
 * back to their Queue. A device without the event may cause them. The QP is destroyed, so
 * there will be no more.
 */
static void qp_reap_cq(struct ib_cq *cq)
{
	struct ib_wc wc;

	flush_work(&cq->work);
	while (ib_poll_cq(cq, 1, &wc) > 0)
		if (wc.wr_cqe)
			wc.wr_cqe->done(cq, &wc);
}

/**
 * rpcrdma2_qp_abort - stop a QP that cannot be drained
 * @conn: a connection in teardown, without users
 * @rc: negative errno of rpcrdma2_qp_drain()
 *
 * Destroys the QP. After that, the device reaches no memory through it, and the CQ gets no
 * completions. An end that moves data keeps the QP until rpcrdma2_qp_destroy(), because its
 * rdma_rw contexts need the QP to be destroyed.
 *
 * Context: Process; sleeps.
 */
void rpcrdma2_qp_abort(struct rpcrdma2_conn *conn, int rc)
{
	pr_err_ratelimited("device %s does not stop a queue pair (error %d)\n",
			   conn->cm_id->device->name, rc);
	if (rpcrdma2_conn_moves_data(conn))
		return;
	rdma_destroy_qp(conn->cm_id);
	conn->qp = NULL;
	qp_reap_cq(conn->cq);
}

/**
 * rpcrdma2_qp_destroy - release QP, CQ, buffer mappings and PD
 * @conn: a connection in teardown; its QP is drained or aborted
 *
 * Context: Process; sleeps.
 */
void rpcrdma2_qp_destroy(struct rpcrdma2_conn *conn)
{
	if (conn->inv_refused)
		rpcrdma2_device_refuses_inv(conn->cm_id->device);
	if (conn->qp)
		rdma_destroy_qp(conn->cm_id);
	conn->qp = NULL;
	if (conn->cq && conn->srq)
		qp_reap_cq(conn->cq);
	if (conn->cq)
		ib_free_cq(conn->cq);
	conn->cq = NULL;
	rpcrdma2_recv_pool_unmap(conn);
	rpcrdma2_send_pool_unmap(conn);
	qp_put_pd(conn);
}
