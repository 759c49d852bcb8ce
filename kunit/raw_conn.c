// SPDX-License-Identifier: GPL-2.0
/*
 * Connects two QPs of this machine with each other.
 *
 * The functions run in process context. CM events come from the CM's workqueue, one at
 * a time for each CM id.
 */
#include <linux/inet.h>
#include <linux/module.h>
#include "raw_bench.h"

static char *addr = "192.168.77.1";
module_param(addr, charp, 0444);
MODULE_PARM_DESC(addr, "an IPv4 address of this machine, on the device");

static ushort port = 20053;
module_param(port, ushort, 0444);
MODULE_PARM_DESC(port, "to connect the QPs");

#define RAW_TIMEOUT_MS		5000

/*
 * An exchange takes up to two entries at each end. An entry becomes free when a later
 * signaled Send completes.
 */
static unsigned int raw_send_depth(void)
{
	if (!raw.exchange)
		return raw.job->depth;
	return 2 * (raw.job->depth + 2 * RAW_SIGNAL_INTERVAL);
}

static int raw_create_qp(struct rdma_cm_id *id)
{
	struct ib_qp_init_attr attr = {
		.send_cq	= raw.cq,
		.recv_cq	= raw.cq,
		.cap		= {
			/* The additional entry is for draining the QP. */
			.max_send_wr	= raw_send_depth() + 1,
			.max_recv_wr	= raw.job->depth + 1,
			.max_send_sge	= 1,
			.max_recv_sge	= 1,
		},
		.sq_sig_type	= IB_SIGNAL_REQ_WR,
		.qp_type	= IB_QPT_RC,
	};

	return rdma_create_qp(id, raw.pd, &attr);
}

static void raw_conn_param(struct rdma_conn_param *param)
{
	const struct ib_device_attr *attrs = &raw.pd->device->attrs;
	int reads = min3(attrs->max_qp_rd_atom, attrs->max_qp_init_rd_atom,
			 (int)U8_MAX);

	memset(param, 0, sizeof(*param));
	param->responder_resources = reads;
	param->initiator_depth = reads;
	param->retry_count = 7;
	param->rnr_retry_count = 7;
}

static int raw_accept(struct rdma_cm_id *id)
{
	struct rdma_conn_param param;
	int ret;

	ret = raw_create_qp(id);
	if (ret)
		return ret;
	raw_conn_param(&param);
	ret = rdma_accept(id, &param);
	if (ret) {
		rdma_destroy_qp(id);
		return ret;
	}
	raw.far = id;
	return 0;
}

static int raw_cm_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return raw_accept(id);
	case RDMA_CM_EVENT_ESTABLISHED:
		if (id == raw.far)
			return 0;
		fallthrough;
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		raw.status = 0;
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return 0;
	default:
		raw.status = event->status < 0 ? event->status : -ECONNREFUSED;
		break;
	}
	complete(&raw.event);
	return 0;
}

/**
 * raw_wait - wait for the event that an operation ends with
 * @ret: return value of the function that started the operation
 *
 * Context: process, may sleep.
 *
 * Return: 0 or a negative errno.
 */
int raw_wait(int ret)
{
	if (ret)
		return ret;
	if (!wait_for_completion_timeout(&raw.event,
					 msecs_to_jiffies(2 * RAW_TIMEOUT_MS)))
		return -ETIMEDOUT;
	return raw.status;
}

static struct rdma_cm_id *raw_create_id(void)
{
	return rdma_create_id(&init_net, raw_cm_event, NULL, RDMA_PS_TCP,
			      IB_QPT_RC);
}

static int raw_listen(struct sockaddr *sa)
{
	struct rdma_cm_id *id = raw_create_id();
	int ret;

	if (IS_ERR(id))
		return PTR_ERR(id);
	raw.listener = id;
	ret = rdma_bind_addr(id, sa);
	if (ret)
		return ret;
	return rdma_listen(id, 1);
}

static int raw_resolve(struct sockaddr *sa)
{
	struct rdma_cm_id *id = raw_create_id();
	int ret;

	if (IS_ERR(id))
		return PTR_ERR(id);
	raw.near = id;
	ret = raw_wait(rdma_resolve_addr(id, NULL, sa, RAW_TIMEOUT_MS));
	if (ret)
		return ret;
	return raw_wait(rdma_resolve_route(id, RAW_TIMEOUT_MS));
}

static int raw_connect(void)
{
	struct ib_device *device = raw.near->device;
	struct rdma_conn_param param;
	struct ib_pd *pd;
	struct ib_cq *cq;
	int ret;

	pd = ib_alloc_pd(device, 0);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	raw.pd = pd;
	cq = ib_alloc_cq(device, NULL, 4 * (raw_send_depth() + 1), 0,
			 IB_POLL_WORKQUEUE);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	raw.cq = cq;
	ret = raw_create_qp(raw.near);
	if (ret)
		return ret;
	raw_conn_param(&param);
	return raw_wait(rdma_connect(raw.near, &param));
}

/**
 * raw_open - connect the two QPs
 *
 * The caller calls raw_close() after a failure, too.
 *
 * Context: process, may sleep.
 *
 * Return: 0 or a negative errno.
 */
int raw_open(void)
{
	struct sockaddr_in sin = {
		.sin_family	= AF_INET,
		.sin_port	= htons(port),
	};
	struct sockaddr *sa = (struct sockaddr *)&sin;
	int ret;

	if (!in4_pton(addr, -1, (u8 *)&sin.sin_addr, -1, NULL))
		return -EINVAL;
	init_completion(&raw.event);
	ret = raw_listen(sa);
	if (!ret)
		ret = raw_resolve(sa);
	if (!ret)
		ret = raw_connect();
	return ret;
}

/**
 * raw_quiesce - disconnect one end, and wait until its QP uses no memory
 * @id: CM id of the end, or NULL
 *
 * Context: process, may sleep.
 */
void raw_quiesce(struct rdma_cm_id *id)
{
	if (id && id->qp) {
		rdma_disconnect(id);
		ib_drain_qp(id->qp);
	}
}

static void raw_destroy_id(struct rdma_cm_id *id)
{
	if (!id)
		return;
	if (id->qp)
		rdma_destroy_qp(id);
	rdma_destroy_id(id);
}

/**
 * raw_close - undo raw_open()
 *
 * Context: process, may sleep.
 */
void raw_close(void)
{
	raw_destroy_id(raw.listener);
	raw_destroy_id(raw.near);
	raw_destroy_id(raw.far);
	if (raw.cq)
		ib_free_cq(raw.cq);
	if (raw.pd)
		ib_dealloc_pd(raw.pd);
}
