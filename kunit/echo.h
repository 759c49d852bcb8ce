/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The echo program. Each Call says what it carries and what the Reply has to carry. So
 * a test can produce any form of RPC-over-RDMA message. The program uses only sunrpc's
 * generic interfaces, so it runs on any transport.
 *
 * This header has the program's numbers and flags, and each file's functions for the others.
 * The functions run in process context, unless their kernel-doc says otherwise.
 */
#ifndef RPCRDMA2_ECHO_H
#define RPCRDMA2_ECHO_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/sizes.h>
#include <linux/sunrpc/clnt.h>
#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/svc_xprt.h>
#include <kunit/test.h>

#include "kunit_compat.h"
#include "svc_compat.h"

#define ECHO_PROGRAM		0x20ec0001
#define ECHO_CB_PROGRAM		0x20ec0002
#define ECHO_VERSION		1
#define ECHO_MAX_PAYLOAD	RPCSVC_MAXPAYLOAD

enum {
	ECHOPROC_NULL,
	ECHOPROC_ECHO,
	ECHOPROC_NR
};

/*
 * Arguments and results
 *
 *	args:	 flags seed delay res_head res_pages res_base
 *		 opaque head<>
 *		 opaque payload<>	if ECHO_ARG_PAYLOAD
 *		 trailer		if ECHO_TRAILER, and there is a payload
 *	results: status			if not zero, nothing follows
 *		 head_len head_bad pages_len pages_bad trailer_bad
 *		 opaque head<>
 *		 opaque payload<>	if ECHO_RES_PAYLOAD
 *		 trailer		if ECHO_TRAILER, and there is a payload
 *
 * A head is in the xdr_buf's head, a payload in its pages. The seed determines all bytes,
 * and the receiver compares each of them, unless ECHO_UNCHECKED is set.
 */

/* Flags on the wire */
#define ECHO_ARG_PAYLOAD	0x0001	/* the arguments have a payload */
#define ECHO_RES_PAYLOAD	0x0002	/* the results have a payload */
#define ECHO_TRAILER		0x0004	/* a word follows each payload */
#define ECHO_STREAM		0x0008	/* server: encode the payload through the xdr_stream */
#define ECHO_DROP		0x0010	/* server: send no Reply */
#define ECHO_FAIL		0x0020	/* server: send a status and nothing else */
#define ECHO_HOLD		0x0040	/* server: wait for echo_svc_release() */
#define ECHO_UNCHECKED		0x0080	/* neither end writes or compares the bytes */
#define ECHO_IN_PLACE		0x0100	/* server: overwrite the arguments where they are */
#define ECHO_LOSE		0x0200	/* server: send no Reply before echo_svc_release() */
#define ECHO_LOOK		0x0400	/* server: take page references, see echo_svc_look() */
/* Flags of the client only */
#define ECHO_ARG_DDP		0x1000	/* mark the arguments' payload with XDRBUF_WRITE */
#define ECHO_RES_DDP		0x2000	/* mark the results' payload with XDRBUF_READ */
#define ECHO_NULL		0x4000	/* call the NULL procedure, with no arguments or results */
#define ECHO_WIRE_FLAGS		0x0fff

#define ECHO_STATUS_FAILED	5
#define ECHO_ARGS_WORDS		6
#define ECHO_VERDICT_WORDS	5
#define ECHO_ALL_GOOD		U32_MAX

/* Each part of a message has a stream of bytes of its own. */
enum echo_place {
	ECHO_ARG_HEAD,
	ECHO_ARG_PAGES,
	ECHO_RES_HEAD,
	ECHO_RES_PAGES,
};

static inline u64 echo_stream(u32 seed, enum echo_place place)
{
	return (u64)place << 32 | seed;
}

static inline u32 echo_trailer(u32 seed, enum echo_place place)
{
	return ~seed + place;
}

