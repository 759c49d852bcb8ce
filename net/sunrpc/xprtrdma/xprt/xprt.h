/* SPDX-License-Identifier: GPL-2.0 */
/*
 * xprt/: the client's transport, class "rdma" of sunrpc.
 *
 * transport.c has the ops that sunrpc calls. connect.c makes connections, report.c and servers.c
 * help it. reverse.c answers the server's Calls. A struct rpcrdma2_xprt outlives its connections,
 * of which there is at most one at a time.
 */
#ifndef _RPCRDMA2_XPRT_H
#define _RPCRDMA2_XPRT_H

#include <linux/kthread.h>
#include <linux/sunrpc/xprt.h>

#include "requester/requester.h"
#include "responder/responder.h"

/**
 * struct rpcrdma2_xprt - the transport of a client
 * @xprt: sunrpc's part
 * @slots: maximum number of outstanding RPCs; the grant may allow fewer
 * @connect_work: makes the next connection
 * @attempt: when @connect_work last ran, in jiffies
 * @tried: address of the last attempt to connect; changes only when an attempt begins
 * @connector: thread that connects and tears down; see below
 * @lock: protects @conn, @abandoned, @stats, @bc_users, and the lists of the reverse direction
 * @conn: the connection, from its creation to CLOSED, referenced; or NULL. Senders use RCU
 * @abandoned: the present attempt to connect must end
 * @nr_conns: connections whose end is not reported to sunrpc yet
 * @stats: sums of the requester counters of past connections
 * @last_close: when the last READY connection ended, in jiffies
 * @last_close_status: why that connection ended, negative errno; 0 if none has ended
 * @silent_conns: connections that ended because a heartbeat did not complete
 * @assumed: remembered dialect that the connection began with, or NULL; see servers.c
 * @spoken: dialect in which the server last stated its properties, or NULL
 * @suspect: dialect to try if the next connections end like the last one, or NULL
 * @suspicions: connections in a row that ended with @suspect
 * @refusals: connections that the server refused although they began with @assumed
 * @refused: the next attempt fails, because the server speaks no dialect of this client
 * @reverse: enum rpcrdma2_rvreqsup: which of the server's Calls this client takes
 * @reverse_free: reverse-direction requests that no Call uses
 * @reverse_waiting: jobs that wait for a reverse-direction request
 * @nr_reverse: reverse-direction requests that exist
 * @bc_users: callback services that may take Calls
 *
 * @connector exists from the start. Creating a thread later would need memory, which may become
 * free only when pages are swapped out over this very transport.
 */
struct rpcrdma2_xprt {
	struct rpc_xprt		xprt;
	unsigned int		slots;
	struct delayed_work	connect_work;
	unsigned long		attempt;
	struct sockaddr_storage	tried;
	struct kthread_worker	*connector;
	spinlock_t		lock;	/* conn, abandoned, stats, reverse_* (lists), bc_users */
	struct rpcrdma2_conn __rcu *conn;
	bool			abandoned;
	atomic_t		nr_conns;
	struct rpcrdma2_stats	stats;
	unsigned long		last_close;
	int			last_close_status;
	unsigned int		silent_conns;
	const struct rpcrdma2_dialect *assumed;
	const struct rpcrdma2_dialect *spoken;
	const struct rpcrdma2_dialect *suspect;
	unsigned int		suspicions;
	unsigned int		refusals;
	bool			refused;
	u32			reverse;
	struct list_head	reverse_free;
	struct list_head	reverse_waiting;
	unsigned int		nr_reverse;
	unsigned int		bc_users;
};

static inline struct rpcrdma2_xprt *to_rpcrdma2_xprt(struct rpc_xprt *xprt)
{
	return container_of(xprt, struct rpcrdma2_xprt, xprt);
}

/* Called with @x->lock held. */
static inline struct rpcrdma2_conn *
rpcrdma2_xprt_conn(const struct rpcrdma2_xprt *x)
{
	return rcu_dereference_protected(x->conn, lockdep_is_held(&x->lock));
}

/**
 * rpcrdma2_xprt_conn_get - get a reference to the connection of a transport
 * @x: the transport
 *
 * Context: any but interrupts; takes @x->lock.
 *
 * Return: the connection, or NULL if there is none
 */
static inline struct rpcrdma2_conn *
rpcrdma2_xprt_conn_get(struct rpcrdma2_xprt *x)
{
	struct rpcrdma2_conn *conn;

	spin_lock(&x->lock);
	conn = rpcrdma2_xprt_conn(x);
	if (conn)
		rpcrdma2_conn_get(conn);
	spin_unlock(&x->lock);
	return conn;
}

/* connect.c */
void rpcrdma2_xprt_connect_init(struct rpcrdma2_xprt *x);
void rpcrdma2_xprt_connect(struct rpc_xprt *xprt, struct rpc_task *task);
void rpcrdma2_xprt_close(struct rpc_xprt *xprt);
void rpcrdma2_xprt_connect_end(struct rpcrdma2_xprt *x);

/* transport.c */
int rpcrdma2_xprt_register(void);
void rpcrdma2_xprt_unregister(void);

/* report.c */
void rpcrdma2_report_failure(const struct rpcrdma2_xprt *x,
			     const struct rpcrdma2_conn *conn);

/* servers.c */
const struct rpcrdma2_dialect *
rpcrdma2_server_dialect(const struct rpcrdma2_xprt *x);
void rpcrdma2_server_learned(const struct rpcrdma2_xprt *x,
			     const struct rpcrdma2_dialect *dialect);
void rpcrdma2_server_lost(const struct rpcrdma2_xprt *x);
bool rpcrdma2_server_report(const struct rpcrdma2_xprt *x);

/* reverse.c */
void rpcrdma2_xprt_reverse_init(struct rpcrdma2_xprt *x);
extern const struct rpcrdma2_responder_ops rpcrdma2_xprt_responder_ops;
void rpcrdma2_xprt_reverse_call(struct rpcrdma2_recv *recv);
int rpcrdma2_xprt_reverse_reply(struct rpc_rqst *rqst);
int rpcrdma2_xprt_bc_setup(struct rpc_xprt *xprt, unsigned int min_reqs);
size_t rpcrdma2_xprt_bc_maxpayload(struct rpc_xprt *xprt);
unsigned int rpcrdma2_xprt_bc_num_slots(struct rpc_xprt *xprt);
void rpcrdma2_xprt_bc_free_rqst(struct rpc_rqst *rqst);
void rpcrdma2_xprt_bc_destroy(struct rpc_xprt *xprt, unsigned int max_reqs);
void rpcrdma2_xprt_reverse_drop(struct rpcrdma2_conn *conn);
void rpcrdma2_xprt_reverse_free(struct rpcrdma2_xprt *x);

#endif /* _RPCRDMA2_XPRT_H */
