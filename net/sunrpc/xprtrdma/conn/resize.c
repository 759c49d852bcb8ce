// SPDX-License-Identifier: GPL-2.0
/*
 * Changes the size of Receive buffers on a live connection: xcharext, 3.1 and 4; on v2-09,
 * Documentation/protocol/property-change.rst.
 *
 * An end makes its Receives larger when it likes, and sends an UPDATE after the last one has
 * grown. It makes them smaller only when the peer asks, so it may send a wish to be asked.
 * From its REQUEST on, the peer sends no larger Calls. The end that is asked offers chunks
 * for larger Replies, and waits until no Call without them is out.
 *
 * Receives fill in posted order. So an end uses up old ones by empty REQUESTs, whose answers
 * take a Receive each. These messages take no credit. So an end sends at most an UPDATE and a
 * REQUEST, and then waits for the answer: neither end ever lacks a Receive.
 *
 * Receives grow for messages that larger ones would have held. They shrink when idle, or when
 * a server's memory is short. One work sends all messages; CQ context receives them.
 */
#include "conn.h"
#include "param.h"

#include <trace/events/rpcrdma2.h>

/* The XID of all changes: they belong to no RPC, and one REQUEST is out at a time. */
#define CHANGE_XID	2

/* Delay before the work looks again for memory, or for the last Call to be answered */
#define RETRY_DELAY	(HZ / 10)

/* Period of the checks whether grown Receives are idle, and whether memory is short */
#define LOOK_SECS	5

/* Grow when MISSED_ENOUGH of OBSERVED_SPAN messages used chunks that larger Receives avoid. */
#define MISSED_ENOUGH	32
#define OBSERVED_SPAN	1024

static bool resize_is_supported(const struct rpcrdma2_conn *conn)
{
	return conn->terms.have_props && conn->terms.peer.changes &&
	       READ_ONCE(conn->negotiation.state) == RPCRDMA2_HS_VERSION_2;
}

/* Queue the work unless it is queued already. */
static void resize_queue_work(struct rpcrdma2_conn *conn, unsigned long delay)
{
	rpcrdma2_conn_get(conn);
	if (!queue_delayed_work(rpcrdma2_wq, &conn->resizing.work, delay))
		rpcrdma2_conn_put(conn);
}

/* Start giving Receives another size. Each gets the size when it comes back: recv_resize(). */
static void resize_set_recv_size(struct rpcrdma2_conn *conn, u32 size)
{
	struct rpcrdma2_ep *ep = &conn->ep;
	struct rpcrdma2_recv *recv;

	lockdep_assert_held(&ep->lock);

	if (ep->recvs.size == size)
		return;
	trace_rpcrdma2_resize(conn, ep->recvs.size, size);
	WRITE_ONCE(ep->recvs.size, size);
	ep->recvs.odd = 0;
	list_for_each_entry(recv, &ep->recvs.all, all)
		ep->recvs.odd += recv->sge.length != size;
	conn->resizing.nudges = ep->recvs.nr;
}

static void resize_set_own_size(struct rpcrdma2_conn *conn, u32 size)
{
	lockdep_assert_held(&conn->ep.lock);

	conn->terms.own.rbsiz = size;
	conn->stats.resizes++;
	conn->peak_rbsiz = max(conn->peak_rbsiz, size);
	conn->need.used_at = jiffies;
}

/*
 * The size that an UPDATE may state. It is a lower one if no Call needs more (@quiet), a larger
 * one once all Receives have it, or else the present size.
 */
static u32 resize_size_to_tell(const struct rpcrdma2_conn *conn, u32 quiet)
{
	if (conn->resizing.lower_to && conn->resizing.lower_to == quiet)
		return quiet;
	if (conn->ep.recvs.size > conn->terms.own.rbsiz && !conn->ep.recvs.odd)
		return conn->ep.recvs.size;
	return conn->terms.own.rbsiz;
}

/* Is an UPDATE owed although the size will not change? */
static bool resize_owes_answer(const struct rpcrdma2_conn *conn)
{
	return conn->resizing.owed && !conn->resizing.lower_to &&
	       conn->ep.recvs.size <= conn->terms.own.rbsiz;
}

