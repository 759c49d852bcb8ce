// SPDX-License-Identifier: GPL-2.0
/*
 * The generic netlink family "rpcrdma2": requests and events.
 *
 * A socket sees and changes the connections of its own network namespace, as with TCP. Any
 * user may look. Only an administrator of the machine may change a connection, because all
 * namespaces share its memory and its device. The module has no alias for the family: no
 * user's request may load the module in place of the kernel's own transport.
 *
 * All functions run in process context. Reclaim may need the very connection whose setup or
 * teardown causes an event, so an event never waits for memory. Without memory, the socket's
 * next recv() fails with ENOBUFS, and the socket's owner asks for the present state.
 */
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <net/genetlink.h>
#include <net/sock.h>

#include "compat.h"
#include "param.h"
#include "netlink.h"
#include "xprt/xprt.h"

#define EVENT_GFP	(GFP_NOWAIT | __GFP_NOWARN)

static struct genl_family family;

/* Return: 0, -EMSGSIZE, or -ENODEV if the connection is closing */
static int netlink_fill_present(struct sk_buff *skb, struct rpcrdma2_conn *conn)
{
	int rc = -ENODEV;

	if (rpcrdma2_ep_enter(&conn->ep)) {
		rc = rpcrdma2_fill_conn(skb, conn);
		rpcrdma2_ep_exit(&conn->ep);
	}
	return rc;
}

/* Return: a connection in the namespace of the request, with a reference; or an ERR_PTR */
static struct rpcrdma2_conn *netlink_find(struct genl_info *info)
{
	struct rpcrdma2_conn *conn;

	if (GENL_REQ_ATTR_CHECK(info, RPCRDMA2_A_CONN_ID)) {
		GENL_SET_ERR_MSG(info, "the number of a connection is missing");
		return ERR_PTR(-EINVAL);
	}
	conn = rpcrdma2_present_find(genl_info_net(info),
				     nla_get_u32(info->attrs[RPCRDMA2_A_CONN_ID]));
	if (conn)
		return conn;
	NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[RPCRDMA2_A_CONN_ID],
			    "there is no such connection in this network namespace");
	return ERR_PTR(-ENOENT);
}

static int netlink_conn_get(struct sk_buff *request, struct genl_info *info)
{
	struct rpcrdma2_conn *conn = netlink_find(info);
	struct sk_buff *skb;
	void *header;
	int rc;

	if (IS_ERR(conn))
		return PTR_ERR(conn);
	rc = -ENOMEM;
	skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!skb)
		goto out;
	rc = -EMSGSIZE;
	header = genlmsg_put(skb, info->snd_portid, info->snd_seq, &family, 0,
			     RPCRDMA2_CMD_CONN_GET);
	if (header)
		rc = netlink_fill_present(skb, conn);
	if (rc) {
		nlmsg_free(skb);
		if (rc == -ENODEV)
			GENL_SET_ERR_MSG(info, "the connection is closing");
		goto out;
	}
	genlmsg_end(skb, header);
	rc = genlmsg_reply(skb, info);
out:
	rpcrdma2_conn_put(conn);
	return rc;
}

static int netlink_conn_dump_start(struct netlink_callback *cb)
{
	if (rpcrdma2_dump_attrs(cb)[RPCRDMA2_A_CONN_ID]) {
		NL_SET_ERR_MSG(cb->extack, "a dump takes no attributes");
		return -EINVAL;
	}
	return 0;
}

/* Return: 0, also for a connection that is closing and so is left out; or -EMSGSIZE */
static int netlink_dump_one(struct sk_buff *skb, struct netlink_callback *cb,
			    struct rpcrdma2_conn *conn)
{
	void *header;
	int rc;

	header = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, &family,
			     NLM_F_MULTI, RPCRDMA2_CMD_CONN_GET);
	if (!header)
		return -EMSGSIZE;
	rc = netlink_fill_present(skb, conn);
	if (rc)
		genlmsg_cancel(skb, header);
	else
		genlmsg_end(skb, header);
	return rc == -ENODEV ? 0 : rc;
}

