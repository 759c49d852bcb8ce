/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tracepoints. Documentation/reference/tracepoints.rst explains when each one fires.
 *
 * Each event has the number of its connection, and an event of an RPC has the XID. A
 * tracepoint that is off must cost nothing. So a caller passes only arguments that it has
 * at hand, and TP_fast_assign() does the rest.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rpcrdma2

#if !defined(_TRACE_RPCRDMA2_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_RPCRDMA2_H

#include <linux/errno.h>
#include <linux/tracepoint.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>
#include <trace/misc/rdma.h>

/* Octets for the names and values of all properties */
#define RPCRDMA2_PROPS_TEXT	96

/* Octets for an error's name, or for its number and "of another draft" */
#define RPCRDMA2_ERROR_TEXT	32

struct rpc_rqst;
struct rpcrdma2_conn;
struct rpcrdma2_ep;
struct rpcrdma2_job;
struct rpcrdma2_mr_pool;
struct rpcrdma2_recv;
struct rpcrdma2_requester;
struct rpcrdma2_chain;

/*
 * Lists of names. Each list is expanded twice: to export the values of the enum to user
 * space, and to make the table of names.
 */
#define RPCRDMA2_LIST_STATES						\
	EM(RPCRDMA2_CONN_NEW,		"NEW")				\
	EM(RPCRDMA2_CONN_RESOLVING,	"RESOLVING")			\
	EM(RPCRDMA2_CONN_ROUTING,	"ROUTING")			\
	EM(RPCRDMA2_CONN_CONNECTING,	"CONNECTING")			\
	EM(RPCRDMA2_CONN_ACCEPTING,	"ACCEPTING")			\
	EM(RPCRDMA2_CONN_NEGOTIATING,	"NEGOTIATING")			\
	EM(RPCRDMA2_CONN_READY,		"READY")			\
	EM(RPCRDMA2_CONN_CLOSING,	"CLOSING")			\
	EMe(RPCRDMA2_CONN_CLOSED,	"CLOSED")

#define RPCRDMA2_LIST_HANDSHAKE						\
	EM(RPCRDMA2_HS_WAITING,		"WAITING")			\
	EM(RPCRDMA2_HS_ASKING,		"ASKING")			\
	EM(RPCRDMA2_HS_TRYING,		"TRYING")			\
	EM(RPCRDMA2_HS_VERSION_1,	"VERSION_1")			\
	EM(RPCRDMA2_HS_UNASKED,		"UNASKED")			\
	EM(RPCRDMA2_HS_UNANSWERED,	"UNANSWERED")			\
	EM(RPCRDMA2_HS_VERSION_2,	"VERSION_2")			\
	EMe(RPCRDMA2_HS_FAILED,		"FAILED")

#define RPCRDMA2_LIST_KINDS						\
	EM(RPCRDMA2_REQUEST,		"REQUEST")			\
	EM(RPCRDMA2_DISPOSITION,	"DISPOSITION")			\
	EMe(RPCRDMA2_UPDATE,		"UPDATE")

#define RPCRDMA2_LIST_FORMS						\
	EM(RPCRDMA2_FORM_INLINE,	"inline")			\
	EM(RPCRDMA2_FORM_READ_CHUNK,	"read-chunk")			\
	EM(RPCRDMA2_FORM_POSITION_ZERO,	"position-zero")		\
	EM(RPCRDMA2_FORM_WRITE_CHUNK,	"write-chunk")			\
	EMe(RPCRDMA2_FORM_REPLY_CHUNK,	"reply-chunk")

/* A Receive has no enum ib_wr_opcode, so the opcode of its completion stands for it. */
#define RPCRDMA2_LIST_OPCODES						\
	EM(IB_WR_SEND,			"Send")				\
	EM(IB_WR_SEND_WITH_INV,		"Send-Inv")			\
	EM(IB_WR_RDMA_READ,		"RDMA-Read")			\
	EM(IB_WR_RDMA_READ_WITH_INV,	"RDMA-Read-Inv")		\
	EM(IB_WR_RDMA_WRITE,		"RDMA-Write")			\
	EM(IB_WR_REG_MR,		"FastReg")			\
	EM(IB_WR_LOCAL_INV,		"LocalInv")			\
	EMe(IB_WC_RECV,			"Receive")

#define RPCRDMA2_LIST_WAITS						\
	EM(RPCRDMA2_WAIT_CREDIT,	"credit")			\
	EM(RPCRDMA2_WAIT_MR,		"registration")			\
	EM(RPCRDMA2_WAIT_SEND_BUFFER,	"send-buffer")			\
	EM(RPCRDMA2_WAIT_SEND_QUEUE,	"send-queue")			\
	EM(RPCRDMA2_WAIT_RDMA,		"rdma-context")			\
	EMe(RPCRDMA2_WAIT_JOB,		"job")

