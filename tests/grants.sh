#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: a server's grants follow the use of each client, in either version, and no
# message lacks a Receive. Two clients are never granted more than their Shared Receive Queue
# has, unless one was idle.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

[ "$(nproc)" -eq 1 ] || skip "with several CPUs there are several Shared Receive Queues"

shared=$CONNECTIONS/receives
parameters=/sys/module/rpcrdma2/parameters
# Calls that a connection is granted at first, and that one of these mounts has out
FIRST=4
# A READ of so many octets is all that an RPC carries: 64 of them are out at a time
UNIT=4096
depth=128
# Of the server, besides LAB_SERVER
address=192.168.77.2 another=192.168.77.3
# shellcheck disable=SC2034 # lib.sh uses it
PARAMETERS="srq_size=$depth max_requests=64"

# of NUMBER KEY - the server's end of a connection
of() { awk -v name="$2:" '$1 == name { print $2 }' "$CONNECTIONS/$1"; }

credits() { of "$1" responder_credits; }

# queue KEY - of the only Queue that there is
queue() { sed -n "s/.* $1=\([0-9]*\).*/\1/p" $shared; }

value() { awk -v name="$1:" '$1 == name { print $2 }' $shared; }

all_closed() { ! connection_of server >/dev/null; }

newest() { connection_of server | grep -o '[0-9]*$' | sort -n | tail -1; }

# client NAME ADDRESS - a mount with a connection of its own. (NFSv3: its clients are idle
# when nobody uses them.)
client() {
	mkdir -p "/run/$1"
	must mount -t nfs "$2:$LAB_EXPORT" "/run/$1" -o \
		"vers=3,mountproto=tcp,nolock,proto=rdma,port=20049,rsize=$UNIT"
}

# busy NAME - many RPCs at a time, and the contents are right.
busy() {
	dd if="/run/$1/data" bs=1M iflag=direct status=none |
		cmp - /run/data || lab_fail "$1: other contents"
}

