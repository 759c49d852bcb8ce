/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes a module count its lock acquisitions and its atomic read-modify-writes. Each of
 * its files must include this header first.
 *
 * The counts cover the module's own text and what is inlined there. They leave out the
 * kernel's functions that the module calls, since these are the same for each module.
 */
#ifndef _COUNTED_H
#define _COUNTED_H

extern unsigned long counted_locks, counted_atomics;

/*
 * <linux/atomic.h> and test_and_set_bit() call this function for each operation. In
 * some kernels, try_cmpxchg() also calls it for @old, which is no atomic operation.
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

/*
 * In some kernels, xchg() and cmpxchg() are macros that call this function. No other
 * atomic operations do.
 */
#define instrument_atomic_write(v, size) \
	((void)(v), (void)(size), \
	 (void)(counted_atomics += !!__builtin_strcmp(#v, "__ai_oldp")))

#define set_bit(n, p) \
	({ counted_atomics++; (set_bit)(n, p); })
#define clear_bit(n, p) \
	({ counted_atomics++; (clear_bit)(n, p); })
/*
 * Count one operation, both where the kernel has a function and where it inlines code
 * that has counted already.
 */
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
