/* SPDX-License-Identifier: GPL-2.0 */
/*
 * conn/: one RDMA connection, whichever end.
 *
 * Upper layers see "ready, with these thresholds, this dialect"; they post
 * work and get received messages. They never see a CM event, a QP state or a
 * version word. conn/ knows nothing of who sits above: it calls through
 * struct rpcrdma2_conn_ops.
 */
#ifndef _RPCRDMA2_CONN_H
#define _RPCRDMA2_CONN_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/kref.h>
#include <linux/kthread.h>
#include <linux/llist.h>
#include <linux/rbtree.h>
#include <linux/sched/mm.h>
#include <linux/socket.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "handshake.h"
#include "resize.h"
#include "srq.h"
#include "stats.h"
#include "wire/wire.h"

struct rpcrdma2_conn;
struct rpcrdma2_listener;

/* Of the layers above, which have a connection, and which it refers to */
struct rpcrdma2_requester;
struct rpcrdma2_responder;
struct rpcrdma2_svc_xprt;
struct rpcrdma2_xprt;

/*
 * NEW -> RESOLVING -> ROUTING -> CONNECTING -> NEGOTIATING -> READY for the
 * end that connects; NEW -> ACCEPTING -> NEGOTIATING -> READY for the one
 * that accepts. From each of them to CLOSING, and then to CLOSED. The table
 * is in conn.c.
 */
enum rpcrdma2_conn_state {
	RPCRDMA2_CONN_NEW,
	RPCRDMA2_CONN_RESOLVING,
	RPCRDMA2_CONN_ROUTING,
	RPCRDMA2_CONN_CONNECTING,
	RPCRDMA2_CONN_ACCEPTING,
	RPCRDMA2_CONN_NEGOTIATING,
	RPCRDMA2_CONN_READY,
	RPCRDMA2_CONN_CLOSING,
	RPCRDMA2_CONN_CLOSED,
};

/* An attempt, by whoever has no time to wait, and goes on without memory */
#define RPCRDMA2_GFP_ONCE	(GFP_NOIO | __GFP_NORETRY | __GFP_NOWARN)

/**
 * struct rpcrdma2_recv - one Receive buffer
 * @conn: its connection; none while it is posted to a Shared Receive Queue
 * @srq: that Queue, or NULL
 * @turn: what its turn was when this was posted
 * @cqe: completion
 * @node: in conn->given_back, or for whoever holds it
 * @wr: posts it
 * @sge: describes @buf
 * @buf: as many octets as conn->recv_size was
 * @needs_sync: by rpcrdma2_buffer_needs_sync()
 * @offset: where in @buf the RPC message starts, octets
 * @len: octets of RPC message from @offset on
 * @invalidated: handle that came with a Send With Invalidate, or 0
 * @hdr: decoded header of the message
 * @all: conn->recvs, or srq->recvs
 *
 * Belongs to the Receive Queue while posted, then to conn/ until it is handed
 * to an upper layer's @call or @reply, which gives it back with
 * rpcrdma2_recv_put(); if it is not shared, it is posted with the next Send.
 */
struct rpcrdma2_recv {
	struct rpcrdma2_conn	*conn;
	struct rpcrdma2_srq	*srq;
	unsigned int		turn;
	struct ib_cqe		cqe;
	struct llist_node	node;
	struct ib_recv_wr	wr;
	struct ib_sge		sge;
	void			*buf;
	bool			needs_sync;
	u32			offset;
	u32			len;
	u32			invalidated;
	struct rpcrdma2_header	hdr;
	struct list_head	all;
};

/* What a Call, or a chain of WRs, waits for; for tracepoints */
enum rpcrdma2_wait {
	RPCRDMA2_WAIT_CREDIT,
	RPCRDMA2_WAIT_MR,
	RPCRDMA2_WAIT_SEND_BUFFER,
	RPCRDMA2_WAIT_SEND_QUEUE,
	RPCRDMA2_WAIT_RDMA,
	RPCRDMA2_WAIT_JOB,
};

/**
 * struct rpcrdma2_chain - a chain of WRs on the Send Queue
 * @link: in conn->posted, in the order of the Send Queue, or conn->waiting
 * @cqe: completion of every WR of the chain
 * @first: first WR of the chain, or of what is left to post
 * @last: last WR of the chain; conn/ decides whether it is signaled
 * @count: WRs in the chain
 * @left: those not posted yet
 * @queued: those posted last
 * @xid: of the RPC that it is for; for tracepoints
 * @prompt: the owner waits for @done: signal this chain
 * @reads: the chain has RDMA Reads: no other completion stands for its own
 * @done: called once, after the last WR has completed, or after the Queue was
 *	drained; process context, no locks held; @status is 0 or -ENOTCONN
 */
