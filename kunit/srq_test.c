// SPDX-License-Identifier: GPL-2.0
/*
 * Three QPs with one Shared Receive Queue behave as a server expects. Each is connected to a
 * QP of the other end, which is in this machine, too.
 */
#include <linux/delay.h>
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>
#include <kunit/test.h>
#include "kunit_compat.h"

static char *addr = "192.168.77.1";
module_param(addr, charp, 0444);
MODULE_PARM_DESC(addr, "an IPv4 address of this machine, on the device");

static ushort port = 20055;
module_param(port, ushort, 0444);
MODULE_PARM_DESC(port, "to connect the QPs");

static int last_wqe = 1;
module_param(last_wqe, int, 0444);
MODULE_PARM_DESC(last_wqe, "how often the device raises LAST_WQE_REACHED; -1: as it likes");

#define SRQ_CONNS	3
#define SRQ_ENTRIES	8
#define SRQ_BUFFER	128
#define SRQ_TIMEOUT_MS	5000
/* Encoding of 10.24 ms */
#define SRQ_RNR_TIMER	20

struct srq_message {
	struct ib_cqe	cqe;
	u64		dma;
	u32		*value;
};

struct srq_arrival {
	struct ib_qp		*qp;
	enum ib_wc_status	status;
	u32			value;
};

struct srq_conn {
	struct rdma_cm_id	*near;
	struct rdma_cm_id	*far;
	struct srq_message	send;
	struct completion	sent;
	enum ib_wc_status	status;
	atomic_t		last_wqes;
};

/* Everything that one case has */
struct srq_world {
	struct rdma_cm_id	*listener;
	struct ib_pd		*pd;
	struct ib_cq		*cq;
	struct ib_srq		*srq;
	struct srq_conn		conns[SRQ_CONNS];
	struct srq_conn		*connecting;
	struct srq_message	recvs[SRQ_ENTRIES];
	struct srq_arrival	arrivals[SRQ_ENTRIES];
	unsigned int		arrived;
	struct completion	arrival;
	atomic_t		limits;
	u8			rnr_retry;
	struct completion	event;
	int			status;
};

static struct srq_world *world;

/* Messages */

static int message_init(struct srq_message *message,
			void (*done)(struct ib_cq *cq, struct ib_wc *wc))
{
	struct ib_device *device = world->pd->device;

	/* Large enough for cache lines that no other memory shares */
	message->value = kzalloc(SRQ_BUFFER, GFP_KERNEL);
	if (!message->value)
		return -ENOMEM;
	message->cqe.done = done;
	message->dma = ib_dma_map_single(device, message->value,
					 sizeof(*message->value),
					 DMA_BIDIRECTIONAL);
	return ib_dma_mapping_error(device, message->dma);
}

static void message_exit(struct srq_message *message)
{
	if (!message->value)
		return;
	ib_dma_unmap_single(world->pd->device, message->dma,
			    sizeof(*message->value), DMA_BIDIRECTIONAL);
	kfree(message->value);
}

static struct ib_sge message_sge(const struct srq_message *message)
{
	return (struct ib_sge) {
		.addr	= message->dma,
		.length	= sizeof(*message->value),
		.lkey	= world->pd->local_dma_lkey,
	};
}

static void received(struct ib_cq *cq, struct ib_wc *wc)
{
	struct srq_message *message = container_of(wc->wr_cqe,
						   struct srq_message, cqe);
	struct srq_arrival *arrival = &world->arrivals[world->arrived++];

	ib_dma_sync_single_for_cpu(world->pd->device, message->dma,
				   sizeof(*message->value), DMA_BIDIRECTIONAL);
	arrival->qp = wc->qp;
	arrival->status = wc->status;
	arrival->value = *message->value;
	complete(&world->arrival);
}

static void sent(struct ib_cq *cq, struct ib_wc *wc)
{
	struct srq_conn *conn = container_of(wc->wr_cqe, struct srq_conn,
					     send.cqe);

	conn->status = wc->status;
	complete(&conn->sent);
}

static int post_recv(unsigned int i)
{
	struct ib_sge sge = message_sge(&world->recvs[i]);
	struct ib_recv_wr wr = {
		.wr_cqe		= &world->recvs[i].cqe,
		.sg_list	= &sge,
		.num_sge	= 1,
	};

	return ib_post_srq_recv(world->srq, &wr, NULL);
}

static int post_send(struct srq_conn *conn, u32 value)
{
	struct ib_sge sge = message_sge(&conn->send);
	struct ib_send_wr wr = {
		.wr_cqe		= &conn->send.cqe,
		.opcode		= IB_WR_SEND,
		.send_flags	= IB_SEND_SIGNALED,
		.sg_list	= &sge,
		.num_sge	= 1,
	};

	*conn->send.value = value;
	ib_dma_sync_single_for_device(world->pd->device, conn->send.dma,
				      sizeof(value), DMA_BIDIRECTIONAL);
	reinit_completion(&conn->sent);
	return ib_post_send(conn->near->qp, &wr, NULL);
}

