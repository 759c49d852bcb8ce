# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The cost of connections: memory and registrations.

# memory - print free memory, vmalloc's and slab's memory in KiB, and the number of
# registrations. The kernel frees some memory asynchronously, so this waits for 3 seconds.
memory() {
	sleep 3
	echo 3 >/proc/sys/vm/drop_caches
	memory_now
	resources mr
}

# memory_now - print free memory, vmalloc's and slab's memory, in KiB. MemFree lacks each CPU's
# list of free pages ("count"), so add these.
memory_now() {
	awk -v page="$(($(getconf PAGE_SIZE) / 1024))" '
	$1 == "count:" { kib["MemFree:"] += $2 * page }
	/kB$/ { kib[$1] += $2 }
	END { print kib["MemFree:"], kib["VmallocUsed:"], kib["Slab:"] }' \
		/proc/zoneinfo /proc/meminfo
}

# least_during COMMAND... - set $least to what memory() prints when the least memory was free
# while COMMAND ran.
least_during() {
	local sampler

	rm -f /run/enough
	while memory_now && [ ! -e /run/enough ]; do
		lab_nap 0.05
	done | sort -n | head -n 1 >/run/least &
	sampler=$!
	"$@"
	touch /run/enough
	wait $sampler
	# shellcheck disable=SC2034 # used by scripts
	least=$(cat /run/least; resources mr)
}

# resources KIND - print how many resources of this kind the device has
resources() { rdma resource show r0 | sed -n "s/.* $1 \([0-9]*\) .*/\1/p"; }

# each N BEFORE AFTER - print the cost of one of N connections. BEFORE and AFTER are the output of
# memory(). The cost is all memory, vmalloc's and slab's memory in KiB, and registrations. rxe has
# its Queues in vmalloc's memory, and nothing else there.
each() {
	awk -v n="$1" -v before="$2" -v after="$3" '
	BEGIN {
		split(before, b)
		split(after, a)
		printf "kib=%d queues=%d slab=%d mrs=%.1f\n", (b[1] - a[1]) / n,
			(a[2] - b[2]) / n, (a[3] - b[3]) / n, (a[4] - b[4]) / n
	}'
}
