// SPDX-License-Identifier: GPL-2.0
/*
 * Cases against the client's memory. The server invalidates handles and writes to memory
 * although it must not, or answers readers that were killed while they waited.
 */
#include <stdio.h>

#include "server.h"

static void invalidate(struct connection *c, const struct call *call,
		       uint32_t handle)
{
	static struct octets o;

	build_reply(&o, call);
	write_data(c, call);
	connection_send(c, o.data, o.len, handle);
}

static void invalidate_nothing(void)
{
	struct call call;
	struct connection *c = at_read(&call);

	invalidate(c, &call, 0);
	as_expected = true;
	serve(c);
}

static void invalidate_unknown(void)
{
	struct call call;
	struct connection *c = at_read(&call);

	invalidate(c, &call, 0xdeadbeef);
	expect_gone(c);
}

static void invalidate_again(void)
{
	struct call call, next;
	struct connection *c = at_read(&call);

	reply(c, &call);
	if (!serve_until(c, READ, &next))
		fail("the client went by itself");
	invalidate(c, &next, call.inv_handle);
	expect_gone(c);
}

static void invalidate_anothers(void)
{
	struct call call, next;
	struct connection *c = at_read(&call);

	if (!serve_until(c, READ, &next))
		fail("the client went by itself");
	invalidate(c, &call, next.inv_handle);
	expect_gone(c);
}

/* Invalidate a handle with a message that is no Reply to the handle's RPC. */
static void invalidate_with(const char *message)
{
	static struct octets o;
	struct call call, next;
	struct connection *c = at_read(&call);

	if (!serve_until(c, READ, &next))
		fail("the client went by itself");
	octets_format(&o, message, call.xid, grant);
	connection_send(c, o.data, o.len, next.inv_handle);
	expect_gone(c);
}

#define RPC_CALLED	"0badca11 00000000 00000002 40000000 00000001 " \
			"00000000 00000000 00000000 00000000 00000000"

static void invalidate_with_call(void)
{
	invalidate_with("0badca11 " VERS REQUEST "00000000 " CALL_FLAGS NOTHING
			RPC_CALLED);
}

static void invalidate_with_connprop(void)
{
	invalidate_with("00000001 " VERS "00000020 00000005 " CALL_FLAGS
			PROPERTIES);
}

static void invalidate_with_stray_reply(void)
{
	invalidate_with("0badca11 " VERS "%2$08x 00000000 " REPLY_FLAGS NOTHING
			"0badca11 " RPC_NULL_REPLY);
}

static void invalidate_with_stray_error(void)
{
	invalidate_with("0badca11 " VERS "%2$08x 00000004 " REPLY_FLAGS
			"00000009");
}

static void invalidate_unasked(void)
{
	struct connection *c = greeted();
	struct call call;

	if (!serve_until(c, FSINFO, &call))
		fail("the client went by itself");
	if (call.inv_handle)
		fail("FSINFO with a chunk");
	invalidate(c, &call, 0x1234500);
	expect_gone(c);
}

/*
 * Without an agreement, a Reply may still invalidate a handle of its own RPC, and no
 * other.
 */
static void invalidate_not_agreed(void)
{
	struct call call, next;
	struct connection *c = at_read(&call);

	invalidate(c, &call, call.segments[0].handle);
	if (!serve_until(c, READ, &call) || !serve_until(c, READ, &next))
		fail("the client went by itself");
	invalidate(c, &call, next.segments[0].handle);
	expect_gone(c);
	invalidate_unknown();
}

/* RDMA Writes to memory that is not offered, or no longer */

/*
 * Write the length of the first segment, @skip octets behind it or to another handle.
 */
static void write_to(struct connection *c, const struct call *call,
		     uint32_t handle, unsigned int skip)
{
	const struct segment *seg = &call->segments[0];

	connection_write(c, &file_data, seg->length, handle ? handle : seg->handle,
			 seg->offset + skip);
}

static void write_elsewhere(void)
{
	struct call call;
	struct connection *c = at_read(&call);

	write_to(c, &call, 0, 4096);
	expect_gone(c);
	c = at_read(&call);
	write_to(c, &call, 0xdeadbeef, 0);
	expect_gone(c);
}

static void write_after_reply(void)
{
	struct call call;
	struct connection *c = at_read(&call);

	reply(c, &call);
	write_to(c, &call, 0, 0);
	expect_gone(c);
}

