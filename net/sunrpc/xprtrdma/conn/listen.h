/* SPDX-License-Identifier: GPL-2.0 */
/* Listeners: see listen.c. */
#ifndef _RPCRDMA2_LISTEN_H
#define _RPCRDMA2_LISTEN_H

#include <linux/socket.h>

struct net;
struct rpcrdma2_conn;
struct rpcrdma2_listener;

/**
 * struct rpcrdma2_listener_ops - callbacks from a listener, in CM context
 * @has_room: returns whether a request from this address may become a connection; if not, the
 *	CM rejects the peer
 * @incoming: takes a new connection in state ACCEPTING, and its reference; has to see that
 *	rpcrdma2_conn_accept() or rpcrdma2_conn_close() is called
 */
struct rpcrdma2_listener_ops {
	bool	(*has_room)(void *context, const struct sockaddr *sa);
	void	(*incoming)(void *context, struct rpcrdma2_conn *conn);
};

struct rpcrdma2_listener *
rpcrdma2_listen(struct net *net, struct sockaddr *addr,
		const struct rpcrdma2_listener_ops *ops, void *context);
struct sockaddr *rpcrdma2_listener_address(struct rpcrdma2_listener *listener);
void rpcrdma2_unlisten(struct rpcrdma2_listener *listener);

#endif /* _RPCRDMA2_LISTEN_H */
