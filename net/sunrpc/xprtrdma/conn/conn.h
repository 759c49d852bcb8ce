/* SPDX-License-Identifier: GPL-2.0 */
/*
 * conn/: one RDMA connection, at either end. This header has its structs, and the rules of
 * their ownership.
 *
 * A layer above asks for a connection. struct rpcrdma2_conn_ops tells it when the connection
 * is ready, with which limits and in which dialect. Then the layer posts chains of work
 * requests, and gets received messages. It sees no CM event, no QP state and no version word.
 * conn/ knows the layers above only by that struct.
 * The overview in Documentation/develop/ says which file does what. CQ context means a
 * completion handler: process context, in a workqueue.
 */
#ifndef _RPCRDMA2_CONN_H
#define _RPCRDMA2_CONN_H

#include <linux/kref.h>
#include <linux/kthread.h>
#include <linux/rbtree.h>
#include <linux/socket.h>
#include <linux/workqueue.h>

#include "rdma/ep.h"
#include "wire/wire.h"

#include "cm.h"
#include "debugfs.h"
#include "heartbeat.h"
#include "listen.h"
#include "memalloc.h"
#include "negotiate.h"
#include "ops.h"
#include "resize.h"
#include "state.h"
#include "stats.h"
#include "terms.h"

/* Structs of the layers above: a connection points to them, and does not look inside. */
struct rpcrdma2_requester;
struct rpcrdma2_responder;
struct rpcrdma2_svc_xprt;
struct rpcrdma2_xprt;

/**
 * struct rpcrdma2_conn_param - parameters of a connection
 * @ops: callbacks to the layer above
 * @net: network namespace
 * @rbsiz_min: initial and minimum size of Receive buffers, octets
 * @rbsiz_max: size to which Receive buffers may grow, octets
 * @sbsiz: size of the largest message that this end sends, octets
 * @calls_out: maximum of this end's outstanding Calls
 * @calls_in: maximum of Calls that this end grants to its peer
 * @shared: Receives may come from a Shared Receive Queue
 * @wrs_per_call: Send Queue entries to plan per Call, in each direction
 * @heartbeat: seconds of silence until a heartbeat; 0: no heartbeats
 * @reverse: enum rpcrdma2_rvreqsup: what this end announces for the reverse direction. With
 *	GENL, an end that connects makes RDMA Reads and RDMA Writes, too
 * @job_pages: pages of the largest Call that this end answers, or of its Reply
 * @dialects: dialects that this end may speak, in the order in which it tries them; one at
 *	least
 * @swapper: optional; not 0 while memory is swapped over the connection
 * @connector: thread that connects and tears down, if this end connects
 */
struct rpcrdma2_conn_param {
	const struct rpcrdma2_conn_ops *ops;
	struct net	*net;
	u32		rbsiz_min;
	u32		rbsiz_max;
	u32		sbsiz;
	unsigned int	calls_out;
	unsigned int	calls_in;
	bool		shared;
	unsigned int	wrs_per_call;
	unsigned int	heartbeat;
	u32		reverse;
	unsigned int	job_pages;
	struct rpcrdma2_dialects dialects;
	const atomic_t	*swapper;
	struct kthread_worker *connector;
};

/**
 * struct rpcrdma2_conn - an RDMA connection
 * @ep: this end of it, as the device sees it. Its lock protects @state, @close, @resizing and,
 *	where nothing else is said, @cm, @terms and @negotiation, too
 * @ref: references to the memory of this struct and of its buffers
 * @rcu: delays the free until RCU readers, which may try to enter, have finished
 * @release: frees the connection after the last reference
 * @param: parameters, as given by the layer above
 * @rbsiz_min: initial and minimum size of Receive buffers, octets: @param's, or the size of a
 *	Shared Receive Queue's buffers
 * @rbsiz_max: maximum size of Receive buffers, octets; likewise
 * @xprt: the client's transport, if this end connected
 * @svc_xprt: the server's transport, if this end accepted
 * @link: for the layer above
 * @requester: the role that sends Calls, or NULL; owned by the layer above
 * @responder: the role that answers Calls; owned by the layer above
 * @state: enum rpcrdma2_conn_state
 * @was_ready: the connection has been READY; stable after the drain
 * @ready_at: time of READY, in jiffies
 * @cm: how it came to be
 * @negotiation: its way to a dialect
 * @terms: what both ends have said
 * @close: its end
 * @timer: limits the time in a state; once READY, sends heartbeats
 * @heartbeat: state of heartbeats
 * @resizing: state of property changes
 * @peak_rbsiz: highest value that the terms' own rbsiz ever had, octets
 * @files: its files in debugfs
 * @present: entry in netlink's tree of the network namespace's connections
 * @unpaid: messages since the last one that used a credit; the CQ's
 * @need: whether Receives should have another size; the CQ's but for some members
 * @recv_xdr: stream for decoding headers; the CQ's. On the stack, the compiler might zero it
 *	for each message
 * @recv_xdr_buf: the buffer of @recv_xdr
 * @stats: counters
 */
