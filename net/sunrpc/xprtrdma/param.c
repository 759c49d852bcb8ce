// SPDX-License-Identifier: GPL-2.0
/*
 * Module parameters: their values, limits, setters and getters.
 *
 * Setters and getters run in process context. Readers take no lock, but for the list of
 * dialects. All other files may include param.h. This file includes no header of theirs
 * but wire/wire.h, which has the dialects.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "param.h"
#include "wire/wire.h"

#define INLINE_SIZE_MIN		4096
#define INLINE_SIZE_UNIT	1024
#define CREDITS_MIN		2
#define CREDITS_MAX		1024
#define SRQ_SIZE_MIN		64
#define SRQ_SIZE_MAX		32768
/* Part of the memory that RDMA Reads, RDMA Writes and waiting Replies may take by default */
#define READ_SHARE		16
/* Part of the memory that a server's Receives may take by default */
#define RECEIVE_SHARE		16
/* MiB; the maximum in octets fits in a 64-bit long. */
#define MEMORY_MIN		1
#define MEMORY_MAX		SZ_16M
#define INLINE_IDLE_MIN		1
#define INLINE_IDLE_MAX		3600
#define VERSION_RETRY_MIN	1
#define VERSION_RETRY_MAX	86400

/* Room for 8 KiB of data and all headers, in three pages */
unsigned int rpcrdma2_inline_size = 12288;
unsigned int rpcrdma2_inline_min;
unsigned int rpcrdma2_inline_idle = 30;
unsigned int rpcrdma2_slot_table_entries = 128;
unsigned int rpcrdma2_svc_credits = 128;
unsigned int rpcrdma2_read_memory;
bool rpcrdma2_use_srq = true;
/* A CQ has as many entries, and its Send Queue's. With the defaults, these are below 1024. */
unsigned int rpcrdma2_srq_size = 768;
unsigned int rpcrdma2_receive_memory;
unsigned int rpcrdma2_heartbeat_period = 5;
unsigned int rpcrdma2_version;
unsigned int rpcrdma2_version_retry = 600;
/* Callbacks of NFS need no chunks, and chunks need larger Queues and RDMA Reads. */
u32 rpcrdma2_reverse = RDMA2_RVREQSUP_INLINE;

/**
 * rpcrdma2_param_set_in_range - set a module parameter, or refuse the value
 * @range: the parameter and its allowed values
 * @name: name of the parameter or sysctl that the user wrote to, for the log
 * @val: string with a number
 *
 * Context: Process context.
 * Return: 0; -EINVAL or -ERANGE if the value is refused: a line in the log says which
 *	values are allowed
 */
int rpcrdma2_param_set_in_range(const struct rpcrdma2_range *range,
				const char *name, const char *val)
{
	unsigned int n;
	int rc;

	rc = kstrtouint(val, 0, &n);
	if (rc || n < range->min || n > range->max || n % range->unit) {
		pr_err("%s=%s refused: a multiple of %u from %u to %u is allowed\n",
		       name, val, range->unit, range->min, range->max);
		return rc ?: -EINVAL;
	}
	WRITE_ONCE(*range->value, n);
	return 0;
}

static int param_set_allowed(const char *val, const struct kernel_param *kp)
{
	return rpcrdma2_param_set_in_range(kp->arg, kp->name, val);
}

/* 0 is allowed, too: the size then never changes. */
static int param_set_inline_min(const char *val, const struct kernel_param *kp)
{
	const struct rpcrdma2_range *range = kp->arg;

	if (sysfs_streq(val, "0")) {
		*range->value = 0;
		return 0;
	}
	return param_set_allowed(val, kp);
}

static int param_get_allowed(char *buffer, const struct kernel_param *kp)
{
	const struct rpcrdma2_range *range = kp->arg;

	return sysfs_emit(buffer, "%u\n", *range->value);
}

static const struct kernel_param_ops allowed_ops = {
	.set	= param_set_allowed,
	.get	= param_get_allowed,
};

static const struct kernel_param_ops inline_min_ops = {
	.set	= param_set_inline_min,
	.get	= param_get_allowed,
};

struct rpcrdma2_range rpcrdma2_inline_size_range = {
	&rpcrdma2_inline_size, INLINE_SIZE_MIN, RPCRDMA2_RBSIZ_MAX, INLINE_SIZE_UNIT
};

static struct rpcrdma2_range inline_min = {
	&rpcrdma2_inline_min, INLINE_SIZE_MIN, RPCRDMA2_RBSIZ_MAX, INLINE_SIZE_UNIT
};

static struct rpcrdma2_range inline_idle = {
	&rpcrdma2_inline_idle, INLINE_IDLE_MIN, INLINE_IDLE_MAX, 1
};

struct rpcrdma2_range rpcrdma2_slot_table_range = {
	&rpcrdma2_slot_table_entries, CREDITS_MIN, CREDITS_MAX, 1
};

struct rpcrdma2_range rpcrdma2_max_requests_range = {
	&rpcrdma2_svc_credits, CREDITS_MIN, CREDITS_MAX, 1
};

