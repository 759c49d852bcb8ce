#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: each place in the module that allocates memory fails once beside a mount under
# load, and no RPC sees an error. Meanwhile, the mount's connection is lost, and another mount is
# made. Both mounts may see only a delay. sites.awk finds the places in the module's code.
#
#	sweep.sh PROVIDER [PART/PARTS]
#
# If this does not reach a place, the script tries the place again while it loads the module,
# starts the server and mounts NFSv3. It prints the places that this does not reach either.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

# How often a place fails, both for slab and for pages
TIMES=2
# Seconds that a mount may take, and that the load may stand still
LIMIT=120

SUNRPC=/sys/kernel/debug/fail_sunrpc
OTHER=/mnt/other
module=$LAB_MODULES/rpcrdma2.ko

# sites - print "RETURN-ADDRESS FUNCTION CALLEE" lines, with addresses within .text
sites() {
	must objdump -dr --no-show-raw-insn "$module" |
		awk -f "$LAB_TREE/tests/sites.awk" >/run/sites || lab_fail "no sites"
	! grep -v '^\.text ' /run/sites || lab_fail "these are not in .text"
	# A call must be found for each function that the module imports to allocate memory.
	awk '{ print $4 }' /run/sites >/run/called
	nm -u "$module" | awk -v names=1 -f "$LAB_TREE/tests/sites.awk" |
		grep -vxFf /run/called >/run/uncalled
	[ ! -s /run/uncalled ] || lab_fail "not found where called: $(cat /run/uncalled)"
	cut -d ' ' -f 2- /run/sites
}

# arm ADDRESS - let allocations fail in the call that returns to ADDRESS
arm() {
	local address=$(($(cat /sys/module/rpcrdma2/sections/.text) + 0x$1))

	between require "$address $((address + 1))"
	fail_allocations 100 1 $TIMES
}

disarm() {
	both probability 0
	failed=$((failed + $(failures $TIMES)))
}

# Have the load's connection closed, and wait until that has happened.
lose_connection() {
	echo 1 >$SUNRPC/times
	echo 100 >$SUNRPC/probability
	lab_until $LIMIT eval "[ \"\$(cat $SUNRPC/times)\" -eq 0 ]" ||
		lab_fail "the load sends nothing"
	echo 0 >$SUNRPC/probability
}

# at_last COMMAND... - try COMMAND until it succeeds. It may fail at first.
at_last() {
	lab_until $LIMIT "$@" 2>/run/errors || lab_fail "$*: $(cat /run/errors)"
}

# (Over IPv6, unlike the load's mount)
other_mounted() {
	mount | grep -q " $OTHER " ||
		LAB_SERVER="[fd00:77::1]" lab_mount "$1" retry=0 "$OTHER"
}

# use_other VERSION - make the other mount, and do work that the load does not do
use_other() {
	at_last other_mounted "$1"
	# Other data than the last ones, or a lost WRITE would look right.
	must dd if=/dev/urandom of=/run/data bs=256k count=4 status=none
	must timeout $LIMIT dd if=/run/data of="$OTHER/data" bs=256k oflag=direct \
		conv=notrunc status=none
	must timeout $LIMIT dd if="$OTHER/data" of=/run/copy bs=256k iflag=direct status=none
	must cmp /run/data /run/copy
	must cmp /run/data "$LAB_EXPORT/data"
	[ "$1" != 3 ] || must timeout $LIMIT python3 -c \
		"import os; os.listxattr('$OTHER/data')"
	# A reader of statistics may be told that there is no memory.
	cat $CONNECTIONS/* /proc/sys/sunrpc/svc_rdma/* >/dev/null 2>&1
	must umount "$OTHER"
}

goes_on() { lab_until $LIMIT load_is_at $(($(cat /run/load.rounds) + 2)); }

# on_the_way ADDRESS - let a place fail under load
on_the_way() {
	arm "$1"
	lose_connection
	use_other 4.1
	must goes_on
	disarm
}

load_module() { [ -e /sys/module/rpcrdma2 ] || lab_insmod rpcrdma2; }

load_mounted() { mount | grep -q " $LAB_MOUNT " || lab_mount 4.2 retry=0; }

listening() {
	grep -q '^rdma' /proc/fs/nfsd/portlist || echo "rdma 20049" >/proc/fs/nfsd/portlist
}

# from_the_start ADDRESS - end everything, and let a place fail while it starts again. This counts
# on the kernel to load the module at the same address.
from_the_start() {
	local text

	load_stop
	must rm -r "$LAB_MOUNT/load"
	must umount "$LAB_MOUNT"
	must rpc.nfsd 0
	text=$(cat /sys/module/rpcrdma2/sections/.text)
	arm "$1"
	must nfs_unload
	at_last load_module
	[ "$text" = "$(cat /sys/module/rpcrdma2/sections/.text)" ] || moved=$((moved + 1))
	must rpc.nfsd --no-udp 8
	at_last listening
	echo Y 2>/dev/null >/proc/fs/nfsd/v4_end_grace
	use_other 3
	at_last load_mounted
	load_start
	disarm
}

# sweep HOW ADDRESS FUNCTION CALLEE - let a place fail. Sets $failed to the number of failures.
sweep() {
	local how=$1
	shift

	SECONDS=0
	failed=0
	echo "sweep: $how: $2+0x$1, $3" >/dev/kmsg
	$how "$1"
	[ "$failed" -eq 0 ] || say_reached "failed $failed times, $SECONDS s" "$@"
}

# say_reached RESULT ADDRESS FUNCTION CALLEE - print the result for a place
say_reached() { printf "%-28s %-24s %s\n" "$3" "$4" "$1"; }

nfs_start "$1"
prepare_failures
[ -d $SUNRPC ] || skip "this kernel has no CONFIG_FAIL_SUNRPC"
echo N >$SUNRPC/ignore-client-disconnect
echo Y >$SUNRPC/ignore-server-disconnect
echo Y >$SUNRPC/ignore-cache-wait
echo 0 >$SUNRPC/verbose
sites >/run/all
part=${2:-1/1}
awk -v part="${part%/*}" -v parts="${part#*/}" 'NR % parts == part % parts' /run/all >/run/part
echo "$(wc -l </run/part) of $(wc -l </run/all) sites ($part)"
[ -s /run/part ] || lab_fail "no sites"

must dd if=/dev/urandom of=/run/data bs=256k count=4 status=none
cp /run/data "$LAB_EXPORT/data"
must lab_mount 4.2
load_start
reached=0 moved=0 later=()
while read -r site; do
	# shellcheck disable=SC2086 # three words
	sweep on_the_way $site
	if [ "$failed" -gt 0 ]; then
		reached=$((reached + 1))
	else
		later+=("$site")
	fi
done </run/part
for site in "${later[@]}"; do
	# shellcheck disable=SC2086 # three words
	sweep from_the_start $site
	if [ "$failed" -gt 0 ]; then
		reached=$((reached + 1))
	else
		# shellcheck disable=SC2086 # three words
		say_reached "NOT REACHED" $site
	fi
done
echo "$reached of $(wc -l </run/part) sites failed; the module moved $moved times"
[ "$reached" -gt 0 ] || lab_fail "none was reached"
load_stop
must umount "$LAB_MOUNT"
nfs_stop
must lab_kmemleak
