// SPDX-License-Identifier: GPL-2.0
/*
 * The oracle's other side: plain arrays to octets and back, by the routines
 * that rpcgen made of rpcrdma2.x.
 */
#include <stdlib.h>
#include <string.h>
#include "rpcrdma2.h"
#include "oracle.h"

static void segment_of(struct flat_segment *to, const x_segment *from)
{
	to->handle = from->xs_handle;
	to->length = from->xs_length;
	to->offset = from->xs_offset;
}

static x_segment x_segment_of(const struct flat_segment *from)
{
	return (x_segment){ from->handle, from->length, from->offset };
}

static int chunk_of(struct flat_chunk *to, const x_chunk *from)
{
	u_int i;

	if (from->xk_target.xk_target_len > FLAT_SEGMENTS)
		return -1;
	to->nsegs = from->xk_target.xk_target_len;
	for (i = 0; i < to->nsegs; i++)
		segment_of(&to->segs[i], &from->xk_target.xk_target_val[i]);
	return 0;
}

static void x_chunk_of(x_chunk *to, x_segment *storage,
		       const struct flat_chunk *from)
{
	u_int i;

	for (i = 0; i < from->nsegs; i++)
		storage[i] = x_segment_of(&from->segs[i]);
	to->xk_target.xk_target_len = from->nsegs;
	to->xk_target.xk_target_val = storage;
}

static bool_t encode_lists(XDR *xdrs, const struct flat *f)
{
	static x_segment storage[FLAT_CHUNKS + 1][FLAT_SEGMENTS];
	static struct x_write_list writes[FLAT_CHUNKS];
	static struct x_read_list reads[FLAT_SEGMENTS];
	struct x_chunk_lists lists = { .xl_inv_handle = f->inv_handle };
	struct x_write_list **write = &lists.xl_writes;
	struct x_read_list **read = &lists.xl_reads;
	struct x_chunk reply;
	u_int i;

	for (i = 0; i < f->nreads; i++) {
		reads[i].xr_position = f->reads[i].position;
		reads[i].xr_target = x_segment_of(&f->reads[i].seg);
		*read = &reads[i];
		read = &reads[i].xr_next;
	}
	*read = NULL;
	for (i = 0; i < f->nwrites; i++) {
		x_chunk_of(&writes[i].xw_entry, storage[i], &f->writes[i]);
		*write = &writes[i];
		write = &writes[i].xw_next;
	}
	*write = NULL;
	if (f->has_reply) {
		x_chunk_of(&reply, storage[FLAT_CHUNKS], &f->reply);
		lists.xl_reply = &reply;
	}
	return xdr_x_chunk_lists(xdrs, &lists);
}

static bool_t take_lists(struct flat *f, const x_chunk_lists *lists)
{
	const x_write_list *write;
	const x_read_list *read;

	f->inv_handle = lists->xl_inv_handle;
	for (read = lists->xl_reads; read; read = read->xr_next) {
		if (f->nreads == FLAT_SEGMENTS)
			return FALSE;
		f->reads[f->nreads].position = read->xr_position;
		segment_of(&f->reads[f->nreads++].seg, &read->xr_target);
	}
	for (write = lists->xl_writes; write; write = write->xw_next) {
		if (f->nwrites == FLAT_CHUNKS ||
		    chunk_of(&f->writes[f->nwrites++], &write->xw_entry))
			return FALSE;
	}
	f->has_reply = !!lists->xl_reply;
	return !lists->xl_reply || !chunk_of(&f->reply, lists->xl_reply);
}

static bool_t decode_lists(XDR *xdrs, struct flat *f)
{
	x_chunk_lists lists;
	bool_t ok;

	memset(&lists, 0, sizeof(lists));
	ok = xdr_x_chunk_lists(xdrs, &lists) && take_lists(f, &lists);
	xdr_free((xdrproc_t)xdr_x_chunk_lists, (char *)&lists);
	return ok;
}

static bool_t encode_props(XDR *xdrs, const struct flat *f)
{
	x_property props[FLAT_PROPS];
	x_connprop set;
	u_int i;

	for (i = 0; i < f->nprops; i++) {
		props[i].xp_id = f->props[i].id;
		props[i].xp_data.xp_data_len = f->props[i].len;
		props[i].xp_data.xp_data_val = (char *)f->props[i].data;
	}
	set.xn_props.xn_props_len = f->nprops;
	set.xn_props.xn_props_val = props;
	return xdr_x_connprop(xdrs, &set);
}

static bool_t take_props(struct flat *f, const x_connprop *set)
{
	const x_property *prop = set->xn_props.xn_props_val;
	u_int i;

	if (set->xn_props.xn_props_len > FLAT_PROPS)
		return FALSE;
	f->nprops = set->xn_props.xn_props_len;
	for (i = 0; i < f->nprops; i++, prop++) {
		if (prop->xp_data.xp_data_len > FLAT_DATA)
			return FALSE;
		f->props[i].id = prop->xp_id;
		f->props[i].len = prop->xp_data.xp_data_len;
		if (f->props[i].len)
			memcpy(f->props[i].data, prop->xp_data.xp_data_val,
			       f->props[i].len);
	}
	return TRUE;
}

