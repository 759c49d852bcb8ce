// SPDX-License-Identifier: GPL-2.0
/*
 * Pages for the arguments of Calls: those that one Call is done with are the next
 * one's, as long as they are in the CPU's caches.
 *
 * A server's thread has pages for a Call of the largest size, and after each Call it
 * gets others for those that it gave away. So what is read to would go round through
 * all the pages of all threads, megabytes more than are in use at a time. Each CPU
 * keeps some instead, and gives out last what it got first. A thread that is done with
 * a Call's pages has others in exchange.
 *
 * A CPU gives its pages back when memory is short, and when it goes offline.
 */
#include <linux/cpuhotplug.h>
#include <linux/pagemap.h>
#include <linux/percpu.h>
#include <linux/sizes.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "responder.h"

#define KEPT_PAGES	(SZ_1M >> PAGE_SHIFT)
#define DRAIN_BATCH	16

/**
 * struct kept - what a CPU keeps
 * @n: how many pages; only this CPU changes it, and only without preemption
 * @drain: gives them back
 * @pages: the pages, the last one on top
 */
struct kept {
	unsigned int		n;
	struct work_struct	drain;
	struct page		*pages[KEPT_PAGES];
};

static struct kept __percpu *kept;
static struct shrinker *shrinker;
static int cpu_state;

/**
 * rpcrdma2_pages_take - get pages that were given back
 * @pages: where they go
 * @n: how many are wanted
 *
 * Process context.
 *
 * Return: how many there are
 */
unsigned int rpcrdma2_pages_take(struct page **pages, unsigned int n)
{
	struct kept *k = get_cpu_ptr(kept);
	unsigned int i;

	n = min(n, k->n);
	for (i = 0; i < n; i++)
		pages[i] = k->pages[--k->n];
	put_cpu_ptr(kept);
	return n;
}

/**
 * rpcrdma2_pages_get - get pages: those that were given back, and new ones
 * @pages: where they go
 * @n: how many
 *
 * Process context; does not wait long for memory.
 *
 * Return: 0, or -ENOMEM and there are none
 */
int rpcrdma2_pages_get(struct page **pages, unsigned int n)
{
	unsigned int i = rpcrdma2_pages_take(pages, n);

	for (; i < n; i++) {
		pages[i] = alloc_page(RPCRDMA2_GFP_ONCE);
		if (!pages[i]) {
			rpcrdma2_pages_give(pages, i);
			return -ENOMEM;
		}
	}
	return 0;
}

/**
 * rpcrdma2_pages_give - give pages back
 * @pages: the pages, whose entries are of no use afterwards
 * @n: how many
 *
 * Process context.
 */
void rpcrdma2_pages_give(struct page **pages, unsigned int n)
{
	struct kept *k = get_cpu_ptr(kept);
	unsigned int i, others = 0;

	for (i = 0; i < n; i++) {
		if (k->n < KEPT_PAGES && rpcrdma2_page_is_private(pages[i]))
			k->pages[k->n++] = pages[i];
		else
			pages[others++] = pages[i];
	}
	put_cpu_ptr(kept);
	if (others)
		release_pages(pages, others);
}

/**
 * rpcrdma2_pages_exchange - give pages back, and get others in their place
 * @pages: the pages, or NULL, which remains
 * @n: how many
 *
 * Process context. Some may remain what they are.
 */
void rpcrdma2_pages_exchange(struct page **pages, unsigned int n)
{
	struct kept *k = get_cpu_ptr(kept);
	unsigned int i, last = k->n;

	for (i = 0; i < min(n, k->n); i++) {
		last--;
		if (pages[i] && rpcrdma2_page_is_private(pages[i]))
			swap(pages[i], k->pages[last]);
	}
	put_cpu_ptr(kept);
}

/**
 * rpcrdma2_pages_fill - put pages that were given back where some are missing
 * @pages: NULL where one is; some may remain so, those at the start
 * @n: how many places there are
 *
 * Process context.
 */