#undef EM
#undef EMe
#define EM(a, b)	TRACE_DEFINE_ENUM(a);
#define EMe(a, b)	TRACE_DEFINE_ENUM(a);

RPCRDMA2_LIST_STATES
RPCRDMA2_LIST_HANDSHAKE
RPCRDMA2_LIST_KINDS
RPCRDMA2_LIST_FORMS
RPCRDMA2_LIST_OPCODES
RPCRDMA2_LIST_WAITS

#undef EM
#undef EMe
#define EM(a, b)	{ a, b },
#define EMe(a, b)	{ a, b }

#define rpcrdma2_show_state(x)	__print_symbolic(x, RPCRDMA2_LIST_STATES)
#define rpcrdma2_show_handshake(x)					\
	__print_symbolic(x, RPCRDMA2_LIST_HANDSHAKE)
#define rpcrdma2_show_kind(x)	__print_symbolic(x, RPCRDMA2_LIST_KINDS)
#define rpcrdma2_show_form(x)	__print_flags(x, "+", RPCRDMA2_LIST_FORMS)
#define rpcrdma2_show_opcode(x)	__print_symbolic(x, RPCRDMA2_LIST_OPCODES)
#define rpcrdma2_show_wait(x)	__print_symbolic(x, RPCRDMA2_LIST_WAITS)

/* Print a status: 0 or a negative errno */
#define rpcrdma2_show_status(x)						\
	__print_symbolic(-(x),						\
		{ 0,			"OK" },				\
		{ EIO,			"EIO" },			\
		{ E2BIG,		"E2BIG" },			\
		{ EAGAIN,		"EAGAIN" },			\
		{ ENOMEM,		"ENOMEM" },			\
		{ EBUSY,		"EBUSY" },			\
		{ ENODEV,		"ENODEV" },			\
		{ EINVAL,		"EINVAL" },			\
		{ EPROTO,		"EPROTO" },			\
		{ EBADMSG,		"EBADMSG" },			\
		{ EMSGSIZE,		"EMSGSIZE" },			\
		{ EPROTONOSUPPORT,	"EPROTONOSUPPORT" },		\
		{ EOPNOTSUPP,		"EOPNOTSUPP" },			\
		{ ENETUNREACH,		"ENETUNREACH" },		\
		{ ECONNABORTED,		"ECONNABORTED" },		\
		{ ECONNRESET,		"ECONNRESET" },			\
		{ ENOBUFS,		"ENOBUFS" },			\
		{ ENOTCONN,		"ENOTCONN" },			\
		{ ESHUTDOWN,		"ESHUTDOWN" },			\
		{ ETIMEDOUT,		"ETIMEDOUT" },			\
		{ ECONNREFUSED,		"ECONNREFUSED" },		\
		{ EHOSTUNREACH,		"EHOSTUNREACH" },		\
		{ EREMOTEIO,		"EREMOTEIO" })

/*
 * Connection
 */
TRACE_EVENT(rpcrdma2_conn_new,
	TP_PROTO(const struct rpcrdma2_conn *conn, const struct sockaddr *peer),
	TP_ARGS(conn, peer),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(bool, active)
		__array(char, peer, 56)
	),
	TP_fast_assign(
		__entry->conn = conn->ep.id;
		__entry->active = conn->ep.active;
		snprintf(__entry->peer, sizeof(__entry->peer), "%pISpc", peer);
	),
	TP_printk("conn=%u %s peer=%s", __entry->conn,
		__entry->active ? "client" : "server", __entry->peer)
);

TRACE_EVENT(rpcrdma2_conn_state,
	TP_PROTO(const struct rpcrdma2_conn *conn, int from, int to),
	TP_ARGS(conn, from, to),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(int, from)
		__field(int, to)
	),
	TP_fast_assign(
		__entry->conn = conn->ep.id;
		__entry->from = from;
		__entry->to = to;
	),
	TP_printk("conn=%u %s -> %s", __entry->conn,
		rpcrdma2_show_state(__entry->from),
		rpcrdma2_show_state(__entry->to))
);

TRACE_EVENT(rpcrdma2_conn_close,
	TP_PROTO(const struct rpcrdma2_conn *conn, int status),
	TP_ARGS(conn, status),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(int, status)
	),
	TP_fast_assign(
		__entry->conn = conn->ep.id;
		__entry->status = status;
	),
	TP_printk("conn=%u status=%s", __entry->conn,
		rpcrdma2_show_status(__entry->status))
);

