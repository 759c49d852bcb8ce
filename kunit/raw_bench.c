// SPDX-License-Identifier: GPL-2.0
/*
 * How fast the device is by itself, with nothing around its work requests:
 * two QPs of this machine that talk to each other. For jobs and figures see
 * bench.h; the operations are
 *
 *	send	a Send, into a Receive that waits for it
 *	write	an RDMA Write
 *	read	an RDMA Read
 *	exchange a Send, which a short Send answers: what an inline RPC is to the
 *		device
 *
 * Each of the operations under way has memory of its own at either end, as
 * RPCs have; the far end's is registered for as long as the job runs. Both
 * QPs have one CQ, where a Receive's completion comes before that of the Send
 * it was for. So it is posted again in time for the next.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include "raw_bench.h"

struct raw raw;

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
static void raw_answered(struct ib_cq *cq, struct ib_wc *wc);

static int raw_slot_init(struct raw_slot *slot)
{
	u32 size = raw.job->size;
	bool read = raw.opcode == IB_WR_RDMA_READ;
	int ret;

	slot->job = raw.job;
	slot->op.done = raw_op_done;
	slot->receive.done = raw_received;
	slot->answer.done = raw_answered;
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

/* What answers consist of; nobody looks at it. */
static int raw_answers_init(void)
{
	struct ib_device *device = raw.pd->device;

	raw.answers = kzalloc(RAW_ANSWER_SIZE, GFP_KERNEL);
	if (!raw.answers)
		return -ENOMEM;
	raw.answers_dma = ib_dma_map_single(device, raw.answers,
					    RAW_ANSWER_SIZE, DMA_BIDIRECTIONAL);
	if (!ib_dma_mapping_error(device, raw.answers_dma))
		return 0;
	kfree(raw.answers);
	raw.answers = NULL;
	return -EIO;
}

static void raw_answers_exit(void)
{
	if (raw.answers)
		ib_dma_unmap_single(raw.near->device, raw.answers_dma,
				    RAW_ANSWER_SIZE, DMA_BIDIRECTIONAL);
	kfree(raw.answers);
}

/* Operations */

static int raw_receive(struct rdma_cm_id *id, struct ib_cqe *cqe, u64 addr,
		       u32 length)
{
	struct ib_sge sge = {
		.addr	= addr,
		.length	= length,
		.lkey	= raw.pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe		= cqe,
		.sg_list	= &sge,
		.num_sge	= 1,
	};

	return ib_post_recv(id->qp, &wr, NULL);
}

static int raw_receive_far(struct raw_slot *slot)
{
	return raw_receive(raw.far, &slot->receive,
			   sg_dma_address(&slot->far_sg), raw.job->size);
}

static int raw_receive_answer(struct raw_slot *slot)
{
	return raw_receive(raw.near, &slot->answer, raw.answers_dma,
			   RAW_ANSWER_SIZE);
}

static int raw_receives_init(struct raw_slot *slot)
{
	int ret = 0;

	if (raw.opcode == IB_WR_SEND)
		ret = raw_receive_far(slot);
	if (!ret && raw.exchange)
		ret = raw_receive_answer(slot);
	return ret;
}

static int raw_signaled(const struct rdma_cm_id *id)
{
	unsigned int *sent = &raw.sent[id == raw.far];

	if (raw.exchange && (*sent)++ % RAW_SIGNAL_INTERVAL)
		return 0;
	return IB_SEND_SIGNALED;
}

static int raw_send(struct rdma_cm_id *id, struct raw_slot *slot, u64 addr,
		    u32 length)
{
	struct ib_sge sge = {
		.addr	= addr,
		.length	= length,
		.lkey	= raw.pd->local_dma_lkey,
	};
	struct ib_rdma_wr wr = {
		.wr		= {
			.opcode		= raw.opcode,
			.send_flags	= raw_signaled(id),
			.wr_cqe		= &slot->op,
			.sg_list	= &sge,
			.num_sge	= 1,
		},
		.remote_addr	= slot->mr->iova,
		.rkey		= slot->mr->rkey,
	};

	return ib_post_send(id->qp, &wr.wr, NULL);
}

static void raw_start_op(struct raw_slot *slot)
{
	int ret;

	slot->started = ktime_get_ns();
	ret = raw_send(raw.near, slot, slot->near_dma, raw.job->size);
	if (ret)
		bench_done(slot->job, slot->started, ret);
}

static void raw_op_over(struct raw_slot *slot, enum ib_wc_status status)
{
	if (bench_done(slot->job, slot->started,
		       status == IB_WC_SUCCESS ? 0 : -EIO))
		raw_start_op(slot);
}

/* An exchange is over when its answer comes, or will not come. */
static void raw_op_done(struct ib_cq *cq, struct ib_wc *wc)
{
	if (!raw.exchange)
		raw_op_over(container_of(wc->wr_cqe, struct raw_slot, op),
			    wc->status);
}

/* What can't be posted here leaves the near end without an answer. */
static void raw_received(struct ib_cq *cq, struct ib_wc *wc)
{
	struct raw_slot *slot = container_of(wc->wr_cqe, struct raw_slot,
					     receive);
	int ret;

	if (wc->status != IB_WC_SUCCESS)
		return;
	ret = raw_receive_far(slot);
	if (!ret && raw.exchange)
		ret = raw_send(raw.far, slot, raw.answers_dma, RAW_ANSWER_SIZE);
	if (ret)
		rdma_disconnect(raw.near);
}

/* Answers come in the order of what they answer, and so do Receives. */
static void raw_answered(struct ib_cq *cq, struct ib_wc *wc)
{
	struct raw_slot *slot = container_of(wc->wr_cqe, struct raw_slot,
					     answer);

	if (raw.over)
		return;
	if (wc->status == IB_WC_SUCCESS)
		raw_receive_answer(slot);
	raw_op_over(slot, wc->status);
}

/* The job */

static int raw_opcode(const char *what)
{
	if (!strcmp(what, "send") || !strcmp(what, "exchange"))
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

	raw.over = true;
	raw_quiesce(raw.near);
	raw_quiesce(raw.far);
	for (i = 0; raw.slots && i < job->depth; i++) {
		if (raw.slots[i].mr && !raw_slot_good(&raw.slots[i]))
			ret = -EIO;
		raw_slot_exit(&raw.slots[i]);
	}
	kvfree(raw.slots);
	raw_answers_exit();
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
	raw.exchange = !strcmp(job->what, "exchange");
	ret = raw_open();
	if (!ret)
		ret = raw_answers_init();
	if (ret)
		goto out_finish;
	ret = -ENOMEM;
	raw.slots = kvcalloc(job->depth, sizeof(*raw.slots), GFP_KERNEL);
	if (!raw.slots)
		goto out_finish;
	for (i = 0; i < job->depth; i++) {
		ret = raw_slot_init(&raw.slots[i]);
		if (!ret)
			ret = raw_receives_init(&raw.slots[i]);
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
		raw_start_op(&raw.slots[i]);
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
