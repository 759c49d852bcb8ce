/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wire/: bytes in, structs out, and back.
 *
 * Nothing below this line allocates, locks or knows a connection, and all of
 * it also builds in user space against a shim of <linux/sunrpc/xdr.h>.
 *
 * A decoder trusts nothing: it checks every length before it reads, and what
 * it accepts is in bounds and consistent, so that no layer above looks at it
 * twice. A decoder that refuses leaves in rpcrdma2_header.error what the
 * responder has to answer; a code of RDMA2_ERR_NONE there means that no
 * answer is possible and the connection has to go.
 */
#ifndef _RPCRDMA2_WIRE_H
#define _RPCRDMA2_WIRE_H

#include <linux/sunrpc/xdr.h>
#include <linux/sunrpc/rpcrdma2.h>

/* What comes of a request for a property's change, and of the news that it has. */
enum rpcrdma2_on_change {
	RPCRDMA2_FIXED,		/* it doesn't: rejected; and ignored */
	RPCRDMA2_BUFFER_SIZE,	/* this end's Receives get that size; the peer's have it */
	RPCRDMA2_WISH,		/* rejected; the peer is asked for a BUFFER_SIZE like that */
};

/**
 * struct rpcrdma2_prop - a transport property, of one word
 * @id: on the wire
 * @name: in debugfs and tracepoints
 * @initial: its value as long as nothing was said
 * @field: where struct rpcrdma2_props has it
 * @decode: what a word means: 0, or -EBADMSG if it is none of the property's. That of
 *	an experimental @id is taken for @initial then
 * @encode: the word for a value; NULL: the value itself
 * @value_name: what to call a value; NULL: its number
 * @on_change: may it change while the connection lives, and what happens then?
 */
struct rpcrdma2_prop {
	u32		id;
	const char	*name;
	u32		initial;
	size_t		field;
	int		(*decode)(u32 word, u32 *value);
	u32		(*encode)(u32 value);
	const char	*(*value_name)(u32 value);
	enum rpcrdma2_on_change on_change;
};

/**
 * struct rpcrdma2_prop_table - the properties that a dialect has
 * @props: one by one
 * @nr: how many
 * @empty_is_default: one without data has its default (v2-09, 4.1)
 * @others: values of those that the dialect doesn't have
 */
struct rpcrdma2_prop_table {
	const struct rpcrdma2_prop	*props;
	unsigned int			nr;
	bool				empty_is_default;
	struct rpcrdma2_props		others;
};

#define RPCRDMA2_MAX_ERROR_WORDS	2

/**
 * struct rpcrdma2_errdef - an error that a dialect has
 * @number: on the wire
 * @code: what it means: enum rpcrdma2_errcode, or that of an extension
 * @name: in debugfs and tracepoints
 * @nr_words: words that follow @number
 * @words: where struct rpcrdma2_error has them
 */
struct rpcrdma2_errdef {
	u32		number;
	u32		code;
	const char	*name;
	unsigned int	nr_words;
	size_t		words[RPCRDMA2_MAX_ERROR_WORDS];
};

struct rpcrdma2_dialect;

/**
 * struct rpcrdma2_type - a header type: how one kind of message is written
 * @htype: on the wire
 * @kind: enum rpcrdma2_kind
 * @decode: decode what follows the header type, up to the RPC message, if there is one.
 *	Return: 0, or -EBADMSG with the answer in the header's error field
 * @encode: encode that. Return: 0, or -EMSGSIZE if the stream has no room
 * @size: octets that @encode will produce
 */
struct rpcrdma2_type {
	u32	htype;
	u32	kind;
	int	(*decode)(const struct rpcrdma2_dialect *dialect,
			  struct xdr_stream *xdr, struct rpcrdma2_header *hdr);
	int	(*encode)(const struct rpcrdma2_dialect *dialect,
			  struct xdr_stream *xdr,
			  const struct rpcrdma2_header *hdr);
	size_t	(*size)(const struct rpcrdma2_dialect *dialect,
			const struct rpcrdma2_header *hdr);
};

