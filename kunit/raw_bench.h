/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Common parts of the device benchmark. raw_bench.c says what the benchmark
 * does.
 *
 * One job runs at a time, and owns the one struct raw. Completion handlers run in
 * process context, on the CQ's workqueue.
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
/*
 * Octets of an RPC's headers, which each Send of an exchange carries beside a payload
 */
#define RAW_HEADERS_SIZE	128
/* One Send in this many is signaled in exchanges. */
#define RAW_SIGNAL_INTERVAL	16

/**
 * struct raw_memory - memory of one operation at one end: the payload, then headers
 * @start: address of the memory
 * @sg: the memory, DMA-mapped
 */
struct raw_memory {
	void			*start;
	struct scatterlist	sg;
};

/**
 * struct raw_slot - a slot, in which one operation at a time runs
 * @job: the job
 * @op: completion of the near end's work request, or of the far end's answer
 * @receive: completion of the far end's Receive
 * @transfer: completion of the far end's RDMA in an exchange
 * @near: memory of the near end
 * @far: memory of the far end
 * @mr: registration that RDMA reads or writes remotely
 * @asker: slot whose Send the far end's Receive got
 * @asked: in raw.asked
 * @started: start of the operation, in ns
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
 * struct raw - the state of the job
 * @job: the job
 * @opcode: how the payload moves
 * @exchange: the operations are exchanges
 * @lock: protects @asked, and the order of the Sends that match it
 * @asked: exchanges that wait for their answers, in the order of their Sends
 * @answer: completion of the near end's Receives in exchanges
 * @sent: number of Sends in exchanges, by end
 * @answers: memory of all answers, at both ends
 * @listener: CM id that listens
 * @near: CM id of the end that starts operations
 * @far: CM id of the other end
 * @pd: PD of both ends
 * @cq: CQ of both ends
 * @event: completed on an event that raw_wait() awaits
 * @status: status of that event
 * @slots: the slots
 */
struct raw {
	struct bench_job	*job;
	enum ib_wr_opcode	opcode;
	bool			exchange;
	spinlock_t		lock;	/* asked; the order of the near end's Sends */
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