both_busy() {
	local other

	busy one & other=$!
	busy two
	must wait $other
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
more_than_there_is() { [ $(($(credits "$one") + $(credits "$two"))) -ge 128 ]; }

# choose_rich - of the two, $rich has more, and $poor wants it.
choose_rich() {
	rich=one poor=two
	[ "$(credits "$one")" -ge "$(credits "$two")" ] || rich=two poor=one
}

in_bounds() {
	[ "$(queue promised)" -le "$(queue depth)" ] ||
		lab_fail "promised: $(queue promised) of $(queue depth)"
	[ "$(queue receives)" -le "$(queue depth)" ] ||
		lab_fail "Receives: $(queue receives)"
}

# loses_its_grant NAME CONNECTION OTHER - one RPC now and then, beside another client that
# wants more than there is. The server looks after ten seconds at the earliest, and once
# more ten seconds later: the first look may still see the RPCs from before.
loses_its_grant() {
	local i

	for i in {1..8}; do
		busy "$3"
		sequential "$1" 1
		[ "$(credits "$2")" -eq 64 ] || return 0
		sleep 3.5
	done
	return 1
}

# Receives that a device loses, as a connection ends in the middle of a message
FAULTS=/sys/kernel/debug/mimic/r0/faults

# lose_receive NAME - the client sends something that takes one for ever, and connects again.
lose_receive() {
	echo clear >$FAULTS
	echo recv lose times=1 >$FAULTS
	timeout 60 stat --cached=never "/run/$1/data" >/dev/null ||
		lab_fail "no Receive is left: $(cat $shared)"
}

nfs_start rxe
must ip address add $address/24 dev "$LAB_NETDEV"
must ip address add $another/24 dev "$LAB_NETDEV"
dd if=/dev/urandom of=/run/data bs=1M count=4 status=none
cp /run/data "$LAB_EXPORT/data"

for version in 2 1; do
	echo $version >$parameters/version

	### By need

	client one "$LAB_SERVER"
	one=$(newest)
	sequential one 200
	[ "$(credits "$one")" -le $((2 * FIRST)) ] ||
		lab_fail "one RPC at a time was granted $(credits "$one")"
	has_all one "$one" ||
		lab_fail "many at a time were granted $(credits "$one")"
	in_bounds
	no_rnr "as one client's grant grew"
	echo "version $version: from $FIRST to $(credits "$one")"

	### Two that need more than there is

	before=$(value shortages)
	client two $address
	two=$(newest)
	[ "$two" != "$one" ] || lab_fail "one connection for both"
	both_busy
	in_bounds
	[ "$(value shortages)" -gt "$before" ] || lab_fail "nothing was short"
	! more_than_there_is || lab_fail "more than there is"
	no_rnr "as two clients needed more than there is"
	echo "version $version: $(credits "$one") and $(credits "$two")"

	### Who is idle doesn't keep it

	choose_rich
	sleep 11
	has_all $poor "${!poor}" ||
		lab_fail "an idle client keeps what it had: $(credits "${!poor}")"
	[ "$(of "${!rich}" receive_buffers)" -le $((FIRST + 8)) ] ||
		lab_fail "an idle client's Receives: $(of "${!rich}" receive_buffers)"
	busy $rich
	in_bounds
	! more_than_there_is || lab_fail "the idle one took back what others have"
	# While one is idle, what it was granted is promised to the other one, too; but they
	# don't have RPCs out at the same time here, and who answers gives a Receive back.
	no_rnr "as an idle client came back"
	echo "version $version: $(credits "$one") and $(credits "$two") after a rest"

	### Short: a client that makes few Calls has less, however long it has had more

	if [ $version = 2 ]; then
		has_all two "$two" || lab_fail "two was granted $(credits "$two")"
		loses_its_grant two "$two" one ||
			lab_fail "one RPC in 3.5 s keeps $(credits "$two")"
		echo "$(credits "$two") for one RPC in 3.5 s"
	fi

	### Short: who uses little has less

	busy one & other=$!
	sequential two 1000
	must wait $other
	[ "$(credits "$two")" -lt 64 ] ||
		lab_fail "one RPC at a time keeps $(credits "$two")"
	in_bounds
	no_rnr "as little was used"
	echo "version $version: $(credits "$two") where little is used"
	must umount /run/two
	must umount /run/one
	lab_until 30 all_closed || lab_fail "a connection was left"
done

### Little memory: the Queue doesn't grow beyond it, and grows when there is more.

echo 0 >$parameters/version
more=$(cat $parameters/receive_memory)
echo 1 >$parameters/receive_memory
client one "$LAB_SERVER"
client two $address
both_busy
cat $shared
[ "$(value memory)" -le $((1 << 20)) ] || lab_fail "Receives take $(value memory) of 1 MiB"
little=$(queue receives)
echo "$more" >$parameters/receive_memory
# Memory was short a moment ago.
grown() { both_busy; [ "$(queue receives)" -gt "$little" ]; }
lab_until 60 grown || lab_fail "the Queue does not grow again"
echo "$little Receives in 1 MiB, then $(queue receives)"
in_bounds
no_rnr "as memory was short"
must umount /run/two
must umount /run/one
lab_until 30 all_closed || lab_fail "a connection was left"

### More promised than there was memory for: the rest comes when there is, without any
### client's asking for more.

echo 1 >$parameters/receive_memory
echo 65536 >$parameters/inline_size
client one "$LAB_SERVER"
client two $address
client three $another
few=$(queue receives)
[ "$few" -lt "$(queue promised)" ] || lab_fail "there was memory for $few Receives"
echo "$more" >$parameters/receive_memory
filled() { sequential one 16; [ "$(queue receives)" -ge "$(queue promised)" ]; }
lab_until 20 filled || lab_fail "$(queue receives) Receives, $(queue promised) promised"
echo "$few Receives, then $(queue receives) of $(queue promised)"
must umount /run/three
must umount /run/two
must umount /run/one
lab_until 30 all_closed || lab_fail "a connection was left"

### A Queue that is full of what was promised at first: those that are idle leave more to
### one that isn't.

echo 12288 >$parameters/inline_size
echo 64 >$parameters/srq_size
SECONDS=0
for i in {10..19}; do
	must ip address add "192.168.77.$i/24" dev "$LAB_NETDEV"
	client "$i" "192.168.77.$i"
done
last=$(newest)
# Six to each. On a machine where that took more than ten seconds, the first ones are idle.
promised=$(queue promised)
echo "$promised promised to ten, in $SECONDS s"
[ "$promised" -eq 60 ] || { [ $SECONDS -ge 10 ] && [ "$promised" -ge 40 ]; } ||
	lab_fail "$promised promised to ten"
sleep 11
# busy_gets CREDITS
busy_gets() {
	busy 19
	[ "$(credits "$last")" -ge "$1" ]
}
lab_until 20 busy_gets 16 || lab_fail "beside nine that are idle: $(credits "$last")"
in_bounds
echo "beside nine that are idle: $(credits "$last")"
for i in {10..19}; do
	must umount "/run/$i"
done
cat $shared

### A device that loses Receives: others take their place, and when too many are lost, the
### Queue is given up.

nfs_stop
# shellcheck disable=SC2034 # lib.sh uses it
PARAMETERS="srq_size=64"
nfs_start mimic
cp /run/data "$LAB_EXPORT/data"
client one "$LAB_SERVER"
client two $address
# More than there are
for i in {1..20}; do
	lose_receive two
done
are_counted() { [ "$(queue lost)" -ge 8 ]; }
lab_until 20 are_counted || lab_fail "$(queue lost) Receives are lost, not 20"
cat $shared
busy one
# For a while, there is the one that was given up, too.
gave_up() { lose_receive two; [ "$(queue lost | sort -n | head -n 1)" -lt 8 ]; }
is_one_queue() { [ "$(queue lost | wc -l)" -eq 1 ]; }
lab_until 60 gave_up || lab_fail "$(queue lost) Receives are lost, and nobody minds"
echo clear >$FAULTS
busy one
busy two
lab_until 20 is_one_queue || lab_fail "the Queue that was given up stays: $(cat $shared)"
in_bounds
cat $shared
must umount /run/two
must umount /run/one
nfs_stop
must lab_kmemleak
