/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The benchmark of the device by itself: see raw_bench.c.
 */
#ifndef RPCRDMA2_RAW_BENCH_H
#define RPCRDMA2_RAW_BENCH_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/scatterlist.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>
#include "bench.h"

#define RAW_PATTERN		0x5a
/* What an exchange's Sends have besides a payload: the headers of an RPC */
#define RAW_HEADERS_SIZE	128
/* Of an exchange's Sends, every so many are signaled. */
#define RAW_SIGNAL_INTERVAL	16

/**
 * struct raw_memory - of one operation, at one end: the payload, then headers
 * @start: where it is
 * @sg: the same, mapped
 */
struct raw_memory {
	void			*start;
	struct scatterlist	sg;
};

/**
 * struct raw_slot - one operation at a time
 * @job: what for
 * @op: completes the near end's work request
 * @receive: completes the far end's Receive
 * @transfer: completes the far end's RDMA Read, for an exchange
 * @near: the near end's memory
 * @far: the far end's memory
 * @mr: registration of what the other end's RDMA reads or writes
 * @asker: whose Send the far end's Receive got
 * @asked: in &raw.asked
 * @started: when, ns
 */
struct raw_slot {
	struct bench_job	*job;
	struct ib_cqe		op;
	struct ib_cqe		receive;
	struct ib_cqe		transfer;
	struct raw_memory	near;
	struct raw_memory	far;
	struct ib_mr		*mr;
	struct raw_slot		*asker;
	struct list_head	asked;
	u64			started;
};

/**
 * struct raw - what a job has; there is one at a time
 * @job: the job
 * @opcode: how the payload moves
 * @exchange: in an exchange
 * @lock: of @asked and of what is posted for it
 * @asked: exchanges that wait for their answers, in order
 * @answer: completes the near end's Receives, for exchanges
 * @sent: Sends of either end's exchanges
 * @answers: memory that all answers come from and go to
 * @listener: CM id that the far end came from
 * @near: CM id of the end that starts operations
 * @far: CM id of the other one
 * @pd: of both ends
 * @cq: of both ends
 * @event: something that raw_wait() waits for happened
 * @status: how it ended
 * @slots: the operations
 */
struct raw {
	struct bench_job	*job;
	enum ib_wr_opcode	opcode;
	bool			exchange;
	spinlock_t		lock;	/* asked, and what is posted for it */
	struct list_head	asked;
	struct ib_cqe		answer;
	unsigned int		sent[2];
	struct raw_memory	answers;
	struct rdma_cm_id	*listener;
	struct rdma_cm_id	*near;
	struct rdma_cm_id	*far;
	struct ib_pd		*pd;
	struct ib_cq		*cq;
	struct completion	event;
	int			status;
	struct raw_slot		*slots;
};

/* raw_bench.c */
extern struct raw raw;
int raw_receive(struct rdma_cm_id *id, struct ib_cqe *cqe,
		const struct raw_memory *memory, u32 offset, u32 length);
void raw_op_over(struct raw_slot *slot, int status);

/* raw_exchange.c */
void raw_exchanges_init(void);
void raw_exchange_init(struct raw_slot *slot);
int raw_exchange_receives(struct raw_slot *slot);
int raw_exchange_start(struct raw_slot *slot);

/* raw_memory.c */
u32 raw_memory_size(void);
int raw_memory_init(struct raw_memory *memory, u32 size);
void raw_memory_exit(struct raw_memory *memory);
struct ib_sge raw_sge(const struct raw_memory *memory, u32 offset, u32 length);
void raw_registration(struct ib_reg_wr *wr, struct ib_mr *mr);
int raw_slot_init(struct raw_slot *slot);
void raw_slot_exit(struct raw_slot *slot);
bool raw_slot_good(const struct raw_slot *slot);

/* raw_conn.c */
int raw_wait(int ret);
int raw_open(void);
void raw_quiesce(struct rdma_cm_id *id);
void raw_close(void);

#endif /* RPCRDMA2_RAW_BENCH_H */
