# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What those have in common that measure memory, in a guest.

# memory - what is free, vmalloc's and slab's, in KiB, and how many registrations there
# are. What was freed asynchronously is free after some seconds. A CPU's own list has
# some MiB of free pages ("count"), which are not in MemFree.
memory() {
	sleep 3
	echo 3 >/proc/sys/vm/drop_caches
	awk -v page="$(($(getconf PAGE_SIZE) / 1024))" '
	$1 == "count:" { kib["MemFree:"] += $2 * page }
	/kB$/ { kib[$1] += $2 }
	END { print kib["MemFree:"], kib["VmallocUsed:"], kib["Slab:"] }' \
		/proc/zoneinfo /proc/meminfo
	resources mr
}

# resources KIND - how many of them the device has
resources() { rdma resource show r0 | sed -n "s/.* $1 \([0-9]*\) .*/\1/p"; }
