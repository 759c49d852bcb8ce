// SPDX-License-Identifier: GPL-2.0
/*
 * Exchanges: the work requests of an RPC. The near end's Send asks, and the far end's
 * Send answers. The payload is in the asking Send, or the far end moves the payload by
 * RDMA. For RDMA, the near end registers its memory anew, in one chain with its Send,
 * and the answer invalidates the registration.
 *
 * One Send in RAW_SIGNAL_INTERVAL is signaled at each end. RDMA Reads are always
 * signaled, since the far end waits for their data.
 *
 * Completion handlers run in process context. raw.lock keeps raw.asked in the order of
 * the near end's Sends.
 */
#include "raw_bench.h"

static int raw_signaled(const struct rdma_cm_id *id)
{
	unsigned int *sent = &raw.sent[id == raw.far];

	return (*sent)++ % RAW_SIGNAL_INTERVAL ? 0 : IB_SEND_SIGNALED;
}

/* The near end */

static int raw_receive_answer(void)
{
	return raw_receive(raw.near, &raw.answer, &raw.answers, 0,
			   RAW_HEADERS_SIZE);
}

/*
 * The far end answers in the order of the Sends, so this answers the oldest exchange. A
 * failed QP flushes more Receives than there are exchanges.
 */
static void raw_answered(struct ib_cq *cq, struct ib_wc *wc)
{
	struct raw_slot *slot;

	spin_lock(&raw.lock);
	slot = list_first_entry_or_null(&raw.asked, struct raw_slot, asked);
	if (slot)
		list_del(&slot->asked);
	spin_unlock(&raw.lock);
	if (slot)
		raw_op_over(slot, wc->status == IB_WC_SUCCESS ?
				  raw_receive_answer() : -EIO);
}

/* The headers say which slot asks. */
static u32 *raw_headers(struct raw_memory *memory)
{
	return memory->start + raw.job->size;
}

static int raw_ask(struct raw_slot *slot)
{
	bool inlined = raw.opcode == IB_WR_SEND;
	struct ib_sge sge = raw_sge(&slot->near, inlined ? 0 : raw.job->size,
				    inlined ? raw_memory_size() :
					      RAW_HEADERS_SIZE);
	struct ib_send_wr send = {
		.opcode		= IB_WR_SEND,
		.send_flags	= raw_signaled(raw.near),
		.wr_cqe		= &slot->op,
		.sg_list	= &sge,
		.num_sge	= 1,
	};
	struct ib_reg_wr reg;

	*raw_headers(&slot->near) = slot - raw.slots;
	if (inlined)
		return ib_post_send(raw.near->qp, &send, NULL);
	ib_update_fast_reg_key(slot->mr, ib_inc_rkey(slot->mr->rkey));
	if (ib_map_mr_sg(slot->mr, &slot->near.sg, 1, NULL, PAGE_SIZE) != 1)
		return -EIO;
	raw_registration(&reg, slot->mr);
	reg.wr.wr_cqe = &slot->op;
	reg.wr.next = &send;
	return ib_post_send(raw.near->qp, &reg.wr, NULL);
}

/**
 * raw_exchange_start - start an exchange
 * @slot: a slot without an exchange
 *
 * Context: process.
 *
 * Return: 0 or a negative errno.
 */
int raw_exchange_start(struct raw_slot *slot)
{
	int ret;

	spin_lock(&raw.lock);
	list_add_tail(&slot->asked, &raw.asked);
	ret = raw_ask(slot);
	if (ret)
		list_del(&slot->asked);
	spin_unlock(&raw.lock);
	return ret;
}

/* The far end */

static int raw_exchange_receive_far(struct raw_slot *slot)
{
	if (raw.opcode == IB_WR_SEND)
		return raw_receive(raw.far, &slot->receive, &slot->far, 0,
				   raw_memory_size());
	return raw_receive(raw.far, &slot->receive, &slot->far, raw.job->size,
			   RAW_HEADERS_SIZE);
}

