// SPDX-License-Identifier: GPL-2.0
/*
 * Compares wire/ with routines that rpcgen makes from rpcrdma2.x. For each random
 * header:
 *
 * - wire/ encodes it. rpcgen's routines decode the same fields, and encode the same
 *   octets again.
 * - rpcgen's routines encode it, with lists and properties in another order, and with
 *   items that only other peers send. wire/ decodes the same header.
 *
 * rpcgen's routines also decode and encode the vectors of the KUnit suites.
 */
#include <stdio.h>
#include <stdlib.h>
#include "wire_test.h"
#include "oracle.h"

static unsigned long passed, failed;

static void verdict(const char *what, unsigned long n, const char *wrong)
{
	if (!wrong) {
		passed++;
		return;
	}
	if (failed++ < 20)
		printf("FAIL: %s %lu: %s\n", what, n, wrong);
}

static void flatten_segment(struct flat_segment *to,
			    const struct rpcrdma2_chunk_lists *cl,
			    const struct rpcrdma2_chunk *chunk, unsigned int i)
{
	struct rpcrdma2_segment seg = rpcrdma2_chunk_segment(cl, chunk, i);

	to->handle = seg.handle;
	to->length = seg.length;
	to->offset = seg.offset;
}

static void flatten_chunk(struct flat_chunk *to,
			  const struct rpcrdma2_chunk_lists *cl,
			  const struct rpcrdma2_chunk *from)
{
	unsigned int i;

	to->nsegs = from->nsegs;
	for (i = 0; i < from->nsegs; i++)
		flatten_segment(&to->segs[i], cl, from, i);
}

static void flatten_read(struct flat *f, const struct rpcrdma2_chunk_lists *cl,
			 const struct rpcrdma2_chunk *chunk)
{
	unsigned int i;

	for (i = 0; i < chunk->nsegs; i++) {
		f->reads[f->nreads].position = chunk->position;
		flatten_segment(&f->reads[f->nreads++].seg, cl, chunk, i);
	}
}

static void flatten_lists(struct flat *f, const struct rpcrdma2_chunk_lists *cl)
{
	unsigned int i;

	for (i = 0; i < cl->nreads; i++)
		flatten_read(f, cl, &cl->reads[i]);
	f->nwrites = cl->nwrites;
	for (i = 0; i < cl->nwrites; i++)
		flatten_chunk(&f->writes[i], cl, &cl->writes[i]);
	f->has_reply = cl->has_reply;
	if (cl->has_reply)
		flatten_chunk(&f->reply, cl, &cl->reply);
}

static void flatten_error(struct flat *f, const struct rpcrdma2_error *err)
{
	f->code = err->code;
	switch (err->code) {
	case RDMA2_ERR_VERS:
		f->args[0] = err->vers_low;
		f->args[1] = err->vers_high;
		break;
	case RDMA2_ERR_READ_CHUNKS:
	case RDMA2_ERR_WRITE_CHUNKS:
		f->args[0] = err->max_chunks;
		break;
	case RDMA2_ERR_SEGMENTS:
		f->args[0] = err->max_segments;
		break;
	case RDMA2_ERR_WRITE_RESOURCE:
		f->args[0] = err->chunk_index;
		f->args[1] = err->length_needed;
		break;
	case RDMA2_ERR_REPLY_RESOURCE:
		f->args[0] = err->length_needed;
		break;
	}
}

static void add_prop(struct flat *f, u32 id, u32 len, u32 value)
{
	struct flat_prop *prop = &f->props[f->nprops++];

	prop->id = id;
	prop->len = len;
	put_unaligned_be32(value, prop->data);
	memset(prop->data + min_t(u32, len, 4), 0,
	       FLAT_DATA - min_t(u32, len, 4));
}

/* Each draft has its own ids, except for the first and the last property. */
static void flatten_props(struct flat *f, u32 codec,
			  const struct rpcrdma2_props *props, u32 which)
{
	if (which & RPCRDMA2_PROP_BIT(rbsiz))
		add_prop(f, 1, 4, props->rbsiz);
	if (codec == WIRE_V2_01) {
		if (which & RPCRDMA2_PROP_BIT(remote_inv))
			add_prop(f, 2, 4, props->remote_inv);
		if (which & RPCRDMA2_PROP_BIT(brs))
			add_prop(f, 3, 4, props->brs + 1);
	} else {
		if (which & RPCRDMA2_PROP_BIT(brs))
			add_prop(f, 2, 4, props->brs);
		if (which & RPCRDMA2_PROP_BIT(changes))
			add_prop(f, 0xffffff01, 4,
				 props->changes ? 0x72327031 : 0);
	}
	if (which & RPCRDMA2_PROP_BIT(wished_rbsiz))
		add_prop(f, 0xffffff02, 4, props->wished_rbsiz);
}

