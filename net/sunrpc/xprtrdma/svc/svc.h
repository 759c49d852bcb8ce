/* SPDX-License-Identifier: GPL-2.0 */
/*
 * svc/: sunrpc's server transport class "rdma".
 */
#ifndef _RPCRDMA2_SVC_H
#define _RPCRDMA2_SVC_H

#include <linux/sunrpc/svc_xprt.h>

#include "responder/responder.h"

/**
 * struct rpcrdma2_svc_xprt - a listener, or a connection that it accepted
 * @xprt: sunrpc's part
 * @conn: the connection; referenced
 * @listener: the listening CM id
 * @lock: the lists, @detached, @closed
 * @detached: sunrpc let go of it, and the connection has a reference
 * @closed: the connection is CLOSED
 * @incoming: connections that wait to be accepted, by their link
 * @calls: jobs that came
 * @starved: jobs for whose Reads the device had no registration
 * @reading: jobs whose Reads are under way, or being made
 * @reads_ended: jobs that were, so far
 * @nr_incoming: how many connections wait
 * @read_jobs: jobs whose arguments have been read
 */
struct rpcrdma2_svc_xprt {
	struct svc_xprt		xprt;
	struct rpcrdma2_conn	*conn;
	struct rdma_cm_id	*listener;
	spinlock_t		lock;	/* the lists, detached, closed */
	bool			detached;
	bool			closed;
	struct list_head	incoming;
	struct list_head	calls;
	struct list_head	starved;
	unsigned int		reading;
	unsigned int		reads_ended;
	unsigned int		nr_incoming;
	struct list_head	read_jobs;
};

static inline struct rpcrdma2_svc_xprt *
to_rpcrdma2_svc_xprt(struct svc_xprt *xprt)
{
	return container_of(xprt, struct rpcrdma2_svc_xprt, xprt);
}

/* transport.c */
int rpcrdma2_svc_register(void);
void rpcrdma2_svc_unregister(void);

/* io.c */
void rpcrdma2_svc_call(struct rpcrdma2_recv *recv);
void rpcrdma2_svc_drop_jobs(struct rpcrdma2_svc_xprt *sx);
int rpcrdma2_svc_recvfrom(struct svc_rqst *rqstp);
int rpcrdma2_svc_sendto(struct svc_rqst *rqstp);
int rpcrdma2_svc_result_payload(struct svc_rqst *rqstp, unsigned int offset,
				unsigned int length);
void rpcrdma2_svc_release_ctxt(struct svc_xprt *xprt, void *ctxt);
int rpcrdma2_svc_has_wspace(struct svc_xprt *xprt);

/* reverse.c */
int rpcrdma2_svc_reverse_register(void);
void rpcrdma2_svc_reverse_unregister(void);
void rpcrdma2_svc_reverse_lost(struct rpcrdma2_svc_xprt *sx);

/* stats.c */
void rpcrdma2_svc_stats_add(struct rpcrdma2_conn *conn);
void rpcrdma2_svc_stats_gone(struct rpcrdma2_conn *conn);
void rpcrdma2_svc_stats_init(void);
void rpcrdma2_svc_stats_exit(void);

#endif /* _RPCRDMA2_SVC_H */
