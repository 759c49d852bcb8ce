/* SPDX-License-Identifier: GPL-2.0 */
/* The state of a connection, and its references: see state.c. */
#ifndef _RPCRDMA2_STATE_H
#define _RPCRDMA2_STATE_H

#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

struct rpcrdma2_conn;
struct rpcrdma2_conn_param;

/*
 * States of a connection. The end that connects goes through NEW, RESOLVING, ROUTING,
 * CONNECTING, NEGOTIATING and READY; the end that accepts through NEW, ACCEPTING, NEGOTIATING
 * and READY. Every state but CLOSED can change to CLOSING, and CLOSING ends in CLOSED.
 */
enum rpcrdma2_conn_state {
	RPCRDMA2_CONN_NEW,
	RPCRDMA2_CONN_RESOLVING,
	RPCRDMA2_CONN_ROUTING,
	RPCRDMA2_CONN_CONNECTING,
	RPCRDMA2_CONN_ACCEPTING,
	RPCRDMA2_CONN_NEGOTIATING,
	RPCRDMA2_CONN_READY,
	RPCRDMA2_CONN_CLOSING,
	RPCRDMA2_CONN_CLOSED,
};

/**
 * struct rpcrdma2_close - the end of a connection
 * @status: reason of the close, negative errno
 * @in: state before CLOSING
 * @work: runs the teardown, if this end accepted
 * @thread_work: runs the teardown in the connector thread, if this end connected
 * @done: completed in state CLOSED
 */
struct rpcrdma2_close {
	int				status;
	enum rpcrdma2_conn_state	in;
	struct work_struct		work;
	struct kthread_work		thread_work;
	struct completion		done;
};

int rpcrdma2_state_setup(void);
void rpcrdma2_state_cleanup(void);
void rpcrdma2_conn_set_param(struct rpcrdma2_conn *conn,
			     const struct rpcrdma2_conn_param *param);
void rpcrdma2_conn_set_size(struct rpcrdma2_conn *conn, u32 start, u32 most);
void rpcrdma2_conn_get(struct rpcrdma2_conn *conn);
void rpcrdma2_conn_put(struct rpcrdma2_conn *conn);
bool rpcrdma2_conn_advance(struct rpcrdma2_conn *conn,
			   enum rpcrdma2_conn_state state,
			   unsigned int timeout_secs);
void rpcrdma2_conn_set_timer(struct rpcrdma2_conn *conn, unsigned long delay);
void rpcrdma2_conn_close(struct rpcrdma2_conn *conn, int status);
void rpcrdma2_conn_wait_closed(struct rpcrdma2_conn *conn);

#endif /* _RPCRDMA2_STATE_H */
