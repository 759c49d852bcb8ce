// SPDX-License-Identifier: GPL-2.0
/*
 * A crowd: thousands of clients of one echo server, each with its own connection, on
 * this machine or another. A job is a line written to
 * /sys/kernel/debug/rpcrdma2_echo_crowd/run; crowd_jobs has the names. Reading the file
 * gives the job's status and its duration in milliseconds.
 *
 * The receivers compare all bytes but the large Replies'. The jobs use only sunrpc's
 * public interfaces, so they run over any transport. crowd_lock lets one job run at a
 * time.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/sunrpc/addr.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include "echo.h"

#define ECHO_PORT	20054
#define ECHO_THREADS	16
#include "echo_params.c"

static uint patience = 240;
module_param(patience, uint, 0444);
MODULE_PARM_DESC(patience, "seconds that a job's RPCs may take");

static char *stranger = "10.77.1.0";
module_param(stranger, charp, 0444);
MODULE_PARM_DESC(stranger, "the strangers' first IPv4 address; this machine has it");

#define CROWD_MAX	8192
#define CROWD_LARGE	64
#define CROWD_SAMPLES	100000U

static struct rpc_clnt *crowd_clnts[CROWD_MAX];
static unsigned int crowd_size;
static unsigned int crowd_addresses;	/* of strangers so far */
static bool crowd_bound;
static struct dentry *crowd_dir;
static DEFINE_MUTEX(crowd_lock);
static char crowd_figures[384];

/* RPCs */

static const struct echo_shape crowd_small = { .arg_head = 100 };

static const struct echo_shape crowd_mix[] = {
	{ .arg_head = 100, .res_head = 100 },
	{ .flags = ECHO_RES_PAYLOAD | ECHO_RES_DDP, .res_pages = 16384 },
	{ .arg_head = 1000, .res_head = 3000 },
	{ .flags = ECHO_ARG_PAYLOAD | ECHO_ARG_DDP, .arg_pages = 16384 },
	{ .flags = ECHO_ARG_PAYLOAD, .arg_pages = 2000 },
};

/* A set of RPCs, which share a deadline and are freed together */
struct crowd_reqs {
	struct list_head	list;
	unsigned long		deadline;
};

static void crowd_init(struct crowd_reqs *reqs)
{
	INIT_LIST_HEAD(&reqs->list);
	reqs->deadline = jiffies + patience * HZ;
}

static int crowd_start(struct crowd_reqs *reqs, struct rpc_clnt *clnt,
		       const struct echo_shape *shape)
{
	struct echo_req *req = echo_req_alloc(shape);

	if (!req)
		return -ENOMEM;
	list_add_tail(&req->list, &reqs->list);
	return echo_req_start(req, clnt, 0);
}

static bool crowd_verdict_good(const struct echo_verdict *verdict, u32 head,
			       u32 pages)
{
	return verdict->head_len == head && verdict->pages_len == pages &&
	       verdict->head_bad == ECHO_ALL_GOOD && !verdict->trailer_bad;
}

/* Did each end receive what the other one sent? */
static bool crowd_good(struct echo_req *req)
{
	const struct echo_shape *s = &req->shape;

	return !req->res_status &&
	       crowd_verdict_good(&req->sent, s->arg_head, s->arg_pages) &&
	       req->sent.pages_bad == ECHO_ALL_GOOD &&
	       crowd_verdict_good(&req->received, s->res_head, s->res_pages) &&
	       echo_diff_pages(req->res.pages, req->res.base, s->res_pages,
			       echo_stream(req->seed, ECHO_RES_PAGES), 0) ==
	       s->res_pages;
}

static int crowd_wait(struct crowd_reqs *reqs, struct echo_req *req)
{
	long left = max_t(long, reqs->deadline - jiffies, 1);

	if (!req->started)
		return -ECANCELED;
	if (!wait_for_completion_timeout(&req->done, left))
		return -ETIMEDOUT;
	req->started = false;
	if (req->status)
		return req->status;
	return crowd_good(req) ? 0 : -EBADMSG;
}

