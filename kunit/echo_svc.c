// SPDX-License-Identifier: GPL-2.0
/*
 * The echo program's server: the service itself, which one suite at a time
 * runs, and the procedures, which the reverse direction's service has too.
 *
 * What a Call carries is looked at while it is decoded, byte by byte. A Call
 * with wrong bytes is answered, so that the client's test can say which, and
 * counted, for those Calls that no client waits for any more.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/sunrpc/svcsock.h>
#include "echo.h"

static struct svc_serv *echo_serv;
static atomic_t echo_calls;
static atomic_t echo_bad_calls;

#define ECHO_DECRYPTED		0xc3
static DECLARE_COMPLETION(echo_released);

/* For echo_svc_look(), by one thread at a time */
static struct page *echo_seen, *echo_looked_at;

/* Procedures */

static bool echo_svc_decode_void(struct svc_rqst *rqstp,
				 struct xdr_stream *xdr)
{
	return true;
}

static bool echo_svc_encode_void(struct svc_rqst *rqstp,
				 struct xdr_stream *xdr)
{
	return true;
}

static __be32 echo_svc_null(struct svc_rqst *rqstp)
{
	return rpc_success;
}

/* An opaque<>, wherever in the xdr_buf it is */
static bool echo_svc_decode_opaque(struct xdr_stream *xdr,
				   const struct echo_svc_args *args,
				   enum echo_place place, u32 *len, u32 *bad)
{
	struct xdr_buf opaque;

	if (xdr_stream_decode_u32(xdr, len) < 0)
		return false;
	if (!xdr_stream_subsegment(xdr, &opaque, *len))
		return false;
	*bad = ECHO_ALL_GOOD;
	if (!(args->flags & ECHO_UNCHECKED))
		*bad = echo_diff_buf(&opaque, echo_stream(args->seed, place));
	return true;
}

static bool echo_svc_decode_payload(struct xdr_stream *xdr,
				    struct echo_svc_args *args)
{
	struct echo_verdict *verdict = &args->verdict;
	u32 trailer;

	if (!echo_svc_decode_opaque(xdr, args, ECHO_ARG_PAGES,
				    &verdict->pages_len, &verdict->pages_bad))
		return false;
	if (!(args->flags & ECHO_TRAILER))
		return true;
	if (xdr_stream_decode_u32(xdr, &trailer) < 0)
		return false;
	verdict->trailer_bad = trailer != echo_trailer(args->seed,
						       ECHO_ARG_PAGES);
	return true;
}

static bool echo_svc_decode_args(struct svc_rqst *rqstp,
				 struct xdr_stream *xdr,
				 struct echo_svc_args *args)
{
	struct echo_verdict *verdict = &args->verdict;
	__be32 *p;

	p = xdr_inline_decode(xdr, ECHO_ARGS_WORDS * XDR_UNIT);
	if (!p)
		return false;
	args->flags = be32_to_cpup(p++);
	args->seed = be32_to_cpup(p++);
	args->delay = be32_to_cpup(p++);
	args->res_head = be32_to_cpup(p++);
	args->res_pages = be32_to_cpup(p++);
	args->res_base = be32_to_cpup(p);
	if (args->flags & ~ECHO_WIRE_FLAGS || args->res_base >= PAGE_SIZE)
		return false;

	if (!echo_svc_decode_opaque(xdr, args, ECHO_ARG_HEAD,
				    &verdict->head_len, &verdict->head_bad))
		return false;
	verdict->pages_bad = ECHO_ALL_GOOD;
	if (!(args->flags & ECHO_ARG_PAYLOAD))
		return true;
	return echo_svc_decode_payload(xdr, args);
}

static bool echo_svc_decode(struct svc_rqst *rqstp, struct xdr_stream *xdr)
{
	struct echo_svc_args *args = rqstp->rq_argp;
	struct echo_verdict *verdict = &args->verdict;
	bool decoded;

	atomic_inc(&echo_calls);
	decoded = echo_svc_decode_args(rqstp, xdr, args);
	if (!decoded || verdict->head_bad != ECHO_ALL_GOOD ||
	    verdict->pages_bad != ECHO_ALL_GOOD || verdict->trailer_bad)
		atomic_inc(&echo_bad_calls);
	return decoded;
}

