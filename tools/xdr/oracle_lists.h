/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RPCRDMA2_XDR_ORACLE_LISTS_H
#define _RPCRDMA2_XDR_ORACLE_LISTS_H

#include "rpcrdma2.h"
#include "oracle.h"

void lists_of_flat(struct x_chunk_lists *lists, const struct flat *f);
bool_t flat_of_lists(struct flat *f, const struct x_chunk_lists *lists);
void props_of_flat(x_property *props, const struct flat *f);
bool_t flat_of_props(struct flat *f, const x_property *prop, u_int n);

/* oracle_change.c */
void subset_of_flat(x_subset *subset, const struct flat_subset *from);
bool_t flat_of_subset(struct flat_subset *to, const x_subset *subset);
bool_t code_change(XDR *xdrs, struct flat *f);

/* oracle_2016.c */
bool_t code_header_2016(XDR *xdrs, struct flat *f);

#endif /* _RPCRDMA2_XDR_ORACLE_LISTS_H */