TRACE_EVENT(rpcrdma2_conn_ready,
	TP_PROTO(const struct rpcrdma2_conn *conn),
	TP_ARGS(conn),
	TP_STRUCT__entry(
		__field(u32, conn)
		__string(dialect, conn->terms.dialect->name)
		__field(u32, send_limit)
		__field(u32, recv_limit)
		__field(u32, grant)
	),
	TP_fast_assign(
		__entry->conn = conn->ep.id;
		rpcrdma2_assign_str(dialect, conn->terms.dialect->name);
		__entry->send_limit = conn->ep.limit.call;
		__entry->recv_limit = conn->terms.recv_limit;
		__entry->grant = conn->terms.first_grant;
	),
	TP_printk("conn=%u dialect=%s send_limit=%u recv_limit=%u grant=%u",
		__entry->conn, __get_str(dialect), __entry->send_limit,
		__entry->recv_limit, __entry->grant)
);

TRACE_EVENT(rpcrdma2_cm_event,
	TP_PROTO(const struct rpcrdma2_conn *conn,
		 const struct rdma_cm_event *event),
	TP_ARGS(conn, event),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(int, event)
		__field(int, status)
	),
	TP_fast_assign(
		__entry->conn = conn->ep.id;
		__entry->event = event->event;
		__entry->status = event->status;
	),
	TP_printk("conn=%u event=%s status=%d", __entry->conn,
		rdma_show_cm_event(__entry->event), __entry->status)
);

TRACE_EVENT(rpcrdma2_qp_event,
	TP_PROTO(const struct rpcrdma2_ep *ep, int event),
	TP_ARGS(ep, event),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(int, event)
	),
	TP_fast_assign(
		__entry->conn = ep->id;
		__entry->event = event;
	),
	TP_printk("conn=%u event=%s", __entry->conn,
		rdma_show_ib_event(__entry->event))
);

DECLARE_EVENT_CLASS(rpcrdma2_heartbeat_class,
	TP_PROTO(const struct rpcrdma2_conn *conn),
	TP_ARGS(conn),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(u64, completions)
	),
	TP_fast_assign(
		__entry->conn = conn->ep.id;
		__entry->completions = conn->ep.stats.completions;
	),
	TP_printk("conn=%u completions=%llu", __entry->conn,
		__entry->completions)
);

DEFINE_EVENT(rpcrdma2_heartbeat_class, rpcrdma2_heartbeat,
	TP_PROTO(const struct rpcrdma2_conn *conn),
	TP_ARGS(conn));

DEFINE_EVENT(rpcrdma2_heartbeat_class, rpcrdma2_heartbeat_missed,
	TP_PROTO(const struct rpcrdma2_conn *conn),
	TP_ARGS(conn));

/*
 * Negotiation
 */
TRACE_EVENT(rpcrdma2_private_data,
	TP_PROTO(const struct rpcrdma2_conn *conn),
	TP_ARGS(conn),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(bool, found)
		__field(bool, remote_inv)
		__field(u32, send_size)
		__field(u32, recv_size)
	),
	TP_fast_assign(
		__entry->conn = conn->ep.id;
		__entry->found = conn->terms.have_private;
		__entry->remote_inv = conn->terms.peer_private.remote_inv;
		__entry->send_size = conn->terms.peer_private.send_size;
		__entry->recv_size = conn->terms.peer_private.recv_size;
	),
	TP_printk("conn=%u found=%d remote_inv=%d send_size=%u recv_size=%u",
		__entry->conn, __entry->found, __entry->remote_inv,
		__entry->send_size, __entry->recv_size)
);

DECLARE_EVENT_CLASS(rpcrdma2_connprop,
	TP_PROTO(const struct rpcrdma2_conn *conn,
		 const struct rpcrdma2_header *hdr),
	TP_ARGS(conn, hdr),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(u32, xid)
		__field(u32, credit)
		__field(bool, response)
		__array(char, props, RPCRDMA2_PROPS_TEXT)
	),
	TP_fast_assign(
		__entry->conn = conn->ep.id;
		__entry->xid = hdr->xid;
		__entry->credit = hdr->credit;
		__entry->response = hdr->response;
		rpcrdma2_print_props(conn->terms.dialect->props, &hdr->props,
				     U32_MAX, __entry->props, RPCRDMA2_PROPS_TEXT);
	),
	TP_printk("conn=%u xid=0x%08x credit=%u response=%d %s",
		__entry->conn, __entry->xid, __entry->credit,
		__entry->response, __entry->props)
);

