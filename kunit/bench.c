// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a benchmark's jobs and computes the figures. bench.h says what a job is.
 *
 * Owns the one job that a benchmark can run at a time, and its text; bench_lock
 * protects both.
 */
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/kernel_stat.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sort.h>
#include <linux/tick.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include "bench.h"

#define BENCH_SAMPLES		200000U

static const struct bench *bench;
static struct dentry *bench_dir;
static DEFINE_MUTEX(bench_lock);
static struct bench_job bench_job;
static char bench_figures[256];

/**
 * struct bench_time - a point in time, or the time between two points
 * @wall: ns by the clock
 * @idle: ns that all CPUs were idle, added up
 * @cpu: ns that all CPUs were not idle, added up
 */
struct bench_time {
	u64	wall;
	u64	idle;
	u64	cpu;
};

static u64 bench_idle_ns(void)
{
	u64 us = 0;
	int cpu;

	for_each_online_cpu(cpu) {
		us += get_cpu_idle_time_us(cpu, NULL);
		us += get_cpu_iowait_time_us(cpu, NULL);
	}
	return us * NSEC_PER_USEC;
}

#ifdef CONFIG_UML
/*
 * User-mode Linux is a process of its host, and only the host knows how long that
 * process ran. So make the host's system call clock_gettime(CLOCK_PROCESS_CPUTIME_ID)
 * directly.
 */
static u64 bench_cpu_ns(const struct bench_time *t)
{
	struct __kernel_timespec ts = { };
	long ret = 228;

	asm volatile("syscall" : "+a" (ret) : "D" (2L), "S" (&ts)
		     : "rcx", "r11", "memory");
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}
#else
static u64 bench_cpu_ns(const struct bench_time *t)
{
	return t->wall * num_online_cpus() - t->idle;
}
#endif

static void bench_now(struct bench_time *t)
{
	t->wall = ktime_get_ns();
	t->idle = bench_idle_ns();
	t->cpu = bench_cpu_ns(t);
}

/* Set @t to the time since @begin. */
static void bench_since(const struct bench_time *begin, struct bench_time *t)
{
	bench_now(t);
	t->wall -= begin->wall;
	t->idle -= begin->idle;
	t->cpu -= begin->cpu;
}

/*
 * Leave out the time that the host of user-mode Linux gave to others. With several
 * CPUs, the sum of their times does not tell how long the operations took.
 */
static u64 bench_undisturbed(const struct bench_time *t)
{
	if (IS_ENABLED(CONFIG_UML) && num_online_cpus() == 1)
		return t->cpu + t->idle;
	return t->wall;
}

/**
 * bench_done - count an operation that has ended
 * @job: its job
 * @started: its start, from ktime_get_ns()
 * @status: 0 or a negative errno
 *
 * Context: any.
 *
 * Return: true if the caller starts the operation again; false if the caller must not
 *	touch @job any more.
 */
bool bench_done(struct bench_job *job, u64 started, int status)
{
	u64 now = ktime_get_ns();
	unsigned int nr;

	if (status) {
		WRITE_ONCE(job->error, status);
	} else {
		nr = atomic_inc_return(&job->nr) - 1;
		if (nr < BENCH_SAMPLES)
			job->latency[nr] = min_t(u64, now - started, U32_MAX);
	}
	if (now < job->until && !READ_ONCE(job->error))
		return true;
	if (atomic_dec_and_test(&job->under_way))
		complete(&job->over);
	return false;
}

static void bench_measure(struct bench_job *job, u64 ms)
{
	struct bench_time begin, t;

	job->error = 0;
	atomic_set(&job->nr, 0);
	atomic_set(&job->under_way, job->depth);
	init_completion(&job->over);

	bench_now(&begin);
	job->until = begin.wall + ms * NSEC_PER_MSEC;
	bench->start(job);
	wait_for_completion(&job->over);
	bench_since(&begin, &t);
	job->wall = t.wall;
	job->ns = bench_undisturbed(&t);
	job->cpu = t.cpu;
}