/*
 * Wait for all RPCs, and free them. If even a killed RPC does not end, its memory is
 * leaked on purpose. Return: @ret if that is an errno; else 0, or the errno of the
 * first RPC that failed.
 */
static int crowd_finish(struct crowd_reqs *reqs, int ret)
{
	unsigned int nr = 0, failed = 0;
	struct echo_req *req, *next;
	int status;

	list_for_each_entry_safe(req, next, &reqs->list, list) {
		status = crowd_wait(reqs, req);
		nr++;
		if (status) {
			failed++;
			ret = ret ?: status;
		}
		list_del(&req->list);
		if (echo_req_kill_and_wait(req))
			echo_req_free(req);
	}
	if (failed)
		pr_err("crowd: %u of %u RPCs failed; the first: %d\n", failed,
		       nr, ret);
	return ret;
}

/* The jobs */

static int crowd_parse(const char *text, struct sockaddr_storage *ss)
{
	struct sockaddr *sa = (struct sockaddr *)ss;

	if (!rpc_pton(&init_net, text, strlen(text), sa, sizeof(*ss)) ||
	    sa->sa_family != AF_INET)
		return -EINVAL;
	rpc_set_port(sa, port + crowd_bound);
	return 0;
}

/* Add a client. Without a ping, the client connects with its first RPC. */
static struct rpc_clnt *crowd_add(const struct sockaddr_storage *ss)
{
	static const struct rpc_timeout patient = {
		.to_initval	= 60 * HZ,
		.to_maxval	= 60 * HZ,
	};
	struct rpc_clnt *clnt;

	if (crowd_size == CROWD_MAX)
		return ERR_PTR(-ENOSPC);
	clnt = echo_clnt_create((const struct sockaddr *)ss,
				sizeof(struct sockaddr_in), &patient,
				RPC_CLNT_CREATE_NOPING);
	if (!IS_ERR(clnt))
		crowd_clnts[crowd_size++] = clnt;
	return clnt;
}

static int crowd_connect(unsigned int nr)
{
	struct sockaddr_storage ss;
	struct crowd_reqs reqs;
	struct rpc_clnt *clnt;
	int ret;

	ret = crowd_parse(addr, &ss);
	crowd_init(&reqs);
	while (nr-- && !ret) {
		clnt = crowd_add(&ss);
		ret = PTR_ERR_OR_ZERO(clnt) ?:
		      crowd_start(&reqs, clnt, &crowd_small);
	}
	return crowd_finish(&reqs, ret);
}

static int crowd_call(unsigned int nr)
{
	struct crowd_reqs reqs;
	unsigned int i, k;
	int ret = 0;

	crowd_init(&reqs);
	for (i = 0; i < crowd_size && !ret; i++)
		for (k = 0; k < nr && !ret; k++)
			ret = crowd_start(&reqs, crowd_clnts[i],
					  &crowd_mix[(i + k) %
						     ARRAY_SIZE(crowd_mix)]);
	return crowd_finish(&reqs, ret);
}

static void crowd_release(struct work_struct *work)
{
	echo_svc_release();
}

static DECLARE_DELAYED_WORK(crowd_release_work, crowd_release);

/* Stop the server while it has RPCs, start it again, and wait for the RPCs. */
static int crowd_restart(struct crowd_reqs *reqs, int ret)
{
	size_t len = strlen(crowd_figures);
	u64 stop, start;

	/*
	 * The server's threads wait in ECHO_HOLD. Release them only when the
	 * connections are closed, so that they answer nothing there.
	 */
	schedule_delayed_work(&crowd_release_work, HZ / 2);
	stop = ktime_get_ns();
	echo_server_stop();
	while (delayed_work_pending(&crowd_release_work))
		msleep(20);
	flush_delayed_work(&crowd_release_work);
	start = ktime_get_ns();
	if (!ret)
		ret = echo_server_start(PF_INET);
	ret = crowd_finish(reqs, ret);
	snprintf(crowd_figures + len, sizeof(crowd_figures) - len,
		 "down_ms=%llu up_ms=%llu",
		 div_u64(start - stop, NSEC_PER_MSEC),
		 div_u64(ktime_get_ns() - start, NSEC_PER_MSEC));
	return ret;
}

