/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Every difference between the kernels that this module supports.
 *
 * Kbuild probes the kernel's headers (probe.mk), and defines RPCRDMA2_HAVE_NAME for what
 * it finds. A name below has the meaning that it has in the newest kernel, or begins with
 * rpcrdma2_ and hides a change.
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
 * Probes tell kernels apart, because distributions add later changes to older kernels. But
 * neither a probe nor a compiler sees every change. For example, Linux 7.1 moved a Reply's
 * pages into an array of their own. Code for older kernels compiles there, and corrupts
 * memory. So refuse two kinds of kernels:
 *
 * - kernels newer than the newest that we read, or older than the oldest;
 * - headers in which a probe found no known form of something.
 *
 * RPCRDMA2_ANY_KERNEL overrules the first refusal only.
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

/* The kernel's distribution. A build of Debian's sources writes generated/package.h. */
#if defined(RHEL_MAJOR)
#define RPCRDMA2_KERNEL_OF	", Red Hat or a relative"
#elif defined(CONFIG_SUSE_KERNEL)
#define RPCRDMA2_KERNEL_OF	", SUSE"
#elif defined(UTS_UBUNTU_RELEASE_ABI)
#define RPCRDMA2_KERNEL_OF	", Ubuntu"
#elif !defined(RPCRDMA2_HAVE_PACKAGE_H)
#define RPCRDMA2_KERNEL_OF	", not Debian's"
#endif

#define RPCRDMA2_IS_LINUX(major, minor) \
	((LINUX_VERSION_CODE >> 8) == (KERNEL_VERSION(major, minor, 0) >> 8))

/* For modinfo: how much we know about this kernel. The tests ran on three of Debian's. */
#if LINUX_VERSION_CODE < RPCRDMA2_OLDEST || LINUX_VERSION_CODE > RPCRDMA2_NEWEST
#define RPCRDMA2_KERNEL_STATE	"not supported"
#elif defined(RPCRDMA2_KERNEL_OF)
#define RPCRDMA2_KERNEL_STATE	"expected to work" RPCRDMA2_KERNEL_OF
#elif RPCRDMA2_IS_LINUX(6, 1) || RPCRDMA2_IS_LINUX(6, 12) || RPCRDMA2_IS_LINUX(7, 3)
#define RPCRDMA2_KERNEL_STATE	"tested"
#else
#define RPCRDMA2_KERNEL_STATE	"expected to work"
#endif

#ifdef RPCRDMA2_HAVE_UNALIGNED_H
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

/* Newer kernels take the source of the string from the event's __string(). */
#ifdef RPCRDMA2_HAVE_ASSIGN_STR_DST
#define rpcrdma2_assign_str(dst, src)	__assign_str(dst)
#else
#define rpcrdma2_assign_str(dst, src)	__assign_str(dst, src)
#endif

/**
 * rpcrdma2_secure_port - let a Call count as one from a privileged port
 * @rqstp: server thread with the Call
 *
 * On an RDMA fabric, a port proves nothing about a peer, so all peers count as secure. The
 * test saves an atomic write: the flag of a thread usually stays set from the Call before.
 *
 * Context: Process context, in the thread itself.
 */
static inline void rpcrdma2_secure_port(struct svc_rqst *rqstp)
{
	if (!test_bit(RQ_SECURE, &rqstp->rq_flags))
		set_bit(RQ_SECURE, &rqstp->rq_flags);
}

/* Newer kernels have xpo_recvfrom set the flag; older ones ask the transport. */
#ifdef RPCRDMA2_HAVE_XPO_SECURE_PORT
#define RPCRDMA2_XPO_SECURE_PORT	.xpo_secure_port = rpcrdma2_secure_port,
#else
#define RPCRDMA2_XPO_SECURE_PORT
#endif

/*
 * The pages of a server thread, for a Call and for its Reply
 *
 * The transport puts NULL in the place of a page that it takes. Before the next Call,
 * sunrpc frees the Reply's pages up to rq_next_page, and allocates new pages:
 *
 * - RPCRDMA2_HAVE_SVC_RESPAGES (Linux 7.1): the Reply's pages have an array of their own.
 *   sunrpc allocates for the first rq_pages_nfree places of a Call's pages, and for the
 *   places of the Reply's pages that it freed.
 * - Otherwise: the Reply's pages follow the Call's in one array. sunrpc allocates for each
 *   NULL, but a NULL must not be among the pages to free.
 */
