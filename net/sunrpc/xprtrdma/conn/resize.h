/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Receive buffers whose size changes: see resize.c.
 */
#ifndef _RPCRDMA2_RESIZE_H
#define _RPCRDMA2_RESIZE_H

#include <linux/types.h>
#include <linux/workqueue.h>

struct rpcrdma2_conn;
struct rpcrdma2_header;
struct rpcrdma2_recv;

/**
 * struct rpcrdma2_answer - what becomes of a request for a change
 * @xid: the request's
 * @done: as in struct rpcrdma2_change
 * @rejected: as there
 * @pending: as there
 */
struct rpcrdma2_answer {
	u32	xid;
	u32	done;
	u32	rejected;
	u32	pending;
};

/**
 * struct rpcrdma2_resizing - how a connection's Receives get another size
 * @work: what is done next; has a reference to the connection while it is queued
 * @answer: what becomes of the peer's request for a change
 * @answering: that is to be sent
 * @has_told: an update was sent, and a request is to follow it
 * @asking: a request for a change is out
 * @requested: ... and it is for this size, or 0: for nothing
 * @ask_for: the size that the peer's Receive buffers are to be asked to have, or 0
 * @asked_for: the size that they were asked to have, or 0 if that is settled
 * @lower_to: the size that the peer asked for, while Calls are out that rely on the
 *	one before; or 0
 * @owed: the peer waits for an update
 * @wish: the size that this end would like to be asked for, or 0
 * @nudges: how often the peer may be asked for nothing, so that Receives go round
 *
 * Below the connection's lock, but for @work.
 */
struct rpcrdma2_resizing {
	struct delayed_work	work;
	struct rpcrdma2_answer	answer;
	bool			answering;
	bool			has_told;
	bool			asking;
	u32			requested;
	u32			ask_for;
	u32			asked_for;
	u32			lower_to;
	bool			owed;
	u32			wish;
	unsigned int		nudges;
};

/**
 * struct rpcrdma2_need - what size a connection's Receives should have
 * @observed: RPC messages received; this one, @used and @missed are the CQ's
 * @observed_size: octets of the Receives that @missed is about
 * @used: messages that the smallest Receive would not have held
 * @used_before: what that was, when it was last looked at
 * @used_at: when it last was another one, in jiffies
 * @missed: messages that had chunks, and needn't in larger Receives
 * @missed_size: octets of the largest one of them
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
