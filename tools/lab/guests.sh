# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2153,SC2154,SC2317
#
# Starts guests, watches them, and ends them; part of lab.
#
# A guest has a name: guest, server or client, and server-2 and so on after a power cut. These
# files in $log belong to it:
#   NAME.env	what guest/init.sh is to run
#   NAME.console	the kernel's messages
#   NAME.out	the script's output
#   NAME.status	the script's status, or "timeout", after the end
#   coverage/NAME	gcov's files (LAB_COVERAGE)
# A guest can write to no other directory than $log. That has two more directories. modules/KERNEL/
# has the modules that were tested, and share/ belongs to the scripts.

declare -A pid=() born=()
declare -A kernels=()	# by version: the kernel's directory
loglevel=8
console=	# the terminal's name in a guest that has one

# parse_options - take the options of run and pair, and leave all other arguments in $operands
parse_options() {
	timeout=600 mem='' server_mem='' log='' verbose='' settings=() parameters=()
	while [[ ${1:-} = -* ]]; do
		case $1 in
		-v)	verbose=1; shift; continue ;;
		--timeout|--mem|--server-mem|--log|-e|-b) [ $# -ge 2 ] || die "$1 takes a value" ;;
		*)	die "no option $1; there are: --timeout --mem --server-mem --log -e -b -v" ;;
		esac
		case $1 in
		--timeout) timeout=$2 ;;
		--mem)	mem=$2 ;;
		--server-mem) server_mem=$2 ;;
		--log)	log=$2 ;;
		-e)	[[ $2 = *=* ]] || die "-e takes VARIABLE=VALUE, not '$2'"
			settings+=("$2") ;;
		-b)	parameters+=("$2") ;;
		esac
		shift 2
	done
	[[ $timeout =~ ^[0-9]+$ ]] || die "--timeout takes seconds, not '$timeout'"
	operands=("$@")
}

check_script() {
	[ -f "$1" ] || die "no script '$1'"
}