DEFINE_EVENT(rpcrdma2_connprop, rpcrdma2_connprop_send,
	TP_PROTO(const struct rpcrdma2_conn *conn,
		 const struct rpcrdma2_header *hdr),
	TP_ARGS(conn, hdr));
DEFINE_EVENT(rpcrdma2_connprop, rpcrdma2_connprop_recv,
	TP_PROTO(const struct rpcrdma2_conn *conn,
		 const struct rpcrdma2_header *hdr),
	TP_ARGS(conn, hdr));

DECLARE_EVENT_CLASS(rpcrdma2_change,
	TP_PROTO(const struct rpcrdma2_conn *conn,
		 const struct rpcrdma2_header *hdr),
	TP_ARGS(conn, hdr),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(u32, xid)
		__field(u32, kind)
		__array(char, props, RPCRDMA2_PROPS_TEXT)
		__field(u32, done)
		__field(u32, rejected)
		__field(u32, pending)
		__field(bool, settled)
	),
	TP_fast_assign(
		__entry->conn = conn->ep.id;
		__entry->xid = hdr->xid;
		__entry->kind = hdr->kind;
		rpcrdma2_print_props(conn->terms.dialect->props,
				     &hdr->change.props, hdr->change.which,
				     __entry->props, RPCRDMA2_PROPS_TEXT);
		__entry->done = hdr->change.done;
		__entry->rejected = hdr->change.rejected;
		__entry->pending = hdr->change.pending;
		__entry->settled = hdr->change.settled;
	),
	TP_printk("conn=%u xid=0x%08x %s %s done=0x%x rejected=0x%x pending=0x%x settled=%d",
		__entry->conn, __entry->xid,
		rpcrdma2_show_kind(__entry->kind), __entry->props,
		__entry->done, __entry->rejected, __entry->pending, __entry->settled)
);

DEFINE_EVENT(rpcrdma2_change, rpcrdma2_change_send,
	TP_PROTO(const struct rpcrdma2_conn *conn,
		 const struct rpcrdma2_header *hdr),
	TP_ARGS(conn, hdr));
DEFINE_EVENT(rpcrdma2_change, rpcrdma2_change_recv,
	TP_PROTO(const struct rpcrdma2_conn *conn,
		 const struct rpcrdma2_header *hdr),
	TP_ARGS(conn, hdr));

DECLARE_EVENT_CLASS(rpcrdma2_amount,
	TP_PROTO(const struct rpcrdma2_conn *conn, u32 from, u32 to),
	TP_ARGS(conn, from, to),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(u32, from)
		__field(u32, to)
	),
	TP_fast_assign(
		__entry->conn = conn->ep.id;
		__entry->from = from;
		__entry->to = to;
	),
	TP_printk("conn=%u %u -> %u", __entry->conn, __entry->from,
		__entry->to)
);

#define DEFINE_AMOUNT_EVENT(name)					\
	DEFINE_EVENT(rpcrdma2_amount, rpcrdma2_##name,			\
		TP_PROTO(const struct rpcrdma2_conn *conn, u32 from,	\
			 u32 to),					\
		TP_ARGS(conn, from, to))

DEFINE_AMOUNT_EVENT(grow);
DEFINE_AMOUNT_EVENT(grow_refused);
DEFINE_AMOUNT_EVENT(shrink_idle);
DEFINE_AMOUNT_EVENT(shrink_memory);
DEFINE_AMOUNT_EVENT(resize);
DEFINE_AMOUNT_EVENT(grant);

TRACE_EVENT(rpcrdma2_handshake,
	TP_PROTO(const struct rpcrdma2_conn *conn, int from, int to),
	TP_ARGS(conn, from, to),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(int, from)
		__field(int, to)
	),
	TP_fast_assign(
		__entry->conn = conn->ep.id;
		__entry->from = from;
		__entry->to = to;
	),
	TP_printk("conn=%u %s -> %s", __entry->conn,
		rpcrdma2_show_handshake(__entry->from),
		rpcrdma2_show_handshake(__entry->to))
);

/*
 * Errors
 */
