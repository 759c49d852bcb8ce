// SPDX-License-Identifier: GPL-2.0
/*
 * The sysctls of the kernel's own rpcrdma, so that lines in /etc/sysctl.d need no change.
 *
 * Some sysctls are other names of module parameters. A write sets the parameter, or is
 * refused with the same line in the log. The other sysctls keep the written value, but have
 * no effect. The first write to each of them puts a line with the reason into the log.
 *
 * Handlers run in process context. The statistics in the same directory belong to
 * totals.c.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/sysctl.h>

#include "compat.h"
#include "param.h"

/* Octets for any valid number, or for the beginning of an invalid value in the log */
#define VALUE_SIZE	24

/* Initial limit of RDMA Reads under way at a server, as the kernel's own rpcrdma has it */
#define DEFAULT_READS	16

/* The number of fast registration among the strategies of the kernel's own rpcrdma */
#define STRATEGY_FRWR	5

/**
 * struct unused - a sysctl without effect
 * @value: the value written last
 * @why: reason for the log
 * @said: 1 once the reason is in the log, or 0
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

/* Handle the value as a string, so that a refusal can show what the user wrote. */
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
 * rpcrdma2_sysctl_init - create the sysctls, or go on without them
 *
 * Context: Module initialisation; sleeps.
 */
void rpcrdma2_sysctl_init(void)
{
	client_header = register_sysctl("sunrpc", client_table);
	server_header = register_sysctl("sunrpc/svc_rdma", server_table);
}

/**
 * rpcrdma2_sysctl_exit - remove the sysctls
 *
 * Context: Module removal, or failed initialisation. Sleeps until no reader or writer is
 * left.
 */
void rpcrdma2_sysctl_exit(void)
{
	unregister_sysctl_table(server_header);
	unregister_sysctl_table(client_header);
}
