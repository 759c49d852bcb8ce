/* SPDX-License-Identifier: GPL-2.0 */
/*
 * netlink/: the generic netlink family "rpcrdma2", with which administrators see and change
 * connections.
 *
 * The family is above all other layers, and looks into all of them. Only xprt/, svc/ and
 * module.c call netlink/. Documentation/netlink/specs/rpcrdma2.yaml specifies the family.
 * All functions run in process context.
 */
#ifndef _RPCRDMA2_NETLINK_H
#define _RPCRDMA2_NETLINK_H

#include <uapi/linux/rpcrdma2_netlink.h>

#include "totals.h"

struct net;
struct rpcrdma2_xprt;

#define RPCRDMA2_NR_ROLES	2

/**
 * struct rpcrdma2_role_totals - totals of a network namespace's connections in one role
 * @present: connections that are ready now
 * @made: connections that ever became ready
 * @failed: connections of @made that ended, but were closed by neither end
 * @fallbacks: times that a client found a server without the first dialect
 * @counts: counters of all connections of @made
 */
struct rpcrdma2_role_totals {
	u64				present;
	u64				made;
	u64				failed;
	u64				fallbacks;
	struct rpcrdma2_totals		counts;
};

/* present.c */
void rpcrdma2_present_add(struct rpcrdma2_conn *conn);
void rpcrdma2_present_remove(struct rpcrdma2_conn *conn);
struct rpcrdma2_conn *rpcrdma2_present_next(struct net *net, u32 id);
struct rpcrdma2_conn *rpcrdma2_present_find(struct net *net, u32 id);
void rpcrdma2_present_count_fallback(struct net *net);
void rpcrdma2_present_totals(struct net *net, enum rpcrdma2_role role,
			     struct rpcrdma2_role_totals *sum);
int rpcrdma2_present_init(void);
void rpcrdma2_present_exit(void);

/* fill.c */
int rpcrdma2_fill_conn(struct sk_buff *skb, const struct rpcrdma2_conn *conn);
int rpcrdma2_fill_end(struct sk_buff *skb, const struct rpcrdma2_conn *conn);
int rpcrdma2_fill_fallback(struct sk_buff *skb, const struct rpcrdma2_xprt *x,
			   const struct rpcrdma2_dialect *dialect);
int rpcrdma2_fill_role(struct sk_buff *skb, int attr,
		       const struct rpcrdma2_role_totals *totals);
int rpcrdma2_fill_machine(struct sk_buff *skb);

/* family.c */
void rpcrdma2_netlink_ready(struct rpcrdma2_conn *conn);
void rpcrdma2_netlink_lost(struct rpcrdma2_conn *conn);
void rpcrdma2_netlink_fallback(const struct rpcrdma2_xprt *x,
			       const struct rpcrdma2_dialect *dialect);
int rpcrdma2_netlink_init(void);
void rpcrdma2_netlink_exit(void);

#endif /* _RPCRDMA2_NETLINK_H */
