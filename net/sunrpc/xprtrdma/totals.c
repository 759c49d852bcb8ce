// SPDX-License-Identifier: GPL-2.0
/*
 * Totals of this machine as a server, over all network namespaces.
 *
 * Nothing is counted twice: each connection has its counters, and a reader adds them up. When
 * the memory of a connection goes, its counters are added to @gone.
 *
 * The totals are in debugfs. Some are also where the kernel's own rpcrdma has them:
 * /proc/sys/sunrpc/svc_rdma/rdma_stat_*. Any write sets a counter back to 0. Five of the names
 * count nothing: they read 0, and accept only a 0. Everything runs in process context.
 */
#include <linux/debugfs.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/sysctl.h>

#include "compat.h"
#include "totals.h"

/**
 * struct totals - sums over several connections
 * @accepted: number of connections
 * @present: number of these connections whose memory still exists
 * @refused: requests for a connection that were refused
 * @counts: sums of their counters
 */
struct totals {
	u64			accepted;
	u64			present;
	u64			refused;
	struct rpcrdma2_totals	counts;
};

static DEFINE_SPINLOCK(totals_lock);	/* gone, living */
static DEFINE_MUTEX(totals_reading);	/* one reader at a time */
static struct totals gone;
static LIST_HEAD(living);

static void totals_add_conn(struct totals *sum,
			    const struct rpcrdma2_conn *conn)
{
	sum->accepted++;
	rpcrdma2_totals_add(&sum->counts, conn);
}

/**
 * rpcrdma2_svc_stats_add - include a new connection in the totals
 * @conn: the connection, with its responder role
 *
 * Context: process, no locks held.
 */
void rpcrdma2_svc_stats_add(struct rpcrdma2_conn *conn)
{
	spin_lock(&totals_lock);
	list_add(&conn->link, &living);
	spin_unlock(&totals_lock);
}

/**
 * rpcrdma2_svc_stats_gone - keep the counters of a connection whose memory goes
 * @conn: the connection; nobody refers to it, and its roles still exist
 *
 * Context: process, no locks held.
 */
void rpcrdma2_svc_stats_gone(struct rpcrdma2_conn *conn)
{
	spin_lock(&totals_lock);
	list_del(&conn->link);
	totals_add_conn(&gone, conn);
	spin_unlock(&totals_lock);
}

/**
 * rpcrdma2_svc_stats_refused - count a request for a connection that is refused
 *
 * Context: process, no locks held.
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
 * Context: process, no locks held.
 *
 * Return: number of requests since the module was loaded
 */
u64 rpcrdma2_svc_stats_nr_refused(void)
{
	u64 refused;

	spin_lock(&totals_lock);
	refused = gone.refused;
	spin_unlock(&totals_lock);
	return refused;
}

/* A reader walks all jobs with preemption disabled. Others sleep meanwhile, and do not spin. */
static void totals_add_up(struct totals *sum)
{
	const struct rpcrdma2_conn *conn;

	mutex_lock(&totals_reading);
	spin_lock(&totals_lock);
	*sum = gone;
	list_for_each_entry(conn, &living, link) {
		totals_add_conn(sum, conn);
		sum->present++;
	}
	spin_unlock(&totals_lock);
	mutex_unlock(&totals_reading);
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
	rpcrdma2_show_traffic(seq, &sum->counts.traffic);
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
 * @offset: where it is in struct totals, octets
 * @start: value at the last write to the sysctl
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
	.offset	= offsetof(struct totals, counts.traffic.ep.queue_waits),
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

	/* The last read of a file finds its end. */
	if (!write && *ppos) {
		*lenp = 0;
		return 0;
	}
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

/* A name that counts nothing takes a 0, and no other value. */
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
 * rpcrdma2_svc_stats_init - make the files that show the totals
 *
 * Errors are ignored, because a server works without these files.
 *
 * Context: process, sleeps.
 */
void rpcrdma2_svc_stats_init(void)
{
	rpcrdma2_debugfs_add("server", &totals_fops);
	header = register_sysctl("sunrpc/svc_rdma", table);
}

/**
 * rpcrdma2_svc_stats_exit - remove the sysctls
 *
 * The file in debugfs is removed with all others.
 *
 * Context: process, sleeps.
 */
void rpcrdma2_svc_stats_exit(void)
{
	if (header)
		unregister_sysctl_table(header);
}
