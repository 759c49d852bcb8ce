/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rdma/: an RDMA endpoint: one end of a connection, as the device sees it.
 *
 * An endpoint owns a protection domain, a CQ, a QP and the buffers of both Queues. It posts
 * chains of work requests, and hands filled Receives to the connection that embeds it
 * (conn/). The connection owns the CM id, the dialect and the RPCs. The endpoint calls the
 * connection by struct rpcrdma2_ep_ops, and knows nothing else of it.
 *
 * CQ context means a completion handler: process context, in a workqueue.
 */
#ifndef _RPCRDMA2_EP_H
#define _RPCRDMA2_EP_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "recv.h"
#include "sq.h"
#include "srq.h"

struct rpcrdma2_ep;

/*
 * Receives of each endpoint besides one per granted Call and one per expected Reply:
 *
 *	CONNPROP	one: each end sends one
 *	property change	two, beside CONNPROP's: an UPDATE, a REQUEST, a DISPOSITION
 *	rpcrdma2_recv_done()	one: a Reply frees its credit before its Receive is posted
 *				again
 *	RDMA2_ERROR	one for an error that answers no Call
 */
#define RPCRDMA2_CONTROL_RECVS	5

/* Heartbeats that may be out at a time; each takes a Send Queue entry, and on iWARP a Read */
#define RPCRDMA2_HEARTBEATS	1

/* For tracepoints: what a Call or a chain waits for */
enum rpcrdma2_wait {
	RPCRDMA2_WAIT_CREDIT,
	RPCRDMA2_WAIT_MR,
	RPCRDMA2_WAIT_SEND_BUFFER,
	RPCRDMA2_WAIT_SEND_QUEUE,
	RPCRDMA2_WAIT_RDMA,
	RPCRDMA2_WAIT_JOB,
};

/**
 * struct rpcrdma2_ep_ops - callbacks of an endpoint to its connection
 * @received: a message arrived; takes the Receive. CQ context
 * @resized: all Receives have the size that recvs.size says. Process context, entered
 * @room: the Send Queue has room, or a Send buffer is free, and a caller waited for that.
 *	Process context, no locks held
 * @failed: close the connection for the reason @status, a negative errno. Process context;
 *	does not sleep. Takes the endpoint's lock. The caller may hold srqs_lock
 * @broken: close the connection, as a work request has completed with an error. CQ context;
 *	does not sleep. Takes the endpoint's lock
 */
struct rpcrdma2_ep_ops {
	void	(*received)(struct rpcrdma2_recv *recv);
	void	(*resized)(struct rpcrdma2_ep *ep);
	void	(*room)(struct rpcrdma2_ep *ep);
	void	(*failed)(struct rpcrdma2_ep *ep, int status);
	void	(*broken)(struct rpcrdma2_ep *ep, const struct ib_wc *wc);
};

/**
 * struct rpcrdma2_ep_param - what Queues are planned for
 * @shared: Receives may come from a Shared Receive Queue. Not set if this end offers chunks:
 *	all peers of the Queue's protection domain would reach them
 * @moves_data: this end makes RDMA Reads and RDMA Writes for Calls
 * @wrs_per_call: Send Queue entries to plan per Call, in each direction
 * @job_pages: pages of the largest Call that this end answers, or of its Reply
 * @recv_max: maximum size of Receive buffers, octets; the size of shared ones
 */
struct rpcrdma2_ep_param {
	bool		shared;
	bool		moves_data;
	unsigned int	wrs_per_call;
	unsigned int	job_pages;
	u32		recv_max;
};

/**
 * struct rpcrdma2_ep_stats - what an endpoint did
 *
 * Written in CQ context:
 *
 * @completions: completions of both Queues
 * @receives: messages received
 * @receive_octets: octets of these messages, headers included
 *
 * Written under the endpoint's lock:
 *
 * @work_requests: WRs posted on the Send Queue
 * @send_doorbells: calls of ib_post_send()
 * @recv_doorbells: calls of ib_post_recv()
 * @queue_waits: chains that found no room on the Send Queue
 * @sends: Sends among @work_requests
 * @send_octets: octets of these Sends, headers included
 *
 * stats.h says how counters are read.
 */
struct rpcrdma2_ep_stats {
	u64	completions;
	u64	receives;
	u64	receive_octets;

	u64	work_requests ____cacheline_aligned_in_smp;
	u64	send_doorbells;
	u64	recv_doorbells;
	u64	queue_waits;
	u64	sends;
	u64	send_octets;
};

/**
 * struct rpcrdma2_send_limit - sizes of messages that the peer can receive
 * @call: size of the largest Call that this end may send inline, octets; also of a Reply, if
 *	the requester offered a chunk for it
 * @reply: size of the largest message that the peer can receive, octets: @call, or more after
 *	that was lowered
 */
struct rpcrdma2_send_limit {
	u32	call;
	u32	reply;
};

/**
 * struct rpcrdma2_ep_users - threads that use a QP or a device
 * @count: number of threads; negative once no thread may enter
 * @gone: completed when the last one has left, and none may enter
 */
struct rpcrdma2_ep_users {
	atomic_t		count;
	struct completion	gone;
};

/**
 * struct rpcrdma2_grant - credits for the peer
 * @now: credits that each message grants
 * @most: highest value that @now ever had
 */
struct rpcrdma2_grant {
	unsigned int	now;
	unsigned int	most;
};

