/* SPDX-License-Identifier: GPL-2.0 */
/*
 * conn/: one RDMA connection, at either end. Structs, and who owns them.
 *
 * A layer above asks for a connection, and hears by struct rpcrdma2_conn_ops when it is
 * ready, with which limits and in which dialect. Then it posts chains of work requests, and
 * gets received messages. It sees no CM event, no QP state and no version word. conn/ knows
 * the layers above only by that struct.
 *
 * The overview in Documentation/develop/ says which file does what. CQ context means a
 * completion handler: process context, in a workqueue.
 */
#ifndef _RPCRDMA2_CONN_H
#define _RPCRDMA2_CONN_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/kref.h>
#include <linux/kthread.h>
#include <linux/llist.h>
#include <linux/rbtree.h>
#include <linux/socket.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "device.h"
#include "handshake.h"
#include "heartbeat.h"
#include "listen.h"
#include "memalloc.h"
#include "recv.h"
#include "resize.h"
#include "sq.h"
#include "srq.h"
#include "stats.h"
#include "wire/wire.h"

/* Structs of the layers above: a connection points to them, and does not look inside. */
struct rpcrdma2_requester;
struct rpcrdma2_responder;
struct rpcrdma2_svc_xprt;
struct rpcrdma2_xprt;

/*
 * States of a connection. The end that connects goes through NEW, RESOLVING, ROUTING,
 * CONNECTING, NEGOTIATING and READY; the end that accepts through NEW, ACCEPTING, NEGOTIATING
 * and READY. Every state but CLOSED can change to CLOSING, and CLOSING ends in CLOSED.
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

/* One attempt to allocate, for callers that cannot wait and can do without */
#define RPCRDMA2_GFP_ONCE	(GFP_NOIO | __GFP_NORETRY | __GFP_NOWARN)

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
 * struct rpcrdma2_conn_ops - callbacks to the layer above
 * @prepare: optional; the QP exists: allocate all that RPCs will need when there is no
 *	memory. Process context, may sleep. Returns 0, or a negative errno that closes the
 *	connection
 * @ready: RPCs may flow. Called once, before any @reply. Process context: CQ, CM or timer
 * @closing: start no new work. Called once, process context
 * @fence: give up all registrations: the device processes no WR of this connection any more.
 *	Work that never completed returns to its owners afterwards. Called once, after
 *	@closing, process context
 * @drained: release all that depends on the device: PD and device exist until the return.
 *	Called once, after @fence, process context
 * @closed: the connection uses no device any more. Called once, process context
 * @free: the last reference has ended: free the roles. Any context
 * @room: optional; the Send Queue has room, or a Send buffer is free, and a caller waited for
 *	that. Process context, no locks held
 * @call: a Call arrived. This op owns the Receive, and gives it back at any time. CQ context
 * @reply: a Reply or an RDMA2_ERROR arrived. This op owns the Receive, and gives it back. CQ
 *	context
 * @is_quiet: returns true if none of this end's Calls is out; one that is being marshalled
 *	counts as out. Takes conn->lock
 * @show: write the lines of the layers above to a debugfs file by rpcrdma2_show(). Called
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
 * struct rpcrdma2_ep_ops - what Queues and buffers ask of the files of conn/ above them
 * @received: a message arrived; takes the Receive. CQ context
 * @resized: all Receives have the size that conn->recv_size says. Any context
 * @free: the last reference is gone. Any context that allows kfree()
 */
struct rpcrdma2_ep_ops {
	void	(*received)(struct rpcrdma2_recv *recv);
	void	(*resized)(struct rpcrdma2_conn *conn);
	void	(*free)(struct rpcrdma2_conn *conn);
};

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

/*
 * Receives of each connection besides one per granted Call and one per expected Reply:
 *
 *	CONNPROP	one: each end sends one
 *	property change	two, beside CONNPROP's: an UPDATE, a REQUEST, a DISPOSITION
 *	rpcrdma2_recv_done()	one: a Reply frees its credit before its Receive is posted again
 *	RDMA2_ERROR	one for an error that answers no Call
 */