/*
 * Use up a Receive with an RDMA Write With Immediate, which leaves the buffer alone.
 * The buffer holds a Reply to a Call that ended long ago, so the client would ignore
 * that Reply. The completion has the length of the Write.
 */
static void write_with_immediate(void)
{
	struct connection *c;
	struct call call;
	unsigned int i;

	grant = 4;
	c = at_read(&call);
	/* Put a Reply into each of the client's Receives. */
	for (i = 0; i < 2 * (grant + 16); i++) {
		reply(c, &call);
		if (!next_call(c, &call))
			fail("the client went by itself");
	}
	if (call.procedure != READ && !serve_until(c, READ, &call))
		fail("the client went by itself");
	connection_write_by(c, IBV_WR_RDMA_WRITE_WITH_IMM, &file_data,
			    call.segments[0].length, call.segments[0].handle,
			    call.segments[0].offset);
	expect_gone(c);
}

static void close_in_the_middle(void)
{
	struct connection *c;
	struct call call;
	unsigned int i;

	for (i = 0; i < 10; i++) {
		c = at_read(&call);
		if (i % 2)
			write_data(c, &call);
		connection_close(c);
	}
}

/*
 * Keep a READDIR waiting, because the process itself reads a directory, one RPC at a
 * time.
 */
static struct connection *keep_waiting(struct call *call)
{
	struct options options = default_options;
	struct connection *c;
	struct message m;

	/*
	 * This end claims to send at most 1024 octets, so the client offers a Reply
	 * chunk.
	 */
	options.private_data = "\xf6\xab\x0e\x18\x01\x01\x00\x00";
	options.private_len = 8;
	options.recvs = grant + 4;
	c = next_client(&options);
	greet(c);
	if (!serve_until(c, READDIR, call))
		fail("the client went by itself");
	if (!call->has_reply)
		fail("READDIR without a Reply chunk");
	printf("# waiting\n");
	while (!reader_killed)
		connection_receive(c, &m, 100);
	return c;
}

static void reply_to_killed(void)
{
	struct call call;
	struct connection *c = keep_waiting(&call);

	say(c, "%08x " VERS "%08x 00000000 " REPLY_FLAGS NOTHING
	    "%08x " RPC_NULL_REPLY, call.xid, grant, call.xid);
	as_expected = true;
	serve(c);
}

static void write_to_killed(void)
{
	struct call call;
	struct connection *c = keep_waiting(&call);

	write_to(c, &call, 0, 0);
	expect_gone(c);
}

/*
 * The killed reader has the only credit, which never returns. Other RPCs must not wait
 * for ever, and only the client can notice that.
 */
static void keep_the_credit(void)
{
	enum happening what;
	struct message m;
	struct call call;

	grant = 1;
	what = connection_receive(keep_waiting(&call), &m, PATIENCE_MS);
	if (what == MESSAGE)
		fail("a Call without a credit");
	if (what != CLOSED)
		fail("the client waits for ever");
}

const struct test memory_cases[] = {
	{ "survives-invalidate-nothing", invalidate_nothing },
	{ "survives-invalidate-unknown", invalidate_unknown },
	{ "survives-invalidate-again", invalidate_again },
	{ "survives-invalidate-anothers", invalidate_anothers },
	{ "survives-invalidate-with-call", invalidate_with_call },
	{ "survives-invalidate-with-connprop", invalidate_with_connprop },
	{ "survives-invalidate-with-stray-reply", invalidate_with_stray_reply },
	{ "survives-invalidate-with-stray-error", invalidate_with_stray_error },
	{ "survives-invalidate-unasked", invalidate_unasked },
	{ "survives-write-elsewhere", write_elsewhere },
	{ "survives-write-after-reply", write_after_reply },
	{ "survives-write-with-immediate", write_with_immediate },
	{ "survives-close-in-the-middle", close_in_the_middle },
	{ "survives-v1-invalidate", invalidate_not_agreed },
	{ "survives-v1-write-elsewhere", write_elsewhere },
	{ "killed-v1-reply", reply_to_killed },
	{ "killed-v1-write", write_to_killed },
	{ "killed-v1-keep-the-credit", keep_the_credit },
	{ "killed-keep-the-credit", keep_the_credit },
	{ "killed-reply", reply_to_killed },
	{ "killed-write", write_to_killed },
	{ },
};
