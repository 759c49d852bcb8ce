// SPDX-License-Identifier: GPL-2.0
/*
 * Counts the work requests and completions of an RDMA device, for all of its users. The
 * module puts itself between the users and the device's driver.
 *
 *	insmod rpcrdma2_verbs_count.ko device=r0
 *	cat /sys/kernel/debug/rpcrdma2_verbs_count
 *
 * For tests only: neither the driver nor the core knows about this module. The counting
 * verbs run in any context.
 */
#include <linux/atomic.h>
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <rdma/ib_verbs.h>

static char *device = "r0";
module_param(device, charp, 0444);
MODULE_PARM_DESC(device, "the device's name");

enum verbs_event {
	VERBS_SENDS,		/* Sends, with or without invalidation */
	VERBS_WRITES,		/* RDMA Writes */
	VERBS_READS,		/* RDMA Reads */
	VERBS_REGISTRATIONS,
	VERBS_INVALIDATIONS,	/* local invalidations */
	VERBS_RECEIVES,
	VERBS_POSTS,		/* chains on Send Queues */
	VERBS_RECEIVE_POSTS,	/* chains on Receive Queues */
	VERBS_COMPLETIONS,
	VERBS_INTERRUPTS,	/* times that a CQ was armed */
	VERBS_NR,
};

static const char * const verbs_names[VERBS_NR] = {
	[VERBS_SENDS]		= "sends",
	[VERBS_WRITES]		= "writes",
	[VERBS_READS]		= "reads",
	[VERBS_REGISTRATIONS]	= "registrations",
	[VERBS_INVALIDATIONS]	= "invalidations",
	[VERBS_RECEIVES]	= "receives",
	[VERBS_POSTS]		= "posts",
	[VERBS_RECEIVE_POSTS]	= "receive_posts",
	[VERBS_COMPLETIONS]	= "completions",
	[VERBS_INTERRUPTS]	= "interrupts",
};

static atomic_long_t verbs_counts[VERBS_NR];
static struct ib_device *verbs_device;
static struct dentry *verbs_file;

/* The driver's own verbs */
static struct {
	int (*post_send)(struct ib_qp *qp, const struct ib_send_wr *wr,
			 const struct ib_send_wr **bad_wr);
	int (*post_recv)(struct ib_qp *qp, const struct ib_recv_wr *wr,
			 const struct ib_recv_wr **bad_wr);
	int (*poll_cq)(struct ib_cq *cq, int nr, struct ib_wc *wc);
	int (*req_notify_cq)(struct ib_cq *cq, enum ib_cq_notify_flags flags);
} verbs_ops;

static void verbs_count(enum verbs_event event, long nr)
{
	atomic_long_add(nr, &verbs_counts[event]);
}

static void verbs_count_opcode(enum ib_wr_opcode opcode)
{
	switch (opcode) {
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_IMM:
	case IB_WR_SEND_WITH_INV:
		return verbs_count(VERBS_SENDS, 1);
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return verbs_count(VERBS_WRITES, 1);
	case IB_WR_RDMA_READ:
	case IB_WR_RDMA_READ_WITH_INV:
		return verbs_count(VERBS_READS, 1);
	case IB_WR_REG_MR:
		return verbs_count(VERBS_REGISTRATIONS, 1);
	case IB_WR_LOCAL_INV:
		return verbs_count(VERBS_INVALIDATIONS, 1);
	default:
		return;
	}
}

static int verbs_post_send(struct ib_qp *qp, const struct ib_send_wr *wr,
			   const struct ib_send_wr **bad_wr)
{
	const struct ib_send_wr *w;

	verbs_count(VERBS_POSTS, 1);
	for (w = wr; w; w = w->next)
		verbs_count_opcode(w->opcode);
	return verbs_ops.post_send(qp, wr, bad_wr);
}

static int verbs_post_recv(struct ib_qp *qp, const struct ib_recv_wr *wr,
			   const struct ib_recv_wr **bad_wr)
{
	const struct ib_recv_wr *w;

	verbs_count(VERBS_RECEIVE_POSTS, 1);
	for (w = wr; w; w = w->next)
		verbs_count(VERBS_RECEIVES, 1);
	return verbs_ops.post_recv(qp, wr, bad_wr);
}

static int verbs_poll_cq(struct ib_cq *cq, int nr, struct ib_wc *wc)
{
	int ret = verbs_ops.poll_cq(cq, nr, wc);

	if (ret > 0)
		verbs_count(VERBS_COMPLETIONS, ret);
	return ret;
}

static int verbs_req_notify_cq(struct ib_cq *cq, enum ib_cq_notify_flags flags)
{
	verbs_count(VERBS_INTERRUPTS, 1);
	return verbs_ops.req_notify_cq(cq, flags);
}

static int verbs_show(struct seq_file *m, void *unused)
{
	int i;

	for (i = 0; i < VERBS_NR; i++)
		seq_printf(m, "%s=%ld%c", verbs_names[i],
			   atomic_long_read(&verbs_counts[i]),
			   i == VERBS_NR - 1 ? '\n' : ' ');
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(verbs);

static int verbs_add(struct ib_device *ibdev)
{
	if (strcmp(dev_name(&ibdev->dev), device))
		return -EOPNOTSUPP;
	verbs_device = ibdev;
	verbs_ops.post_send = ibdev->ops.post_send;
	verbs_ops.post_recv = ibdev->ops.post_recv;
	verbs_ops.poll_cq = ibdev->ops.poll_cq;
	verbs_ops.req_notify_cq = ibdev->ops.req_notify_cq;

	WRITE_ONCE(ibdev->ops.post_send, verbs_post_send);
	WRITE_ONCE(ibdev->ops.post_recv, verbs_post_recv);
	WRITE_ONCE(ibdev->ops.poll_cq, verbs_poll_cq);
	WRITE_ONCE(ibdev->ops.req_notify_cq, verbs_req_notify_cq);
	return 0;
}

static void verbs_remove(struct ib_device *ibdev, void *unused)
{
	WRITE_ONCE(ibdev->ops.post_send, verbs_ops.post_send);
	WRITE_ONCE(ibdev->ops.post_recv, verbs_ops.post_recv);
	WRITE_ONCE(ibdev->ops.poll_cq, verbs_ops.poll_cq);
	WRITE_ONCE(ibdev->ops.req_notify_cq, verbs_ops.req_notify_cq);
	/* The counting verbs don't sleep, so nobody runs them after a grace period. */
	synchronize_rcu();
	verbs_device = NULL;
}

static struct ib_client verbs_client = {
	.name	= "rpcrdma2_verbs_count",
	.add	= verbs_add,
	.remove	= verbs_remove,
};

static int __init verbs_init(void)
{
	int rc;

	rc = ib_register_client(&verbs_client);
	if (rc)
		return rc;
	if (!verbs_device) {
		ib_unregister_client(&verbs_client);
		return -ENODEV;
	}
	verbs_file = debugfs_create_file("rpcrdma2_verbs_count", 0400, NULL,
					 NULL, &verbs_fops);
	return 0;
}

static void __exit verbs_exit(void)
{
	debugfs_remove(verbs_file);
	ib_unregister_client(&verbs_client);
}

module_init(verbs_init);
module_exit(verbs_exit);
MODULE_AUTHOR("rpcrdma2 developers");
MODULE_DESCRIPTION("Counts an RDMA device's work requests");
MODULE_LICENSE("GPL");
