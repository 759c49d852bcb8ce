/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wire/ holds the codecs of RPC-over-RDMA: octets in, structs out, and back.
 *
 * All functions of wire/ may run in any context. They allocate no memory, take no lock
 * and know no connection. Streams, headers and buffers belong to the caller. The same
 * files build in user space, against a shim of <linux/sunrpc/xdr.h>.
 *
 * A decoder checks each length before it reads. A header that a decoder accepts is in
 * bounds and consistent, so no upper layer checks it again.
 *
 * A decoder that refuses a message puts the answer into rpcrdma2_header.error. The code
 * RDMA2_ERR_NONE there means that no answer is possible: the caller closes the connection.
 */
#ifndef _RPCRDMA2_WIRE_H
#define _RPCRDMA2_WIRE_H

#include <linux/sunrpc/xdr.h>
#include <linux/sunrpc/rpcrdma2.h>

/* How a receiver treats a change of a property: in a REQUEST; in an UPDATE */
enum rpcrdma2_on_change {
	RPCRDMA2_FIXED,		/* it rejects the REQUEST; it ignores the UPDATE */
	RPCRDMA2_BUFFER_SIZE,	/* it resizes its Receive buffers; it learns the peer's size */
	RPCRDMA2_WISH,		/* it rejects the REQUEST; it asks the peer for this rbsiz */
};

/**
 * struct rpcrdma2_prop - a transport property, whose value is one word
 * @id: number on the wire
 * @name: name in debugfs and tracepoints
 * @initial: value until the peer states another one
 * @field: offset of the value in struct rpcrdma2_props, octets
 * @decode: convert a word to a value; returns 0, or -EBADMSG if the property can't have
 *	this word. For an experimental @id, the caller then takes @initial
 * @encode: convert a value to a word; NULL: the word is the value
 * @value_name: convert a value to its name; NULL: users see the number
 * @on_change: how a receiver treats a change on a live connection
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
 * struct rpcrdma2_prop_table - the properties of a dialect
 * @props: array of the properties
 * @nr: number of @props
 * @empty_is_default: a property without data has its initial value (v2-09, 4.1)
 * @others: values of the properties that the dialect lacks
 */
struct rpcrdma2_prop_table {
	const struct rpcrdma2_prop	*props;
	unsigned int			nr;
	bool				empty_is_default;
	struct rpcrdma2_props		others;
};

#define RPCRDMA2_MAX_ERROR_WORDS	2

/**
 * struct rpcrdma2_errdef - an error of a dialect
 * @number: number on the wire
 * @code: meaning: enum rpcrdma2_errcode
 * @name: name in debugfs and tracepoints
 * @nr_words: number of words that follow @number
 * @words: offsets of these words in struct rpcrdma2_error, octets
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
 * struct rpcrdma2_type - a header type: the wire form of one kind of message
 * @htype: number on the wire
 * @kind: enum rpcrdma2_kind
 * @decode: decode the part behind the header type, up to any RPC message; returns 0, or
 *	-EBADMSG with the answer in the header's error field
 * @encode: encode the same part; returns 0, or -EMSGSIZE if the stream has no room
 * @size: returns the octets that @encode will write
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
 * struct rpcrdma2_dialect - the wire format of one draft or RFC
 * @name: name in tracepoints, statistics and the module parameter "dialects"
 * @version: version word; two dialects may have the same
 * @inline_default: inline threshold of a peer that states none, octets
 * @plain_size: size of an RDMA2_MSG's header without chunks, octets
 * @types: array of header types
 * @nr_types: number of @types
 * @refuse_type: refuse a message with an unknown header type; returns as
 *	rpcrdma2_type.decode does
 * @errors: array of errors. Each dialect has RDMA2_ERR_BAD_XDR, which
 *	rpcrdma2_encode_error() sends in place of an error that the dialect lacks
 * @nr_errors: number of @errors
 * @open_errors: extensions may add errors, so an unknown number passes as it is
 *	(v2-09, 9.3)
 * @props: properties, which the ends exchange in RPCRDMA2_PROPS messages; NULL: the
 *	dialect has none, so the ends use CM private data
 * @props_optional: a peer may speak this dialect without properties. Such a peer answers
 *	RPCRDMA2_PROPS with the error for an unknown header type
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

/* The highest error number in any draft of version 2 */
#define RPCRDMA2_OTHERS_LAST_ERROR	100