#define RPCRDMA2_CONTROL_RECVS	5

/* rpcrdma2_dispatch() accepts this many messages in a row that use no credit. */
#define RPCRDMA2_MAX_UNPAID	32

/*
 * The chain that brings the number of unsignaled entries to this is signaled, so buffers
 * return.
 */
#define RPCRDMA2_SIGNAL_INTERVAL	16

/* Heartbeats that may be out at a time; each takes a Send Queue entry, and on iWARP a Read */
#define RPCRDMA2_HEARTBEATS	1

/* A peer answers a CONNPROP at once if it answers at all, and a Call within this time. */
#define RPCRDMA2_ANSWER_TIMEOUT_SECS	5

/**
 * struct rpcrdma2_conn - an RDMA connection
 * @ref: references to the memory of this struct and of its buffers
 * @rcu: delays the free until RCU readers, who may try to enter, have finished
 * @id: number of the connection in tracepoints and debugfs
 * @ep_ops: calls from Queues and buffers
 * @param: parameters, as given by the layer above
 * @calls_out: maximum of this end's outstanding Calls: @param's, or less if the device has
 *	few Receives; stable once the QP exists
 * @calls_in: maximum of Calls granted to the peer; likewise
 * @rbsiz_min: initial and minimum size of Receive buffers, octets: @param's, or the size of a
 *	Shared Receive Queue's buffers
 * @rbsiz_max: maximum size of Receive buffers, octets; likewise
 * @xprt: the client's transport, if this end connected
 * @svc_xprt: the server's transport, if this end accepted
 * @link: for the layer above
 * @was_ready: the connection has been READY; stable after the drain
 * @requester: the role that sends Calls, or NULL; owned by the layer above
 * @responder: the role that answers Calls; owned by the layer above
 * @lock: serialises posting on @qp. Protects @state, @connecting, @handshake, @own,
 *	@resizing, @recvs, @recv_size to @odd_recvs, @sends, @nr_sends, and @unsignaled to
 *	@post_failed. Writers of @send_limit to @recv_limit hold it, too. Taken in process
 *	context, under locks of svc_serv and rpc_xprt. Under it come only foreign locks: the
 *	device's, a workqueue's timer, and signals for @connecting
 * @state: enum rpcrdma2_conn_state
 * @users: number of threads between rpcrdma2_conn_enter() and rpcrdma2_conn_exit(); negative
 *	once no thread may enter
 * @idle: completed when the last of @users has left after that
 * @done: completed in state CLOSED
 * @close_status: reason of the close, negative errno
 * @closed_in: state before CLOSING
 * @connect_work: connects; holds a reference while queued
 * @connecting: thread that is connecting, to be sent a signal; or NULL
 * @accept_work: accepts; holds a reference while queued
 * @qp_failed_work: closes the connection after the QP failed; holds a reference while queued
 * @close_work: runs the teardown, if this end accepted
 * @close_in_thread: runs the teardown in the connector thread, if this end connected
 * @timer: limits the time in a state; once READY, sends heartbeats
 * @heartbeat: state of heartbeats
 * @cm_id: CM id; NULL after CLOSED
 * @pd: protection domain
 * @keeps_pd: a registration could not be given up, so @pd is leaked; the teardown's
 * @cq: CQ of both Queues, so their completion handlers never run at the same time
 * @qp: queue pair
 * @active: this end connected, and starts the handshake
 * @connected: the teardown calls rdma_disconnect(): set after connect or accept succeeded,
 *	before rpcrdma2_conn_exit()
 * @reject: the reason of the peer's CM to reject, as for rdma_reject_msg(); or 0
 * @handshake: enum rpcrdma2_hs_state
 * @tried: a Call is out, so the peer's time to answer one has begun; the timer's
 * @connprop_out: this end's CONNPROP is neither answered nor refused; cleared by the CQ
 * @dialect: dialect of all headers; stable once READY
 * @own: this end's properties, as announced or to be announced
 * @peer: the peer's properties; written by the CQ, and by negotiate_set_dialect() under @lock
 * @have_props: the peer has sent @peer in a CONNPROP
 * @peer_credits: credits in that CONNPROP
 * @send_limit: size of the largest Call that this end may send inline, octets; also of a
 *	Reply, if the requester offered a chunk for it
 * @send_max: size of the largest message that the peer can receive, octets: @send_limit, or
 *	more after that was lowered
 * @send_size: size that Send buffers are to have, octets
 * @recv_limit: size of the largest message that the peer will send, octets
 * @peer_private: the peer's private data, if @have_private
 * @have_private: the peer sent private data
 * @remote_inv: the peer, as a requester, accepts Send With Invalidate
 * @assume: dialect for the next connection, as the peer's answer shows that it does not speak
 *	this one; or NULL; stable after the drain
 * @suspect: dialect to try if the next connection ends like this one, or NULL. The peer hung
 *	up on this dialect, or did not answer. Stable after the drain
 * @first_grant: credits in the peer's answer to a CONNPROP; 0 before that
 * @grant_out: credits that each message grants to the peer; the CQ's
 * @grant_out_max: highest value that @grant_out ever had; the CQ's
 * @max_reads_out: RDMA Reads that this end makes at a time, as the peer answers no more
 * @max_reads_in: RDMA Reads that this end answers at a time, if it accepts
 * @speak_secs: seconds that the peer has for its first message after the accept
 * @resizing: state of property changes
 * @need: whether Receives should have another size
 * @srq: Shared Receive Queue, or NULL
 * @srq_link: entry in its @conns
 * @last_wqe: completed when the QP takes no more Receives of @srq
 * @backed: Calls for which @srq has promised Receives; raised by the CQ, under @srq's lock
 * @backed_replies: Calls of this end for whose Replies @srq has promised Receives; the CQ's,
 *	under @srq's lock
 * @recvs_taken: Receives of @srq that messages filled; the CQ's
 * @recvs_returned: how many of @recvs_taken were given back
 * @unpaid: messages since the last one that used a credit; the CQ's
 * @call_at: time of the last Call, in jiffies; the CQ's
 * @recv_xdr: stream for decoding headers; the CQ's. On the stack, the compiler might zero it
 *	for each message
 * @recv_xdr_buf: the buffer of @recv_xdr
 * @recvs: all Receives that are not shared
 * @nr_recvs: number of @recvs; the CQ's
 * @given_back: Receives to be posted before the next chain: any thread adds one, and the next
 *	sender takes all, under @lock
 * @recv_size: size that Receives are to have, octets; @own.rbsiz or more
 * @peak_rbsiz: highest value that @own.rbsiz ever had, octets
 * @odd_recvs: number of Receives that have another size
 * @recv_depth: maximum number of Receives
 * @sends: all Send buffers
 * @nr_sends: number of @sends
 * @free_sends: free Send buffers; the last one returned is taken first, as it is in a cache
 * @send_wanted: a caller found no free buffer, and waits for the room op
 * @posted: chains on the Send Queue, oldest first
 * @waiting: chains for which the Send Queue has no room, oldest first
 * @sq_depth: entries of the Send Queue
 * @sq_used: entries that @posted takes
 * @unsignaled: entries posted since the last signaled WR
 * @post_failed: the device refused a WR
 * @inv_refused: that WR was a LOCAL_INV, refused as invalid; stable after the drain
 * @no_local_inv: the device is known to refuse LOCAL_INV
 * @max_pages: maximum number of pages in a registration
 * @ready_at: time of READY, in jiffies
 * @file: its readable file in debugfs
 * @control: its writable file in debugfs
 * @file_work: makes and removes both files; holds a reference while queued
 * @present: entry in netlink's tree of the network namespace's connections
 * @stats: counters
 */
