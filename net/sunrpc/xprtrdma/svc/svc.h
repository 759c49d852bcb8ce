/* SPDX-License-Identifier: GPL-2.0 */
/*
 * svc/: sunrpc's server transport class "rdma".
 *
 * It joins sunrpc's svc_xprt to conn/, to the responder role for NFS operations, and to the
 * requester role for callbacks.
 */
#ifndef _RPCRDMA2_SVC_H
#define _RPCRDMA2_SVC_H

#include <linux/module.h>
#include <linux/sunrpc/svc_xprt.h>

#include "owner.h"
#include "responder/responder.h"

struct rpcrdma2_backlog;
struct rpcrdma2_source;

/**
 * enum rpcrdma2_svc_stage - how far a connection in a backlog is: see accept.c
 * @RPCRDMA2_SVC_WAITING: it waits for a place, without a QP
 * @RPCRDMA2_SVC_PLACED: it has a place
 * @RPCRDMA2_SVC_OFFERED: it is READY, and waits for xpo_accept
 */
enum rpcrdma2_svc_stage {
	RPCRDMA2_SVC_WAITING,
	RPCRDMA2_SVC_PLACED,
	RPCRDMA2_SVC_OFFERED,
};

/**
 * struct rpcrdma2_svc_xprt - a listener, or a connection that it accepted
 * @xprt: sunrpc's part
 * @conn: the connection; referenced; NULL for a listener
 * @listener: a listener's part of conn/
 * @from: the listener to which the connection came; referenced
 * @backlog: a listener's connections that sunrpc has not accepted yet
 * @in_backlog: link in the backlog's @all
 * @queued: link in the backlog's list for @stage
 * @source: the connection's address in the backlog; NULL outside of the backlog
 * @stage: how far the connection is in the backlog
 * @lock: protects @owner, @calls and @read_jobs. Its holder empties @arrived
 * @owner: its owner, which drops it
 * @arrived: jobs for a thread, newest first; all are newer than those in @calls. Any context
 *	adds one, without @lock
 * @calls: jobs for a thread, oldest first: to be read, or to run
 * @read_jobs: jobs whose RDMA Reads have ended, oldest first
 *
 * The backlog's lock protects @in_backlog to @stage.
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
	spinlock_t		lock;	/* see above */
	enum rpcrdma2_owner	owner;
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
 * rpcrdma2_svc_happen - note an event in the life of a connection's svc_xprt
 * @sx: the svc_xprt
 * @event: the event
 *
 * Context: process.
 *
 * Return: the action for the caller to take
 */
static inline enum rpcrdma2_owner_action
rpcrdma2_svc_happen(struct rpcrdma2_svc_xprt *sx, enum rpcrdma2_owner_event event)
{
	const struct rpcrdma2_owner_step *step;

	spin_lock(&sx->lock);
	step = rpcrdma2_owner_step(sx->owner, event);
	if (!WARN_ON_ONCE(!step->is_possible))
		sx->owner = step->next;
	spin_unlock(&sx->lock);
	return step->action;
}

/**
 * rpcrdma2_svc_drop - drop a reference to an svc_xprt that sunrpc never had
 * @sx: the svc_xprt
 *
 * sunrpc puts the module when an svc_xprt is freed, but gets the module only when it takes
 * one over. So get the module here.
 *
 * Context: process.
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

/* thread.c */
unsigned int rpcrdma2_thread_take_pages(struct svc_rqst *rqstp,
					struct rpcrdma2_job *job);
void rpcrdma2_thread_begin_reply(struct svc_rqst *rqstp, unsigned int used,
				 unsigned int job_pages);
void rpcrdma2_thread_keep_reply_pages(struct svc_rqst *rqstp);
void rpcrdma2_thread_fill_reply_pages(struct svc_rqst *rqstp);
void rpcrdma2_thread_find_last_page(struct svc_rqst *rqstp);

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

#endif /* _RPCRDMA2_SVC_H */
