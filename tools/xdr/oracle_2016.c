// SPDX-License-Identifier: GPL-2.0
/* The part of oracle_rpcgen.c for v2-01, the version 2 of 2016 */
#include <string.h>
#include "oracle_lists.h"

/* Octets of room for an operation's opaque arguments, such as a set of characteristics */
#define INFO_MAX	1024

static bool_t encode_init(XDR *xdrs, const struct flat *f)
{
	x_property props[FLAT_PROPS];
	x_init_xchar init = { { f->nprops, props } };

	props_of_flat(props, f);
	subset_of_flat(&init.xi_nochange, &f->subsets[0]);
	return xdr_x_init_xchar(xdrs, &init);
}

static bool_t decode_init(XDR *xdrs, struct flat *f)
{
	x_init_xchar init;
	bool_t ok;

	memset(&init, 0, sizeof(init));
	ok = xdr_x_init_xchar(xdrs, &init) &&
	     flat_of_props(f, init.xi_start.xi_start_val,
			   init.xi_start.xi_start_len) &&
	     flat_of_subset(&f->subsets[0], &init.xi_nochange);
	xdr_free((xdrproc_t)xdr_x_init_xchar, (char *)&init);
	return ok;
}

static bool_t encode_info(x_optional *optional, char *info, struct flat *f)
{
	XDR xdrs;
	bool_t ok;

	xdrmem_create(&xdrs, info, INFO_MAX, XDR_ENCODE);
	ok = f->operation == XO_INIT_XCHAR ? encode_init(&xdrs, f) :
					     code_change(&xdrs, f);
	optional->xo_info.xo_info_val = info;
	optional->xo_info.xo_info_len = xdr_getpos(&xdrs);
	xdr_destroy(&xdrs);
	return ok;
}

static bool_t decode_info(struct flat *f, const x_optional *optional)
{
	XDR xdrs;
	bool_t ok;

	xdrmem_create(&xdrs, optional->xo_info.xo_info_val,
		      optional->xo_info.xo_info_len, XDR_DECODE);
	ok = f->operation == XO_INIT_XCHAR ? decode_init(&xdrs, f) :
					     code_change(&xdrs, f);
	ok = ok && xdr_getpos(&xdrs) == optional->xo_info.xo_info_len;
	xdr_destroy(&xdrs);
	return ok;
}

static bool_t body_of_flat(x_body_2016 *body, char *info, struct flat *f)
{
	x_directed_lists *lists = &body->x_body_2016_u.xb_lists;
	x_error_2016 *error = &body->x_body_2016_u.xb_error;
	x_optional *optional = &body->x_body_2016_u.xb_optional;

	body->xb_htype = f->htype;
	switch (f->htype) {
	case XT_ERROR:
		error->xe_code = f->code;
		error->x_error_2016_u.xe_versions.xv_low = f->args[0];
		error->x_error_2016_u.xe_versions.xv_high = f->args[1];
		return TRUE;
	case XT_CONNPROP:
		optional->xo_direction = f->flags;
		optional->xo_operation = f->operation;
		return encode_info(optional, info, f);
	default:
		lists->xd_direction = f->flags;
		lists_of_flat(&lists->xd_lists, f);
		return TRUE;
	}
}

static bool_t flat_of_body(struct flat *f, const x_body_2016 *body)
{
	const x_error_2016 *error = &body->x_body_2016_u.xb_error;
	const x_optional *optional = &body->x_body_2016_u.xb_optional;

	f->htype = body->xb_htype;
	switch (f->htype) {
	case XT_ERROR:
		f->code = error->xe_code;
		if (f->code == XE3_VERS) {
			f->args[0] = error->x_error_2016_u.xe_versions.xv_low;
			f->args[1] = error->x_error_2016_u.xe_versions.xv_high;
		}
		return TRUE;
	case XT_CONNPROP:
		f->flags = optional->xo_direction;
		f->operation = optional->xo_operation;
		return decode_info(f, optional);
	default:
		f->flags = body->x_body_2016_u.xb_lists.xd_direction;
		return flat_of_lists(f, &body->x_body_2016_u.xb_lists.xd_lists);
	}
}

bool_t code_header_2016(XDR *xdrs, struct flat *f)
{
	char info[INFO_MAX];
	x_header_2016 hdr;
	bool_t ok;

	memset(&hdr, 0, sizeof(hdr));
	if (xdrs->x_op == XDR_ENCODE) {
		hdr.xh_xid = f->xid;
		hdr.xh_vers = f->vers;
		hdr.xh_credit = f->credit;
		return body_of_flat(&hdr.xh_body, info, f) &&
		       xdr_x_header_2016(xdrs, &hdr);
	}
	ok = xdr_x_header_2016(xdrs, &hdr) && flat_of_body(f, &hdr.xh_body);
	f->xid = hdr.xh_xid;
	f->vers = hdr.xh_vers;
	f->credit = hdr.xh_credit;
	xdr_free((xdrproc_t)xdr_x_header_2016, (char *)&hdr);
	return ok;
}
