/* SPDX-License-Identifier: GPL-2.0 */
/* Allocations by threads on whose progress memory reclaim may depend. */
#ifndef _RPCRDMA2_MEMALLOC_H
#define _RPCRDMA2_MEMALLOC_H

#include <linux/atomic.h>
#include <linux/sched/mm.h>

/**
 * struct rpcrdma2_memalloc - a task's allocation flags, to be restored
 * @noio: for memalloc_noio_restore()
 * @swap: the task may use memory reserves
 * @noreclaim: for memalloc_noreclaim_restore() if @swap is set
 */
struct rpcrdma2_memalloc {
	unsigned int	noio;
	bool		swap;
	unsigned int	noreclaim;
};

/**
 * rpcrdma2_memalloc_save - forbid the task allocations that wait for I/O
 * @swapper: not 0 while memory is swapped over the connection; or NULL
 *
 * Reclaim may write back, or swap out, over this very connection. So its own allocations must
 * not wait for reclaim's I/O. If memory is swapped over the connection, they may use
 * reserves.
 *
 * Context: Process.
 * Return: the task's flags, for rpcrdma2_memalloc_restore()
 */
static inline struct rpcrdma2_memalloc
rpcrdma2_memalloc_save(const atomic_t *swapper)
{
	struct rpcrdma2_memalloc saved = {
		.noio	= memalloc_noio_save(),
		.swap	= swapper && atomic_read(swapper),
	};

	if (saved.swap)
		saved.noreclaim = memalloc_noreclaim_save();
	return saved;
}

/**
 * rpcrdma2_memalloc_restore - undo rpcrdma2_memalloc_save()
 * @saved: its return value
 *
 * Context: Process.
 */
static inline void rpcrdma2_memalloc_restore(struct rpcrdma2_memalloc saved)
{
	if (saved.swap)
		memalloc_noreclaim_restore(saved.noreclaim);
	memalloc_noio_restore(saved.noio);
}

#endif /* _RPCRDMA2_MEMALLOC_H */