/*
 * Is a REQUEST due? An empty one counts: its answer uses up an old Receive, or shows that the
 * UPDATE has arrived.
 */
static bool resize_has_request(const struct rpcrdma2_conn *conn)
{
	return conn->resizing.has_told || conn->resizing.next_size ||
	       (conn->ep.recvs.odd && conn->resizing.nudges);
}

/*
 * Return: @lower_to if no Call is out that may need more; else 0. Calls that are sent from
 *	now on offer chunks for larger Replies.
 */
static u32 resize_quiet_size(struct rpcrdma2_conn *conn)
{
	u32 size = READ_ONCE(conn->resizing.lower_to);

	/* Without a grace period since then, a requester may not have seen the limit. */
	if (size != conn->resizing.waited_for)
		return 0;
	return size && conn->param.ops->is_quiet(conn) ? size : 0;
}

/* Return: the kind of message that is due; UNKNOWN for none */
static u32 resize_kind_due(const struct rpcrdma2_conn *conn, u32 quiet)
{
	const struct rpcrdma2_resizing *resizing = &conn->resizing;

	lockdep_assert_held(&conn->ep.lock);

	if (resizing->answering)
		return RPCRDMA2_DISPOSITION;
	if (rpcrdma2_ask_is_out(resizing->ask) || !resize_is_supported(conn))
		return RPCRDMA2_UNKNOWN;
	if (!resizing->has_told &&
	    (resize_size_to_tell(conn, quiet) != conn->terms.own.rbsiz ||
	     resizing->wish != conn->terms.own.wished_rbsiz ||
	     resize_owes_answer(conn)))
		return RPCRDMA2_UPDATE;
	return resize_has_request(conn) ? RPCRDMA2_REQUEST : RPCRDMA2_UNKNOWN;
}

static void resize_make_disposition(struct rpcrdma2_conn *conn,
				    struct rpcrdma2_header *hdr)
{
	struct rpcrdma2_resizing *resizing = &conn->resizing;

	resizing->answering = false;
	hdr->xid = resizing->answer.xid;
	hdr->credit = READ_ONCE(conn->ep.grant.now);
	hdr->response = true;
	hdr->change.done = resizing->answer.done;
	hdr->change.rejected = resizing->answer.rejected;
	hdr->change.pending = resizing->answer.pending;
}

static void resize_make_update(struct rpcrdma2_conn *conn, u32 quiet,
			       struct rpcrdma2_change *change)
{
	struct rpcrdma2_terms *terms = &conn->terms;
	struct rpcrdma2_resizing *resizing = &conn->resizing;
	u32 size = resize_size_to_tell(conn, quiet);

	resizing->has_told = true;
	if (size == terms->own.rbsiz && resizing->wish != terms->own.wished_rbsiz) {
		terms->own.wished_rbsiz = resizing->wish;
		change->which = RPCRDMA2_PROP_BIT(wished_rbsiz);
	} else {
		if (size != terms->own.rbsiz) {
			resize_set_own_size(conn, size);
			resize_set_recv_size(conn, size);
			resizing->lower_to = 0;
		}
		change->which = RPCRDMA2_PROP_BIT(rbsiz);
		change->settled = resizing->owed;
		resizing->owed = false;
	}
	change->props = terms->own;
}

/* Return: whether the event may happen now; if not, nothing changes */
static bool resize_step(struct rpcrdma2_resizing *resizing,
			enum rpcrdma2_ask_event event)
{
	int next = rpcrdma2_ask_next(resizing->ask, event);

	if (next >= 0)
		resizing->ask = next;
	return next >= 0;
}

/*
 * rpcrdma2_send_post_call() compares with @limit.call under the same lock. So a larger Call
 * was posted before this REQUEST, or is not posted.
 */
static void resize_make_request(struct rpcrdma2_conn *conn,
				struct rpcrdma2_change *change)
{
	struct rpcrdma2_resizing *resizing = &conn->resizing;

	lockdep_assert_held(&conn->ep.lock);

