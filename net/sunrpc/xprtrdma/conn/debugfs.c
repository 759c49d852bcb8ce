// SPDX-License-Identifier: GPL-2.0
/*
 * A connection's files in debugfs. /sys/kernel/debug/rpcrdma2/<number> shows the connection.
 * A write to control/<number> in that directory changes it. debugfs has no network namespaces,
 * so the files of all namespaces are there.
 *
 * Kernel lockdown lets debugfs open only files whose mode has no bit beyond 0444. So the file
 * that shows has that mode, and writes go to another file.
 *
 * The files exist from READY until after CLOSED. Their own workqueue makes and removes them,
 * so nothing else waits for readers. A reader may wait for memory, which may depend on this
 * connection. Each queued work has a reference to the connection, and uses nothing of the
 * layers above. A reader enters the connection, so nothing that it shows disappears
 * meanwhile. A connection works without its files if debugfs refuses them.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>

#include "conn.h"

static struct workqueue_struct *files_wq;
static struct dentry *directory;
static struct dentry *control;

static const char * const state_names[] = {
	[RPCRDMA2_CONN_NEW]		= "NEW",
	[RPCRDMA2_CONN_RESOLVING]	= "RESOLVING",
	[RPCRDMA2_CONN_ROUTING]		= "ROUTING",
	[RPCRDMA2_CONN_CONNECTING]	= "CONNECTING",
	[RPCRDMA2_CONN_ACCEPTING]	= "ACCEPTING",
	[RPCRDMA2_CONN_NEGOTIATING]	= "NEGOTIATING",
	[RPCRDMA2_CONN_READY]		= "READY",
	[RPCRDMA2_CONN_CLOSING]		= "CLOSING",
	[RPCRDMA2_CONN_CLOSED]		= "CLOSED",
};

static void dbgfs_show_ends(struct seq_file *seq,
			    const struct rpcrdma2_conn *conn)
{
	const struct rpcrdma2_ep *ep = &conn->ep;
	const struct rdma_addr *addr = &ep->cm_id->route.addr;

	rpcrdma2_show(seq, "connection", "%u", ep->id);
	rpcrdma2_show(seq, "role", "%s", ep->active ? "client" : "server");
	rpcrdma2_show(seq, "state", "%s", state_names[READ_ONCE(conn->state)]);
	rpcrdma2_show(seq, "ready_seconds", "%lu",
		      (jiffies - conn->ready_at) / HZ);
	rpcrdma2_show(seq, "device", "%s", ep->pd->device->name);
	rpcrdma2_show(seq, "port", "%u", ep->cm_id->port_num);
	rpcrdma2_show(seq, "local_address", "%pISpc", &addr->src_addr);
	rpcrdma2_show(seq, "peer_address", "%pISpc", &addr->dst_addr);
	rpcrdma2_show(seq, "version", "%u", conn->terms.dialect->version);
	rpcrdma2_show(seq, "dialect", "%s", conn->terms.dialect->name);
}

static void dbgfs_show_props(struct seq_file *seq,
			     const struct rpcrdma2_conn *conn,
			     const char *whose,
			     const struct rpcrdma2_props *values)
{
	const struct rpcrdma2_prop_table *table = conn->terms.dialect->props;
	char name[32], value[16] = "-";
	unsigned int i;

	for (i = 0; table && i < table->nr; i++) {
		if (values)
			rpcrdma2_print_prop(&table->props[i], values, value,
					    sizeof(value));
		snprintf(name, sizeof(name), "%s_%s", whose, table->props[i].name);
		rpcrdma2_show(seq, name, "%s", value);
	}
}

/* Values that the peer did not send are shown as "-". */
static void dbgfs_show_private_data(struct seq_file *seq,
				    const struct rpcrdma2_conn *conn)
{
	const struct rpcrdma2_private_data *pd = &conn->terms.peer_private;

	if (conn->terms.have_private) {
		rpcrdma2_show(seq, "private_send_size", "%u", pd->send_size);
		rpcrdma2_show(seq, "private_receive_size", "%u",
			      pd->recv_size);
		rpcrdma2_show(seq, "private_remote_inv", "%u", pd->remote_inv);
	} else {
		rpcrdma2_show(seq, "private_send_size", "-");
		rpcrdma2_show(seq, "private_receive_size", "-");
		rpcrdma2_show(seq, "private_remote_inv", "-");
	}
}