DECLARE_EVENT_CLASS(rpcrdma2_error,
	TP_PROTO(const struct rpcrdma2_conn *conn, u32 xid,
		 const struct rpcrdma2_error *error),
	TP_ARGS(conn, xid, error),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(u32, xid)
		__field(u32, code)
		__array(char, error, RPCRDMA2_ERROR_TEXT)
		__field(u32, vers_low)
		__field(u32, vers_high)
		__field(u32, max_chunks)
		__field(u32, max_segments)
		__field(u32, chunk_index)
		__field(u32, length_needed)
	),
	TP_fast_assign(
		__entry->conn = conn->ep.id;
		__entry->xid = xid;
		__entry->code = error->code;
		rpcrdma2_print_error(conn->terms.dialect, error, __entry->error,
				     RPCRDMA2_ERROR_TEXT);
		__entry->vers_low = error->vers_low;
		__entry->vers_high = error->vers_high;
		__entry->max_chunks = error->max_chunks;
		__entry->max_segments = error->max_segments;
		__entry->chunk_index = error->chunk_index;
		__entry->length_needed = error->length_needed;
	),
	TP_printk("conn=%u xid=0x%08x error=%s code=%u vers_low=%u vers_high=%u max_chunks=%u max_segments=%u chunk_index=%u length_needed=%u",
		__entry->conn, __entry->xid,
		__entry->error, __entry->code,
		__entry->vers_low, __entry->vers_high,
		__entry->max_chunks, __entry->max_segments,
		__entry->chunk_index, __entry->length_needed)
);

#define DEFINE_ERROR_EVENT(name)					\
	DEFINE_EVENT(rpcrdma2_error, rpcrdma2_##name,			\
		TP_PROTO(const struct rpcrdma2_conn *conn, u32 xid,	\
			 const struct rpcrdma2_error *error),		\
		TP_ARGS(conn, xid, error))

DEFINE_ERROR_EVENT(error_send);
DEFINE_ERROR_EVENT(error_recv);
DEFINE_ERROR_EVENT(bad_message);

/* @chain: the failed chain; NULL if a Receive failed */
TRACE_EVENT(rpcrdma2_wc_error,
	TP_PROTO(const struct rpcrdma2_ep *ep,
		 const struct rpcrdma2_chain *chain, const struct ib_wc *wc),
	TP_ARGS(ep, chain, wc),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(u32, xid)
		__field(int, opcode)
		__field(int, status)
		__field(u32, vendor_err)
	),
	TP_fast_assign(
		__entry->conn = ep->id;
		__entry->xid = chain ? chain->xid : 0;
		__entry->opcode = chain ? chain->last->opcode : IB_WC_RECV;
		__entry->status = wc->status;
		__entry->vendor_err = wc->vendor_err;
	),
	TP_printk("conn=%u xid=0x%08x %s status=%s vendor_err=0x%x",
		__entry->conn, __entry->xid,
		rpcrdma2_show_opcode(__entry->opcode),
		rdma_show_wc_status(__entry->status), __entry->vendor_err)
);

/*
 * The Queues
 */
TRACE_EVENT(rpcrdma2_post,
	TP_PROTO(const struct rpcrdma2_ep *ep,
		 const struct rpcrdma2_chain *chain,
		 const struct ib_send_wr *first, const struct ib_send_wr *last),
	TP_ARGS(ep, chain, first, last),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(u32, xid)
		__field(int, first)
		__field(int, last)
		__field(unsigned int, wrs)
		__field(bool, signaled)
	),
	TP_fast_assign(
		__entry->conn = ep->id;
		__entry->xid = chain->xid;
		__entry->first = first->opcode;
		__entry->last = last->opcode;
		__entry->wrs = chain->queued;
		__entry->signaled = last->send_flags & IB_SEND_SIGNALED;
	),
	TP_printk("conn=%u xid=0x%08x wrs=%u first=%s last=%s signaled=%d",
		__entry->conn, __entry->xid, __entry->wrs,
		rpcrdma2_show_opcode(__entry->first),
		rpcrdma2_show_opcode(__entry->last), __entry->signaled)
);

/* The device refused a chain, or a part of it. */
TRACE_EVENT(rpcrdma2_post_refused,
	TP_PROTO(const struct rpcrdma2_ep *ep,
		 const struct rpcrdma2_chain *chain, int rc),
	TP_ARGS(ep, chain, rc),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(u32, xid)
		__field(int, rc)
	),
	TP_fast_assign(
		__entry->conn = ep->id;
		__entry->xid = chain->xid;
		__entry->rc = rc;
	),
	TP_printk("conn=%u xid=0x%08x rc=%s", __entry->conn, __entry->xid,
		rpcrdma2_show_status(__entry->rc))
);

