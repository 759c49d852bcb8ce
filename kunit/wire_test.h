/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Common parts of the suites of wire/. All but the suites themselves also serves the fuzzer
 * and the rpcgen oracle, which run in user space.
 */
#ifndef _RPCRDMA2_WIRE_TEST_H
#define _RPCRDMA2_WIRE_TEST_H

#include "wire/wire.h"

#define WIRE_ROOM	20480

/*
 * A codec's number is its version, but for WIRE_V2_01, the other dialect of version 2.
 */
#define WIRE_V1		1
#define WIRE_V2		2
#define WIRE_V2_01	3
#define WIRE_NR_CODECS	3

/**
 * struct wire_msg - a message under construction
 * @len: octets so far
 * @octets: the octets
 */
struct wire_msg {
	size_t	len;
	u8	octets[WIRE_ROOM] __aligned(8);
};

/**
 * struct wire_vector - octets, and the header that they decode to
 * @name: what is special about the message
 * @wire: octets of the header, in hex
 * @rpc: the RPC message behind the header, in hex; NULL if there is none
 * @rpc_min: octets of @rpc without which the header is refused
 * @one_way: this side would encode @hdr in other octets
 * @codec: dialect of the octets; 0: the one with the version in @hdr
 * @hdr: the header
 */
struct wire_vector {
	const char		*name;
	const char		*wire;
	const char		*rpc;
	unsigned int		rpc_min;
	bool			one_way;
	u32			codec;
	struct rpcrdma2_header	hdr;
};

static inline u32 wire_codec(const struct wire_vector *v)
{
	return v->codec ?: v->hdr.vers;
}

/* wire_vectors_v1.c, wire_vectors_v2_01.c, wire_vectors_rpc.c, wire_vectors_change.c */
extern const struct wire_vector wire_v1_vectors[];
extern const unsigned int wire_nr_v1_vectors;
extern const struct wire_vector wire_v2_01_vectors[];
extern const unsigned int wire_nr_v2_01_vectors;
extern const struct wire_vector wire_rpc_vectors[];
extern const unsigned int wire_nr_rpc_vectors;
extern const struct wire_vector wire_change_vectors[];
extern const unsigned int wire_nr_change_vectors;

/* wire_vectors_control.c */
unsigned int wire_nr_vectors(void);
const struct wire_vector *wire_vector(unsigned int i);

/* wire_check.c */
const struct rpcrdma2_dialect *wire_dialect(u32 codec);
void wire_parse(struct wire_msg *msg, const char *hex);
void wire_put(struct wire_msg *msg, u32 word);
void wire_put_segment(struct wire_msg *msg, u32 handle, u32 length, u64 offset);
void wire_put_rpc(struct wire_msg *msg, u32 xid, bool reply, size_t len);
int wire_decode(u32 codec, const void *octets, size_t len,
		struct rpcrdma2_header *hdr, size_t *rest);
int wire_encode(u32 codec, struct wire_msg *msg,
		const struct rpcrdma2_header *hdr);
const char *wire_error_differs(const struct rpcrdma2_error *a,
			       const struct rpcrdma2_error *b);
const char *wire_header_differs(u32 codec, const struct rpcrdma2_header *a,
				const struct rpcrdma2_header *b);
const char *wire_check_round_trip(u32 codec, const struct rpcrdma2_header *hdr,
				  size_t rest);

/* wire_invariants.c */
const char *wire_check_accepted(u32 codec, const struct rpcrdma2_header *hdr,
				size_t rest);
const char *wire_check_refused(u32 codec, const struct rpcrdma2_header *hdr);
const char *wire_check_answer(const struct rpcrdma2_header *hdr,
			      const struct wire_msg *msg,
			      const struct rpcrdma2_error *answer);

/* wire_random.c */
/**
 * struct wire_rng - random numbers from a seed
 * @state: the seed, then the state
 * @codec: dialect of the last header
 * @words: segments of the last header
 */
struct wire_rng {
	u64	state;
	u32	codec;
	__be32	words[RPCRDMA2_OWN_SEGMENTS * RPCRDMA2_SEGMENT_WORDS];
};

u32 wire_random(struct wire_rng *rng);
u32 wire_random_below(struct wire_rng *rng, u32 limit);
u32 wire_random_edgy(struct wire_rng *rng);
size_t wire_random_header(struct wire_rng *rng, struct rpcrdma2_header *hdr);

/* wire_mutate.c */
void wire_random_message(struct wire_rng *rng, struct rpcrdma2_header *scratch,
			 struct wire_msg *msg);
void wire_mutate(struct wire_rng *rng, struct wire_msg *msg);

#endif /* _RPCRDMA2_WIRE_TEST_H */