/* As krb5p does, which may be at it when the connection goes. */
static void echo_svc_decrypt(struct svc_rqst *rqstp, unsigned int delay)
{
	const struct kvec *head = &rqstp->rq_arg.head[0];
	size_t len = min_t(size_t, head->iov_len, 64);
	void *end = head->iov_base + head->iov_len - len;

	memset(end, ECHO_DECRYPTED, len);
	msleep(delay);
	if (memchr_inv(end, ECHO_DECRYPTED, len))
		atomic_inc(&echo_bad_calls);
}

static __be32 echo_svc_echo(struct svc_rqst *rqstp)
{
	struct echo_svc_args *args = rqstp->rq_argp;

	if (args->flags & ECHO_IN_PLACE)
		echo_svc_decrypt(rqstp, args->delay);
	else if (args->delay)
		msleep(args->delay);
	if (args->flags & ECHO_HOLD)
		wait_for_completion(&echo_released);
	if (args->flags & ECHO_LOSE && !completion_done(&echo_released))
		return rpc_drop_reply;
	return args->flags & ECHO_DROP ? rpc_drop_reply : rpc_success;
}

/* In pieces: xdr_reserve_space() gives no more than a page at once. */
static bool echo_svc_encode_head(struct xdr_stream *xdr, u32 len, u64 stream)
{
	u32 done, n;
	void *p;

	if (xdr_stream_encode_u32(xdr, len) < 0)
		return false;
	for (done = 0; done < len; done += n) {
		n = min_t(u32, len - done, 1024);
		p = xdr_reserve_space(xdr, n);
		if (!p)
			return false;
		echo_fill(p, n, stream, done);
		memset(p + n, 0, xdr_pad_size(n));
	}
	return true;
}

static void echo_svc_fill(const struct echo_svc_args *args, struct page **pages,
			  unsigned int base)
{
	if (!(args->flags & ECHO_UNCHECKED))
		echo_fill_pages(pages, base, args->res_pages,
				echo_stream(args->seed, ECHO_RES_PAGES));
}

/*
 * In the reverse direction there is no transport to ask: the flag says that page data
 * may travel alone.
 */
static bool echo_svc_name_payload(struct svc_rqst *rqstp, unsigned int offset,
				  unsigned int len)
{
	if (!svc_is_backchannel(rqstp))
		return !svc_encode_result_payload(rqstp, offset, len);
	if (offset == rqstp->rq_res.head[0].iov_len &&
	    len == rqstp->rq_res.page_len)
		rqstp->rq_res.flags |= XDRBUF_WRITE;
	return true;
}

/*
 * As whoever walks through memory: have a reference to a page of the last such Reply for a
 * while, if anybody else has one. A transport may keep it to use it again.
 */
static void echo_svc_look(struct page *page)
{
	if (echo_looked_at)
		put_page(echo_looked_at);
	echo_looked_at = NULL;
	if (echo_seen && get_page_unless_zero(echo_seen))
		echo_looked_at = echo_seen;
	echo_seen = page;
}

/* As NFSv3 READ does: whole pages into the middle of the Reply */
static bool echo_svc_encode_pages(struct svc_rqst *rqstp,
				  struct xdr_stream *xdr,
				  const struct echo_svc_args *args)
{
	struct page **pages = rqstp->rq_next_page;
	unsigned int len = args->res_pages;
	unsigned int nr = DIV_ROUND_UP(args->res_base + len, PAGE_SIZE);

	if (pages != rqstp->rq_res.pages || nr > rqstp->rq_page_end - pages)
		return false;
	rqstp->rq_next_page += nr;
	echo_svc_fill(args, pages, args->res_base);
	if (args->flags & ECHO_LOOK)
		echo_svc_look(pages[nr / 2]);
	xdr_write_pages(xdr, pages, args->res_base, len);
	return echo_svc_name_payload(rqstp, rqstp->rq_res.head[0].iov_len, len);
}

