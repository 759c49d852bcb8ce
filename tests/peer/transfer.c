// SPDX-License-Identifier: GPL-2.0
/*
 * Sends and receives messages, and exposes memory. One Send, chain or RDMA Write at a
 * time is under way.
 */
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connection.h"

/**
 * allocate - allocate zeroed memory in whole pages
 * @len: octets
 *
 * Return: the memory.
 */
void *allocate(size_t len)
{
	void *p = aligned_alloc(4096, (len + 4095) / 4096 * 4096);

	if (!p)
		fail("no memory");
	memset(p, 0, len);
	return p;
}

/**
 * enlist - register memory
 * @c: connection whose PD is used
 * @p: the memory
 * @len: octets
 * @access: IBV_ACCESS_...
 *
 * Return: the registration.
 */
struct ibv_mr *enlist(struct connection *c, void *p, size_t len, int access)
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

	/* Posting fails if the connection is gone, and then nothing can arrive. */
	if (ibv_post_recv(c->id->qp, &wr, &bad))
		c->broken = true;
}

/**
 * connection_post_receives - post the first Receives
 * @c: a connection without Receives
 * @count: number of Receives
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

static void completed(struct connection *c, const struct ibv_wc *wc)
{
	struct arrival *arrival;

	if (wc->wr_id >= SEND_ID) {
		c->send_done = true;
		c->sends_out--;
	}
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
	/* The peer closed before it knew that the connection was established. */
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

/* Wait until something happens. Return: false after the timeout. */
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
	/* Take the messages that came before the connection closed. */
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
	for (; wr; wr = wr->next)
		c->sends_out++;
	while (!c->send_done && !c->closed)
		if (!wait_events(c, left_ms(deadline)))
			fail("what was sent was not taken");
}

/**
 * connection_wait_sent - wait until all messages have arrived or the connection is closed
 * @c: the connection
 */
void connection_wait_sent(struct connection *c)
{
	while (c->sends_out && !c->closed)
		wait_events(c, FOREVER_MS);
}

/**
 * connection_is_over - tell whether nothing can be sent any more
 * @c: the connection
 *
 * Return: true if the connection is closed or broken.
 */
bool connection_is_over(const struct connection *c)
{
	return c->closed || c->broken;
}

/**
 * connection_send - send a message
 * @c: the connection, which may be gone
 * @data: the message
 * @len: octets
 * @invalidate: handle to invalidate; 0: none
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
 * connection_send_chain - post several messages at once
 * @c: the connection, which may be gone
 * @messages: the messages, together no more than MESSAGE_MAX octets
 * @count: number of messages, at most MAX_CHAIN
 */
void connection_send_chain(struct connection *c,
			   const struct octets * const *messages,
			   unsigned int count)
{
	struct ibv_send_wr wrs[MAX_CHAIN];
	struct ibv_sge sges[MAX_CHAIN];
	unsigned int i, len, used = 0;

	for (i = 0; i < count; i++) {
		len = messages[i]->len;
		if (used + len > MESSAGE_MAX)
			fail("%u messages are too much for a chain", count);
		memcpy(c->send_buffer + used, messages[i]->data, len);
		sges[i] = (struct ibv_sge) {
			.addr	= (uintptr_t)c->send_buffer + used,
			.length	= len,
			.lkey	= c->send_mr->lkey,
		};
		wrs[i] = (struct ibv_send_wr) {
			.wr_id		= SEND_ID,
			.next		= i + 1 < count ? &wrs[i + 1] : NULL,
			.sg_list	= &sges[i],
			.num_sge	= 1,
			.opcode		= IBV_WR_SEND,
		};
		used += len;
	}
	post_and_wait(c, wrs);
}

/**
 * connection_say - send a message in hex
 * @c: the connection
 * @fmt: the message as hex, as printf's
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
 * connection_receive - wait for a message or for the end of the connection
 * @c: the connection
 * @m: receives the message
 * @timeout_ms: how long to wait, in milliseconds
 *
 * Return: MESSAGE, CLOSED, or SILENCE after the timeout.
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
 * connection_expect_octets - receive the next message, and fail unless it is this one
 * @c: the connection
 * @o: the message
 */
void connection_expect_octets(struct connection *c, const struct octets *o)
{
	enum happening what;
	struct message m;

	what = connection_receive(c, &m, PATIENCE_MS);
	if (what == MESSAGE && octets_match(o, m.data, m.len))
		return;
	octets_print("expected", o->data, o->mask, o->len);
	if (what == MESSAGE)
		octets_print("got", m.data, NULL, m.len);
	fail(what == MESSAGE ? "another answer" :
	     what == CLOSED ? "the connection was closed instead" :
			      "no answer");
}

/**
 * connection_expect - receive the next message, and fail unless it is this one
 * @c: the connection
 * @fmt: the message as hex, as printf's
 */
void connection_expect(struct connection *c, const char *fmt, ...)
{
	static struct octets o;
	va_list ap;

	va_start(ap, fmt);
	octets_vformat(&o, fmt, ap);
	va_end(ap);
	connection_expect_octets(c, &o);
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
 * connection_expect_closed - fail unless the peer disconnects, without another message
 * @c: the connection
 */
void connection_expect_closed(struct connection *c)
{
	expect_no_message(c, CLOSED, PATIENCE_MS);
}

/**
 * connection_expect_broken - fail unless this end's QP fails, without another message
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
 * connection_expect_silence - fail if the peer sends a message or disconnects
 * @c: the connection
 * @ms: how long to wait, in milliseconds
 */
void connection_expect_silence(struct connection *c, int ms)
{
	expect_no_message(c, SILENCE, ms);
}

/**
 * memory_expose - let the peer reach memory
 * @c: the connection
 * @m: receives the memory
 * @len: octets; no multiple of 1 MiB, because rxe looks beyond a multiple of 256 pages
 * @access: IBV_ACCESS_REMOTE_READ, IBV_ACCESS_REMOTE_WRITE or both
 */
void memory_expose(struct connection *c, struct memory *m, unsigned int len,
		   int access)
{
	m->len = len;
	m->data = allocate(len);
	m->mr = enlist(c, m->data, len, access | IBV_ACCESS_LOCAL_WRITE);
}

/**
 * memory_hide - end the peer's access to memory
 * @m: the memory, which stays allocated
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
 * @m: memory that is exposed with IBV_ACCESS_MW_BIND
 *
 * Return: the handle.
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
 * connection_write_by - write to the peer's memory
 * @c: the connection
 * @opcode: IBV_WR_RDMA_WRITE; or IBV_WR_RDMA_WRITE_WITH_IMM, which uses up one of the
 *	peer's Receives and writes nothing there
 * @from: memory to write
 * @len: octets
 * @handle: handle of the peer's memory
 * @offset: offset of the peer's memory
 */
void connection_write_by(struct connection *c, enum ibv_wr_opcode opcode,
			 const struct memory *from, unsigned int len,
			 uint32_t handle, uint64_t offset)
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
		.opcode		= opcode,
		.wr.rdma	= {
			.remote_addr	= offset,
			.rkey		= handle,
		},
	};

	post_and_wait(c, &wr);
}

/**
 * connection_write - write to the peer's memory
 * @c: the connection
 * @from: memory to write
 * @len: octets
 * @handle: handle of the peer's memory
 * @offset: offset of the peer's memory
 *
 * The peer gets no completion.
 */
void connection_write(struct connection *c, const struct memory *from,
		      unsigned int len, uint32_t handle, uint64_t offset)
{
	connection_write_by(c, IBV_WR_RDMA_WRITE, from, len, handle, offset);
}
