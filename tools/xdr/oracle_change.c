// SPDX-License-Identifier: GPL-2.0
/*
 * Encodes and decodes messages about changes of properties, which both drafts of
 * version 2 share.
 */
#include <string.h>
#include "oracle_lists.h"

/* @subset refers to the memory of @from. */
void subset_of_flat(x_subset *subset, const struct flat_subset *from)
{
	subset->x_subset_len = from->nwords;
	subset->x_subset_val = (u_int *)from->words;
}

bool_t flat_of_subset(struct flat_subset *to, const x_subset *subset)
{
	if (subset->x_subset_len > FLAT_WORDS)
		return FALSE;
	to->nwords = subset->x_subset_len;
	if (to->nwords)
		memcpy(to->words, subset->x_subset_val,
		       to->nwords * sizeof(to->words[0]));
	return TRUE;
}

static bool_t code_request(XDR *xdrs, struct flat *f)
{
	x_property props[FLAT_PROPS];
	x_request request = { { 0, NULL } };
	bool_t ok;

	if (xdrs->x_op == XDR_ENCODE) {
		props_of_flat(props, f);
		request.xq_wanted.xq_wanted_len = f->nprops;
		request.xq_wanted.xq_wanted_val = props;
		return xdr_x_request(xdrs, &request);
	}
	ok = xdr_x_request(xdrs, &request) &&
	     flat_of_props(f, request.xq_wanted.xq_wanted_val,
			   request.xq_wanted.xq_wanted_len);
	xdr_free((xdrproc_t)xdr_x_request, (char *)&request);
	return ok;
}

static bool_t code_disposition(XDR *xdrs, struct flat *f)
{
	x_disposition disposition;
	bool_t ok;

	memset(&disposition, 0, sizeof(disposition));
	if (xdrs->x_op == XDR_ENCODE) {
		subset_of_flat(&disposition.xs_done, &f->subsets[0]);
		subset_of_flat(&disposition.xs_rejected, &f->subsets[1]);
		subset_of_flat(&disposition.xs_pending, &f->subsets[2]);
		return xdr_x_disposition(xdrs, &disposition);
	}
	ok = xdr_x_disposition(xdrs, &disposition) &&
	     flat_of_subset(&f->subsets[0], &disposition.xs_done) &&
	     flat_of_subset(&f->subsets[1], &disposition.xs_rejected) &&
	     flat_of_subset(&f->subsets[2], &disposition.xs_pending);
	xdr_free((xdrproc_t)xdr_x_disposition, (char *)&disposition);
	return ok;
}

static bool_t code_update(XDR *xdrs, struct flat *f)
{
	x_update update;
	bool_t ok;

	memset(&update, 0, sizeof(update));
	if (xdrs->x_op == XDR_ENCODE) {
		props_of_flat(&update.xu_now, f);
		update.xu_settled = f->settled;
		return f->nprops == 1 && xdr_x_update(xdrs, &update);
	}
	ok = xdr_x_update(xdrs, &update) &&
	     flat_of_props(f, &update.xu_now, 1);
	f->settled = update.xu_settled;
	xdr_free((xdrproc_t)xdr_x_update, (char *)&update);
	return ok;
}

bool_t code_change(XDR *xdrs, struct flat *f)
{
	switch (f->operation) {
	case FLAT_REQUEST:
		return code_request(xdrs, f);
	case FLAT_DISPOSITION:
		return code_disposition(xdrs, f);
	case FLAT_UPDATE:
		return code_update(xdrs, f);
	default:
		return FALSE;
	}
}