void rpcrdma2_pages_fill(struct page **pages, unsigned int n)
{
	struct kept *k = get_cpu_ptr(kept);

	while (n-- && k->n)
		if (!pages[n])
			pages[n] = k->pages[--k->n];
	put_cpu_ptr(kept);
}

/**
 * rpcrdma2_pages_kept - how many pages are kept?
 *
 * Any context.
 *
 * Return: how many, by all CPUs
 */
unsigned long rpcrdma2_pages_kept(void)
{
	unsigned long n = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		n += READ_ONCE(per_cpu_ptr(kept, cpu)->n);
	return n;
}

/* Of the CPU that this runs on. Calls may add some meanwhile: those stay. */
static void pages_drain(struct work_struct *work)
{
	struct page *pages[DRAIN_BATCH];
	unsigned int n, left = KEPT_PAGES;

	while (left && (n = rpcrdma2_pages_take(pages, DRAIN_BATCH))) {
		release_pages(pages, n);
		left -= min(left, n);
	}
}

static unsigned long pages_shrink_count(struct shrinker *unused,
					struct shrink_control *sc)
{
	return rpcrdma2_pages_kept() ?: SHRINK_EMPTY;
}

/* Each CPU gives back its own, soon. */
static unsigned long pages_shrink_scan(struct shrinker *unused,
				       struct shrink_control *sc)
{
	unsigned long n = 0;
	struct kept *k;
	int cpu;

	for_each_online_cpu(cpu) {
		k = per_cpu_ptr(kept, cpu);
		if (READ_ONCE(k->n) && queue_work_on(cpu, system_wq, &k->drain))
			n += READ_ONCE(k->n);
	}
	return n ?: SHRINK_STOP;
}

/* The CPU is offline, and another one does this. */
static int pages_cpu_dead(unsigned int cpu)
{
	struct kept *k = per_cpu_ptr(kept, cpu);

	if (k->n)
		release_pages(k->pages, k->n);
	k->n = 0;
	return 0;
}

static int pages_shrinker_init(void)
{
	static const char name[] = "rpcrdma2-pages";

	shrinker = rpcrdma2_shrinker_alloc(name);
	if (!shrinker)
		return -ENOMEM;
	shrinker->count_objects = pages_shrink_count;
	shrinker->scan_objects = pages_shrink_scan;
	return rpcrdma2_shrinker_register(shrinker, name);
}

/**
 * rpcrdma2_show_pages - write how many pages are kept
 * @seq: where to
 */
void rpcrdma2_show_pages(struct seq_file *seq)
{
	rpcrdma2_show(seq, "kept_pages", "%lu", rpcrdma2_pages_kept());
}

/**
 * rpcrdma2_pages_init - no CPU keeps any page yet
 *
 * Return: 0 or negative errno
 */
int rpcrdma2_pages_init(void)
{
	int cpu, rc;

	kept = alloc_percpu(struct kept);
	if (!kept)
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		INIT_WORK(&per_cpu_ptr(kept, cpu)->drain, pages_drain);
	cpu_state = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN,
					      "rpcrdma2/pages:dead", NULL,
					      pages_cpu_dead);
	if (cpu_state < 0) {
		rc = cpu_state;
		goto out_free;
	}
	rc = pages_shrinker_init();
	if (!rc)
		return 0;
	cpuhp_remove_state_nocalls(cpu_state);
out_free:
	free_percpu(kept);
	return rc;
}

/**
 * rpcrdma2_pages_exit - free what CPUs keep; there are no Calls any more
 */
void rpcrdma2_pages_exit(void)
{
	int cpu;

	rpcrdma2_shrinker_free(shrinker);
	cpuhp_remove_state_nocalls(cpu_state);
	for_each_possible_cpu(cpu) {
		cancel_work_sync(&per_cpu_ptr(kept, cpu)->drain);
		pages_cpu_dead(cpu);
	}
	free_percpu(kept);
}