struct rpcrdma2_conn {
	struct rpcrdma2_ep		ep;
	struct kref			ref;
	struct rcu_head			rcu;
	void				(*release)(struct kref *ref);
	struct rpcrdma2_conn_param	param;
	u32				rbsiz_min;
	u32				rbsiz_max;
	union {
		struct rpcrdma2_xprt		*xprt;
		struct rpcrdma2_svc_xprt	*svc_xprt;
	};
	struct list_head		link;
	struct rpcrdma2_requester	*requester;
	struct rpcrdma2_responder	*responder;

	enum rpcrdma2_conn_state	state;
	bool				was_ready;
	unsigned long			ready_at;
	struct rpcrdma2_cm		cm;
	struct rpcrdma2_negotiation	negotiation;
	struct rpcrdma2_terms		terms;
	struct rpcrdma2_close		close;
	struct delayed_work		timer;
	struct rpcrdma2_heartbeat	heartbeat;
	struct rpcrdma2_resizing	resizing;
	u32				peak_rbsiz;
	struct rpcrdma2_conn_files	files;
	struct rb_node			present;

	/* The CQ, with each message */
	unsigned int			unpaid ____cacheline_aligned_in_smp;
	struct rpcrdma2_need		need;
	struct xdr_stream		recv_xdr;
	struct xdr_buf			recv_xdr_buf;

	struct rpcrdma2_conn_stats	stats;
};

static inline struct rpcrdma2_conn *rpcrdma2_conn_of(const struct rpcrdma2_ep *ep)
{
	return container_of(ep, struct rpcrdma2_conn, ep);
}

/* The connection that a message came by */
static inline struct rpcrdma2_conn *
rpcrdma2_recv_conn(const struct rpcrdma2_recv *recv)
{
	return rpcrdma2_conn_of(recv->ep);
}

/* life.c */
struct rpcrdma2_conn *
rpcrdma2_conn_alloc(const struct rpcrdma2_conn_param *param, gfp_t gfp);
int rpcrdma2_conn_init(void);
void rpcrdma2_conn_cleanup(void);

/**
 * rpcrdma2_conn_is_ready - may RPCs flow?
 * @conn: the connection
 *
 * The answer may be out of date at once. Only posting decides.
 *
 * Context: Any.
 * Return: whether @conn is READY
 */
static inline bool rpcrdma2_conn_is_ready(const struct rpcrdma2_conn *conn)
{
	return READ_ONCE(conn->state) == RPCRDMA2_CONN_READY;
}

/**
 * rpcrdma2_conn_reverse - which Calls may flow in the reverse direction?
 * @conn: the connection
 *
 * Context: Any, once @conn is READY.
 * Return: enum rpcrdma2_rvreqsup: the lesser of both ends' announcements. An end that
 *	announces nothing has the default of the dialect.
 */
static inline u32 rpcrdma2_conn_reverse(const struct rpcrdma2_conn *conn)
{
	return min(conn->terms.own.brs, conn->terms.peer.brs);
}

/**
 * rpcrdma2_conn_paid - a message used a credit, or answers one of this end's messages
 * @conn: the connection
 *
 * Credits bound the number of such messages. rpcrdma2_dispatch() bounds all others.
 *
 * Context: CQ.
 */
static inline void rpcrdma2_conn_paid(struct rpcrdma2_conn *conn)
{
	conn->unpaid = 0;
}

/**
 * rpcrdma2_conn_moves_data - does this end make RDMA Reads and RDMA Writes?
 * @conn: the connection
 *
 * Context: Any.
 * Return: whether this end may receive Calls with chunks
 */
static inline bool rpcrdma2_conn_moves_data(const struct rpcrdma2_conn *conn)
{
	return !conn->ep.active || conn->terms.own.brs == RDMA2_RVREQSUP_GENL;
}

/* dispatch.c */
void rpcrdma2_dispatch(struct rpcrdma2_recv *recv);

#endif /* _RPCRDMA2_CONN_H */