	resize_step(resizing, resizing->next_size ? RPCRDMA2_ASK_SEND_SIZE :
						    RPCRDMA2_ASK_SEND_EMPTY);
	if (resizing->next_size) {
		resizing->ask_size = resizing->next_size;
		WRITE_ONCE(conn->ep.limit.call,
			   min(conn->ep.limit.call, resizing->ask_size));
		change->props.rbsiz = resizing->ask_size;
		change->which = RPCRDMA2_PROP_BIT(rbsiz);
	} else if (!resizing->has_told) {
		resizing->nudges--;
	}
	resizing->has_told = false;
	resizing->next_size = 0;
}

static bool resize_is_due(struct rpcrdma2_conn *conn)
{
	u32 quiet = resize_quiet_size(conn), kind;

	spin_lock(&conn->ep.lock);
	kind = resize_kind_due(conn, quiet);
	spin_unlock(&conn->ep.lock);
	return kind != RPCRDMA2_UNKNOWN;
}

/* Return: false if no message is due any more */
static bool resize_next_message(struct rpcrdma2_conn *conn,
				struct rpcrdma2_header *hdr)
{
	u32 quiet = resize_quiet_size(conn);

	memset(hdr, 0, sizeof(*hdr));
	hdr->xid = CHANGE_XID;
	hdr->vers = conn->terms.dialect->version;
	hdr->credit = conn->ep.calls_out;
	spin_lock(&conn->ep.lock);
	hdr->kind = resize_kind_due(conn, quiet);
	switch (hdr->kind) {
	case RPCRDMA2_DISPOSITION:
		resize_make_disposition(conn, hdr);
		break;
	case RPCRDMA2_UPDATE:
		resize_make_update(conn, quiet, &hdr->change);
		break;
	case RPCRDMA2_REQUEST:
		resize_make_request(conn, &hdr->change);
		break;
	}
	spin_unlock(&conn->ep.lock);
	return hdr->kind != RPCRDMA2_UNKNOWN;
}

static int resize_send_message(struct rpcrdma2_conn *conn,
			       struct rpcrdma2_send *send,
			       const struct rpcrdma2_header *hdr)
{
	bool told = hdr->kind == RPCRDMA2_UPDATE;
	u32 which = hdr->change.which;
	int rc;

	trace_rpcrdma2_change_send(conn, hdr);
	rc = rpcrdma2_send_encode(send, hdr);
	if (!rc) {
		rpcrdma2_send_prepare(send);
		rc = rpcrdma2_send_post(send);
	}
	if (rc) {
		rpcrdma2_send_put(send);
		rpcrdma2_conn_close(conn, rc);
	} else if (told && which & RPCRDMA2_PROP_BIT(rbsiz)) {
		/*
		 * Only now may Calls rely on the size: the peer receives the UPDATE before
		 * them. A lower limit than this one needs a grace period of its own.
		 */
		conn->resizing.waited_for = 0;
		rpcrdma2_terms_set_recv_limit(conn);
	}
	return rc;
}

/* Send all messages that are due. Without a Send buffer, try again later. */
static void resize_send_due(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_send *send;
	struct rpcrdma2_header hdr;

	while (resize_is_due(conn)) {
		send = rpcrdma2_send_get(&conn->ep);
		if (!send) {
			resize_queue_work(conn, RETRY_DELAY);
			return;
		}
		if (!resize_next_message(conn, &hdr)) {
			rpcrdma2_send_put(send);
			return;
		}
		if (resize_send_message(conn, send, &hdr))
			return;
	}
}

static bool resize_has_grown(const struct rpcrdma2_conn *conn)
{
	return conn->rbsiz_max > conn->rbsiz_min &&
	       conn->terms.own.rbsiz > conn->rbsiz_min;
}

/* Has no message needed the larger Receives for a while? */
static bool resize_is_idle(struct rpcrdma2_conn *conn)
{
	u32 used = READ_ONCE(conn->need.used);

	lockdep_assert_held(&conn->ep.lock);

	if (used != conn->need.used_before) {
		conn->need.used_before = used;
		conn->need.used_at = jiffies;
	}
	return time_after_eq(jiffies, conn->need.used_at +
			     READ_ONCE(rpcrdma2_inline_idle) * HZ);
}

