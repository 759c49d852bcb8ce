// SPDX-License-Identifier: GPL-2.0
/*
 * The counts of modules that were built with counted.h, as module parameters. A
 * benchmark reads them, and sets them to 0.
 *
 * The counts are not atomic, so they hold on one CPU only, and not in interrupts.
 */
#include <linux/module.h>

unsigned long counted_locks;
EXPORT_SYMBOL(counted_locks);
module_param_named(locks, counted_locks, ulong, 0644);
MODULE_PARM_DESC(locks, "Lock acquisitions");

unsigned long counted_atomics;
EXPORT_SYMBOL(counted_atomics);
module_param_named(atomics, counted_atomics, ulong, 0644);
MODULE_PARM_DESC(atomics, "Atomic read-modify-writes");

MODULE_DESCRIPTION("Counts of locks and atomics");
MODULE_LICENSE("GPL");
