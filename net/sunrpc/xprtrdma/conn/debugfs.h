/* SPDX-License-Identifier: GPL-2.0 */
/* Files in debugfs: see debugfs.c. */
#ifndef _RPCRDMA2_DEBUGFS_H
#define _RPCRDMA2_DEBUGFS_H

#include <linux/debugfs.h>
#include <linux/workqueue.h>

struct rpcrdma2_conn;

/**
 * struct rpcrdma2_conn_files - a connection's files in debugfs
 * @state: readable: state and counters
 * @control: writable
 * @work: makes and removes both files; holds a reference to the connection while queued
 */
struct rpcrdma2_conn_files {
	struct dentry		*state;
	struct dentry		*control;
	struct work_struct	work;
};

void rpcrdma2_debugfs_init(struct rpcrdma2_conn *conn);
void rpcrdma2_debugfs_ready(struct rpcrdma2_conn *conn);
void rpcrdma2_debugfs_remove(struct rpcrdma2_conn *conn);
void rpcrdma2_debugfs_add(const char *name,
			  const struct file_operations *fops);
void rpcrdma2_debugfs_add_u32(const char *name, u32 *value);
int rpcrdma2_debugfs_setup(void);
void rpcrdma2_debugfs_cleanup(void);

#endif /* _RPCRDMA2_DEBUGFS_H */