/* Wish for the minimum size if Receives are idle, or if a server exceeds its memory limit. */
static void resize_check_need(struct rpcrdma2_conn *conn)
{
	u32 least = conn->rbsiz_min;
	bool idle, over, is_new;

	spin_lock(&conn->ep.lock);
	idle = resize_has_grown(conn) && resize_is_idle(conn);
	over = resize_has_grown(conn) &&
	       !rpcrdma2_recv_budget_allows(&conn->ep, conn->ep.recvs.size);
	is_new = conn->resizing.wish != least;
	if (idle && is_new)
		trace_rpcrdma2_shrink_idle(conn, conn->terms.own.rbsiz, least);
	else if (over && is_new)
		trace_rpcrdma2_shrink_memory(conn, conn->terms.own.rbsiz, least);
	if (idle || over)
		conn->resizing.wish = least;
	spin_unlock(&conn->ep.lock);
}

/*
 * Does the UPDATE wait only for Replies to this end's Calls? If it also waits for a
 * DISPOSITION, the arrival of the DISPOSITION runs the work.
 */
static bool resize_waits_for_calls(struct rpcrdma2_conn *conn)
{
	bool waits;

	spin_lock(&conn->ep.lock);
	waits = conn->resizing.lower_to && resize_is_supported(conn) &&
		!rpcrdma2_ask_is_out(conn->resizing.ask);
	spin_unlock(&conn->ep.lock);
	return waits;
}

/* Return: jiffies until the work must look again; 0: it need not */
static unsigned long resize_delay(struct rpcrdma2_conn *conn)
{
	if (resize_waits_for_calls(conn))
		return RETRY_DELAY;
	if (!resize_has_grown(conn))
		return 0;
	return min_t(unsigned int, LOOK_SECS, READ_ONCE(rpcrdma2_inline_idle)) * HZ;
}

/**
 * rpcrdma2_resize_work - check the need for Receives, and send the messages that are due
 * @work: the connection's; its reference is dropped here
 *
 * Context: Workqueue rpcrdma2_wq; sleeps.
 */
void rpcrdma2_resize_work(struct work_struct *work)
{
	struct rpcrdma2_conn *conn = container_of(to_delayed_work(work),
						  struct rpcrdma2_conn,
						  resizing.work);
	u32 lower_to = READ_ONCE(conn->resizing.lower_to);
	unsigned long delay;

	/*
	 * resize_dispose() has lowered recv_limit. A requester may be about to use the old
	 * one:
	 *
	 *	requester			this end
	 *	credit_take()			lower recv_limit
	 *					synchronize_rcu()
	 *	marshal: read recv_limit	is_quiet(): read the credits
	 *
	 * The grace period is a full barrier on both CPUs. So either the requester sees the
	 * lower limit, or is_quiet() sees its Call.
	 */
	if (lower_to && lower_to != conn->resizing.waited_for)
		synchronize_rcu();
	conn->resizing.waited_for = lower_to;
	if (rpcrdma2_ep_enter(&conn->ep)) {
		resize_check_need(conn);
		resize_send_due(conn);
		delay = resize_delay(conn);
		if (delay)
			resize_queue_work(conn, delay);
		rpcrdma2_ep_exit(&conn->ep);
	}
	rpcrdma2_conn_put(conn);
}

/**
 * rpcrdma2_resize_soon - have rpcrdma2_resize_work() run now
 * @conn: the connection
 *
 * Context: Any in which the caller may take a reference.
 */
void rpcrdma2_resize_soon(struct rpcrdma2_conn *conn)
{
	rpcrdma2_conn_get(conn);
	if (mod_delayed_work(rpcrdma2_wq, &conn->resizing.work, 0))
		rpcrdma2_conn_put(conn);
}

