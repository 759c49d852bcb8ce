#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: a server's credit grants follow the use of each client, in either version, and
# no message lacks a Receive. The grants of two clients never exceed their Shared Receive Queue,
# unless a client was idle.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

[ "$(nproc)" -eq 1 ] || skip "with several CPUs there are several Shared Receive Queues"

shared=$CONNECTIONS/receives
parameters=/sys/module/rpcrdma2/parameters
# The grant of a new connection
FIRST=4
# Octets in each READ. A busy mount has 64 READs out at a time, as many as max_requests allows.
UNIT=4096
depth=128
# The server's addresses besides LAB_SERVER. A mount from another address has its own connection.
address=192.168.77.2 another=192.168.77.3
# shellcheck disable=SC2034 # lib.sh uses it
PARAMETERS="srq_size=$depth max_requests=64"

# of NUMBER KEY - print a value of the connection with this number, at the server's end.
of() { awk -v name="$2:" '$1 == name { print $2 }' "$CONNECTIONS/$1"; }

credits() { of "$1" responder_credits; }

# queue KEY - print a value of each Queue. Most cases have only one.
queue() { sed -n "s/.* $1=\([0-9]*\).*/\1/p" $shared; }

value() { awk -v name="$1:" '$1 == name { print $2 }' $shared; }

all_closed() { ! connection_of server >/dev/null; }

newest() { connection_of server | grep -o '[0-9]*$' | sort -n | tail -1; }

# client NAME ADDRESS - mount with a new connection. NFSv3, because its client sends nothing while
# the mount is not used.
client() {
	mkdir -p "/run/$1"
	must mount -t nfs "$2:$LAB_EXPORT" "/run/$1" -o \
		"vers=3,mountproto=tcp,nolock,proto=rdma,port=20049,rsize=$UNIT"
}

# busy NAME - run many RPCs at a time, and compare the data.
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

# sequential NAME COUNT - run so many RPCs, one after another, and compare the data.
sequential() {
	dd if="/run/$1/data" bs=$UNIT count="$2" iflag=direct status=none |
		cmp -n $((UNIT * $2)) - /run/data || lab_fail "$1: other contents"
}

# has_all NAME CONNECTION - with many RPCs at a time, the client is granted all 64. This takes up
# to five tries: with one CPU, the server may answer each RPC before the next one arrives.
has_all() {
	for _ in {1..5}; do
		busy "$1"
		[ "$(credits "$2")" -ne 64 ] || return 0
	done
	return 1
}

# more_than_there_is - both clients are granted 64 Calls. That is too much: the connections need
# some of the Queue's 128 Receives for other messages. One client may have 64, if it went on alone.
more_than_there_is() { [ $(($(credits "$one") + $(credits "$two"))) -ge 128 ]; }

# all_counted CONNECTION - the counters of the Calls' jobs outlive the jobs. The server freed some
# jobs when it lowered a grant.
all_counted() {
	[ "$(of "$1" replies_sent)" -eq "$(of "$1" calls_received)" ] ||
		lab_fail "$(of "$1" replies_sent) Replies to $(of "$1" calls_received) Calls"
}

# choose_rich - set $rich to the client with the larger grant, and $poor to the other client.
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

# loses_its_grant NAME CONNECTION OTHER - run an RPC now and then, beside a busy client OTHER, until
# the server lowers the grant. The server looks at the use of a grant every ten seconds. Its first
# look may still count the RPCs from before.
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

# Faults of mimic. It can lose a Receive, as rxe does if a connection ends amid a message.
FAULTS=/sys/kernel/debug/mimic/r0/faults

# lose_receive NAME - have a message of the client take a Receive for ever. The client has to
# connect again.
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

	### A grant grows only if the client has several Calls at a time

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

	### Two clients need more Receives than the Queue has

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

	### An idle client does not keep its grant

	choose_rich
	sleep 11
	has_all $poor "${!poor}" ||
		lab_fail "an idle client keeps what it had: $(credits "${!poor}")"
	[ "$(of "${!rich}" receive_buffers)" -le $((FIRST + 8)) ] ||
		lab_fail "an idle client's Receives: $(of "${!rich}" receive_buffers)"
	busy $rich
	in_bounds
	! more_than_there_is || lab_fail "the idle one took back what others have"
	# The Receives of an idle client were promised to the other client, too. They suffice
	# here, because only one client at a time has RPCs out.
	no_rnr "as an idle client came back"
	echo "version $version: $(credits "$one") and $(credits "$two") after a rest"

	### While Receives are short, a client that makes few Calls loses its grant

	if [ $version = 2 ]; then
		has_all two "$two" || lab_fail "two was granted $(credits "$two")"
		loses_its_grant two "$two" one ||
			lab_fail "one RPC in 3.5 s keeps $(credits "$two")"
		echo "$(credits "$two") for one RPC in 3.5 s"
	fi

	### While Receives are short, a client with one RPC at a time is granted less

	busy one & other=$!
	sequential two 1000
	must wait $other
	[ "$(credits "$two")" -lt 64 ] ||
		lab_fail "one RPC at a time keeps $(credits "$two")"
	in_bounds
	no_rnr "as little was used"
	echo "version $version: $(credits "$two") where little is used"
	all_counted "$one"
	all_counted "$two"
	must umount /run/two
	must umount /run/one
	lab_until 30 all_closed || lab_fail "a connection was left"
done

### The Queue grows up to receive_memory, and grows again when that is raised

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
# For some seconds, memory still counts as short.
grown() { both_busy; [ "$(queue receives)" -gt "$little" ]; }
lab_until 60 grown || lab_fail "the Queue does not grow again"
echo "$little Receives in 1 MiB, then $(queue receives)"
in_bounds
no_rnr "as memory was short"
must umount /run/two
must umount /run/one
lab_until 30 all_closed || lab_fail "a connection was left"

### The Queue promised more Receives than memory allowed: it adds them when there is memory, even
### if no client needs a larger grant

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

### First grants fill the Queue: then idle clients leave Receives to a busy one

echo 12288 >$parameters/inline_size
echo 64 >$parameters/srq_size
SECONDS=0
for i in {10..19}; do
	must ip address add "192.168.77.$i/24" dev "$LAB_NETDEV"
	client "$i" "192.168.77.$i"
done
last=$(newest)
# Each client is promised six Receives: for four Calls, a CONNPROP and a Reply. If the mounts take
# more than ten seconds, the first clients are idle already, and keep fewer.
promised=$(queue promised)
echo "$promised promised to ten, in $SECONDS s"
[ "$promised" -eq 60 ] || { [ $SECONDS -ge 10 ] && [ "$promised" -ge 40 ]; } ||
	lab_fail "$promised promised to ten"
sleep 11
# busy_gets CREDITS - the last client is busy, and is granted at least so many Calls.
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

### The server replaces Receives that a device lost, and gives up a Queue that lost too many

nfs_stop
# shellcheck disable=SC2034 # lib.sh uses it
PARAMETERS="srq_size=64"
nfs_start mimic
cp /run/data "$LAB_EXPORT/data"
client one "$LAB_SERVER"
client two $address
# More Receives than the Queue has
for i in {1..20}; do
	lose_receive two
done
are_counted() { [ "$(queue lost)" -ge 8 ]; }
lab_until 20 are_counted || lab_fail "$(queue lost) Receives are lost, not 20"
cat $shared
busy one
# For a while, the Queue that was given up is still there.
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
