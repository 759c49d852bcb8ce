#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: the module loads and unloads again and again, and leaves nothing behind. Every
# tenth time there is a mount in between. The module refuses parameters out of range, at load
# and later. The manual page has the right defaults. Lines for sysctl that were written for the
# kernel's own rpcrdma set the parameters, too.
#
#	reload.sh [CYCLES]

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

cycles=${1:-50}

use() {
	nfs_serve
	must lab_mount 4.2
	must cp "$LAB_MODULES/rpcrdma2.ko" "$LAB_MOUNT"
	must cmp "$LAB_MODULES/rpcrdma2.ko" "$LAB_MOUNT/rpcrdma2.ko"
	must umount "$LAB_MOUNT"
	must rpc.nfsd 0
	must umount "$LAB_EXPORT"
}

# Print a line for each parameter: two values that it takes, and values that it refuses.
ranges() {
	cat <<-END
	inline_size 4096 262144 4095 4097 263168 0 -4096 much
	inline_min 4096 262144 4095 4097 263168 -4096 much
	slot_table_entries 2 1024 1 1025 -1 0x
	max_requests 2 1024 1 1025 4294967298
	inline_idle 1 3600 0 3601 -1 much
	heartbeat 0 3600 3601 -1 1.5
	srq_size 64 32768 63 32769 -1 much
	version 0 2 3 -1 v2
	version_retry 1 86400 0 86401 1.5
	read_memory 1 16777216 0 16777217 -1 half
	receive_memory 1 16777216 0 16777217 -1 half
	reverse none genl general inlin 1
	END
}

# paragraph PARAMETER - print its paragraph of the page that rpcrdma2(7) includes
paragraph() {
	awk -v name="$1" '/^[^ ]/ { mine = $0 == name } mine' \
		"$LAB_TREE/Documentation/reference/parameters.rst" | tr -d '`'
}

# check_defaults - check that rpcrdma2(7) has the defaults of the module, which was just loaded
check_defaults() {
	local file name value

	for file in /sys/module/rpcrdma2/parameters/*; do
		name=${file##*/}
		value=$(cat "$file")
		paragraph "$name" | grep -qE "efault:? (a 16th|$value\b)|\b$value, the default" ||
			lab_fail "rpcrdma2(7) has another default of $name than $value"
	done
}

# check_ranges - check parameters at load, and later. The module must not be loaded yet.
check_ranges() {
	local name from to values value file

	while read -r name from to values; do
		! lab_insmod rpcrdma2 "$name=${values%% *}" 2>/dev/null ||
			lab_fail "loaded with $name=${values%% *}"
	done <<<"$(ranges)"
	must lab_insmod rpcrdma2
	check_defaults
	while read -r name from to values; do
		file=/sys/module/rpcrdma2/parameters/$name
		for value in $from $to; do
			echo "$value" >"$file" || lab_fail "$name refused $value"
		done
		for value in $values; do
			! echo "$value" 2>/dev/null >"$file" ||
				lab_fail "$name took $value"
		done
		[ "$(cat "$file")" = "$to" ] || lab_fail "$name was changed"
		echo "$name: $from to $to"
	done <<<"$(ranges)"
	must nfs_unload
}

# sysctl_names - print the names of sysctls about RDMA
sysctl_names() {
	(cd /proc/sys && find sunrpc \( -name 'rdma_*' -o -path '*/svc_rdma/*' \) -type f) |
		tr / . | sort
}

# refusals NAME - print how often the log says that a value was refused
refusals() { dmesg | grep -c "rpcrdma2: $1=[^ ]* refused"; }

# without_effect - print the sysctls that have no effect, according to the log
without_effect() { dmesg | sed -n 's/.*rpcrdma2: the sysctl \([a-z_]*\) has no effect.*/\1/p'; }

# parameter NAME VALUE - check that the parameter has this value now
parameter() {
	local value

	value=$(cat "/sys/module/rpcrdma2/parameters/$1")
	[ "$value" = "$2" ] || lab_fail "$1 is $value, not $2"
}

# Lines that /etc/sysctl.d may have for the kernel's own rpcrdma
old_lines() {
	cat <<-END
	sunrpc.rdma_slot_table_entries = 64
	sunrpc.rdma_max_inline_read = 16384
	sunrpc.rdma_max_inline_write = 16384
	sunrpc.rdma_inline_write_padding = 0
	sunrpc.rdma_memreg_strategy = 6
	sunrpc.rdma_pad_optimize = 0
	sunrpc.svc_rdma.max_requests = 96
	sunrpc.svc_rdma.max_req_size = 16384
	sunrpc.svc_rdma.max_outbound_read_requests = 32
	sunrpc.svc_rdma.rdma_stat_read = 0
	sunrpc.svc_rdma.rdma_stat_rq_starve = 0
	END
}

check_sysctls() {
	local name file before

	must modprobe rpcrdma
	sysctl_names >/run/theirs
	must rmmod rpcrdma
	must lab_insmod rpcrdma2
	sysctl_names >/run/ours
	grep -q svc_rdma /run/theirs || lab_fail "rpcrdma has no sysctls: $(cat /run/theirs)"
	[ -z "$(comm -23 /run/theirs /run/ours)" ] ||
		lab_fail "there is no $(comm -23 /run/theirs /run/ours)"

	old_lines >/run/old.conf
	must sysctl -q -p /run/old.conf
	must sysctl -q -p /run/old.conf
	parameter slot_table_entries 64
	parameter inline_size 16384
	parameter max_requests 96
	[ "$(without_effect | sort | tr '\n' ' ')" = "max_outbound_read_requests \
rdma_inline_write_padding rdma_memreg_strategy rdma_pad_optimize " ] ||
		lab_fail "without effect: $(without_effect)"
	sysctl -n sunrpc.rdma_memreg_strategy | grep -qx 6 || lab_fail "not kept"
	echo 200 >/sys/module/rpcrdma2/parameters/max_requests
	sysctl -n sunrpc.svc_rdma.max_requests | grep -qx 200 || lab_fail "not shown"

	for name in rdma_slot_table_entries=16384 rdma_max_inline_read=1024 \
		rdma_max_inline_write=5000 svc_rdma.max_requests=1 \
		svc_rdma.max_requests=4294967298 svc_rdma.max_req_size=much; do
		file=${name%=*}
		before=$(refusals "${file##*.}")
		! sysctl -q -w "sunrpc.$name" 2>/dev/null || lab_fail "taken: $name"
		[ "$(refusals "${file##*.}")" -gt "$before" ] ||
			lab_fail "no reason is said: $name"
	done
	parameter slot_table_entries 64
	parameter inline_size 16384
	parameter max_requests 200
	must nfs_unload
	[ -z "$(sysctl_names)" ] || lab_fail "left behind: $(sysctl_names)"
}

must lab_rdma_up rxe
check_sysctls
check_ranges
for ((cycle = 1; cycle <= cycles; cycle++)); do
	must lab_insmod rpcrdma2
	[ $((cycle % 10)) -ne 0 ] || use
	must nfs_unload
done
must rdma link delete r0
must lab_kmemleak
echo "$cycles cycles"
