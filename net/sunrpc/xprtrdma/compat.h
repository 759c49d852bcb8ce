/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Every difference between the kernels that this module is built for: 6.1, and
 * 6.12 with what is newer. Each name below reads as in the newest kernel, or
 * hides what changed.
 */
#ifndef _RPCRDMA2_COMPAT_H
#define _RPCRDMA2_COMPAT_H

#include <linux/dma-direct.h>
#include <linux/kthread.h>
#include <linux/sunrpc/bc_xprt.h>
#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/xprt.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#define RPCRDMA2_IS_6_1		0
#include <linux/unaligned.h>
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 1, 0) && \
	LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define RPCRDMA2_IS_6_1		1
#include <asm/unaligned.h>
#else
#error "rpcrdma2 is for Linux 6.1, and for 6.12 and newer"
#endif

/* Tracepoints: the source is __string()'s. */
#if RPCRDMA2_IS_6_1
#define rpcrdma2_assign_str(dst, src)	__assign_str(dst, src)
#else
#define rpcrdma2_assign_str(dst, src)	__assign_str(dst)
#endif

/* A transport says in recvfrom that the peer's port is privileged. */
#if RPCRDMA2_IS_6_1
static inline void rpcrdma2_secure_port(struct svc_rqst *rqstp)
{
	set_bit(RQ_SECURE, &rqstp->rq_flags);
}

#define RPCRDMA2_XPO_SECURE_PORT	.xpo_secure_port = rpcrdma2_secure_port,
#else
#define RPCRDMA2_XPO_SECURE_PORT
#endif

/* A kernel thread that does what is queued for it, from now on */
#ifndef kthread_run_worker
#define kthread_run_worker	kthread_create_worker
#endif

/* A sysctl's handler leaves its table alone; a table has an end, or a size. */
#if RPCRDMA2_IS_6_1
#define RPCRDMA2_CTL_TABLE		struct ctl_table
#define RPCRDMA2_CTL_TABLE_END		{ }
#else
#define RPCRDMA2_CTL_TABLE		const struct ctl_table
#define RPCRDMA2_CTL_TABLE_END
#endif

/* A Call for a callback service, of which one thread is to wake up. */
static inline void rpcrdma2_enqueue_bc_request(struct svc_serv *serv,
					       struct rpc_rqst *rqst)
{
#if RPCRDMA2_IS_6_1
	spin_lock(&serv->sv_cb_lock);
	list_add_tail(&rqst->rq_bc_list, &serv->sv_cb_list);
	wake_up(&serv->sv_cb_waitq);
	spin_unlock(&serv->sv_cb_lock);
#else
	lwq_enqueue(&rqst->rq_bc_list, &serv->sv_cb_list);
	svc_pool_wake_idle_thread(&serv->sv_pools[0]);
#endif
}

/*
 * The device for tests
 */

/* What create_cq is told of its user */
#if RPCRDMA2_IS_6_1
#define rpcrdma2_create_cq_arg		ib_udata
#else
#define rpcrdma2_create_cq_arg		uverbs_attr_bundle
#endif

/* Where a device sees memory; newer kernels compute the offset. */
static inline void rpcrdma2_set_dma_region(struct bus_dma_region *region,
					   phys_addr_t cpu, dma_addr_t dma,
					   u64 size)
{
	region->cpu_start = cpu;
	region->dma_start = dma;
	region->size = size;
#if RPCRDMA2_IS_6_1
	region->offset = cpu - dma;
#endif
}

/*
 * RPC programs, of which there are some in the tests.
 */

/* A thread of a service says that it is ready, then works until it is told. */
#if RPCRDMA2_IS_6_1
static inline void rpcrdma2_bc_recv(struct svc_rqst *rqstp)
{
	struct svc_serv *serv = rqstp->rq_server;
	struct rpc_rqst *rqst;

	wait_event_idle(serv->sv_cb_waitq, !list_empty(&serv->sv_cb_list) ||
			kthread_should_stop());
	spin_lock_bh(&serv->sv_cb_lock);
	rqst = list_first_entry_or_null(&serv->sv_cb_list, struct rpc_rqst,
					rq_bc_list);
	if (rqst)
		list_del(&rqst->rq_bc_list);
	spin_unlock_bh(&serv->sv_cb_lock);
	if (rqst)
		bc_svc_process(serv, rqst, rqstp);
}

static inline void rpcrdma2_svc_recv(struct svc_rqst *rqstp)
{
	if (svc_is_backchannel(rqstp))
		rpcrdma2_bc_recv(rqstp);
	else if (svc_recv(rqstp, MAX_SCHEDULE_TIMEOUT) > 0)
		svc_process(rqstp);
}

#define svc_thread_init_status(rqstp, err)	do { } while (0)
#define svc_thread_should_stop(rqstp)		kthread_should_stop()
#else
#define rpcrdma2_svc_recv(rqstp)		svc_recv(rqstp)
#endif

static inline void rpcrdma2_svc_destroy(struct svc_serv **servp)
{
#if RPCRDMA2_IS_6_1
	svc_put(*servp);
	*servp = NULL;
#else
	svc_destroy(servp);
#endif
}

/* How often each of a program's procedures was called */
#if RPCRDMA2_IS_6_1
#define RPCRDMA2_DEFINE_SVC_COUNT(name, nr)	unsigned int name[nr]
#else
#define RPCRDMA2_DEFINE_SVC_COUNT(name, nr)	\
	DEFINE_PER_CPU_ALIGNED(unsigned long, name[nr])
#endif

/* What a program's pg_authenticate returns: SVC_OK and the like */
#if RPCRDMA2_IS_6_1
#define rpcrdma2_svc_auth_status	int
#else
#define rpcrdma2_svc_auth_status	enum svc_auth_status
#endif

/*
 * A program's vs_dispatch: set up the streams of Call and Reply, let @run deal
 * with both, and give it the place of the Reply's accept_stat.
 */
#if RPCRDMA2_IS_6_1
#define RPCRDMA2_DEFINE_SVC_DISPATCH(name, run)				\
static int name(struct svc_rqst *rqstp, __be32 *statp)			\
{									\
	svcxdr_init_decode(rqstp);					\
	svcxdr_init_encode(rqstp);					\
	return run(rqstp, statp);					\
}
#else
#define RPCRDMA2_DEFINE_SVC_DISPATCH(name, run)				\
static int name(struct svc_rqst *rqstp)					\
{									\
	return run(rqstp, rqstp->rq_accept_statp);			\
}
#endif

/* Room in the pages of a Reply, up to their limit */
static inline int rpcrdma2_reserve_space_vec(struct svc_rqst *rqstp,
					     size_t nbytes)
{
#if RPCRDMA2_IS_6_1
	return xdr_reserve_space_vec(&rqstp->rq_res_stream, rqstp->rq_vec,
				     nbytes);
#else
	return xdr_reserve_space_vec(&rqstp->rq_res_stream, nbytes);
#endif
}

#endif /* _RPCRDMA2_COMPAT_H */