/*
 * A receiver's verdict: the lengths that it found, and the offsets of the first wrong
 * bytes. The client leaves pages_bad alone, and compares its payload when the RPC has
 * ended.
 */
struct echo_verdict {
	u32			head_len;
	u32			head_bad;
	u32			pages_len;
	u32			pages_bad;
	bool			trailer_bad;
};

/* echo_pattern.c */

struct echo_pages {
	struct page		**pages;
	unsigned int		nr;
	unsigned int		base;
	unsigned int		len;
};

void echo_fill(void *buf, size_t len, u64 stream, size_t offset);
size_t echo_diff(const void *buf, size_t len, u64 stream, size_t offset);
void echo_fill_pages(struct page **pages, unsigned int base, size_t len,
		     u64 stream);
size_t echo_diff_pages(struct page **pages, unsigned int base, size_t len,
		       u64 stream, size_t offset);
u32 echo_diff_buf(const struct xdr_buf *buf, u64 stream);

int echo_pages_alloc(struct echo_pages *ep, unsigned int base,
		     unsigned int len);
void echo_pages_free(struct echo_pages *ep);
void echo_pages_poison(struct echo_pages *ep, u8 poison);
bool echo_pages_poisoned(struct echo_pages *ep, u8 poison);
bool echo_pages_margins_poisoned(struct echo_pages *ep, u8 poison);

/* echo_svc.c */

struct echo_svc_args {
	u32			flags;
	u32			seed;
	u32			delay;
	u32			res_head;
	u32			res_pages;
	u32			res_base;
	struct echo_verdict	verdict;
};

extern const struct svc_version echo_svc_version;
extern const struct svc_version echo_cb_version;

echo_auth_status echo_svc_authenticate(struct svc_rqst *rqstp);
int echo_svc_thread(void *data);
void echo_svc_hold(void);
void echo_svc_release(void);
int echo_server_start(int family);
int echo_server_listen_at(struct sockaddr *sa, int len);
void echo_server_stop(void);
void echo_server_disconnect(void);
struct svc_xprt *echo_server_get_connection(void);
unsigned int echo_server_calls(void);
unsigned int echo_server_bad_calls(void);

/* echo_clnt.c */

/**
 * struct echo_shape - what one RPC looks like
 * @flags: ECHO_...
 * @arg_head: bytes in the head of the arguments
 * @arg_pages: bytes of the arguments' payload
 * @arg_base: offset of that payload in its first page
 * @res_head: bytes in the head of the results
 * @res_pages: bytes of the results' payload
 * @res_base: offset of that payload in the client's first page
 * @svc_base: offset of that payload in the server's first page
 * @room: bytes of the client's buffer for that payload; 0: @res_pages
 * @delay: milliseconds that the server waits before its Reply
 */
struct echo_shape {
	u32			flags;
	u32			arg_head;
	u32			arg_pages;
	u32			arg_base;
	u32			res_head;
	u32			res_pages;
	u32			res_base;
	u32			svc_base;
	u32			room;
	u32			delay;
};

/**
 * struct echo_req - an RPC, which can run more than once
 * @list: in echo_test.reqs, or in a list of the user
 * @shape: what the RPC looks like
 * @proc: its procedure, with buffer sizes for @shape
 * @arg: pages of the arguments' payload
 * @res: pages of the results' payload
 * @clnt: client of the last run
 * @seed: seed of the last run
 * @started: echo_req_wait() has not yet seen the end of the last run
 * @done: completed when the rpc_task is gone, and the transport has let go of the pages
 * @status: status of the rpc_task
 * @res_status: status in the results
 * @sent: the server's verdict about the arguments
 * @received: the client's verdict about the results
 */
struct echo_req {
	struct list_head	list;
	struct echo_shape	shape;
	struct rpc_procinfo	proc;
	struct echo_pages	arg;
	struct echo_pages	res;