/**
 * struct rpcrdma2_dialect - one text's way of writing headers
 * @name: for tracepoints and statistics
 * @version: the version word; two dialects may have the same
 * @inline_default: inline threshold of a peer that says nothing, octets
 * @plain_size: of the header of an RDMA2_MSG without chunks, as most are, octets
 * @types: header types
 * @nr_types: how many
 * @refuse_type: refuse a header type that isn't there: as @decode of one
 * @errors: errors; each dialect has BAD_XDR, and says that for those that it lacks
 * @nr_errors: how many
 * @open_errors: others may be those of extensions, and go through as they are (v2-09, 9.3)
 * @props: properties, which the ends tell each other in RDMA2_CONNPROP, or what
 *	stands for it; NULL: there are none, and the CM's private data has to do
 * @props_optional: a peer may speak the dialect and know no properties: it calls
 *	them an unknown header type
 */
struct rpcrdma2_dialect {
	const char	*name;
	u32		version;
	u32		inline_default;
	u32		plain_size;
	const struct rpcrdma2_type *types;
	unsigned int	nr_types;
	int		(*refuse_type)(struct rpcrdma2_header *hdr);
	const struct rpcrdma2_errdef *errors;
	unsigned int	nr_errors;
	bool		open_errors;
	const struct rpcrdma2_prop_table *props;
	bool		props_optional;
};

/* The highest number of an error that a text of version 2 has */
#define RPCRDMA2_OTHERS_LAST_ERROR	100

/* v1.c, v2_01.c, v2_09.c */
extern const struct rpcrdma2_dialect rpcrdma2_v1;
extern const struct rpcrdma2_dialect rpcrdma2_v2_01;
extern const struct rpcrdma2_dialect rpcrdma2_v2_09;

#define RPCRDMA2_NR_DIALECTS	3

/**
 * struct rpcrdma2_dialects - what an end may speak
 * @nr: how many
 * @dialect: which, those that it prefers first
 */
struct rpcrdma2_dialects {
	unsigned int			nr;
	const struct rpcrdma2_dialect	*dialect[RPCRDMA2_NR_DIALECTS];
};

/* dialect.c */
extern const struct rpcrdma2_dialects rpcrdma2_all_dialects;
void rpcrdma2_dialects_of_version(struct rpcrdma2_dialects *dialects, u32 version);
void rpcrdma2_dialects_from(struct rpcrdma2_dialects *dialects,
			    const struct rpcrdma2_dialect *first);
const struct rpcrdma2_dialect *
rpcrdma2_next_dialect(const struct rpcrdma2_dialects *dialects,
		      const struct rpcrdma2_dialect *dialect,
		      u32 vers_low, u32 vers_high);
void rpcrdma2_version_range(const struct rpcrdma2_dialects *dialects,
			    u32 *low, u32 *high);
const struct rpcrdma2_dialect *
rpcrdma2_recognize(const struct rpcrdma2_dialects *dialects, void *msg, size_t len);

/* message.c */
const struct rpcrdma2_type *
rpcrdma2_type_of(const struct rpcrdma2_type *types, unsigned int nr, u32 htype);
const struct rpcrdma2_type *
rpcrdma2_type_for(const struct rpcrdma2_type *types, unsigned int nr, u32 kind);
int rpcrdma2_refuse_silently(struct rpcrdma2_header *hdr);
int rpcrdma2_refuse(struct rpcrdma2_header *hdr, u32 code);
int rpcrdma2_decode(const struct rpcrdma2_dialect *dialect,
		    struct xdr_stream *xdr, struct rpcrdma2_header *hdr);
int rpcrdma2_encode(const struct rpcrdma2_dialect *dialect,
		    struct xdr_stream *xdr, const struct rpcrdma2_header *hdr);
size_t rpcrdma2_header_size(const struct rpcrdma2_dialect *dialect,
			    const struct rpcrdma2_header *hdr);
int rpcrdma2_check_rpc(struct xdr_stream *xdr, struct rpcrdma2_header *hdr);

/**
 * rpcrdma2_rpc_agrees - is this the RPC message that the header is for?
 * @rpc: its first two words
 * @xid: the header's
 * @response: whether the header is a responder's
 *
 * Return: whether XID and direction are the same (v2-09, 3.2)
 */
static inline bool rpcrdma2_rpc_agrees(const __be32 *rpc, u32 xid, bool response)
{
	return be32_to_cpup(rpc) == xid && be32_to_cpup(rpc + 1) == response;
}

