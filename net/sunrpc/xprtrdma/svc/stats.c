// SPDX-License-Identifier: GPL-2.0
/*
 * What this machine did as a server, over all its connections.
 *
 * Nothing is counted for it: each connection has its counters, which are added
 * to those of the ones before it when its memory goes. Who asks adds up what
 * is there. The numbers are those of the machine, whatever the network
 * namespace of a connection or of the reader.
 *
 * They are in debugfs, and some also where the kernel's own rpcrdma has them:
 * /proc/sys/sunrpc/svc_rdma/rdma_stat_*. There, whatever is written sets a
 * number back to 0. Five of its names count nothing: they read 0, there and here.
 */
#include <linux/debugfs.h>
#include <linux/slab.h>
#include <linux/sysctl.h>

#include "compat.h"
#include "svc.h"
#include "totals.h"

/**
 * struct totals - what was counted on some connections
 * @accepted: how many
 * @present: how many of them are not gone
 * @refused: requests for one more that were refused
 * @counts: what they did
 */
struct totals {
	u64			accepted;
	u64			present;
	u64			refused;
	struct rpcrdma2_totals	counts;
};

static DEFINE_SPINLOCK(totals_lock);	/* gone, living */
static struct totals gone;
static LIST_HEAD(living);

static void totals_add_conn(struct totals *sum,
			    const struct rpcrdma2_conn *conn)
{
	sum->accepted++;
	rpcrdma2_totals_add(&sum->counts, conn);
}

/**
 * rpcrdma2_svc_stats_add - a connection came in
 * @conn: which; with its responder role
 */
void rpcrdma2_svc_stats_add(struct rpcrdma2_conn *conn)
{
	spin_lock(&totals_lock);
	list_add(&conn->link, &living);
	spin_unlock(&totals_lock);
}

/**
 * rpcrdma2_svc_stats_gone - nobody refers to a connection any more
 * @conn: which; its roles are still there
 */
void rpcrdma2_svc_stats_gone(struct rpcrdma2_conn *conn)
{
	spin_lock(&totals_lock);
	list_del(&conn->link);
	totals_add_conn(&gone, conn);
	spin_unlock(&totals_lock);
}

/**
 * rpcrdma2_svc_stats_refused - a peer's request for a connection was refused
 */
void rpcrdma2_svc_stats_refused(void)
{
	spin_lock(&totals_lock);
	gone.refused++;
	spin_unlock(&totals_lock);
}

/**
 * rpcrdma2_svc_stats_nr_refused - how many requests for a connection were refused?
 *
 * Process context.
 *
 * Return: how many, since the module was loaded
 */
u64 rpcrdma2_svc_stats_nr_refused(void)
{
	u64 refused;

	spin_lock(&totals_lock);
	refused = gone.refused;
	spin_unlock(&totals_lock);
	return refused;
}

static void totals_add_up(struct totals *sum)
{
	const struct rpcrdma2_conn *conn;

	spin_lock(&totals_lock);
	*sum = gone;
	list_for_each_entry(conn, &living, link) {
		totals_add_conn(sum, conn);
		sum->present++;
	}
	spin_unlock(&totals_lock);
}

static int totals_show(struct seq_file *seq, void *unused)
{
	struct totals *sum;

	sum = kmalloc(sizeof(*sum), GFP_KERNEL);
	if (!sum)
		return -ENOMEM;
	totals_add_up(sum);
	rpcrdma2_show_count(seq, "connections", sum->present);
	rpcrdma2_show_count(seq, "connections_accepted", sum->accepted);
	rpcrdma2_show_count(seq, "connections_refused", sum->refused);
	rpcrdma2_show_conn_stats(seq, &sum->counts.conn);
	rpcrdma2_show_responder_stats(seq, &sum->counts.responder);
	rpcrdma2_show_admission(seq);
	rpcrdma2_show_pages(seq);
	rpcrdma2_show_stats(seq, &sum->counts.requester);
	kfree(sum);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(totals);

/**
 * struct counter - one of the totals, as a sysctl
 * @offset: of what it shows, in struct totals
 * @start: its value when it was last set back
 */
struct counter {
	size_t	offset;
	u64	start;
};

static struct counter stat_read = {
	.offset	= offsetof(struct totals, counts.responder.jobs.moved.reads),
};

static struct counter stat_write = {
	.offset	= offsetof(struct totals, counts.responder.jobs.moved.writes),
};

static struct counter stat_recv = {
	.offset	= offsetof(struct totals, counts.responder.calls.messages),
};

static struct counter stat_sq_starve = {
	.offset	= offsetof(struct totals, counts.conn.queue_waits),
};

static int totals_read_counter(const struct counter *counter, u64 *value)
{
	struct totals *sum;

	sum = kmalloc(sizeof(*sum), GFP_KERNEL);
	if (!sum)
		return -ENOMEM;
	totals_add_up(sum);
	*value = *(u64 *)((void *)sum + counter->offset);
	kfree(sum);
	return 0;
}

static int totals_do_counter(RPCRDMA2_CTL_TABLE *table, int write, void *buffer,
			     size_t *lenp, loff_t *ppos)
{
	struct counter *counter = table->data;
	struct ctl_table shown = { };
	unsigned long value;
	u64 now;
	int rc;

	rc = totals_read_counter(counter, &now);
	if (rc)
		return rc;
	if (write) {
		counter->start = now;
		return 0;
	}
	value = now - counter->start;
	shown.data = &value;
	shown.maxlen = sizeof(value);
	return proc_doulongvec_minmax(&shown, 0, buffer, lenp, ppos);
}

#define COUNTER(name)							\
	{								\
		.procname	= "rdma_" #name,			\
		.data		= &(name),				\
		.mode		= 0644,					\
		.proc_handler	= totals_do_counter,				\
	}

/* Only 0 may be written to it. */
static unsigned int none;

#define NO_COUNTER(name)						\
	{								\
		.procname	= "rdma_" #name,			\
		.data		= &none,				\
		.maxlen		= sizeof(none),				\
		.mode		= 0644,					\
		.proc_handler	= proc_douintvec_minmax,		\
		.extra1		= SYSCTL_ZERO,				\
		.extra2		= SYSCTL_ZERO,				\
	}

static struct ctl_table table[] = {
	COUNTER(stat_read),
	COUNTER(stat_write),
	COUNTER(stat_recv),
	COUNTER(stat_sq_starve),
	NO_COUNTER(stat_rq_starve),
	NO_COUNTER(stat_rq_poll),
	NO_COUNTER(stat_rq_prod),
	NO_COUNTER(stat_sq_poll),
	NO_COUNTER(stat_sq_prod),
	RPCRDMA2_CTL_TABLE_END
};

static struct ctl_table_header *header;

/**
 * rpcrdma2_svc_stats_init - show what the server does
 *
 * A server works as well without.
 */
void rpcrdma2_svc_stats_init(void)
{
	rpcrdma2_debugfs_add("server", &totals_fops);
	header = register_sysctl("sunrpc/svc_rdma", table);
}

/**
 * rpcrdma2_svc_stats_exit - undo rpcrdma2_svc_stats_init()
 *
 * The file in debugfs goes with all others.
 */
void rpcrdma2_svc_stats_exit(void)
{
	if (header)
		unregister_sysctl_table(header);
}