static struct rpcrdma2_range srq_size = {
	&rpcrdma2_srq_size, SRQ_SIZE_MIN, SRQ_SIZE_MAX, 1
};

static struct rpcrdma2_range read_memory = {
	&rpcrdma2_read_memory, MEMORY_MIN, MEMORY_MAX, 1
};

static struct rpcrdma2_range receive_memory = {
	&rpcrdma2_receive_memory, MEMORY_MIN, MEMORY_MAX, 1
};

static struct rpcrdma2_range heartbeat = {
	&rpcrdma2_heartbeat_period, 0, RPCRDMA2_HEARTBEAT_MAX, 1
};

static struct rpcrdma2_range version = { &rpcrdma2_version, 0, RPCRDMA2_VERSION_2, 1 };

static struct rpcrdma2_range version_retry = {
	&rpcrdma2_version_retry, VERSION_RETRY_MIN, VERSION_RETRY_MAX, 1
};

/*
 * The order in which a client tries dialects. Version 1 comes last: a client has nothing
 * to ask in version 1, so no answer would make it try another dialect.
 */
static struct rpcrdma2_dialects dialects = {
	.nr		= 2,
	.dialect	= { &rpcrdma2_v2_09, &rpcrdma2_v1 },
};

static DEFINE_SPINLOCK(dialects_lock);	/* protects dialects */

static const struct rpcrdma2_dialect *param_find_dialect(const char *name)
{
	unsigned int i;

	for (i = 0; i < rpcrdma2_all_dialects.nr; i++)
		if (sysfs_streq(name, rpcrdma2_all_dialects.dialect[i]->name))
			return rpcrdma2_all_dialects.dialect[i];
	return NULL;
}

static bool param_dialect_may_follow(const struct rpcrdma2_dialects *list,
				     const struct rpcrdma2_dialect *dialect)
{
	unsigned int i;

	for (i = 0; i < list->nr; i++)
		if (list->dialect[i] == dialect || !list->dialect[i]->props)
			return false;
	return true;
}

static int param_parse_dialects(char *names, struct rpcrdma2_dialects *list)
{
	const struct rpcrdma2_dialect *dialect;
	char *name;

	list->nr = 0;
	while ((name = strsep(&names, ","))) {
		dialect = param_find_dialect(name);
		if (!dialect || !param_dialect_may_follow(list, dialect))
			return -EINVAL;
		list->dialect[list->nr++] = dialect;
	}
	return 0;
}

static int param_set_dialects(const char *val, const struct kernel_param *kp)
{
	struct rpcrdma2_dialects list;
	char *names;
	int rc;

	names = kstrdup(val, GFP_KERNEL);
	if (!names)
		return -ENOMEM;
	rc = param_parse_dialects(names, &list);
	kfree(names);
	if (rc) {
		pr_err("%s=%s refused: some of v2-09, v2-01 and v1 are allowed, separated by commas, each once, and v1 last\n",
		       kp->name, val);
		return rc;
	}
	spin_lock(&dialects_lock);
	dialects = list;
	spin_unlock(&dialects_lock);
	return 0;
}

static struct rpcrdma2_dialects param_read_dialects(void)
{
	struct rpcrdma2_dialects list;

	spin_lock(&dialects_lock);
	list = dialects;
	spin_unlock(&dialects_lock);
	return list;
}

static int param_get_dialects(char *buffer, const struct kernel_param *kp)
{
	struct rpcrdma2_dialects list = param_read_dialects();
	unsigned int i;
	int len = 0;

	for (i = 0; i < list.nr; i++)
		len += sysfs_emit_at(buffer, len, "%s%s", i ? "," : "",
				     list.dialect[i]->name);
	return len + sysfs_emit_at(buffer, len, "\n");
}

/* Apply the parameter "version" to a list of dialects. */
static void param_keep_version(struct rpcrdma2_dialects *list)
{
	unsigned int version = READ_ONCE(rpcrdma2_version);

	if (version)
		rpcrdma2_dialects_of_version(list, version);
}

/**
 * rpcrdma2_param_client_dialects - the dialects that a client's new connection may speak
 * @list: dialects to fill in, in the order in which the client tries them
 *
 * If the parameter "version" excludes all of the parameter "dialects", the list has all
 * dialects of that version.
 *
 * Context: Process context.
 */
void rpcrdma2_param_client_dialects(struct rpcrdma2_dialects *list)
{
	*list = param_read_dialects();
	param_keep_version(list);
	if (!list->nr)
		rpcrdma2_param_server_dialects(list);
}

/**
 * rpcrdma2_param_server_dialects - the dialects that a server's new connection may speak
 * @list: dialects to fill in
 *
 * Context: Any context.
 */
void rpcrdma2_param_server_dialects(struct rpcrdma2_dialects *list)
{
	*list = rpcrdma2_all_dialects;
	param_keep_version(list);
}