static int bench_compare(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

/* The sample that @percent of all @n samples do not exceed; the samples are sorted. */
static u32 bench_percentile(const struct bench_job *job, unsigned int n,
			    unsigned int percent)
{
	return job->latency[(n - 1) * percent / 100];
}

static void bench_write_figures(struct bench_job *job)
{
	unsigned int nr = atomic_read(&job->nr);
	unsigned int samples = min(nr, BENCH_SAMPLES);

	sort(job->latency, samples, sizeof(*job->latency), bench_compare, NULL);
	snprintf(bench_figures, sizeof(bench_figures),
		 "what=%s size=%u depth=%u ops=%u warm=%u wall=%llu ns=%llu cpu=%llu p50=%u p99=%u\n",
		 job->what, job->size, job->depth, nr, job->warm, job->wall,
		 job->ns, job->cpu, bench_percentile(job, samples, 50),
		 bench_percentile(job, samples, 99));
}

static int bench_run(struct bench_job *job)
{
	int ret, finished;

	job->latency = vmalloc_array(BENCH_SAMPLES, sizeof(*job->latency));
	if (!job->latency)
		return -ENOMEM;
	ret = bench->prepare(job);
	if (ret)
		goto out_free;
	bench_measure(job, job->ms / 5);
	ret = job->error;
	if (!ret) {
		job->warm = atomic_read(&job->nr);
		bench_measure(job, job->ms);
		ret = job->error;
	}
	finished = bench->finish(job);
	if (!ret)
		ret = finished;
	if (!ret)
		bench_write_figures(job);
out_free:
	vfree(job->latency);
	return ret;
}

static ssize_t bench_write(struct file *file, const char __user *buf,
			   size_t len, loff_t *pos)
{
	struct bench_job *job = &bench_job;
	char line[64] = "";
	int ret;

	if (len >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, buf, len))
		return -EFAULT;

	mutex_lock(&bench_lock);
	*bench_figures = '\0';
	memset(job, 0, sizeof(*job));
	ret = -EINVAL;
	if (sscanf(line, "%15s %u %u %u", job->what, &job->size, &job->depth,
		   &job->ms) == 4 &&
	    job->depth && job->depth <= BENCH_MAX_DEPTH)
		ret = bench_run(job);
	mutex_unlock(&bench_lock);
	return ret ?: len;
}

static ssize_t bench_read(struct file *file, char __user *buf, size_t len,
			  loff_t *pos)
{
	ssize_t ret;

	mutex_lock(&bench_lock);
	ret = simple_read_from_buffer(buf, len, pos, bench_figures,
				      strlen(bench_figures));
	mutex_unlock(&bench_lock);
	return ret;
}

static const struct file_operations bench_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.read	= bench_read,
	.write	= bench_write,
};

/*
 * CPU time for work that is not a job: a test reads the file before and after the work,
 * and subtracts.
 */
static int bench_clock_get(void *data, u64 *ns)
{
	struct bench_time t;

	bench_now(&t);
	*ns = t.cpu;
	return 0;
}

DEFINE_DEBUGFS_ATTRIBUTE(bench_clock_fops, bench_clock_get, NULL, "%llu\n");

/**
 * bench_register - create a benchmark's files in debugfs
 * @name: name of the directory
 * @b: the benchmark
 *
 * Context: process, may sleep.
 *
 * Return: 0 or a negative errno.
 */
int bench_register(const char *name, const struct bench *b)
{
	bench = b;
	bench_dir = debugfs_create_dir(name, NULL);
	if (IS_ERR(bench_dir))
		return PTR_ERR(bench_dir);
	debugfs_create_file("run", 0600, bench_dir, NULL, &bench_fops);
	debugfs_create_file_unsafe("clock", 0400, bench_dir, NULL, &bench_clock_fops);
	return 0;
}

/**
 * bench_unregister - remove a benchmark's files
 *
 * Context: process, may sleep.
 */
void bench_unregister(void)
{
	debugfs_remove_recursive(bench_dir);
}
