/* SPDX-License-Identifier: GPL-2.0 */
/* Receive buffers whose size changes: see resize.c. */
#ifndef _RPCRDMA2_RESIZE_H
#define _RPCRDMA2_RESIZE_H

#include <linux/types.h>
#include <linux/workqueue.h>

#include "ask.h"

struct rpcrdma2_conn;
struct rpcrdma2_header;
struct rpcrdma2_recv;

/**
 * struct rpcrdma2_answer - this end's answer to the peer's REQUEST
 * @xid: XID of the REQUEST
 * @done: places of the REQUEST, as in struct rpcrdma2_change
 * @rejected: likewise
 * @pending: likewise
 */
struct rpcrdma2_answer {
	u32	xid;
	u32	done;
	u32	rejected;
	u32	pending;
};

/**
 * struct rpcrdma2_resizing - state of a connection's property changes
 * @work: sends due messages; holds a reference to the connection while queued
 * @answer: answer to the peer's REQUEST
 * @answering: @answer is to be sent
 * @has_told: this end has sent an UPDATE, and a REQUEST is to follow
 * @ask: this end's REQUEST
 * @ask_size: size in the last REQUEST for a size, octets
 * @next_size: size that the next REQUEST is to ask for, octets; or 0
 * @lower_to: size that the peer asked for, octets, while Calls that need the present size may
 *	be out; or 0
 * @waited_for: the @lower_to that @work has waited a grace period for; only @work's
 * @owed: the peer waits for an UPDATE
 * @wish: size that the peer should ask for, octets; or 0
 * @nudges: empty REQUESTs that may still be sent to have old Receives used up
 *
 * The connection's lock protects all members but @work and @waited_for.
 */
struct rpcrdma2_resizing {
	struct delayed_work	work;
	struct rpcrdma2_answer	answer;
	bool			answering;
	bool			has_told;
	enum rpcrdma2_ask	ask;
	u32			ask_size;
	u32			next_size;
	u32			lower_to;
	u32			waited_for;
	bool			owed;
	u32			wish;
	unsigned int		nudges;
};

/**
 * struct rpcrdma2_need - does traffic need larger or smaller Receives?
 * @observed: RPC messages received; CQ only, as are @used, @missed and the sizes
 * @observed_size: size of the Receives that @missed counts for, octets
 * @used: messages that the minimum Receive could not have held
 * @used_before: @used at the last look
 * @used_at: time of the last change of @used, in jiffies
 * @missed: messages with chunks that larger Receives would have made unnecessary
 * @missed_size: octets of the largest message of @missed
 */
struct rpcrdma2_need {
	u32		observed;
	u32		observed_size;
	u32		used;
	u32		used_before;
	unsigned long	used_at;
	unsigned int	missed;
	u32		missed_size;
};

void rpcrdma2_resize_work(struct work_struct *work);
void rpcrdma2_resize_soon(struct rpcrdma2_conn *conn);
int rpcrdma2_resize_recvs(struct rpcrdma2_conn *conn, u32 size);
void rpcrdma2_resize_observe(const struct rpcrdma2_recv *recv);
bool rpcrdma2_resize_receive(struct rpcrdma2_recv *recv);
bool rpcrdma2_resize_refused(struct rpcrdma2_conn *conn,
			     const struct rpcrdma2_header *hdr);

#endif /* _RPCRDMA2_RESIZE_H */
