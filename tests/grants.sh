#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: what a server grants its clients follows need, in either version, as long
# as there are Receives; and what two of them are granted is never more than their Queue
# has, but for one that was idle.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

shared=$CONNECTIONS/receives
parameters=/sys/module/rpcrdma2/parameters
# Calls that a connection is granted at first, and that one of these mounts has out
FIRST=4
# A READ of so many octets is all that an RPC carries: 64 of them are out at a time
UNIT=4096
depth=128
# shellcheck disable=SC2034 # lib.sh uses it
PARAMETERS="srq_size=$depth"

# of NUMBER KEY - the server's end of a connection
of() { awk -v name="$2:" '$1 == name { print $2 }' "$CONNECTIONS/$1"; }

credits() { of "$1" responder_credits; }

# queue KEY - of the only Queue that there is
queue() { sed -n "s/.* $1=\([0-9]*\).*/\1/p" $shared; }

value() { awk -v name="$1:" '$1 == name { print $2 }' $shared; }

all_closed() { ! connection_of server >/dev/null; }

newest() { connection_of server | grep -o '[0-9]*$' | sort -n | tail -1; }

# client NAME PATH OPTIONS - a mount with a connection of its own
client() {
	mkdir -p "/run/$1"
	must mount -t nfs "$LAB_SERVER:$2" "/run/$1" -o "$3"
}

# busy NAME - many RPCs at a time, and the contents are right.
busy() {
	dd if="/run/$1/data" bs=1M iflag=direct status=none |
		cmp - /run/data || lab_fail "$1: other contents"
}

# sequential NAME COUNT - one RPC after the other
sequential() {
	dd if="/run/$1/data" bs=$UNIT count="$2" iflag=direct status=none |
		cmp -n $((UNIT * $2)) - /run/data || lab_fail "$1: other contents"
}

# has_all NAME CONNECTION - with many RPCs at a time, it is granted all. How many the server
# has at a time is chance: with one CPU, it may have answered one when the next one comes.
has_all() {
	for _ in {1..5}; do
		busy "$1"
		[ "$(credits "$2")" -ne 64 ] || return 0
	done
	return 1
}

# more_than_there_is - both have all that one may have. Where one was done long before
# the other, that one has it.
more_than_there_is() { [ $(($(credits "$three") + $(credits "$four"))) -ge 128 ]; }

in_bounds() {
	[ "$(queue promised)" -le "$(queue depth)" ] ||
		lab_fail "promised: $(queue promised) of $(queue depth)"
	[ "$(queue receives)" -le "$(queue depth)" ] ||
		lab_fail "Receives: $(queue receives)"
}

nfs_start rxe
dd if=/dev/urandom of=/run/data bs=1M count=4 status=none
cp /run/data "$LAB_EXPORT/data"
options=proto=rdma,port=20049,rsize=$UNIT

for version in 2 1; do
	echo $version >$parameters/version

	### By need

	client three "$LAB_EXPORT" "vers=3,mountproto=tcp,nolock,$options"
	three=$(newest)
	sequential three 200
	[ "$(credits "$three")" -le $((2 * FIRST)) ] ||
		lab_fail "one RPC at a time was granted $(credits "$three")"
	has_all three "$three" ||
		lab_fail "many at a time were granted $(credits "$three")"
	in_bounds
	echo "version $version: from $FIRST to $(credits "$three")"

	### Two that need more than there is

	before=$(value shortages)
	client four / "vers=4.2,$options"
	four=$(newest)
	[ "$four" != "$three" ] || lab_fail "one connection for both"
	busy three & other=$!
	busy four
	must wait $other
	in_bounds
	[ "$(value shortages)" -gt "$before" ] || lab_fail "nothing was short"
	! more_than_there_is || lab_fail "more than there is"
	echo "version $version: $(credits "$three") and $(credits "$four")"

	### Who is idle doesn't keep it

	sleep 11
	has_all four "$four" ||
		lab_fail "an idle client keeps what it had: $(credits "$four")"
	[ "$(of "$three" receive_buffers)" -le $((FIRST + 8)) ] ||
		lab_fail "an idle client's Receives: $(of "$three" receive_buffers)"
	busy three
	in_bounds
	! more_than_there_is || lab_fail "the idle one took back what others have"
	echo "version $version: $(credits "$three") and $(credits "$four") after a rest"

	### Short: who uses little has less

	busy three & other=$!
	sequential four 1000
	must wait $other
	[ "$(credits "$four")" -lt 64 ] ||
		lab_fail "one RPC at a time keeps $(credits "$four")"
	in_bounds
	echo "version $version: $(credits "$four") where little is used"
	must umount /run/four
	must umount /run/three
	lab_until 30 all_closed || lab_fail "a connection was left"
done
cat $shared
nfs_stop
must lab_kmemleak