/**
 * rpcrdma2_resize_recvs - change the size of this end's Receive buffers
 * @conn: the connection; the caller is between enter and exit
 * @size: the new size, octets: a multiple of 1024, from %RPCRDMA2_RBSIZ_DEFAULT to
 *	%RPCRDMA2_RBSIZ_MAX
 *
 * Receives grow one by one as they come back. They shrink only if the peer asks for it.
 *
 * Context: Process; does not sleep. Takes conn->ep.lock.
 * Return: 0; -EBUSY: the connection is not READY; -EOPNOTSUPP: the peer lacks the extension,
 *	or Receives are shared; -ENOMEM: the server's memory limit forbids it
 */
int rpcrdma2_resize_recvs(struct rpcrdma2_conn *conn, u32 size)
{
	int rc = 0;

	spin_lock(&conn->ep.lock);
	if (conn->state != RPCRDMA2_CONN_READY) {
		rc = -EBUSY;
	} else if (conn->ep.srq || !resize_is_supported(conn)) {
		rc = -EOPNOTSUPP;
	} else if (size > conn->terms.own.rbsiz &&
		   !rpcrdma2_recv_budget_allows(&conn->ep, size)) {
		rpcrdma2_recv_budget_note_shortage();
		rc = -ENOMEM;
	} else if (size >= conn->terms.own.rbsiz) {
		conn->resizing.wish = 0;
		conn->resizing.lower_to = 0;
		resize_set_recv_size(conn, size);
	} else {
		conn->resizing.wish = size;
	}
	spin_unlock(&conn->ep.lock);
	if (!rc)
		rpcrdma2_resize_soon(conn);
	return rc;
}

/* Forget the misses: they say nothing about Receives of another size. */
static void resize_reset_need(struct rpcrdma2_conn *conn, u32 size)
{
	conn->need.observed_size = size;
	conn->need.missed = 0;
	conn->need.missed_size = 0;
}

/**
 * rpcrdma2_resize_observe - grow Receives if messages would fit in larger ones
 * @recv: a received RPC message; its connection has a range of sizes
 *
 * Context: CQ.
 */
void rpcrdma2_resize_observe(const struct rpcrdma2_recv *recv)
{
	const struct rpcrdma2_chunk_lists *cl = &recv->hdr.chunks;
	struct rpcrdma2_conn *conn = rpcrdma2_recv_conn(recv);
	u32 has = READ_ONCE(conn->ep.recvs.size);
	u32 size = recv->offset + recv->len;

	if (!(++conn->need.observed % OBSERVED_SPAN) || has != conn->need.observed_size)
		resize_reset_need(conn, has);
	if (size > conn->rbsiz_min)
		WRITE_ONCE(conn->need.used, conn->need.used + 1);
	if (!cl->nsegs)
		return;
	size += recv->hdr.response ? rpcrdma2_write_octets(cl) :
				     rpcrdma2_read_octets(cl);
	if (size <= has || size > conn->rbsiz_max)
		return;
	WRITE_ONCE(conn->need.used, conn->need.used + 1);
	conn->need.missed_size = max(conn->need.missed_size, size);
	if (++conn->need.missed < MISSED_ENOUGH)
		return;
	size = min_t(u32, conn->rbsiz_max,
		     roundup_pow_of_two(conn->need.missed_size));
	trace_rpcrdma2_grow(conn, has, size);
	if (rpcrdma2_resize_recvs(conn, size))
		trace_rpcrdma2_grow_refused(conn, has, size);
	resize_reset_need(conn, has);
}

/* Decide on the peer's wanted BUFFER_SIZE. Return: the subset of @answer that gets its place */
static u32 *resize_dispose(struct rpcrdma2_conn *conn, u32 wanted,
			   struct rpcrdma2_answer *answer)
{
	struct rpcrdma2_terms *terms = &conn->terms;
	struct rpcrdma2_resizing *resizing = &conn->resizing;
	u32 least = conn->rbsiz_min;

	lockdep_assert_held(&conn->ep.lock);

