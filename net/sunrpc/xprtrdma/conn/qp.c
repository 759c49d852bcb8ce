// SPDX-License-Identifier: GPL-2.0
/*
 * PD, CQ and QP, sized from what the upper layer wants and the device has.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/sizes.h>
#include <linux/xarray.h>

#include "conn.h"

#include <trace/events/rpcrdma2.h>

/*
 * One registration covers 1 MiB, also one that starts in mid-page, where the
 * device can do it. And it is no multiple of 256: rxe, copying the last of so
 * many pages, looks for the next 256.
 */
#define MAX_PAGES	((SZ_1M >> PAGE_SHIFT) + 1)

/*
 * What an RDMA Write gathers: 64 KiB that start in mid-page, head and tail. With more, a
 * Send Queue has to be longer, and few RPCs have the use of it. If a device refuses
 * that, half as many are tried.
 */
#define WRITE_SGES	((SZ_64K >> PAGE_SHIFT) + 3)
#define MIN_WRITE_SGES	4

/* RDMA Reads to as many need no registration, unless rdma_rw is told to make one */
#define MIN_READ_SGES	16U

/* Calls whose Replies have a place on the Send Queue, where Receives are shared */
#define SHARED_CALLS	30

/* A device that raises the event does so at once. */
#define LAST_WQE_TIMEOUT	(HZ / 5)

/*
 * Devices, by their index, that refused a LOCAL_INV. At least hns says that it has what
 * FRWR needs, and takes none all the same.
 */
static DEFINE_XARRAY(no_local_inv);

/* At the end of the first connection that met with it. */
static void qp_note_refused_inv(struct ib_device *dev)
{
	if (xa_load(&no_local_inv, dev->index))
		return;
	pr_warn("device %s takes no LOCAL_INV: registrations will be given up instead, which is slow\n",
		dev->name);
	xa_store(&no_local_inv, dev->index, xa_mk_value(1), GFP_KERNEL);
}

/* A new device may have the index of one that is gone. */
static int qp_forget_refused_inv(struct ib_device *dev)
{
	xa_erase(&no_local_inv, dev->index);
	return 0;
}

static struct ib_client client = {
	.name	= KBUILD_MODNAME,
	.add	= qp_forget_refused_inv,
};

/**
 * rpcrdma2_qp_setup - module initialisation
 *
 * Return: 0 or negative errno
 */
int rpcrdma2_qp_setup(void)
{
	return ib_register_client(&client);
}

/**
 * rpcrdma2_qp_cleanup - module removal
 */
void rpcrdma2_qp_cleanup(void)
{
	ib_unregister_client(&client);
	xa_destroy(&no_local_inv);
}

/* Data moves by FRWR and Send With Invalidate only. */
static int qp_check_device(struct ib_device *dev)
{
	if (!(dev->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS) ||
	    !dev->attrs.max_fast_reg_page_list_len) {
		pr_err_ratelimited("device %s lacks memory management extensions (FRWR), which RPC-over-RDMA needs: not used\n",
				   dev->name);
		return -EOPNOTSUPP;
	}
	return 0;
}

static unsigned int qp_calls(const struct rpcrdma2_conn *conn)
{
	return conn->calls_out + conn->calls_in;
}

/**
 * rpcrdma2_qp_failed_work - the device says that the QP is of no more use
 * @work: of the connection, which is referenced
 *
 * Workqueue.
 */
void rpcrdma2_qp_failed_work(struct work_struct *work)
{
	struct rpcrdma2_conn *conn = container_of(work, struct rpcrdma2_conn,
						  qp_failed_work);

	rpcrdma2_conn_close(conn, -EIO);
	rpcrdma2_conn_put(conn);
}

/*
 * May come in interrupt context, as long as the QP exists. Not all devices flush the
 * Queues of a QP that failed before it is in the error state.
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
		/* Where nothing was on the Send Queue, nothing else says that it failed. */
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

/**
 * rpcrdma2_next_vector - a connection's turn at a device's completion vectors
 * @dev: the device
 * @active: this end connects
 *
 * And so at the CPUs that handle them. A server's connections have turns of their own:
 * else a machine that is its own client would have all of its client's on one half of the
 * vectors.
 *
 * Return: the vector
 */
unsigned int rpcrdma2_next_vector(const struct ib_device *dev, bool active)
{
	static atomic_t turns[2];
	unsigned int vectors = min_t(unsigned int, num_online_cpus(),
				     dev->num_comp_vectors);

	return (unsigned int)atomic_fetch_inc(&turns[active]) % vectors;
}

/*
 * The flush completes every WR, signaled or not, and a CQ that overflows loses
 * the end of the drain, and Receives that are shared. So there is an entry for
 * everything that may be on the Queues; the device may make the Queues themselves longer
 * than asked for.
 */
static int qp_create_cq(struct rpcrdma2_conn *conn,
			struct ib_qp_init_attr *attr)
{
	unsigned int recvs = conn->srq ? conn->srq->depth : attr->cap.max_recv_wr;
	unsigned int limit = conn->cm_id->device->attrs.max_cqe;
	unsigned int vector, cqes;

