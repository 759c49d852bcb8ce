/* SPDX-License-Identifier: GPL-2.0 */
/* The terms of a connection: see terms.c. */
#ifndef _RPCRDMA2_TERMS_H
#define _RPCRDMA2_TERMS_H

#include "rdma/sq.h"
#include "wire/wire.h"

struct rpcrdma2_conn;

/**
 * struct rpcrdma2_terms - what both ends have said, and what follows from it
 * @dialect: dialect of all headers; stable once READY
 * @own: this end's properties, as announced or to be announced
 * @peer: the peer's properties; written by the CQ, and by negotiate_set_dialect() under the
 *	endpoint's lock
 * @have_props: the peer has sent @peer in a CONNPROP
 * @peer_credits: credits in that CONNPROP
 * @recv_limit: size of the largest message that the peer will send, octets. Writers hold the
 *	endpoint's lock
 * @peer_private: the peer's private data, if @have_private
 * @have_private: the peer sent private data
 * @remote_inv: the peer, as a requester, accepts Send With Invalidate
 * @first_grant: credits in the peer's answer to a CONNPROP; 0 before that
 */
struct rpcrdma2_terms {
	const struct rpcrdma2_dialect	*dialect;
	struct rpcrdma2_props		own;
	struct rpcrdma2_props		peer;
	bool				have_props;
	u32				peer_credits;
	u32				recv_limit;
	struct rpcrdma2_private_data	peer_private;
	bool				have_private;
	bool				remote_inv;
	u32				first_grant;
};

void rpcrdma2_terms_set(struct rpcrdma2_conn *conn);
void rpcrdma2_terms_set_recv_limit(struct rpcrdma2_conn *conn);
int rpcrdma2_send_encode(struct rpcrdma2_send *send,
			 const struct rpcrdma2_header *hdr);
int rpcrdma2_send_header(struct rpcrdma2_conn *conn,
			 const struct rpcrdma2_header *hdr, bool close_after);
void rpcrdma2_send_error(struct rpcrdma2_conn *conn, u32 xid, u32 vers,
			 const struct rpcrdma2_error *error, bool close_after);

#endif /* _RPCRDMA2_TERMS_H */
