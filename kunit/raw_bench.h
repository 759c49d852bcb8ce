/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The benchmark of the device by itself: see raw_bench.c.
 */
#ifndef RPCRDMA2_RAW_BENCH_H
#define RPCRDMA2_RAW_BENCH_H

#include <linux/completion.h>
#include <linux/scatterlist.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>
#include "bench.h"

#define RAW_PATTERN		0x5a
#define RAW_ANSWER_SIZE		128
/* Of an exchange's Sends, every so many are signaled. */
#define RAW_SIGNAL_INTERVAL	16

/**
 * struct raw_slot - one operation at a time
 * @job: what for
 * @op: completes the work request, at the near end
 * @receive: completes the Receive, at the far end
 * @answer: completes the Receive at the near end, for an exchange
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
	struct ib_cqe		answer;
	void			*near;
	void			*far;
	u64			near_dma;
	struct scatterlist	far_sg;
	struct ib_mr		*mr;
	u64			started;
};

/**
 * struct raw - what a job has; there is one at a time
 * @job: the job
 * @opcode: of its work requests
 * @exchange: each of them is answered
 * @over: no operation is under way any more
 * @sent: work requests of either end
 * @answers: memory that all answers come from and go to
 * @answers_dma: its DMA address
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
	bool			over;
	unsigned int		sent[2];
	void			*answers;
	u64			answers_dma;
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

/* raw_conn.c */
int raw_wait(int ret);
int raw_open(void);
void raw_quiesce(struct rdma_cm_id *id);
void raw_close(void);

#endif /* RPCRDMA2_RAW_BENCH_H */
