// SPDX-License-Identifier: GPL-2.0
/*
 * A cache of pages for the arguments of Calls, per CPU.
 *
 * A server thread has pages for the largest Call, and gets other pages after each Call. Without
 * this cache, RDMA Reads would cycle through the pages of all threads, which are megabytes. The
 * cache hands out the page that came back last, which is likely in the CPU's caches. A thread
 * that has used the pages of a Call exchanges them for colder ones.
 *
 * Each CPU owns its pages and uses them with preemption disabled, in process context only. A
 * CPU gives its pages back when memory is short, and when it goes offline.
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
 * struct kept - the pages that a CPU keeps
 * @n: number of pages; only this CPU changes it, with preemption disabled
 * @drain: work that frees the pages
 * @pages: a stack of pages; the last one is on top
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
 * rpcrdma2_pages_take - get pages that this CPU keeps
 * @pages: gets the pages
 * @n: number of pages wanted
 *
 * Context: process.
 *
 * Return: number of pages, at most @n
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
 * rpcrdma2_pages_get - get pages that this CPU keeps, and new ones for the rest
 * @pages: gets the pages
 * @n: number of pages wanted
 *
 * Context: process. Does not wait long for memory.
 *
 * Return: 0; or -ENOMEM, and there are no pages in @pages
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
 * @pages: the pages; the entries are invalid on return
 * @n: number of pages
 *
 * This CPU keeps pages that are private while it has room. Others lose a reference.
 *
 * Context: process.
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
 * rpcrdma2_pages_exchange - exchange private pages for some that this CPU keeps
 * @pages: the pages; an entry may be NULL, and stays so
 * @n: number of entries
 *
 * Entries stay as they are if the CPU keeps too few pages.
 *
 * Context: process.
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
 * rpcrdma2_pages_fill - fill empty places with pages that this CPU keeps
 * @pages: the places; an empty one is NULL. The last empty place is filled first
 * @n: number of places
 *
 * Places stay empty if the CPU keeps too few pages.
 *
 * Context: process.
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
 * rpcrdma2_pages_kept - count the pages that all CPUs keep
 *
 * Context: any. The count is not exact while CPUs use their pages.
 *
 * Return: number of pages
 */
unsigned long rpcrdma2_pages_kept(void)
{
	unsigned long n = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		n += READ_ONCE(per_cpu_ptr(kept, cpu)->n);
	return n;
}

/* Runs on the CPU that keeps the pages. Stop after as many as it can keep: Calls may add more. */
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

/* Each CPU frees its own pages a little later, so count what it has now. */
static unsigned long pages_shrink_scan(struct shrinker *unused,
				       struct shrink_control *sc)
{
	unsigned long n = 0;
	struct kept *k;
	int cpu;

	for_each_online_cpu(cpu) {
		k = per_cpu_ptr(kept, cpu);
		if (READ_ONCE(k->n) && schedule_work_on(cpu, &k->drain))
			n += READ_ONCE(k->n);
	}
	return n ?: SHRINK_STOP;
}

/* The CPU is offline: another CPU frees its pages. */
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
 * rpcrdma2_show_pages - write how many pages all CPUs keep
 * @seq: where to write
 *
 * Context: process.
 */
void rpcrdma2_show_pages(struct seq_file *seq)
{
	rpcrdma2_show(seq, "kept_pages", "%lu", rpcrdma2_pages_kept());
}

/**
 * rpcrdma2_pages_init - prepare the cache
 *
 * Context: process, sleeps.
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
 * rpcrdma2_pages_exit - free all pages that CPUs keep; no Call is left
 *
 * Context: process, sleeps.
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