struct rpcrdma2_chain {
	struct list_head	link;
	struct ib_cqe		cqe;
	struct ib_send_wr	*first;
	struct ib_send_wr	*last;
	unsigned int		count;
	unsigned int		left;
	unsigned int		queued;
	u32			xid;
	bool			prompt;
	bool			reads;
	void (*done)(struct rpcrdma2_chain *chain, int status);
};

/**
 * struct rpcrdma2_send - one Send buffer
 * @chain: the chain that ends in @wr
 * @conn: its connection
 * @buf: mapped for the device as long as it is
 * @size: octets of @buf
 * @needs_sync: by rpcrdma2_buffer_needs_sync()
 * @close_after: close the connection once this has been sent
 * @done: optional; called before the buffer is reused
 * @next_free: the one behind it in conn->free_sends
 * @wr: the Send
 * @sge: describes what was written to @buf
 * @owner: for @done
 * @all: conn->sends
 */
struct rpcrdma2_send {
	struct rpcrdma2_chain	chain;
	struct rpcrdma2_conn	*conn;
	void			*buf;
	u32			size;
	bool			needs_sync;
	bool			close_after;
	void			(*done)(struct rpcrdma2_send *send, int status);
	struct rpcrdma2_send	*next_free;
	struct ib_send_wr	wr;
	struct ib_sge		sge;
	void			*owner;
	struct list_head	all;
};

/**
 * struct rpcrdma2_conn_ops - what conn/ asks of the layer above
 * @prepare: optional; the connection has a QP: get what there must be, whatever memory
 *	there is once RPCs flow. Process context, may wait for memory; 0, or negative
 *	errno and it comes to nothing
 * @ready: RPCs may flow. Process context; before any @reply
 * @closing: no new work will be accepted; called once, process context
 * @fence: no WR of this connection is processed by the device any more: give up all
 *	memory registrations, before work that never completed is returned to its owners.
 *	Called once after @closing, process context
 * @drained: no WR of this connection is or will be processed by the device;
 *	its resources still exist. Called once after @closing, process context.
 *	The upper layer drops all it has of the device.
 * @closed: the device is let go of
 * @free: the last reference is dropped: free the roles; any context
 * @room: optional; nothing waits for the Send Queue any more, or there is a Send
 *	buffer for who got none; process context, no locks held
 * @call: a Call message arrived; it gives the Receive back, now or later; CQ context
 * @reply: a Reply or an RDMA2_ERROR arrived; it gives the Receive back; CQ context
 * @is_quiet: is none of this end's Calls out? One that is being marshalled counts
 * @show: write what there is to say of @conn above conn/, by rpcrdma2_show();
 *	between enter and exit, process context, must not sleep
 */
struct rpcrdma2_conn_ops {
	int	(*prepare)(struct rpcrdma2_conn *conn);
	void	(*ready)(struct rpcrdma2_conn *conn);
	void	(*closing)(struct rpcrdma2_conn *conn);
	void	(*fence)(struct rpcrdma2_conn *conn);
	void	(*drained)(struct rpcrdma2_conn *conn);
	void	(*closed)(struct rpcrdma2_conn *conn);
	void	(*free)(struct rpcrdma2_conn *conn);
	void	(*room)(struct rpcrdma2_conn *conn);
	void	(*call)(struct rpcrdma2_recv *recv);
	void	(*reply)(struct rpcrdma2_recv *recv);
	bool	(*is_quiet)(struct rpcrdma2_conn *conn);
	void	(*show)(struct rpcrdma2_conn *conn, struct seq_file *seq);
};

