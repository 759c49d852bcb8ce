/* SPDX-License-Identifier: GPL-2.0 */
/* How a connection calls the layer above. */
#ifndef _RPCRDMA2_OPS_H
#define _RPCRDMA2_OPS_H

#include <linux/types.h>

struct rpcrdma2_conn;
struct rpcrdma2_recv;
struct seq_file;

/**
 * struct rpcrdma2_conn_ops - callbacks to the layer above
 * @prepare: optional; the QP exists: allocate all that RPCs will need when there is no
 *	memory. Process context, may sleep. Returns 0, or a negative errno that closes the
 *	connection
 * @ready: RPCs may flow. Called once, before any @reply. Process context: CQ, CM or timer
 * @closing: start no new work. Called once, process context
 * @fence: give up all registrations: the device processes no WR of this connection any more.
 *	Work that never completed returns to its owners afterwards. Called once, after
 *	@closing, process context
 * @drained: release all that depends on the device: PD and device exist until the return.
 *	Called once, after @fence, process context
 * @closed: the connection uses no device any more. Called once, process context
 * @free: the last reference has ended: free the roles. Any context
 * @room: optional; the Send Queue has room, or a Send buffer is free, and a caller waited for
 *	that. Process context, no locks held
 * @call: a Call arrived. This op owns the Receive, and gives it back at any time. CQ context
 * @reply: a Reply or an RDMA2_ERROR arrived. This op owns the Receive, and gives it back. CQ
 *	context
 * @is_quiet: returns true if none of this end's Calls is out; one that is being marshalled
 *	counts as out. Takes conn->ep.lock
 * @show: write the lines of the layers above to a debugfs file by rpcrdma2_show(). Called
 *	between enter and exit, process context, must not sleep
 */
struct rpcrdma2_conn_ops {
	int	(*prepare)(struct rpcrdma2_conn *conn);
	void	(*ready)(struct rpcrdma2_conn *conn);
	void	(*closing)(struct rpcrdma2_conn *conn);
	void	(*fence)(struct rpcrdma2_conn *conn);
	void	(*drained)(struct rpcrdma2_conn *conn);
	void	(*closed)(struct rpcrdma2_conn *conn);
	void	(*free)(struct rpcrdma2_conn *conn);
	void	(*room)(struct rpcrdma2_conn *conn);
	void	(*call)(struct rpcrdma2_recv *recv);
	void	(*reply)(struct rpcrdma2_recv *recv);
	bool	(*is_quiet)(struct rpcrdma2_conn *conn);
	void	(*show)(struct rpcrdma2_conn *conn, struct seq_file *seq);
};

#endif /* _RPCRDMA2_OPS_H */
