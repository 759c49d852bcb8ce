/* SPDX-License-Identifier: GPL-2.0 */
/* Functions that sunrpc lacks: see sunrpc_quirks.c. */
#ifndef _RPCRDMA2_SUNRPC_QUIRKS_H
#define _RPCRDMA2_SUNRPC_QUIRKS_H

#include <linux/types.h>

struct rpc_rqst;
struct rpc_xprt;

void rpcrdma2_sunrpc_set_slots(struct rpc_xprt *xprt, unsigned int slots);
int rpcrdma2_sunrpc_end_task(struct rpc_rqst *rqst, int rc);
bool rpcrdma2_sunrpc_settle(struct rpc_rqst *rqst, int status);
bool rpcrdma2_sunrpc_has_unsent(const struct rpc_xprt *xprt);
void rpcrdma2_sunrpc_wake_writer(struct rpc_xprt *xprt);

#endif /* _RPCRDMA2_SUNRPC_QUIRKS_H */
