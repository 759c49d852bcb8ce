# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Functions for guest scripts: . "$LAB_LIB"

LAB_EXPORT=/mnt/export
LAB_MOUNT=/mnt/client
case $LAB_ROLE in
guest)	LAB_SERVER=${LAB_SERVER:-192.168.77.1} ;;
*)	LAB_SERVER=${LAB_SERVER:-192.168.78.1} ;;
esac

lab_fail() {
	echo "FAIL: $*" >&2
	exit 1
}

# lab_nap [SECONDS] - sleep without a process. Processes are expensive in a guest, and loops that
# wait nap often. (Nobody ever writes to the FIFO.)
[ -p /run/lab-nothing ] || mkfifo /run/lab-nothing
lab_nap() { read -rt "${1:-0.1}" <>/run/lab-nothing || true; }

# lab_until SECONDS COMMAND... - repeat COMMAND until it succeeds, for about that time
lab_until() {
	local tries=$(($1 * 10))
	shift
	until "$@"; do
		[ $((tries--)) -gt 0 ] || return 1
		lab_nap 0.12
	done
}

### Modules and devices

# lab_insmod NAME [PARAMETERS...] - load a module of the project, after the modules that it needs
lab_insmod() {
	local file=$LAB_MODULES/$1.ko needed
	shift

	for needed in $(modinfo -F depends "$file" | tr , ' '); do
		[ -e "/sys/module/$needed" ] && continue
		if [ -e "$LAB_MODULES/$needed.ko" ]; then
			lab_insmod "$needed"
		else
			modprobe "$needed"
		fi || return
	done
	insmod "$file" "$@"
}

# lab_rdma_up rxe|siw|mimic[:PROFILE] [NETDEV] - make the RDMA device r0. For mimic, the device
# for tests, $MIMIC has the module's parameters.
# shellcheck disable=SC2086 # several parameters, or none
lab_rdma_up() {
	case $1 in
	mimic*)	profile=${1#mimic}; profile=${profile#:}; set -- mimic "${2:-}"
		[ -e /sys/module/mimic ] || lab_insmod mimic ${MIMIC:-} &&
		echo "${profile:-generic}" >/sys/module/mimic/parameters/profile || return ;;
	esac
	rdma link add r0 type "$1" netdev "${2:-$LAB_NETDEV}" &&
		lab_until 10 lab_rdma_is_up
}

lab_rdma_is_up() { rdma link show r0/1 | grep -q 'state ACTIVE'; }

### NFS

# lab_nfs_server [tmpfs|ext4 [THREADS]] - export $LAB_EXPORT over RDMA and TCP
#
# The transport's module must be loaded. The lease is $LAB_LEASE seconds, or 10. A restarted
# server waits that long for its clients before it takes new opens and locks, and 5 seconds for
# clients of NFSv3.
lab_nfs_server() {
	mkdir -p "$LAB_EXPORT" &&
	lab_make_export "${1:-tmpfs}" &&
	{ [ -e /proc/fs/nfsd/threads ] || mount -t nfsd nfsd /proc/fs/nfsd; } &&
	lab_nfs_daemons &&
	lab_nfs_tracking &&
	echo 5 >/proc/sys/fs/nfs/nlm_timeout &&
	echo 5 >/proc/sys/fs/nfs/nlm_grace_period &&
	exportfs -o rw,no_root_squash,insecure,fsid=0,no_subtree_check \
		"*:$LAB_EXPORT" &&
	rpc.mountd -N 2 &&
	rpc.nfsd --no-udp -G "${LAB_LEASE:-10}" -L "${LAB_LEASE:-10}" "${2:-8}" &&
	{ [ "$LAB_BOOT" -gt 1 ] || lab_end_grace; } &&
	echo "rdma 20049" >/proc/fs/nfsd/portlist
}