/**
 * struct rpcrdma2_conn_param - what the upper layer wants of a connection
 * @ops: its callbacks
 * @net: network namespace
 * @rbsiz_min: size of Receive buffers at first, and at the least, octets
 * @rbsiz_max: how large they may become by need, octets
 * @sbsiz: size of the largest message to send, octets
 * @calls_out: Calls this end may have outstanding
 * @calls_in: Calls this end grants to its peer, at the most
 * @shared: its Receives may be shared with other connections
 * @wrs_per_call: Send Queue entries to plan for each Call, either way
 * @heartbeat: seconds after which to look for a peer that is silent; 0: never
 * @reverse: enum rpcrdma2_rvreqsup: what it takes in the reverse direction, or sends;
 *	advertised. With GENL an end that connects reads and writes, too
 * @job_pages: pages of the largest Call that it answers, or of the Reply
 * @dialects: what may be spoken, in the order to try it; at least one
 * @swapper: optional; whether memory is swapped over the connection
 * @connector: the thread that connects and tears down, on the end that connects
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
 * struct rpcrdma2_memalloc - how a task allocated memory before
 * @noio: for memalloc_noio_restore()
 * @swap: may it use the reserves?
 * @noreclaim: for memalloc_noreclaim_restore(), if so
 */
struct rpcrdma2_memalloc {
	unsigned int	noio;
	bool		swap;
	unsigned int	noreclaim;
};

/**
 * rpcrdma2_memalloc_save - memory may be waiting for this connection to write it
 *	back, or to swap it out: allocations must not wait for that
 * @swapper: whether memory is swapped over it, or NULL
 *
 * Process context.
 *
 * Return: what rpcrdma2_memalloc_restore() takes
 */
static inline struct rpcrdma2_memalloc
rpcrdma2_memalloc_save(const atomic_t *swapper)
{
	struct rpcrdma2_memalloc saved = {
		.noio	= memalloc_noio_save(),
		.swap	= swapper && atomic_read(swapper),
	};

	if (saved.swap)
		saved.noreclaim = memalloc_noreclaim_save();
	return saved;
}

/**
 * rpcrdma2_memalloc_restore - undo rpcrdma2_memalloc_save()
 * @saved: what it returned
 */
static inline void rpcrdma2_memalloc_restore(struct rpcrdma2_memalloc saved)
{
	if (saved.swap)
		memalloc_noreclaim_restore(saved.noreclaim);
	memalloc_noio_restore(saved.noio);
}

/* CONNPROP and ERROR take no credit; a few Receives are kept for them. */
#define RPCRDMA2_CONTROL_RECVS	5

/* The peer may send this many messages in a row that use no credit. */
#define RPCRDMA2_MAX_UNPAID	32

/* A signaled WR every so many entries bounds how long buffers stay out. */
#define RPCRDMA2_SIGNAL_INTERVAL	16

/* Send Queue entries for those that are out: there is one at a time. */
#define RPCRDMA2_HEARTBEATS	1

/**
 * struct rpcrdma2_heartbeat - what finds out whether the peer is there
 * @chain: the chain that is @wr
 * @wr: an RDMA Write, or Read, of no octets
 * @sge: describes nothing
 * @heard: completions of the connection when it was last looked at, or when @wr
 *	completed; the CQ's and the timer's
 * @out: @chain is posted; set by the timer, cleared by the CQ
 * @due: WRs that were posted by @since: are they done? The timer's
 * @since: when that was last so, or too late, in jiffies; the timer's
 */
struct rpcrdma2_heartbeat {
	struct rpcrdma2_chain	chain;
	struct ib_rdma_wr	wr;
	struct ib_sge		sge;
	u64			heard;
	bool			out;
	u64			due;
	unsigned long		since;
};

/* A server answers a CONNPROP at once, if it does, and a Call in time. */
#define RPCRDMA2_ANSWER_TIMEOUT_SECS	5

