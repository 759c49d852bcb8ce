// SPDX-License-Identifier: GPL-2.0
/*
 * Connections and totals as netlink attributes.
 *
 * A table maps counters to attributes. All functions run in process context. A function
 * returns -EMSGSIZE if the message has no room. Its caller then drops the message, or in a
 * dump, cuts off the incomplete connection and continues in the next message.
 */
#include <linux/sunrpc/addr.h>
#include <net/netlink.h>

#include "compat.h"
#include "netlink.h"
#include "svc/svc.h"
#include "xprt/xprt.h"

/* The code below shows the module's numbers to users, so the uapi must have the same. */
static_assert((int)RPCRDMA2_STATE_NEW == RPCRDMA2_CONN_NEW);
static_assert((int)RPCRDMA2_STATE_READY == RPCRDMA2_CONN_READY);
static_assert((int)RPCRDMA2_STATE_CLOSED == RPCRDMA2_CONN_CLOSED);
static_assert((int)RPCRDMA2_REVERSE_NONE == RDMA2_RVREQSUP_NONE);
static_assert((int)RPCRDMA2_REVERSE_INLINE == RDMA2_RVREQSUP_INLINE);
static_assert((int)RPCRDMA2_REVERSE_GENL == RDMA2_RVREQSUP_GENL);
static_assert((int)RPCRDMA2_A_ERRORS_OTHER - 1 == RDMA2_ERR_NONE);
static_assert((int)RPCRDMA2_A_ERRORS_SYSTEM - 1 == RDMA2_ERR_SYSTEM);
static_assert(RPCRDMA2_A_ERRORS_MAX == RPCRDMA2_NR_ERRORS);

/**
 * struct count - a counter
 * @attr: attribute of the counter
 * @at: offset of the counter in its struct, octets
 */
struct count {
	u16	attr;
	u16	at;
};

