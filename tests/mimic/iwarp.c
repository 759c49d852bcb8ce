// SPDX-License-Identifier: GPL-2.0
/*
 * The CM of iWARP, for connections within this kernel.
 *
 * Owns the endpoints and the list of listeners. One ordered workqueue raises all events, so
 * each end sees its events in order, and endpoints need no lock. listeners_lock protects the
 * listeners and the requests that await an answer. The core calls the verbs in process
 * context.
 */
#include <net/ipv6.h>
#include <rdma/iw_cm.h>

#include "mimic.h"

#define MAX_PRIVATE_DATA	512
/* Connecting fails if the listener's ULP gives no answer for this long. */
#define ANSWER_TIMEOUT		(20 * HZ)

/**
 * struct mimic_ep - an end of a connection
 * @ref: references to this struct
 * @cm_id: the CM's id, with a reference, until the last event; then NULL
 * @qp: the QP, with a reference, as long as @cm_id
 * @peer: the other end, with a reference
 * @active: this end connects; else it accepts
 * @rejected: the answer is a rejection
 * @late: the active end has been told of a timeout
 * @established: both ends have been told of the connection
 * @since: arrival of the request, in jiffies
 * @request: in @requests until the answer
 * @ird: RDMA Reads that this end answers at a time
 * @ord: RDMA Reads that this end makes at a time
 * @length: octets of @data
 * @data: private data that this end sends
 * @connect: brings the request to a listener
 * @answer: carries the answer to the active end
 * @close: ends the connection
 */
struct mimic_ep {
	refcount_t		ref;
	struct iw_cm_id		*cm_id;
	struct mimic_qp		*qp;
	struct mimic_ep		*peer;
	bool			active;
	bool			rejected;
	bool			late;
	bool			established;
	unsigned long		since;
	struct list_head	request;
	u8			ird;
	u8			ord;
	u8			length;
	u8			data[MAX_PRIVATE_DATA];
	struct work_struct	connect;
	struct work_struct	answer;
	struct work_struct	close;
};

struct listener {
	struct list_head	list;
	struct iw_cm_id		*cm_id;
};

static bool deny_reads;
module_param(deny_reads, bool, 0644);
MODULE_PARM_DESC(deny_reads,
		 "Whoever connects by iWARP hears that it may make no RDMA Reads");

static struct workqueue_struct *events;
static LIST_HEAD(listeners);
static LIST_HEAD(requests);
static DEFINE_MUTEX(listeners_lock);	/* listeners, requests */

static void ep_put(struct mimic_ep *ep)
{
	if (!refcount_dec_and_test(&ep->ref))
		return;
	if (ep->peer)
		ep_put(ep->peer);
	kfree(ep);
}

static void ep_queue(struct mimic_ep *ep, struct work_struct *work)
{
	refcount_inc(&ep->ref);
	if (!queue_work(events, work))
		ep_put(ep);
}

static int ep_raise(struct mimic_ep *ep, enum iw_cm_event_type type, int status,
		    struct mimic_ep *data_of)
{
	struct iw_cm_event event = {
		.event	= type,
		.status	= status,
		.ird	= ep->ird,
		.ord	= ep->ord,
	};

	if (!ep->cm_id)
		return -ENOTCONN;
	if (ep->active && READ_ONCE(deny_reads)) {
		event.ird = 0;
		event.ord = 0;
	}
	if (data_of) {
		event.private_data = data_of->data;
		event.private_data_len = data_of->length;
	}
	event.local_addr = ep->cm_id->local_addr;
	event.remote_addr = ep->cm_id->remote_addr;
	return ep->cm_id->event_handler(ep->cm_id, &event);
}

/* Raise no event after this: the CM's id and the QP are gone. */
static void let_go(struct mimic_ep *ep)
{
	struct iw_cm_id *cm_id = ep->cm_id;
	struct mimic_qp *qp = ep->qp;

	ep->cm_id = NULL;
	ep->qp = NULL;
	if (cm_id)
		cm_id->rem_ref(cm_id);
	if (qp)
		mimic_qp_put(qp);
}

static void ep_connect_failed(struct mimic_ep *ep, int status)
{
	ep_raise(ep, IW_CM_EVENT_CONNECT_REPLY, status, NULL);
	let_go(ep);
}