static void dbgfs_show_terms(struct seq_file *seq,
			     const struct rpcrdma2_conn *conn)
{
	const struct rpcrdma2_ep *ep = &conn->ep;
	const struct rpcrdma2_terms *terms = &conn->terms;

	dbgfs_show_props(seq, conn, "offered", &terms->own);
	rpcrdma2_show(seq, "offered_credits", "%u",
		      ep->active ? ep->calls_out : ep->grant.now);
	dbgfs_show_props(seq, conn, "received",
			 terms->have_props ? &terms->peer : NULL);
	if (terms->have_props)
		rpcrdma2_show(seq, "received_credits", "%u",
			      terms->peer_credits);
	else
		rpcrdma2_show(seq, "received_credits", "-");
	dbgfs_show_private_data(seq, conn);
	rpcrdma2_show(seq, "inline_send", "%u", READ_ONCE(ep->limit.call));
	rpcrdma2_show(seq, "inline_receive", "%u", READ_ONCE(terms->recv_limit));
	rpcrdma2_show(seq, "remote_invalidation", "%u", terms->remote_inv);
	rpcrdma2_show(seq, "heartbeat", "%u", rpcrdma2_heartbeat_secs(conn));
}

static void dbgfs_show_queues(struct seq_file *seq,
			      const struct rpcrdma2_conn *conn)
{
	const struct rpcrdma2_ep *ep = &conn->ep;

	rpcrdma2_show(seq, "send_queue_depth", "%u", ep->sq_depth);
	rpcrdma2_show(seq, "send_queue_used", "%u", READ_ONCE(ep->sq.used));
	rpcrdma2_show(seq, "receive_queue_shared", "%u", !!ep->srq);
	rpcrdma2_show(seq, "receive_queue_depth", "%u",
		      ep->srq ? ep->srq->depth : ep->recvs.depth);
	rpcrdma2_show(seq, "receive_buffers", "%u",
		      ep->srq ? ep->share.backed + ep->share.backed_replies :
				ep->recvs.nr);
	rpcrdma2_show(seq, "receive_buffer_size", "%u",
		      READ_ONCE(ep->recvs.size));
	rpcrdma2_show(seq, "odd_receive_buffers", "%u",
		      READ_ONCE(ep->recvs.odd));
	rpcrdma2_show(seq, "peak_rbsiz", "%u", READ_ONCE(conn->peak_rbsiz));
	rpcrdma2_show(seq, "completion_queue_depth", "%d", ep->cq->cqe);
	rpcrdma2_show(seq, "completion_vector", "%u", ep->cq->comp_vector);
	rpcrdma2_show(seq, "send_buffers", "%u", READ_ONCE(ep->sends.nr));
	rpcrdma2_show(seq, "registration_pages", "%u", ep->max_pages);
}

static int dbgfs_conn_show(struct seq_file *seq, void *unused)
{
	struct rpcrdma2_conn *conn = seq->private;
	struct rpcrdma2_traffic traffic = { };

	if (!rpcrdma2_ep_enter(&conn->ep))
		return -ENODEV;
	rpcrdma2_traffic_add(&traffic, conn);
	dbgfs_show_ends(seq, conn);
	dbgfs_show_terms(seq, conn);
	dbgfs_show_queues(seq, conn);
	rpcrdma2_show_traffic(seq, &traffic);
	conn->param.ops->show(conn, seq);
	rpcrdma2_ep_exit(&conn->ep);
	return 0;
}

DEFINE_SHOW_ATTRIBUTE(dbgfs_conn);

/* "rbsiz OCTETS" changes the size of this end's Receive buffers. */
static ssize_t dbgfs_control_write(struct file *file, const char __user *text,
				   size_t count, loff_t *pos)
{
	struct rpcrdma2_conn *conn = file_inode(file)->i_private;
	char line[32] = "";
	u32 size;
	int rc;

	if (count >= sizeof(line) || copy_from_user(line, text, count))
		return -EINVAL;
	if (sscanf(line, "rbsiz %u", &size) != 1 || size % 1024 ||
	    size < RPCRDMA2_RBSIZ_DEFAULT || size > RPCRDMA2_RBSIZ_MAX) {
		pr_err("connection %u: refused: \"rbsiz N\" is allowed, N a multiple of 1024 from %u to %u\n",
		       conn->ep.id, RPCRDMA2_RBSIZ_DEFAULT, RPCRDMA2_RBSIZ_MAX);
		return -EINVAL;
	}
	if (!rpcrdma2_ep_enter(&conn->ep))
		return -ENODEV;
	rc = rpcrdma2_resize_recvs(conn, size);
	rpcrdma2_ep_exit(&conn->ep);
	return rc ?: count;
}