static void flatten_subset(struct flat_subset *to, u32 word)
{
	to->nwords = 1;
	to->words[0] = word;
}

static void flatten_change(struct flat *f, u32 codec,
			   const struct rpcrdma2_header *hdr)
{
	const struct rpcrdma2_change *change = &hdr->change;

	if (hdr->kind == RPCRDMA2_DISPOSITION) {
		flatten_subset(&f->subsets[0], change->done);
		flatten_subset(&f->subsets[1], change->rejected);
		flatten_subset(&f->subsets[2], change->pending);
		return;
	}
	flatten_props(f, codec, &change->props, change->which);
	f->settled = change->settled;
}

/* A version 2 error in version 1's shape */
static bool is_bare(u32 codec, const struct rpcrdma2_header *hdr)
{
	return codec == WIRE_V2 && hdr->kind == RPCRDMA2_ERROR && hdr->error.bare;
}

/* Header types, which all versions share; version 1 has no properties. */
static const u32 htype_of[] = {
	[RPCRDMA2_MSG]		= 0,
	[RPCRDMA2_NOMSG]	= 1,
	[RPCRDMA2_ERROR]	= 4,
	[RPCRDMA2_PROPS]	= 5,
	/* In v2-01, these are operations of type 5. */
	[RPCRDMA2_REQUEST]	= 0xffffff01,
	[RPCRDMA2_DISPOSITION]	= 0xffffff02,
	[RPCRDMA2_UPDATE]	= 0xffffff03,
};

static const u32 operation_of[] = {
	[RPCRDMA2_PROPS]	= FLAT_INIT,
	[RPCRDMA2_REQUEST]	= FLAT_REQUEST,
	[RPCRDMA2_DISPOSITION]	= FLAT_DISPOSITION,
	[RPCRDMA2_UPDATE]	= FLAT_UPDATE,
};

static void flatten(struct flat *f, u32 codec,
		    const struct rpcrdma2_header *hdr)
{
	memset(f, 0, sizeof(*f));
	f->xid = hdr->xid;
	f->vers = hdr->vers;
	f->credit = hdr->credit;
	f->htype = htype_of[hdr->kind];
	f->operation = operation_of[hdr->kind];
	if (f->operation && codec == WIRE_V2_01)
		f->htype = 5;
	f->codec = codec;
	f->bare = is_bare(codec, hdr);
	f->flags = codec != WIRE_V1 && hdr->response && !f->bare;
	switch (hdr->kind) {
	case RPCRDMA2_ERROR:
		if (codec == WIRE_V2_01)
			f->flags = 0;
		flatten_error(f, &hdr->error);
		break;
	case RPCRDMA2_PROPS:
		flatten_props(f, codec, &hdr->props, U32_MAX);
		break;
	case RPCRDMA2_REQUEST:
	case RPCRDMA2_DISPOSITION:
	case RPCRDMA2_UPDATE:
		flatten_change(f, codec, hdr);
		break;
	default:
		if (codec == WIRE_V2)
			f->inv_handle = hdr->chunks.inv_handle;
		flatten_lists(f, &hdr->chunks);
	}
}

/* wire/ encodes; rpcgen's routines decode, and encode again. */
static const char *wire_to_rpcgen(u32 codec, const struct rpcrdma2_header *hdr)
{
	static struct wire_msg msg;
	static struct flat want, got;
	static u8 again[WIRE_ROOM];
	int len;

	if (wire_encode(codec, &msg, hdr))
		return "wire/ does not encode it";
	flatten(&want, codec, hdr);
	len = rpcgen_decode(&got, msg.octets, msg.len, codec, want.bare);
	if (len < 0)
		return "rpcgen does not decode it";
	if ((size_t)len != msg.len)
		return "rpcgen decodes another length";
	if (memcmp(&want, &got, sizeof(want)))
		return "rpcgen decodes other fields";
	if (rpcgen_encode(&got, again, sizeof(again)) != len)
		return "rpcgen encodes another length";
	return memcmp(again, msg.octets, len) ?
	       "rpcgen encodes other octets" : NULL;
}

