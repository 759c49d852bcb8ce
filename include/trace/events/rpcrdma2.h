/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints of rpcrdma2. Every event names the connection by its id; those
 * about an RPC name the XID too.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rpcrdma2

#if !defined(_TRACE_RPCRDMA2_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_RPCRDMA2_H

#include <linux/tracepoint.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>
#include <trace/misc/rdma.h>

struct rpcrdma2_conn;

#define rpcrdma2_show_state(x)						\
	__print_symbolic(x,						\
		{ RPCRDMA2_CONN_NEW,		"NEW" },		\
		{ RPCRDMA2_CONN_RESOLVING,	"RESOLVING" },		\
		{ RPCRDMA2_CONN_ROUTING,	"ROUTING" },		\
		{ RPCRDMA2_CONN_CONNECTING,	"CONNECTING" },		\
		{ RPCRDMA2_CONN_ACCEPTING,	"ACCEPTING" },		\
		{ RPCRDMA2_CONN_NEGOTIATING,	"NEGOTIATING" },	\
		{ RPCRDMA2_CONN_READY,		"READY" },		\
		{ RPCRDMA2_CONN_CLOSING,	"CLOSING" },		\
		{ RPCRDMA2_CONN_CLOSED,		"CLOSED" })

TRACE_DEFINE_ENUM(RPCRDMA2_CONN_NEW);
TRACE_DEFINE_ENUM(RPCRDMA2_CONN_RESOLVING);
TRACE_DEFINE_ENUM(RPCRDMA2_CONN_ROUTING);
TRACE_DEFINE_ENUM(RPCRDMA2_CONN_CONNECTING);
TRACE_DEFINE_ENUM(RPCRDMA2_CONN_ACCEPTING);
TRACE_DEFINE_ENUM(RPCRDMA2_CONN_NEGOTIATING);
TRACE_DEFINE_ENUM(RPCRDMA2_CONN_READY);
TRACE_DEFINE_ENUM(RPCRDMA2_CONN_CLOSING);
TRACE_DEFINE_ENUM(RPCRDMA2_CONN_CLOSED);

#define rpcrdma2_show_handshake(x)					\
	__print_symbolic(x,						\
		{ RPCRDMA2_HS_WAITING,		"WAITING" },		\
		{ RPCRDMA2_HS_ASKING,		"ASKING" },		\
		{ RPCRDMA2_HS_VERSION_1,	"VERSION_1" },		\
		{ RPCRDMA2_HS_VERSION_2,	"VERSION_2" },		\
		{ RPCRDMA2_HS_FAILED,		"FAILED" })

TRACE_DEFINE_ENUM(RPCRDMA2_HS_WAITING);
TRACE_DEFINE_ENUM(RPCRDMA2_HS_ASKING);
TRACE_DEFINE_ENUM(RPCRDMA2_HS_VERSION_1);
TRACE_DEFINE_ENUM(RPCRDMA2_HS_VERSION_2);
TRACE_DEFINE_ENUM(RPCRDMA2_HS_FAILED);

#define rpcrdma2_show_error(x)						\
	__print_symbolic(x,						\
		{ RDMA2_ERR_NONE,		"NONE" },		\
		{ RDMA2_ERR_VERS,		"VERS" },		\
		{ RDMA2_ERR_BAD_XDR,		"BAD_XDR" },		\
		{ RDMA2_ERR_INVAL_HTYPE,	"INVAL_HTYPE" },	\
		{ RDMA2_ERR_READ_CHUNKS,	"READ_CHUNKS" },	\
		{ RDMA2_ERR_WRITE_CHUNKS,	"WRITE_CHUNKS" },	\
		{ RDMA2_ERR_SEGMENTS,		"SEGMENTS" },		\
		{ RDMA2_ERR_WRITE_RESOURCE,	"WRITE_RESOURCE" },	\
		{ RDMA2_ERR_REPLY_RESOURCE,	"REPLY_RESOURCE" },	\
		{ RDMA2_ERR_SYSTEM,		"SYSTEM" })

TRACE_DEFINE_ENUM(RDMA2_ERR_NONE);
TRACE_DEFINE_ENUM(RDMA2_ERR_VERS);
TRACE_DEFINE_ENUM(RDMA2_ERR_BAD_XDR);
TRACE_DEFINE_ENUM(RDMA2_ERR_INVAL_HTYPE);
TRACE_DEFINE_ENUM(RDMA2_ERR_READ_CHUNKS);
TRACE_DEFINE_ENUM(RDMA2_ERR_WRITE_CHUNKS);
TRACE_DEFINE_ENUM(RDMA2_ERR_SEGMENTS);
TRACE_DEFINE_ENUM(RDMA2_ERR_WRITE_RESOURCE);
TRACE_DEFINE_ENUM(RDMA2_ERR_REPLY_RESOURCE);
TRACE_DEFINE_ENUM(RDMA2_ERR_SYSTEM);