# prepare FLAVOUR TITLE KERNEL... - make everything that a guest needs before it starts
prepare() {
	local flavour=$1 title=$2 grace=30 KERNEL
	shift 2

	[ -n "$log" ] || log=$CACHE/logs/$(date +%Y%m%d-%H%M%S)-$flavour-$title-$$
	mkdir -p "$CACHE/logs" "$log/share"
	log=$(realpath "$log")
	rm -f "$log"/*.{env,console,out,status} "$log"/share/.lab-*
	echo $$ >"$log/running"
	for KERNEL in $(printf '%s\n' "$@" | uniq); do
		modules "$flavour"
		kernels[$KERNEL]=$kernel
		mkdir -p "$log/modules/$KERNEL"
		# Since 6.13, modules.order has relative paths.
		(cd "$build" && sed 's/\.k\?o$/.ko/' modules.order |
			xargs -r cp -t "$log/modules/$KERNEL")
		exec 9>&-
	done
	drop_old_logs "$CACHE/logs" "$KEEP_LOGS"

	trap clean_up EXIT
	trap 'exit 130' INT TERM HUP
	ulimit -c 0
	[ "$kind" = uml ] || grace=120
	# A guest ends itself in time, unless its kernel hangs. Then lab ends it.
	deadline=$((SECONDS + timeout + grace))
}

clean_up() {
	local guest

	for guest in "${!pid[@]}"; do
		kill_guest "$guest"
	done
	rm -f "$log"/{running,*.wire}
}

# memory ROLE - print the size of a guest's memory
memory() {
	[ "$1" != server ] || [ -z "$server_mem" ] || mem=$server_mem
	echo "${mem:-3G}"
}

# start NAME ROLE BOOT SCRIPT [ARGS...]
start() {
	local guest=$1 role=$2 boot=$3 netdev=dummy0 version=$KERNEL kernel command
	shift 3

	[ "$role" != server ] || version=$SERVER_KERNEL
	kernel=${kernels[$version]}
	if [ "$role" != guest ]; then
		netdev=vec0
		[ "$kind" = uml ] || netdev=eth0
	fi
	command=("$(realpath "$1")" "${@:2}")
	[ -x "$1" ] || command=(bash "${command[@]}")
	{
		declare -p command
		set_env LAB_FLAVOUR="$flavour" LAB_KERNEL="$kernel" \
			LAB_NAME="$guest" LAB_ROLE="$role" LAB_BOOT="$boot" \
			LAB_NETDEV="$netdev" LAB_TIMEOUT="$timeout" \
			LAB_TREE="$TREE" LAB_LOG="$log" \
			LAB_LIB="$LAB/guest/lib.sh" \
			LAB_MODULES="$log/modules/$version" \
			LAB_SHARE="$log/share" LAB_ARGS="${*:2}" \
			LAB_COVERAGE="${LAB_COVERAGE:-}" \
			LAB_CONSOLE="$console" "${settings[@]}"
	} >"$log/$guest.env"
	: >"$log/$guest.out"
	: >"$log/$guest.console"
	"boot_$kind" "$guest" "$role"
}

set_env() {
	local setting

	for setting; do
		printf 'export %s=%q\n' "${setting%%=*}" "${setting#*=}"
	done
}

# spawn NAME COMMAND... - run a guest in a process group of its own, because user-mode Linux
# consists of many processes
spawn() {
	local guest=$1
	shift
	if [ -n "$console" ]; then
		"$@"
		return
	fi
	setsid env -C "$log" "$@" </dev/null >>"$log/$guest.console" 2>&1 &
	pid[$guest]=$!
	disown
	birth_of $!
	born[$guest]=$birth
}

# birth_of PROCESS - set $birth to the time when a process began, in ticks; to nothing if there
# is no such process. birth_of() and pause() fork no process: lab calls them ten times a second
# for each guest.
birth_of() {
	local stat

	birth=
	{ read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 0
	# The name is in parentheses, and may contain spaces.
	read -ra stat <<<"${stat##*) }"
	birth=${stat[19]}
}

# Nobody ever writes to this descriptor.
exec {nothing}<> <(:)
pause() { read -rt 0.1 -u "$nothing" || true; }

# alive NAME - compare births: after the guest's end, another process may get its number.
alive() {
	local birth

	birth_of "${pid[$1]}"
	[ -n "$birth" ] && [ "$birth" = "${born[$1]}" ]
}

in_time() { [ "$SECONDS" -lt "$deadline" ]; }

# kill_guest NAME - kill the guest's process group. Processes of the group may outlive the first
# one. While they live, no other process gets the number of the group.
kill_guest() {
	local birth

	birth_of "${pid[$1]}"
	if [ -z "$birth" ] || [ "$birth" = "${born[$1]}" ]; then
		kill -KILL -- "-${pid[$1]}" 2>/dev/null || true
	fi
}

boot_uml() {
	local guest=$1 role=$2 cpus=${LAB_CPUS:-1} args input=null

	[ -z "$console" ] || input=fd:0
	args=(
		"mem=$(memory "$role")" rootfstype=hostfs rootflags=/ ro
		random.trust_cpu=on kunit.autorun=1 bdev_allow_write_mounted=1
		"init=$LAB/guest/init.sh" "LAB_ENV=$log/$guest.env"
		con=null "con0=$input,fd:1"
		"uml_dir=$log" "umid=$guest" "loglevel=$loglevel" printk.time=1
		"${parameters[@]}"
	)
	if [ "$cpus" -gt 1 ]; then
		grep -qx CONFIG_SMP=y "$kernel/build/.config" ||
			die "LAB_CPUS: this kernel of user-mode Linux has one CPU; KERNEL=7.3 has more"
		args+=("ncpus=$cpus" seccomp=on)
	fi

	[ "$role" = guest ] || wire_uml "$role"
	spawn "$guest" "$kernel/build/linux" "${args[@]}"
	[ -z "${LAB_PIN:-}" ] || pin "$guest" "$cpus"
}

boot_x86() { boot_qemu "$@"; }

# (Signed pointers are slow to emulate.)
boot_arm64() { boot_machine "$@" aarch64 ttyAMA0 -M virt -accel "tcg,thread=multi" -cpu max,pauth=off; }

boot_qemu() {
	# Where the CPU lacks these, /dev/kvm may open, but it runs no kernel.
	if grep -qwE 'vmx|svm' /proc/cpuinfo && [ -w /dev/kvm ]; then
		set -- "$@" x86_64 ttyS0 -accel kvm -cpu host
	else
		set -- "$@" x86_64 ttyS0 -accel "tcg,thread=multi" -cpu max
	fi
	# A kernel that uses an IOMMU gets one, and the PCI device through which mimic does DMA.
	# virtio's devices bypass the IOMMU.
	[[ " ${parameters[*]} " != *" intel_iommu=on "* ]] ||
		set -- "$@" -M q35 -device intel-iommu -device edu
	boot_machine "$@"
}

# boot_machine NAME ROLE ARCH CONSOLE QEMU-ARGS...
boot_machine() {
	local guest=$1 role=$2 qemu=qemu-system-$3 tty=$4 args
	shift 4

	args=(
		"$@"
		-smp "${LAB_CPUS:-2}" -m "$(memory "$role")" -nodefaults -display none -no-reboot
		-chardev "stdio,id=console,signal=off" -serial chardev:console
		-kernel "$kernel/vmlinuz" -initrd "$kernel/initrd.img"
		-virtfs "$(shared_directory host /),readonly=on"
		-virtfs "$(shared_directory kernel "$kernel/root"),readonly=on"
		-virtfs "$(shared_directory share "$log")"
		-append "console=$tty loglevel=$loglevel printk.time=1 oops=panic panic=-1
			LAB_INIT=$LAB/guest/init.sh LAB_ENV=$log/$guest.env
			${parameters[*]}"
	)
	[ "$role" = guest ] || wire_qemu "$role"
	spawn "$guest" "$qemu" "${args[@]}" -name debug-threads=on
	[ -z "${LAB_PIN:-}" ] || pin "$guest" "${LAB_CPUS:-2}"
}

# cpu_threads PROCESS CPUS - print number and thread of each CPU of a guest. QEMU names these
# threads. In user-mode Linux, they are the oldest threads.
cpu_threads() {
	if [ "$kind" = uml ]; then
		find "/proc/$1/task" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort -n |
			head -n "$2" | awk '{ print NR - 1, $1 }'
	else
		grep -H '^CPU ' "/proc/$1/task"/*/comm | sed -E 's|.*/([0-9]+)/comm:CPU ([0-9]+).*|\2 \1|'
	fi 2>/dev/null
}

