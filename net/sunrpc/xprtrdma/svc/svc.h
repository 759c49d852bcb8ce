/* SPDX-License-Identifier: GPL-2.0 */
/*
 * svc/: sunrpc's server transport class "rdma".
 */
#ifndef _RPCRDMA2_SVC_H
#define _RPCRDMA2_SVC_H

#include <linux/module.h>
#include <linux/sunrpc/svc_xprt.h>

#include "responder/responder.h"

struct rpcrdma2_backlog;
struct rpcrdma2_source;

/* Of a connection that sunrpc has not accepted yet: see accept.c */
enum rpcrdma2_svc_stage {
	RPCRDMA2_SVC_WAITING,
	RPCRDMA2_SVC_PLACED,
	RPCRDMA2_SVC_OFFERED,
};

/**
 * struct rpcrdma2_svc_xprt - a listener, or a connection that it accepted
 * @xprt: sunrpc's part
 * @conn: the connection; referenced
 * @listener: what listens, of a listener
 * @from: the listener that a connection came to; referenced
 * @backlog: of a listener: its connections that sunrpc has not accepted yet
 * @in_backlog: of such a connection: in the backlog
 * @queued: of such a connection: in the list of those at its @stage
 * @source: of such a connection: its address, in the backlog; otherwise NULL
 * @stage: of such a connection; the backlog's lock protects these four
 * @lock: the lists of jobs, and what follows
 * @offered: sunrpc has it, or gets it by xpo_accept; until then it is the
 *	connection's, and goes with it
 * @detached: of a connection: sunrpc let go of it, and the connection has a reference
 * @closing: the connection is
 * @closed: the connection is CLOSED
 * @arrived: jobs that are behind @calls; anybody adds one, without @lock
 * @calls: jobs for a thread, with Read chunks or without
 * @read_jobs: jobs whose arguments have been read
 */
struct rpcrdma2_svc_xprt {
	struct svc_xprt		xprt;
	struct rpcrdma2_conn	*conn;
	struct rpcrdma2_listener *listener;
	struct rpcrdma2_svc_xprt *from;
	struct rpcrdma2_backlog	*backlog;
	struct list_head	in_backlog;
	struct list_head	queued;
	struct rpcrdma2_source	*source;
	enum rpcrdma2_svc_stage	stage;
	spinlock_t		lock;	/* lists of jobs, flags */
	bool			offered;
	bool			detached;
	bool			closing;
	bool			closed;
	struct llist_head	arrived;
	struct list_head	calls;
	struct list_head	read_jobs;
};

static inline struct rpcrdma2_svc_xprt *
to_rpcrdma2_svc_xprt(struct svc_xprt *xprt)
{
	return container_of(xprt, struct rpcrdma2_svc_xprt, xprt);
}

/**
 * rpcrdma2_svc_drop - drop a reference to an svc_xprt that sunrpc never had
 * @sx: the svc_xprt
 *
 * Each svc_xprt that is freed gives up a claim to the module, which sunrpc makes for those
 * that it has. Process context.
 */
static inline void rpcrdma2_svc_drop(struct rpcrdma2_svc_xprt *sx)
{
	__module_get(THIS_MODULE);
	svc_xprt_put(&sx->xprt);
}

/* transport.c */
int rpcrdma2_svc_register(void);
void rpcrdma2_svc_unregister(void);

/* accept.c */
struct rpcrdma2_backlog *rpcrdma2_backlog_alloc(void);
bool rpcrdma2_backlog_has_room(struct rpcrdma2_svc_xprt *listener,
			       const struct sockaddr *sa);
int rpcrdma2_backlog_add(struct rpcrdma2_svc_xprt *sx);
void rpcrdma2_backlog_remove(struct rpcrdma2_svc_xprt *sx);
void rpcrdma2_backlog_discard(struct rpcrdma2_svc_xprt *sx);
void rpcrdma2_backlog_close(struct rpcrdma2_svc_xprt *listener);
void rpcrdma2_offer(struct rpcrdma2_svc_xprt *sx);
struct rpcrdma2_svc_xprt *
rpcrdma2_offer_next(struct rpcrdma2_svc_xprt *listener);

/* io.c */
extern const struct rpcrdma2_responder_ops rpcrdma2_svc_responder_ops;
void rpcrdma2_svc_call(struct rpcrdma2_recv *recv);
void rpcrdma2_svc_init_jobs(struct rpcrdma2_svc_xprt *sx);
void rpcrdma2_svc_room(struct rpcrdma2_svc_xprt *sx);
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

/* inject.c */
#ifdef CONFIG_FAULT_INJECTION
bool rpcrdma2_svc_inject_error(struct rpcrdma2_job *job);
void rpcrdma2_svc_inject_init(void);
#else
static inline bool rpcrdma2_svc_inject_error(struct rpcrdma2_job *job)
{
	return false;
}

static inline void rpcrdma2_svc_inject_init(void)
{
}
#endif

/* stats.c */
void rpcrdma2_svc_stats_add(struct rpcrdma2_conn *conn);
void rpcrdma2_svc_stats_gone(struct rpcrdma2_conn *conn);
void rpcrdma2_svc_stats_refused(void);
u64 rpcrdma2_svc_stats_nr_refused(void);
void rpcrdma2_svc_stats_init(void);
void rpcrdma2_svc_stats_exit(void);

#endif /* _RPCRDMA2_SVC_H */