/* As NFSv4 READ does when it can't splice: the payload grows in the stream */
static bool echo_svc_encode_stream(struct svc_rqst *rqstp,
				   struct xdr_stream *xdr,
				   const struct echo_svc_args *args)
{
	unsigned int start = xdr->buf->len, base = xdr->buf->page_len;
	unsigned int len = args->res_pages;
	__be32 pad = 0;

	if (echo_reserve_space_vec(rqstp, len) < 0)
		return false;
	echo_svc_fill(args, xdr->buf->pages, base);
	write_bytes_to_xdr_buf(xdr->buf, start + len, &pad, xdr_pad_size(len));
	return svc_is_backchannel(rqstp) ||
	       !svc_encode_result_payload(rqstp, start, len);
}

static bool echo_svc_encode_payload(struct svc_rqst *rqstp,
				    struct xdr_stream *xdr,
				    const struct echo_svc_args *args)
{
	bool stream = args->flags & ECHO_STREAM;
	bool good;

	if (xdr_stream_encode_u32(xdr, args->res_pages) < 0)
		return false;
	/* There, it can only be named where it is all of the page data. */
	if (svc_is_backchannel(rqstp) && !xdr->buf->page_len)
		stream = false;
	if (stream)
		good = echo_svc_encode_stream(rqstp, xdr, args);
	else
		good = echo_svc_encode_pages(rqstp, xdr, args);
	if (!good)
		return false;
	if (!(args->flags & ECHO_TRAILER))
		return true;
	return xdr_stream_encode_u32(xdr, echo_trailer(args->seed,
						       ECHO_RES_PAGES)) >= 0;
}

static bool echo_svc_encode(struct svc_rqst *rqstp, struct xdr_stream *xdr)
{
	const struct echo_svc_args *args = rqstp->rq_argp;
	const struct echo_verdict *verdict = &args->verdict;
	bool fail = args->flags & ECHO_FAIL;
	__be32 *p;

	if (xdr_stream_encode_u32(xdr, fail ? ECHO_STATUS_FAILED : 0) < 0)
		return false;
	if (fail)
		return true;
	p = xdr_reserve_space(xdr, ECHO_VERDICT_WORDS * XDR_UNIT);
	if (!p)
		return false;
	*p++ = cpu_to_be32(verdict->head_len);
	*p++ = cpu_to_be32(verdict->head_bad);
	*p++ = cpu_to_be32(verdict->pages_len);
	*p++ = cpu_to_be32(verdict->pages_bad);
	*p = cpu_to_be32(verdict->trailer_bad);

	if (!echo_svc_encode_head(xdr, args->res_head,
				  echo_stream(args->seed, ECHO_RES_HEAD)))
		return false;
	if (args->flags & ECHO_RES_PAYLOAD &&
	    !echo_svc_encode_payload(rqstp, xdr, args))
		return false;

	/* Pages that the stream went into are the Reply's now. */
	xdr_commit_encode(xdr);
	rqstp->rq_next_page = max(rqstp->rq_next_page, xdr->page_ptr + 1);
	return true;
}

static const struct svc_procedure echo_svc_procedures[ECHOPROC_NR] = {
	[ECHOPROC_NULL] = {
		.pc_func	= echo_svc_null,
		.pc_decode	= echo_svc_decode_void,
		.pc_encode	= echo_svc_encode_void,
		.pc_argsize	= sizeof(struct echo_svc_args),
		.pc_name	= "NULL",
	},
	[ECHOPROC_ECHO] = {
		.pc_func	= echo_svc_echo,
		.pc_decode	= echo_svc_decode,
		.pc_encode	= echo_svc_encode,
		.pc_argsize	= sizeof(struct echo_svc_args),
		.pc_argzero	= sizeof(struct echo_svc_args),
		.pc_name	= "ECHO",
	},
};

static int echo_svc_run(struct svc_rqst *rqstp, __be32 *statp)
{
	const struct svc_procedure *proc = rqstp->rq_procinfo;

	if (!proc->pc_decode(rqstp, &rqstp->rq_arg_stream)) {
		*statp = rpc_garbage_args;
		return 1;
	}
	*statp = proc->pc_func(rqstp);
	if (*statp == rpc_drop_reply)
		return 0;
	if (!proc->pc_encode(rqstp, &rqstp->rq_res_stream))
		*statp = rpc_system_err;
	return 1;
}