static bool in_time(struct completion *completion)
{
	return wait_for_completion_timeout(completion,
					   msecs_to_jiffies(SRQ_TIMEOUT_MS));
}

/* Connections */

static void srq_test_qp_event(struct ib_event *event, void *context)
{
	struct srq_conn *conn = context;

	if (event->event == IB_EVENT_QP_LAST_WQE_REACHED)
		atomic_inc(&conn->last_wqes);
}

static void srq_test_srq_event(struct ib_event *event, void *context)
{
	if (event->event == IB_EVENT_SRQ_LIMIT_REACHED)
		atomic_inc(&world->limits);
}

static int create_qp(struct rdma_cm_id *id, struct srq_conn *conn,
		     struct ib_srq *srq)
{
	struct ib_qp_init_attr attr = {
		.event_handler	= srq_test_qp_event,
		.qp_context	= conn,
		.send_cq	= world->cq,
		.recv_cq	= world->cq,
		.srq		= srq,
		.cap		= {
			.max_send_wr	= 4,
			.max_recv_wr	= srq ? 0 : 2,
			.max_send_sge	= 1,
			.max_recv_sge	= srq ? 0 : 1,
		},
		.sq_sig_type	= IB_SIGNAL_REQ_WR,
		.qp_type	= IB_QPT_RC,
	};

	return rdma_create_qp(id, world->pd, &attr);
}

static int accept(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = {
		.retry_count		= 7,
		.rnr_retry_count	= world->rnr_retry,
	};
	int ret;

	rdma_set_min_rnr_timer(id, SRQ_RNR_TIMER);
	ret = create_qp(id, world->connecting, world->srq);
	if (ret)
		return ret;
	/* Once the CM accepts, the connecting thread may use @far. */
	world->connecting->far = id;
	ret = rdma_accept(id, &param);
	if (ret) {
		world->connecting->far = NULL;
		rdma_destroy_qp(id);
	}
	return ret;
}

static int srq_test_cm_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return accept(id);
	case RDMA_CM_EVENT_ESTABLISHED:
		/* The far end's event, which may come late */
		if (!id->context)
			return 0;
		fallthrough;
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		world->status = 0;
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return 0;
	default:
		world->status = event->status < 0 ? event->status :
						    -ECONNREFUSED;
		break;
	}
	complete(&world->event);
	return 0;
}

static int wait(int ret)
{
	if (ret)
		return ret;
	return in_time(&world->event) ? world->status : -ETIMEDOUT;
}

static struct rdma_cm_id *create_id(struct srq_conn *conn)
{
	return rdma_create_id(&init_net, srq_test_cm_event, conn, RDMA_PS_TCP,
			      IB_QPT_RC);
}

/* Objects that all connections share, on the device of the first connection */
static int create_shared(struct ib_device *device)
{
	struct ib_srq_init_attr attr = {
		.event_handler	= srq_test_srq_event,
		.attr		= { .max_wr = SRQ_ENTRIES, .max_sge = 1 },
		.srq_type	= IB_SRQT_BASIC,
	};
	unsigned int i;
	int ret = 0;

	if (world->pd)
		return 0;
	world->pd = ib_alloc_pd(device, 0);
	if (IS_ERR(world->pd))
		return PTR_ERR(world->pd);
	world->cq = ib_alloc_cq(device, NULL, 64, 0, IB_POLL_WORKQUEUE);
	if (IS_ERR(world->cq))
		return PTR_ERR(world->cq);
	world->srq = ib_create_srq(world->pd, &attr);
	if (IS_ERR(world->srq))
		return PTR_ERR(world->srq);
	for (i = 0; i < SRQ_ENTRIES && !ret; i++)
		ret = message_init(&world->recvs[i], received);
	for (i = 0; i < SRQ_CONNS && !ret; i++)
		ret = message_init(&world->conns[i].send, sent);
	return ret;
}

static int connect(struct srq_conn *conn, struct sockaddr *sa)
{
	struct rdma_conn_param param = {
		.retry_count		= 7,
		.rnr_retry_count	= 7,
	};
	struct rdma_cm_id *id = create_id(conn);
	int ret;

	if (IS_ERR(id))
		return PTR_ERR(id);
	conn->near = id;
	world->connecting = conn;
	init_completion(&conn->sent);
	ret = wait(rdma_resolve_addr(id, NULL, sa, SRQ_TIMEOUT_MS));
	if (!ret)
		ret = wait(rdma_resolve_route(id, SRQ_TIMEOUT_MS));
	if (!ret)
		ret = create_shared(id->device);
	if (!ret)
		ret = create_qp(id, conn, NULL);
	if (!ret)
		ret = wait(rdma_connect(id, &param));
	return ret;
}