static int crowd_storm(unsigned int unused)
{
	struct echo_shape shape = crowd_small;
	struct crowd_reqs reqs;
	unsigned int i;
	int ret = 0;

	if (!threads)
		return -EOPNOTSUPP;
	shape.flags = ECHO_HOLD;
	echo_svc_hold();
	crowd_init(&reqs);
	for (i = 0; i < crowd_size && !ret; i++)
		ret = crowd_start(&reqs, crowd_clnts[i], &shape);
	/* By then, most RPCs have reached the server and wait for a thread. */
	msleep(1000);
	return crowd_restart(&reqs, ret);
}

/*
 * A client that connects to an address of this machine also connects from that address.
 * The server's threads have to accept the connections, so they drop these Calls instead
 * of waiting.
 */
static int crowd_strangers(unsigned int nr)
{
	struct echo_shape shape = crowd_small;
	struct sockaddr_storage ss;
	struct sockaddr_in *sin = (struct sockaddr_in *)&ss;
	struct crowd_reqs reqs;
	struct rpc_clnt *clnt;
	u64 start = ktime_get_ns();
	unsigned int i, before;
	int ret;

	if (!threads)
		return -EOPNOTSUPP;
	ret = crowd_parse(stranger, &ss);
	be32_add_cpu(&sin->sin_addr.s_addr, crowd_addresses);
	shape.flags = ECHO_LOSE;
	echo_svc_hold();
	crowd_init(&reqs);
	before = echo_server_calls();
	for (i = 0; i < nr && !ret; i++) {
		clnt = crowd_add(&ss);
		be32_add_cpu(&sin->sin_addr.s_addr, 1);
		crowd_addresses++;
		ret = PTR_ERR_OR_ZERO(clnt) ?:
		      crowd_start(&reqs, clnt, &shape);
	}
	while (!ret && echo_server_calls() - before < nr) {
		if (time_after(jiffies, reqs.deadline))
			ret = -ETIMEDOUT;
		msleep(20);
	}
	snprintf(crowd_figures, sizeof(crowd_figures), "connect_ms=%llu ",
		 div_u64(ktime_get_ns() - start, NSEC_PER_MSEC));
	return crowd_restart(&reqs, ret);
}

static int crowd_bind(unsigned int unused)
{
	struct sockaddr_storage ss;
	int ret;

	if (!threads || crowd_bound)
		return -EOPNOTSUPP;
	crowd_bound = true;
	ret = crowd_parse(addr, &ss);
	if (!ret)
		ret = echo_server_listen_at((struct sockaddr *)&ss,
					    sizeof(struct sockaddr_in));
	if (ret)
		crowd_bound = false;
	return ret;
}

static int crowd_disconnect(unsigned int unused)
{
	while (crowd_size)
		rpc_shutdown_client(crowd_clnts[--crowd_size]);
	return 0;
}

/* Fairness */

/**
 * struct crowd_fair - one small RPC at a time, with or without large ones beside it
 * @until: no RPC starts after this time
 * @under_way: loops that have not ended
 * @over: completed when no loop is under way
 * @error: errno of an RPC that failed
 * @large: large RPCs that have ended
 * @nr: small RPCs that have ended, at most CROWD_SAMPLES
 * @latency: durations of the small RPCs, in ns
 */
struct crowd_fair {
	u64			until;
	atomic_t		under_way;
	struct completion	over;
	int			error;
	atomic_t		large;
	unsigned int		nr;
	u32			*latency;
};

struct crowd_loop {
	struct crowd_fair	*fair;
	struct rpc_clnt		*clnt;
	struct echo_req		*req;
	bool			small;
	u64			started;
	int			status;
};

static void crowd_loop_call(struct crowd_loop *loop);

static void crowd_loop_done(struct rpc_task *task, void *data)
{
	struct crowd_loop *loop = data;

	loop->status = task->tk_status;
}

