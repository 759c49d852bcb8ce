#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: measure each transport, one after another. The results are lines of NAME=VALUE
# in $LAB_SHARE/figures-ROUND, and fio's own in fio-TRANSPORT-ROUND.json.
#
# Environment: all variables with a default below, and PARAMETERS of rpcrdma2. TRANSPORTS may
# name a transport several times, with parameters: rpcrdma2:inline_size=4096:heartbeat=0.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

: "${DEVICE:=rxe}" "${TRANSPORTS:=rpcrdma2 rpcrdma tcp}" "${PARTS:=raw echo nfs counts}"
# The number of this round; milliseconds for each figure of raw and echo
: "${ROUND:=1}" "${MS:=100}"
# Octets of an operation, and operations at once. The number of connections, for RPCs; with
# several CPUs, the numbers to try one after another
: "${SIZES:=1024 4096 8192 16384 32768 65536 262144 1048576}" "${DEPTHS:=1 16 64}"
: "${ECHO_CONNECTIONS:=1}" "${CORES_CONNECTIONS:=1 4}"
# KiB and depths of random reads and writes; seconds for each figure
: "${FIO_SIZES:=4 8 16 64}" "${FIO_DEPTHS:=1 16 64}" "${FIO_SECONDS:=1}"
# How many files to create, look up and unlink
: "${FILES:=2000}"
# Octets that dd reads or writes for a figure
: "${WORK:=16777216}"

here=$LAB_TREE/tools/bench.d
debugfs=/sys/kernel/debug
# The CPU time that the guest got; the file exists while that module is loaded
clock=$debugfs/rpcrdma2_echo_bench/clock
figures=$LAB_SHARE/figures-$ROUND

# job BENCHMARK WHAT SIZE DEPTH - measure; $line has the figures
job() {
	local run=$debugfs/rpcrdma2_$1_bench/run

	echo "$2 $3 $4 $MS" >"$run" || lab_fail "$*"
	read -r line <"$run"
}

# figure PART NAME=VALUE... - write a line of figures
figure() { echo "part=$1 round=$ROUND ${*:2}" >>"$figures"; }

# unload MODULE - wait for it: transports are freed some time after their last use
unload() {
	lab_until 30 rmmod "$1" 2>/dev/null || must rmmod "$1"
}

# transport_up VARIANT - load a transport, with the parameters in VARIANT
transport_up() {
	local PARAMETERS="${PARAMETERS:-}"

	variant=$1
	TRANSPORT=${1%%:*}
	[ "$variant" = "$TRANSPORT" ] || PARAMETERS+=" ${1#*:}"
	[ "$TRANSPORT" = tcp ] || load_transport
}

transport_down() { [ "$TRANSPORT" = tcp ] || unload "$TRANSPORT"; }

### The device by itself

# measure_op WHAT SIZE DEPTH - measure one operation of the device
measure_op() {
	job raw "$@"
	figure raw "$line"
}

# RPCs can be inline up to 16 KiB. So up to there, measure an exchange with its payload in a Send.
measure_raw() {
	local size depth op

	must lab_insmod rpcrdma2_raw_bench
	for depth in $DEPTHS; do
		measure_op exchange 0 "$depth"
		for size in $SIZES; do
			[ "$size" -gt 16384 ] || measure_op exchange "$size" "$depth"
			for op in exchange-read exchange-write send write read; do
				measure_op $op "$size" "$depth"
			done
		done
	done
	unload rpcrdma2_raw_bench
}

### RPCs

echo_up() {
	set -- connections="$ECHO_CONNECTIONS"
	[ "$TRANSPORT" != tcp ] || set -- "$@" proto=tcp
	must lab_insmod rpcrdma2_echo_bench "$@"
}

# for_each_rpc COMMAND... - run COMMAND... WHAT SIZE DEPTH for each kind of RPC
for_each_rpc() {
	local depth size

	for depth in $DEPTHS; do
		"$@" null 0 "$depth"
		for size in $SIZES; do
			"$@" call "$size" "$depth"
			"$@" reply "$size" "$depth"
		done
	done
}

