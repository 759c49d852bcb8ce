#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: what a server grants its clients follows need, in either version. Busy
# clients share their Queue evenly, and it has a Receive for each Call that they are granted.
# No message finds no Receive.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

shared=$CONNECTIONS/receives
parameters=/sys/module/rpcrdma2/parameters
# Calls that a connection is granted at first, and that one of these mounts has out
FIRST=4
# Receives for each connection, busy or not
SHARE=6
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

# queue KEY - of each Queue
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
	local receives

	for receives in $(queue receives); do
		[ "$receives" -le $depth ] || lab_fail "$receives Receives of $depth"
	done
}

# gets_all_beside NAME CONNECTION OTHER - NAME is granted all, while OTHER makes one RPC after
# the other.
gets_all_beside() {
	sequential "$3" 16
	busy "$1"
	[ "$(credits "$2")" -eq 64 ]
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

	### A client that is idle, or uses little, does not count

	choose_rich
	lab_until 60 gets_all_beside $poor "${!poor}" $rich ||
		lab_fail "beside one that uses little: $(credits "${!poor}")"
	no_rnr "as little was used"
	both_busy
	in_bounds
	! more_than_there_is || lab_fail "more than there is, as the other came back"
	no_rnr "as the other came back"
	echo "version $version: $(credits "$one") and $(credits "$two") after a rest"
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
# One more may be there for the device's next report.
[ "$(value memory)" -le $(((1 << 20) + 12288)) ] ||
	lab_fail "Receives take $(value memory) of 1 MiB"
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

### Less memory than for each client's share: the rest comes when there is some, without any
### client's asking for more.

echo 1 >$parameters/receive_memory
echo 65536 >$parameters/inline_size
client one "$LAB_SERVER"
client two $address
client three $another
few=$(queue receives)
[ "$few" -lt $((3 * SHARE)) ] || lab_fail "there was memory for $few Receives"
echo "$more" >$parameters/receive_memory
filled() { sequential one 16; [ "$(queue receives)" -ge $((3 * SHARE)) ]; }
lab_until 20 filled || lab_fail "$(queue receives) Receives for three"
echo "$few Receives, then $(queue receives)"
must umount /run/three
must umount /run/two
must umount /run/one
lab_until 30 all_closed || lab_fail "a connection was left"

### Clients that do nothing fill half of a Queue: the rest is for one that does.

echo 12288 >$parameters/inline_size
echo 64 >$parameters/srq_size
depth=64
for i in {10..19}; do
	must ip address add "192.168.77.$i/24" dev "$LAB_NETDEV"
	client "$i" "192.168.77.$i"
done
last=$(newest)
cat $shared
[ "$(queue connections | paste -sd' ')" = "5 5" ] || lab_fail "ten do not share two Queues"
# busy_gets CREDITS
busy_gets() {
	busy 19
	[ "$(credits "$last")" -ge "$1" ]
}
lab_until 20 busy_gets 32 || lab_fail "beside nine that are idle: $(credits "$last")"
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