/* cb->args[0]: lowest number that the dump has not reached; cb->args[1]: no number is left */
static int netlink_conn_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct net *net = sock_net(cb->skb->sk);
	struct rpcrdma2_conn *conn;
	int rc = 0;

	while (!cb->args[1]) {
		conn = rpcrdma2_present_next(net, cb->args[0]);
		if (!conn)
			break;
		rc = netlink_dump_one(skb, cb, conn);
		if (!rc) {
			cb->args[0] = (u32)(conn->ep.id + 1);
			cb->args[1] = !cb->args[0];
		}
		rpcrdma2_conn_put(conn);
		if (rc)
			break;
	}
	return skb->len ?: rc;
}

/* Refuse a bad request before any part of it changes the connection. */
static int netlink_check_set(struct genl_info *info, const struct rpcrdma2_conn *conn)
{
	struct nlattr *size = info->attrs[RPCRDMA2_A_CONN_RECEIVE_BUFFER_SIZE];
	struct nlattr *heartbeat = info->attrs[RPCRDMA2_A_CONN_HEARTBEAT];

	if (!size && !heartbeat) {
		GENL_SET_ERR_MSG(info, "nothing to set: no heartbeat, no receive-buffer-size");
		return -EINVAL;
	}
	if (size && nla_get_u32(size) % 1024) {
		NL_SET_ERR_MSG_ATTR(info->extack, size,
				    "the size of Receive buffers must be a multiple of 1024");
		return -EINVAL;
	}
	if (heartbeat && nla_get_u32(heartbeat) && !rpcrdma2_heartbeat_possible(conn)) {
		NL_SET_ERR_MSG_ATTR(info->extack, heartbeat,
				    "no heartbeat: the device is siw, or the iWARP server allows no RDMA Read");
		return -EOPNOTSUPP;
	}
	return 0;
}

static int netlink_resize(struct genl_info *info, struct rpcrdma2_conn *conn,
			  struct nlattr *size)
{
	int rc = rpcrdma2_resize_recvs(conn, nla_get_u32(size));

	switch (rc) {
	case -EBUSY:
		NL_SET_ERR_MSG_ATTR(info->extack, size, "the connection is closing");
		break;
	case -EOPNOTSUPP:
		NL_SET_ERR_MSG_ATTR(info->extack, size,
				    "the peer knows no changes of sizes, or Receives are shared");
		break;
	case -ENOMEM:
		NL_SET_ERR_MSG_ATTR(info->extack, size,
				    "receive_memory does not allow as much");
		break;
	}
	return rc;
}

static int netlink_set_entered(struct genl_info *info, struct rpcrdma2_conn *conn)
{
	struct nlattr *size = info->attrs[RPCRDMA2_A_CONN_RECEIVE_BUFFER_SIZE];
	struct nlattr *heartbeat = info->attrs[RPCRDMA2_A_CONN_HEARTBEAT];
	int rc = netlink_check_set(info, conn);

	if (!rc && size)
		rc = netlink_resize(info, conn, size);
	if (!rc && heartbeat)
		rpcrdma2_heartbeat_set(conn, nla_get_u32(heartbeat));
	return rc;
}

static int netlink_conn_set(struct sk_buff *request, struct genl_info *info)
{
	struct rpcrdma2_conn *conn = netlink_find(info);
	int rc;

	if (IS_ERR(conn))
		return PTR_ERR(conn);
	if (rpcrdma2_ep_enter(&conn->ep)) {
		rc = netlink_set_entered(info, conn);
		rpcrdma2_ep_exit(&conn->ep);
	} else {
		GENL_SET_ERR_MSG(info, "the connection is closing");
		rc = -ENODEV;
	}
	rpcrdma2_conn_put(conn);
	return rc;
}

