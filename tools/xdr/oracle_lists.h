/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RPCRDMA2_XDR_ORACLE_LISTS_H
#define _RPCRDMA2_XDR_ORACLE_LISTS_H

#include "rpcrdma2.h"
#include "oracle.h"

void lists_of_flat(struct x_chunk_lists *lists, const struct flat *f);
bool_t flat_of_lists(struct flat *f, const struct x_chunk_lists *lists);

#endif /* _RPCRDMA2_XDR_ORACLE_LISTS_H */
