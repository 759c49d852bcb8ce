// SPDX-License-Identifier: GPL-2.0
/*
 * Heartbeats: is the peer still there?
 *
 * A peer without power says nothing, nor does one behind a cut cable. An RPC's
 * timeout may be minutes, and sunrpc's look at idle clients takes a quarter of an hour.
 * So where nothing completed for a period, this end posts a WR whose completion says
 * that the peer's device is alive, and closes the connection if nothing completes in
 * the next one. The peer's software has no part in it: there is no Receive, no credit,
 * no message, and whether it speaks version 2, or serves at all, does not matter.
 *
 *	IB, RoCE	an RDMA Write of no octets, which completes when the peer's device
 *			has acknowledged it. It names no memory: IBTA has no handle
 *			checked where there is no data.
 *	iWARP		a Write completes when TCP has it, whether the peer is there or
 *			not. So it is an RDMA Read of no octets, which the peer's device
 *			answers; there has to be an SGE, and its key is not looked at
 *			either (MPA has one as the first message of some connections, see
 *			RFC 6581). A client asks to be allowed one Read at a time. If its
 *			server says none, it has no heartbeat.
 *
 * A peer that speaks and takes nothing, or one thing now and then, would keep what waits
 * for it for ever: its device says that it has no Receive (RNR NAK) as often as it is
 * asked. So where what was on the Send Queue is still not done after STALLED periods,
 * whatever else is, there is a heartbeat, too, and has as many to complete.
 *
 * The work runs once in a period while nothing else happens, and twice where the
 * connection is in use; it has nothing but counters to look at that are kept anyway.
 */
#include <linux/timer.h>

#include "conn.h"

#include <trace/events/rpcrdma2.h>

/* Periods */
#define STALLED	6

/**
 * rpcrdma2_heartbeat_reads - RDMA Reads that heartbeats take
 * @conn: a connection whose CM id is bound to a device
 *
 * Return: how many at a time
 */
u8 rpcrdma2_heartbeat_reads(const struct rpcrdma2_conn *conn)
{
	const struct rdma_cm_id *cm_id = conn->cm_id;

	return rdma_protocol_iwarp(cm_id->device, cm_id->port_num) ?
	       RPCRDMA2_HEARTBEATS : 0;
}

/*
 * CQ context, or the teardown. It has completed itself, but that the peer is there says
 * nothing about the period that begins.
 */
static void heartbeat_done(struct rpcrdma2_chain *chain, int status)
{
	struct rpcrdma2_heartbeat *beat =
		container_of(chain, struct rpcrdma2_heartbeat, chain);
	struct rpcrdma2_conn *conn =
		container_of(beat, struct rpcrdma2_conn, heartbeat);

	WRITE_ONCE(beat->heard, conn->stats.completions);
	/* From here on it may be posted again. */
	smp_store_release(&beat->out, false);
}

/**
 * rpcrdma2_heartbeat_init - make a connection's heartbeat
 * @conn: a connection whose PD is new
 */
void rpcrdma2_heartbeat_init(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_heartbeat *beat = &conn->heartbeat;
	struct ib_send_wr *wr = &beat->wr.wr;

	beat->since = jiffies;
	wr->opcode = IB_WR_RDMA_WRITE;
	rpcrdma2_chain_init(&beat->chain, 0, wr, wr, 1, heartbeat_done);
	beat->chain.prompt = true;
	if (!rpcrdma2_heartbeat_reads(conn))
		return;
	beat->sge.lkey = conn->pd->local_dma_lkey;
	wr->opcode = IB_WR_RDMA_READ;
	wr->sg_list = &beat->sge;
	wr->num_sge = 1;
	beat->chain.reads = true;
}

/**
 * rpcrdma2_heartbeat_possible - can a connection look for its peer?
 * @conn: a connection that is established
 *
 * Return: false if heartbeats are RDMA Reads, and the peer answers none
 */