static int netlink_fill_totals(struct sk_buff *skb, struct net *net)
{
	static const int attrs[RPCRDMA2_NR_ROLES] = {
		[RPCRDMA2_ROLE_CLIENT]	= RPCRDMA2_A_TOTALS_CLIENT,
		[RPCRDMA2_ROLE_SERVER]	= RPCRDMA2_A_TOTALS_SERVER,
	};
	struct rpcrdma2_role_totals *totals;
	unsigned int role;
	int rc = 0;

	totals = kmalloc(sizeof(*totals), GFP_KERNEL);
	if (!totals)
		return -ENOMEM;
	for (role = 0; !rc && role < RPCRDMA2_NR_ROLES; role++) {
		rpcrdma2_present_totals(net, role, totals);
		rc = rpcrdma2_fill_role(skb, attrs[role], totals);
	}
	kfree(totals);
	if (!rc && net_eq(net, &init_net))
		rc = rpcrdma2_fill_machine(skb);
	return rc;
}

static int netlink_totals_get(struct sk_buff *request, struct genl_info *info)
{
	struct sk_buff *skb;
	void *header;
	int rc;

	skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!skb)
		return -ENOMEM;
	rc = -EMSGSIZE;
	header = genlmsg_put(skb, info->snd_portid, info->snd_seq, &family, 0,
			     RPCRDMA2_CMD_TOTALS_GET);
	if (header)
		rc = netlink_fill_totals(skb, genl_info_net(info));
	if (rc) {
		nlmsg_free(skb);
		return rc;
	}
	genlmsg_end(skb, header);
	return genlmsg_reply(skb, info);
}

static const struct nla_policy conn_get_policy[] = {
	[RPCRDMA2_A_CONN_ID]		= { .type = NLA_U32 },
};

static struct netlink_range_validation size_range = {
	.min	= RPCRDMA2_RBSIZ_DEFAULT,
	.max	= RPCRDMA2_RBSIZ_MAX,
};

static const struct nla_policy conn_set_policy[] = {
	[RPCRDMA2_A_CONN_ID]		= { .type = NLA_U32 },
	[RPCRDMA2_A_CONN_HEARTBEAT]	= NLA_POLICY_MAX(NLA_U32, RPCRDMA2_HEARTBEAT_MAX),
	[RPCRDMA2_A_CONN_RECEIVE_BUFFER_SIZE] = NLA_POLICY_FULL_RANGE(NLA_U32, &size_range),
};

static const struct genl_ops ops[] = {
	{
		.cmd		= RPCRDMA2_CMD_CONN_GET,
		.doit		= netlink_conn_get,
		.start		= netlink_conn_dump_start,
		.dumpit		= netlink_conn_dump,
		.policy		= conn_get_policy,
		.maxattr	= ARRAY_SIZE(conn_get_policy) - 1,
	},
	{
		.cmd		= RPCRDMA2_CMD_CONN_SET,
		.doit		= netlink_conn_set,
		.policy		= conn_set_policy,
		.maxattr	= ARRAY_SIZE(conn_set_policy) - 1,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= RPCRDMA2_CMD_TOTALS_GET,
		.doit		= netlink_totals_get,
	},
};

enum {
	EVENTS,
};

static const struct genl_multicast_group groups[] = {
	[EVENTS] = { .name = RPCRDMA2_MCGRP_EVENTS },
};

static struct genl_family family __ro_after_init = {
	.name		= RPCRDMA2_FAMILY_NAME,
	.version	= RPCRDMA2_FAMILY_VERSION,
	.netnsok	= true,
	.parallel_ops	= true,
	.module		= THIS_MODULE,
	.ops		= ops,
	.n_ops		= ARRAY_SIZE(ops),
	.mcgrps		= groups,
	.n_mcgrps	= ARRAY_SIZE(groups),
};

/* Return: a message that begins with @cmd; NULL without a listener, or without memory */
static struct sk_buff *netlink_event_new(struct net *net, u8 cmd, void **header)
{
	struct sk_buff *skb;

