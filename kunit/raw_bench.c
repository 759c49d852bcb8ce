// SPDX-License-Identifier: GPL-2.0
/*
 * How fast the device is by itself, with nothing around its work requests:
 * two QPs of this machine that talk to each other. For jobs and figures see
 * bench.h; the operations are
 *
 *	send	a Send, into a Receive that waits for it
 *	write	an RDMA Write
 *	read	an RDMA Read
 *
 * Each of the operations under way has memory of its own at either end, as
 * RPCs have; the far end's is registered for as long as the job runs. Both
 * QPs have one CQ, where a Receive's completion comes before that of the Send
 * it was for. So it is posted again in time for the next.
 */
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>
#include "bench.h"

static char *addr = "192.168.77.1";
module_param(addr, charp, 0444);
MODULE_PARM_DESC(addr, "an IPv4 address of this machine, on the device");

static ushort port = 20053;
module_param(port, ushort, 0444);
MODULE_PARM_DESC(port, "to connect the QPs");

#define RAW_TIMEOUT_MS		5000
#define RAW_PATTERN		0x5a

/**
 * struct raw_slot - one operation at a time
 * @job: what for
 * @op: completes the operation, at the near end
 * @receive: completes the Receive, at the far end
 * @near: the near end's memory
 * @far: the far end's memory
 * @near_dma: DMA address of @near
 * @far_sg: @far, mapped
 * @mr: @far's registration
 * @started: when, ns
 */
struct raw_slot {
	struct bench_job	*job;
	struct ib_cqe		op;
	struct ib_cqe		receive;
	void			*near;
	void			*far;
	u64			near_dma;
	struct scatterlist	far_sg;
	struct ib_mr		*mr;
	u64			started;
};

/* The job's; one is run at a time. */
static struct raw {
	struct bench_job	*job;
	enum ib_wr_opcode	opcode;
	struct rdma_cm_id	*listener;
	struct rdma_cm_id	*near;
	struct rdma_cm_id	*far;
	struct ib_pd		*pd;
	struct ib_cq		*cq;
	struct completion	event;
	int			status;
	struct raw_slot		*slots;
} raw;

/* The connection */

