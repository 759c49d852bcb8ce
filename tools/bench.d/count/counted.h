/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Comes first in each file of a module, and has it count its lock acquisitions and its
 * atomic read-modify-writes: those in its own text, and in what is inlined there. What
 * functions of the kernel do that it calls is not counted, and the same for each module.
 */
#ifndef _COUNTED_H
#define _COUNTED_H

extern unsigned long counted_locks, counted_atomics;

/* All that <linux/atomic.h> has goes by this, cmpxchg() and test_and_set_bit(), too. */
#define instrument_atomic_read_write uncounted_read_write
#include <linux/instrumented.h>
#undef instrument_atomic_read_write
#define instrument_atomic_read_write(v, size) \
	((void)(v), (void)(size), (void)counted_atomics++)

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>

#define set_bit(n, p) \
	({ counted_atomics++; (set_bit)(n, p); })
#define clear_bit(n, p) \
	({ counted_atomics++; (clear_bit)(n, p); })
#define spin_lock(lock) \
	({ counted_locks++; (spin_lock)(lock); })
#define spin_lock_bh(lock) \
	({ counted_locks++; (spin_lock_bh)(lock); })
#define spin_lock_irq(lock) \
	({ counted_locks++; (spin_lock_irq)(lock); })
#undef spin_lock_irqsave
#define spin_lock_irqsave(lock, flags) \
	do { counted_locks++; \
	     raw_spin_lock_irqsave(spinlock_check(lock), flags); } while (0)
#define mutex_lock(lock) \
	({ counted_locks++; (mutex_lock)(lock); })

#endif /* _COUNTED_H */
