// SPDX-License-Identifier: GPL-2.0
/*
 * Sends and expects messages in the version of the case. A case is written in version
 * 2. For version 1, these functions take out the flags and the handle to invalidate,
 * and turn each error into ERR_CHUNK.
 */
#include <string.h>

#include "peer.h"

/*
 * Octets of a version 2 message: the part that version 1 shares, and the parts that it
 * lacks
 */
#define COMMON_PREFIX	16
#define FLAGS		4
#define FLAGS_AND_HANDLE 8

unsigned int version = 2;

static void cut_out(struct octets *o, unsigned int from, unsigned int len)
{
	memmove(o->data + from, o->data + from + len, o->len - from - len);
	memmove(o->mask + from, o->mask + from + len, o->len - from - len);
	o->len -= len;
}

/**
 * in_this_version - turn a message into the version of the case
 * @o: the message; one that is not of version 2 stays as it is
 */
void in_this_version(struct octets *o)
{
	if (version == 2 || o->len < COMMON_PREFIX + FLAGS ||
	    word_at(o->data, 1) != 2)
		return;
	o->data[7] = 1;
	switch (word_at(o->data, 3)) {
	case 0:
	case 1:
		cut_out(o, COMMON_PREFIX, FLAGS_AND_HANDLE);
		break;
	case 4:
		/* ERR_CHUNK */
		o->data[COMMON_PREFIX + 3] = 2;
		o->len = COMMON_PREFIX + 4;
		break;
	}
}

static const struct octets *message(const char *fmt, va_list ap)
{
	static struct octets o;

	octets_vformat(&o, fmt, ap);
	in_this_version(&o);
	return &o;
}

/**
 * say - send a message
 * @c: the connection
 * @fmt: the message as hex of version 2, as printf's
 */
void say(struct connection *c, const char *fmt, ...)
{
	const struct octets *o;
	va_list ap;

	va_start(ap, fmt);
	o = message(fmt, ap);
	va_end(ap);
	connection_send(c, o->data, o->len, 0);
}

/**
 * say_at_once - send a message many times, faster than the peer can answer
 * @c: the connection
 * @times: how many times, at most MAX_CHAIN
 * @fmt: the message as hex of version 2, as printf's
 */
void say_at_once(struct connection *c, unsigned int times, const char *fmt, ...)
{
	const struct octets *chain[MAX_CHAIN];
	unsigned int i;
	va_list ap;

	va_start(ap, fmt);
	chain[0] = message(fmt, ap);
	va_end(ap);
	for (i = 1; i < times; i++)
		chain[i] = chain[0];
	connection_send_chain(c, chain, times);
}

/**
 * expect - receive the next message, and fail unless it is this one
 * @c: the connection
 * @fmt: the message as hex of version 2, as printf's
 */
void expect(struct connection *c, const char *fmt, ...)
{
	const struct octets *o;
	va_list ap;

	va_start(ap, fmt);
	o = message(fmt, ap);
	va_end(ap);
	connection_expect_octets(c, o);
}