static void open_world(struct kunit *test, u8 rnr_retry)
{
	struct sockaddr_in sin = {
		.sin_family	= AF_INET,
		.sin_port	= htons(port),
	};
	struct sockaddr *sa = (struct sockaddr *)&sin;
	unsigned int i;

	in4_pton(addr, -1, (u8 *)&sin.sin_addr, -1, NULL);
	world->rnr_retry = rnr_retry;
	world->listener = create_id(NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(world->listener));
	KUNIT_ASSERT_EQ(test, rdma_bind_addr(world->listener, sa), 0);
	KUNIT_ASSERT_EQ(test, rdma_listen(world->listener, SRQ_CONNS), 0);
	for (i = 0; i < SRQ_CONNS; i++)
		KUNIT_ASSERT_EQ(test, connect(&world->conns[i], sa), 0);
}

static void quiesce(struct rdma_cm_id *id)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	if (IS_ERR_OR_NULL(id) || !id->qp)
		return;
	ib_modify_qp(id->qp, &attr, IB_QP_STATE);
	ib_drain_sq(id->qp);
}

static void destroy_id(struct rdma_cm_id *id)
{
	if (IS_ERR_OR_NULL(id))
		return;
	if (id->qp)
		rdma_destroy_qp(id);
	rdma_destroy_id(id);
}

static int test_init(struct kunit *test)
{
	world = kzalloc(sizeof(*world), GFP_KERNEL);
	if (!world)
		return -ENOMEM;
	init_completion(&world->event);
	init_completion(&world->arrival);
	return 0;
}

static void test_exit(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < SRQ_CONNS; i++) {
		quiesce(world->conns[i].near);
		quiesce(world->conns[i].far);
	}
	for (i = 0; i < SRQ_CONNS; i++) {
		destroy_id(world->conns[i].near);
		destroy_id(world->conns[i].far);
	}
	destroy_id(world->listener);
	if (!IS_ERR_OR_NULL(world->srq))
		ib_destroy_srq(world->srq);
	if (!IS_ERR_OR_NULL(world->cq))
		ib_free_cq(world->cq);
	for (i = 0; i < SRQ_ENTRIES; i++)
		message_exit(&world->recvs[i]);
	for (i = 0; i < SRQ_CONNS; i++)
		message_exit(&world->conns[i].send);
	if (!IS_ERR_OR_NULL(world->pd))
		ib_dealloc_pd(world->pd);
	kfree(world);
}

/*
 * Send, and wait for the completion, by which the peer's device has acknowledged the
 * message.
 */
static void send(struct kunit *test, struct srq_conn *conn, u32 value)
{
	KUNIT_ASSERT_EQ(test, post_send(conn, value), 0);
	KUNIT_ASSERT_TRUE(test, in_time(&conn->sent));
	KUNIT_EXPECT_EQ(test, (int)conn->status, (int)IB_WC_SUCCESS);
}

static void expect_arrival(struct kunit *test, unsigned int nr,
			   const struct srq_conn *conn, u32 value)
{
	const struct srq_arrival *arrival = &world->arrivals[nr];

	KUNIT_ASSERT_TRUE(test, in_time(&world->arrival));
	KUNIT_EXPECT_EQ(test, (int)arrival->status, (int)IB_WC_SUCCESS);
	KUNIT_EXPECT_PTR_EQ(test, arrival->qp, conn->far->qp);
	KUNIT_EXPECT_EQ(test, arrival->value, value);
}

static void next_message_takes_the_next_receive(struct kunit *test)
{
	static const unsigned int order[] = { 2, 0, 0, 1, 2, 0 };
	unsigned int i;

	open_world(test, 7);
	for (i = 0; i < ARRAY_SIZE(order); i++)
		KUNIT_ASSERT_EQ(test, post_recv(i), 0);
	for (i = 0; i < ARRAY_SIZE(order); i++) {
		send(test, &world->conns[order[i]], 100 + i);
		expect_arrival(test, i, &world->conns[order[i]], 100 + i);
	}
}

static void a_queue_has_an_end(struct kunit *test)
{
	struct ib_srq_attr attr;
	unsigned int i;
	int ret = 0;

	open_world(test, 7);
	KUNIT_ASSERT_EQ(test, ib_query_srq(world->srq, &attr), 0);
	KUNIT_EXPECT_GE(test, attr.max_wr, (u32)SRQ_ENTRIES);
	for (i = 0; i < attr.max_wr && !ret; i++)
		ret = post_recv(0);
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_NE(test, post_recv(0), 0);
}