/*
 * Connection
 */
TRACE_EVENT(rpcrdma2_conn_state,
	TP_PROTO(const struct rpcrdma2_conn *conn, int from, int to),
	TP_ARGS(conn, from, to),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(int, from)
		__field(int, to)
	),
	TP_fast_assign(
		__entry->conn = conn->id;
		__entry->from = from;
		__entry->to = to;
	),
	TP_printk("conn=%u %s -> %s", __entry->conn,
		rpcrdma2_show_state(__entry->from),
		rpcrdma2_show_state(__entry->to))
);

DECLARE_EVENT_CLASS(rpcrdma2_conn_status,
	TP_PROTO(const struct rpcrdma2_conn *conn, int status),
	TP_ARGS(conn, status),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(int, status)
	),
	TP_fast_assign(
		__entry->conn = conn->id;
		__entry->status = status;
	),
	TP_printk("conn=%u status=%d", __entry->conn, __entry->status)
);

DEFINE_EVENT(rpcrdma2_conn_status, rpcrdma2_conn_close,
	TP_PROTO(const struct rpcrdma2_conn *conn, int status),
	TP_ARGS(conn, status));

TRACE_EVENT(rpcrdma2_conn_ready,
	TP_PROTO(const struct rpcrdma2_conn *conn),
	TP_ARGS(conn),
	TP_STRUCT__entry(
		__field(u32, conn)
		__string(dialect, conn->dialect->name)
		__field(u32, send_limit)
		__field(u32, recv_limit)
		__field(u32, grant)
	),
	TP_fast_assign(
		__entry->conn = conn->id;
		rpcrdma2_assign_str(dialect, conn->dialect->name);
		__entry->send_limit = conn->send_limit;
		__entry->recv_limit = conn->recv_limit;
		__entry->grant = conn->first_grant;
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
		__entry->conn = conn->id;
		__entry->event = event->event;
		__entry->status = event->status;
	),
	TP_printk("conn=%u event=%s status=%d", __entry->conn,
		rdma_show_cm_event(__entry->event), __entry->status)
);

TRACE_EVENT(rpcrdma2_qp_event,
	TP_PROTO(const struct rpcrdma2_conn *conn, int event),
	TP_ARGS(conn, event),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(int, event)
	),
	TP_fast_assign(
		__entry->conn = conn->id;
		__entry->event = event;
	),
	TP_printk("conn=%u event=%s", __entry->conn,
		rdma_show_ib_event(__entry->event))
);

TRACE_EVENT(rpcrdma2_wc_error,
	TP_PROTO(const struct rpcrdma2_conn *conn, int status, u32 vendor_err),
	TP_ARGS(conn, status, vendor_err),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(int, status)
		__field(u32, vendor_err)
	),
	TP_fast_assign(
		__entry->conn = conn->id;
		__entry->status = status;
		__entry->vendor_err = vendor_err;
	),
	TP_printk("conn=%u status=%s vendor_err=0x%x", __entry->conn,
		rdma_show_wc_status(__entry->status), __entry->vendor_err)
);

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
		__entry->conn = conn->id;
		__entry->found = conn->have_private;
		__entry->remote_inv = conn->peer_private.remote_inv;
		__entry->send_size = conn->peer_private.send_size;
		__entry->recv_size = conn->peer_private.recv_size;
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
		__field(u32, rbsiz)
		__field(u32, brs)
	),
	TP_fast_assign(
		__entry->conn = conn->id;
		__entry->xid = hdr->xid;
		__entry->credit = hdr->credit;
		__entry->response = hdr->response;
		__entry->rbsiz = hdr->props.rbsiz;
		__entry->brs = hdr->props.brs;
	),
	TP_printk("conn=%u xid=0x%08x credit=%u response=%d rbsiz=%u brs=%u",
		__entry->conn, __entry->xid, __entry->credit,
		__entry->response, __entry->rbsiz, __entry->brs)
);

DEFINE_EVENT(rpcrdma2_connprop, rpcrdma2_connprop_send,
	TP_PROTO(const struct rpcrdma2_conn *conn,
		 const struct rpcrdma2_header *hdr),
	TP_ARGS(conn, hdr));
DEFINE_EVENT(rpcrdma2_connprop, rpcrdma2_connprop_recv,
	TP_PROTO(const struct rpcrdma2_conn *conn,
		 const struct rpcrdma2_header *hdr),
	TP_ARGS(conn, hdr));