static void crowd_loop_release(void *data)
{
	struct crowd_loop *loop = data;
	struct crowd_fair *fair = loop->fair;
	u64 now = ktime_get_ns();

	if (loop->status || loop->req->res_status)
		WRITE_ONCE(fair->error, loop->status ?: -EIO);
	else if (!loop->small)
		atomic_inc(&fair->large);
	else if (fair->nr < CROWD_SAMPLES)
		fair->latency[fair->nr++] = min_t(u64, now - loop->started,
						  U32_MAX);
	if (now < fair->until && !READ_ONCE(fair->error))
		crowd_loop_call(loop);
	else if (atomic_dec_and_test(&fair->under_way))
		complete(&fair->over);
}

static const struct rpc_call_ops crowd_loop_ops = {
	.rpc_call_done	= crowd_loop_done,
	.rpc_release	= crowd_loop_release,
};

/* sunrpc calls rpc_release even if rpc_call_async() fails, so errors come there. */
static void crowd_loop_call(struct crowd_loop *loop)
{
	struct rpc_message msg = {
		.rpc_proc	= &loop->req->proc,
		.rpc_argp	= loop->req,
		.rpc_resp	= loop->req,
	};

	loop->status = -ENOMEM;
	loop->started = ktime_get_ns();
	rpc_call_async(loop->clnt, &msg, 0, &crowd_loop_ops, loop);
}