/**
 * rpcrdma2_rpc_header - begin the header of an inline RPC message
 * @hdr: what rpcrdma2_encode() will be given: without chunks yet, and the rest of it is
 *	of no use
 * @xid: of the RPC, host order
 * @vers: version word
 * @credit: request or grant
 * @response: whether it is a Reply's
 * @words: for the chunks' segments
 */
static inline void rpcrdma2_rpc_header(struct rpcrdma2_header *hdr, u32 xid,
				       u32 vers, u32 credit, bool response,
				       __be32 *words)
{
	hdr->xid = xid;
	hdr->vers = vers;
	hdr->credit = credit;
	hdr->kind = RPCRDMA2_MSG;
	hdr->response = response;
	hdr->chunks.inv_handle = 0;
	hdr->chunks.nreads = 0;
	hdr->chunks.nwrites = 0;
	hdr->chunks.has_reply = false;
	hdr->chunks.nsegs = 0;
	hdr->chunks.words = words;
}

/**
 * rpcrdma2_has_chunks - are there any, be they empty?
 * @cl: chunk lists
 */
static inline bool rpcrdma2_has_chunks(const struct rpcrdma2_chunk_lists *cl)
{
	return cl->nreads || cl->nwrites || cl->has_reply;
}

/* chunks.c */
struct rpcrdma2_segment
rpcrdma2_chunk_segment(const struct rpcrdma2_chunk_lists *cl,
		       const struct rpcrdma2_chunk *chunk, unsigned int i);
struct rpcrdma2_chunk *
rpcrdma2_add_read_chunk(struct rpcrdma2_chunk_lists *cl, u32 position);
struct rpcrdma2_chunk *
rpcrdma2_add_write_chunk(struct rpcrdma2_chunk_lists *cl);
struct rpcrdma2_chunk *
rpcrdma2_add_reply_chunk(struct rpcrdma2_chunk_lists *cl);
int rpcrdma2_add_segment(struct rpcrdma2_chunk_lists *cl,
			 struct rpcrdma2_chunk *chunk,
			 u32 handle, u32 length, u64 offset);
void rpcrdma2_return_chunk(struct rpcrdma2_chunk_lists *cl,
			   struct rpcrdma2_chunk *chunk,
			   const struct rpcrdma2_chunk *offer, u32 used);
int rpcrdma2_decode_chunk_lists(struct xdr_stream *xdr,
				struct rpcrdma2_chunk_lists *cl,
				struct rpcrdma2_error *err);
bool rpcrdma2_reads_fit(const struct rpcrdma2_chunk_lists *cl, size_t len);
bool rpcrdma2_has_handle(const struct rpcrdma2_chunk_lists *cl, u32 handle);
u32 rpcrdma2_any_handle(const struct rpcrdma2_chunk_lists *cl);
int rpcrdma2_encode_chunk_lists(struct xdr_stream *xdr,
				const struct rpcrdma2_chunk_lists *cl);
size_t rpcrdma2_chunk_lists_size(const struct rpcrdma2_chunk_lists *cl);
u32 rpcrdma2_form(const struct rpcrdma2_chunk_lists *cl);
u32 rpcrdma2_read_octets(const struct rpcrdma2_chunk_lists *cl);
u32 rpcrdma2_write_octets(const struct rpcrdma2_chunk_lists *cl);

/**
 * rpcrdma2_position_zero - the Position-Zero Read chunk of a header
 * @cl: decoded chunk lists
 *
 * Return: the chunk, or NULL if there is none
 */
static inline const struct rpcrdma2_chunk *
rpcrdma2_position_zero(const struct rpcrdma2_chunk_lists *cl)
{
	return cl->nreads && !cl->reads[0].position ? &cl->reads[0] : NULL;
}

/* props.c */
void rpcrdma2_props_init(const struct rpcrdma2_prop_table *table,
			 struct rpcrdma2_props *props);
#define RPCRDMA2_PROPVAL_SIZE	(3 * XDR_UNIT)	/* id, length, and a word */

/**
 * rpcrdma2_prop_index - where sets of properties, and lists of values, have one
 * @prop: the property
 */
static inline unsigned int rpcrdma2_prop_index(const struct rpcrdma2_prop *prop)
{
	return prop->field / sizeof(u32);
}

/**
 * rpcrdma2_prop_value - a property's value
 * @props: all of them
 * @prop: which
 */
static inline u32 rpcrdma2_prop_value(const struct rpcrdma2_props *props,
				      const struct rpcrdma2_prop *prop)
{
	return *(const u32 *)((const void *)props + prop->field);
}