/**
 * struct rpcrdma2_ep - one end of a connection, as the device sees it
 * @id: number of the connection in tracepoints and debugfs
 * @active: this end connects
 * @closing: nothing is posted any more. The connection sets this when it starts to close,
 *	under @lock
 * @connected: rdma_connect() or rdma_accept() has succeeded, so the teardown calls
 *	rdma_disconnect(). The connection sets this before rpcrdma2_ep_exit()
 * @keeps_pd: a registration could not be given up, so @pd is leaked; the teardown's
 * @no_local_inv: the device is known to refuse LOCAL_INV
 * @sends_references: see rpcrdma2_device_sends_references()
 * @ops: callbacks to the connection
 * @param: what the Queues are planned for; stable once the QP exists
 * @calls_out: maximum of this end's outstanding Calls; less than the connection asked for if
 *	the device has few Receives. Stable once the QP exists
 * @calls_in: maximum of Calls granted to the peer; likewise
 * @cm_id: the connection's CM id; NULL before it has one, and after CLOSED
 * @pd: protection domain
 * @cq: CQ of both Queues, so their completion handlers never run at the same time
 * @qp: queue pair
 * @srq: Shared Receive Queue, or NULL
 * @max_pages: maximum number of pages in a registration
 * @sq_depth: entries of the Send Queue; stable once the QP exists
 * @limit: sizes of messages that the peer can receive
 * @member: this endpoint, as one that uses @srq
 * @failed_work: calls the failed op after the QP failed. Has no reference to the connection:
 *	the teardown cancels it once the QP is destroyed
 * @lock: serialises posting on @qp. Protects @sq, @sends, and the members @all, @size and
 *	@odd of @recvs. Writers of @closing and @limit hold it, too. The connection keeps its
 *	state and terms under it. Taken in process context, under locks of svc_serv and
 *	rpc_xprt. Its holder takes only locks of the driver and of the kernel's core: to post, to
 *	queue work, and to signal a thread that connects
 * @sq: the Send Queue
 * @sends: Send buffers
 * @recvs: Receives that are not shared
 * @users: threads between rpcrdma2_ep_enter() and rpcrdma2_ep_exit()
 * @returned: Receives that threads gave back, or new ones
 * @grant: credits that each message grants to the peer; the CQ's
 * @share: this endpoint's part of @srq
 * @stats: counters
 */
struct rpcrdma2_ep {
	u32				id;
	bool				active;
	bool				closing;
	bool				connected;
	bool				keeps_pd;
	bool				no_local_inv;
	bool				sends_references;
	const struct rpcrdma2_ep_ops	*ops;
	struct rpcrdma2_ep_param	param;
	unsigned int			calls_out;
	unsigned int			calls_in;

	struct rdma_cm_id		*cm_id;
	struct ib_pd			*pd;
	struct ib_cq			*cq;
	struct ib_qp			*qp;
	struct rpcrdma2_srq		*srq;
	unsigned int			max_pages;
	unsigned int			sq_depth;
	struct rpcrdma2_send_limit	limit;
	struct rpcrdma2_srq_member	member;
	struct work_struct		failed_work;

	/* Posting, under the lock: the free buffers are in its cache line, too */
	spinlock_t			lock ____cacheline_aligned_in_smp; /* see above */
	struct rpcrdma2_sq		sq;
	struct rpcrdma2_send_pool	sends;
	struct rpcrdma2_recv_pool	recvs;

	/* Threads that enter and exit */
	struct rpcrdma2_ep_users	users ____cacheline_aligned_in_smp;

	/* Threads that give Receives back */
	struct rpcrdma2_recv_returns	returned ____cacheline_aligned_in_smp;

	/* The CQ, with each message */
	struct rpcrdma2_grant		grant ____cacheline_aligned_in_smp;
	struct rpcrdma2_srq_share	share;

	struct rpcrdma2_ep_stats	stats;
};

/* ep.c */
extern struct workqueue_struct *rpcrdma2_wq;
int rpcrdma2_ep_setup(void);
void rpcrdma2_ep_cleanup(void);
void rpcrdma2_ep_init(struct rpcrdma2_ep *ep, const struct rpcrdma2_ep_ops *ops);
bool rpcrdma2_ep_enter(struct rpcrdma2_ep *ep);
void rpcrdma2_ep_exit(struct rpcrdma2_ep *ep);
void rpcrdma2_ep_wait_users(struct rpcrdma2_ep *ep);

/**
 * rpcrdma2_ep_has_room - does no chain wait for the Send Queue?
 * @ep: the endpoint
 *
 * A hint: posting never fails for lack of room.
 *
 * Context: Any.
 * Return: false if a chain waits. The room op is called when none waits any more.
 */
static inline bool rpcrdma2_ep_has_room(const struct rpcrdma2_ep *ep)
{
	return list_empty_careful(&ep->sq.waiting);
}

/* qp.c */
int rpcrdma2_qp_open(struct rpcrdma2_ep *ep);
int rpcrdma2_qp_create(struct rpcrdma2_ep *ep);
int rpcrdma2_qp_drain(struct rpcrdma2_ep *ep);
void rpcrdma2_qp_abort(struct rpcrdma2_ep *ep, int rc);
void rpcrdma2_qp_destroy(struct rpcrdma2_ep *ep);

#endif /* _RPCRDMA2_EP_H */
