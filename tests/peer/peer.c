// SPDX-License-Identifier: GPL-2.0
/*
 * Connections: a CM id, an RC QP, Receives, and one Send at a time.
 */
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "peer.h"

#define MAX_RECVS	256

struct arrival {
	unsigned int	buffer;
	unsigned int	len;
};

/* A WR's id is the number of its Receive buffer, or one of these. */
enum { SEND_ID = MAX_RECVS, WRITE_ID, BIND_ID };

struct connection {
	struct options			options;
	struct rdma_event_channel	*channel;
	struct rdma_cm_id		*id;
	struct ibv_pd			*pd;
	struct ibv_comp_channel		*completions;
	struct ibv_cq			*cq;
	unsigned char			*buffers;
	struct ibv_mr			*buffers_mr;
	unsigned char			*send_buffer;
	struct ibv_mr			*send_mr;
	struct arrival			arrivals[MAX_RECVS];
	unsigned int			first_arrival;
	unsigned int			nr_arrivals;
	int				held;
	bool				send_done;
	bool				broken;
	bool				closed;
	unsigned char			private_data[256];
	unsigned int			private_len;
};

const struct options default_options = {
	.recvs		= 8,
	.recv_size	= 4096,
	.reads		= 16,
};

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

static int left_ms(int64_t deadline)
{
	int64_t left = deadline - now_ms();

	return left > 0 ? left : 0;
}