static bool is_for(const struct sockaddr_storage *to,
		   const struct sockaddr_storage *listens)
{
	const struct sockaddr_in6 *to6 = (void *)to, *at6 = (void *)listens;
	const struct sockaddr_in *to4 = (void *)to, *at4 = (void *)listens;

	if (to->ss_family != listens->ss_family)
		return false;
	if (to->ss_family == AF_INET6)
		return to6->sin6_port == at6->sin6_port &&
		       (ipv6_addr_any(&at6->sin6_addr) ||
			ipv6_addr_equal(&at6->sin6_addr, &to6->sin6_addr));
	return to4->sin_port == at4->sin_port &&
	       (at4->sin_addr.s_addr == htonl(INADDR_ANY) ||
		at4->sin_addr.s_addr == to4->sin_addr.s_addr);
}

/* The lock keeps the listener's id alive. */
static struct iw_cm_id *find_listener(const struct sockaddr_storage *to)
{
	struct listener *listener;

	lockdep_assert_held(&listeners_lock);

	list_for_each_entry(listener, &listeners, list)
		if (is_for(to, &listener->cm_id->local_addr))
			return listener->cm_id;
	return NULL;
}

static void ep_connect(struct work_struct *work);
static void ep_answer(struct work_struct *work);
static void ep_close(struct work_struct *work);

static struct mimic_ep *ep_new(void)
{
	struct mimic_ep *ep = kzalloc(sizeof(*ep), GFP_KERNEL);

	if (!ep)
		return NULL;
	refcount_set(&ep->ref, 1);
	INIT_WORK(&ep->connect, ep_connect);
	INIT_WORK(&ep->answer, ep_answer);
	INIT_WORK(&ep->close, ep_close);
	INIT_LIST_HEAD(&ep->request);
	return ep;
}

static void set_terms(struct mimic_ep *ep, const struct iw_cm_conn_param *param)
{
	ep->ird = param->ird;
	ep->ord = param->ord;
	ep->length = param->private_data_len;
	memcpy(ep->data, param->private_data, ep->length);
}

/*
 * Time out the requests that have waited too long. The core forgets a request whose
 * listener goes, for example with its device. An answer may still come, so the endpoint
 * stays until the module is unloaded.
 */
static void requests_overdue(struct work_struct *work)
{
	struct mimic_ep *ep;
	bool more = false;

	mutex_lock(&listeners_lock);
	list_for_each_entry(ep, &requests, request) {
		if (ep->late)
			continue;
		if (time_before(jiffies, ep->since + ANSWER_TIMEOUT)) {
			more = true;
			continue;
		}
		ep->late = true;
		if (ep->peer->cm_id)
			ep_connect_failed(ep->peer, -ETIMEDOUT);
	}
	mutex_unlock(&listeners_lock);
	if (more)
		queue_delayed_work(events, to_delayed_work(work), HZ);
}

static DECLARE_DELAYED_WORK(overdue, requests_overdue);

/* Take the request off the list. Return: whether it has timed out. */
static bool is_late(struct mimic_ep *ep)
{
	bool late;

	mutex_lock(&listeners_lock);
	list_del_init(&ep->request);
	late = ep->late;
	mutex_unlock(&listeners_lock);
	return late;
}

/*
 * Raise CONNECT_REQUEST at a listener. The new endpoint's first reference is the CM's
 * until the answer. The caller holds listeners_lock.
 */
static int request(struct mimic_ep *ep, struct iw_cm_id *listener)
{
	struct iw_cm_event event = {
		.event			= IW_CM_EVENT_CONNECT_REQUEST,
		.local_addr		= ep->cm_id->remote_addr,
		.remote_addr		= ep->cm_id->local_addr,
		.private_data		= ep->data,
		.private_data_len	= ep->length,
		/*
		 * ep_connect() passes the active end's values; the passive end swaps
		 * their meaning.
		 */
		.ird			= ep->ird,
		.ord			= ep->ord,
	};
	struct mimic_ep *passive = ep_new();
	int rc;

	if (!passive)
		return -ENOMEM;
	refcount_inc(&ep->ref);
	passive->peer = ep;
	passive->since = jiffies;
	list_add_tail(&passive->request, &requests);
	event.provider_data = passive;
	rc = listener->event_handler(listener, &event);
	if (rc) {
		list_del(&passive->request);
		ep_put(passive);
	} else {
		queue_delayed_work(events, &overdue, ANSWER_TIMEOUT);
	}
	return rc;
}

