/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Every difference between the kernels that this module is built for, by the probes
 * in Kbuild. Each name below reads as in the newest kernel, or hides what changed.
 */
#ifndef _RPCRDMA2_COMPAT_H
#define _RPCRDMA2_COMPAT_H

#include <generated/utsrelease.h>
#include <linux/kthread.h>
#include <linux/shrinker.h>
#include <linux/slab.h>
#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/svc_xprt.h>
#include <linux/sunrpc/xprt.h>
#include <linux/version.h>
#include <net/genetlink.h>

/*
 * Probes tell kernels apart, because distributions add later changes to older kernels. A
 * compiler does not see every change. For example, Linux 7.1 moved a Reply's pages from
 * behind the Call's pages. Code for older kernels compiles there, and corrupts memory. So
 * compat.h refuses a kernel that is newer than any that we read. It also refuses headers
 * with neither form of the pages. RPCRDMA2_ANY_KERNEL overrules the first refusal only.
 */
#define RPCRDMA2_OLDEST		KERNEL_VERSION(6, 1, 0)
#define RPCRDMA2_NEWEST		KERNEL_VERSION(7, 3, 255)

#ifndef RPCRDMA2_ANY_KERNEL
#if LINUX_VERSION_CODE < RPCRDMA2_OLDEST
#error "refused: older than Linux 6.1: boot a newer kernel, or make RPCRDMA2_ANY_KERNEL=1"
#elif LINUX_VERSION_CODE > RPCRDMA2_NEWEST
#error "refused: newer than Linux 7.3: get a newer rpcrdma2, or make RPCRDMA2_ANY_KERNEL=1"
#endif
#endif

#if !defined(RPCRDMA2_HAVE_SVC_RESPAGES) && !defined(RPCRDMA2_HAVE_SVC_RESPAGES_INSIDE)
#error "refused: a server's pages have an unknown form: get a newer rpcrdma2 or another kernel"
#elif !defined(RPCRDMA2_HAVE_SVC_CB_LWQ) && !defined(RPCRDMA2_HAVE_SVC_CB_WAITQ)
#error "refused: callbacks have an unknown form: get a newer rpcrdma2 or another kernel"
#elif !defined(RPCRDMA2_HAVE_XPO_RELEASE_CTXT)
#error "refused: xpo_release_ctxt is missing: update this kernel"
#endif

/* Distributions that change kernels a lot, without a change of the version */
#if defined(RHEL_MAJOR)
#define RPCRDMA2_KERNEL_OF	", Red Hat or a relative"
#elif defined(CONFIG_SUSE_KERNEL)
#define RPCRDMA2_KERNEL_OF	", SUSE"
#elif defined(UTS_UBUNTU_RELEASE_ABI)
#define RPCRDMA2_KERNEL_OF	", Ubuntu"
#endif

/* The tests were run on these versions, as Debian has them. */
#define RPCRDMA2_IS_LINUX(major, minor) \
	((LINUX_VERSION_CODE >> 8) == (KERNEL_VERSION(major, minor, 0) >> 8))

/* For modinfo: what is known of the kernel that this module is for */
#ifdef RPCRDMA2_KERNEL_OF
#define RPCRDMA2_KERNEL_STATE	"expected to work" RPCRDMA2_KERNEL_OF
#elif RPCRDMA2_IS_LINUX(6, 1) || RPCRDMA2_IS_LINUX(6, 12) || RPCRDMA2_IS_LINUX(7, 3)
#define RPCRDMA2_KERNEL_STATE	"tested"
#elif LINUX_VERSION_CODE < RPCRDMA2_OLDEST || LINUX_VERSION_CODE > RPCRDMA2_NEWEST
#define RPCRDMA2_KERNEL_STATE	"not supported"
#else
#define RPCRDMA2_KERNEL_STATE	"expected to work"
#endif

#ifdef RPCRDMA2_HAVE_UNALIGNED_H
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

/* Tracepoints: the source is __string()'s. */
#ifdef RPCRDMA2_HAVE_ASSIGN_STR_DST
#define rpcrdma2_assign_str(dst, src)	__assign_str(dst)
#else
#define rpcrdma2_assign_str(dst, src)	__assign_str(dst, src)
#endif

/*
 * A peer on an RDMA fabric cannot choose the port it is seen with. Most threads have said
 * so for the Call before.
 */
static inline void rpcrdma2_secure_port(struct svc_rqst *rqstp)
{
	if (!test_bit(RQ_SECURE, &rqstp->rq_flags))
		set_bit(RQ_SECURE, &rqstp->rq_flags);
}

/* A transport says so in recvfrom, and not when it is asked. */
#ifdef RPCRDMA2_HAVE_XPO_SECURE_PORT
#define RPCRDMA2_XPO_SECURE_PORT	.xpo_secure_port = rpcrdma2_secure_port,
#else
#define RPCRDMA2_XPO_SECURE_PORT
#endif

