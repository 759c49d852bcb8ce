/* SPDX-License-Identifier: GPL-2.0 */
/*
 * xprt/: sunrpc's client transport class "rdma".
 */
#ifndef _RPCRDMA2_XPRT_H
#define _RPCRDMA2_XPRT_H

#include <linux/kthread.h>
#include <linux/sunrpc/xprt.h>

#include "requester/requester.h"
#include "responder/responder.h"

/**
 * struct rpcrdma2_xprt - a client's transport
 * @xprt: sunrpc's part
 * @slots: RPCs outstanding at most, credits permitting
 * @connect_work: makes the next connection
 * @attempt: when it last ran for a new attempt, in jiffies
 * @tried: the address that an attempt leads to. It stays until the next attempt begins
 * @connector: the thread where that connects. It exists from the start, as kthreadd
 *	waits for memory, which may be swapped over this transport
 * @lock: @conn, @abandoned, @stats, @reverse_free, @reverse_waiting, @bc_users
 * @conn: the connection, from its making to CLOSED; referenced; or NULL. Who sends goes
 *	by RCU
 * @abandoned: the present attempt to connect is to end
 * @nr_conns: connections whose end was not reported to sunrpc yet
 * @stats: what was counted on connections that are gone
 * @last_close: when the last one that was READY went, in jiffies
 * @last_close_status: why it did; 0 if none did yet
 * @silent_conns: those that ended as nothing came back to a heartbeat
 * @assumed: the dialect that the connection started in, for what is known of the
 *	server; or NULL
 * @suspect: the dialect to try if the next connection ends like the last one; or NULL
 * @refusals: connections of such a kind that were refused
 * @refused: who connects next is told that there is no common version
 * @reverse: enum rpcrdma2_rvreqsup: which of the server's Calls are taken
 * @reverse_free: reverse-direction requests to use
 * @reverse_waiting: jobs that wait for one
 * @nr_reverse: reverse-direction requests there are
 * @bc_users: callback services that did not go yet
 */
struct rpcrdma2_xprt {
	struct rpc_xprt		xprt;
	unsigned int		slots;
	struct delayed_work	connect_work;
	unsigned long		attempt;
	struct sockaddr_storage	tried;
	struct kthread_worker	*connector;
	spinlock_t		lock;	/* conn, abandoned, stats, reverse_*, bc_users */
	struct rpcrdma2_conn __rcu *conn;
	bool			abandoned;
	atomic_t		nr_conns;
	struct rpcrdma2_stats	stats;
	unsigned long		last_close;
	int			last_close_status;
	unsigned int		silent_conns;
	const struct rpcrdma2_dialect *assumed;
	const struct rpcrdma2_dialect *suspect;
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

/* The caller holds @x->lock. */
static inline struct rpcrdma2_conn *
rpcrdma2_xprt_conn(const struct rpcrdma2_xprt *x)
{
	return rcu_dereference_protected(x->conn, lockdep_is_held(&x->lock));
}

/**
 * rpcrdma2_xprt_conn_get - the connection, if there is one
 * @x: the transport
 *
 * Return: a reference, or NULL
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
