// SPDX-License-Identifier: GPL-2.0
/*
 * Makes messages from a seed, valid ones and damaged ones, for a suite and for the
 * fuzzer.
 */
#include "wire_test.h"

/**
 * wire_random_message - make a valid message, of random parts or from the vectors
 * @rng: random numbers
 * @scratch: memory for a header
 * @msg: receives the message
 *
 * Context: any.
 */
void wire_random_message(struct wire_rng *rng, struct rpcrdma2_header *scratch,
			 struct wire_msg *msg)
{
	const struct wire_vector *v;
	size_t rest;

	if (wire_random_below(rng, 2)) {
		v = wire_vector(wire_random_below(rng, wire_nr_vectors()));
		msg->len = 0;
		wire_parse(msg, v->wire);
		wire_parse(msg, v->rpc ? v->rpc : "");
		return;
	}
	rest = wire_random_header(rng, scratch);
	wire_encode(rng->codec, msg, scratch);
	if (rest)
		wire_put_rpc(msg, scratch->xid, scratch->response, rest);
}

static void move_words(struct wire_rng *rng, struct wire_msg *msg)
{
	u8 *to = msg->octets + 4 * wire_random_below(rng, msg->len / 4);
	u8 *from = msg->octets + 4 * wire_random_below(rng, msg->len / 4);
	size_t room = msg->octets + msg->len - (to > from ? to : from);

	memmove(to, from, min_t(size_t, room,
				4 * (1 + wire_random_below(rng, 12))));
}

static void lose_word(struct wire_msg *msg, size_t at)
{
	memmove(msg->octets + at, msg->octets + at + 4, msg->len - at - 4);
	msg->len -= 4;
}

static void gain_word(struct wire_msg *msg, size_t at, u32 word)
{
	if (msg->len + 4 > WIRE_ROOM)
		return;
	memmove(msg->octets + at + 4, msg->octets + at, msg->len - at);
	put_unaligned_be32(word, msg->octets + at);
	msg->len += 4;
}

/**
 * wire_mutate - damage a message, or turn it into another
 * @rng: random numbers
 * @msg: the message; one of fewer than 8 octets stays as it is
 *
 * Context: any.
 */
void wire_mutate(struct wire_rng *rng, struct wire_msg *msg)
{
	size_t at;

	if (msg->len < 8)
		return;
	at = 4 * wire_random_below(rng, msg->len / 4);
	switch (wire_random_below(rng, 8)) {
	case 0:
		msg->octets[wire_random_below(rng, msg->len)] ^=
			1 << wire_random_below(rng, 8);
		break;
	case 1:
		msg->len = wire_random_below(rng, msg->len + 1);
		break;
	case 2:
		move_words(rng, msg);
		break;
	case 3:
		lose_word(msg, at);
		break;
	case 4:
		gain_word(msg, at, wire_random_edgy(rng));
		break;
	case 5:
		put_unaligned_be32(get_unaligned_be32(msg->octets + at) +
				   4 * wire_random_below(rng, 5) - 8,
				   msg->octets + at);
		break;
	default:
		put_unaligned_be32(wire_random_edgy(rng), msg->octets + at);
		break;
	}
}