#define COUNT(name, of, field)						\
	{ RPCRDMA2_A_##name, offsetof(struct of, field) }

static const struct count forms_counts[] = {
	COUNT(FORMS_TOTAL, rpcrdma2_forms, messages),
	COUNT(FORMS_INLINE, rpcrdma2_forms, inlined),
	COUNT(FORMS_READ_CHUNKS, rpcrdma2_forms, read_chunks),
	COUNT(FORMS_POSITION_ZERO, rpcrdma2_forms, position_zero),
	COUNT(FORMS_WRITE_CHUNKS, rpcrdma2_forms, write_chunks),
	COUNT(FORMS_REPLY_CHUNK, rpcrdma2_forms, reply_chunk),
};

static const struct count traffic_counts[] = {
	COUNT(TRAFFIC_WORK_REQUESTS, rpcrdma2_traffic, ep.work_requests),
	COUNT(TRAFFIC_SEND_DOORBELLS, rpcrdma2_traffic, ep.send_doorbells),
	COUNT(TRAFFIC_RECEIVE_DOORBELLS, rpcrdma2_traffic, ep.recv_doorbells),
	COUNT(TRAFFIC_COMPLETIONS, rpcrdma2_traffic, ep.completions),
	COUNT(TRAFFIC_SEND_QUEUE_WAITS, rpcrdma2_traffic, ep.queue_waits),
	COUNT(TRAFFIC_SENDS, rpcrdma2_traffic, ep.sends),
	COUNT(TRAFFIC_SEND_OCTETS, rpcrdma2_traffic, ep.send_octets),
	COUNT(TRAFFIC_RECEIVES, rpcrdma2_traffic, ep.receives),
	COUNT(TRAFFIC_RECEIVE_OCTETS, rpcrdma2_traffic, ep.receive_octets),
	COUNT(TRAFFIC_SIZE_CHANGES, rpcrdma2_traffic, conn.resizes),
	COUNT(TRAFFIC_HEARTBEATS, rpcrdma2_traffic, conn.heartbeats),
	COUNT(TRAFFIC_HEARTBEATS_MISSED, rpcrdma2_traffic, conn.heartbeats_missed),
};

static const struct count requester_counts[] = {
	COUNT(REQUESTER_CALLS_SENT_READ_OCTETS, rpcrdma2_stats, read_octets),
	COUNT(REQUESTER_CALLS_SENT_OFFERED_OCTETS, rpcrdma2_stats, offered_octets),
	COUNT(REQUESTER_CALLS_SENT_PULLUP_OCTETS, rpcrdma2_stats, pullup_octets),
	COUNT(REQUESTER_REPLIES_RECEIVED_WRITTEN_OCTETS, rpcrdma2_stats, written_octets),
	COUNT(REQUESTER_REPLIES_RECEIVED_FIXUP_OCTETS, rpcrdma2_stats, fixup_octets),
	COUNT(REQUESTER_REGISTRATIONS, rpcrdma2_stats, registrations),
	COUNT(REQUESTER_GAP_REGISTRATIONS, rpcrdma2_stats, gap_registrations),
	COUNT(REQUESTER_REMOTE_INVALIDATIONS, rpcrdma2_stats, remote_invs),
	COUNT(REQUESTER_LOCAL_INVALIDATIONS, rpcrdma2_stats, local_invs),
	COUNT(REQUESTER_CREDIT_WAITS, rpcrdma2_stats, credit_waits),
	COUNT(REQUESTER_REGISTRATION_WAITS, rpcrdma2_stats, mr_waits),
	COUNT(REQUESTER_SEND_BUFFER_WAITS, rpcrdma2_stats, send_waits),
	COUNT(REQUESTER_FAILED_MARSHALS, rpcrdma2_stats, failed_marshals),
	COUNT(REQUESTER_BAD_REPLIES, rpcrdma2_stats, bad_replies),
};

static const struct count responder_counts[] = {
	COUNT(RESPONDER_RDMA_READS, rpcrdma2_transfers, reads),
	COUNT(RESPONDER_RDMA_READ_OCTETS, rpcrdma2_transfers, read_octets),
	COUNT(RESPONDER_RDMA_READ_WAITS, rpcrdma2_transfers, read_waits),
	COUNT(RESPONDER_RDMA_WRITES, rpcrdma2_transfers, writes),
	COUNT(RESPONDER_RDMA_WRITE_OCTETS, rpcrdma2_transfers, write_octets),
};

static int put_counts(struct sk_buff *skb, const struct count *counts,
		      unsigned int n, const void *stats)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (rpcrdma2_nla_put_uint(skb, counts[i].attr,
					  *(const u64 *)(stats + counts[i].at)))
			return -EMSGSIZE;
	return 0;
}