# measure_rpc WHAT SIZE DEPTH - measure one kind of RPC
measure_rpc() {
	job echo "$@"
	figure echo transport="$variant" "$line"
}

measure_echo() {
	echo_up
	for_each_rpc measure_rpc
	unload rpcrdma2_echo_bench
}

### Counts for each RPC, which are the same on all machines

# snapshot - print counters. TCP has no RDMA device, so count packets of the loopback device.
snapshot() {
	local packets=/sys/class/net/lo/statistics/tx_packets verbs=''

	if [ "$TRANSPORT" != tcp ]; then
		packets=/sys/class/infiniband/r0/ports/1/hw_counters/sent_pkts
		verbs=$debugfs/rpcrdma2_verbs_count
	fi
	# mimic has no packets. Nearly every switch of threads is a wakeup.
	echo "packets=$(cat $packets 2>/dev/null || echo 0)" \
		"switches=$(sed -n 's/^ctxt //p' /proc/stat)" ${verbs:+"$(cat $verbs)"}
}

count_rpc() {
	local before

	before=$(snapshot | sed 's/[a-z_]*=/from_&/g')
	job echo "$1" "$2" "$3"
	figure counts transport="$variant" "$line" "$before" "$(snapshot)"
}

count_rpcs() {
	must lab_insmod rpcrdma2_verbs_count device=r0
	echo_up
	for_each_rpc count_rpc
	unload rpcrdma2_echo_bench
	unload rpcrdma2_verbs_count
}

### NFS

export_up() {
	must mkdir -p "$LAB_EXPORT" "$LAB_MOUNT"
	must lab_make_export tmpfs
	must mount -t nfsd nfsd /proc/fs/nfsd
	must lab_nfs_daemons
	must exportfs -o rw,no_root_squash,insecure,fsid=0,no_subtree_check \
		"*:$LAB_EXPORT"
	must rpc.mountd -N 2
	must dd if=/dev/zero of="$LAB_EXPORT/data" bs=1M count=64 status=none
	must mkdir "$LAB_EXPORT/files"
	fio_jobs >/run/jobs.fio
}

nfs_up() {
	must rpc.nfsd 0
	echo 1048576 >/proc/fs/nfsd/max_block_size
	must rpc.nfsd --no-udp -G 10 -L 10 8
	echo Y 2>/dev/null >/proc/fs/nfsd/v4_end_grace
	if [ "$TRANSPORT" = tcp ]; then
		must mount -t nfs -o vers=4.2,proto=tcp "$LAB_SERVER:/" "$LAB_MOUNT"
	else
		echo "rdma 20049" >/proc/fs/nfsd/portlist || lab_fail "no listener"
		must lab_mount 4.2
	fi
	# Wait for the end of the grace period, because fio gives up on a job that has to wait.
	must touch "$LAB_MOUNT/files/first"
	must rm "$LAB_MOUNT/files/first"
}

nfs_down() {
	must umount "$LAB_MOUNT"
	must rpc.nfsd 0
}

# fio_job RW KIB DEPTH - print the section of one job
fio_job() {
	local engine=libaio

	[ "$3" -gt 1 ] || engine=psync
	cat <<-END
	[$1-$2-$3]
	rw=$1
	bs=${2}k
	iodepth=$3
	ioengine=$engine
	exec_prerun=cat $clock
	exec_postrun=cat $clock
	stonewall
	END
}

fio_jobs() {
	local rw size depth

	cat <<-END
	[global]
	filename=$LAB_MOUNT/data
	size=64m
	direct=1
	time_based
	runtime=$FIO_SECONDS
	END
	for depth in $FIO_DEPTHS; do
		for rw in randread randwrite; do
			for size in $FIO_SIZES; do
				fio_job $rw "$size" "$depth"
			done
		done
		fio_job read 1024 "$depth"
		fio_job write 1024 "$depth"
	done
}