#ifdef RPCRDMA2_HAVE_SVC_RESPAGES
/**
 * rpcrdma2_call_pages - the number of pages that a thread has for a Call
 * @rqstp: server thread
 *
 * Context: Any context.
 * Return: number of pages, from rq_pages[0] on
 */
static inline unsigned int rpcrdma2_call_pages(const struct svc_rqst *rqstp)
{
	return rqstp->rq_maxpages;
}

/**
 * rpcrdma2_call_pages_taken - tell sunrpc that the transport took pages of a Call
 * @rqstp: server thread
 * @n: all taken pages are below rq_pages[n]
 *
 * Context: Process context, in the thread itself.
 */
static inline void rpcrdma2_call_pages_taken(struct svc_rqst *rqstp,
					     unsigned int n)
{
	rqstp->rq_pages_nfree = max_t(unsigned long, n, rqstp->rq_pages_nfree);
}

/**
 * rpcrdma2_reply_pages_begin - begin a Reply without pages
 * @rqstp: server thread
 * @used: number of pages that the Call takes up
 *
 * Context: Process context, in the thread itself.
 */
static inline void rpcrdma2_reply_pages_begin(struct svc_rqst *rqstp,
					      unsigned int used)
{
	rqstp->rq_next_page = rqstp->rq_respages;
}

/**
 * rpcrdma2_reply_page_stays - whether sunrpc may keep the last of the pages to free
 * @page: the page, or NULL if the transport took it
 *
 * With two arrays, sunrpc must see a NULL among the freed pages to allocate for it.
 *
 * Context: Any context.
 * Return: true if the caller may lower rq_next_page past @page
 */
static inline bool rpcrdma2_reply_page_stays(const struct page *page)
{
	return page;
}
#else
/* All but two, which are for the smallest Reply */
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

/**
 * rpcrdma2_shrinker_alloc - allocate a shrinker
 * @name: name of the shrinker
 *
 * The caller then sets the callbacks, and calls rpcrdma2_shrinker_register().
 *
 * Context: Process context; may sleep.
 * Return: the shrinker, or NULL
 */
#ifdef RPCRDMA2_HAVE_SHRINKER_ALLOC
static inline struct shrinker *rpcrdma2_shrinker_alloc(const char *name)
{
	return shrinker_alloc(0, "%s", name);
}

/**
 * rpcrdma2_shrinker_register - start using a shrinker
 * @shrinker: shrinker with its callbacks; freed on failure
 * @name: name of the shrinker
 *
 * Context: Process context; may sleep.
 * Return: 0 or negative errno
 */
static inline int rpcrdma2_shrinker_register(struct shrinker *shrinker,
					     const char *name)
{
	shrinker_register(shrinker);
	return 0;
}

/**
 * rpcrdma2_shrinker_free - stop using a registered shrinker, and free it
 * @shrinker: the shrinker
 *
 * Context: Process context; may sleep.
 */
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

/**
 * rpcrdma2_dump_attrs - the attributes of a dump request
 * @cb: state of the dump
 *
 * Context: Any context.
 * Return: array of attributes by type
 */
static inline struct nlattr **rpcrdma2_dump_attrs(struct netlink_callback *cb)
{
#ifdef RPCRDMA2_HAVE_GENL_INFO_DUMP
	return genl_info_dump(cb)->attrs;
#else
	return genl_dumpit_info(cb)->attrs;
#endif
}

/**
 * rpcrdma2_nla_put_uint - add an attribute of type "uint": 32 bits, or 64 if necessary
 * @skb: message
 * @attr: type of the attribute
 * @value: value
 *
 * Context: Any context.
 * Return: 0, or -EMSGSIZE if @skb has no room
 */
static inline int rpcrdma2_nla_put_uint(struct sk_buff *skb, int attr, u64 value)
{
	if (value <= U32_MAX)
		return nla_put_u32(skb, attr, value);
	return nla_put(skb, attr, sizeof(value), &value);
}

/* Creates a kernel thread for queued work, and starts it */
#ifndef kthread_run_worker
#define kthread_run_worker	kthread_create_worker
#endif

/* Newer handlers get a const table. Newer tables have a size, older ones an empty last entry. */
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

/**
 * rpcrdma2_enqueue_bc_request - give a callback to its service, and wake a thread
 * @serv: callback service
 * @rqst: the Call
 *
 * Context: Process context.
 */
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
