/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Differences between kernels for an RPC program, as probe.mk finds them. Each name has
 * its meaning in the newest kernel, or hides an argument that a kernel lacks.
 */
#ifndef RPCRDMA2_SVC_COMPAT_H
#define RPCRDMA2_SVC_COMPAT_H

#include <linux/kthread.h>
#include <linux/percpu.h>
#include <linux/sunrpc/bc_xprt.h>
#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/svc_xprt.h>
#include <linux/sunrpc/svcsock.h>

#ifdef RPCRDMA2_HAVE_UNALIGNED_H
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

/* Some kernels await a service thread's status and have their own test for its end. */
#ifndef RPCRDMA2_HAVE_SVC_THREAD_STATUS
#define svc_thread_init_status(rqstp, err)	do { } while (0)
#endif
#ifndef RPCRDMA2_HAVE_SVC_THREAD_STOP
#define svc_thread_should_stop(rqstp)		kthread_should_stop()
#endif

#ifndef RPCRDMA2_HAVE_SVC_CB_LWQ
static inline void echo_bc_recv(struct svc_rqst *rqstp)
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

static inline void echo_recv(struct svc_rqst *rqstp)
{
	if (svc_is_backchannel(rqstp))
		echo_bc_recv(rqstp);
	else if (svc_recv(rqstp, MAX_SCHEDULE_TIMEOUT) > 0)
		svc_process(rqstp);
}

#define svc_recv(rqstp, timeo)			echo_recv(rqstp)
#elif defined(RPCRDMA2_HAVE_SVC_RECV_PLAIN)
#define svc_recv(rqstp, timeo)			svc_recv(rqstp)
#endif

#ifndef RPCRDMA2_HAVE_SVC_SET_POOL_THREADS
#define svc_set_num_threads(serv, min, nr)	svc_set_num_threads(serv, NULL, nr)
#endif

#ifndef RPCRDMA2_HAVE_SVC_UNREGISTER
#define svc_xprt_destroy_all(serv, net, unregister) svc_xprt_destroy_all(serv, net)
#endif

#ifndef RPCRDMA2_HAVE_SVC_DESTROY_SERVP
static inline void echo_destroy(struct svc_serv **servp)
{
	svc_put(*servp);
	*servp = NULL;
}

#define svc_destroy(servp)			echo_destroy(servp)
#endif

/* The tests make connections faster than the service's threads end old ones. */
static inline void echo_allow_connections(struct svc_serv *serv)
{
#ifdef RPCRDMA2_HAVE_SV_MAXCONN
	serv->sv_maxconn = 10000;
#endif
}

/*
 * Some kernels allow 64 connections without a valid request, and then close the oldest.
 * The reverse direction has no svc_xprt to mark.
 */
static inline void echo_trust_peer(struct svc_rqst *rqstp)
{
#ifdef XPT_MAX_TMP_CONN
	if (rqstp->rq_xprt)
		svc_xprt_set_valid(rqstp->rq_xprt);
#endif
}

/* Storage for the number of calls of each procedure */
#if !defined(RPCRDMA2_HAVE_VS_COUNT)
#define ECHO_DEFINE_SVC_COUNT(name, nr)	static_assert((nr) > 0)
#define ECHO_VS_COUNT(name)
#elif defined(RPCRDMA2_HAVE_VS_COUNT_PERCPU)
#define ECHO_DEFINE_SVC_COUNT(name, nr)	\
	static DEFINE_PER_CPU_ALIGNED(unsigned long, name[nr])
#define ECHO_VS_COUNT(name)		.vs_count = name,
#else
#define ECHO_DEFINE_SVC_COUNT(name, nr)	static unsigned int name[nr]
#define ECHO_VS_COUNT(name)		.vs_count = name,
#endif

/* Type that pg_authenticate returns */
#ifdef RPCRDMA2_HAVE_SVC_AUTH_STATUS
#define echo_auth_status		enum svc_auth_status
#else
#define echo_auth_status		int
#endif

/*
 * A program's vs_dispatch. It prepares the streams of Call and Reply, and calls @run
 * with the place of the Reply's accept_stat.
 */
#ifdef RPCRDMA2_HAVE_ACCEPT_STATP
#define ECHO_DEFINE_SVC_DISPATCH(name, run)				\
static int name(struct svc_rqst *rqstp)					\
{									\
	return run(rqstp, rqstp->rq_accept_statp);			\
}
#else
#define ECHO_DEFINE_SVC_DISPATCH(name, run)				\
static int name(struct svc_rqst *rqstp, __be32 *statp)			\
{									\
	svcxdr_init_decode(rqstp);					\
	svcxdr_init_encode(rqstp);					\
	return run(rqstp, statp);					\
}
#endif

/* Reserve @nbytes in the pages of the Reply. */
static inline int echo_reserve_space_vec(struct svc_rqst *rqstp, size_t nbytes)
{
#ifdef RPCRDMA2_HAVE_RESERVE_VEC_NO_KVEC
	return xdr_reserve_space_vec(&rqstp->rq_res_stream, nbytes);
#else
	return xdr_reserve_space_vec(&rqstp->rq_res_stream, rqstp->rq_vec,
				     nbytes);
#endif
}

#endif /* RPCRDMA2_SVC_COMPAT_H */