bool rpcrdma2_heartbeat_possible(const struct rpcrdma2_conn *conn)
{
	return !conn->heartbeat.chain.reads || conn->max_reads_out;
}

/**
 * rpcrdma2_heartbeat_secs - how often does a connection look for its peer?
 * @conn: a connection that is established
 *
 * Return: seconds, or 0: never
 */
unsigned int rpcrdma2_heartbeat_secs(const struct rpcrdma2_conn *conn)
{
	if (!rpcrdma2_heartbeat_possible(conn))
		return 0;
	return READ_ONCE(conn->param.heartbeat);
}

/* If the Queue is full, it waits: a Queue that moves is a sign of life, too. */
static void heartbeat_send(struct rpcrdma2_conn *conn)
{
	conn->heartbeat.out = true;
	conn->stats.heartbeats++;
	trace_rpcrdma2_heartbeat(conn);
	rpcrdma2_chain_post(conn, &conn->heartbeat.chain);
}

/* Return: whether something has been on the Send Queue for long; once, and then anew */
static bool heartbeat_is_stalled(struct rpcrdma2_conn *conn, unsigned int secs)
{
	struct rpcrdma2_heartbeat *beat = &conn->heartbeat;
	bool done, stalled;
	u64 posted;

	spin_lock(&conn->lock);
	posted = conn->stats.work_requests;
	done = posted - conn->sq_used >= beat->due;
	spin_unlock(&conn->lock);
	stalled = !done &&
		  time_after(jiffies, beat->since + STALLED * secs * HZ);
	if (done || stalled) {
		beat->due = posted;
		beat->since = jiffies;
	}
	return stalled;
}

static void heartbeat_missed(struct rpcrdma2_conn *conn)
{
	conn->stats.heartbeats_missed++;
	trace_rpcrdma2_heartbeat_missed(conn);
	rpcrdma2_conn_close(conn, -ETIMEDOUT);
}

/**
 * rpcrdma2_heartbeat - it is time to look for the peer
 * @conn: a connection that is READY, or was
 *
 * The timer's; process context. The teardown waits for it before anything else, so
 * there is a QP.
 */
void rpcrdma2_heartbeat(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_heartbeat *beat = &conn->heartbeat;
	unsigned int secs = rpcrdma2_heartbeat_secs(conn);
	/* Before the counter, which its completion raises first. */
	bool out = smp_load_acquire(&beat->out);
	u64 heard = READ_ONCE(conn->stats.completions);
	bool stalled;

	if (!secs)
		return;
	stalled = heartbeat_is_stalled(conn, secs);
	if (heard != READ_ONCE(beat->heard) && !stalled) {
		WRITE_ONCE(beat->heard, heard);
		/* When was that? It may be a period ago. */
		if (!out)
			secs = max(secs / 2, 1U);
	} else if (!out) {
		heartbeat_send(conn);
	} else {
		heartbeat_missed(conn);
		return;
	}
	/* Whoever looks after many peers, or after little else, wakes once for all. */
	rpcrdma2_conn_set_timer(conn, round_jiffies_relative(secs * HZ));
}

/**
 * rpcrdma2_heartbeat_set - look for the peer more often, less often, or never
 * @conn: a connection that was ready; the caller is between enter and exit
 * @secs: seconds of silence until a heartbeat, or 0: never
 *
 * Process context. A heartbeat that is out has at least @secs from now on. If the timer is
 * running at this moment, it comes once more after the former time.
 */
void rpcrdma2_heartbeat_set(struct rpcrdma2_conn *conn, unsigned int secs)
{
	WRITE_ONCE(conn->param.heartbeat, secs);
	/* Until the dialect is decided, the timer limits something else. It goes on as this one. */
	if (secs && rpcrdma2_hs_decided(READ_ONCE(conn->handshake)))
		rpcrdma2_conn_set_timer(conn, round_jiffies_relative(secs * HZ));
}