	if (resizing->wish)
		least = min(least, resizing->wish);
	/* This REQUEST replaces one that is pending. */
	resizing->lower_to = 0;
	if (wanted > RPCRDMA2_RBSIZ_MAX || wanted < least ||
	    (wanted > terms->own.rbsiz &&
	     (wanted > conn->rbsiz_max ||
	      !rpcrdma2_recv_budget_allows(&conn->ep, wanted)))) {
		resizing->owed = false;
		return &answer->rejected;
	}
	resizing->wish = 0;
	if (wanted >= terms->own.rbsiz) {
		resize_set_recv_size(conn, wanted);
		resizing->owed = wanted > terms->own.rbsiz;
		return resizing->owed ? &answer->pending : &answer->done;
	}
	/* From now on, Calls offer chunks for Replies that would not fit. */
	WRITE_ONCE(terms->recv_limit, min(terms->recv_limit, wanted));
	resize_set_recv_size(conn, terms->own.rbsiz);
	resizing->lower_to = wanted;
	resizing->owed = true;
	return &answer->pending;
}

/* Return: false if the previous REQUEST is still unanswered */
static bool resize_take_request(struct rpcrdma2_conn *conn,
				const struct rpcrdma2_header *hdr)
{
	struct rpcrdma2_resizing *resizing = &conn->resizing;
	const struct rpcrdma2_prop_table *table = conn->terms.dialect->props;
	const struct rpcrdma2_change *wanted = &hdr->change;
	u32 all = wanted->count ? U32_MAX >> (32 - wanted->count) : 0;
	struct rpcrdma2_answer *answer = &resizing->answer;
	const struct rpcrdma2_prop *prop;
	unsigned int i;
	u32 places, size;
	bool ok;

	spin_lock(&conn->ep.lock);
	ok = !resizing->answering;
	if (ok) {
		memset(answer, 0, sizeof(*answer));
		answer->xid = hdr->xid;
		for (i = 0; i < table->nr; i++) {
			prop = &table->props[i];
			places = wanted->at[rpcrdma2_prop_index(prop)];
			size = rpcrdma2_prop_value(&wanted->props, prop);
			if (places && prop->on_change == RPCRDMA2_BUFFER_SIZE)
				*resize_dispose(conn, size, answer) = places;
		}
		answer->rejected |= all & ~(answer->done | answer->pending);
		resizing->answering = true;
	}
	spin_unlock(&conn->ep.lock);
	return ok;
}

/* Note the size of the peer's Receives. */
static void resize_set_peer_size(struct rpcrdma2_conn *conn, u32 size)
{
	struct rpcrdma2_ep *ep = &conn->ep;
	struct rpcrdma2_resizing *resizing = &conn->resizing;
	u32 limit = min(size, conn->param.sbsiz);

	lockdep_assert_held(&ep->lock);

	conn->terms.peer.rbsiz = size;
	WRITE_ONCE(ep->limit.reply, limit);
	WRITE_ONCE(ep->sends.size, max(limit, conn->rbsiz_min));
	if (rpcrdma2_ask_has_size(resizing->ask))
		limit = min(limit, resizing->ask_size);
	WRITE_ONCE(ep->limit.call, limit);
	/* A wish is for less than the present size: drop a wish that @size fulfils. */
	if (resizing->next_size >= size)
		resizing->next_size = 0;
}

/* A REQUEST of this end has one property or none, so the subsets have bit 0 or nothing. */
static enum rpcrdma2_ask_event resize_answer(const struct rpcrdma2_change *answer)
{
	if (answer->done)
		return RPCRDMA2_ASK_DONE;
	if (answer->rejected)
		return RPCRDMA2_ASK_REJECTED;
	return answer->pending ? RPCRDMA2_ASK_ACCEPTED : RPCRDMA2_ASK_ANSWERED;
}

static bool resize_take_disposition(struct rpcrdma2_conn *conn,
				    const struct rpcrdma2_header *hdr)
{
	struct rpcrdma2_resizing *resizing = &conn->resizing;
	const struct rpcrdma2_change *answer = &hdr->change;
	enum rpcrdma2_ask_event event = resize_answer(answer);
	bool ok;

	if (hdr->xid != CHANGE_XID ||
	    (answer->done | answer->rejected | answer->pending) > 1)
		return false;
	spin_lock(&conn->ep.lock);
	ok = resize_step(resizing, event);
	if (ok && event == RPCRDMA2_ASK_DONE)
		resize_set_peer_size(conn, resizing->ask_size);
	else if (ok && event == RPCRDMA2_ASK_REJECTED)
		resize_set_peer_size(conn, conn->terms.peer.rbsiz);
	spin_unlock(&conn->ep.lock);
	return ok;
}

