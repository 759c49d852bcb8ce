// SPDX-License-Identifier: GPL-2.0
/*
 * Receive buffers follow need: which size they are to have; how they get it, change.c has.
 *
 * They grow when messages came that would have fit in larger ones, and shrink when none
 * did for a while, or when a server's memory for Receives is used up.
 */
#include "conn.h"
#include "module.h"

#include <trace/events/rpcrdma2.h>

/* So often Receives that have grown are looked at: are they idle, is memory short? */
#define LOOK_SECS	5

/* So many of so many messages travelled by chunks, and would have fit a larger one. */
#define MISSED_ENOUGH	32
#define OBSERVED_SPAN	1024

static bool resize_has_grown(const struct rpcrdma2_conn *conn)
{
	return conn->param.rbsiz_max > conn->param.rbsiz_min &&
	       conn->own.rbsiz > conn->param.rbsiz_min;
}

/* Has nothing large come for a while? */
static bool resize_is_idle(struct rpcrdma2_conn *conn)
{
	u32 used = READ_ONCE(conn->need.used);

	lockdep_assert_held(&conn->lock);

	if (used != conn->need.used_before) {
		conn->need.used_before = used;
		conn->need.used_at = jiffies;
	}
	return time_after_eq(jiffies, conn->need.used_at +
			     READ_ONCE(rpcrdma2_inline_idle) * HZ);
}

/**
 * rpcrdma2_need_look - have the peer ask for less, if that would do, or has to
 * @conn: the connection; the caller is between enter and exit
 *
 * Process context; rpcrdma2_change_work() goes on with it.
 */
void rpcrdma2_need_look(struct rpcrdma2_conn *conn)
{
	u32 least = conn->param.rbsiz_min;
	bool idle, over, is_new;

	spin_lock(&conn->lock);
	idle = resize_has_grown(conn) && resize_is_idle(conn);
	over = resize_has_grown(conn) &&
	       !rpcrdma2_recv_memory_allows(conn, conn->recv_size);
	is_new = conn->resizing.wish != least;
	if (idle && is_new)
		trace_rpcrdma2_shrink_idle(conn, conn->own.rbsiz, least);
	else if (over && is_new)
		trace_rpcrdma2_shrink_memory(conn, conn->own.rbsiz, least);
	if (idle || over)
		conn->resizing.wish = least;
	spin_unlock(&conn->lock);
}

/**
 * rpcrdma2_need_delay - when is a connection to be looked at again?
 * @conn: which
 *
 * Return: in jiffies from now; 0: not before it grows
 */
unsigned long rpcrdma2_need_delay(const struct rpcrdma2_conn *conn)
{
	if (!resize_has_grown(conn))
		return 0;
	return min_t(unsigned int, LOOK_SECS, READ_ONCE(rpcrdma2_inline_idle)) * HZ;
}

/* What was too large for Receives of one size says nothing of those of another. */
static void resize_reset_need(struct rpcrdma2_conn *conn, u32 size)
{
	conn->need.observed_size = size;
	conn->need.missed = 0;
	conn->need.missed_size = 0;
}

/**
 * rpcrdma2_need_observe - would a message have fit in a larger Receive buffer?
 * @recv: the message, of a connection whose sizes follow need
 *
 * CQ context.
 */
void rpcrdma2_need_observe(const struct rpcrdma2_recv *recv)
{
	const struct rpcrdma2_chunk_lists *cl = &recv->hdr.chunks;
	struct rpcrdma2_conn *conn = recv->conn;
	u32 has = READ_ONCE(conn->recv_size);
	u32 size = recv->offset + recv->len;

	if (!(++conn->need.observed % OBSERVED_SPAN) || has != conn->need.observed_size)
		resize_reset_need(conn, has);
	if (size > conn->param.rbsiz_min)
		WRITE_ONCE(conn->need.used, conn->need.used + 1);
	if (!cl->nsegs)
		return;
	size += recv->hdr.response ? rpcrdma2_write_octets(cl) :
				     rpcrdma2_read_octets(cl);
	if (size <= has || size > conn->param.rbsiz_max)
		return;
	WRITE_ONCE(conn->need.used, conn->need.used + 1);
	conn->need.missed_size = max(conn->need.missed_size, size);
	if (++conn->need.missed < MISSED_ENOUGH)
		return;
	size = min_t(u32, conn->param.rbsiz_max,
		     roundup_pow_of_two(conn->need.missed_size));
	trace_rpcrdma2_grow(conn, has, size);
	if (rpcrdma2_conn_resize(conn, size))
		trace_rpcrdma2_grow_refused(conn, has, size);
	resize_reset_need(conn, has);
}
