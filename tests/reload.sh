#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: load and unload, every tenth time with a mount in between, and
# nothing is left behind. Parameters out of range are refused, at either time that
# they can be set; their defaults are those of the manual page.
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

# What each parameter takes, from and to, and what it refuses
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
	read_memory 1 4096 -1 half
	reverse none genl general inlin 1
	END
}

# paragraph PARAMETER - what rpcrdma2(7) says of it
paragraph() {
	awk -v name="$1" '/^[^ ]/ { mine = $0 == name } mine' \
		"$LAB_TREE/Documentation/man/rpcrdma2.7.rst" | tr -d '`'
}

# check_defaults - rpcrdma2(7) has those of the module, which was just loaded.
check_defaults() {
	local file name value

	for file in /sys/module/rpcrdma2/parameters/*; do
		name=${file##*/}
		value=$(cat "$file")
		paragraph "$name" | grep -qE "efault:? (a 16th|$value\b)|\b$value, the default" ||
			lab_fail "rpcrdma2(7) has another default of $name than $value"
	done
}

# check_ranges - the module is not loaded.
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

must lab_rdma_up rxe
check_ranges
for ((cycle = 1; cycle <= cycles; cycle++)); do
	must lab_insmod rpcrdma2
	[ $((cycle % 10)) -ne 0 ] || use
	must nfs_unload
done
must rdma link delete r0
must lab_kmemleak
echo "$cycles cycles"