static const char * const reverse_names[] = {
	[RDMA2_RVREQSUP_NONE]	= "none",
	[RDMA2_RVREQSUP_INLINE]	= "inline",
	[RDMA2_RVREQSUP_GENL]	= "genl",
};

static int param_set_reverse(const char *val, const struct kernel_param *kp)
{
	int level = sysfs_match_string(reverse_names, val);

	if (level < 0) {
		pr_err("%s=%s refused: none, inline or genl is allowed\n",
		       kp->name, val);
		return level;
	}
	WRITE_ONCE(rpcrdma2_reverse, level);
	return 0;
}

static int param_get_reverse(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%s\n",
			  reverse_names[READ_ONCE(rpcrdma2_reverse)]);
}

static const struct kernel_param_ops dialects_ops = {
	.set	= param_set_dialects,
	.get	= param_get_dialects,
};

static const struct kernel_param_ops reverse_ops = {
	.set	= param_set_reverse,
	.get	= param_get_reverse,
};

module_param_cb(inline_size, &allowed_ops, &rpcrdma2_inline_size_range, 0644);
MODULE_PARM_DESC(inline_size,
		 "Octets of each Send and Receive buffer of new connections; larger messages use chunks (4096 to 262144, a multiple of 1024; default 12288)");
module_param_cb(inline_min, &inline_min_ops, &inline_min, 0644);
MODULE_PARM_DESC(inline_min,
		 "Octets of a new connection's Receive buffers, which grow up to inline_size and shrink when idle; 0: always inline_size (4096 to 262144, a multiple of 1024, or 0; default 0)");
module_param_cb(inline_idle, &allowed_ops, &inline_idle, 0644);
MODULE_PARM_DESC(inline_idle,
		 "Seconds without a large message after which grown Receive buffers shrink to inline_min (1 to 3600; default 30)");
module_param_cb(slot_table_entries, &allowed_ops,
		&rpcrdma2_slot_table_range, 0644);
MODULE_PARM_DESC(slot_table_entries,
		 "RPCs that a client may have outstanding on a connection of a new mount (2 to 1024; default 128)");
module_param_cb(max_requests, &allowed_ops, &rpcrdma2_max_requests_range, 0644);
MODULE_PARM_DESC(max_requests,
		 "RPCs that a server grants each new client at most (2 to 1024; default 128)");
module_param_cb(read_memory, &allowed_ops, &read_memory, 0644);
MODULE_PARM_DESC(read_memory,
		 "MiB that a server may use for RDMA Reads, RDMA Writes and waiting Replies of all clients (1 to 16777216; default: a 16th of the memory)");
module_param_named(use_srq, rpcrdma2_use_srq, bool, 0644);
MODULE_PARM_DESC(use_srq,
		 "Whether a server's new connections share their Receives; iWARP connections never do (Y or N; default Y)");
module_param_cb(srq_size, &allowed_ops, &srq_size, 0644);
MODULE_PARM_DESC(srq_size,
		 "Receives of a new Shared Receive Queue at most; the Completion Queue of each connection grows by as many entries (64 to 32768; default 768)");
module_param_cb(receive_memory, &allowed_ops, &receive_memory, 0644);
MODULE_PARM_DESC(receive_memory,
		 "MiB that a server's Receive buffers may take before they stop growing (1 to 16777216; default: a 16th of the memory)");
module_param_cb(heartbeat, &allowed_ops, &heartbeat, 0644);
MODULE_PARM_DESC(heartbeat,
		 "Seconds of silence after which each end of a new connection checks its peer; 0: never (1 to 3600, or 0; default 5)");
module_param_cb(version, &allowed_ops, &version, 0644);
MODULE_PARM_DESC(version,
		 "The only protocol version of new connections; 0: the highest that both ends have (1 to 2, or 0; default 0)");
module_param_cb(dialects, &dialects_ops, NULL, 0644);
MODULE_PARM_DESC(dialects,
		 "Drafts of the protocol that a client's new connections try, in this order (v2-09, v2-01, v1; default v2-09,v1)");
module_param_cb(reverse, &reverse_ops, NULL, 0644);
MODULE_PARM_DESC(reverse,
		 "Calls from a server to its client: none, without chunks, or with chunks as well (none, inline, genl; default inline)");
module_param_cb(version_retry, &allowed_ops, &version_retry, 0644);
MODULE_PARM_DESC(version_retry,
		 "Seconds after which a client asks a server again for its first dialect (1 to 86400; default 600)");

/* Set a limit, in MiB, unless the user has set it. */
static void __init param_set_share(unsigned int *limit, unsigned int share)
{
	if (!*limit)
		*limit = totalram_pages() / share >> (20 - PAGE_SHIFT);
}

/**
 * rpcrdma2_param_init - set the limits of memory that the user has not set
 *
 * Context: Module initialisation.
 */
void __init rpcrdma2_param_init(void)
{
	param_set_share(&rpcrdma2_read_memory, READ_SHARE);
	param_set_share(&rpcrdma2_receive_memory, RECEIVE_SHARE);
}