int rpcrdma2_decode_prop(struct xdr_stream *xdr,
			 const struct rpcrdma2_prop_table *table,
			 struct rpcrdma2_props *props, u32 *which);
int rpcrdma2_encode_some(struct xdr_stream *xdr,
			 const struct rpcrdma2_prop_table *table,
			 const struct rpcrdma2_props *props, u32 which);
int rpcrdma2_decode_props(struct xdr_stream *xdr,
			  const struct rpcrdma2_prop_table *table,
			  struct rpcrdma2_props *props);
size_t rpcrdma2_props_size(const struct rpcrdma2_prop_table *table);
int rpcrdma2_encode_props(struct xdr_stream *xdr,
			  const struct rpcrdma2_prop_table *table,
			  const struct rpcrdma2_props *props);
int rpcrdma2_decode_rbsiz(u32 word, u32 *value);
const char *rpcrdma2_brs_name(u32 value);
void rpcrdma2_print_prop(const struct rpcrdma2_prop *prop,
			 const struct rpcrdma2_props *props, char *buf, size_t size);
void rpcrdma2_print_props(const struct rpcrdma2_prop_table *table,
			  const struct rpcrdma2_props *props, u32 which,
			  char *buf, size_t size);

/* change.c */
int rpcrdma2_decode_change(const struct rpcrdma2_dialect *dialect,
			   struct xdr_stream *xdr, struct rpcrdma2_header *hdr);
int rpcrdma2_encode_change(const struct rpcrdma2_dialect *dialect,
			   struct xdr_stream *xdr,
			   const struct rpcrdma2_header *hdr);
size_t rpcrdma2_change_size(const struct rpcrdma2_dialect *dialect,
			    const struct rpcrdma2_header *hdr);
int rpcrdma2_decode_changes_prop(u32 word, u32 *value);
u32 rpcrdma2_encode_changes_prop(u32 value);

/**
 * rpcrdma2_is_change - is a message about a change of properties?
 * @kind: its kind
 */
static inline bool rpcrdma2_is_change(u32 kind)
{
	return kind >= RPCRDMA2_REQUEST && kind <= RPCRDMA2_UPDATE;
}

/* error.c */
#define RPCRDMA2_ERROR_WORD(name)	offsetof(struct rpcrdma2_error, name)

const struct rpcrdma2_errdef *
rpcrdma2_error_of(const struct rpcrdma2_dialect *dialect, u32 code);
const char *rpcrdma2_error_name(u32 code);
void rpcrdma2_print_error(const struct rpcrdma2_dialect *dialect,
			  const struct rpcrdma2_error *err, char *buf, size_t size);
int rpcrdma2_decode_error(const struct rpcrdma2_dialect *dialect,
			  struct xdr_stream *xdr, struct rpcrdma2_error *err);
int rpcrdma2_encode_error(const struct rpcrdma2_dialect *dialect,
			  struct xdr_stream *xdr,
			  const struct rpcrdma2_header *hdr);
size_t rpcrdma2_error_size(const struct rpcrdma2_dialect *dialect,
			   const struct rpcrdma2_header *hdr);

/* private_data.c */
#define RPCRDMA2_PRIVATE_DATA_LEN	8

/**
 * struct rpcrdma2_private_data - CM private data (RFC 8797, 4)
 * @remote_inv: the R bit: the sender can take a Send With Invalidate
 * @send_size: largest message the sender will send inline, octets
 * @recv_size: size of the sender's Receive buffers, octets
 */
struct rpcrdma2_private_data {
	bool	remote_inv;
	u32	send_size;
	u32	recv_size;
};

void rpcrdma2_encode_private_data(u8 buf[RPCRDMA2_PRIVATE_DATA_LEN],
				  const struct rpcrdma2_private_data *pd);
bool rpcrdma2_decode_private_data(const void *buf, size_t len,
				  struct rpcrdma2_private_data *pd);

/* stream.c */
void rpcrdma2_stream_decode(struct xdr_stream *xdr, struct xdr_buf *buf,
			    void *start, size_t len);
void rpcrdma2_stream_encode(struct xdr_stream *xdr, struct xdr_buf *buf,
			    void *start, size_t len);

#endif /* _RPCRDMA2_WIRE_H */