static int crowd_compare(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

static int crowd_fair_run(struct crowd_fair *fair, struct crowd_loop *loops,
			  unsigned int nr, unsigned int ms)
{
	unsigned int i;

	atomic_set(&fair->under_way, nr);
	atomic_set(&fair->large, 0);
	init_completion(&fair->over);
	fair->nr = 0;
	fair->until = ktime_get_ns() + (u64)ms * NSEC_PER_MSEC;
	/* Start the small RPC, which is the first, after the large ones. */
	for (i = nr; i--;)
		crowd_loop_call(&loops[i]);
	wait_for_completion(&fair->over);
	if (!fair->error && !fair->nr)
		fair->error = -ENODATA;
	sort(fair->latency, fair->nr, sizeof(*fair->latency), crowd_compare,
	     NULL);
	return fair->error;
}

static void crowd_fair_add(const struct crowd_fair *fair, const char *prefix)
{
	size_t len = strlen(crowd_figures);

	snprintf(crowd_figures + len, sizeof(crowd_figures) - len,
		 "%sp50=%u %sp99=%u %smax=%u ",
		 prefix, fair->latency[fair->nr / 2],
		 prefix, fair->latency[fair->nr * 99 / 100],
		 prefix, fair->latency[fair->nr - 1]);
}

static int crowd_fair_measure(struct crowd_fair *fair, struct crowd_loop *loops,
			      unsigned int ms)
{
	size_t len;
	int ret;

	ret = crowd_fair_run(fair, loops, 1, ms);
	if (ret)
		return ret;
	crowd_fair_add(fair, "");
	ret = crowd_fair_run(fair, loops, 1 + CROWD_LARGE, ms);
	if (ret)
		return ret;
	crowd_fair_add(fair, "beside_");
	len = strlen(crowd_figures);
	snprintf(crowd_figures + len, sizeof(crowd_figures) - len,
		 "large=%u small=%u", atomic_read(&fair->large), fair->nr);
	return 0;
}

static int crowd_fair(unsigned int ms)
{
	static const struct echo_shape large = {
		.flags	   = ECHO_RES_PAYLOAD | ECHO_RES_DDP | ECHO_UNCHECKED,
		.res_pages = ECHO_MAX_PAYLOAD,
	};
	struct crowd_loop *loops;
	struct crowd_fair fair = { };
	int i, ret = -ENOMEM;

	if (crowd_size < 2)
		return -ENOTCONN;
	fair.latency = vmalloc(array_size(CROWD_SAMPLES, sizeof(u32)));
	loops = kcalloc(1 + CROWD_LARGE, sizeof(*loops), GFP_KERNEL);
	if (!fair.latency || !loops)
		goto out_free;
	for (i = 0; i <= CROWD_LARGE; i++) {
		loops[i].fair = &fair;
		loops[i].small = !i;
		loops[i].clnt = crowd_clnts[i ? 0 : 1];
		loops[i].req = echo_req_alloc(i ? &large : &crowd_small);
		if (!loops[i].req)
			goto out_free;
	}
	ret = crowd_fair_measure(&fair, loops, ms);
out_free:
	for (i = 0; loops && i <= CROWD_LARGE && loops[i].req; i++)
		echo_req_free(loops[i].req);
	kfree(loops);
	vfree(fair.latency);
	return ret;
}

/* The file */

/*
 * Names of jobs, with their numbers:
 *
 *	connect N	N more clients at once; each runs an RPC
 *	call N		each client runs N RPCs at once, of several sizes and forms
 *	storm		the server stops while each client has an RPC there, and starts
 *			again; all clients reconnect and send their RPCs again. The figures
 *			are the time without a server, and the time from its start on.
 *	strangers N	the same with N more clients, each from its own address; also gives the
 *			time until the server had an RPC of each
 *	fair MS		latency of a small RPC in ns, alone and beside 64 large Replies of
 *			another client; MS milliseconds each
 *	bound		the server also listens at the next port, with a listener bound to its
 *			address; new clients connect to that port
 *	disconnect	shut down all clients
 */
static const struct crowd_job {
	const char	*name;
	int		(*run)(unsigned int n);
} crowd_jobs[] = {
	{ "connect", crowd_connect },
	{ "call", crowd_call },
	{ "storm", crowd_storm },
	{ "strangers", crowd_strangers },
	{ "fair", crowd_fair },
	{ "bound", crowd_bind },
	{ "disconnect", crowd_disconnect },
};

static int crowd_run(const char *name, unsigned int n)
{
	u64 start = ktime_get_ns();
	size_t i, len;
	int ret;

	for (i = 0; i < ARRAY_SIZE(crowd_jobs); i++)
		if (!strcmp(name, crowd_jobs[i].name))
			break;
	if (i == ARRAY_SIZE(crowd_jobs))
		return -EINVAL;
	*crowd_figures = '\0';
	ret = crowd_jobs[i].run(n);
	len = strlen(crowd_figures);
	snprintf(crowd_figures + len, sizeof(crowd_figures) - len,
		 " job=%s n=%u clients=%u status=%d ms=%llu\n", name, n,
		 crowd_size, ret,
		 div_u64(ktime_get_ns() - start, NSEC_PER_MSEC));
	return ret;
}

static ssize_t crowd_write(struct file *file, const char __user *buf,
			   size_t len, loff_t *pos)
{
	char line[64] = "", name[16];
	unsigned int n = 0;
	int ret;

	if (len >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, buf, len))
		return -EFAULT;
	if (sscanf(line, "%15s %u", name, &n) < 1)
		return -EINVAL;
	mutex_lock(&crowd_lock);
	ret = crowd_run(name, n);
	mutex_unlock(&crowd_lock);
	return ret ?: len;
}

static ssize_t crowd_read(struct file *file, char __user *buf, size_t len,
			  loff_t *pos)
{
	ssize_t ret;

	mutex_lock(&crowd_lock);
	ret = simple_read_from_buffer(buf, len, pos, crowd_figures,
				      strlen(crowd_figures));
	mutex_unlock(&crowd_lock);
	return ret;
}

static const struct file_operations crowd_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.read	= crowd_read,
	.write	= crowd_write,
};

static int __init crowd_module_init(void)
{
	int ret = 0;

	if (threads)
		ret = echo_server_start(PF_INET);
	if (ret)
		return ret;
	crowd_dir = debugfs_create_dir("rpcrdma2_echo_crowd", NULL);
	debugfs_create_file("run", 0600, crowd_dir, NULL, &crowd_fops);
	return 0;
}

static void __exit crowd_module_exit(void)
{
	debugfs_remove_recursive(crowd_dir);
	crowd_disconnect(0);
	echo_server_stop();
}

module_init(crowd_module_init);
module_exit(crowd_module_exit);
MODULE_AUTHOR("rpcrdma2 developers");
MODULE_DESCRIPTION("Very many clients of one server");
MODULE_LICENSE("GPL");