static void resize_take_update(struct rpcrdma2_conn *conn,
			       const struct rpcrdma2_change *update)
{
	const struct rpcrdma2_prop_table *table = conn->terms.dialect->props;
	const struct rpcrdma2_prop *prop;
	unsigned int i;
	u32 value;

	spin_lock(&conn->ep.lock);
	for (i = 0; i < table->nr; i++) {
		prop = &table->props[i];
		if (!(update->which & BIT(rpcrdma2_prop_index(prop))))
			continue;
		value = rpcrdma2_prop_value(&update->props, prop);
		switch (prop->on_change) {
		case RPCRDMA2_BUFFER_SIZE:
			if (update->settled)
				resize_step(&conn->resizing, RPCRDMA2_ASK_SETTLED);
			resize_set_peer_size(conn, value);
			break;
		case RPCRDMA2_WISH:
			conn->terms.peer.wished_rbsiz = value;
			conn->resizing.next_size =
				value < conn->terms.peer.rbsiz ? value : 0;
			break;
		case RPCRDMA2_FIXED:
			break;
		}
	}
	spin_unlock(&conn->ep.lock);
}

/**
 * rpcrdma2_resize_receive - handle a REQUEST, a DISPOSITION or an UPDATE
 * @recv: the message
 *
 * A message that breaks the protocol closes the connection.
 *
 * Context: CQ. Takes conn->ep.lock.
 * Return: true: @recv has been given back; false: the peer lacks the extension, and @recv is
 *	still the caller's
 */
bool rpcrdma2_resize_receive(struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_conn *conn = rpcrdma2_recv_conn(recv);
	bool answer = recv->hdr.kind == RPCRDMA2_DISPOSITION;
	bool ok = !recv->invalidated && recv->hdr.response == answer;

	if (!resize_is_supported(conn))
		return false;
	trace_rpcrdma2_change_recv(conn, &recv->hdr);
	switch (ok ? recv->hdr.kind : RPCRDMA2_UNKNOWN) {
	case RPCRDMA2_REQUEST:
		ok = resize_take_request(conn, &recv->hdr);
		/* One REQUEST may be out, so it counts like a message that used a credit. */
		rpcrdma2_conn_paid(conn);
		break;
	case RPCRDMA2_DISPOSITION:
		ok = resize_take_disposition(conn, &recv->hdr);
		rpcrdma2_conn_paid(conn);
		break;
	case RPCRDMA2_UPDATE:
		resize_take_update(conn, &recv->hdr.change);
		break;
	}
	if (!ok)
		rpcrdma2_conn_close(conn, -EPROTO);
	rpcrdma2_recv_put(recv);
	if (ok)
		rpcrdma2_resize_soon(conn);
	return true;
}

/**
 * rpcrdma2_resize_refused - is an RDMA2_ERROR the answer to this end's REQUEST?
 * @conn: the connection
 * @hdr: header of the RDMA2_ERROR
 *
 * If it is, the peer lacks the extension: this end sends no REQUEST or UPDATE again.
 *
 * Context: CQ. Takes conn->ep.lock.
 * Return: whether it is
 */
bool rpcrdma2_resize_refused(struct rpcrdma2_conn *conn,
			     const struct rpcrdma2_header *hdr)
{
	struct rpcrdma2_resizing *resizing = &conn->resizing;
	bool ours;

	spin_lock(&conn->ep.lock);
	ours = hdr->xid == CHANGE_XID && resize_step(resizing, RPCRDMA2_ASK_REFUSED);
	if (ours) {
		conn->terms.peer.changes = false;
		resizing->lower_to = 0;
		resize_set_peer_size(conn, conn->terms.peer.rbsiz);
	}
	spin_unlock(&conn->ep.lock);
	if (ours)
		rpcrdma2_terms_set_recv_limit(conn);
	return ours;
}