TRACE_EVENT(rpcrdma2_handshake,
	TP_PROTO(const struct rpcrdma2_conn *conn, int from, int to),
	TP_ARGS(conn, from, to),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(int, from)
		__field(int, to)
	),
	TP_fast_assign(
		__entry->conn = conn->id;
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
		__field(u32, max_chunks)
		__field(u32, max_segments)
		__field(u32, chunk_index)
		__field(u32, length_needed)
	),
	TP_fast_assign(
		__entry->conn = conn->id;
		__entry->xid = xid;
		__entry->code = error->code;
		__entry->max_chunks = error->max_chunks;
		__entry->max_segments = error->max_segments;
		__entry->chunk_index = error->chunk_index;
		__entry->length_needed = error->length_needed;
	),
	TP_printk("conn=%u xid=0x%08x error=%s max_chunks=%u max_segments=%u chunk_index=%u length_needed=%u",
		__entry->conn, __entry->xid,
		rpcrdma2_show_error(__entry->code),
		__entry->max_chunks, __entry->max_segments,
		__entry->chunk_index, __entry->length_needed)
);

DEFINE_EVENT(rpcrdma2_error, rpcrdma2_error_send,
	TP_PROTO(const struct rpcrdma2_conn *conn, u32 xid,
		 const struct rpcrdma2_error *error),
	TP_ARGS(conn, xid, error));
DEFINE_EVENT(rpcrdma2_error, rpcrdma2_error_recv,
	TP_PROTO(const struct rpcrdma2_conn *conn, u32 xid,
		 const struct rpcrdma2_error *error),
	TP_ARGS(conn, xid, error));

/*
 * Send Queue
 */
TRACE_EVENT(rpcrdma2_post,
	TP_PROTO(const struct rpcrdma2_conn *conn, unsigned int wrs, int rc),
	TP_ARGS(conn, wrs, rc),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(unsigned int, wrs)
		__field(int, rc)
	),
	TP_fast_assign(
		__entry->conn = conn->id;
		__entry->wrs = wrs;
		__entry->rc = rc;
	),
	TP_printk("conn=%u wrs=%u rc=%d", __entry->conn, __entry->wrs,
		__entry->rc)
);

/*
 * Messages: what was decided about a Call or a Reply
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
		__field(u32, inline_len)
		__field(u8, reads)
		__field(u8, writes)
		__field(bool, reply)
		__field(u8, segments)
		__field(u32, inv_handle)
	),
	TP_fast_assign(
		__entry->conn = conn->id;
		__entry->xid = hdr->xid;
		__entry->credit = hdr->credit;
		__entry->nomsg = hdr->htype == RDMA2_NOMSG;
		__entry->inline_len = inline_len;
		__entry->reads = hdr->chunks.nreads;
		__entry->writes = hdr->chunks.nwrites;
		__entry->reply = hdr->chunks.has_reply;
		__entry->segments = hdr->chunks.nsegs;
		__entry->inv_handle = hdr->chunks.inv_handle;
	),
	TP_printk("conn=%u xid=0x%08x credit=%u %s inline=%u reads=%u writes=%u reply=%d segments=%u inv_handle=0x%08x",
		__entry->conn, __entry->xid, __entry->credit,
		__entry->nomsg ? "NOMSG" : "MSG", __entry->inline_len,
		__entry->reads, __entry->writes, __entry->reply,
		__entry->segments, __entry->inv_handle)
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

/*
 * Registration
 */
DECLARE_EVENT_CLASS(rpcrdma2_mr,
	TP_PROTO(const struct rpcrdma2_conn *conn, u32 xid, u32 handle,
		 u32 length),
	TP_ARGS(conn, xid, handle, length),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(u32, xid)
		__field(u32, handle)
		__field(u32, length)
	),
	TP_fast_assign(
		__entry->conn = conn->id;
		__entry->xid = xid;
		__entry->handle = handle;
		__entry->length = length;
	),
	TP_printk("conn=%u xid=0x%08x handle=0x%08x length=%u",
		__entry->conn, __entry->xid, __entry->handle,
		__entry->length)
);

#define DEFINE_MR_EVENT(name)						\
	DEFINE_EVENT(rpcrdma2_mr, rpcrdma2_mr_##name,			\
		TP_PROTO(const struct rpcrdma2_conn *conn, u32 xid,	\
			 u32 handle, u32 length),			\
		TP_ARGS(conn, xid, handle, length))

DEFINE_MR_EVENT(register);
DEFINE_MR_EVENT(inv_remote);
DEFINE_MR_EVENT(inv_local);

/*
 * RDMA Reads and Writes of a responder
 */
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
		__entry->conn = conn->id;
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