static int raw_create_qp(struct rdma_cm_id *id)
{
	struct ib_qp_init_attr attr = {
		.send_cq	= raw.cq,
		.recv_cq	= raw.cq,
		.cap		= {
			/* One more than there are, to drain the QP */
			.max_send_wr	= raw.job->depth + 1,
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

/* @ret is of what ends with an event. */
static int raw_wait(int ret)
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
	cq = ib_alloc_cq(device, NULL, 4 * (raw.job->depth + 1), 0,
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

static int raw_open(void)
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

/* Nobody uses an end's memory any more when its QP has been drained. */
static void raw_quiesce(struct rdma_cm_id *id)
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

static void raw_close(void)
{
	raw_destroy_id(raw.listener);
	raw_destroy_id(raw.near);
	raw_destroy_id(raw.far);
	if (raw.cq)
		ib_free_cq(raw.cq);
	if (raw.pd)
		ib_dealloc_pd(raw.pd);
}

/* Memory */

static void raw_registered(struct ib_cq *cq, struct ib_wc *wc)
{
	raw.status = wc->status == IB_WC_SUCCESS ? 0 : -EIO;
	complete(&raw.event);
}

static int raw_register(struct raw_slot *slot)
{
	unsigned int pages = DIV_ROUND_UP(raw.job->size, PAGE_SIZE);
	struct ib_cqe done = { .done = raw_registered };
	struct ib_reg_wr wr = {
		.wr	= {
			.opcode		= IB_WR_REG_MR,
			.send_flags	= IB_SEND_SIGNALED,
			.wr_cqe		= &done,
		},
		.access	= IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ |
			  IB_ACCESS_REMOTE_WRITE,
	};
	struct ib_mr *mr;

	mr = ib_alloc_mr(raw.pd, IB_MR_TYPE_MEM_REG, pages);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	slot->mr = mr;
	if (ib_map_mr_sg(mr, &slot->far_sg, 1, NULL, PAGE_SIZE) != 1)
		return -EIO;
	wr.mr = mr;
	wr.key = mr->rkey;
	return raw_wait(ib_post_send(raw.far->qp, &wr.wr, NULL));
}

static int raw_map(struct raw_slot *slot)
{
	struct ib_device *device = raw.pd->device;
	u64 dma;

	dma = ib_dma_map_single(device, slot->near, raw.job->size,
				DMA_BIDIRECTIONAL);
	if (ib_dma_mapping_error(device, dma))
		return -EIO;
	slot->near_dma = dma;
	sg_init_one(&slot->far_sg, slot->far, raw.job->size);
	if (ib_dma_map_sg(device, &slot->far_sg, 1, DMA_BIDIRECTIONAL) != 1) {
		ib_dma_unmap_single(device, dma, raw.job->size,
				    DMA_BIDIRECTIONAL);
		return -EIO;
	}
	return 0;
}

static void raw_op_done(struct ib_cq *cq, struct ib_wc *wc);
static void raw_received(struct ib_cq *cq, struct ib_wc *wc);

static int raw_slot_init(struct raw_slot *slot)
{
	u32 size = raw.job->size;
	bool read = raw.opcode == IB_WR_RDMA_READ;
	int ret;

	slot->job = raw.job;
	slot->op.done = raw_op_done;
	slot->receive.done = raw_received;
	slot->near = alloc_pages_exact(size, GFP_KERNEL | __GFP_ZERO);
	slot->far = alloc_pages_exact(size, GFP_KERNEL | __GFP_ZERO);
	if (!slot->near || !slot->far)
		return -ENOMEM;
	memset(read ? slot->far : slot->near, RAW_PATTERN, size);
	ret = raw_map(slot);
	if (ret)
		return ret;
	return raw_register(slot);
}

static void raw_slot_exit(struct raw_slot *slot)
{
	struct ib_device *device = raw.near->device;
	u32 size = raw.job->size;

	if (slot->mr)
		ib_dereg_mr(slot->mr);
	if (slot->near_dma) {
		ib_dma_unmap_sg(device, &slot->far_sg, 1, DMA_BIDIRECTIONAL);
		ib_dma_unmap_single(device, slot->near_dma, size,
				    DMA_BIDIRECTIONAL);
	}
	if (slot->near)
		free_pages_exact(slot->near, size);
	if (slot->far)
		free_pages_exact(slot->far, size);
}

/* Did the last operations carry what they should? */
static bool raw_slot_good(const struct raw_slot *slot)
{
	bool read = raw.opcode == IB_WR_RDMA_READ;

	return !memchr_inv(read ? slot->near : slot->far, RAW_PATTERN,
			   raw.job->size);
}

/* Operations */

static int raw_receive(struct raw_slot *slot)
{
	struct ib_sge sge = {
		.addr	= sg_dma_address(&slot->far_sg),
		.length	= raw.job->size,
		.lkey	= raw.pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe		= &slot->receive,
		.sg_list	= &sge,
		.num_sge	= 1,
	};

	return ib_post_recv(raw.far->qp, &wr, NULL);
}

/* A Receive that can't be posted fails a Send. */
static void raw_received(struct ib_cq *cq, struct ib_wc *wc)
{
	if (wc->status == IB_WC_SUCCESS)
		raw_receive(container_of(wc->wr_cqe, struct raw_slot, receive));
}

static void raw_post(struct raw_slot *slot)
{
	struct ib_sge sge = {
		.addr	= slot->near_dma,
		.length	= raw.job->size,
		.lkey	= raw.pd->local_dma_lkey,
	};
	struct ib_rdma_wr wr = {
		.wr		= {
			.opcode		= raw.opcode,
			.send_flags	= IB_SEND_SIGNALED,
			.wr_cqe		= &slot->op,
			.sg_list	= &sge,
			.num_sge	= 1,
		},
		.remote_addr	= slot->mr->iova,
		.rkey		= slot->mr->rkey,
	};
	int ret;

	slot->started = ktime_get_ns();
	ret = ib_post_send(raw.near->qp, &wr.wr, NULL);
	if (ret)
		bench_done(slot->job, slot->started, ret);
}

static void raw_op_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct raw_slot *slot = container_of(wc->wr_cqe, struct raw_slot, op);

	if (bench_done(slot->job, slot->started,
		       wc->status == IB_WC_SUCCESS ? 0 : -EIO))
		raw_post(slot);
}

/* The job */

static int raw_opcode(const char *what)
{
	if (!strcmp(what, "send"))
		return IB_WR_SEND;
	if (!strcmp(what, "write"))
		return IB_WR_RDMA_WRITE;
	if (!strcmp(what, "read"))
		return IB_WR_RDMA_READ;
	return -EINVAL;
}

static int raw_finish(struct bench_job *job)
{
	unsigned int i;
	int ret = 0;

	raw_quiesce(raw.near);
	raw_quiesce(raw.far);
	for (i = 0; raw.slots && i < job->depth; i++) {
		if (raw.slots[i].mr && !raw_slot_good(&raw.slots[i]))
			ret = -EIO;
		raw_slot_exit(&raw.slots[i]);
	}
	kvfree(raw.slots);
	raw_close();
	return ret;
}

static int raw_prepare(struct bench_job *job)
{
	int opcode = raw_opcode(job->what);
	unsigned int i;
	int ret;

	if (opcode < 0 || !job->size || job->size > SZ_1M)
		return -EINVAL;
	memset(&raw, 0, sizeof(raw));
	raw.job = job;
	raw.opcode = opcode;
	ret = raw_open();
	if (ret)
		goto out_finish;
	ret = -ENOMEM;
	raw.slots = kvcalloc(job->depth, sizeof(*raw.slots), GFP_KERNEL);
	if (!raw.slots)
		goto out_finish;
	for (i = 0; i < job->depth; i++) {
		ret = raw_slot_init(&raw.slots[i]);
		if (!ret && opcode == IB_WR_SEND)
			ret = raw_receive(&raw.slots[i]);
		if (ret)
			goto out_finish;
	}
	return 0;

out_finish:
	raw_finish(job);
	return ret;
}

static void raw_start(struct bench_job *job)
{
	unsigned int i;

	for (i = 0; i < job->depth; i++)
		raw_post(&raw.slots[i]);
}

static const struct bench raw_bench = {
	.prepare	= raw_prepare,
	.start		= raw_start,
	.finish		= raw_finish,
};

static int __init raw_init(void)
{
	return bench_register("rpcrdma2_raw_bench", &raw_bench);
}

static void __exit raw_exit(void)
{
	bench_unregister();
}

module_init(raw_init);
module_exit(raw_exit);
MODULE_DESCRIPTION("A benchmark of an RDMA device");
MODULE_LICENSE("GPL");