/* The completion of a later chain may retire this chain, too. */
TRACE_EVENT(rpcrdma2_post_done,
	TP_PROTO(const struct rpcrdma2_ep *ep,
		 const struct rpcrdma2_chain *chain, int status),
	TP_ARGS(ep, chain, status),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(u32, xid)
		__field(int, last)
		__field(unsigned int, wrs)
		__field(int, status)
	),
	TP_fast_assign(
		__entry->conn = ep->id;
		__entry->xid = chain->xid;
		__entry->last = chain->last->opcode;
		__entry->wrs = chain->count;
		__entry->status = status;
	),
	TP_printk("conn=%u xid=0x%08x wrs=%u last=%s status=%s",
		__entry->conn, __entry->xid, __entry->wrs,
		rpcrdma2_show_opcode(__entry->last),
		rdma_show_wc_status(__entry->status))
);

/* Every message long enough to have an XID begins with it. */
TRACE_EVENT(rpcrdma2_receive,
	TP_PROTO(const struct rpcrdma2_recv *recv),
	TP_ARGS(recv),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(u32, xid)
		__field(u32, length)
		__field(u32, invalidated)
	),
	TP_fast_assign(
		__entry->conn = recv->ep->id;
		__entry->xid = recv->len < XDR_UNIT ? 0 :
			       be32_to_cpup(recv->buf);
		__entry->length = recv->len;
		__entry->invalidated = recv->invalidated;
	),
	TP_printk("conn=%u xid=0x%08x length=%u invalidated=0x%08x",
		__entry->conn, __entry->xid, __entry->length,
		__entry->invalidated)
);

/* @xid has to wait: @used of @limit are in use. */
TRACE_EVENT(rpcrdma2_wait,
	TP_PROTO(const struct rpcrdma2_ep *ep, u32 xid,
		 enum rpcrdma2_wait reason, unsigned int used,
		 unsigned int limit),
	TP_ARGS(ep, xid, reason, used, limit),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(u32, xid)
		__field(int, reason)
		__field(unsigned int, used)
		__field(unsigned int, limit)
	),
	TP_fast_assign(
		__entry->conn = ep->id;
		__entry->xid = xid;
		__entry->reason = reason;
		__entry->used = used;
		__entry->limit = limit;
	),
	TP_printk("conn=%u xid=0x%08x for=%s used=%u limit=%u",
		__entry->conn, __entry->xid,
		rpcrdma2_show_wait(__entry->reason), __entry->used,
		__entry->limit)
);

/*
 * Messages: headers that this end sends or receives
 */
DECLARE_EVENT_CLASS(rpcrdma2_message,
	TP_PROTO(const struct rpcrdma2_conn *conn,
		 const struct rpcrdma2_header *hdr, u32 inline_len),
	TP_ARGS(conn, hdr, inline_len),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(u32, xid)
		__field(u32, credit)
		__field(bool, nomsg)
		__field(u32, form)
		__field(u32, inline_len)
		__field(u32, send_limit)
		__field(u32, recv_limit)
		__field(u8, reads)
		__field(u8, writes)
		__field(bool, reply)
		__field(u32, segments)
		__field(u32, read_len)
		__field(u32, write_len)
		__field(u32, inv_handle)
	),
	TP_fast_assign(
		__entry->conn = conn->ep.id;
		__entry->xid = hdr->xid;
		__entry->credit = hdr->credit;
		__entry->nomsg = hdr->kind == RPCRDMA2_NOMSG;
		__entry->form = rpcrdma2_form(&hdr->chunks);
		__entry->inline_len = inline_len;
		__entry->send_limit = conn->ep.limit.call;
		__entry->recv_limit = conn->terms.recv_limit;
		__entry->reads = hdr->chunks.nreads;
		__entry->writes = hdr->chunks.nwrites;
		__entry->reply = hdr->chunks.has_reply;
		__entry->segments = hdr->chunks.nsegs;
		__entry->read_len = rpcrdma2_read_octets(&hdr->chunks);
		__entry->write_len = rpcrdma2_write_octets(&hdr->chunks);
		__entry->inv_handle = hdr->chunks.inv_handle;
	),
	TP_printk("conn=%u xid=0x%08x credit=%u %s form=%s inline=%u send_limit=%u recv_limit=%u reads=%u writes=%u reply=%d segments=%u read_len=%u write_len=%u inv_handle=0x%08x",
		__entry->conn, __entry->xid, __entry->credit,
		__entry->nomsg ? "NOMSG" : "MSG",
		rpcrdma2_show_form(__entry->form), __entry->inline_len,
		__entry->send_limit, __entry->recv_limit,
		__entry->reads, __entry->writes, __entry->reply,
		__entry->segments, __entry->read_len, __entry->write_len,
		__entry->inv_handle)
);