static void ep_connect(struct work_struct *work)
{
	struct mimic_ep *ep = container_of(work, struct mimic_ep, connect);
	struct iw_cm_id *listener;
	int rc = -ECONNREFUSED;

	if (!ep->cm_id)
		goto out;
	if (!mimic_refuse(ep->qp->dev, MIMIC_CONNECT)) {
		mutex_lock(&listeners_lock);
		listener = find_listener(&ep->cm_id->remote_addr);
		if (listener)
			rc = request(ep, listener);
		mutex_unlock(&listeners_lock);
	}
	if (rc)
		ep_connect_failed(ep, -ECONNREFUSED);
out:
	ep_put(ep);
}

/* Leave a QP alone that is in ERR already. */
static void to_rts(struct mimic_qp *qp, u32 dest_qpn)
{
	qp->attr.dest_qp_num = dest_qpn;
	qp->attr.rnr_retry = 0;
	if (READ_ONCE(qp->state) < IB_QPS_RTS)
		mimic_qp_state(qp, IB_QPS_RTS);
}

static void ep_answer(struct work_struct *work)
{
	struct mimic_ep *ep = container_of(work, struct mimic_ep, answer);
	struct mimic_ep *active = ep->peer;

	if (ep->rejected) {
		if (active->cm_id)
			ep_raise(active, IW_CM_EVENT_CONNECT_REPLY,
				 -ECONNREFUSED, ep);
		let_go(active);
		goto out;
	}
	ep->established = true;
	if (!active->cm_id) {
		/*
		 * The active end has given up. The CM at this end expects ESTABLISHED
		 * after its accept, and then learns of the end.
		 */
		ep_raise(ep, IW_CM_EVENT_ESTABLISHED, 0, NULL);
		ep_queue(ep, &ep->close);
		goto out;
	}
	refcount_inc(&ep->ref);
	active->peer = ep;
	active->established = true;
	to_rts(ep->qp, active->qp->ib.qp_num);
	to_rts(active->qp, ep->qp->ib.qp_num);
	ep_raise(ep, IW_CM_EVENT_ESTABLISHED, 0, NULL);
	ep_raise(active, IW_CM_EVENT_CONNECT_REPLY, 0, ep);
out:
	ep_put(ep);
}

static void end(struct mimic_ep *ep)
{
	if (!ep->cm_id)
		return;
	mimic_qp_state(ep->qp, IB_QPS_ERR);
	ep_raise(ep, IW_CM_EVENT_DISCONNECT, 0, NULL);
	ep_raise(ep, IW_CM_EVENT_CLOSE, 0, NULL);
	let_go(ep);
}

static void ep_close(struct work_struct *work)
{
	struct mimic_ep *ep = container_of(work, struct mimic_ep, close);
	struct mimic_ep *peer = ep->peer;

	if (ep->established) {
		/* The ends hold references to each other; break the circle. */
		ep->peer = NULL;
		end(ep);
		if (peer) {
			end(peer);
			ep_put(peer);
		}
	} else if (ep->active && ep->cm_id) {
		ep_connect_failed(ep, -ECONNRESET);
	}
	ep_put(ep);
}

/**
 * mimic_iwarp_lost - disconnect the endpoint of a QP that is in ERR, or soon will be
 * @qp: the QP; nothing happens if it has no endpoint
 *
 * Context: any.
 */
void mimic_iwarp_lost(struct mimic_qp *qp)
{
	struct mimic_ep *ep = READ_ONCE(qp->ep);

	if (ep)
		ep_queue(ep, &ep->close);
}

/**
 * mimic_iwarp_forget - take a QP's endpoint away
 * @qp: the QP, which is destroyed and has no references
 *
 * Context: any.
 */
void mimic_iwarp_forget(struct mimic_qp *qp)
{
	if (qp->ep)
		ep_put(qp->ep);
	qp->ep = NULL;
}

static void iw_add_ref(struct ib_qp *qp)
{
	refcount_inc(&to_mimic_qp(qp)->refs);
}

static void iw_rem_ref(struct ib_qp *qp)
{
	mimic_qp_put(to_mimic_qp(qp));
}

static struct ib_qp *iw_get_qp(struct ib_device *device, int qpn)
{
	struct mimic_qp *qp = xa_load(&mimic_qps, qpn);

