// SPDX-License-Identifier: GPL-2.0
/*
 * Heartbeats: find out whether the peer is still there.
 *
 * A peer without power, or behind a cut cable, is just silent. RPC timeouts may take minutes,
 * and sunrpc closes idle clients after 6 to 12 minutes. So after a period without
 * completions, this end posts a WR that only a living device completes. If nothing completes
 * in the next period either, this end closes the connection.
 *
 * The peer's software has no part in it. A heartbeat needs no Receive, no credit and no
 * message, and it works with any version of the protocol.
 *
 * Runs in the connection's timer work: once a period on an idle connection, twice on a busy
 * one. It reads only counters that exist anyway. Completions come in CQ context.
 */
#include <linux/timer.h>

#include "conn.h"
#include "rdma/device.h"

#include <trace/events/rpcrdma2.h>

/* Periods after which unfinished work counts as stalled */
#define STALLED	6

static bool heartbeat_is_read(const struct rpcrdma2_conn *conn)
{
	const struct rdma_cm_id *cm_id = conn->ep.cm_id;

	return rdma_protocol_iwarp(cm_id->device, cm_id->port_num);
}

/**
 * rpcrdma2_heartbeat_reads - RDMA Reads that heartbeats need
 * @conn: a connection whose CM id is bound to a device
 *
 * Context: Any.
 * Return: how many at a time; 0 if heartbeats are not RDMA Reads, or if the device is siw
 */
u8 rpcrdma2_heartbeat_reads(const struct rpcrdma2_conn *conn)
{
	return heartbeat_is_read(conn) &&
	       rpcrdma2_device_answers_empty_reads(conn->ep.cm_id->device) ?
	       RPCRDMA2_HEARTBEATS : 0;
}

/*
 * Runs in CQ context, or in the teardown. The next period must not take the heartbeat's own
 * completion for traffic.
 */
static void heartbeat_done(struct rpcrdma2_chain *chain, int status)
{
	struct rpcrdma2_heartbeat *beat =
		container_of(chain, struct rpcrdma2_heartbeat, chain);
	struct rpcrdma2_conn *conn =
		container_of(beat, struct rpcrdma2_conn, heartbeat);

	WRITE_ONCE(beat->heard, conn->ep.stats.completions);
	/* Pairs with the acquire in rpcrdma2_heartbeat(), which may post the chain again. */
	smp_store_release(&beat->out, false);
}

/**
 * rpcrdma2_heartbeat_init - build a connection's heartbeat
 * @conn: a connection whose PD is new
 *
 * On InfiniBand and RoCE, the heartbeat is an RDMA Write of no octets. It completes when the
 * peer's device has acknowledged it. It names no memory: by the IBTA specification, a device does
 * not check the handle if there are no data.
 *
 * On iWARP, a Write completes when TCP has accepted it, whether or not the peer is there. So
 * the heartbeat is an RDMA Read of no octets, which the peer's device answers. The Read has
 * an SGE, whose key no device checks either. (RFC 6581 has such Reads as first messages of
 * some connections.) A connection over siw has no heartbeats: see
 * rpcrdma2_device_answers_empty_reads().
 *
 * Context: Process.
 */
void rpcrdma2_heartbeat_init(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_heartbeat *beat = &conn->heartbeat;
	struct ib_send_wr *wr = &beat->wr.wr;

	beat->since = jiffies;
	wr->opcode = IB_WR_RDMA_WRITE;
	rpcrdma2_chain_init(&beat->chain, 0, wr, wr, 1, heartbeat_done);
	beat->chain.prompt = true;
	if (!heartbeat_is_read(conn)) {
		beat->possible = true;
		return;
	}
	beat->possible = rpcrdma2_heartbeat_reads(conn);
	beat->sge.lkey = conn->ep.pd->local_dma_lkey;
	wr->opcode = IB_WR_RDMA_READ;
	wr->sg_list = &beat->sge;
	wr->num_sge = 1;
	beat->chain.reads = true;
}

/**
 * rpcrdma2_heartbeat_possible - can a connection have heartbeats?
 * @conn: an established connection
 *
 * Context: Any.
 * Return: false if heartbeats are RDMA Reads, and the peer allows or answers none
 */
bool rpcrdma2_heartbeat_possible(const struct rpcrdma2_conn *conn)
{
	const struct rpcrdma2_heartbeat *beat = &conn->heartbeat;

	return beat->possible && (!beat->chain.reads || conn->cm.max_reads_out);
}