#define DEFINE_MESSAGE_EVENT(name)					\
	DEFINE_EVENT(rpcrdma2_message, rpcrdma2_##name,			\
		TP_PROTO(const struct rpcrdma2_conn *conn,		\
			 const struct rpcrdma2_header *hdr,		\
			 u32 inline_len),				\
		TP_ARGS(conn, hdr, inline_len))

DEFINE_MESSAGE_EVENT(call_send);
DEFINE_MESSAGE_EVENT(call_recv);
DEFINE_MESSAGE_EVENT(reply_send);
DEFINE_MESSAGE_EVENT(reply_recv);

TRACE_EVENT(rpcrdma2_reply_unmatched,
	TP_PROTO(const struct rpcrdma2_conn *conn,
		 const struct rpcrdma2_header *hdr),
	TP_ARGS(conn, hdr),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(u32, xid)
	),
	TP_fast_assign(
		__entry->conn = conn->ep.id;
		__entry->xid = hdr->xid;
	),
	TP_printk("conn=%u xid=0x%08x", __entry->conn, __entry->xid)
);

/*
 * A requester's RPCs
 */
TRACE_EVENT(rpcrdma2_call_begin,
	TP_PROTO(const struct rpcrdma2_requester *requester,
		 const struct rpc_rqst *rqst),
	TP_ARGS(requester, rqst),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(u32, xid)
		__field(u64, queued_ns)
		__field(u32, call_len)
		__field(u32, reply_max)
		__field(u32, outstanding)
		__field(u32, granted)
	),
	TP_fast_assign(
		__entry->conn = requester->conn->ep.id;
		__entry->xid = be32_to_cpu(rqst->rq_xid);
		__entry->queued_ns = ktime_to_ns(ktime_sub(ktime_get(),
						rqst->rq_task->tk_start));
		__entry->call_len = rqst->rq_snd_buf.len;
		__entry->reply_max = rqst->rq_rcv_buf.buflen;
		__entry->outstanding =
			rpcrdma2_requester_outstanding(requester);
		__entry->granted = requester->grant_in;
	),
	TP_printk("conn=%u xid=0x%08x queued_ns=%llu call_len=%u reply_max=%u outstanding=%u granted=%u",
		__entry->conn, __entry->xid, __entry->queued_ns,
		__entry->call_len, __entry->reply_max, __entry->outstanding,
		__entry->granted)
);

DECLARE_EVENT_CLASS(rpcrdma2_call_status,
	TP_PROTO(const struct rpcrdma2_conn *conn, const struct rpc_rqst *rqst,
		 int status),
	TP_ARGS(conn, rqst, status),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(u32, xid)
		__field(u32, received)
		__field(int, status)
	),
	TP_fast_assign(
		__entry->conn = conn->ep.id;
		__entry->xid = be32_to_cpu(rqst->rq_xid);
		__entry->received = max(status, 0);
		__entry->status = min(status, 0);
	),
	TP_printk("conn=%u xid=0x%08x received=%u status=%s", __entry->conn,
		__entry->xid, __entry->received,
		rpcrdma2_show_status(__entry->status))
);

#define DEFINE_CALL_STATUS_EVENT(name)					\
	DEFINE_EVENT(rpcrdma2_call_status, rpcrdma2_##name,		\
		TP_PROTO(const struct rpcrdma2_conn *conn,		\
			 const struct rpc_rqst *rqst, int status),	\
		TP_ARGS(conn, rqst, status))

DEFINE_CALL_STATUS_EVENT(call_unsent);
DEFINE_CALL_STATUS_EVENT(call_fenced);
DEFINE_CALL_STATUS_EVENT(call_complete);

TRACE_EVENT(rpcrdma2_credits,
	TP_PROTO(const struct rpcrdma2_requester *requester),
	TP_ARGS(requester),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(u32, granted)
		__field(u32, outstanding)
		__field(u32, requested)
	),
	TP_fast_assign(
		__entry->conn = requester->conn->ep.id;
		__entry->granted = requester->grant_in;
		__entry->outstanding =
			rpcrdma2_requester_outstanding(requester);
		__entry->requested = requester->conn->ep.calls_out;
	),
	TP_printk("conn=%u granted=%u outstanding=%u requested=%u",
		__entry->conn, __entry->granted, __entry->outstanding,
		__entry->requested)
);