/* v1.c, v2_01.c, v2_09.c */
extern const struct rpcrdma2_dialect rpcrdma2_v1;
extern const struct rpcrdma2_dialect rpcrdma2_v2_01;
extern const struct rpcrdma2_dialect rpcrdma2_v2_09;

#define RPCRDMA2_NR_DIALECTS	3

/**
 * struct rpcrdma2_dialects - the dialects that an end may speak
 * @nr: number of dialects in use
 * @dialect: the dialects, in order of preference
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
const char *rpcrdma2_error_name(u32 code);
void rpcrdma2_print_error(const struct rpcrdma2_dialect *dialect,
			  const struct rpcrdma2_error *err, char *buf, size_t size);

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
 * rpcrdma2_rpc_agrees - compare an RPC message with its header (v2-09, 3.2)
 * @rpc: first two words of the RPC message: XID and direction
 * @xid: XID of the header, host order
 * @response: whether a responder sent the header
 *
 * Context: Any context.
 * Return: whether XID and direction are the same in both
 */
static inline bool rpcrdma2_rpc_agrees(const __be32 *rpc, u32 xid, bool response)
{
	return be32_to_cpup(rpc) == xid && be32_to_cpup(rpc + 1) == response;
}

/**
 * rpcrdma2_rpc_header - begin the header of an inline RPC message without chunks
 * @hdr: header to fill in for rpcrdma2_encode(); its error and bodies of other kinds stay
 *	undefined
 * @xid: XID of the RPC, host order
 * @vers: version word
 * @credit: credits that a Call requests, or a Reply grants
 * @response: true for a Reply
 * @words: array of the caller's that will hold the segments of chunks added later
 *
 * Context: Any context.
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
 * rpcrdma2_has_chunks - whether a header has chunks, empty ones included
 * @cl: chunk lists of the header
 *
 * Context: Any context.
 * Return: true if @cl has a chunk of any sort
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
 * rpcrdma2_position_zero - find the Position-Zero Read chunk of a header
 * @cl: decoded chunk lists
 *
 * Context: Any context.
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
#define RPCRDMA2_PROPVAL_SIZE	(3 * XDR_UNIT)	/* id, length, value */

/**
 * rpcrdma2_prop_index - the place of a property in sets of bits and arrays of values
 * @prop: the property
 *
 * Context: Any context.
 * Return: index from 0 on, the same in all dialects
 */
static inline unsigned int rpcrdma2_prop_index(const struct rpcrdma2_prop *prop)
{
	return prop->field / sizeof(u32);
}

/**
 * rpcrdma2_prop_value - read the value of a property
 * @props: values of all properties
 * @prop: the property
 *
 * Context: Any context.
 * Return: the value
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
 * rpcrdma2_is_change - whether a message is about a change of properties
 * @kind: enum rpcrdma2_kind of the message
 *
 * Context: Any context.
 * Return: true for a REQUEST, a DISPOSITION and an UPDATE
 */
static inline bool rpcrdma2_is_change(u32 kind)
{
	return kind >= RPCRDMA2_REQUEST && kind <= RPCRDMA2_UPDATE;
}

/* error.c */

/**
 * rpcrdma2_error_is_foreign - is the number of an error one of another draft?
 * @err: the error
 *
 * Context: Any context.
 * Return: whether the dialect's own errors say nothing about it
 */
static inline bool rpcrdma2_error_is_foreign(const struct rpcrdma2_error *err)
{
	return err->bare && err->code != RDMA2_ERR_VERS;
}

#define RPCRDMA2_ERROR_WORD(name)	offsetof(struct rpcrdma2_error, name)

const struct rpcrdma2_errdef *
rpcrdma2_error_of(const struct rpcrdma2_dialect *dialect, u32 code);
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
 * @remote_inv: the R bit: the sender accepts Send With Invalidate
 * @send_size: size of the largest inline message that the sender sends, octets
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