/**
 * struct rpcrdma2_conn - one RDMA connection
 * @ref: the memory of this struct and of its buffers
 * @rcu: frees this struct: who finds it under rcu_read_lock() may try to enter it
 * @id: number of the connection in tracepoints
 * @param: what the layer above asks for; stays as given
 * @calls_out: maximum of this end's outstanding Calls. A device with few Receives lowers
 *	@param's value. Stable once there is a QP
 * @calls_in: maximum of Calls granted to the peer; lowered likewise
 * @rbsiz_min: initial and minimum size of Receive buffers, octets: @param's, or the size of
 *	a Shared Receive Queue's buffers
 * @rbsiz_max: maximum size of Receive buffers, octets: likewise
 * @xprt: the client's transport, of a connection that this end made
 * @svc_xprt: the server's, of one that it accepted
 * @link: for the upper layer
 * @was_ready: it was READY once; stable after the drain
 * @requester: its role that sends Calls, or NULL; for the upper layer
 * @responder: its role that answers Calls; for the upper layer
 * @lock: @state, @connecting, @handshake, @own, @peer, @resizing, @recvs, @recv_size to
 *	@odd_recvs, @posted, @waiting, @sq_used, @unsignaled, @free_sends, @send_wanted,
 *	@sends, and posting on @qp. Taken in CQ (process) context and below svc_serv and
 *	rpc_xprt locks. Only foreign locks are taken under it: the device driver's when
 *	it posts, a workqueue's for timers, and the lock of @connecting's signals
 * @state: enum rpcrdma2_conn_state
 * @users: threads between rpcrdma2_conn_enter() and _exit(); less than 0 once nobody may
 *	enter any more
 * @idle: completed when the last of @users leaves after that
 * @done: completed when state is CLOSED
 * @close_status: why it was closed, negative errno
 * @closed_in: the state that it was closed in
 * @connect_work: connects; it has a reference
 * @connecting: the thread that is at it, and may be sent a signal
 * @accept_work: accepts; it has a reference
 * @qp_failed_work: closes, as the device gave up the QP; it has a reference
 * @close_work: runs the teardown of an end that accepted
 * @close_in_thread: runs the teardown of an end that connects, in its connector
 * @timer: limits the time in a state; once READY, has it look for its peer
 * @heartbeat: how it does
 * @cm_id: CM id; none after CLOSED
 * @pd: protection domain
 * @keeps_pd: a registration could not be given up, so @pd can't; the teardown's
 * @cq: completions of both Queues, so that their handlers never overlap
 * @qp: queue pair
 * @active: this end connected, and speaks first
 * @connected: rdma_disconnect() is due at teardown: set once connecting or
 *	accepting has succeeded, before rpcrdma2_conn_exit()
 * @reject: why the peer's CM refused to connect: rdma_reject_msg() names it; or 0
 * @handshake: what was said so far; changes under @lock
 * @tried: the peer's time to answer a Call has begun; the timer's
 * @connprop_out: a CONNPROP was sent, and neither answered nor refused; the CQ's, once
 *	that is so
 * @dialect: how headers are written; stable once READY
 * @own: the properties that this end has said, or will say
 * @peer: the peer's properties
 * @have_props: they came in a CONNPROP
 * @peer_credits: credits in that CONNPROP
 * @send_limit: largest Call that this end may Send, octets; and Reply, if there is a
 *	chunk for it
 * @send_max: largest message that the peer can take, octets: @send_limit, unless
 *	that was lowered lately
 * @send_size: how large Send buffers are to be, octets
 * @recv_limit: largest message the peer will Send, octets
 * @peer_private: the peer's private data, if @have_private
 * @have_private: the peer sent private data
 * @remote_inv: the requester may have a handle invalidated with its Reply
 * @assume: the dialect to try next, as the peer's answer says that it does not speak
 *	this one; or NULL; stable after the drain
 * @suspect: the dialect to try next if the next connection ends like this one: the
 *	peer hung up on messages of this dialect, or did not answer them; or NULL;
 *	stable after the drain
 * @first_grant: credits in the peer's answer to a CONNPROP; 0 if none came
 * @grant_out: credits that this end grants the peer, as each message to it says; the CQ's
 * @grant_out_max: the highest that @grant_out ever was; the CQ's
 * @max_reads_out: RDMA Reads that this end makes at a time: no more than the peer answers
 * @max_reads_in: RDMA Reads that the peer makes at a time, of an end that accepts: no more
 *	than this one answers
 * @speak_secs: seconds that the peer has to speak, once it is accepted
 * @resizing: how they get another size
 * @need: which one they are to have
 * @srq: where Receives are from that are shared with others, or NULL
 * @srq_link: in its conns
 * @last_wqe: no more of them is taken
 * @backed: Calls for which it has Receives; the CQ's, with its lock
 * @backed_replies: Calls of this end for whose Replies it has some; the CQ's
 * @recvs_taken: Receives of @srq that were filled; the CQ's
 * @recvs_returned: those of @recvs_taken that were given back
 * @unpaid: messages since the last one that used a credit; the CQ's
 * @call_at: when a Call came last, in jiffies; the CQ's
 * @recv_xdr: stream that reads the header of a message; the CQ's, as is @recv_xdr_buf: on
 *	the stack, they would be zeroed for each
 * @recv_xdr_buf: storage for @recv_xdr
 * @recvs: all Receive buffers that are not shared
 * @nr_recvs: how many; the CQ's
 * @given_back: those to be posted, before anything is sent: anybody adds one, the next
 *	sender takes all, under @lock
 * @recv_size: how large they are to be: own.rbsiz at least
 * @peak_rbsiz: the largest that own.rbsiz ever was
 * @odd_recvs: how many have another size
 * @recv_depth: Receives that it may have, at the most
 * @sends: all Send buffers
 * @nr_sends: how many
 * @free_sends: those free to use, what came back last first: a CPU's cache has it
 * @send_wanted: somebody found none, and waits for the room op
 * @posted: work on the Send Queue, oldest first
 * @waiting: work for which the Send Queue has no room, oldest first
 * @sq_depth: entries of the Send Queue
 * @sq_used: entries taken by @posted
 * @unsignaled: entries since the last signaled WR
 * @post_failed: the device refused a WR
 * @inv_refused: ... and that was a LOCAL_INV, as such; stable after the drain
 * @no_local_inv: it is known to take none
 * @max_pages: page list limit of a registration
 * @ready_at: when it became READY, in jiffies
 * @file: in debugfs, to be read
 * @control: in debugfs, to be written
 * @file_work: makes @file, and removes it; has a reference while it is queued
 * @present: for netlink/: in the tree of connections of the network namespace
 * @stats: counters
 */