struct rpcrdma2_conn {
	struct kref			ref;
	struct rcu_head			rcu;
	u32				id;
	const struct rpcrdma2_ep_ops	*ep_ops;
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

	/* Posting, under the lock: in one cache line */
	spinlock_t			lock ____cacheline_aligned_in_smp; /* see above */
	unsigned int			unsignaled;
	struct list_head		posted;
	struct list_head		waiting;
	struct rpcrdma2_send		*free_sends;
	unsigned int			sq_used;
	bool				send_wanted;
	bool				post_failed;

	/* Threads that enter and exit */
	atomic_t			users ____cacheline_aligned_in_smp;

	/* Threads that give Receives back */
	struct llist_head		given_back ____cacheline_aligned_in_smp;
	atomic_t			recvs_returned;

	/* The CQ, with each message */
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

/* life.c */
struct rpcrdma2_conn *
rpcrdma2_conn_alloc(const struct rpcrdma2_conn_param *param, gfp_t gfp);
int rpcrdma2_conn_init(void);
void rpcrdma2_conn_cleanup(void);

/* state.c */
extern struct workqueue_struct *rpcrdma2_wq;
int rpcrdma2_state_setup(void);
void rpcrdma2_state_cleanup(void);
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
void rpcrdma2_conn_wait_users(struct rpcrdma2_conn *conn);
void rpcrdma2_conn_wait_closed(struct rpcrdma2_conn *conn);

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
	return min(conn->own.brs, conn->peer.brs);
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
	return !conn->active || conn->own.brs == RDMA2_RVREQSUP_GENL;
}

