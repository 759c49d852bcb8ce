# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What guest scripts that use NFS start with.

# shellcheck source=tools/lab/guest/lib.sh
. "${LAB_LIB:?run this in a guest, by tools/lab/lab}"

SKIPPED=77
TRACING=/sys/kernel/tracing

# skip REASON... - end the script: what it tests can't be tested here.
skip() {
	echo "SKIP: $*"
	exit $SKIPPED
}

# must COMMAND... - or the test has failed.
must() { "$@" || lab_fail "status $?: $*"; }

### Server and module

# The module under test, or rpcrdma: the kernel's own
TRANSPORT=rpcrdma2

# load_transport - with the module parameters in $PARAMETERS, separated by blanks or ":".
# shellcheck disable=SC2086 # several parameters, or none
load_transport() {
	local parameters=${PARAMETERS:-}

	if [ "$TRANSPORT" = rpcrdma ]; then
		must modprobe rpcrdma
	else
		must lab_insmod "$TRANSPORT" ${parameters//:/ }
	fi
}

# nfs_serve [EXPORT] - a server that takes I/O of 1 MiB and makes nobody wait
# for a grace period. (The end of one that is over is "busy".)
nfs_serve() {
	[ -e /proc/fs/nfsd/threads ] || must mount -t nfsd nfsd /proc/fs/nfsd
	echo 1048576 >/proc/fs/nfsd/max_block_size
	must lab_nfs_server "${1:-tmpfs}"
	echo Y 2>/dev/null >/proc/fs/nfsd/v4_end_grace
}

# nfs_serve_at_address - a server that listens at $LAB_SERVER and nowhere else
nfs_serve_at_address() {
	must mkdir -p "$LAB_EXPORT"
	must lab_make_export tmpfs
	must mount -t nfsd nfsd /proc/fs/nfsd
	must lab_nfs_daemons
	must exportfs -o rw,no_root_squash,insecure,fsid=0 "*:$LAB_EXPORT"
	must rpc.mountd -N 2
	echo 10 >/proc/fs/nfsd/nfsv4leasetime
	echo 10 >/proc/fs/nfsd/nfsv4gracetime
	"$LAB_TREE/tests/listen.py" rdma "$LAB_SERVER" 20049 ||
		skip "this nfsd can't listen at an address"
	echo 8 >/proc/fs/nfsd/threads
}

# nfs_start PROVIDER [EXPORT] - device, module, server.
nfs_start() {
	must lab_rdma_up "$1"
	load_transport
	nfs_serve "${2:-tmpfs}"
}

# nfs_stop - undo nfs_start; that the module can go says that nothing is held, and the
# kernel's own counts, where it has them, that nothing is mapped.
nfs_stop() {
	must rpc.nfsd 0
	must nfs_unload
	must rdma link delete r0
	nothing_is_mapped
}

### DMA

# count_dma - the mappings that the kernel knows of, where it checks them, to $mapped, and the
# slots of bounce buffers that are in use to $bounced
count_dma() {
	local checks=/sys/kernel/debug/dma-api all free

	mapped=0 bounced=0
	if [ -e $checks ]; then
		read -r all <$checks/nr_total_entries
		read -r free <$checks/num_free_entries
		mapped=$((all - free))
	fi
	read -r bounced 2>/dev/null </sys/kernel/debug/swiotlb/io_tlb_used || true
}

# dma_now_is_none - what is mapped now, by what was there before the test, does not count.
dma_now_is_none() {
	count_dma
	unmapped=$mapped unbounced=$bounced
}

dma_now_is_none

nothing_is_mapped() {
	lab_until 10 is_unmapped || lab_fail "$mapped mappings, before $unmapped;" \
		"$bounced bounce buffers in use, before $unbounced"
}

is_unmapped() {
	count_dma
	[ "$mapped" -le "$unmapped" ] && [ "$bounced" -le "$unbounced" ]
}

# dma_is_seen - DMA goes through bounce buffers or an IOMMU, if this guest is to have it so,
# and the kernel has counted it, if it checks it. With a mount, over mimic
dma_is_seen() {
	local group=/sys/class/infiniband/r0/device/iommu_group

	count_dma
	! grep -q 'intel_iommu=on' /proc/cmdline || grep -q '^DMA' $group/type ||
		lab_fail "no IOMMU translates for r0"
	[ ! -e /sys/kernel/debug/dma-api ] || [ "$mapped" -gt "$unmapped" ] ||
		lab_fail "no mapping is checked"
	! grep -q 'swiotlb=.*force' /proc/cmdline || [ "$bounced" -gt "$unbounced" ] ||
		lab_fail "no bounce buffer is in use"
}

# Transports are freed some time after their last user is gone.
nfs_unload() {
	count_end
	lab_until 30 rmmod "$TRANSPORT" 2>/dev/null || rmmod "$TRANSPORT"
}

### Two guests: the script runs in both

# pair_server [EXPORT [PROVIDER]] - what the server does, until the client is done.
pair_server() {
	nfs_start "${2:-rxe}" "${1:-tmpfs}"
	lab_signal ready
	lab_wait_end
	nfs_stop
	exit
}

# export_on_disk - On a disk that outlives the server, with what it remembers of its
# clients; to take the place of lab_make_export(), whose exports start empty.
export_on_disk() {
	local image=$LAB_SHARE/disk.img disk=/run/disk

	mkdir -p $disk || return
	if [ "$LAB_BOOT" -eq 1 ]; then
		truncate -s 512M "$image" &&
		mkfs.ext4 -q -O ea_inode "$image" &&
		mount -o loop "$image" $disk &&
		mkdir $disk/export &&
		cp -a /var/lib/nfs $disk/nfs || return
	else
		mount -o loop "$image" $disk || return
	fi
	mount --bind $disk/nfs /var/lib/nfs &&
	mount --bind $disk/export "$LAB_EXPORT"
}

# answer REQUEST... - what the server does until the client is done: what that asks for by a
# signal is a function.
answer() {
	local request

	until [ -e "$LAB_SHARE/.lab-end" ]; do
		for request; do
			lab_wait "$request" 0 2>/dev/null && "$request"
		done
		lab_nap
	done
}

# pair_client VERSION [OPTIONS] - the client's mount, once the server is up.
pair_client() {
	must lab_rdma_up rxe
	load_transport
	must lab_wait ready 120
	must lab_mount "$@"
}

# silence - nothing that this guest sends arrives, until end_silence.
silence() { must tc qdisc add dev "$LAB_NETDEV" root netem loss 100%; }
end_silence() { must tc qdisc del dev "$LAB_NETDEV" root; }

# pair_client_stop - undo pair_client.
pair_client_stop() {
	must umount "$LAB_MOUNT"
	must nfs_unload
}

# true_within SECONDS COMMAND... - wait for what makes COMMAND true, until so long after $SECONDS
# was 0: by the clock, but a look takes no more than 0.3 s of it. One that took longer says
# that this guest got no CPU, and the other one hardly had more.
true_within() {
	local left=$((($1 - SECONDS) * 1000000)) before now
	shift

	before=${EPOCHREALTIME//[^0-9]/}
	until "$@"; do
		[ $left -gt 0 ] || return 1
		lab_nap
		now=${EPOCHREALTIME//[^0-9]/}
		left=$((left - (now - before < 300000 ? now - before : 300000)))
		before=$now
	done
}

# until_passed START SECONDS - since then, by the clock; START is a time of date +%s.
until_passed() {
	while (($(date +%s) < $1 + $2)); do
		lab_nap
	done
}

### Work

# work WORKLOAD [NAME [MOUNT]] - on the mount, and seen from the server if that
# is in this guest.
work() {
	local name=${2:-$1} server=''

	[ "$LAB_ROLE" = client ] || server=$LAB_EXPORT/$name
	must "$LAB_TREE/tests/workload.py" "$1" "${3:-$LAB_MOUNT}/$name" "$server"
}

# load_start - work on the mount in the background, whatever happens to it,
# until load_stop.
load_start() {
	echo 0 >/run/load.rounds
	rm -f "$LAB_MOUNT/load/stop"
	"$LAB_TREE/tests/workload.py" load "$LAB_MOUNT/load" &
	load=$!
	must load_advances 60
}

# load_advances SECONDS - wait for some rounds more.
load_advances() { lab_until "$1" load_is_at $(($(cat /run/load.rounds) + 5)); }

load_is_at() { [ "$(cat /run/load.rounds)" -ge "$1" ]; }

# load_stop - end it; it fails if it met an error, or what was written is lost.
load_stop() {
	touch "$LAB_MOUNT/load/stop"
	must wait "$load"
}

# replug PROVIDER SECONDS - the device goes under load, and comes back after so long; and so
# does the mount.
replug() {
	must timeout 60 rdma link delete r0
	sleep "$2"
	must lab_rdma_up "$1"
	load_advances 90 || lab_fail "the mount did not come back"
}

### Addresses

# go_to ADDRESS FORMER - have what goes to one address of a server go to another. It may not
# take longer than until the end of an attempt to connect.
go_to() {
	local files file

	files=$(grep -lx "$2" /sys/kernel/sunrpc/xprt-switches/*/xprt-*/dstaddr) || return
	for file in $files; do
		timeout 10 sh -c "echo $1 >$file" || return
	done
}

### Statistics

CONNECTIONS=/sys/kernel/debug/rpcrdma2

# connection_of client|server - the file of that end's connection, or of several
connection_of() { grep -l "^role: *$1\$" $CONNECTIONS/[0-9]* 2>/dev/null; }

# sum ROLE NAME - of what that end's connections say
sum() {
	# shellcheck disable=SC2046 # several files
	awk -v name="$2:" '$1 == name { n += $2 } END { print n + 0 }' \
		$(connection_of "$1")
}

# no_rnr [WHEN] - no message found no Receive, by the devices' own count: on iWARP, where
# there is none, it would have cost the connection.
no_rnr() {
	local counter

	for counter in /sys/class/infiniband/*/ports/1/hw_counters/*_rnr_err; do
		[ ! -e "$counter" ] || [ "$(cat "$counter")" -eq 0 ] ||
			lab_fail "$counter: $(cat "$counter") $*"
	done
}

### What connections cost

# memory - what is free, vmalloc's and slab's, in KiB, and how many registrations there
# are. What was freed asynchronously is free after some seconds. A CPU's own list has
# some MiB of free pages ("count"), which are not in MemFree.
memory() {
	sleep 3
	echo 3 >/proc/sys/vm/drop_caches
	memory_now
	resources mr
}

memory_now() {
	awk -v page="$(($(getconf PAGE_SIZE) / 1024))" '
	$1 == "count:" { kib["MemFree:"] += $2 * page }
	/kB$/ { kib[$1] += $2 }
	END { print kib["MemFree:"], kib["VmallocUsed:"], kib["Slab:"] }' \
		/proc/zoneinfo /proc/meminfo
}

# least_during COMMAND... - when the least was free meanwhile, what memory() says, to $least
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
	# shellcheck disable=SC2034 # used by those who source this
	least=$(cat /run/least; resources mr)
}

# resources KIND - how many of them the device has
resources() { rdma resource show r0 | sed -n "s/.* $1 \([0-9]*\) .*/\1/p"; }

# each N BEFORE AFTER - KiB for each of N connections: all, in vmalloc's memory, in
# slab's; and registrations. Where a device has its Queues is its own matter; rxe has
# nothing else in vmalloc's.
each() {
	awk -v n="$1" -v before="$2" -v after="$3" '
	BEGIN {
		split(before, b)
		split(after, a)
		printf "kib=%d queues=%d slab=%d mrs=%.1f\n", (b[1] - a[1]) / n,
			(a[2] - b[2]) / n, (a[3] - b[3]) / n, (a[4] - b[4]) / n
	}'
}

### Clients with an address each

# The port of a device has no more addresses of use than these, as an index of one is an octet.
ADDRESSES=250

# strangers_add DEVICE CLIENTS - addresses of this machine, from 10.77.1.0 on, and devices for
# them. Who connects to one of them does so from that address.
strangers_add() {
	local i

	for ((i = 0; i < $2; i++)); do
		[ $((i % ADDRESSES)) -ne 0 ] ||
			echo "link add strange$((i / ADDRESSES)) up type dummy"
		echo "address add 10.77.$((i / 256 + 1)).$((i % 256))/32" \
			"dev strange$((i / ADDRESSES))"
	done >/run/strangers
	must ip -batch /run/strangers
	for ((i = 0; i * ADDRESSES < $2; i++)); do
		must rdma link add "s$i" type "${1%%:*}" netdev "strange$i"
	done
}

# strangers_remove CLIENTS
strangers_remove() {
	local i

	for ((i = 0; i * ADDRESSES < $1; i++)); do
		must rdma link delete "s$i"
		must ip link delete "strange$i"
	done
}

### Errors that are injected

# The code of the RDMA2_ERROR that answers the next Call with chunks
INJECT=$CONNECTIONS/inject_error

can_inject() { [ -e $INJECT ]; }

### Allocations that fail

SLAB=/sys/kernel/debug/failslab
PAGES=/sys/kernel/debug/fail_page_alloc
# shellcheck disable=SC2034 # used by those who source this
MOST=1000000	# of failures: no limit, but they can be counted

# both NAME VALUE - of what makes slab and page allocations fail.
both() {
	must eval "echo $2 >$SLAB/$1"
	must eval "echo $2 >$PAGES/$1"
}

# rxe's create_qp is left out: if it fails, rxe stops timers that it has not set
# up.
prepare_failures() {
	[ -e $SLAB/require-start ] ||
		skip "this kernel can't make the allocations of one module fail"
	both ignore-gfp-wait N
	both verbose 0
	both stacktrace-depth 32
	echo 0 >$PAGES/min-order
	between reject "$(addresses rxe_create_qp)"
}

# addresses FUNCTION - of its start, and of its end; FUNCTION may be a regular expression,
# where kernels have different names. (An x makes an address a string.)
addresses() {
	awk -v name="^($1)\$" '
	$3 ~ name { start = "x" $1 }
	{ all["x" $1] }
	END {
		if (!start)
			exit 1
		for (address in all)
			if (address > start && (!end || address < end))
				end = address
		print "0" start, "0" end
	}' /proc/kallsyms || lab_fail "no function $1"
}

module_addresses() {
	local size start

	read -r size start <<<"$(awk '$1 == "rpcrdma2" { print $2, $6 }' /proc/modules)"
	echo "$start $((start + size))"
}

# A packet that rxe has no memory for, of whomever's code it interrupts, is another
# matter: the peer waits for it, or sees an error that costs the connection.
spare_packets() {
	local first last

	first=$(addresses rxe_completer)
	last=$(addresses 'rxe_responder|rxe_receiver')
	between reject "${first% *} ${last#* }"
}

# between require|reject "START END" - of stack traces
between() {
	both "$1-start" "${2% *}"
	both "$1-end" "${2#* }"
}

# fail_allocations PERCENT INTERVAL TIMES
fail_allocations() {
	both times "$3"
	both interval "$2"
	both probability "$1"
}

# failures TIMES - how many of them there were
failures() { echo $((2 * $1 - $(cat $SLAB/times) - $(cat $PAGES/times))); }

### Tracepoints

# count_event NAME EVENT [FILTER] - count an event from now on. In an instance
# of its own: its buffer may overflow, its counters don't.
count_event() {
	local dir=$TRACING/instances/$1

	must mkdir "$dir"
	echo 64 >"$dir/buffer_size_kb"
	[ $# -lt 3 ] || echo "$3" >"$dir/events/$2/filter" || lab_fail "filter $3"
	echo 1 >"$dir/events/$2/enable" || lab_fail "no event $2"
}

# counted NAME - how often it was.
counted() {
	cat $TRACING/instances/"$1"/per_cpu/cpu*/stats |
		awk '/^(entries|overrun):/ { n += $2 } END { print n + 0 }'
}

# last_field NAME FIELD - of the last event counted.
last_field() { sed -n "s/.* $2=\([^ ]*\).*/\1/p" $TRACING/instances/"$1"/trace | tail -n 1; }

count_end() { find $TRACING/instances -mindepth 1 -maxdepth 1 -exec rmdir {} +; }