# pin NAME CPUS - keep each CPU of a guest on one of the host's CPUs. Otherwise two often share
# one of the host's, and one of them stands still for milliseconds.
pin() {
	local process=${pid[$1]:-} host number thread

	[ "$(nproc)" -ge "$2" ] ||
		die "LAB_PIN: the guest has $2 CPUs, this may use $(nproc) of the host's"
	# A guest that had the terminal has ended.
	[ -n "$process" ] || return 0
	mapfile -t host < <(allowed_cpus)
	while alive "$1" && [ "$(cpu_threads "$process" "$2" | wc -l)" -lt "$2" ]; do
		in_time || die "LAB_PIN: $1 has no $2 threads that are its CPUs"
		pause
	done
	cpu_threads "$process" "$2" | while read -r number thread; do
		# The guest may have ended by now.
		taskset -cp "${host[number]}" "$thread" >/dev/null 2>&1 || true
	done
}

# allowed_cpus - print the numbers of the host's CPUs that this process may use
allowed_cpus() {
	local ranges range

	IFS=, read -ra ranges < <(sed -n 's/^Cpus_allowed_list:\t//p' /proc/self/status)
	for range in "${ranges[@]}"; do
		seq "${range%-*}" "${range#*-}"
	done
}

shared_directory() {
	echo "local,mount_tag=$1,path=$2,security_model=none,multidevs=remap"
}