	return qp && qp->ib.device == device ? &qp->ib : NULL;
}

/* Give @ep references to the QP and to the CM's id. */
static int take(struct mimic_ep *ep, struct iw_cm_id *cm_id,
		const struct iw_cm_conn_param *param)
{
	struct mimic_qp *qp = xa_load(&mimic_qps, param->qpn);
	struct mimic_dev *dev = to_mimic(cm_id->device);

	if (!qp || qp->ep || param->private_data_len > U8_MAX ||
	    param->ird > dev->limits.rd_atom ||
	    param->ord > dev->limits.init_rd_atom)
		return -EINVAL;
	set_terms(ep, param);
	refcount_inc(&qp->refs);
	ep->qp = qp;
	cm_id->add_ref(cm_id);
	ep->cm_id = cm_id;
	refcount_inc(&ep->ref);
	WRITE_ONCE(qp->ep, ep);
	return 0;
}

static int iw_connect(struct iw_cm_id *cm_id, struct iw_cm_conn_param *param)
{
	struct mimic_ep *ep = ep_new();
	int rc;

	if (!ep)
		return -ENOMEM;
	ep->active = true;
	rc = take(ep, cm_id, param);
	if (!rc)
		ep_queue(ep, &ep->connect);
	ep_put(ep);
	return rc;
}

static int iw_accept(struct iw_cm_id *cm_id, struct iw_cm_conn_param *param)
{
	struct mimic_ep *ep = cm_id->provider_data;
	int rc;

	if (is_late(ep)) {
		ep_put(ep);
		return -ETIMEDOUT;
	}
	rc = mimic_refuse(to_mimic(cm_id->device), MIMIC_ACCEPT);
	if (!rc)
		rc = take(ep, cm_id, param);
	if (rc)
		ep->rejected = true;
	ep_queue(ep, &ep->answer);
	ep_put(ep);
	return rc;
}

static int iw_reject(struct iw_cm_id *cm_id, const void *data, u8 length)
{
	struct mimic_ep *ep = cm_id->provider_data;

	if (is_late(ep)) {
		ep_put(ep);
		return 0;
	}
	ep->rejected = true;
	ep->length = length;
	memcpy(ep->data, data, length);
	ep_queue(ep, &ep->answer);
	ep_put(ep);
	return 0;
}

static int iw_create_listen(struct iw_cm_id *cm_id, int backlog)
{
	struct listener *listener = kzalloc(sizeof(*listener), GFP_KERNEL);

	if (!listener)
		return -ENOMEM;
	listener->cm_id = cm_id;
	cm_id->add_ref(cm_id);
	cm_id->provider_data = listener;
	mutex_lock(&listeners_lock);
	list_add(&listener->list, &listeners);
	mutex_unlock(&listeners_lock);
	return 0;
}

static int iw_destroy_listen(struct iw_cm_id *cm_id)
{
	struct listener *listener = cm_id->provider_data;

	mutex_lock(&listeners_lock);
	list_del(&listener->list);
	mutex_unlock(&listeners_lock);
	cm_id->rem_ref(cm_id);
	kfree(listener);
	return 0;
}

const struct ib_device_ops mimic_iwarp_ops = {
	.iw_accept		= iw_accept,
	.iw_add_ref		= iw_add_ref,
	.iw_connect		= iw_connect,
	.iw_create_listen	= iw_create_listen,
	.iw_destroy_listen	= iw_destroy_listen,
	.iw_get_qp		= iw_get_qp,
	.iw_reject		= iw_reject,
	.iw_rem_ref		= iw_rem_ref,
};

/**
 * mimic_iwarp_init - create the workqueue of events
 *
 * Context: process, when the module is loaded.
 *
 * Return: 0 or -ENOMEM.
 */
int mimic_iwarp_init(void)
{
	events = alloc_ordered_workqueue("mimic_iwarp", WQ_MEM_RECLAIM);
	return events ? 0 : -ENOMEM;
}

/**
 * mimic_iwarp_exit - free the workqueue, and requests that never got an answer
 *
 * Context: process, when the module is unloaded.
 */
void mimic_iwarp_exit(void)
{
	struct mimic_ep *ep, *next;

	cancel_delayed_work_sync(&overdue);
	destroy_workqueue(events);
	list_for_each_entry_safe(ep, next, &requests, request)
		ep_put(ep);
}
