// SPDX-License-Identifier: GPL-2.0
/*
 * Listeners: a CM id at an address, which hands each peer's request to the layer above.
 *
 * A listener outlives its CM id. The CM binds an id whose address is not a wildcard to one
 * device. When that device is removed, or the address moves to another one, a work destroys
 * the id and makes another one, and repeats that every second until it succeeds. The
 * removal waits for this work alone. (A wildcard id has a child for each device; the CM
 * makes and destroys these by itself.)
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/mutex.h>
#include <linux/slab.h>

#include "conn.h"

/* The backlog is only of connections that no server thread has seen yet. */
#define LISTEN_BACKLOG		128
/* Until an address can be listened at again */
#define RELISTEN_INTERVAL	HZ

/**
 * struct rpcrdma2_listener - accepts connections
 * @lock: held while @cm_id is made or replaced
 * @cm_id: the CM id; NULL while it can't listen
 * @net: network namespace
 * @addr: local address and port
 * @ops: see rpcrdma2_listen()
 * @context: first argument of @ops
 * @relisten: makes another CM id
 * @failing: the log says that it can't listen
 * @ending: @relisten makes no more of them
 */
struct rpcrdma2_listener {
	struct mutex		lock;	/* cm_id, failing */
	struct rdma_cm_id	*cm_id;
	struct net		*net;
	struct sockaddr_storage	addr;
	const struct rpcrdma2_listener_ops *ops;
	void			*context;
	struct delayed_work	relisten;
	bool			failing;
	bool			ending;
};

/* CM context. @cm_id is the new one; its context is still the listener's. */
static int listener_connect_request(struct rdma_cm_id *cm_id,
				    struct rdma_cm_event *event)
{
	struct rpcrdma2_listener *listener = cm_id->context;
	struct sockaddr *sa = (struct sockaddr *)&cm_id->route.addr.dst_addr;
	struct rpcrdma2_conn *conn;

	/* If this fails, the CM rejects the peer and destroys the id. */
	if (!listener->ops->has_room(listener->context, sa))
		return -EBUSY;
	conn = rpcrdma2_conn_request(cm_id, event);
	if (!conn)
		return -ENOMEM;
	listener->ops->incoming(listener->context, conn);
	return 0;
}

static int listener_event(struct rdma_cm_id *cm_id,
			  struct rdma_cm_event *event)
{
	struct rpcrdma2_listener *listener = cm_id->context;
	struct rpcrdma2_memalloc saved;
	int rc;

	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		/* The CM's other connections wait, those of mounts included. */
		saved = rpcrdma2_memalloc_save(NULL);
		rc = listener_connect_request(cm_id, event);
		rpcrdma2_memalloc_restore(saved);
		return rc;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		/* The removal waits until listener_restart() destroys the id. */
	case RDMA_CM_EVENT_ADDR_CHANGE:
		/* A bond failed over: the id is still bound to the link that failed. */
		mod_delayed_work(rpcrdma2_wq, &listener->relisten, 0);
		return 0;
	default:
		return 0;
	}
}

static int listener_start(struct rpcrdma2_listener *listener)
{
	struct rdma_cm_id *cm_id;
	int rc;

	lockdep_assert_held(&listener->lock);

	cm_id = rdma_create_id(listener->net, listener_event, listener,
			       RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(cm_id))
		return PTR_ERR(cm_id);
	/* IPv4 and IPv6 have a listener each, as with TCP. */
	rc = rdma_set_afonly(cm_id, 1);
	if (!rc)
		rc = rdma_bind_addr(cm_id, (struct sockaddr *)&listener->addr);
	if (!rc)
		rc = rdma_listen(cm_id, LISTEN_BACKLOG);
	if (rc) {
		rdma_destroy_id(cm_id);
		return rc;
	}
	listener->cm_id = cm_id;
	/* If any port was asked for, the same one later */
	listener->addr = cm_id->route.addr.src_addr;
	return 0;
}

static const char *listener_failure_reason(int status)
{
	switch (status) {
	case -ENODEV:
	case -EADDRNOTAVAIL:
		return "no RDMA device has this address";
	case -EADDRINUSE:
		return "another listener has this port";
	case -ENOMEM:
		return "there is no memory";
	default:
		return "the device refused";
	}
}

/* The log has one line when it stops listening, and one when it listens again. */
static void listener_report(struct rpcrdma2_listener *listener, int status)
{
	if (status && !listener->failing)
		pr_warn("not listening at %pISpc: %s (error %d); trying again every second\n",
			&listener->addr, listener_failure_reason(status),
			status);
	else if (!status && listener->failing)
		pr_info("listening at %pISpc again\n",
			&listener->addr);
	listener->failing = status;
}

static void listener_restart(struct work_struct *work)
{
	struct rpcrdma2_listener *listener =
		container_of(to_delayed_work(work), struct rpcrdma2_listener,
			     relisten);
	int rc;

	if (READ_ONCE(listener->ending))
		return;
	mutex_lock(&listener->lock);
	if (listener->cm_id)
		rdma_destroy_id(listener->cm_id);
	listener->cm_id = NULL;
	rc = listener_start(listener);
	listener_report(listener, rc);
	mutex_unlock(&listener->lock);
	if (rc)
		queue_delayed_work(rpcrdma2_wq, &listener->relisten,
				   RELISTEN_INTERVAL);
}

/**
 * rpcrdma2_listen - accept connections
 * @net: network namespace
 * @addr: local address and port
 * @ops: whom to ask, and tell, about peers' requests
 * @context: first argument of @ops
 *
 * Process context, sleeps. Once this has succeeded, the listener survives the loss of its
 * device and of its address: it listens again as soon as a device has @addr.
 *
 * Return: the listener, or an ERR_PTR
 */
struct rpcrdma2_listener *
rpcrdma2_listen(struct net *net, struct sockaddr *addr,
		const struct rpcrdma2_listener_ops *ops, void *context)
{
	struct rpcrdma2_listener *listener;
	int rc;

	listener = kzalloc(sizeof(*listener), GFP_KERNEL);
	if (!listener)
		return ERR_PTR(-ENOMEM);
	listener->net = net;
	memcpy(&listener->addr, addr, rdma_addr_size(addr));
	listener->ops = ops;
	listener->context = context;
	mutex_init(&listener->lock);
	INIT_DELAYED_WORK(&listener->relisten, listener_restart);
	mutex_lock(&listener->lock);
	rc = listener_start(listener);
	mutex_unlock(&listener->lock);
	if (rc) {
		/* An event of the failed id may have queued listener_restart(). */
		rpcrdma2_unlisten(listener);
		return ERR_PTR(rc);
	}
	return listener;
}

/**
 * rpcrdma2_listener_address - where does it listen?
 * @listener: what rpcrdma2_listen() returned
 *
 * Return: address and port
 */
struct sockaddr *rpcrdma2_listener_address(struct rpcrdma2_listener *listener)
{
	return (struct sockaddr *)&listener->addr;
}

/**
 * rpcrdma2_unlisten - stop accepting
 * @listener: what rpcrdma2_listen() returned
 *
 * Process context, sleeps. Nothing is called back any more on return.
 */
void rpcrdma2_unlisten(struct rpcrdma2_listener *listener)
{
	/* What is queued from here on does nothing. */
	WRITE_ONCE(listener->ending, true);
	cancel_delayed_work_sync(&listener->relisten);
	if (listener->cm_id)
		rdma_destroy_id(listener->cm_id);
	cancel_delayed_work_sync(&listener->relisten);
	kfree(listener);
}