struct rpcrdma2_conn {
	struct kref			ref;
	struct rcu_head			rcu;
	u32				id;
	struct rpcrdma2_conn_param	param;
	unsigned int			calls_out;
	unsigned int			calls_in;
	u32				rbsiz_min;
	u32				rbsiz_max;
	union {
		struct rpcrdma2_xprt		*xprt;
		struct rpcrdma2_svc_xprt	*svc_xprt;
	};
	struct list_head		link;
	bool				was_ready;
	struct rpcrdma2_requester	*requester;
	struct rpcrdma2_responder	*responder;

	enum rpcrdma2_conn_state	state;
	struct completion		idle;
	struct completion		done;
	int				close_status;
	enum rpcrdma2_conn_state	closed_in;
	struct kthread_work		connect_work;
	struct task_struct		*connecting;
	struct work_struct		accept_work;
	struct work_struct		qp_failed_work;
	struct work_struct		close_work;
	struct kthread_work		close_in_thread;
	struct delayed_work		timer;
	struct rpcrdma2_heartbeat	heartbeat;

	struct rdma_cm_id		*cm_id;
	struct ib_pd			*pd;
	bool				keeps_pd;
	struct ib_cq			*cq;
	struct ib_qp			*qp;
	bool				active;
	bool				connected;

	enum rpcrdma2_hs_state		handshake;
	bool				tried;
	bool				connprop_out;
	const struct rpcrdma2_dialect	*dialect;
	struct rpcrdma2_props		own;
	struct rpcrdma2_props		peer;
	bool				have_props;
	u32				peer_credits;
	u32				send_limit;
	u32				send_max;
	u32				send_size;
	u32				recv_limit;
	struct rpcrdma2_private_data	peer_private;
	bool				have_private;
	bool				remote_inv;
	const struct rpcrdma2_dialect	*assume;
	const struct rpcrdma2_dialect	*suspect;
	int				reject;
	u32				first_grant;
	u8				max_reads_out;
	u8				max_reads_in;
	u8				speak_secs;

	struct rpcrdma2_resizing	resizing;
	struct rpcrdma2_srq		*srq;
	struct list_head		srq_link;
	struct completion		last_wqe;
	struct list_head		recvs;
	unsigned int			nr_recvs;
	u32				recv_size;
	u32				peak_rbsiz;
	unsigned int			odd_recvs;
	unsigned int			recv_depth;
	struct list_head		sends;
	unsigned int			nr_sends;
	unsigned int			sq_depth;
	bool				inv_refused;
	bool				no_local_inv;
	unsigned int			max_pages;

	unsigned long			ready_at;
	struct dentry			*file;
	struct dentry			*control;
	struct work_struct		file_work;
	struct rb_node			present;

	/* By whoever posts, under the lock: one cache line */
	spinlock_t			lock ____cacheline_aligned_in_smp; /* both Queues */
	unsigned int			unsignaled;
	struct list_head		posted;
	struct list_head		waiting;
	struct rpcrdma2_send		*free_sends;
	unsigned int			sq_used;
	bool				send_wanted;
	bool				post_failed;