/*
 * Post the next Receive, then the answer behind the work request @first. The completion
 * of the answer is @slot->op, which an exchange ignores.
 */
static int raw_answer(struct raw_slot *slot, struct ib_send_wr *first)
{
	struct ib_sge sge = raw_sge(&raw.answers, 0, RAW_HEADERS_SIZE);
	struct ib_send_wr send = {
		.opcode		= IB_WR_SEND,
		.send_flags	= raw_signaled(raw.far),
		.wr_cqe		= &slot->op,
		.sg_list	= &sge,
		.num_sge	= 1,
	};
	int ret;

	if (raw.opcode != IB_WR_SEND) {
		send.opcode = IB_WR_SEND_WITH_INV;
		send.ex.invalidate_rkey = slot->asker->mr->rkey;
	}
	if (first)
		first->next = &send;
	ret = raw_exchange_receive_far(slot);
	return ret ?: ib_post_send(raw.far->qp, first ?: &send, NULL);
}

static int raw_transfer(struct raw_slot *slot)
{
	bool read = raw.opcode == IB_WR_RDMA_READ;
	struct ib_sge sge = raw_sge(&slot->far, 0, raw.job->size);
	struct ib_rdma_wr wr = {
		.wr		= {
			.opcode		= raw.opcode,
			.send_flags	= read ? IB_SEND_SIGNALED : 0,
			.wr_cqe		= &slot->transfer,
			.sg_list	= &sge,
			.num_sge	= 1,
		},
		.remote_addr	= slot->asker->mr->iova,
		.rkey		= slot->asker->mr->rkey,
	};

	if (read)
		return ib_post_send(raw.far->qp, &wr.wr, NULL);
	return raw_answer(slot, &wr.wr);
}

/* If nothing can be posted, the near end would wait for ever. */
static void raw_far_done(int ret)
{
	if (ret)
		rdma_disconnect(raw.near);
}

static void raw_transferred(struct ib_cq *cq, struct ib_wc *wc)
{
	struct raw_slot *slot = container_of(wc->wr_cqe, struct raw_slot,
					     transfer);

	if (wc->status == IB_WC_SUCCESS)
		raw_far_done(raw_answer(slot, NULL));
}

static void raw_asked(struct ib_cq *cq, struct ib_wc *wc)
{
	struct raw_slot *slot = container_of(wc->wr_cqe, struct raw_slot,
					     receive);

	if (wc->status != IB_WC_SUCCESS)
		return;
	slot->asker = &raw.slots[*raw_headers(&slot->far)];
	raw_far_done(raw.opcode == IB_WR_SEND ? raw_answer(slot, NULL) :
						raw_transfer(slot));
}

/* A failed Send fails its QP, and then the Receive for the answer is flushed. */
static void raw_sent(struct ib_cq *cq, struct ib_wc *wc)
{
}

/**
 * raw_exchanges_init - prepare exchanges, before any slot
 *
 * Context: process.
 */
void raw_exchanges_init(void)
{
	spin_lock_init(&raw.lock);
	INIT_LIST_HEAD(&raw.asked);
	raw.answer.done = raw_answered;
}

/**
 * raw_exchange_init - set the completion handlers of a slot
 * @slot: slot of a job of exchanges
 *
 * Context: process.
 */
void raw_exchange_init(struct raw_slot *slot)
{
	slot->op.done = raw_sent;
	slot->receive.done = raw_asked;
	slot->transfer.done = raw_transferred;
}

/**
 * raw_exchange_receives - post a slot's Receives at both ends
 * @slot: slot that raw_exchange_init() has prepared
 *
 * Context: process.
 *
 * Return: 0 or a negative errno.
 */
int raw_exchange_receives(struct raw_slot *slot)
{
	return raw_exchange_receive_far(slot) ?: raw_receive_answer();
}