static int put_forms(struct sk_buff *skb, int attr, const struct rpcrdma2_forms *forms)
{
	struct nlattr *nest = nla_nest_start(skb, attr);

	if (!nest || put_counts(skb, forms_counts, ARRAY_SIZE(forms_counts), forms))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_errors(struct sk_buff *skb, int attr, const u64 errors[RPCRDMA2_NR_ERRORS])
{
	struct nlattr *nest = nla_nest_start(skb, attr);
	unsigned int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < RPCRDMA2_NR_ERRORS; i++)
		if (rpcrdma2_nla_put_uint(skb, i + 1, errors[i]))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_traffic(struct sk_buff *skb, int attr, const struct rpcrdma2_traffic *traffic)
{
	struct nlattr *nest = nla_nest_start(skb, attr);

	if (!nest || put_counts(skb, traffic_counts, ARRAY_SIZE(traffic_counts), traffic) ||
	    put_errors(skb, RPCRDMA2_A_TRAFFIC_ERRORS_SENT, traffic->conn.errors_sent) ||
	    put_errors(skb, RPCRDMA2_A_TRAFFIC_ERRORS_RECEIVED, traffic->conn.errors_received))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_requester_stats(struct sk_buff *skb, const struct rpcrdma2_stats *stats)
{
	if (put_forms(skb, RPCRDMA2_A_REQUESTER_CALLS_SENT, &stats->calls) ||
	    put_forms(skb, RPCRDMA2_A_REQUESTER_REPLIES_RECEIVED, &stats->replies))
		return -EMSGSIZE;
	return put_counts(skb, requester_counts, ARRAY_SIZE(requester_counts), stats);
}

static int put_responder_stats(struct sk_buff *skb,
			       const struct rpcrdma2_responder_stats *stats)
{
	if (put_forms(skb, RPCRDMA2_A_RESPONDER_CALLS_RECEIVED, &stats->calls) ||
	    put_forms(skb, RPCRDMA2_A_RESPONDER_REPLIES_SENT, &stats->jobs.replies))
		return -EMSGSIZE;
	return put_counts(skb, responder_counts, ARRAY_SIZE(responder_counts),
			  &stats->jobs.moved);
}

static int put_address(struct sk_buff *skb, int attr, const struct sockaddr *sa)
{
	const struct sockaddr_in6 *sin6 = (const struct sockaddr_in6 *)sa;
	const struct sockaddr_in *sin = (const struct sockaddr_in *)sa;
	struct nlattr *nest = nla_nest_start(skb, attr);

	if (!nest || nla_put_u16(skb, RPCRDMA2_A_ADDRESS_FAMILY, sa->sa_family))
		return -EMSGSIZE;
	if (sa->sa_family == AF_INET &&
	    (nla_put_in_addr(skb, RPCRDMA2_A_ADDRESS_ADDR4, sin->sin_addr.s_addr) ||
	     nla_put_be16(skb, RPCRDMA2_A_ADDRESS_PORT, sin->sin_port)))
		return -EMSGSIZE;
	if (sa->sa_family == AF_INET6 &&
	    (nla_put_in6_addr(skb, RPCRDMA2_A_ADDRESS_ADDR6, &sin6->sin6_addr) ||
	     nla_put_be16(skb, RPCRDMA2_A_ADDRESS_PORT, sin6->sin6_port) ||
	     nla_put_u32(skb, RPCRDMA2_A_ADDRESS_SCOPE_ID, sin6->sin6_scope_id)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_ends(struct sk_buff *skb, const struct rpcrdma2_conn *conn)
{
	const struct rpcrdma2_ep *ep = &conn->ep;
	const struct rdma_addr *addr = &ep->cm_id->route.addr;

	if (nla_put_u32(skb, RPCRDMA2_A_CONN_ID, ep->id) ||
	    nla_put_u32(skb, RPCRDMA2_A_CONN_ROLE, ep->active ? RPCRDMA2_ROLE_CLIENT :
								   RPCRDMA2_ROLE_SERVER) ||
	    nla_put_u32(skb, RPCRDMA2_A_CONN_STATE, READ_ONCE(conn->state)) ||
	    rpcrdma2_nla_put_uint(skb, RPCRDMA2_A_CONN_READY_SECONDS,
				  (jiffies - conn->ready_at) / HZ) ||
	    nla_put_string(skb, RPCRDMA2_A_CONN_DEVICE, ep->pd->device->name) ||
	    nla_put_u32(skb, RPCRDMA2_A_CONN_PORT, ep->cm_id->port_num) ||
	    put_address(skb, RPCRDMA2_A_CONN_LOCAL_ADDRESS,
			(const struct sockaddr *)&addr->src_addr) ||
	    put_address(skb, RPCRDMA2_A_CONN_PEER_ADDRESS,
			(const struct sockaddr *)&addr->dst_addr) ||
	    nla_put_u32(skb, RPCRDMA2_A_CONN_NETNS, conn->param.net->ns.inum) ||
	    nla_put_u32(skb, RPCRDMA2_A_CONN_VERSION, conn->terms.dialect->version) ||
	    nla_put_string(skb, RPCRDMA2_A_CONN_DIALECT, conn->terms.dialect->name))
		return -EMSGSIZE;
	return 0;
}

/* The attributes of properties have the order of struct rpcrdma2_props. */
static int put_props(struct sk_buff *skb, int attr, const struct rpcrdma2_conn *conn,
		     const struct rpcrdma2_props *values, u32 credits)
{
	const struct rpcrdma2_prop_table *table = conn->terms.dialect->props;
	struct nlattr *nest = nla_nest_start(skb, attr);
	const struct rpcrdma2_prop *prop;
	unsigned int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 0; table && i < table->nr; i++) {
		prop = &table->props[i];
		if (nla_put_u32(skb, rpcrdma2_prop_index(prop) + RPCRDMA2_A_PROPS_RBSIZ,
				rpcrdma2_prop_value(values, prop)))
			return -EMSGSIZE;
	}
	if (nla_put_u32(skb, RPCRDMA2_A_PROPS_CREDITS, credits))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_private(struct sk_buff *skb, const struct rpcrdma2_private_data *pd)
{
	struct nlattr *nest = nla_nest_start(skb, RPCRDMA2_A_CONN_PRIVATE);

	if (!nest ||
	    nla_put_u32(skb, RPCRDMA2_A_PRIVATE_SEND_SIZE, pd->send_size) ||
	    nla_put_u32(skb, RPCRDMA2_A_PRIVATE_RECEIVE_SIZE, pd->recv_size) ||
	    nla_put_u32(skb, RPCRDMA2_A_PRIVATE_REMOTE_INV, pd->remote_inv))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_terms(struct sk_buff *skb, const struct rpcrdma2_conn *conn)
{
	const struct rpcrdma2_ep *ep = &conn->ep;
	const struct rpcrdma2_terms *terms = &conn->terms;

	if (put_props(skb, RPCRDMA2_A_CONN_OFFERED, conn, &terms->own,
		      ep->active ? ep->calls_out : READ_ONCE(ep->grant.now)) ||
	    (terms->have_props &&
	     put_props(skb, RPCRDMA2_A_CONN_RECEIVED, conn, &terms->peer,
		       terms->peer_credits)) ||
	    (terms->have_private && put_private(skb, &terms->peer_private)) ||
	    nla_put_u32(skb, RPCRDMA2_A_CONN_INLINE_SEND, READ_ONCE(ep->limit.call)) ||
	    nla_put_u32(skb, RPCRDMA2_A_CONN_INLINE_RECEIVE, READ_ONCE(terms->recv_limit)) ||
	    nla_put_u32(skb, RPCRDMA2_A_CONN_REMOTE_INVALIDATION, terms->remote_inv) ||
	    nla_put_u32(skb, RPCRDMA2_A_CONN_HEARTBEAT, rpcrdma2_heartbeat_secs(conn)) ||
	    nla_put_u32(skb, RPCRDMA2_A_CONN_RECEIVE_BUFFER_SIZE, READ_ONCE(ep->recvs.size)))
		return -EMSGSIZE;
	return 0;
}

static int put_queues(struct sk_buff *skb, const struct rpcrdma2_conn *conn)
{
	const struct rpcrdma2_ep *ep = &conn->ep;
	struct nlattr *nest = nla_nest_start(skb, RPCRDMA2_A_CONN_QUEUES);
	unsigned int depth, recvs;

	depth = ep->srq ? ep->srq->depth : ep->recvs.depth;
	recvs = ep->srq ? ep->share.backed + ep->share.backed_replies : ep->recvs.nr;
	if (!nest ||
	    nla_put_u32(skb, RPCRDMA2_A_QUEUES_SEND_QUEUE_DEPTH, ep->sq_depth) ||
	    nla_put_u32(skb, RPCRDMA2_A_QUEUES_SEND_QUEUE_USED, READ_ONCE(ep->sq.used)) ||
	    nla_put_u32(skb, RPCRDMA2_A_QUEUES_RECEIVE_QUEUE_SHARED, !!ep->srq) ||
	    nla_put_u32(skb, RPCRDMA2_A_QUEUES_RECEIVE_QUEUE_DEPTH, depth) ||
	    nla_put_u32(skb, RPCRDMA2_A_QUEUES_RECEIVE_BUFFERS, recvs) ||
	    nla_put_u32(skb, RPCRDMA2_A_QUEUES_ODD_RECEIVE_BUFFERS, READ_ONCE(ep->recvs.odd)) ||
	    nla_put_u32(skb, RPCRDMA2_A_QUEUES_PEAK_RBSIZ, READ_ONCE(conn->peak_rbsiz)) ||
	    nla_put_u32(skb, RPCRDMA2_A_QUEUES_COMPLETION_QUEUE_DEPTH, ep->cq->cqe) ||
	    nla_put_u32(skb, RPCRDMA2_A_QUEUES_COMPLETION_VECTOR, ep->cq->comp_vector) ||
	    nla_put_u32(skb, RPCRDMA2_A_QUEUES_SEND_BUFFERS, READ_ONCE(ep->sends.nr)) ||
	    nla_put_u32(skb, RPCRDMA2_A_QUEUES_REGISTRATION_PAGES, ep->max_pages))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_conn_traffic(struct sk_buff *skb, const struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_traffic traffic = { };

	rpcrdma2_traffic_add(&traffic, conn);
	return put_traffic(skb, RPCRDMA2_A_CONN_TRAFFIC, &traffic);
}

static int put_transport(struct sk_buff *skb, const struct rpcrdma2_xprt *x)
{
	struct nlattr *nest;

	if (nla_put_u32(skb, RPCRDMA2_A_CONN_XPRT_ID, x->xprt.id))
		return -EMSGSIZE;
	nest = nla_nest_start(skb, RPCRDMA2_A_CONN_TRANSPORT);
	if (!nest ||
	    rpcrdma2_nla_put_uint(skb, RPCRDMA2_A_TRANSPORT_CONNECTS,
				  x->xprt.stat.connect_count) ||
	    nla_put_s32(skb, RPCRDMA2_A_TRANSPORT_LAST_CLOSE_STATUS, x->last_close_status) ||
	    (x->last_close_status &&
	     rpcrdma2_nla_put_uint(skb, RPCRDMA2_A_TRANSPORT_LAST_CLOSE_SECONDS,
				   (jiffies - x->last_close) / HZ)) ||
	    rpcrdma2_nla_put_uint(skb, RPCRDMA2_A_TRANSPORT_SILENT_CONNECTIONS,
				  x->silent_conns))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_requester(struct sk_buff *skb, const struct rpcrdma2_requester *requester)
{
	struct nlattr *nest = nla_nest_start(skb, RPCRDMA2_A_CONN_REQUESTER);
	unsigned int gaps = READ_ONCE(requester->gap_mrs.nr);
	struct rpcrdma2_stats stats = { };

	rpcrdma2_counters_add(&stats, &requester->stats, sizeof(stats));
	if (!nest ||
	    nla_put_u32(skb, RPCRDMA2_A_REQUESTER_CREDITS, READ_ONCE(requester->grant_in)) ||
	    nla_put_u32(skb, RPCRDMA2_A_REQUESTER_OUTSTANDING,
			rpcrdma2_requester_outstanding(requester)) ||
	    nla_put_u32(skb, RPCRDMA2_A_REQUESTER_REGISTERED,
			READ_ONCE(requester->mrs.nr) + gaps) ||
	    nla_put_u32(skb, RPCRDMA2_A_REQUESTER_GAP_REGISTERED, gaps) ||
	    put_requester_stats(skb, &stats))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_stages(struct sk_buff *skb, struct rpcrdma2_responder *responder)
{
	struct rpcrdma2_stage_counts count;

	rpcrdma2_responder_count_stages(responder, &count);
	return nla_put_u32(skb, RPCRDMA2_A_RESPONDER_QUEUED, count.queued) ||
	       nla_put_u32(skb, RPCRDMA2_A_RESPONDER_READING, count.reading) ||
	       nla_put_u32(skb, RPCRDMA2_A_RESPONDER_FOR_THREADS, count.for_threads) ||
	       nla_put_u32(skb, RPCRDMA2_A_RESPONDER_RUNNING, count.running) ||
	       nla_put_u32(skb, RPCRDMA2_A_RESPONDER_WAITING, count.waiting) ||
	       nla_put_u32(skb, RPCRDMA2_A_RESPONDER_WRITING, count.writing);
}

static int put_responder(struct sk_buff *skb, struct rpcrdma2_responder *responder)
{
	struct nlattr *nest = nla_nest_start(skb, RPCRDMA2_A_CONN_RESPONDER);
	struct rpcrdma2_responder_stats stats = { };

	rpcrdma2_responder_stats_add(&stats, responder);
	if (!nest ||
	    nla_put_u32(skb, RPCRDMA2_A_RESPONDER_CREDITS,
			READ_ONCE(responder->conn->ep.grant.now)) ||
	    nla_put_u32(skb, RPCRDMA2_A_RESPONDER_OUTSTANDING,
			stats.calls.messages - stats.jobs.done) ||
	    put_stages(skb, responder) ||
	    put_responder_stats(skb, &stats))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * rpcrdma2_fill_conn - add all attributes of a connection
 * @skb: message to add to
 * @conn: the connection, which has been ready. Its QP exists until this function returns
 *
 * Context: Process context. Does not sleep; takes the responder's lock.
 * Return: 0 or -EMSGSIZE
 */
int rpcrdma2_fill_conn(struct sk_buff *skb, const struct rpcrdma2_conn *conn)
{
	const struct rpcrdma2_requester *requester;

	/* Pairs with cmpxchg_release() in rpcrdma2_requester_create(). */
	requester = smp_load_acquire(&conn->requester);
	if (put_ends(skb, conn) || put_terms(skb, conn) || put_queues(skb, conn) ||
	    put_conn_traffic(skb, conn) ||
	    (conn->ep.active && put_transport(skb, conn->xprt)) ||
	    (requester && put_requester(skb, requester)) ||
	    put_responder(skb, conn->responder))
		return -EMSGSIZE;
	return 0;
}

/**
 * rpcrdma2_fill_end - add why a connection ended
 * @skb: message to add to
 * @conn: the connection, which is closing
 *
 * Context: Any context.
 * Return: 0 or -EMSGSIZE
 */
int rpcrdma2_fill_end(struct sk_buff *skb, const struct rpcrdma2_conn *conn)
{
	if (nla_put_s32(skb, RPCRDMA2_A_CONN_CLOSE_STATUS, conn->close.status) ||
	    nla_put_u32(skb, RPCRDMA2_A_CONN_CLOSED_IN, conn->close.in))
		return -EMSGSIZE;
	return 0;
}

/**
 * rpcrdma2_fill_fallback - add a server and its dialect
 * @skb: message to add to
 * @x: a transport that tried to reach the server last
 * @dialect: dialect in which this client speaks to the server from now on
 *
 * Context: Any context.
 * Return: 0 or -EMSGSIZE
 */
int rpcrdma2_fill_fallback(struct sk_buff *skb, const struct rpcrdma2_xprt *x,
			   const struct rpcrdma2_dialect *dialect)
{
	if (put_address(skb, RPCRDMA2_A_CONN_PEER_ADDRESS, (const struct sockaddr *)&x->tried) ||
	    nla_put_u32(skb, RPCRDMA2_A_CONN_NETNS, x->xprt.xprt_net->ns.inum) ||
	    nla_put_u32(skb, RPCRDMA2_A_CONN_XPRT_ID, x->xprt.id) ||
	    nla_put_u32(skb, RPCRDMA2_A_CONN_VERSION, dialect->version) ||
	    nla_put_string(skb, RPCRDMA2_A_CONN_DIALECT, dialect->name))
		return -EMSGSIZE;
	return 0;
}

static int put_requester_totals(struct sk_buff *skb, const struct rpcrdma2_stats *stats)
{
	struct nlattr *nest = nla_nest_start(skb, RPCRDMA2_A_ROLE_TOTALS_REQUESTER);

	if (!nest || put_requester_stats(skb, stats))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_responder_totals(struct sk_buff *skb,
				const struct rpcrdma2_responder_stats *stats)
{
	struct nlattr *nest = nla_nest_start(skb, RPCRDMA2_A_ROLE_TOTALS_RESPONDER);

	if (!nest || put_responder_stats(skb, stats))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * rpcrdma2_fill_role - add the totals of one role
 * @skb: message to add to
 * @attr: %RPCRDMA2_A_TOTALS_CLIENT or %RPCRDMA2_A_TOTALS_SERVER
 * @totals: the totals
 *
 * Context: Any context.
 * Return: 0 or -EMSGSIZE
 */
int rpcrdma2_fill_role(struct sk_buff *skb, int attr,
		       const struct rpcrdma2_role_totals *totals)
{
	struct nlattr *nest = nla_nest_start(skb, attr);

	if (!nest ||
	    rpcrdma2_nla_put_uint(skb, RPCRDMA2_A_ROLE_TOTALS_CONNECTIONS, totals->present) ||
	    rpcrdma2_nla_put_uint(skb, RPCRDMA2_A_ROLE_TOTALS_CONNECTIONS_MADE, totals->made) ||
	    rpcrdma2_nla_put_uint(skb, RPCRDMA2_A_ROLE_TOTALS_CONNECTIONS_FAILED,
				  totals->failed) ||
	    rpcrdma2_nla_put_uint(skb, RPCRDMA2_A_ROLE_TOTALS_DIALECT_FALLBACKS,
				  totals->fallbacks) ||
	    put_traffic(skb, RPCRDMA2_A_ROLE_TOTALS_TRAFFIC, &totals->counts.traffic) ||
	    put_requester_totals(skb, &totals->counts.requester) ||
	    put_responder_totals(skb, &totals->counts.responder))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * rpcrdma2_fill_machine - add the totals that all network namespaces share
 * @skb: message to add to
 *
 * Context: Process context.
 * Return: 0 or -EMSGSIZE
 */
int rpcrdma2_fill_machine(struct sk_buff *skb)
{
	struct nlattr *nest = nla_nest_start(skb, RPCRDMA2_A_TOTALS_MACHINE);
	struct rpcrdma2_recv_budget_use receives;
	struct rpcrdma2_page_use pages;

	rpcrdma2_admission_use(&pages);
	rpcrdma2_recv_budget_use(&receives);
	if (!nest ||
	    rpcrdma2_nla_put_uint(skb, RPCRDMA2_A_MACHINE_READ_PAGES, pages.held) ||
	    rpcrdma2_nla_put_uint(skb, RPCRDMA2_A_MACHINE_READ_PAGES_MOST, pages.most) ||
	    rpcrdma2_nla_put_uint(skb, RPCRDMA2_A_MACHINE_READ_PAGES_LIMIT, pages.limit) ||
	    rpcrdma2_nla_put_uint(skb, RPCRDMA2_A_MACHINE_READ_PAGE_WAITS, pages.waits) ||
	    rpcrdma2_nla_put_uint(skb, RPCRDMA2_A_MACHINE_KEPT_PAGES, rpcrdma2_pages_kept()) ||
	    rpcrdma2_nla_put_uint(skb, RPCRDMA2_A_MACHINE_RECEIVE_MEMORY, receives.octets) ||
	    rpcrdma2_nla_put_uint(skb, RPCRDMA2_A_MACHINE_RECEIVE_MEMORY_LIMIT,
				  receives.limit) ||
	    rpcrdma2_nla_put_uint(skb, RPCRDMA2_A_MACHINE_RECEIVE_SHORTAGES,
				  receives.shortages) ||
	    rpcrdma2_nla_put_uint(skb, RPCRDMA2_A_MACHINE_CONNECTIONS_REFUSED,
				  rpcrdma2_svc_stats_nr_refused()))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}
