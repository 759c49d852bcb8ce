/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Jobs and figures, which all benchmarks share. A job is a line written to a file in
 * debugfs; reading the file then gives the job's figures.
 *
 *	echo "WHAT SIZE DEPTH MILLISECONDS" >run && cat run
 *
 * The benchmark repeats an operation of SIZE bytes, DEPTH of them at a time. The
 * warm-up takes a fifth of the given time and counts for nothing. The measured time
 * ends with the last operation, so that operations which end in bursts count correctly.
 * On user-mode Linux with one CPU, only time on the host's CPU counts, so the host's
 * other load hardly matters.
 *
 * Process context, but for bench_done(), which runs in any.
 */
#ifndef RPCRDMA2_BENCH_H
#define RPCRDMA2_BENCH_H

#include <linux/completion.h>
#include <linux/ktime.h>
#include <linux/types.h>

#define BENCH_MAX_DEPTH		4096

/**
 * struct bench_job - a job and its figures
 * @what: name of the operation
 * @size: bytes of an operation's payload
 * @depth: operations at a time
 * @ms: duration of the measurement, in milliseconds
 * @until: no operation starts after this time
 * @under_way: operations that have not ended
 * @error: errno of an operation that failed; no operation starts after it
 * @over: completed when no operation is under way
 * @nr: operations since the start of the warm-up or of the measurement
 * @warm: operations of the warm-up
 * @wall: duration of all operations, in ns
 * @ns: the same, less the time that a guest's host took, in ns
 * @cpu: time in which CPUs were not idle, in ns
 * @latency: durations of the first operations, in ns
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
 * @prepare: get ready for a job
 * @start: start @depth operations of the job
 * @finish: undo @prepare, and check what the operations did
 *
 * Each operation calls bench_done() when it ends, and starts again if that returns
 * true.
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