	/* By threads that come and go */
	atomic_t			users ____cacheline_aligned_in_smp;

	/* By whoever is done with a Receive */
	struct llist_head		given_back ____cacheline_aligned_in_smp;
	atomic_t			recvs_returned;

	/* By the CQ, with each Receive */
	unsigned int			recvs_taken ____cacheline_aligned_in_smp;
	unsigned int			unpaid;
	unsigned long			call_at;
	unsigned int			backed;
	unsigned int			backed_replies;
	unsigned int			grant_out;
	unsigned int			grant_out_max;
	struct rpcrdma2_need		need;
	struct xdr_stream		recv_xdr;
	struct xdr_buf			recv_xdr_buf;

	struct rpcrdma2_conn_stats	stats;
};

/* conn.c */
extern struct workqueue_struct *rpcrdma2_wq;
struct rpcrdma2_conn *
rpcrdma2_conn_alloc(const struct rpcrdma2_conn_param *param, gfp_t gfp);
void rpcrdma2_conn_set_param(struct rpcrdma2_conn *conn,
			     const struct rpcrdma2_conn_param *param);
void rpcrdma2_conn_set_size(struct rpcrdma2_conn *conn, u32 start, u32 most);
void rpcrdma2_conn_get(struct rpcrdma2_conn *conn);
void rpcrdma2_conn_put(struct rpcrdma2_conn *conn);
bool rpcrdma2_conn_enter(struct rpcrdma2_conn *conn);
void rpcrdma2_conn_exit(struct rpcrdma2_conn *conn);
bool rpcrdma2_conn_advance(struct rpcrdma2_conn *conn,
			   enum rpcrdma2_conn_state state,
			   unsigned int timeout_secs);
void rpcrdma2_conn_set_timer(struct rpcrdma2_conn *conn, unsigned long delay);
void rpcrdma2_conn_close(struct rpcrdma2_conn *conn, int status);
void rpcrdma2_conn_broken(struct rpcrdma2_conn *conn, const struct ib_wc *wc);
void rpcrdma2_conn_wait_closed(struct rpcrdma2_conn *conn);
int rpcrdma2_conn_init(void);
void rpcrdma2_conn_cleanup(void);

/**
 * rpcrdma2_conn_is_ready - may RPCs flow?
 * @conn: the connection
 *
 * The answer can be out of date at once: posting decides.
 */
static inline bool rpcrdma2_conn_is_ready(const struct rpcrdma2_conn *conn)
{
	return READ_ONCE(conn->state) == RPCRDMA2_CONN_READY;
}

/**
 * rpcrdma2_conn_reverse - what may be sent in the reverse direction?
 * @conn: the connection
 *
 * Return: the lesser of what this end and the peer said, enum rpcrdma2_rvreqsup. Who
 * says nothing takes what is inline
 */
static inline u32 rpcrdma2_conn_reverse(const struct rpcrdma2_conn *conn)
{
	return min(conn->own.brs, conn->peer.brs);
}

/**
 * rpcrdma2_conn_paid - a message used a credit, or answers one of this end's
 * @conn: the connection
 *
 * CQ context. Credits bound such messages; rpcrdma2_dispatch() bounds all others.
 */
static inline void rpcrdma2_conn_paid(struct rpcrdma2_conn *conn)
{
	conn->unpaid = 0;
}

/**
 * rpcrdma2_conn_moves_data - does this end make RDMA Reads and RDMA Writes?
 * @conn: the connection
 *
 * Return: whether Calls with chunks come to it
 */
static inline bool rpcrdma2_conn_moves_data(const struct rpcrdma2_conn *conn)
{
	return !conn->active || conn->own.brs == RDMA2_RVREQSUP_GENL;
}

/**
 * rpcrdma2_conn_has_room - is the Send Queue less than full?
 * @conn: the connection
 *
 * A hint; posting never fails for lack of room. If the answer is no, the room
 * op will be called.
 */
static inline bool rpcrdma2_conn_has_room(const struct rpcrdma2_conn *conn)
{
	return list_empty_careful(&conn->waiting);
}

/* cm.c */
void rpcrdma2_connect_work(struct kthread_work *work);
void rpcrdma2_connect_interrupt(struct rpcrdma2_conn *conn);
int rpcrdma2_accept_setup(void);
void rpcrdma2_accept_cleanup(void);
void rpcrdma2_accept_work(struct work_struct *work);
int rpcrdma2_conn_connect(struct rpcrdma2_conn *conn, struct sockaddr *src,
			  struct sockaddr *dst);