lab_make_export() {
	case $1 in
	tmpfs)	mount -t tmpfs -o size=80% export "$LAB_EXPORT" ;;
	ext4)	truncate -s 1G /run/export.img &&
		mkfs.ext4 -q /run/export.img &&
		mount -o loop /run/export.img "$LAB_EXPORT" ;;
	*)	lab_fail "no export on '$1'; there are: tmpfs ext4" ;;
	esac
}

# lab_nfs_daemons - start what NFSv3 needs on both ends: rpcbind to find services, statd for locks
lab_nfs_daemons() {
	rpcinfo -p >/dev/null 2>&1 || rpcbind -w || return
	lab_until 10 eval 'rpcinfo -p >/dev/null 2>&1' || return
	rpcinfo -p | grep -q status || rpc.statd --no-notify
}

# lab_nfs_tracking - start nfsdcld, which remembers NFSv4 clients, if the kernel can't do that.
# Without either, nobody can end a grace period.
lab_nfs_tracking() {
	[ ! -e /proc/fs/nfsd/nfsv4recoverydir ] && ! pgrep -x nfsdcld >/dev/null ||
		return 0
	mountpoint -q /run/rpc_pipefs ||
		mount -t rpc_pipefs pipefs /run/rpc_pipefs || return
	mkdir -p /var/lib/nfs/nfsdcld &&
	nfsdcld -p /run/rpc_pipefs
}

# It is an error to end a grace period that is over, or that never began.
lab_end_grace() {
	grep -q Y /proc/fs/nfsd/v4_end_grace || echo Y >/proc/fs/nfsd/v4_end_grace
}

# lab_mount VERSION [OPTIONS [DIRECTORY]] - mount the server's export over RDMA
lab_mount() {
	local version=$1 options=${2:+,$2} dir=${3:-$LAB_MOUNT} path=/ proto=rdma

	case $version in 3*) lab_nfs_daemons && path=$LAB_EXPORT || return ;; esac
	case $LAB_SERVER in \[*) proto=rdma6 ;; esac
	mkdir -p "$dir" &&
	mount -t nfs -o "vers=$version,proto=$proto,port=20049$options" \
		"$LAB_SERVER:$path" "$dir"
}

### Two guests

# lab_signal NAME - have lab_wait NAME return on the other guest
lab_signal() { touch "$LAB_SHARE/.lab-signal-$1"; }

# lab_wait NAME [SECONDS] - wait for a signal, and take it
lab_wait() {
	lab_until "${2:-60}" test -e "$LAB_SHARE/.lab-signal-$1" || {
		echo "no signal '$1' after ${2:-60} s" >&2
		return 1
	}
	rm "$LAB_SHARE/.lab-signal-$1"
}

# lab_wait_end - on the server, wait until the client's script has ended
lab_wait_end() {
	until [ -e "$LAB_SHARE/.lab-end" ]; do
		lab_nap
	done
}

# lab_power_off - end the other guest as a power cut would
# lab_power_on - boot it and its script again, with LAB_BOOT one higher
lab_power_off() { lab_ask_host off; }
lab_power_on() { lab_ask_host on; }

# lab_restart_server - on the client, do both
lab_restart_server() { lab_power_off && lab_power_on; }

# lab_pause - stop the other guest's machine until lab_resume
lab_pause() { lab_ask_host pause; }
lab_resume() { lab_ask_host resume; }

lab_ask_host() {
	local other=client

	[ "$LAB_ROLE" = server ] || other=server
	touch "$LAB_SHARE/.lab-ask-$1-$other"
	lab_until 30 test ! -e "$LAB_SHARE/.lab-ask-$1-$other"
}

### Checks

# lab_kmemleak - fail if memory leaked; takes long. An object has leaked if it looks unreferenced
# in two scans, and is older than five seconds.
lab_kmemleak() {
	local file=/sys/kernel/debug/kmemleak leaks

	[ -e $file ] || return 0
	sleep 6
	echo scan >$file
	sleep 1
	echo scan >$file
	leaks=$(cat $file)
	[ -z "$leaks" ] || {
		echo "$leaks"
		return 1
	}
}