/**
 * rpcrdma2_heartbeat_secs - the period of a connection's heartbeat
 * @conn: an established connection
 *
 * Context: Any.
 * Return: seconds; 0: the connection has no heartbeat
 */
unsigned int rpcrdma2_heartbeat_secs(const struct rpcrdma2_conn *conn)
{
	if (!rpcrdma2_heartbeat_possible(conn))
		return 0;
	return READ_ONCE(conn->param.heartbeat);
}

/* A heartbeat waits while the Queue is full: a Queue that moves is a sign of life, too. */
static void heartbeat_send(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_heartbeat *beat = &conn->heartbeat;

	/* heartbeat_is_stalled() must not count the time before. */
	spin_lock(&conn->ep.lock);
	beat->due = conn->ep.stats.work_requests;
	spin_unlock(&conn->ep.lock);
	beat->since = jiffies;
	beat->out = true;
	conn->stats.heartbeats++;
	trace_rpcrdma2_heartbeat(conn);
	rpcrdma2_chain_post(&conn->ep, &beat->chain);
}

/*
 * Has work been on the Send Queue for STALLED periods? A peer may send, but take nothing: its
 * device answers each attempt with an RNR NAK. So completions alone are not enough. The
 * heartbeat queues behind the stalled work, and has STALLED periods to complete, because
 * heartbeat_send() starts the periods anew.
 */
static bool heartbeat_is_stalled(struct rpcrdma2_conn *conn, unsigned int secs)
{
	struct rpcrdma2_heartbeat *beat = &conn->heartbeat;
	u64 posted;
	bool done;

	spin_lock(&conn->ep.lock);
	posted = conn->ep.stats.work_requests;
	done = posted - conn->ep.sq.used >= beat->due;
	spin_unlock(&conn->ep.lock);
	if (!done)
		return time_after(jiffies, beat->since + STALLED * secs * HZ);
	beat->due = posted;
	beat->since = jiffies;
	return false;
}

static void heartbeat_missed(struct rpcrdma2_conn *conn)
{
	conn->stats.heartbeats_missed++;
	trace_rpcrdma2_heartbeat_missed(conn);
	rpcrdma2_conn_close(conn, -ETIMEDOUT);
}

/**
 * rpcrdma2_heartbeat - look for the peer, as a period is over
 * @conn: a connection that is READY, or was
 *
 * The teardown waits for this before any other step, so the QP exists.
 *
 * Context: The timer's work. May post a heartbeat, or close the connection.
 */
void rpcrdma2_heartbeat(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_heartbeat *beat = &conn->heartbeat;
	unsigned int secs = rpcrdma2_heartbeat_secs(conn);
	/*
	 * Pairs with the release in heartbeat_done(): if the heartbeat is done, @heard counts
	 * its completion.
	 */
	bool out = smp_load_acquire(&beat->out);
	u64 heard = READ_ONCE(conn->ep.stats.completions);
	bool stalled;

	if (!secs)
		return;
	stalled = heartbeat_is_stalled(conn, secs);
	if (heard != READ_ONCE(beat->heard) && !stalled) {
		WRITE_ONCE(beat->heard, heard);
		/*
		 * The completion may be nearly a period old, so look again after half a
		 * period.
		 */
		if (!out)
			secs = max(secs / 2, 1U);
	} else if (!out) {
		heartbeat_send(conn);
	} else if (READ_ONCE(beat->out)) {
		/* It has not completed since the first look at @out, either. */
		heartbeat_missed(conn);
		return;
	}
	/* Rounded, so that the timers of many connections wake a CPU together. */
	rpcrdma2_conn_set_timer(conn, round_jiffies_relative(secs * HZ));
}

/**
 * rpcrdma2_heartbeat_set - change the period of a connection's heartbeat
 * @conn: a connection that was ready; the caller is between enter and exit
 * @secs: the new period, seconds; 0: no heartbeat
 *
 * A heartbeat that is out gets at least @secs from now on. If the timer's work runs at this
 * moment, its next run comes after the old period.
 *
 * Context: Process; does not sleep. Takes conn->ep.lock.
 */
void rpcrdma2_heartbeat_set(struct rpcrdma2_conn *conn, unsigned int secs)
{
	WRITE_ONCE(conn->param.heartbeat, secs);
	/*
	 * Before the dialect is decided, the timer limits the handshake. It becomes the
	 * heartbeat's afterwards.
	 */
	if (secs && rpcrdma2_hs_decided(READ_ONCE(conn->negotiation.state)))
		rpcrdma2_conn_set_timer(conn, round_jiffies_relative(secs * HZ));
}
