/* SPDX-License-Identifier: GPL-2.0 */
/* How connections come to be: CM events, connects and accepts. See cm.c. */
#ifndef _RPCRDMA2_CM_H
#define _RPCRDMA2_CM_H

#include <linux/kthread.h>
#include <linux/socket.h>
#include <linux/workqueue.h>
#include <rdma/rdma_cm.h>

struct rpcrdma2_conn;
struct rpcrdma2_conn_param;

/**
 * struct rpcrdma2_cm - how a connection comes to be
 * @connect_work: connects; holds a reference while queued
 * @connecting: thread that is connecting, to be sent a signal; or NULL. Under the endpoint's
 *	lock
 * @accept_work: accepts; holds a reference while queued
 * @reject: the reason of the peer's CM to reject, as for rdma_reject_msg(); or 0
 * @speak_secs: seconds that the peer has for its first message after the accept
 * @max_reads_out: RDMA Reads that this end makes at a time, as the peer answers no more
 * @max_reads_in: RDMA Reads that this end answers at a time, if it accepts
 */
struct rpcrdma2_cm {
	struct kthread_work	connect_work;
	struct task_struct	*connecting;
	struct work_struct	accept_work;
	int			reject;
	u8			speak_secs;
	u8			max_reads_out;
	u8			max_reads_in;
};

int rpcrdma2_accept_setup(void);
void rpcrdma2_accept_cleanup(void);
int rpcrdma2_conn_connect(struct rpcrdma2_conn *conn, struct sockaddr *src,
			  struct sockaddr *dst);
struct rpcrdma2_conn *rpcrdma2_conn_request(struct rdma_cm_id *cm_id,
					    struct rdma_cm_event *event);
bool rpcrdma2_conn_adopt(struct rpcrdma2_conn *conn,
			 const struct rpcrdma2_conn_param *param);
void rpcrdma2_conn_accept(struct rpcrdma2_conn *conn);
void rpcrdma2_conn_hurry(struct rpcrdma2_conn *conn);

#endif /* _RPCRDMA2_CM_H */
