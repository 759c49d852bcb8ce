// SPDX-License-Identifier: GPL-2.0
/*
 * The settings of the kernel's own rpcrdma, by the names that they have below
 * /proc/sys/sunrpc, so that lines in /etc/sysctl.d need no change.
 *
 * A setting with an equivalent is another name of a module parameter: a write sets the
 * parameter, and a value that the parameter refuses is refused here, with the same line
 * in the log. The other settings keep what is written, and have no effect: the first
 * write of each says so, and why.
 *
 * The statistics in that directory are in svc/stats.c.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/sysctl.h>

#include "compat.h"
#include "param.h"

/* Enough for any number that a parameter takes, and a text to refuse */
#define VALUE_SIZE	24

/* RDMA Reads under way that a server with the kernel's own rpcrdma allows itself */
#define DEFAULT_READS	16

/* Fast registration, among the strategies that the kernel's own rpcrdma numbers */
#define STRATEGY_FRWR	5

/**
 * struct unused - a setting without effect
 * @value: what was written last
 * @why: it has no effect, for the log
 * @said: 1 once the log has it
 */
struct unused {
	unsigned int	value;
	const char	*why;
	unsigned int	said;
};

static struct unused write_padding = {
	.why	= "data that go inline are not padded",
};

static struct unused memreg_strategy = {
	.value	= STRATEGY_FRWR,
	.why	= "memory is always registered by fast registration",
};

static struct unused pad_optimize = {
	.why	= "chunks never carry XDR padding of their own",
};

static struct unused outbound_reads = {
	.value	= DEFAULT_READS,
	.why	= "a server makes as many RDMA Reads as the device and its peer allow",
};

/* The value as text, so that a refusal can show what was written */
static int sysctl_do_parameter(RPCRDMA2_CTL_TABLE *table, int write,
			       void *buffer, size_t *lenp, loff_t *ppos)
{
	const struct rpcrdma2_range *range = table->data;
	char text[VALUE_SIZE];
	struct ctl_table shown = {
		.procname	= table->procname,
		.data		= text,
		.maxlen		= sizeof(text),
	};
	int rc;

	snprintf(text, sizeof(text), "%u", READ_ONCE(*range->value));
	rc = proc_dostring(&shown, write, buffer, lenp, ppos);
	if (rc || !write)
		return rc;
	return rpcrdma2_param_set_in_range(range, table->procname, strim(text));
}

static int sysctl_do_unused(RPCRDMA2_CTL_TABLE *table, int write, void *buffer,
			    size_t *lenp, loff_t *ppos)
{
	struct unused *unused = table->data;
	struct ctl_table shown = {
		.procname	= table->procname,
		.data		= &unused->value,
		.maxlen		= sizeof(unused->value),
	};
	int rc;

	rc = proc_douintvec(&shown, write, buffer, lenp, ppos);
	if (rc || !write || xchg(&unused->said, 1))
		return rc;
	pr_info("the sysctl %s has no effect: %s\n", table->procname,
		unused->why);
	return 0;
}

#define SETTING(name, to, handler)					\
	{								\
		.procname	= name,					\
		.data		= &(to),				\
		.mode		= 0644,					\
		.proc_handler	= handler,				\
	}

static struct ctl_table client_table[] = {
	SETTING("rdma_slot_table_entries", rpcrdma2_slot_table_range, sysctl_do_parameter),
	SETTING("rdma_max_inline_read", rpcrdma2_inline_size_range, sysctl_do_parameter),
	SETTING("rdma_max_inline_write", rpcrdma2_inline_size_range, sysctl_do_parameter),
	SETTING("rdma_inline_write_padding", write_padding, sysctl_do_unused),
	SETTING("rdma_memreg_strategy", memreg_strategy, sysctl_do_unused),
	SETTING("rdma_pad_optimize", pad_optimize, sysctl_do_unused),
	RPCRDMA2_CTL_TABLE_END
};

static struct ctl_table server_table[] = {
	SETTING("max_requests", rpcrdma2_max_requests_range, sysctl_do_parameter),
	SETTING("max_req_size", rpcrdma2_inline_size_range, sysctl_do_parameter),
	SETTING("max_outbound_read_requests", outbound_reads, sysctl_do_unused),
	RPCRDMA2_CTL_TABLE_END
};

static struct ctl_table_header *client_header, *server_header;

/**
 * rpcrdma2_sysctl_init - module initialisation
 *
 * The module works as well without these files, so a failure has no consequence.
 */
void rpcrdma2_sysctl_init(void)
{
	client_header = register_sysctl("sunrpc", client_table);
	server_header = register_sysctl("sunrpc/svc_rdma", server_table);
}

/**
 * rpcrdma2_sysctl_exit - undo rpcrdma2_sysctl_init(); waits for readers and writers
 */
void rpcrdma2_sysctl_exit(void)
{
	unregister_sysctl_table(server_header);
	unregister_sysctl_table(client_header);
}