ECHO_DEFINE_SVC_DISPATCH(echo_svc_dispatch, echo_svc_run)

ECHO_DEFINE_SVC_COUNT(echo_svc_count, ECHOPROC_NR);

/*
 * In the reverse direction the Reply's pages are the transport's, with NULL behind the
 * last. sunrpc does not know that, so what it found for itself must come back.
 */
static int echo_cb_run(struct svc_rqst *rqstp, __be32 *statp)
{
	struct page **next = rqstp->rq_next_page;
	struct page **end = rqstp->rq_page_end;
	struct xdr_buf *res = &rqstp->rq_res;
	unsigned int n = 0;
	int ret;

	while (res->pages && res->pages[n])
		n++;
	rqstp->rq_next_page = res->pages;
	rqstp->rq_page_end = res->pages + n;
	res->buflen = PAGE_SIZE * max(n, 1U);
	ret = echo_svc_run(rqstp, statp);
	rqstp->rq_next_page = next;
	rqstp->rq_page_end = end;
	return ret;
}

ECHO_DEFINE_SVC_DISPATCH(echo_cb_dispatch, echo_cb_run)

/* Hidden: no rpcbind is asked or told. */
const struct svc_version echo_svc_version = {
	.vs_vers	= ECHO_VERSION,
	.vs_nproc	= ECHOPROC_NR,
	.vs_proc	= echo_svc_procedures,
	ECHO_VS_COUNT(echo_svc_count)
	.vs_xdrsize	= sizeof(struct echo_svc_args),
	.vs_hidden	= true,
	.vs_dispatch	= echo_svc_dispatch,
};

const struct svc_version echo_cb_version = {
	.vs_vers	= ECHO_VERSION,
	.vs_nproc	= ECHOPROC_NR,
	.vs_proc	= echo_svc_procedures,
	ECHO_VS_COUNT(echo_svc_count)
	.vs_xdrsize	= sizeof(struct echo_svc_args),
	.vs_hidden	= true,
	.vs_dispatch	= echo_cb_dispatch,
};

/* Service */

/**
 * echo_svc_authenticate - whoever calls may
 * @rqstp: the Call
 *
 * Return: SVC_OK
 */
echo_auth_status echo_svc_authenticate(struct svc_rqst *rqstp)
{
	echo_trust_peer(rqstp);
	return SVC_OK;
}

static const struct svc_version *echo_svc_versions[] = {
	[ECHO_VERSION] = &echo_svc_version,
};

static struct svc_program echo_svc_program = {
	.pg_prog		= ECHO_PROGRAM,
	.pg_nvers		= ARRAY_SIZE(echo_svc_versions),
	.pg_vers		= echo_svc_versions,
	.pg_name		= "echo",
	.pg_class		= "echo",
	.pg_authenticate	= echo_svc_authenticate,
	.pg_init_request	= svc_generic_init_request,
	.pg_rpcbind_set		= svc_generic_rpcbind_set,
};

/**
 * echo_svc_thread - a thread of a service, of either direction
 * @data: the thread's svc_rqst
 *
 * Return: 0
 */
int echo_svc_thread(void *data)
{
	struct svc_rqst *rqstp = data;

	svc_thread_init_status(rqstp, 0);
	while (!svc_thread_should_stop(rqstp))
		svc_recv(rqstp, 0);
	svc_exit_thread(rqstp);
	return 0;
}

/**
 * echo_svc_hold - from now on, Calls with ECHO_HOLD wait, those with ECHO_LOSE are dropped
 */
void echo_svc_hold(void)
{
	reinit_completion(&echo_released);
}

/**
 * echo_svc_release - let all go on that wait, and those that come later
 */
void echo_svc_release(void)
{
	complete_all(&echo_released);
}

/**
 * echo_server_start - start the service, with a listener
 * @family: of the listener's address, PF_INET or PF_INET6
 *
 * Return: 0 or a negative errno; %-EPROTONOSUPPORT if the transport's module
 * is not loaded.
 */