/* Rotate whole Read chunks, so that the segments of a chunk stay together. */
static void rotate_reads(struct wire_rng *rng, struct flat *f)
{
	static struct flat_read old[FLAT_SEGMENTS];
	unsigned int i, first;

	if (!f->nreads)
		return;
	first = wire_random_below(rng, f->nreads);
	while (first && f->reads[first].position == f->reads[first - 1].position)
		first--;
	memcpy(old, f->reads, sizeof(old));
	for (i = 0; i < f->nreads; i++)
		f->reads[i] = old[(first + i) % f->nreads];
}

static void rewrite_props(struct wire_rng *rng, struct flat *f,
			  struct rpcrdma2_header *hdr)
{
	f->nprops = 0;
	add_prop(f, 3 + wire_random_below(rng, 9),
		 wire_random_below(rng, FLAT_DATA + 1), wire_random(rng));
	if (wire_random_below(rng, 2))
		add_prop(f, RDMA2_PROPID_BRS, 4, 2);
	add_prop(f, 0xffffff02, 4, hdr->props.wished_rbsiz);
	add_prop(f, 0xffffff01, 4, hdr->props.changes ? 0x72327031 : 1);
	hdr->props.brs = wire_random_below(rng, 3);
	add_prop(f, RDMA2_PROPID_BRS, 4, hdr->props.brs);
	add_prop(f, 0xffffffff, wire_random_below(rng, 5), wire_random(rng));
	if (wire_random_below(rng, 2)) {
		add_prop(f, RDMA2_PROPID_RBSIZ, 4, hdr->props.rbsiz);
		return;
	}
	if (wire_random_below(rng, 2)) {
		add_prop(f, RDMA2_PROPID_RBSIZ, 4, 8192);
		add_prop(f, RDMA2_PROPID_RBSIZ, 0, 0);
	}
	hdr->props.rbsiz = 4096;
}

/* Put an unknown property first, so that all others move back by one place. */
static void rewrite_request(struct wire_rng *rng, struct flat *f,
			    struct rpcrdma2_change *change)
{
	unsigned int i;

	f->nprops++;
	memmove(f->props + 1, f->props, (f->nprops - 1) * sizeof(*f->props));
	f->props[0].id = 0x7000 + wire_random_below(rng, 9);
	f->props[0].len = wire_random_below(rng, FLAT_DATA + 1);
	change->count++;
	for (i = 0; i < ARRAY_SIZE(change->at); i++)
		change->at[i] <<= 1;
}

/* A subset may leave out words without bits at its end. */
static void rewrite_subsets(struct wire_rng *rng, struct flat *f)
{
	struct flat_subset *subset;

	for (subset = f->subsets; subset < f->subsets + 3; subset++)
		if (!subset->words[0] || wire_random_below(rng, 2))
			subset->nwords = !!subset->words[0] +
				wire_random_below(rng, FLAT_WORDS);
}

/* Write a message as another peer might, and change @hdr to its meaning. */
static void rewrite(struct wire_rng *rng, struct flat *f,
		    struct rpcrdma2_header *hdr)
{
	switch (hdr->kind) {
	case RPCRDMA2_PROPS:
		if (rng->codec == WIRE_V2)
			rewrite_props(rng, f, hdr);
		break;
	case RPCRDMA2_REQUEST:
		rewrite_request(rng, f, &hdr->change);
		break;
	case RPCRDMA2_DISPOSITION:
		rewrite_subsets(rng, f);
		break;
	}
}

/* rpcgen's routines encode; wire/ decodes. Changes @hdr. */
static const char *rpcgen_to_wire(struct wire_rng *rng,
				  struct rpcrdma2_header *hdr, size_t rpc_len)
{
	static struct rpcrdma2_header got;
	static struct wire_msg msg;
	static struct flat f;
	size_t rest;
	int len;