/*
 * A server's thread has pages for a Call and pages for its Reply. sunrpc frees the
 * Reply's up to rq_next_page and fills in others before the next Call; NULL stands
 * for a page that the transport took. Since 7.1 they are two arrays, and what is
 * filled in is the first rq_pages_nfree of the Call's, and the Reply's that were
 * freed. Before, the Reply's come behind the Call's, each NULL is filled in, and none
 * may be among those to free.
 */
#ifdef RPCRDMA2_HAVE_SVC_RESPAGES
static inline unsigned int rpcrdma2_call_pages(const struct svc_rqst *rqstp)
{
	return rqstp->rq_maxpages;
}

static inline void rpcrdma2_call_pages_taken(struct svc_rqst *rqstp,
					     unsigned int n)
{
	rqstp->rq_pages_nfree = max_t(unsigned long, n, rqstp->rq_pages_nfree);
}

static inline void rpcrdma2_reply_pages_begin(struct svc_rqst *rqstp,
					      unsigned int used)
{
	rqstp->rq_next_page = rqstp->rq_respages;
}

/* May the page at the end of those to free be left where it is? */
static inline bool rpcrdma2_reply_page_stays(const struct page *page)
{
	return page;
}
#else
/* But two, which the smallest Reply needs. */
static inline unsigned int rpcrdma2_call_pages(const struct svc_rqst *rqstp)
{
	return rqstp->rq_page_end - rqstp->rq_pages - 2;
}

static inline void rpcrdma2_call_pages_taken(struct svc_rqst *rqstp,
					     unsigned int n)
{
}

static inline void rpcrdma2_reply_pages_begin(struct svc_rqst *rqstp,
					      unsigned int used)
{
	rqstp->rq_respages = &rqstp->rq_pages[used];
	rqstp->rq_next_page = rqstp->rq_respages;
}

static inline bool rpcrdma2_reply_page_stays(const struct page *page)
{
	return true;
}
#endif

/* Where the caller sets the functions between the first two of these */
#ifdef RPCRDMA2_HAVE_SHRINKER_ALLOC
static inline struct shrinker *rpcrdma2_shrinker_alloc(const char *name)
{
	return shrinker_alloc(0, "%s", name);
}

static inline int rpcrdma2_shrinker_register(struct shrinker *shrinker,
					     const char *name)
{
	shrinker_register(shrinker);
	return 0;
}

static inline void rpcrdma2_shrinker_free(struct shrinker *shrinker)
{
	shrinker_free(shrinker);
}
#else
static inline struct shrinker *rpcrdma2_shrinker_alloc(const char *name)
{
	struct shrinker *shrinker = kzalloc(sizeof(*shrinker), GFP_KERNEL);

	if (shrinker)
		shrinker->seeks = DEFAULT_SEEKS;
	return shrinker;
}

static inline int rpcrdma2_shrinker_register(struct shrinker *shrinker,
					     const char *name)
{
	int rc = register_shrinker(shrinker, "%s", name);

	if (rc)
		kfree(shrinker);
	return rc;
}

static inline void rpcrdma2_shrinker_free(struct shrinker *shrinker)
{
	unregister_shrinker(shrinker);
	kfree(shrinker);
}
#endif

/* A dump's attributes, by their types */
static inline struct nlattr **rpcrdma2_dump_attrs(struct netlink_callback *cb)
{
#ifdef RPCRDMA2_HAVE_GENL_INFO_DUMP
	return genl_info_dump(cb)->attrs;
#else
	return genl_dumpit_info(cb)->attrs;
#endif
}

/* A "uint" of a netlink specification: 32 bits, or 64 if the number needs them */
static inline int rpcrdma2_nla_put_uint(struct sk_buff *skb, int attr, u64 value)
{
	if (value <= U32_MAX)
		return nla_put_u32(skb, attr, value);
	return nla_put(skb, attr, sizeof(value), &value);
}

/* A kernel thread that does what is queued for it, from now on */
#ifndef kthread_run_worker
#define kthread_run_worker	kthread_create_worker
#endif

/* A sysctl's handler leaves its table alone; a table has an end, or a size. */
#ifdef RPCRDMA2_HAVE_CONST_CTL_TABLE
#define RPCRDMA2_CTL_TABLE		const struct ctl_table
#else
#define RPCRDMA2_CTL_TABLE		struct ctl_table
#endif
#ifdef RPCRDMA2_HAVE_SIZED_CTL_TABLE
#define RPCRDMA2_CTL_TABLE_END
#else
#define RPCRDMA2_CTL_TABLE_END		{ }
#endif

/* A Call for a callback service, of which one thread is to wake up. */
static inline void rpcrdma2_enqueue_bc_request(struct svc_serv *serv,
					       struct rpc_rqst *rqst)
{
#ifdef RPCRDMA2_HAVE_SVC_CB_LWQ
	lwq_enqueue(&rqst->rq_bc_list, &serv->sv_cb_list);
	svc_pool_wake_idle_thread(&serv->sv_pools[0]);
#else
	spin_lock(&serv->sv_cb_lock);
	list_add_tail(&rqst->rq_bc_list, &serv->sv_cb_list);
	wake_up(&serv->sv_cb_waitq);
	spin_unlock(&serv->sv_cb_lock);
#endif
}

#endif /* _RPCRDMA2_COMPAT_H */