# The network between two guests loses next to nothing, because rxe's timeouts are long. A
# server that is started again keeps the Ethernet address that its client knows.
mac() {
	if [ "$1" = server ]; then
		echo 52:54:00:12:34:01
	else
		echo 52:54:00:12:34:02
	fi
}

peer() {
	if [ "$1" = server ]; then echo client; else echo server; fi
}

# The wire is UDP (see patches/ for its buffer). The process id makes a loopback address for each
# lab, so that two labs don't meet.
wire_uml() {
	local -A port=([server]=5511 [client]=5512)
	local address how ends

	address=127.$((64 + $$ / 65536)).$(($$ / 256 % 256)).$(($$ % 256))
	how=transport=l2tpv3,udp=1,rx_session=1,tx_session=1
	ends=src=$address,srcport=${port[$1]},dst=$address,dstport=${port[$(peer "$1")]}
	args+=("vec0:$how,$ends,mtu=9000,mac=$(mac "$1")")
}

# The wire is a pair of sockets in $log. Their names must be short, so spawn runs QEMU there.
wire_qemu() {
	local near far

	near=local.type=unix,local.path=$1.wire
	far=remote.type=unix,remote.path=$(peer "$1").wire
	args+=(-netdev "dgram,id=wire,$near,$far"
	       -device "virtio-net-pci,netdev=wire,mac=$(mac "$1")")
}

# show NAME [PREFIX] - show what a guest prints, as long as it lives
show() {
	local guest=$1 prefix=${2:-}

	tail -n +1 -s 0.1 --pid="${pid[$guest]}" -f "$log/$guest.out" |
		sed -u "s/^/$prefix/" &
	[ -z "$verbose" ] ||
		tail -n +1 -s 0.1 --pid="${pid[$guest]}" -f "$log/$guest.console" |
			sed -u "s/^/$prefix/" >&2 &
}

# status_of NAME - set $status to the result of a guest that has ended
status_of() {
	local guest=$1 end

	end=$(cat "$log/$guest.status" 2>/dev/null || true)
	if [ -z "$end" ]; then
		end=died
		in_time || end=timeout
	fi
	case $end in
	0)	status=0 ;;
	timeout) status=$TIMEOUT
		say "$guest: not done after $timeout s" ;;
	died)	status=$DIED
		say "$guest: the kernel died: $(grep -ao 'Kernel panic.*' \
			"$log/$guest.console" || echo "no panic in its log")" ;;
	*)	status=$end
		say "$guest: the script failed with status $status" ;;
	esac
}

scan() { awk -v allowlist="$LAB/allowlist" -f "$LAB/scan.awk" "$@"; }

# keep_coverage - move gcov's files, which the guests' init kept, to $LAB_COVERAGE
keep_coverage() {
	[ ! -d "$log/coverage" ] ||
		mv "$log/coverage" "$(mktemp -d "$LAB_COVERAGE/$(basename "$log")-XXXX")"
}

