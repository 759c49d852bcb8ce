// SPDX-License-Identifier: GPL-2.0
/*
 * A benchmark of the device alone. Two QPs of this machine send to each other, with no
 * transport around their work requests. bench.h describes jobs and figures. These are
 * the operations:
 *
 *	send	a Send into a posted Receive
 *	write	an RDMA Write
 *	read	an RDMA Read
 *	exchange, exchange-read, exchange-write
 *		the work requests of an RPC, with the payload inline or in a Read or
 *		Write chunk: see raw_exchange.c
 *
 * Each operation under way has its own memory at both ends, as RPCs have. Both QPs
 * share a CQ, where a Receive completes before the Send that it received. So the
 * Receive is posted again before the near end's next Send.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include "raw_bench.h"

struct raw raw;

/* Operations */

/**
 * raw_receive - post a Receive
 * @id: CM id of the end
 * @cqe: its completion
 * @memory: memory to receive into
 * @offset: offset in @memory, in octets
 * @length: octets
 *
 * Context: any.
 *
 * Return: 0 or a negative errno.
 */
int raw_receive(struct rdma_cm_id *id, struct ib_cqe *cqe,
		const struct raw_memory *memory, u32 offset, u32 length)
{
	struct ib_sge sge = raw_sge(memory, offset, length);
	struct ib_recv_wr wr = {
		.wr_cqe		= cqe,
		.sg_list	= &sge,
		.num_sge	= 1,
	};

	return ib_post_recv(id->qp, &wr, NULL);
}

static int raw_receive_far(struct raw_slot *slot)
{
	return raw_receive(raw.far, &slot->receive, &slot->far, 0,
			   raw.job->size);
}

static int raw_send(struct raw_slot *slot)
{
	struct ib_sge sge = raw_sge(&slot->near, 0, raw.job->size);
	struct ib_rdma_wr wr = {
		.wr		= {
			.opcode		= raw.opcode,
			.send_flags	= IB_SEND_SIGNALED,
			.wr_cqe		= &slot->op,
			.sg_list	= &sge,
			.num_sge	= 1,
		},
	};

	if (slot->mr) {
		wr.remote_addr = slot->mr->iova;
		wr.rkey = slot->mr->rkey;
	}
	return ib_post_send(raw.near->qp, &wr.wr, NULL);
}

static void raw_start_op(struct raw_slot *slot)
{
	int ret;

	slot->started = ktime_get_ns();
	ret = raw.exchange ? raw_exchange_start(slot) : raw_send(slot);
	if (ret)
		bench_done(slot->job, slot->started, ret);
}

/**
 * raw_op_over - end an operation, and start the next one
 * @slot: slot of the operation
 * @status: 0 or a negative errno
 *
 * Context: process; a completion handler.
 */
void raw_op_over(struct raw_slot *slot, int status)
{
	if (bench_done(slot->job, slot->started, status))
		raw_start_op(slot);
}

static void raw_op_done(struct ib_cq *cq, struct ib_wc *wc)
{
	raw_op_over(container_of(wc->wr_cqe, struct raw_slot, op),
		    wc->status == IB_WC_SUCCESS ? 0 : -EIO);
}

/* Without a new Receive, the near end's next Send would wait for ever. */
static void raw_received(struct ib_cq *cq, struct ib_wc *wc)
{
	struct raw_slot *slot = container_of(wc->wr_cqe, struct raw_slot,
					     receive);

	if (wc->status == IB_WC_SUCCESS && raw_receive_far(slot))
		rdma_disconnect(raw.near);
}

/* The job */

static int raw_opcode(const char *what)
{
	static const struct {
		const char		*name;
		enum ib_wr_opcode	opcode;
	} opcodes[] = {
		{ "send",		IB_WR_SEND },
		{ "write",		IB_WR_RDMA_WRITE },
		{ "read",		IB_WR_RDMA_READ },
		{ "exchange",		IB_WR_SEND },
		{ "exchange-write",	IB_WR_RDMA_WRITE },
		{ "exchange-read",	IB_WR_RDMA_READ },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(opcodes); i++)
		if (!strcmp(what, opcodes[i].name))
			return opcodes[i].opcode;
	return -EINVAL;
}

static int raw_op_init(struct raw_slot *slot)
{
	slot->job = raw.job;
	if (raw.exchange) {
		raw_exchange_init(slot);
		return raw_exchange_receives(slot);
	}
	slot->op.done = raw_op_done;
	slot->receive.done = raw_received;
	return raw.opcode == IB_WR_SEND ? raw_receive_far(slot) : 0;
}

static int raw_finish(struct bench_job *job)
{
	unsigned int i;
	int ret = 0;

	raw_quiesce(raw.near);
	raw_quiesce(raw.far);
	for (i = 0; raw.slots && i < job->depth; i++) {
		if (raw.slots[i].started && !raw_slot_good(&raw.slots[i]))
			ret = -EIO;
		raw_slot_exit(&raw.slots[i]);
	}
	kvfree(raw.slots);
	raw_memory_exit(&raw.answers);
	raw_close();
	return ret;
}

static int raw_prepare(struct bench_job *job)
{
	int opcode = raw_opcode(job->what);
	unsigned int i;
	int ret;

	if (opcode < 0 || job->size > SZ_1M)
		return -EINVAL;
	memset(&raw, 0, sizeof(raw));
	raw.job = job;
	raw.opcode = opcode;
	raw.exchange = strstarts(job->what, "exchange");
	raw_exchanges_init();
	/* Only an inline exchange has octets to move when its payload is empty. */
	if (!job->size && !(raw.exchange && opcode == IB_WR_SEND))
		return -EINVAL;
	ret = raw_open();
	if (!ret)
		ret = raw_memory_init(&raw.answers, RAW_HEADERS_SIZE);
	if (ret)
		goto out_finish;
	ret = -ENOMEM;
	raw.slots = kvcalloc(job->depth, sizeof(*raw.slots), GFP_KERNEL);
	if (!raw.slots)
		goto out_finish;
	for (i = 0; i < job->depth; i++) {
		ret = raw_slot_init(&raw.slots[i]);
		if (!ret)
			ret = raw_op_init(&raw.slots[i]);
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
MODULE_AUTHOR("rpcrdma2 developers");
MODULE_DESCRIPTION("A benchmark of an RDMA device");
MODULE_LICENSE("GPL");