static bool_t decode_props(XDR *xdrs, struct flat *f)
{
	x_connprop set;
	bool_t ok;

	memset(&set, 0, sizeof(set));
	ok = xdr_x_connprop(xdrs, &set) && take_props(f, &set);
	xdr_free((xdrproc_t)xdr_x_connprop, (char *)&set);
	return ok;
}

/* Both directions; args in the order of the wire. */
static bool_t code_error(XDR *xdrs, struct flat *f)
{
	x_error err = { .xe_code = f->code };
	u_int *arg[2] = { NULL, NULL };
	bool_t encode = xdrs->x_op == XDR_ENCODE;

	if (!encode) {
		u_int pos = xdr_getpos(xdrs);

		if (!xdr_u_int(xdrs, &err.xe_code) || !xdr_setpos(xdrs, pos))
			return FALSE;
	}
	switch (err.xe_code) {
	case XE_VERS:
		arg[0] = &err.x_error_u.xe_versions.xv_low;
		arg[1] = &err.x_error_u.xe_versions.xv_high;
		break;
	case XE_READ_CHUNKS:
		arg[0] = &err.x_error_u.xe_max_reads;
		break;
	case XE_WRITE_CHUNKS:
		arg[0] = &err.x_error_u.xe_max_writes;
		break;
	case XE_SEGMENTS:
		arg[0] = &err.x_error_u.xe_max_segments;
		break;
	case XE_WRITE_RESOURCE:
		arg[0] = &err.x_error_u.xe_write.xw_index;
		arg[1] = &err.x_error_u.xe_write.xw_length;
		break;
	case XE_REPLY_RESOURCE:
		arg[0] = &err.x_error_u.xe_reply_length;
		break;
	}
	if (encode && arg[0])
		*arg[0] = f->args[0];
	if (encode && arg[1])
		*arg[1] = f->args[1];
	if (!xdr_x_error(xdrs, &err))
		return FALSE;
	f->code = err.xe_code;
	f->args[0] = arg[0] ? *arg[0] : 0;
	f->args[1] = arg[1] ? *arg[1] : 0;
	return TRUE;
}

static bool_t code_bare_error(XDR *xdrs, struct flat *f)
{
	x_bare_error err = {
		{ f->xid, f->vers, f->credit, f->htype },
		f->code, { f->args[0], f->args[1] }
	};

	if (!xdr_x_bare_error(xdrs, &err))
		return FALSE;
	f->xid = err.xb_start.xc_xid;
	f->vers = err.xb_start.xc_vers;
	f->credit = err.xb_start.xc_credit;
	f->htype = err.xb_start.xc_htype;
	f->flags = 0;
	f->code = err.xb_code;
	f->args[0] = err.xb_versions.xv_low;
	f->args[1] = err.xb_versions.xv_high;
	return TRUE;
}

static bool_t code_prefix(XDR *xdrs, struct flat *f)
{
	x_prefix prefix = {
		{ f->xid, f->vers, f->credit, f->htype }, f->flags
	};

	if (!xdr_x_prefix(xdrs, &prefix))
		return FALSE;
	f->xid = prefix.xp_start.xc_xid;
	f->vers = prefix.xp_start.xc_vers;
	f->credit = prefix.xp_start.xc_credit;
	f->htype = prefix.xp_start.xc_htype;
	f->flags = prefix.xp_flags;
	return TRUE;
}

static bool_t code_header(XDR *xdrs, struct flat *f)
{
	bool_t encode = xdrs->x_op == XDR_ENCODE;

	if (f->bare)
		return code_bare_error(xdrs, f);
	if (!code_prefix(xdrs, f))
		return FALSE;
	switch (f->htype) {
	case XT_MSG:
	case XT_NOMSG:
		return encode ? encode_lists(xdrs, f) : decode_lists(xdrs, f);
	case XT_CONNPROP:
		return encode ? encode_props(xdrs, f) : decode_props(xdrs, f);
	case XT_ERROR:
		return code_error(xdrs, f);
	default:
		return FALSE;
	}
}

int rpcgen_encode(const struct flat *f, void *octets, size_t room)
{
	struct flat copy = *f;
	int len = -1;
	XDR xdrs;

	xdrmem_create(&xdrs, octets, room, XDR_ENCODE);
	if (code_header(&xdrs, &copy))
		len = xdr_getpos(&xdrs);
	xdr_destroy(&xdrs);
	return len;
}

int rpcgen_decode(struct flat *f, void *octets, size_t len, int bare)
{
	int used = -1;
	XDR xdrs;

	memset(f, 0, sizeof(*f));
	f->bare = bare;
	xdrmem_create(&xdrs, octets, len, XDR_DECODE);
	if (code_header(&xdrs, f))
		used = xdr_getpos(&xdrs);
	xdr_destroy(&xdrs);
	return used;
}