static const struct file_operations control_fops = {
	.owner		= THIS_MODULE,
	.open		= simple_open,
	.write		= dbgfs_control_write,
};

/* The work has a reference. It never runs twice at a time, and only it uses the dentries. */
static void dbgfs_update_file(struct work_struct *work)
{
	struct rpcrdma2_conn *conn = container_of(work, struct rpcrdma2_conn,
						  files.work);
	enum rpcrdma2_conn_state state = READ_ONCE(conn->state);
	char name[16];

	if (state < RPCRDMA2_CONN_CLOSING) {
		snprintf(name, sizeof(name), "%u", conn->ep.id);
		conn->files.state = debugfs_create_file(name, 0444, directory, conn,
							&dbgfs_conn_fops);
		conn->files.control = debugfs_create_file(name, 0200, control, conn,
							  &control_fops);
	} else if (state == RPCRDMA2_CONN_CLOSED) {
		debugfs_remove(conn->files.control);
		debugfs_remove(conn->files.state);
		conn->files.control = NULL;
		conn->files.state = NULL;
	}
	rpcrdma2_conn_put(conn);
}

static void dbgfs_queue_update(struct rpcrdma2_conn *conn)
{
	rpcrdma2_conn_get(conn);
	if (!queue_work(files_wq, &conn->files.work))
		rpcrdma2_conn_put(conn);
}

/**
 * rpcrdma2_debugfs_init - set up the work that makes a connection's files
 * @conn: the connection, just allocated
 *
 * Context: Any.
 */
void rpcrdma2_debugfs_init(struct rpcrdma2_conn *conn)
{
	INIT_WORK(&conn->files.work, dbgfs_update_file);
}

/**
 * rpcrdma2_debugfs_ready - have a connection's files made
 * @conn: the connection, READY
 *
 * The files appear later.
 *
 * Context: Any.
 */
void rpcrdma2_debugfs_ready(struct rpcrdma2_conn *conn)
{
	dbgfs_queue_update(conn);
}

/**
 * rpcrdma2_debugfs_remove - have a connection's files removed
 * @conn: the connection, CLOSED
 *
 * The files disappear later.
 *
 * Context: Any; the caller has a reference.
 */
void rpcrdma2_debugfs_remove(struct rpcrdma2_conn *conn)
{
	if (conn->was_ready)
		dbgfs_queue_update(conn);
}

/**
 * rpcrdma2_debugfs_add - make a file that belongs to no connection
 * @name: its name
 * @fops: operations that show it
 *
 * The file exists until the module is removed.
 *
 * Context: Process; sleeps.
 */
void rpcrdma2_debugfs_add(const char *name, const struct file_operations *fops)
{
	debugfs_create_file(name, 0444, directory, NULL, fops);
}

/**
 * rpcrdma2_debugfs_add_u32 - make a file that shows and changes a number
 * @name: its name
 * @value: the number
 *
 * The file exists until the module is removed. Under kernel lockdown, debugfs does not open
 * it.
 *
 * Context: Process; sleeps.
 */
void rpcrdma2_debugfs_add_u32(const char *name, u32 *value)
{
	debugfs_create_u32(name, 0600, directory, value);
}

static int dbgfs_receives_show(struct seq_file *seq, void *unused)
{
	struct rpcrdma2_recv_budget_use use;

	rpcrdma2_recv_budget_use(&use);
	rpcrdma2_show_count(seq, "memory_limit", use.limit);
	rpcrdma2_show_count(seq, "memory", use.octets);
	rpcrdma2_show_count(seq, "shortages", use.shortages);
	rpcrdma2_srq_show(seq);
	return 0;
}

DEFINE_SHOW_ATTRIBUTE(dbgfs_receives);

/**
 * rpcrdma2_debugfs_setup - module initialisation
 *
 * Context: Process; sleeps.
 * Return: 0 or -ENOMEM
 */
int rpcrdma2_debugfs_setup(void)
{
	files_wq = alloc_workqueue("rpcrdma2_files", WQ_UNBOUND, 0);
	if (!files_wq)
		return -ENOMEM;
	directory = debugfs_create_dir("rpcrdma2", NULL);
	control = debugfs_create_dir("control", directory);
	rpcrdma2_debugfs_add("receives", &dbgfs_receives_fops);
	return 0;
}

/**
 * rpcrdma2_debugfs_cleanup - module removal
 *
 * All teardowns have ended. Waits for readers.
 *
 * Context: Process; sleeps.
 */
void rpcrdma2_debugfs_cleanup(void)
{
	destroy_workqueue(files_wq);
	debugfs_remove(directory);
}