	struct rpc_clnt		*clnt;
	u32			seed;
	bool			started;
	struct completion	done;
	int			status;
	u32			res_status;
	struct echo_verdict	sent;
	struct echo_verdict	received;
};

#define ECHO_POISON		0xa5

struct rpc_clnt *echo_clnt_create(const struct sockaddr *addr, size_t addrlen,
				  const struct rpc_timeout *timeout,
				  unsigned long flags);
struct rpc_clnt *echo_cb_clnt_create(struct svc_xprt *xprt,
				     const struct rpc_timeout *timeout);
struct echo_req *echo_req_alloc(const struct echo_shape *shape);
void echo_req_free(struct echo_req *req);
int echo_req_start(struct echo_req *req, struct rpc_clnt *clnt, int flags);
int echo_req_wait(struct echo_req *req);
bool echo_req_kill_and_wait(struct echo_req *req);

/* echo_suite.c */

/* The clients and RPCs of one test; echo_test_exit() ends the ones still there. */
struct echo_test {
	struct list_head	clnts;
	struct list_head	reqs;
};

struct echo_test_clnt {
	struct list_head	list;
	struct rpc_clnt		*clnt;
};

extern const struct rpc_timeout echo_patient;

bool echo_is_rdma(void);
int echo_transport(void);
const char *echo_svc_class(void);
unsigned short echo_port(void);
unsigned int echo_threads(void);
int echo_server_addr(struct sockaddr_storage *ss, int family);

int echo_suite_init(struct kunit_suite *suite);
void echo_suite_exit(struct kunit_suite *suite);
int echo_test_init(struct kunit *test);
void echo_test_exit(struct kunit *test);

struct rpc_clnt *echo_connect(struct kunit *test,
			      const struct rpc_timeout *timeout);
void echo_test_add_clnt(struct kunit *test, struct rpc_clnt *clnt);
void echo_test_forget_clnt(struct kunit *test, struct rpc_clnt *clnt);
void echo_disconnect(struct kunit *test, struct rpc_clnt *clnt);
struct echo_req *echo_new(struct kunit *test, const struct echo_shape *shape);
void echo_start(struct kunit *test, struct echo_req *req,
		struct rpc_clnt *clnt, int flags);
void echo_finish(struct kunit *test, struct echo_req *req);
void echo_expect_good(struct kunit *test, struct echo_req *req);
void echo_call(struct kunit *test, struct rpc_clnt *clnt,
	       const struct echo_shape *shape);
void echo_finish_all(struct kunit *test);
void echo_expect_server_saw_no_bad_call(struct kunit *test);

/* echo_*_test.c */

extern struct kunit_suite echo_forms_suite;
extern struct kunit_suite echo_rare_suite;
extern struct kunit_suite echo_many_suite;
extern struct kunit_suite echo_disconnect_suite;
extern struct kunit_suite echo_connect_suite;
extern struct kunit_suite echo_reverse_suite;
extern struct kunit_suite echo_reverse_forms_suite;

/* Shapes of many forms, of small and medium size, for RPCs that run at the same time */
extern const struct echo_shape echo_mix[];
extern const unsigned int echo_mix_len;

/* Shapes with up to 1 MiB */
#define ECHO_NR_LARGE		4
extern const struct echo_shape echo_large_shapes[ECHO_NR_LARGE];

/*
 * A server can't connect, so its RPCs must fail at once without a connection. Not every
 * transport's reverse direction does that by itself.
 */
#define ECHO_CB_FLAGS		(RPC_TASK_SOFT | RPC_TASK_SOFTCONN |	\
				 RPC_TASK_NOCONNECT)

int echo_reverse_suite_init(struct kunit_suite *suite);
void echo_reverse_suite_exit(struct kunit_suite *suite);
void echo_reverse_wait_for_end(void);
struct rpc_clnt *echo_connect_both(struct kunit *test, struct rpc_clnt **clnt);

#endif /* RPCRDMA2_ECHO_H */
