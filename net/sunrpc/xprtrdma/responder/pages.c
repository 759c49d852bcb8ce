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
 */
#include <linux/pagemap.h>
#include <linux/percpu.h>
#include <linux/sizes.h>

#include "responder.h"

#define KEPT_PAGES	(SZ_1M >> PAGE_SHIFT)

/* What a CPU keeps, the last one on top */
struct kept {
	unsigned int	n;
	struct page	*pages[KEPT_PAGES];
};

static struct kept __percpu *kept;

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
 * rpcrdma2_pages_init - no CPU keeps any page yet
 *
 * Return: 0 or -ENOMEM
 */
int rpcrdma2_pages_init(void)
{
	kept = alloc_percpu(struct kept);
	return kept ? 0 : -ENOMEM;
}

/**
 * rpcrdma2_pages_exit - free what CPUs keep; there are no Calls any more
 */
void rpcrdma2_pages_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct kept *k = per_cpu_ptr(kept, cpu);

		if (k->n)
			release_pages(k->pages, k->n);
	}
	free_percpu(kept);
}