	flatten(&f, rng->codec, hdr);
	rotate_reads(rng, &f);
	if (rng->codec == WIRE_V2 && !f.bare)
		f.flags |= wire_random(rng) & ~RPCRDMA2_F_RESPONSE;
	rewrite(rng, &f, hdr);
	len = rpcgen_encode(&f, msg.octets, sizeof(msg.octets));
	if (len < 0)
		return "rpcgen does not encode it";
	msg.len = len;
	if (rpc_len)
		wire_put_rpc(&msg, hdr->xid, hdr->response, rpc_len);
	got.response = hdr->response;
	if (wire_decode(rng->codec, msg.octets, msg.len, &got, &rest))
		return "wire/ does not decode it";
	if (hdr->kind == RPCRDMA2_MSG && rest != rpc_len)
		return "wire/ decodes another length";
	return wire_header_differs(rng->codec, &got, hdr);
}

/* An error with a direction, which the XDR of v2-01 lacks */
static bool has_direction(const struct wire_vector *v)
{
	return wire_codec(v) == WIRE_V2_01 && v->hdr.kind == RPCRDMA2_ERROR &&
	       v->one_way;
}

/* An error of another draft, which the XDR of v2-01 lacks */
static bool is_foreign(const struct wire_vector *v)
{
	return wire_codec(v) == WIRE_V2_01 && v->hdr.kind == RPCRDMA2_ERROR &&
	       v->hdr.error.bare && v->hdr.error.code != RDMA2_ERR_VERS;
}

static const char *vector_to_rpcgen(const struct wire_vector *v)
{
	static struct wire_msg msg;
	static u8 again[WIRE_ROOM];
	static struct flat f;
	int len;

	msg.len = 0;
	wire_parse(&msg, v->wire);
	len = rpcgen_decode(&f, msg.octets, msg.len, wire_codec(v),
			    is_bare(wire_codec(v), &v->hdr));
	if (len < 0)
		return "rpcgen does not decode it";
	/* Neither side knows the arguments of an extension's error. */
	if ((size_t)len != msg.len && f.code <= RDMA2_ERR_SYSTEM)
		return "rpcgen decodes another length";
	if (rpcgen_encode(&f, again, sizeof(again)) != len)
		return "rpcgen encodes another length";
	return memcmp(again, msg.octets, len) ?
	       "rpcgen encodes other octets" : NULL;
}

static void check_header(struct wire_rng *rng, unsigned long n,
			 unsigned long (*kinds)[RPCRDMA2_UPDATE + 1])
{
	static struct rpcrdma2_header hdr;
	size_t rpc_len = wire_random_header(rng, &hdr);

	kinds[rng->codec][hdr.kind]++;
	verdict("wire to rpcgen", n, wire_to_rpcgen(rng->codec, &hdr));
	verdict("rpcgen to wire", n, rpcgen_to_wire(rng, &hdr, rpc_len));
}

static void print_kinds(const char *name, const unsigned long *n)
{
	printf("# %s: %lu MSG, %lu NOMSG, %lu ERROR, %lu CONNPROP, %lu REQUEST, ",
	       name, n[RPCRDMA2_MSG], n[RPCRDMA2_NOMSG], n[RPCRDMA2_ERROR],
	       n[RPCRDMA2_PROPS], n[RPCRDMA2_REQUEST]);
	printf("%lu DISPOSITION, %lu UPDATE\n", n[RPCRDMA2_DISPOSITION],
	       n[RPCRDMA2_UPDATE]);
}

int main(int argc, char **argv)
{
	unsigned long headers = argc > 1 ? strtoul(argv[1], NULL, 0) : 20000;
	struct wire_rng rng = { argc > 2 ? strtoull(argv[2], NULL, 0) : 1 };
	const struct wire_vector *v;
	/* indexed by codec and kind */
	unsigned long kinds[WIRE_NR_CODECS + 1][RPCRDMA2_UPDATE + 1] = { { 0 } };
	unsigned long i;

	if (argc > 3 || !headers) {
		fprintf(stderr, "Usage: %s [HEADERS [SEED]]\n", argv[0]);
		return 2;
	}
	for (i = 0; (v = wire_vector(i)); i++)
		if (!has_direction(v) && !is_foreign(v))
			verdict(v->name, i, vector_to_rpcgen(v));
	printf("# %lu vectors\n", i);
	for (i = 0; i < headers; i++)
		check_header(&rng, i, kinds);
	for (i = 1; i <= WIRE_NR_CODECS; i++)
		print_kinds(wire_dialect(i)->name, kinds[i]);
	printf("%lu passed, %lu failed, 0 skipped\n", passed, failed);
	return failed || !passed;
}
