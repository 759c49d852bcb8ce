// SPDX-License-Identifier: GPL-2.0
/*
 * Listeners: CM ids at addresses, which hand each peer's request to the layer above.
 *
 * A listener outlives its CM id. The CM binds an id with a specific address to one device.
 * When that device is removed, or the address moves to another device, a work replaces the
 * id. The work repeats every second until it succeeds. The removal waits for this work alone.
 * (An id with a wildcard address has a child for each device. The CM makes and destroys the
 * children by itself.)
 *
 * Requests arrive in CM context; the work runs in rpcrdma2_wq.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/mutex.h>
#include <linux/slab.h>

#include "conn.h"

/* Requests that may wait below listener_event() */
#define LISTEN_BACKLOG		128
/* Delay between attempts to listen again */
#define RELISTEN_INTERVAL	HZ

/**
 * struct rpcrdma2_listener - accepts connections at one address
 * @lock: protects @cm_id and @failing
 * @cm_id: the CM id; NULL while the address cannot be listened at
 * @net: network namespace
 * @addr: local address and port
 * @ops: see rpcrdma2_listen()
 * @context: first argument of @ops
 * @relisten: replaces @cm_id
 * @failing: the log says that the listener does not listen
 * @ending: @relisten does nothing any more
 */
struct rpcrdma2_listener {
	struct mutex		lock;	/* see above */
	struct rdma_cm_id	*cm_id;
	struct net		*net;
	struct sockaddr_storage	addr;
	const struct rpcrdma2_listener_ops *ops;
	void			*context;
	struct delayed_work	relisten;
	bool			failing;
	bool			ending;
};

/*
 * Context: CM. @cm_id belongs to the request; the CM copied its context from the listener's
 *	id.
 */
static int listener_connect_request(struct rdma_cm_id *cm_id,
				    struct rdma_cm_event *event)
{
	struct rpcrdma2_listener *listener = cm_id->context;
	struct sockaddr *sa = (struct sockaddr *)&cm_id->route.addr.dst_addr;
	struct rpcrdma2_conn *conn;

	/* After an error the CM rejects the peer and destroys the request's id. */
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
		/*
		 * Other connections of the CM wait for this handler, and mounts depend on
		 * them.
		 */
		saved = rpcrdma2_memalloc_save(NULL);
		rc = listener_connect_request(cm_id, event);
		rpcrdma2_memalloc_restore(saved);
		return rc;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		/* The removal waits until listener_restart() destroys the id. */
	case RDMA_CM_EVENT_ADDR_CHANGE:
		/* A bond failed over, but the id is still bound to the failed link. */
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
	/* IPv4 and IPv6 each have a listener of their own, as with TCP. */
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
	/* If the caller asked for any port, keep the chosen one for the next id. */
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

/* Log one line when listening stops, and one when it works again. */
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
 * rpcrdma2_listen - accept connections at an address
 * @net: network namespace
 * @addr: local address and port
 * @ops: callbacks for requests of peers
 * @context: first argument of @ops
 *
 * A listener survives the loss of its device or its address. It listens again as soon as a
 * device has @addr.
 *
 * Context: Process; sleeps.
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
 * rpcrdma2_listener_address - address and port of a listener
 * @listener: the listener
 *
 * Context: Any.
 * Return: the address, valid as long as the listener
 */
struct sockaddr *rpcrdma2_listener_address(struct rpcrdma2_listener *listener)
{
	return (struct sockaddr *)&listener->addr;
}

/**
 * rpcrdma2_unlisten - stop accepting, and free the listener
 * @listener: the listener
 *
 * Context: Process; sleeps. No callback runs after the return.
 */
void rpcrdma2_unlisten(struct rpcrdma2_listener *listener)
{
	/* From here on, a queued listener_restart() does nothing. */
	WRITE_ONCE(listener->ending, true);
	cancel_delayed_work_sync(&listener->relisten);
	if (listener->cm_id)
		rdma_destroy_id(listener->cm_id);
	cancel_delayed_work_sync(&listener->relisten);
	kfree(listener);
}