int echo_server_start(int family)
{
	int ret;

	atomic_set(&echo_calls, 0);
	atomic_set(&echo_bad_calls, 0);
	echo_serv = svc_create(&echo_svc_program, ECHO_MAX_PAYLOAD,
			       echo_svc_thread);
	if (!echo_serv)
		return -ENOMEM;
	echo_allow_connections(echo_serv);

	ret = svc_set_num_threads(echo_serv, 0, echo_threads());
	if (ret < 0)
		goto out_stop;
	ret = svc_xprt_create(echo_serv, echo_svc_class(), &init_net, family,
			      echo_port(), SVC_SOCK_ANONYMOUS, current_cred());
	if (ret < 0)
		goto out_stop;
	return 0;

out_stop:
	echo_server_stop();
	return ret;
}

/**
 * echo_server_listen_at - add a listener that is bound to an address
 * @sa: address and port; the service has a listener at another port
 * @len: octets of @sa
 *
 * sunrpc makes such a listener only for nfsd, and only on newer kernels. So this does by
 * hand what svc_xprt_create() does for a wildcard address.
 *
 * Return: 0 or a negative errno
 */
int echo_server_listen_at(struct sockaddr *sa, int len)
{
	struct svc_xprt *other, *xprt;

	other = svc_find_xprt(echo_serv, echo_svc_class(), &init_net,
			      sa->sa_family, 0);
	if (!other)
		return -ENOENT;
	__module_get(other->xpt_class->xcl_owner);
	xprt = other->xpt_class->xcl_ops->xpo_create(echo_serv, &init_net, sa,
						     len, SVC_SOCK_ANONYMOUS);
	if (IS_ERR(xprt)) {
		module_put(other->xpt_class->xcl_owner);
		svc_xprt_put(other);
		return PTR_ERR(xprt);
	}
	svc_xprt_put(other);
	xprt->xpt_cred = get_current_cred();
	clear_bit(XPT_TEMP, &xprt->xpt_flags);
	spin_lock_bh(&echo_serv->sv_lock);
	list_add(&xprt->xpt_list, &echo_serv->sv_permsocks);
	spin_unlock_bh(&echo_serv->sv_lock);
	svc_xprt_received(xprt);
	return 0;
}

/**
 * echo_server_stop - end the service, its listener and all its connections
 */
void echo_server_stop(void)
{
	if (!echo_serv)
		return;
	svc_xprt_destroy_all(echo_serv, &init_net, false);
	svc_set_num_threads(echo_serv, 0, 0);
	svc_destroy(&echo_serv);
	echo_seen = NULL;
	echo_svc_look(NULL);
}

/**
 * echo_server_disconnect - close all of the service's connections
 */
void echo_server_disconnect(void)
{
	struct svc_xprt *xprt;

	spin_lock_bh(&echo_serv->sv_lock);
	list_for_each_entry(xprt, &echo_serv->sv_tempsocks, xpt_list)
		svc_xprt_deferred_close(xprt);
	spin_unlock_bh(&echo_serv->sv_lock);
}

/**
 * echo_server_get_connection - find the service's newest connection
 *
 * Return: the connection, to be given back with svc_xprt_put(), or NULL.
 */
struct svc_xprt *echo_server_get_connection(void)
{
	struct svc_xprt *xprt;

	spin_lock_bh(&echo_serv->sv_lock);
	xprt = list_first_entry_or_null(&echo_serv->sv_tempsocks,
					struct svc_xprt, xpt_list);
	if (xprt)
		svc_xprt_get(xprt);
	spin_unlock_bh(&echo_serv->sv_lock);
	return xprt;
}

/**
 * echo_server_calls - how many ECHO Calls were there since the start?
 *
 * Return: their number, retransmitted ones included.
 */
unsigned int echo_server_calls(void)
{
	return atomic_read(&echo_calls);
}

/**
 * echo_server_bad_calls - how many ECHO Calls were not what the client sent, or what
 *	was made of it?
 *
 * Return: their number since the start, retransmitted ones included.
 */
unsigned int echo_server_bad_calls(void)
{
	return atomic_read(&echo_bad_calls);
}
