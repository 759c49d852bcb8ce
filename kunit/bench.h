/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the benchmarks have in common: a job, which is a line written to a
 * file in debugfs, and its figures, which the same file then has.
 *
 *	echo "WHAT SIZE DEPTH MILLISECONDS" >run && cat run
 *
 * An operation of SIZE bytes is done over and over, with DEPTH of them under
 * way, for so long: first a fifth of the time as a warm-up, then measured. The
 * measured time ends with the last operation, so that operations which end in
 * bursts count right. Of user-mode Linux only the time counts that its host gave
 * it, so what else the host does matters little.
 */
#ifndef RPCRDMA2_BENCH_H
#define RPCRDMA2_BENCH_H

#include <linux/completion.h>
#include <linux/ktime.h>
#include <linux/types.h>

#define BENCH_MAX_DEPTH		4096

/**
 * struct bench_job - what to measure, and its figures
 * @what: the operation's name
 * @size: bytes of its payload
 * @depth: how many operations at once
 * @ms: for how long
 * @until: no operation starts after that
 * @under_way: operations that are not over
 * @error: of the first one that failed; ends all
 * @over: no operation is under way any more
 * @nr: operations since bench_start()
 * @warm: operations of the warm-up
 * @wall: how long they took together, ns
 * @ns: the same, without what a guest's host did in between
 * @cpu: how long the CPUs were not idle in that time, ns
 * @latency: of the first operations, ns
 */
struct bench_job {
	char			what[16];
	u32			size;
	u32			depth;
	u32			ms;

	u64			until;
	atomic_t		under_way;
	int			error;
	struct completion	over;
	atomic_t		nr;
	unsigned int		warm;
	u64			wall;
	u64			ns;
	u64			cpu;
	u32			*latency;
};

/**
 * struct bench - a benchmark
 * @prepare: get ready for a job, whose figures are not known yet
 * @start: start the job's @depth operations
 * @finish: undo @prepare; check what can be checked
 *
 * An operation that @start started calls bench_done() when it is over, then
 * starts anew while that returns true.
 */
struct bench {
	int	(*prepare)(struct bench_job *job);
	void	(*start)(struct bench_job *job);
	int	(*finish)(struct bench_job *job);
};

int bench_register(const char *name, const struct bench *bench);
void bench_unregister(void);
bool bench_done(struct bench_job *job, u64 started, int status);

#endif /* RPCRDMA2_BENCH_H */
