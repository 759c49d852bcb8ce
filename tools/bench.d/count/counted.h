/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Comes first in each file of a module, and has it count its lock acquisitions and its
 * atomic read-modify-writes: those in its own text, and in what is inlined there. What
 * functions of the kernel do that it calls is not counted, and the same for each module.
 */
#ifndef _COUNTED_H
#define _COUNTED_H

extern unsigned long counted_locks, counted_atomics;

/*
 * All that <linux/atomic.h> has goes by this, and test_and_set_bit(). So does, in some
 * kernels, where a try_cmpxchg() finds what it expects, which is no atomic.
 */
#define instrument_atomic_read_write uncounted_read_write
#include <linux/instrumented.h>
#undef instrument_atomic_read_write
#define instrument_atomic_read_write(v, size) \
	((void)(v), (void)(size), \
	 (void)(counted_atomics += !!__builtin_strcmp(#v, "old")))

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>

/* And by this, in some kernels, xchg() and cmpxchg(), which are macros; no others are. */
#define instrument_atomic_write(v, size) \
	((void)(v), (void)(size), \
	 (void)(counted_atomics += !!__builtin_strcmp(#v, "__ai_oldp")))

#define set_bit(n, p) \
	({ counted_atomics++; (set_bit)(n, p); })
#define clear_bit(n, p) \
	({ counted_atomics++; (clear_bit)(n, p); })
/* One each, whether the kernel has it as a function, or inline and so counted above */
#define counted_once(call) \
	({ unsigned long before = counted_atomics; typeof(call) result = call; \
	   counted_atomics = before + 1; result; })
#define llist_add_batch(first, last, head) \
	counted_once((llist_add_batch)(first, last, head))
#define llist_add(node, head) \
	counted_once((llist_add)(node, head))
#define llist_del_first(head) \
	counted_once((llist_del_first)(head))
#define llist_del_all(head) \
	counted_once((llist_del_all)(head))
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
