#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# PID 1 of a guest. LAB_ENV on the kernel's command line names the file that says what to run.
# (The kernel puts such parameters into the environment.)

# If init ends, the kernel panics, which ends the guest.
set -e
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

command=()
# shellcheck source=/dev/null
. "$LAB_ENV"

# A user-mode guest starts on the host's files, read-only. Lay the kernel's files and a tmpfs
# over them, and start again from there. PID 1 shares its root with the kernel's threads, which
# run modprobe. So chroot moves these threads, too. (In a QEMU guest, the initrd has done this.)
if [ -z "${LAB_ROOT_READY:-}" ]; then
	mount -t tmpfs lab /mnt
	mkdir /mnt/kernel /mnt/upper /mnt/work /mnt/root
	mount -t hostfs -o "$LAB_KERNEL/root" kernel /mnt/kernel
	mount -t overlay -o lowerdir=/mnt/kernel:/ \
		-o upperdir=/mnt/upper,workdir=/mnt/work lab /mnt/root
	LAB_ROOT_READY=1 exec chroot /mnt/root "$0"
fi

# Use few commands: with all checks on, each one takes long. The host's daemons don't run here,
# so hide their files in /run and /var.
mount_file_systems() {
	local share="share $LAB_LOG 9p trans=virtio,version=9p2000.L"

	case $LAB_FLAVOUR in
	uml|debug) share="share $LAB_LOG hostfs $LAB_LOG" ;;
	esac
	cat >/etc/fstab <<-END
	sys /sys sysfs
	dev /dev devtmpfs
	pts /dev/pts devpts X-mount.mkdir
	shm /dev/shm tmpfs X-mount.mkdir
	debug /sys/kernel/debug debugfs
	trace /sys/kernel/tracing tracefs
	config /sys/kernel/config configfs
	run /run tmpfs
	mnt /mnt tmpfs
	nfs /var/lib/nfs tmpfs
	$share
	END
	# mount -a needs the guest's /proc to see what is mounted. Below is the host's.
	mount -t proc proc /proc
	modprobe configfs	# makes the mount point
	mount -a
}

# A single guest talks to itself over dummy0. In a pair, the server is 1 and the client is 2 on
# the network between them.
set_up_network() {
	local net=78 host=1

	case $LAB_ROLE in
	guest)	net=77
		[ -e "/sys/class/net/$LAB_NETDEV" ] ||
			modprobe dummy numdummies=1 ;;
	client)	host=2 ;;
	esac
	ip -batch - <<-END
	link set lo up
	addr add 192.168.$net.$host/24 dev $LAB_NETDEV
	addr add fd00:$net::$host/64 dev $LAB_NETDEV nodad
	link set $LAB_NETDEV mtu 9000 up
	END
}

set_up_nfs() {
	mkdir -p /run/rpc_pipefs /var/lib/nfs/{sm,sm.bak,v4recovery}
	touch /var/lib/nfs/{etab,rmtab,state}
	chown statd /var/lib/nfs/{sm,sm.bak,state}
}

# A guest that runs too long says where it hangs, and ends itself. If it can't, the host ends it.
watchdog() {
	sleep "$LAB_TIMEOUT"
	echo "lab: timeout; tasks that wait, and locks that are held:" >/dev/kmsg
	echo w >/proc/sysrq-trigger
	echo d >/proc/sysrq-trigger
	ps --ppid 2 -p 2 --deselect -o pid,ppid,stat,wchan:24,args >>"$LAB_LOG/$LAB_NAME.out"
	end timeout
}

# Keep gcov's files, which say which lines of the modules ran.
keep_coverage() {
	local gcov=/sys/kernel/debug/gcov to=$LAB_LOG/coverage/$LAB_NAME

	[ -n "$LAB_COVERAGE" ] && [ -d $gcov ] || return 0
	mkdir -p "$to"
	(cd $gcov && find . -name '*.gcda' -exec cp --parents -t "$to" {} +) || true
}

# end STATUS - tell the host, then power off. Sync only the log: other file systems may hang.
end() {
	keep_coverage
	echo "$1" >"$LAB_LOG/$LAB_NAME.status"
	sync -f "$LAB_LOG"
	echo o >/proc/sysrq-trigger
	while :; do :; done
}

# Lockdep turns itself off after its first report, and when it runs out of room.
check_lockdep() {
	[ ! -e /proc/lockdep_stats ] || grep -q 'debug_locks: *1' /proc/lockdep_stats ||
		echo "WARNING: lab: lockdep went off" >/dev/kmsg
}

# The kernel reports only the first DMA error, unless it is told otherwise.
report_dma_errors() {
	[ ! -e /sys/kernel/debug/dma-api ] ||
		echo 1000 >/sys/kernel/debug/dma-api/num_errors
}

# DMA checks turn themselves off when they have no room for more mappings.
check_dma_checks() {
	[ ! -e /sys/kernel/debug/dma-api ] || grep -q N /sys/kernel/debug/dma-api/disabled ||
		echo "WARNING: lab: DMA was not checked to the end" >/dev/kmsg
}

# Turn KCSAN on after the boot, which it would make as slow as the tests.
watch_for_races() {
	[ "$LAB_FLAVOUR" != kcsan ] || echo on >/sys/kernel/debug/kcsan
}

check_races() {
	[ "$LAB_FLAVOUR" = kcsan ] || return 0
	tr '\n' ' ' </sys/kernel/debug/kcsan >/dev/kmsg
	awk '$1 == "setup_watchpoints:" && $2 > 1000 { f = 1 } END { exit !f }' \
		/sys/kernel/debug/kcsan ||
		echo "WARNING: lab: KCSAN watched next to nothing" >/dev/kmsg
}

mount_file_systems
report_dma_errors
watch_for_races
set_up_network
set_up_nfs
echo 1 >/proc/sys/kernel/sysrq
echo "$LAB_NAME" >/proc/sys/kernel/hostname
watchdog &

cd /
echo "lab: $LAB_NAME runs ${command[*]}" >/dev/kmsg
status=0
if [ -n "$LAB_CONSOLE" ]; then
	setsid -c "${command[@]}" <>"/dev/$LAB_CONSOLE" >&0 2>&1 || status=$?
else
	"${command[@]}" </dev/null >>"$LAB_LOG/$LAB_NAME.out" 2>&1 || status=$?
fi
echo "lab: status $status" >/dev/kmsg
check_lockdep
check_dma_checks
check_races
end $status
