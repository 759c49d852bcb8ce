// SPDX-License-Identifier: GPL-2.0
/*
 * The server of the echo program: a service that one suite at a time runs, and its
 * procedures, which the callback service shares.
 *
 * The server compares all bytes of a Call while it decodes them. It answers a Call with
 * wrong bytes and says which are wrong, so that the client's test can report them. It
 * also counts such Calls, because a client that no longer waits can't report them.
 *
 * The service's threads run the procedures. Tests start, hold and stop the service in
 * process context, one test at a time.
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

/* For echo_svc_look(): only one thread at a time may run Calls with ECHO_LOOK. */
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

/* Decode an opaque<> and compare it, wherever it lies in the xdr_buf. */
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

/* krb5p decrypts in place like this, and the connection may go meanwhile. */
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

/* xdr_reserve_space() gives at most a page at once, so encode in pieces. */
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
 * In the reverse direction no transport can be asked, so a flag says that page data may
 * travel in a chunk. That works only if the payload is all of the page data.
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
 * Hold a reference to a page of the last Reply for a while, if another holder has kept
 * that page. Code that walks through memory does the same, and a transport may want to
 * reuse the page.
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

/* Encode a payload in whole pages between head and tail, like NFSv3 READ. */
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

/* Encode a payload through the stream, like NFSv4 READ without splice. */
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
	/*
	 * In the reverse direction, a payload can travel in a chunk only as all of the
	 * page data.
	 */
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

	/* The pages that the stream has filled belong to the Reply. */
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
 * In the reverse direction, the transport lends the Reply's pages, and a NULL follows
 * the last. sunrpc does not know that, so restore its own pages afterwards.
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

/* Hidden, so that sunrpc neither asks nor tells rpcbind. */
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
 * echo_svc_authenticate - allow every Call
 * @rqstp: the Call
 *
 * Context: process, a thread of the service.
 *
 * Return: SVC_OK.
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
 * echo_svc_thread - a thread of the service or of the callback service
 * @data: the thread's svc_rqst
 *
 * Context: process, may sleep.
 *
 * Return: 0.
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
 * echo_svc_hold - have Calls with ECHO_HOLD wait, and drop Calls with ECHO_LOSE
 *
 * Context: process; no Call waits.
 */
void echo_svc_hold(void)
{
	reinit_completion(&echo_released);
}

/**
 * echo_svc_release - let Calls go on: the waiting ones and all later ones
 *
 * Context: any.
 */
void echo_svc_release(void)
{
	complete_all(&echo_released);
}

/**
 * echo_server_start - start the service with a listener
 * @family: PF_INET or PF_INET6
 *
 * Context: process, may sleep.
 *
 * Return: 0 or a negative errno; -EPROTONOSUPPORT if the transport's module is not
 *	loaded.
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
 * sunrpc makes such listeners only for nfsd, and not in every kernel. So this function
 * takes the steps of svc_xprt_create() itself.
 *
 * Context: process, may sleep.
 *
 * Return: 0 or a negative errno.
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
 * echo_server_stop - stop the service, its listeners and its connections
 *
 * Context: process, may sleep.
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
 * echo_server_disconnect - close all connections of the service
 *
 * Context: process.
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
 * echo_server_get_connection - find the newest connection of the service
 *
 * Context: process.
 *
 * Return: the connection, which the caller gives back with svc_xprt_put(); or NULL.
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
 * echo_server_calls - count the ECHO Calls since the service started
 *
 * Context: any.
 *
 * Return: number of Calls, retransmissions included.
 */
unsigned int echo_server_calls(void)
{
	return atomic_read(&echo_calls);
}

/**
 * echo_server_bad_calls - count the ECHO Calls with wrong bytes since the service started
 *
 * Context: any.
 *
 * Return: number of Calls, retransmissions included.
 */
unsigned int echo_server_bad_calls(void)
{
	return atomic_read(&echo_bad_calls);
}