# verdict STATUS - scan the kernels' logs, and exit with the status of the run
verdict() {
	local status=$1

	wait
	keep_coverage
	if ! scan "$log"/*.console >&2; then
		[ "$status" -ne 0 ] || status=$SPLAT
	fi
	if [ "$status" -eq 0 ]; then
		say "passed in $SECONDS s; logs: $log"
	else
		say "FAILED ($status) after $SECONDS s; logs: $log"
	fi
	exit "$status"
}

run() {
	local flavour=$1 title
	shift
	kind "$flavour" >/dev/null
	parse_options "$@"
	[ ${#operands[@]} -ge 1 ] || die "lab run FLAVOUR [OPTIONS] SCRIPT [ARGS...]"
	check_script "${operands[0]}"
	title=$(basename "${operands[0]}" .sh)

	prepare "$flavour" "$title" "$KERNEL"
	start guest guest 1 "${operands[@]}"
	show guest
	while alive guest && in_time; do
		pause
	done
	kill_guest guest
	status_of guest
	verdict "$status"
}

# For a pair's server and client: the guest's current name, how often it was booted, and whether
# its power is off
declare -A guest_of=() boots=() off=()

pair() {
	local flavour=$1 title client_status
	shift
	kind "$flavour" >/dev/null
	parse_options "$@"
	[ ${#operands[@]} -eq 2 ] ||
		die "lab pair FLAVOUR [OPTIONS] SERVER-SCRIPT CLIENT-SCRIPT"
	check_script "${operands[0]}"
	check_script "${operands[1]}"
	title=$(basename "${operands[1]}" .sh)

	prepare "$flavour" "$title" "$KERNEL" "$SERVER_KERNEL"
	power_on server
	power_on client
	while is_there client && in_time; do
		do_requests
		if ! server_is_well; then
			kill_guest "${guest_of[client]}"
			status_of "${guest_of[server]}"
			verdict "$status"
		fi
		pause
	done
	kill_guest "${guest_of[client]}"
	status_of "${guest_of[client]}"
	client_status=$status

	touch "$log/share/.lab-end"
	while alive "${guest_of[server]}" && in_time; do
		pause
	done
	kill_guest "${guest_of[server]}"
	status_of "${guest_of[server]}"
	[ "$client_status" -eq 0 ] || status=$client_status
	verdict "$status"
}

# power_on server|client
power_on() {
	local role=$1 script=${operands[0]} prefix='server: ' guest=$1

	[ "$role" = server ] || { script=${operands[1]}; prefix=''; }
	boots[$role]=$((${boots[$role]:-0} + 1))
	[ "${boots[$role]}" -eq 1 ] || guest+=-${boots[$role]}
	guest_of[$role]=$guest
	off[$role]=
	start "$guest" "$role" "${boots[$role]}" "$script"
	show "$guest" "$prefix"
}

power_off() {
	off[$1]=yes
	kill_guest "${guest_of[$1]}"
	say "${guest_of[$1]} killed, as the $(peer "$1") asked"
}

is_there() { [ -n "${off[$1]}" ] || alive "${guest_of[$1]}"; }

# do_requests - do to one guest what the other asked for. The asking guest waits until the request
# is gone. (A pause stops one process: in user-mode Linux that is the kernel, without which no
# other process of the guest goes on.)
do_requests() {
	local file request role

	for file in "$log"/share/.lab-ask-*; do
		[ -e "$file" ] || continue
		request=${file##*/.lab-ask-}
		role=${request#*-}
		case $request in
		off-*)	power_off "$role" ;;
		on-*)	power_on "$role" ;;
		pause-*) ! alive "${guest_of[$role]}" || kill -STOP "${pid[${guest_of[$role]}]}" ;;
		resume-*) ! alive "${guest_of[$role]}" || kill -CONT "${pid[${guest_of[$role]}]}" ;;
		*)	die "a guest asked for $request" ;;
		esac
		rm "$file"
	done
}

# A server that failed ends the run. A server that succeeded may end early on purpose.
server_is_well() {
	is_there server || [ "$(cat "$log/${guest_of[server]}.status" 2>/dev/null)" = 0 ]
}

# shell - the terminal is also the kernel's console, so keep it quiet. dmesg shows messages.
shell() {
	local flavour=$1 tty
	shift
	kind "$flavour" >/dev/null
	parse_options "$@"
	[ ${#operands[@]} -eq 0 ] || die "lab shell FLAVOUR [OPTIONS]"
	tty=$(stty -g) || die "lab shell needs a terminal"

	prepare "$flavour" shell "$KERNEL"
	timeout=infinity loglevel=1 console=ttyS0
	case $kind in
	uml)	console=tty0 ;;
	arm64)	console=ttyAMA0 ;;
	esac
	start guest guest 1 /bin/bash -l || true
	stty "$tty"
}