struct rpcrdma2_conn *rpcrdma2_conn_request(struct rdma_cm_id *cm_id,
					    struct rdma_cm_event *event);
bool rpcrdma2_conn_adopt(struct rpcrdma2_conn *conn,
			 const struct rpcrdma2_conn_param *param);
void rpcrdma2_conn_accept(struct rpcrdma2_conn *conn);
void rpcrdma2_conn_hurry(struct rpcrdma2_conn *conn);

/* listen.c */

/**
 * struct rpcrdma2_listener_ops - the layer above a listener, in CM context
 * @has_room: May a request of a peer with this address become a connection? If not, the
 *	peer is rejected
 * @incoming: Has a new connection, in state ACCEPTING, and its reference. Sees to it that
 *	rpcrdma2_conn_accept() or rpcrdma2_conn_close() is called
 */
struct rpcrdma2_listener_ops {
	bool	(*has_room)(void *context, const struct sockaddr *sa);
	void	(*incoming)(void *context, struct rpcrdma2_conn *conn);
};

struct rpcrdma2_listener *
rpcrdma2_listen(struct net *net, struct sockaddr *addr,
		const struct rpcrdma2_listener_ops *ops, void *context);
struct sockaddr *rpcrdma2_listener_address(struct rpcrdma2_listener *listener);
void rpcrdma2_unlisten(struct rpcrdma2_listener *listener);

/* qp.c */
void rpcrdma2_qp_failed_work(struct work_struct *work);
int rpcrdma2_qp_setup(void);
void rpcrdma2_qp_cleanup(void);
unsigned int rpcrdma2_next_vector(const struct ib_device *dev, bool active);
int rpcrdma2_qp_create(struct rpcrdma2_conn *conn);
int rpcrdma2_qp_drain(struct rpcrdma2_conn *conn);
void rpcrdma2_qp_abort(struct rpcrdma2_conn *conn, int rc);
void rpcrdma2_qp_destroy(struct rpcrdma2_conn *conn);

/**
 * rpcrdma2_buffer_needs_sync - must it be handed to the device, and back, by syncs?
 * @dev: the device
 * @addr: what rpcrdma2_buffer_alloc() said; the answer holds as long as that does
 *
 * To look it up with each message would be three cache lines of the device's and its
 * parent's, for nothing on most machines.
 *
 * Return: false where a sync would do nothing: the device sees the CPU's caches, and it isn't
 * bounced
 */
static inline bool rpcrdma2_buffer_needs_sync(struct ib_device *dev, u64 addr)
{
	return !ib_uses_virt_dma(dev) && dma_need_sync(dev->dma_device, addr);
}

/* buffer.c */
void *rpcrdma2_buffer_alloc(struct ib_device *dev, size_t size,
			    enum dma_data_direction dir, gfp_t gfp, u64 *addr);
void rpcrdma2_buffer_free(void *buf, size_t size);

/* recv_pool.c */
int rpcrdma2_recv_pool_post(struct rpcrdma2_conn *conn);
unsigned int rpcrdma2_recv_pool_provide(struct rpcrdma2_conn *conn,
					unsigned int calls, gfp_t gfp);
struct rpcrdma2_recv *rpcrdma2_recv_alloc(struct ib_pd *pd, u32 size, gfp_t gfp);
void rpcrdma2_recv_unmap(struct ib_device *dev, const struct rpcrdma2_recv *recv);
void rpcrdma2_recv_free(struct ib_device *dev, struct rpcrdma2_recv *recv,
			bool is_mapped);
void rpcrdma2_recv_pool_unmap(struct rpcrdma2_conn *conn);
void rpcrdma2_recv_pool_free(struct rpcrdma2_conn *conn);
void rpcrdma2_recv_put(struct rpcrdma2_recv *recv);

/* recv_budget.c */
void rpcrdma2_recv_budget_add(long more);
bool rpcrdma2_recv_budget_fits(long more);
bool rpcrdma2_recv_budget_allows(const struct rpcrdma2_conn *conn, u32 size);
bool rpcrdma2_recv_budget_is_short(void);
void rpcrdma2_recv_budget_note_shortage(void);
bool rpcrdma2_recv_budget_failed_lately(void);
void rpcrdma2_recv_budget_note_failure(void);
void rpcrdma2_recv_budget_show(struct seq_file *seq);