/* The next event of the CM; NULL if there is none in time. */
static struct rdma_cm_event *cm_event(struct rdma_event_channel *channel,
				      int timeout_ms)
{
	struct pollfd fd = { .fd = channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;

	if (poll(&fd, 1, timeout_ms) <= 0)
		return NULL;
	if (rdma_get_cm_event(channel, &event))
		fail("rdma_get_cm_event: %s", strerror(errno));
	return event;
}

static void keep_private_data(struct connection *c,
			      const struct rdma_cm_event *event)
{
	c->private_len = event->param.conn.private_data_len;
	if (c->private_len)
		memcpy(c->private_data, event->param.conn.private_data,
		       c->private_len);
}

static void cm_wait(struct connection *c, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event = cm_event(c->channel, PATIENCE_MS);

	if (!event)
		fail("waited in vain for %s", rdma_event_str(type));
	if (event->event != type)
		fail("%s (%d) instead of %s", rdma_event_str(event->event),
		     event->status, rdma_event_str(type));
	if (type == RDMA_CM_EVENT_ESTABLISHED ||
	    type == RDMA_CM_EVENT_CONNECT_RESPONSE)
		keep_private_data(c, event);
	rdma_ack_cm_event(event);
}

static void *allocate(size_t len)
{
	void *p = aligned_alloc(4096, (len + 4095) / 4096 * 4096);

	if (!p)
		fail("no memory");
	memset(p, 0, len);
	return p;
}

static struct ibv_mr *enlist(struct connection *c, void *p, size_t len,
			     int access)
{
	struct ibv_mr *mr = ibv_reg_mr(c->pd, p, len, access);

	if (!mr)
		fail("ibv_reg_mr: %s", strerror(errno));
	return mr;
}

static void post_receive(struct connection *c, unsigned int buffer)
{
	unsigned int size = c->options.recv_size;
	struct ibv_sge sge = {
		.addr	= (uintptr_t)c->buffers + (size_t)buffer * size,
		.length	= size,
		.lkey	= c->buffers_mr->lkey,
	};
	struct ibv_recv_wr wr = {
		.wr_id		= buffer,
		.sg_list	= &sge,
		.num_sge	= 1,
	}, *bad;

	/* On a connection that is gone there is nothing to receive. */
	if (ibv_post_recv(c->id->qp, &wr, &bad))
		c->broken = true;
}

/**
 * connection_post_receives - post more Receives
 * @c: a connection that was opened with none
 * @count: how many
 */
void connection_post_receives(struct connection *c, unsigned int count)
{
	unsigned int i;

	c->buffers = allocate((size_t)count * c->options.recv_size);
	c->buffers_mr = enlist(c, c->buffers,
			       (size_t)count * c->options.recv_size,
			       IBV_ACCESS_LOCAL_WRITE);
	for (i = 0; i < count; i++)
		post_receive(c, i);
}

static void create_qp(struct connection *c)
{
	struct ibv_qp_init_attr attr = {
		.qp_type	= IBV_QPT_RC,
		.sq_sig_all	= 1,
		.cap		= {
			.max_send_wr	= 8,
			.max_recv_wr	= MAX_RECVS,
			.max_send_sge	= 1,
			.max_recv_sge	= 1,
		},
	};

	/* Its own: what is registered on one connection is none of another's. */
	c->pd = ibv_alloc_pd(c->id->verbs);
	if (!c->pd)
		fail("ibv_alloc_pd: %s", strerror(errno));
	c->completions = ibv_create_comp_channel(c->id->verbs);
	if (!c->completions)
		fail("ibv_create_comp_channel: %s", strerror(errno));
	c->cq = ibv_create_cq(c->id->verbs, MAX_RECVS + 16, NULL,
			      c->completions, 0);
	if (!c->cq)
		fail("ibv_create_cq: %s", strerror(errno));
	attr.send_cq = c->cq;
	attr.recv_cq = c->cq;
	if (rdma_create_qp(c->id, c->pd, &attr))
		fail("rdma_create_qp: %s", strerror(errno));
	c->send_buffer = allocate(MESSAGE_MAX);
	c->send_mr = enlist(c, c->send_buffer, MESSAGE_MAX, 0);
	if (c->options.recvs)
		connection_post_receives(c, c->options.recvs);
	ibv_req_notify_cq(c->cq, 0);
}

static struct connection *connection_new(const struct options *options)
{
	struct connection *c = calloc(1, sizeof(*c));

	if (!c)
		fail("no memory");
	c->options = *options;
	c->held = -1;
	c->channel = rdma_create_event_channel();
	if (!c->channel)
		fail("rdma_create_event_channel: %s", strerror(errno));
	return c;
}

static void fill_param(const struct connection *c,
		       struct rdma_conn_param *param)
{
	memset(param, 0, sizeof(*param));
	param->private_data = c->options.private_data;
	param->private_data_len = c->options.private_len;
	param->responder_resources = c->options.reads;
	param->initiator_depth = c->options.reads;
	param->retry_count = 7;
	/* For ever: nobody will say that this end was too slow. */
	param->rnr_retry_count = 7;
}

static void resolve(struct connection *c)
{
	if (rdma_create_id(c->channel, &c->id, c, RDMA_PS_TCP))
		fail("rdma_create_id: %s", strerror(errno));
	if (rdma_resolve_addr(c->id, NULL, (struct sockaddr *)&server_address,
			      5000))
		fail("rdma_resolve_addr: %s", strerror(errno));
	cm_wait(c, RDMA_CM_EVENT_ADDR_RESOLVED);
	if (rdma_resolve_route(c->id, 5000))
		fail("rdma_resolve_route: %s", strerror(errno));
	cm_wait(c, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

/**
 * connection_start - ask the server for a connection, and no more
 * @with_qp: without one, nothing can follow but connection_answer()
 */
struct connection *connection_start(bool with_qp,
				    const struct options *options)
{
	struct connection *c = connection_new(options);
	struct rdma_conn_param param;

	resolve(c);
	fill_param(c, &param);
	if (with_qp)
		create_qp(c);
	else
		param.qp_num = 0x123456;
	if (!rdma_connect(c->id, &param))
		return c;
	/* siw may have got a TCP port that an earlier connection left. */
	if (errno != EADDRINUSE)
		fail("rdma_connect: %s", strerror(errno));
	return connection_start(with_qp, options);
}

/**
 * connection_open - connect to the server
 * @options: how
 */
struct connection *connection_open(const struct options *options)
{
	struct connection *c = connection_start(true, options);

	cm_wait(c, RDMA_CM_EVENT_ESTABLISHED);
	return c;
}

/**
 * connection_spurn - reject a server that accepted
 * @c: a connection that was started without a QP
 */
void connection_spurn(struct connection *c)
{
	cm_wait(c, RDMA_CM_EVENT_CONNECT_RESPONSE);
	if (rdma_reject(c->id, NULL, 0))
		fail("rdma_reject: %s", strerror(errno));
}

/**
 * connection_expect_refused - ask for a connection, and get none
 * @options: how
 */
void connection_expect_refused(const struct options *options)
{
	cm_wait(connection_start(true, options), RDMA_CM_EVENT_REJECTED);
}

/**
 * connection_listen - be a server
 */
struct rdma_cm_id *connection_listen(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id;

	if (!channel || rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(id, (struct sockaddr *)&server_address) ||
	    rdma_listen(id, 16))
		fail("can't listen: %s", strerror(errno));
	return id;
}

/* A new id, for a client that asks; NULL if none does in time. */
static struct rdma_cm_id *next_request(struct rdma_cm_id *listener,
				       int timeout_ms)
{
	int64_t deadline = now_ms() + timeout_ms;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	for (;;) {
		event = cm_event(listener->channel, left_ms(deadline));
		if (!event)
			return NULL;
		id = event->event == RDMA_CM_EVENT_CONNECT_REQUEST ?
		     event->id : NULL;
		rdma_ack_cm_event(event);
		if (id)
			return id;
	}
}

/**
 * connection_accept - accept a client
 * @listener: from connection_listen()
 * @timeout_ms: how long to wait for it
 * @options: how
 *
 * Return: the connection, or NULL
 */
struct connection *connection_accept(struct rdma_cm_id *listener,
				     int timeout_ms,
				     const struct options *options)
{
	struct rdma_cm_id *id = next_request(listener, timeout_ms);
	struct rdma_conn_param param;
	struct connection *c;

	if (!id)
		return NULL;
	c = connection_new(options);
	c->id = id;
	if (rdma_migrate_id(id, c->channel))
		fail("rdma_migrate_id: %s", strerror(errno));
	create_qp(c);
	fill_param(c, &param);
	if (rdma_accept(id, &param))
		fail("rdma_accept: %s", strerror(errno));
	cm_wait(c, RDMA_CM_EVENT_ESTABLISHED);
	return c;
}

/**
 * connection_refuse - reject a client
 * @listener: from connection_listen()
 * @timeout_ms: how long to wait for it
 *
 * Return: whether there was one
 */
bool connection_refuse(struct rdma_cm_id *listener, int timeout_ms)
{
	struct rdma_cm_id *id = next_request(listener, timeout_ms);

	if (!id)
		return false;
	rdma_reject(id, NULL, 0);
	rdma_destroy_id(id);
	return true;
}

/**
 * connection_close - disconnect
 * @c: the connection; what it has stays until the process ends
 */
void connection_close(struct connection *c)
{
	rdma_disconnect(c->id);
	c->closed = true;
}

/**
 * connection_needs_infiniband - end a case that iWARP, or siw, has no way for
 * @c: the connection
 * @why: what is missing
 */
void connection_needs_infiniband(const struct connection *c, const char *why)
{
	if (c->id->verbs->device->transport_type != IBV_TRANSPORT_IWARP)
		return;
	printf("# iWARP: %s\n", why);
	fflush(stdout);
	_exit(SKIPPED);
}

/**
 * connection_private - the peer's private data
 * @c: the connection
 * @len: where to put how much it is
 */
const void *connection_private(const struct connection *c, unsigned int *len)
{
	*len = c->private_len;
	return c->private_data;
}

static void completed(struct connection *c, const struct ibv_wc *wc)
{
	struct arrival *arrival;

	if (wc->wr_id >= SEND_ID)
		c->send_done = true;
	if (wc->status != IBV_WC_SUCCESS) {
		if (wc->status != IBV_WC_WR_FLUSH_ERR)
			printf("# %s\n", ibv_wc_status_str(wc->status));
		c->broken = true;
		return;
	}
	if (wc->wr_id >= SEND_ID)
		return;
	arrival = &c->arrivals[(c->first_arrival + c->nr_arrivals++) %
			       MAX_RECVS];
	arrival->buffer = wc->wr_id;
	arrival->len = wc->byte_len;
}

static void reap_completions(struct connection *c)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(c->cq, 1, &wc) > 0)
		completed(c, &wc);
}

static void take_cm_event(struct connection *c)
{
	struct rdma_cm_event *event = cm_event(c->channel, 0);

	if (!event)
		return;
	switch (event->event) {
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
	/* It closed before it knew that the connection is established. */
	case RDMA_CM_EVENT_REJECTED:
		c->closed = true;
		break;
	default:
		printf("# %s\n", rdma_event_str(event->event));
	}
	rdma_ack_cm_event(event);
	if (c->closed)
		rdma_disconnect(c->id);
}

/* Wait until something happens; false if nothing does in time. */
static bool wait_events(struct connection *c, int timeout_ms)
{
	struct pollfd fds[2] = {
		{ .fd = c->completions->fd, .events = POLLIN },
		{ .fd = c->channel->fd, .events = POLLIN },
	};
	struct ibv_cq *cq;
	void *context;

	if (poll(fds, 2, timeout_ms) <= 0)
		return false;
	if (fds[0].revents) {
		if (!ibv_get_cq_event(c->completions, &cq, &context))
			ibv_ack_cq_events(cq, 1);
		ibv_req_notify_cq(c->cq, 0);
	}
	/* What was sent before the connection closed counts. */
	reap_completions(c);
	if (fds[1].revents)
		take_cm_event(c);
	return true;
}

static void post_and_wait(struct connection *c, struct ibv_send_wr *wr)
{
	int64_t deadline = now_ms() + PATIENCE_MS;
	struct ibv_send_wr *bad;

	if (c->closed || c->broken)
		return;
	c->send_done = false;
	if (ibv_post_send(c->id->qp, wr, &bad)) {
		c->broken = true;
		return;
	}
	while (!c->send_done && !c->closed)
		if (!wait_events(c, left_ms(deadline)))
			fail("what was sent was not taken");
}

/**
 * connection_send - send a message
 * @c: the connection; it may be gone
 * @data: the message
 * @len: octets
 * @invalidate: the handle to invalidate; 0 for none
 */
void connection_send(struct connection *c, const void *data, unsigned int len,
		     uint32_t invalidate)
{
	struct ibv_sge sge = {
		.addr	= (uintptr_t)c->send_buffer,
		.length	= len,
		.lkey	= c->send_mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id		= SEND_ID,
		.sg_list	= &sge,
		.num_sge	= len ? 1 : 0,
		.opcode		= invalidate ? IBV_WR_SEND_WITH_INV :
					       IBV_WR_SEND,
		.invalidate_rkey = invalidate,
	};

	memcpy(c->send_buffer, data, len);
	post_and_wait(c, &wr);
}

/**
 * connection_say - send a message that is given in hex
 * @c: the connection
 * @fmt: as printf's
 */
void connection_say(struct connection *c, const char *fmt, ...)
{
	static struct octets o;
	va_list ap;

	va_start(ap, fmt);
	octets_vformat(&o, fmt, ap);
	va_end(ap);
	connection_send(c, o.data, o.len, 0);
}

static void pop_arrival(struct connection *c, struct message *m)
{
	struct arrival *arrival = &c->arrivals[c->first_arrival];

	m->data = c->buffers +
		  (size_t)arrival->buffer * c->options.recv_size;
	m->len = arrival->len;
	c->held = arrival->buffer;
	c->first_arrival = (c->first_arrival + 1) % MAX_RECVS;
	c->nr_arrivals--;
}

/**
 * connection_receive - wait for a message, or the end of the connection
 * @c: the connection
 * @m: the message
 * @timeout_ms: how long to wait
 */
enum happening connection_receive(struct connection *c, struct message *m,
				  int timeout_ms)
{
	int64_t deadline = now_ms() + timeout_ms;

	if (c->held >= 0)
		post_receive(c, c->held);
	c->held = -1;
	for (;;) {
		if (c->nr_arrivals) {
			pop_arrival(c, m);
			return MESSAGE;
		}
		if (c->closed)
			return CLOSED;
		if (!wait_events(c, left_ms(deadline)))
			return SILENCE;
	}
}

/**
 * connection_expect - the next message has to be this one
 * @c: the connection
 * @fmt: as printf's, hex
 */
void connection_expect(struct connection *c, const char *fmt, ...)
{
	static struct octets o;
	struct message m;
	va_list ap;

	va_start(ap, fmt);
	octets_vformat(&o, fmt, ap);
	va_end(ap);
	switch (connection_receive(c, &m, PATIENCE_MS)) {
	case MESSAGE:
		if (octets_match(&o, m.data, m.len))
			return;
		octets_print("expected", o.data, o.mask, o.len);
		octets_print("got", m.data, NULL, m.len);
		fail("another answer");
	case CLOSED:
		octets_print("expected", o.data, o.mask, o.len);
		fail("the connection was closed instead");
	default:
		octets_print("expected", o.data, o.mask, o.len);
		fail("no answer");
	}
}

static void expect_no_message(struct connection *c, enum happening expected,
			      int timeout_ms)
{
	struct message m;
	enum happening got = connection_receive(c, &m, timeout_ms);

	if (got == expected)
		return;
	if (got == MESSAGE)
		octets_print("got", m.data, NULL, m.len);
	fail("%s instead of %s",
	     got == MESSAGE ? "a message" :
	     got == CLOSED ? "the connection was closed" : "nothing happened",
	     expected == CLOSED ? "the connection's end" : "silence");
}

/**
 * connection_expect_closed - the peer has to disconnect, without another word
 * @c: the connection
 */
void connection_expect_closed(struct connection *c)
{
	expect_no_message(c, CLOSED, PATIENCE_MS);
}

/**
 * connection_expect_broken - this end's QP has to fail
 * @c: the connection
 */
void connection_expect_broken(struct connection *c)
{
	int64_t deadline = now_ms() + PATIENCE_MS;

	while (!c->broken)
		if (!wait_events(c, left_ms(deadline)))
			fail("the connection does not break");
	if (c->nr_arrivals)
		fail("a message came");
	connection_close(c);
}

/**
 * connection_expect_silence - the peer must say nothing, and stay
 * @c: the connection
 * @ms: for how long
 */
void connection_expect_silence(struct connection *c, int ms)
{
	expect_no_message(c, SILENCE, ms);
}

/**
 * memory_expose - let the peer reach memory
 * @c: the connection
 * @m: the memory
 * @len: octets
 * @access: IBV_ACCESS_REMOTE_READ or _WRITE
 *
 * No multiple of 1 MiB: rxe, at the end of 256 pages, looks for the next 256.
 */
void memory_expose(struct connection *c, struct memory *m, unsigned int len,
		   int access)
{
	m->len = len;
	m->data = allocate(len);
	m->mr = enlist(c, m->data, len, access | IBV_ACCESS_LOCAL_WRITE);
}

/**
 * memory_hide - undo memory_expose(), but for the memory itself
 * @m: the memory
 */
void memory_hide(struct memory *m)
{
	if (ibv_dereg_mr(m->mr))
		fail("ibv_dereg_mr: %s", strerror(errno));
	m->mr = NULL;
}

/**
 * memory_bind - make a handle that the peer may invalidate
 * @c: the connection
 * @m: the memory, exposed with IBV_ACCESS_MW_BIND
 *
 * Return: the handle
 */
uint32_t memory_bind(struct connection *c, const struct memory *m)
{
	struct ibv_mw *mw = ibv_alloc_mw(c->pd, IBV_MW_TYPE_2);
	struct ibv_send_wr wr = {
		.wr_id		= BIND_ID,
		.opcode		= IBV_WR_BIND_MW,
		.bind_mw	= {
			.mw		= mw,
			.bind_info	= {
				.mr		= m->mr,
				.addr		= (uintptr_t)m->data,
				.length		= m->len,
				.mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
			},
		},
	};

	if (!mw)
		fail("ibv_alloc_mw: %s", strerror(errno));
	wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	post_and_wait(c, &wr);
	if (c->broken)
		fail("the memory window can't be bound");
	return wr.bind_mw.rkey;
}

/**
 * connection_write - write to the peer's memory
 * @c: the connection
 * @from: what to write
 * @len: octets of it
 * @handle: the peer's
 * @offset: the peer's
 */
void connection_write(struct connection *c, const struct memory *from,
		      unsigned int len, uint32_t handle, uint64_t offset)
{
	struct ibv_sge sge = {
		.addr	= (uintptr_t)from->data,
		.length	= len,
		.lkey	= from->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id		= WRITE_ID,
		.sg_list	= &sge,
		.num_sge	= 1,
		.opcode		= IBV_WR_RDMA_WRITE,
		.wr.rdma	= {
			.remote_addr	= offset,
			.rkey		= handle,
		},
	};

	post_and_wait(c, &wr);
}