static void message_without_receive_comes_again(struct kunit *test)
{
	unsigned int i;

	open_world(test, 7);
	for (i = 0; i < SRQ_CONNS; i++)
		KUNIT_ASSERT_EQ(test, post_send(&world->conns[i], i), 0);
	for (i = 0; i < SRQ_CONNS; i++)
		KUNIT_EXPECT_FALSE(test,
				   wait_for_completion_timeout(&world->conns[i].sent,
							       HZ / 4));
	for (i = 0; i < SRQ_CONNS; i++)
		KUNIT_ASSERT_EQ(test, post_recv(i), 0);
	for (i = 0; i < SRQ_CONNS; i++) {
		KUNIT_ASSERT_TRUE(test, in_time(&world->conns[i].sent));
		KUNIT_EXPECT_EQ(test, (int)world->conns[i].status,
				(int)IB_WC_SUCCESS);
		KUNIT_ASSERT_TRUE(test, in_time(&world->arrival));
	}
}

static void sender_without_retries_fails(struct kunit *test)
{
	open_world(test, 0);
	KUNIT_ASSERT_EQ(test, post_send(&world->conns[0], 1), 0);
	KUNIT_ASSERT_TRUE(test, in_time(&world->conns[0].sent));
	KUNIT_EXPECT_EQ(test, (int)world->conns[0].status,
			(int)IB_WC_RNR_RETRY_EXC_ERR);
	/* The other connections have lost nothing. */
	KUNIT_ASSERT_EQ(test, post_recv(0), 0);
	send(test, &world->conns[1], 2);
	expect_arrival(test, 0, &world->conns[1], 2);
}

static void a_limit_is_reached_once(struct kunit *test)
{
	struct ib_srq_attr attr = { .srq_limit = 3 };
	unsigned int i;

	open_world(test, 7);
	for (i = 0; i < 5; i++)
		KUNIT_ASSERT_EQ(test, post_recv(i), 0);
	KUNIT_ASSERT_EQ(test, ib_modify_srq(world->srq, &attr, IB_SRQ_LIMIT),
			0);
	for (i = 0; i < 5; i++) {
		KUNIT_EXPECT_EQ(test, atomic_read(&world->limits), i > 2);
		send(test, &world->conns[i % SRQ_CONNS], i);
		KUNIT_ASSERT_TRUE(test, in_time(&world->arrival));
		msleep(20);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&world->limits), 1);
}

static void expect_last_wqes(struct kunit *test, struct srq_conn *conn)
{
	if (last_wqe >= 0)
		KUNIT_EXPECT_EQ(test, atomic_read(&conn->last_wqes), last_wqe);
}

static void a_qp_that_ends_leaves_the_rest(struct kunit *test)
{
	struct srq_conn *conn = &world->conns[0];
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	open_world(test, 7);
	KUNIT_ASSERT_EQ(test, post_recv(0), 0);
	KUNIT_ASSERT_EQ(test, post_recv(1), 0);
	send(test, conn, 1);
	expect_arrival(test, 0, conn, 1);
	KUNIT_ASSERT_EQ(test, ib_modify_qp(conn->far->qp, &attr, IB_QP_STATE),
			0);
	msleep(200);
	expect_last_wqes(test, conn);
	/* Draining the Send Queue must not raise the event again. */
	ib_drain_sq(conn->far->qp);
	msleep(50);
	expect_last_wqes(test, conn);
	KUNIT_EXPECT_EQ(test, world->arrived, 1U);
	send(test, &world->conns[1], 2);
	expect_arrival(test, 1, &world->conns[1], 2);
}

static struct kunit_case srq_cases[] = {
	KUNIT_CASE(next_message_takes_the_next_receive),
	KUNIT_CASE(a_queue_has_an_end),
	KUNIT_CASE(message_without_receive_comes_again),
	KUNIT_CASE(sender_without_retries_fails),
	KUNIT_CASE(a_limit_is_reached_once),
	KUNIT_CASE(a_qp_that_ends_leaves_the_rest),
	{}
};

static struct kunit_suite srq_suite = {
	.name		= "srq",
	.init		= test_init,
	.exit		= test_exit,
	.test_cases	= srq_cases,
};

/* kunit_test_suites() does not work here; echo_suite.c says why. */
static struct kunit_suite *srq_suites[] = { &srq_suite };

static int __init srq_test_init(void)
{
	return __kunit_test_suites_init(srq_suites, 1, true);
}

static void __exit srq_test_exit(void)
{
	__kunit_test_suites_exit(srq_suites, 1);
}

module_init(srq_test_init);
module_exit(srq_test_exit);
MODULE_AUTHOR("rpcrdma2 developers");
MODULE_DESCRIPTION("What shared receive queues of a device do");
MODULE_LICENSE("GPL");
