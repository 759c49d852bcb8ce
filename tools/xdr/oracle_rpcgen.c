// SPDX-License-Identifier: GPL-2.0
/*
 * The rpcgen side of the oracle: converts plain arrays to octets and back, with the
 * routines that rpcgen makes from rpcrdma2.x.
 */
#include <stdlib.h>
#include <string.h>
#include "oracle_lists.h"

static bool_t code_rpc(XDR *xdrs, struct flat *f)
{
	x_rpc rpc;
	bool_t ok;

	memset(&rpc, 0, sizeof(rpc));
	if (xdrs->x_op == XDR_ENCODE) {
		rpc.xr_inv_handle = f->inv_handle;
		lists_of_flat(&rpc.xr_lists, f);
		return xdr_x_rpc(xdrs, &rpc);
	}
	ok = xdr_x_rpc(xdrs, &rpc) && flat_of_lists(f, &rpc.xr_lists);
	f->inv_handle = rpc.xr_inv_handle;
	xdr_free((xdrproc_t)xdr_x_rpc, (char *)&rpc);
	return ok;
}

static bool_t encode_props(XDR *xdrs, const struct flat *f)
{
	x_property props[FLAT_PROPS];
	x_connprop set;

	props_of_flat(props, f);
	set.xn_props.xn_props_len = f->nprops;
	set.xn_props.xn_props_val = props;
	return xdr_x_connprop(xdrs, &set);
}

static bool_t decode_props(XDR *xdrs, struct flat *f)
{
	x_connprop set;
	bool_t ok;

	memset(&set, 0, sizeof(set));
	ok = xdr_x_connprop(xdrs, &set) &&
	     flat_of_props(f, set.xn_props.xn_props_val,
			   set.xn_props.xn_props_len);
	xdr_free((xdrproc_t)xdr_x_connprop, (char *)&set);
	return ok;
}

/* Encode or decode an error; args have the order of the wire. */
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
		{ .xb_code = f->code }
	};
	x_versions *versions = &err.xb_error.x_bare_u.xb_versions;

	versions->xv_low = f->args[0];
	versions->xv_high = f->args[1];
	if (!xdr_x_bare_error(xdrs, &err))
		return FALSE;
	f->xid = err.xb_start.xc_xid;
	f->vers = err.xb_start.xc_vers;
	f->credit = err.xb_start.xc_credit;
	f->htype = err.xb_start.xc_htype;
	f->flags = 0;
	f->code = err.xb_error.xb_code;
	f->args[0] = f->code == XE_VERS ? versions->xv_low : 0;
	f->args[1] = f->code == XE_VERS ? versions->xv_high : 0;
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

/* Version 1's body: either an error, or chunk lists */
static void body_of_flat(x_body_1 *body, const struct flat *f)
{
	x_versions *versions = &body->x_body_1_u.xb_error.x_error_1_u.xe_versions;

	body->xb_htype = f->htype;
	if (f->htype != XT_ERROR) {
		lists_of_flat(&body->x_body_1_u.xb_lists, f);
		return;
	}
	body->x_body_1_u.xb_error.xe_code = f->code;
	versions->xv_low = f->args[0];
	versions->xv_high = f->args[1];
}

static bool_t flat_of_body(struct flat *f, const x_body_1 *body)
{
	const x_error_1 *error = &body->x_body_1_u.xb_error;

	f->htype = body->xb_htype;
	if (f->htype != XT_ERROR)
		return flat_of_lists(f, &body->x_body_1_u.xb_lists);
	f->code = error->xe_code;
	if (f->code == XE1_VERS) {
		f->args[0] = error->x_error_1_u.xe_versions.xv_low;
		f->args[1] = error->x_error_1_u.xe_versions.xv_high;
	}
	return TRUE;
}

static bool_t code_header_1(XDR *xdrs, struct flat *f)
{
	x_header_1 hdr;
	bool_t ok;

	memset(&hdr, 0, sizeof(hdr));
	if (xdrs->x_op == XDR_ENCODE) {
		hdr.xh_xid = f->xid;
		hdr.xh_vers = f->vers;
		hdr.xh_credit = f->credit;
		body_of_flat(&hdr.xh_body, f);
		return xdr_x_header_1(xdrs, &hdr);
	}
	ok = xdr_x_header_1(xdrs, &hdr) && flat_of_body(f, &hdr.xh_body);
	f->xid = hdr.xh_xid;
	f->vers = hdr.xh_vers;
	f->credit = hdr.xh_credit;
	xdr_free((xdrproc_t)xdr_x_header_1, (char *)&hdr);
	return ok;
}

static bool_t code_header(XDR *xdrs, struct flat *f)
{
	bool_t encode = xdrs->x_op == XDR_ENCODE;

	if (f->codec == 1)
		return code_header_1(xdrs, f);
	if (f->codec == FLAT_2016)
		return code_header_2016(xdrs, f);
	if (f->bare)
		return code_bare_error(xdrs, f);
	if (!code_prefix(xdrs, f))
		return FALSE;
	switch (f->htype) {
	case XT_MSG:
	case XT_NOMSG:
		return code_rpc(xdrs, f);
	case XT_CONNPROP:
		f->operation = FLAT_INIT;
		return encode ? encode_props(xdrs, f) : decode_props(xdrs, f);
	case XT_ERROR:
		return code_error(xdrs, f);
	case XT_REQUEST:
		f->operation = FLAT_REQUEST;
		return code_change(xdrs, f);
	case XT_DISPOSITION:
		f->operation = FLAT_DISPOSITION;
		return code_change(xdrs, f);
	case XT_UPDATE:
		f->operation = FLAT_UPDATE;
		return code_change(xdrs, f);
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

int rpcgen_decode(struct flat *f, void *octets, size_t len, uint32_t codec,
		  int bare)
{
	int used = -1;
	XDR xdrs;

	memset(f, 0, sizeof(*f));
	f->codec = codec;
	f->bare = bare;
	xdrmem_create(&xdrs, octets, len, XDR_DECODE);
	if (code_header(&xdrs, f))
		used = xdr_getpos(&xdrs);
	xdr_destroy(&xdrs);
	return used;
}