	/* An rdma_rw context may need three entries: see rdma_rw_init_qp(). */
	conn->sq_depth = attr->cap.max_send_wr + 3 * attr->cap.max_rdma_ctxs;
	cqes = conn->sq_depth + recvs;
	if (cqes > limit) {
		if (limit < 2 * recvs)
			return -EOPNOTSUPP;
		cqes = limit;
		conn->sq_depth = cqes - recvs;
	}
	vector = conn->srq ? conn->srq->vector :
		 rpcrdma2_next_vector(conn->cm_id->device, conn->active);
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
 * For each Call as many entries as it takes as a rule, and for one Call or Reply all the
 * segments that there may be; who finds no room waits. Some devices round the Send Queue
 * up to a power of two, of entries or of octets: with the defaults, what rdma_rw adds, and
 * so many SGEs, a client's takes just less than 512 entries. A server's connection that
 * shares its Receives is one of many, most of which are idle: it plans for few Calls, and
 * takes less than 128 KiB where an entry has 448 octets, as with mlx5.
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
 * As many as RDMA Reads of one Call may need at most. Several Calls seldom need more, and
 * wait if they do. On iWARP, each segment needs one, of rdma_rw's size at the most;
 * elsewhere, only those that the device had rather not have in SGEs.
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
	/* One entry more, for the drain. */
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
	/* A Send is one buffer; RDMA Writes gather. Those of a client are rare. */
	attr->cap.max_send_sge = min_t(u32, dev->attrs.max_send_sge,
				       conn->active ? MIN_WRITE_SGES : WRITE_SGES);
	attr->cap.max_rdma_ctxs = qp_read_registrations(conn);
}

/*
 * On some devices, the length of a Send Queue depends on the SGEs of its WRs, and
 * max_qp_wr is for the smallest. With fewer SGEs, a payload takes more RDMA Writes.
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
		/* rdma_rw has added to it. */
		attr->cap = cap;
	}
	if (rc)
		pr_err_ratelimited("device %s makes no queue pair with %u Sends and %u Receives (error %d): max_requests or slot_table_entries may be too large\n",
				   conn->cm_id->device->name, cap.max_send_wr,
				   cap.max_recv_wr, rc);
	return rc;
}

/* Credits are Receives: a device that has fewer of them allows fewer Calls. */
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

	rc = rpcrdma2_srq_attach(conn);
	if (rc != -EOPNOTSUPP)
		return rc;
	conn->pd = ib_alloc_pd(conn->cm_id->device, 0);
	if (!IS_ERR(conn->pd))
		return 0;
	rc = PTR_ERR(conn->pd);
	conn->pd = NULL;
	return rc;
}

/* A registration that the device did not give up keeps its PD. */
static void qp_put_pd(struct rpcrdma2_conn *conn)
{
	if (conn->srq)
		rpcrdma2_srq_detach(conn);
	else if (conn->pd && !conn->keeps_pd)
		ib_dealloc_pd(conn->pd);
	conn->pd = NULL;
}

/* Each Queue has an entry for the drain. */
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
 * rpcrdma2_qp_create - get everything that the connection needs of the device
 * @conn: a connection whose CM id is bound to a device
 *
 * Process context, sleeps. What was created before an error is released by
 * the teardown.
 *
 * Return: 0; -EOPNOTSUPP if the device is not up to it; other negative errno
 */
int rpcrdma2_qp_create(struct rpcrdma2_conn *conn)
{
	struct ib_device *dev = conn->cm_id->device;
	struct ib_qp_init_attr attr = { };
	int rc;

	rc = qp_check_device(dev);
	if (rc)
		return rc;
	conn->no_local_inv = xa_load(&no_local_inv, dev->index);

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
	/* "rdma resource" names who made it, which rdma_cm takes for itself. */
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
	/* The peer may speak first. */
	spin_lock(&conn->lock);
	rc = rpcrdma2_recv_pool_post(conn);
	spin_unlock(&conn->lock);
	return rc;
}

/*
 * The QP of a Shared Receive Queue does not flush what is there for others. One that was
 * never connected takes nothing, and need not say so.
 */
static void qp_wait_last_wqe(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_srq *srq = conn->srq;

	if (!READ_ONCE(conn->connected) ||
	    READ_ONCE(srq->events) == RPCRDMA2_RAISES_NONE ||
	    wait_for_completion_timeout(&conn->last_wqe, LAST_WQE_TIMEOUT))
		return;
	/* Where there was one ever, this one is late. */
	cmpxchg(&srq->events, RPCRDMA2_MAY_RAISE, RPCRDMA2_RAISES_NONE);
}

/* ib_drain_qp() does this, too, but says nothing if the device refuses. */
static int qp_set_error(struct ib_qp *qp)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	/* The driver has a way of its own. */
	if (qp->device->ops.drain_sq)
		return 0;
	return ib_modify_qp(qp, &attr, IB_QP_STATE);
}

/**
 * rpcrdma2_qp_drain - have every WR completed, and every completion handled
 * @conn: a connection in teardown, with a QP
 *
 * Process context, sleeps.
 *
 * Return: 0, or negative errno: the QP goes on
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
	/* The CQ has handled what came before this. */
	ib_drain_sq(conn->qp);
	return 0;
}

/*
 * A device that raises no event may have filled a Receive that is shared after the drain.
 * Once the QP is gone it will not; it is looked for, so that it goes back.
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
 * rpcrdma2_qp_abort - end a QP that can't be drained
 * @conn: a connection in teardown that nobody is in
 * @rc: what rpcrdma2_qp_drain() returned
 *
 * Process context, sleeps. Once the QP is destroyed, the device reaches no memory by
 * it, and the CQ gets no more completions. But rdma_rw contexts need the QP until they
 * are destroyed: an end that moves data keeps the QP until then.
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
 * rpcrdma2_qp_destroy - give everything back to the device
 * @conn: a connection in teardown, its QP drained or aborted
 *
 * Process context, sleeps.
 */
void rpcrdma2_qp_destroy(struct rpcrdma2_conn *conn)
{
	if (conn->inv_refused)
		qp_note_refused_inv(conn->cm_id->device);
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