/**
 * struct rpcrdma2_recv_budget_use - memory of a server's Receives
 * @octets: octets in use
 * @limit: octets that may be in use before buffers grow no more
 * @shortages: times that there was too little
 */
struct rpcrdma2_recv_budget_use {
	u64	octets;
	u64	limit;
	u64	shortages;
};

void rpcrdma2_recv_budget_use(struct rpcrdma2_recv_budget_use *use);

/* send_pool.c */
int rpcrdma2_send_pool_provide(struct rpcrdma2_conn *conn, gfp_t gfp);
int rpcrdma2_send_encode(struct rpcrdma2_send *send,
			 const struct rpcrdma2_header *hdr);
int rpcrdma2_send_append(struct rpcrdma2_send *send, const struct xdr_buf *buf,
			 unsigned int from, unsigned int len);
struct rpcrdma2_send *rpcrdma2_send_get(struct rpcrdma2_conn *conn);
void rpcrdma2_send_free(struct rpcrdma2_send *send);
bool rpcrdma2_send_pool_wanted(struct rpcrdma2_conn *conn);
void rpcrdma2_send_put(struct rpcrdma2_send *send);
void rpcrdma2_send_pool_unmap(struct rpcrdma2_conn *conn);
void rpcrdma2_send_pool_free(struct rpcrdma2_conn *conn);

/* sq.c */
void rpcrdma2_send_prepare(struct rpcrdma2_send *send);
void rpcrdma2_chain_prepend(struct rpcrdma2_chain *chain,
			    struct ib_send_wr *first, unsigned int count);
void rpcrdma2_chain_init(struct rpcrdma2_chain *chain, u32 xid,
			 struct ib_send_wr *first, struct ib_send_wr *last,
			 unsigned int count,
			 void (*done)(struct rpcrdma2_chain *chain,
				      int status));
int rpcrdma2_chain_post(struct rpcrdma2_conn *conn,
			struct rpcrdma2_chain *chain);
bool rpcrdma2_send_fits(const struct rpcrdma2_send *send);
int rpcrdma2_send_post(struct rpcrdma2_send *send);
int rpcrdma2_send_post_call(struct rpcrdma2_send *send, u32 *sent_on);
void rpcrdma2_chain_done(struct ib_cq *cq, struct ib_wc *wc);
int rpcrdma2_send_header(struct rpcrdma2_conn *conn,
			 const struct rpcrdma2_header *hdr, bool close_after);

/* heartbeat.c */
void rpcrdma2_heartbeat_init(struct rpcrdma2_conn *conn);
u8 rpcrdma2_heartbeat_reads(const struct rpcrdma2_conn *conn);
unsigned int rpcrdma2_heartbeat_secs(const struct rpcrdma2_conn *conn);
bool rpcrdma2_heartbeat_possible(const struct rpcrdma2_conn *conn);
void rpcrdma2_heartbeat_set(struct rpcrdma2_conn *conn, unsigned int secs);
void rpcrdma2_heartbeat(struct rpcrdma2_conn *conn);

/* negotiate.c */
void rpcrdma2_negotiate_start(struct rpcrdma2_conn *conn);
void rpcrdma2_negotiate_silence(struct rpcrdma2_conn *conn,
				enum rpcrdma2_conn_state state);
void rpcrdma2_negotiate_lost(struct rpcrdma2_conn *conn);
void rpcrdma2_dispatch(struct rpcrdma2_recv *recv);
void rpcrdma2_send_error(struct rpcrdma2_conn *conn, u32 xid, u32 vers,
			 const struct rpcrdma2_error *error, bool close_after);

void rpcrdma2_negotiate_recv_limit(struct rpcrdma2_conn *conn);

/* debugfs.c */
void rpcrdma2_debugfs_init(struct rpcrdma2_conn *conn);
void rpcrdma2_debugfs_ready(struct rpcrdma2_conn *conn);
void rpcrdma2_debugfs_remove(struct rpcrdma2_conn *conn);
void rpcrdma2_debugfs_add(const char *name,
			  const struct file_operations *fops);
void rpcrdma2_debugfs_add_u32(const char *name, u32 *value);
int rpcrdma2_debugfs_setup(void);
void rpcrdma2_debugfs_cleanup(void);

#endif /* _RPCRDMA2_CONN_H */