	if (!genl_has_listeners(&family, net, EVENTS))
		return NULL;
	skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, EVENT_GFP);
	if (skb) {
		*header = genlmsg_put(skb, 0, 0, &family, 0, cmd);
		if (*header)
			return skb;
		nlmsg_free(skb);
	}
	genl_set_err(&family, net, 0, EVENTS, -ENOBUFS);
	return NULL;
}

/* @rc: 0 if the message is complete, or -EMSGSIZE */
static void netlink_event_send(struct net *net, struct sk_buff *skb, void *header, int rc)
{
	if (rc) {
		nlmsg_free(skb);
		genl_set_err(&family, net, 0, EVENTS, -ENOBUFS);
		return;
	}
	genlmsg_end(skb, header);
	genlmsg_multicast_netns(&family, net, skb, 0, EVENTS, EVENT_GFP);
}

/**
 * rpcrdma2_netlink_ready - show a connection to users, and send the event "ready"
 * @conn: the connection
 *
 * The ready op calls this, once for each connection.
 *
 * Context: Process context; sleeps.
 */
void rpcrdma2_netlink_ready(struct rpcrdma2_conn *conn)
{
	struct net *net = conn->param.net;
	struct sk_buff *skb;
	void *header;

	rpcrdma2_present_add(conn);
	skb = netlink_event_new(net, RPCRDMA2_CMD_CONN_READY_NTF, &header);
	if (skb)
		netlink_event_send(net, skb, header, rpcrdma2_fill_conn(skb, conn));
}

/**
 * rpcrdma2_netlink_lost - hide a connection from users, and send the event "lost"
 * @conn: the connection. Its Queues are drained, and its QP still exists. A connection
 *	that never was ready is ignored
 *
 * The drained op calls this, once for each connection.
 *
 * Context: Process context; sleeps.
 */
void rpcrdma2_netlink_lost(struct rpcrdma2_conn *conn)
{
	struct net *net = conn->param.net;
	struct sk_buff *skb;
	void *header;

	if (!conn->was_ready)
		return;
	rpcrdma2_present_remove(conn);
	skb = netlink_event_new(net, RPCRDMA2_CMD_CONN_LOST_NTF, &header);
	if (skb)
		netlink_event_send(net, skb, header,
				   rpcrdma2_fill_conn(skb, conn) ?:
				   rpcrdma2_fill_end(skb, conn));
}

/**
 * rpcrdma2_netlink_fallback - count and report a server without the first dialect
 * @x: a transport that tried to reach the server last
 * @dialect: dialect in which this client speaks to the server from now on
 *
 * Context: Process context; sleeps.
 */
void rpcrdma2_netlink_fallback(const struct rpcrdma2_xprt *x,
			       const struct rpcrdma2_dialect *dialect)
{
	struct net *net = x->xprt.xprt_net;
	struct sk_buff *skb;
	void *header;

	rpcrdma2_present_count_fallback(net);
	skb = netlink_event_new(net, RPCRDMA2_CMD_FALLBACK_NTF, &header);
	if (skb)
		netlink_event_send(net, skb, header,
				   rpcrdma2_fill_fallback(skb, x, dialect));
}

/**
 * rpcrdma2_netlink_init - register the family
 *
 * Context: Module initialisation, before there is any connection; sleeps.
 * Return: 0 or negative errno
 */
int rpcrdma2_netlink_init(void)
{
	int rc = rpcrdma2_present_init();

	if (rc)
		return rc;
	rc = genl_register_family(&family);
	if (rc)
		rpcrdma2_present_exit();
	return rc;
}

/**
 * rpcrdma2_netlink_exit - unregister the family
 *
 * Context: Module removal, after all connections are torn down; sleeps.
 */
void rpcrdma2_netlink_exit(void)
{
	genl_unregister_family(&family);
	/*
	 * A request may have dropped the last reference to a connection. Wait until
	 * rpcrdma2_conn_put() has freed the connection.
	 */
	rcu_barrier();
	rpcrdma2_present_exit();
}
