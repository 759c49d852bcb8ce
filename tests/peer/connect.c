// SPDX-License-Identifier: GPL-2.0
/* Makes and ends connections: a CM id and an RC QP for each. */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "connection.h"

const struct options default_options = {
	.sends		= 8,
	.recvs		= 8,
	.recv_size	= 4096,
	.reads		= 16,
};

/**
 * now_ms - read the clock
 *
 * Return: milliseconds.
 */
int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

/**
 * left_ms - compute the time until a deadline
 * @deadline: the deadline, as now_ms() counts
 *
 * Return: milliseconds, or 0 after the deadline.
 */
int left_ms(int64_t deadline)
{
	int64_t left = deadline - now_ms();

	return left > 0 ? left : 0;
}

/**
 * cm_event - wait for the next event of the CM
 * @channel: channel of the events
 * @timeout_ms: how long to wait, in milliseconds
 *
 * Return: the event, or NULL after the timeout.
 */
struct rdma_cm_event *cm_event(struct rdma_event_channel *channel,
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

/* Keep the private data of the peer, and check the Reads that it wants to make. */
static void keep_terms(struct connection *c, const struct rdma_cm_event *event)
{
	/* A device may refuse to connect with more Reads than it can answer. */
	if (event->param.conn.initiator_depth > c->options.reads)
		fail("%u Reads at a time are to be made, %u can be",
		     event->param.conn.initiator_depth, c->options.reads);
	c->private_len = event->param.conn.private_data_len;
	if (c->private_len)
		memcpy(c->private_data, event->param.conn.private_data,
		       c->private_len);
}

/* Wait for the CM's next event. Return: whether it is this one. */
static bool cm_says(struct connection *c, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event = cm_event(c->channel, PATIENCE_MS);
	bool ok;

	if (!event)
		fail("waited in vain for %s", rdma_event_str(type));
	ok = event->event == type;
	if (!ok)
		printf("# %s (%d) instead of %s\n", rdma_event_str(event->event),
		       event->status, rdma_event_str(type));
	else if (type == RDMA_CM_EVENT_ESTABLISHED ||
		 type == RDMA_CM_EVENT_CONNECT_RESPONSE)
		keep_terms(c, event);
	rdma_ack_cm_event(event);
	return ok;
}

static void cm_wait(struct connection *c, enum rdma_cm_event_type type)
{
	if (!cm_says(c, type))
		fail("no %s", rdma_event_str(type));
}

static bool create_qp(struct connection *c)
{
	struct ibv_qp_init_attr attr = {
		.qp_type	= IBV_QPT_RC,
		.sq_sig_all	= 1,
		.cap		= {
			.max_send_wr	= c->options.sends,
			.max_recv_wr	= MAX_RECVS,
			.max_send_sge	= 1,
			.max_recv_sge	= 1,
		},
	};

	/*
	 * A PD for each connection, so that no connection can use another's
	 * registrations.
	 */
	c->pd = ibv_alloc_pd(c->id->verbs);
	if (!c->pd)
		fail("ibv_alloc_pd: %s", strerror(errno));
	c->completions = ibv_create_comp_channel(c->id->verbs);
	if (!c->completions)
		fail("ibv_create_comp_channel: %s", strerror(errno));
	c->cq = ibv_create_cq(c->id->verbs, MAX_RECVS + c->options.sends, NULL,
			      c->completions, 0);
	if (!c->cq)
		fail("ibv_create_cq: %s", strerror(errno));
	attr.send_cq = c->cq;
	attr.recv_cq = c->cq;
	if (rdma_create_qp(c->id, c->pd, &attr))
		return false;
	c->send_buffer = allocate(MESSAGE_MAX);
	c->send_mr = enlist(c, c->send_buffer, MESSAGE_MAX, 0);
	if (c->options.recvs)
		connection_post_receives(c, c->options.recvs);
	ibv_req_notify_cq(c->cq, 0);
	return true;
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
	/* 7 is for ever, so a slow end here never breaks the connection. */
	param->rnr_retry_count = 7;
}

static void resolve(struct connection *c)
{
	struct sockaddr_in source = { .sin_family = AF_INET };

	if (rdma_create_id(c->channel, &c->id, c, RDMA_PS_TCP))
		fail("rdma_create_id: %s", strerror(errno));
	if (c->options.source &&
	    inet_pton(AF_INET, c->options.source, &source.sin_addr) != 1)
		fail("%s is no address", c->options.source);
	if (rdma_resolve_addr(c->id, c->options.source ?
			      (struct sockaddr *)&source : NULL,
			      (struct sockaddr *)&server_address, 5000))
		fail("rdma_resolve_addr: %s", strerror(errno));
	cm_wait(c, RDMA_CM_EVENT_ADDR_RESOLVED);
	if (rdma_resolve_route(c->id, 5000))
		fail("rdma_resolve_route: %s", strerror(errno));
	cm_wait(c, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

/*
 * A QP number that no connection has used. The CM takes a request from a known QP for
 * the end of that QP's connection.
 */
static uint32_t unused_qp_num(void)
{
	static uint32_t requests;

	return (getpid() * 4096 + requests++) & 0xffffff;
}

/**
 * connection_start - ask the server for a connection, and wait for nothing
 * @with_qp: make a QP; without one, only connection_spurn() may follow
 * @options: how to make the connection
 *
 * Return: the connection.
 */
struct connection *connection_start(bool with_qp,
				    const struct options *options)
{
	struct connection *c = connection_new(options);
	struct rdma_conn_param param;

	resolve(c);
	fill_param(c, &param);
	if (!with_qp)
		param.qp_num = unused_qp_num();
	else if (!create_qp(c))
		fail("rdma_create_qp: %s", strerror(errno));
	if (!rdma_connect(c->id, &param))
		return c;
	/*
	 * siw may choose a TCP port that an earlier connection still holds, so try
	 * again.
	 */
	if (errno != EADDRINUSE)
		fail("rdma_connect: %s", strerror(errno));
	return connection_start(with_qp, options);
}

/**
 * connection_open - connect to the server
 * @options: how to make the connection
 *
 * Return: the connection.
 */
struct connection *connection_open(const struct options *options)
{
	struct connection *c = connection_start(true, options);

	cm_wait(c, RDMA_CM_EVENT_ESTABLISHED);
	return c;
}

/**
 * connection_try - connect to the server if it accepts
 * @options: how to make the connection
 *
 * Return: the connection, or NULL.
 */
struct connection *connection_try(const struct options *options)
{
	struct connection *c = connection_start(true, options);

	return cm_says(c, RDMA_CM_EVENT_ESTABLISHED) ? c : NULL;
}

/**
 * connection_spurn - reject a server that has accepted
 * @c: a connection that was started without a QP
 */
void connection_spurn(struct connection *c)
{
	cm_wait(c, RDMA_CM_EVENT_CONNECT_RESPONSE);
	if (rdma_reject(c->id, NULL, 0))
		fail("rdma_reject: %s", strerror(errno));
}

/**
 * connection_expect_refused - connect, and fail unless the server rejects
 * @options: how to make the connection
 */
void connection_expect_refused(const struct options *options)
{
	cm_wait(connection_start(true, options), RDMA_CM_EVENT_REJECTED);
}

/**
 * connection_expect_wait - connect, and fail if the server reacts
 * @options: how to make the connection
 * @ms: how long to wait, in milliseconds
 */
void connection_expect_wait(const struct options *options, int ms)
{
	struct connection *c = connection_start(true, options);
	struct rdma_cm_event *event = cm_event(c->channel, ms);

	if (event)
		fail("heard %s", rdma_event_str(event->event));
}

/**
 * connection_listen - listen at the server's address
 *
 * Return: the listener.
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

/* Wait for a client that connects. Return: its CM id, or NULL after the timeout. */
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

/*
 * Accept a client. The client may have given up already. The kernel says so only when
 * the id is accepted, and then each step fails.
 */
static bool accept_request(struct connection *c)
{
	struct rdma_conn_param param;

	if (rdma_migrate_id(c->id, c->channel))
		fail("rdma_migrate_id: %s", strerror(errno));
	fill_param(c, &param);
	if (!create_qp(c) || rdma_accept(c->id, &param)) {
		printf("# can't accept a client: %s\n", strerror(errno));
		return false;
	}
	return cm_says(c, RDMA_CM_EVENT_ESTABLISHED);
}

/**
 * connection_accept - accept the next client
 * @listener: from connection_listen()
 * @timeout_ms: how long to wait, in milliseconds
 * @options: how to make the connection
 *
 * Return: the connection, or NULL after the timeout.
 */
struct connection *connection_accept(struct rdma_cm_id *listener,
				     int timeout_ms,
				     const struct options *options)
{
	int64_t deadline = now_ms() + timeout_ms;
	struct rdma_cm_id *id;
	struct connection *c;

	for (;;) {
		id = next_request(listener, left_ms(deadline));
		if (!id)
			return NULL;
		c = connection_new(options);
		c->id = id;
		if (accept_request(c))
			return c;
	}
}

/**
 * connection_refuse - reject the next client
 * @listener: from connection_listen()
 * @timeout_ms: how long to wait, in milliseconds
 *
 * Return: false after the timeout.
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
 * @c: the connection; its memory and its QP stay until the process ends
 */
void connection_close(struct connection *c)
{
	rdma_disconnect(c->id);
	c->closed = true;
}

/**
 * connection_is_iwarp - tell whether a connection is over iWARP
 * @c: the connection
 *
 * Return: true over iWARP.
 */
bool connection_is_iwarp(const struct connection *c)
{
	return c->id->verbs->device->transport_type == IBV_TRANSPORT_IWARP;
}

/**
 * connection_needs_infiniband - skip a case that is impossible over iWARP or with siw
 * @c: the connection
 * @why: what iWARP or siw lacks
 */
void connection_needs_infiniband(const struct connection *c, const char *why)
{
	if (!connection_is_iwarp(c))
		return;
	printf("# iWARP: %s\n", why);
	fflush(stdout);
	_exit(SKIPPED);
}

/**
 * connection_private - find the peer's private data
 * @c: the connection
 * @len: receives the number of octets
 *
 * Return: the private data.
 */
const void *connection_private(const struct connection *c, unsigned int *len)
{
	*len = c->private_len;
	return c->private_data;
}