/**
 * rpcrdma2_conn_has_room - does no chain wait for the Send Queue?
 * @conn: the connection
 *
 * A hint: posting never fails for lack of room.
 *
 * Context: Any.
 * Return: false if a chain waits. The room op is called when none waits any more.
 */
static inline bool rpcrdma2_conn_has_room(const struct rpcrdma2_conn *conn)
{
	return list_empty_careful(&conn->waiting);
}

/* cm.c */
int rpcrdma2_accept_setup(void);
void rpcrdma2_accept_cleanup(void);
int rpcrdma2_conn_connect(struct rpcrdma2_conn *conn, struct sockaddr *src,
			  struct sockaddr *dst);
struct rpcrdma2_conn *rpcrdma2_conn_request(struct rdma_cm_id *cm_id,
					    struct rdma_cm_event *event);
bool rpcrdma2_conn_adopt(struct rpcrdma2_conn *conn,
			 const struct rpcrdma2_conn_param *param);
void rpcrdma2_conn_accept(struct rpcrdma2_conn *conn);
void rpcrdma2_conn_hurry(struct rpcrdma2_conn *conn);

/* qp.c */
void rpcrdma2_qp_failed_work(struct work_struct *work);
int rpcrdma2_qp_create(struct rpcrdma2_conn *conn);
int rpcrdma2_qp_drain(struct rpcrdma2_conn *conn);
void rpcrdma2_qp_abort(struct rpcrdma2_conn *conn, int rc);
void rpcrdma2_qp_destroy(struct rpcrdma2_conn *conn);

/* terms.c */
void rpcrdma2_terms_set(struct rpcrdma2_conn *conn);
void rpcrdma2_terms_set_recv_limit(struct rpcrdma2_conn *conn);
int rpcrdma2_send_encode(struct rpcrdma2_send *send,
			 const struct rpcrdma2_header *hdr);
int rpcrdma2_send_header(struct rpcrdma2_conn *conn,
			 const struct rpcrdma2_header *hdr, bool close_after);
void rpcrdma2_send_error(struct rpcrdma2_conn *conn, u32 xid, u32 vers,
			 const struct rpcrdma2_error *error, bool close_after);

/* negotiate.c */
void rpcrdma2_negotiate_start(struct rpcrdma2_conn *conn);
void rpcrdma2_negotiate_silence(struct rpcrdma2_conn *conn,
				enum rpcrdma2_conn_state state);
void rpcrdma2_negotiate_lost(struct rpcrdma2_conn *conn);
bool rpcrdma2_negotiate_adopt(struct rpcrdma2_conn *conn,
			      const struct rpcrdma2_dialect *dialect);
bool rpcrdma2_negotiate_message(struct rpcrdma2_recv *recv,
				enum rpcrdma2_hs_event event);

/* dispatch.c */
void rpcrdma2_dispatch(struct rpcrdma2_recv *recv);

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