TRACE_EVENT(rpcrdma2_mr_alloc,
	TP_PROTO(const struct rpcrdma2_mr_pool *pool, unsigned int count,
		 unsigned int max_pages),
	TP_ARGS(pool, count, max_pages),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(unsigned int, count)
		__field(unsigned int, total)
		__field(unsigned int, max_pages)
		__field(bool, gaps)
	),
	TP_fast_assign(
		__entry->conn = pool->requester->conn->ep.id;
		__entry->count = count;
		__entry->total = pool->nr;
		__entry->max_pages = max_pages;
		__entry->gaps = pool->type == IB_MR_TYPE_SG_GAPS;
	),
	TP_printk("conn=%u count=%u total=%u max_pages=%u gaps=%d",
		__entry->conn, __entry->count, __entry->total,
		__entry->max_pages, __entry->gaps)
);

DECLARE_EVENT_CLASS(rpcrdma2_mr,
	TP_PROTO(const struct rpcrdma2_conn *conn, const struct rpc_rqst *rqst,
		 const struct ib_mr *mr),
	TP_ARGS(conn, rqst, mr),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(u32, xid)
		__field(u32, handle)
		__field(u32, length)
	),
	TP_fast_assign(
		__entry->conn = conn->ep.id;
		__entry->xid = be32_to_cpu(rqst->rq_xid);
		__entry->handle = mr->rkey;
		__entry->length = mr->length;
	),
	TP_printk("conn=%u xid=0x%08x handle=0x%08x length=%u",
		__entry->conn, __entry->xid, __entry->handle,
		__entry->length)
);

#define DEFINE_MR_EVENT(name)						\
	DEFINE_EVENT(rpcrdma2_mr, rpcrdma2_mr_##name,			\
		TP_PROTO(const struct rpcrdma2_conn *conn,		\
			 const struct rpc_rqst *rqst,			\
			 const struct ib_mr *mr),			\
		TP_ARGS(conn, rqst, mr))

DEFINE_MR_EVENT(register);
DEFINE_MR_EVENT(inv_remote);
DEFINE_MR_EVENT(inv_local);

/*
 * A responder's RPCs
 */
DECLARE_EVENT_CLASS(rpcrdma2_job,
	TP_PROTO(const struct rpcrdma2_job *job, int status),
	TP_ARGS(job, status),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(u32, xid)
		__field(u32, length)
		__field(int, status)
	),
	TP_fast_assign(
		__entry->conn = job->responder->conn->ep.id;
		__entry->xid = job->xid;
		__entry->length = job->length;
		__entry->status = status;
	),
	TP_printk("conn=%u xid=0x%08x length=%u status=%s", __entry->conn,
		__entry->xid, __entry->length,
		rpcrdma2_show_status(__entry->status))
);

#define DEFINE_JOB_EVENT(name)						\
	DEFINE_EVENT(rpcrdma2_job, rpcrdma2_##name,			\
		TP_PROTO(const struct rpcrdma2_job *job, int status),	\
		TP_ARGS(job, status))

DEFINE_JOB_EVENT(call_read);
DEFINE_JOB_EVENT(call_read_done);
DEFINE_JOB_EVENT(call_deliver);
DEFINE_JOB_EVENT(call_drop);
DEFINE_JOB_EVENT(reply_done);

DECLARE_EVENT_CLASS(rpcrdma2_rdma,
	TP_PROTO(const struct rpcrdma2_conn *conn, u32 xid,
		 const struct rpcrdma2_segment *seg, u32 length),
	TP_ARGS(conn, xid, seg, length),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(u32, xid)
		__field(u32, handle)
		__field(u64, offset)
		__field(u32, length)
	),
	TP_fast_assign(
		__entry->conn = conn->ep.id;
		__entry->xid = xid;
		__entry->handle = seg->handle;
		__entry->offset = seg->offset;
		__entry->length = length;
	),
	TP_printk("conn=%u xid=0x%08x handle=0x%08x offset=0x%llx length=%u",
		__entry->conn, __entry->xid, __entry->handle,
		__entry->offset, __entry->length)
);

DEFINE_EVENT(rpcrdma2_rdma, rpcrdma2_rdma_read,
	TP_PROTO(const struct rpcrdma2_conn *conn, u32 xid,
		 const struct rpcrdma2_segment *seg, u32 length),
	TP_ARGS(conn, xid, seg, length));
DEFINE_EVENT(rpcrdma2_rdma, rpcrdma2_rdma_write,
	TP_PROTO(const struct rpcrdma2_conn *conn, u32 xid,
		 const struct rpcrdma2_segment *seg, u32 length),
	TP_ARGS(conn, xid, seg, length));

#endif /* _TRACE_RPCRDMA2_H */

#include <trace/define_trace.h>