# For each job, fio leaves files with the output of exec_prerun and exec_postrun.
fio_clocks() {
	local begins job ns

	for begins in *.prerun.txt; do
		job=${begins%.prerun.txt}
		ns=$(($(<"$job.postrun.txt") - $(<"$begins"))) || lab_fail "no clock of $job"
		figure clock transport="$variant" job="$job" ns=$ns
	done
}

measure_fio() {
	must fio --output-format=json --output=/run/fio.json /run/jobs.fio
	cp /run/fio.json "$LAB_SHARE/fio-$variant-$ROUND.json"
	fio_clocks
}

measure_nfs() {
	must lab_insmod rpcrdma2_echo_bench threads=0 connections=0
	nfs_up
	must mkdir /run/fio
	(cd /run/fio && measure_fio) || exit
	rm -r /run/fio
	line=$("$here/files.py" "$LAB_MOUNT/files" "$FILES" $clock) || lab_fail "files.py"
	figure files transport="$variant" "$line"
	nfs_down
	unload rpcrdma2_echo_bench
}

# work WHAT SIZE COUNT DD-ARGUMENT... - measure the CPU time of COUNT operations, one at a time
#
# fio's jobs end by the clock instead.
work() {
	local begin end

	read -r begin <$clock
	must dd bs="$2" count="$3" status=none "${@:4}"
	read -r end <$clock
	figure work transport="$variant" what="$1" size="$2" depth=1 ops="$3" \
		ns=$((end - begin))
}

measure_work() {
	local data=$LAB_MOUNT/data size

	must lab_insmod rpcrdma2_echo_bench threads=0 connections=0
	nfs_up
	for size in 4096 65536 1048576; do
		work read $size $((WORK / size + 32)) if="$data" of=/dev/null iflag=direct
		work write $size $((WORK / size + 32)) if=/dev/zero of="$data" \
			oflag=direct conv=notrunc
	done
	nfs_down
	unload rpcrdma2_echo_bench
}

### Several CPUs, in a kernel with BPF

# Find contended locks. For a spinlock (flags 1), the tracepoint misses the first waiter, so a
# kprobe counts all waiters.
contention='kprobe:native_queued_spin_lock_slowpath { @[kstack(16)] = count(); }
	tracepoint:lock:contention_begin /args->flags != 1/ { @[kstack(16)] = count(); }'

# rpc_of_cores WHAT SIZE DEPTH - measure one kind of RPC, with bpftrace running meanwhile
rpc_of_cores() {
	local run=$debugfs/rpcrdma2_echo_bench/run found

	echo "echo $* $MS >$run" >/run/job
	must bpftrace -f json -o /run/contended.json -c "/bin/bash /run/job" -e "$contention"
	read -r line <"$run"
	found=$("$here/cores.py" --contended /run/contended.json) || lab_fail "no figures"
	figure cores transport="$variant" connections="$ECHO_CONNECTIONS" \
		cpus="$(nproc)" "$line" "$found"
}

measure_cores() {
	local ECHO_CONNECTIONS

	for ECHO_CONNECTIONS in $CORES_CONNECTIONS; do
		echo_up
		for_each_rpc rpc_of_cores
		unload rpcrdma2_echo_bench
	done
}

### In turns

# turns - print the transports, in each round beginning with another one
turns() {
	local all i

	read -ra all <<<"$TRANSPORTS"
	for i in "${!all[@]}"; do
		echo "${all[$(((i + ROUND) % ${#all[@]}))]}"
	done
}

measures() { [[ " $PARTS " = *" $1 "* ]]; }

measure() {
	local transport

	if measures raw; then
		measure_raw
	fi
	for transport in $(turns); do
		transport_up "$transport"
		if measures echo; then
			measure_echo
		fi
		if measures nfs; then
			measure_nfs
		fi
		if measures work; then
			measure_work
		fi
		if measures cores; then
			measure_cores
		fi
		transport_down
	done
}

: >"$figures"
must lab_rdma_up "$DEVICE"
{ measures nfs || measures work; } && export_up
measure
if measures counts && [ "$ROUND" = 1 ]; then
	for transport in $TRANSPORTS; do
		transport_up "$transport"
		count_rpcs
		transport_down
	done
fi
must rdma link delete r0
