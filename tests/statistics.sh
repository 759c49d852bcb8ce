#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: known work changes the counters of both ends as it should, and the counters agree
# with mountstats and the totals. Readers do no harm while connections come and go.
#
#	statistics.sh PROVIDER

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

dir=$CONNECTIONS
sysctls=/proc/sys/sunrpc/svc_rdma
READ_CHUNKS=4
ENODEV=19

### The files of a connection's two ends

# Values by "END NAME": as they were taken last, and before some work
declare -A now=() before=()

find_ends() {
	client=$(connection_of client) && server=$(connection_of server) &&
		[ "$(wc -w <<<"$client $server")" -eq 2 ]
}

# take END FILE - read the values in an end's file into $now
take() {
	local lines key line

	mapfile -t lines <"$2" && [ ${#lines[@]} -gt 0 ] || return
	for key in "${!now[@]}"; do
		[[ $key != "$1 "* ]] || unset "now[$key]"
	done
	for line in "${lines[@]}"; do
		now["$1 ${line%%:*}"]=${line##* }
	done
}

# match COUNTER OTHER - is COUNTER of each end the same as OTHER of the other end?
match() { same client "$1" server "$2" && same server "$1" client "$2"; }

# same END COUNTER OTHER-END OTHER - are the two values the same?
same() {
	local one=${now["$1 $2"]:-0} two=${now["$3 $4"]:-0}

	[ "$one" = "$two" ] || {
		difference="$1: $2 is $one, $3: $4 is $two"
		return 1
	}
}

# agree - does each end receive what the other end sends?
agree() {
	local form

	take client "$client" && take server "$server" || return
	for form in '' _inline _read_chunks _position_zero _write_chunks _reply_chunk; do
		match calls_sent$form calls_received$form || return
		match replies_sent$form replies_received$form || return
	done
	match sends receives && match send_octets receive_octets &&
		match errors_sent errors_received
}

must_agree() { lab_until 10 agree || lab_fail "the ends do not agree: $difference"; }

# during COMMAND... - run COMMAND, with the values before it in $before and after it in $now
during() {
	local key

	must_agree
	for key in "${!now[@]}"; do
		before[$key]=${now[$key]}
	done
	must "$@"
	must_agree
	title=$*
}

# check WHAT VALUE CONDITION - check VALUE, which is x in CONDITION
check() {
	local x=$2

	if [ -z "$x" ] || ! ((${3//x/$x})); then
		lab_fail "$1: '$x', not $3"
	fi
	echo "$1: $x"
}

# expect END NAME CONDITION - check by how much a counter has changed, which is x in CONDITION.
# @OTHER in CONDITION is the change of another counter.
expect() {
	local key="$1 $2" condition=$3 other

	while [[ $condition =~ @([a-z_]+) ]]; do
		other="$1 ${BASH_REMATCH[1]}"
		condition=${condition/${BASH_REMATCH[0]}/$((${now[$other]:-0} - ${before[$other]:-0}))}
	done
	check "$title: $key" $((${now[$key]:-0} - ${before[$key]:-0})) "$condition"
}

### The terms of the connection

is() {
	[ "${now["$1 $2"]:-}" = "$3" ] ||
		lab_fail "$1: $2 is '${now["$1 $2"]:-}', not '$3'"
}

# With shared Receives, the server's grant follows the client's needs. siw has no
# shared Receives.
credits() {
	local granted=${now["client requester_credits"]}

	if [ "$provider" = siw ]; then
		is server receive_queue_shared 0
		is client received_credits 128
		check "credits" "$granted" "x == 128"
	else
		is server receive_queue_shared 1
		is client received_credits 4
		check "credits" "$granted" "x >= 4 && x <= 128"
	fi
	is server offered_credits "$granted"
	# A Receive for each credit that the client has, and for each that it grants; and five more
	is client receive_buffers $((granted + 8 + 5))
}

terms() {
	local end

	must_agree
	cat "$client"
	for end in client server; do
		is $end role $end
		is $end state READY
		is $end device r0
		is $end version 2
		is $end dialect v2-09
		is $end offered_rbsiz 12288
		is $end received_rbsiz 12288
		is $end offered_brs inline
		is $end received_brs inline
		is $end inline_send 12288
		is $end inline_receive 12288
		is $end private_remote_inv 1
		is $end remote_invalidation 1
		check "$end: Send Queue" "${now["$end send_queue_depth"]}" "x > 100"
		check "$end: CQ" "${now["$end completion_queue_depth"]}" "x > 100"
	done
	is client peer_address "$LAB_SERVER:20049"
	is server local_address "$LAB_SERVER:20049"
	is client offered_credits 128
	is server received_credits 128
	credits
	is client responder_credits 8
	is client receive_queue_depth 141
	is client connects 1
	is client last_close_status 0
}

### Work. The files are open already, so that only the work is on the wire, and inline Calls that
### an idle client makes now and then.

# read_direct SIZE COUNT - read COUNT times SIZE octets
read_direct() {
	dd iflag=direct bs="$1" count="$2" of=/dev/null status=none <&5
}

write_direct() {
	dd oflag=direct bs="$1" count="$2" if=/run/data status=none >&6
}

list() { find "$LAB_MOUNT/many" >/dev/null; }

# small COMMAND... - check that each RPC is only a Send each way, without a registration and
# without a completion for the Send
small() {
	during "$@"
	expect client calls_sent "x >= 32 && x <= 35"
	expect client calls_sent_inline "x == @calls_sent"
	expect client replies_received_inline "x == @calls_sent"
	expect client sends "x == @calls_sent"
	expect client work_requests "x == @sends + @heartbeats"
	expect client send_doorbells "x == @sends + @heartbeats"
	expect client receives "x == @sends"
	expect client receive_doorbells "x > 0 && x <= @receives"
	expect client completions "x <= @receives + @heartbeats + 4"
	expect client registrations "x == 0"
	expect client local_invalidations "x == 0"
	expect server rdma_reads "x == 0"
	expect server rdma_writes "x == 0"
	expect server work_requests "x == @sends + @heartbeats && @sends == @receives"
}

# large COMMAND SIZE COUNT - check that each RPC has one registration, which the server invalidates
large() {
	during "$@"
	expect client registrations "x == $3"
	expect client remote_invalidations "x == $3"
	expect client local_invalidations "x == 0"
	expect client work_requests "x == $3 + @sends + @heartbeats"
	expect client send_doorbells "x == @sends + @heartbeats"
	expect client calls_sent_position_zero "x == 0"
	expect client calls_sent_reply_chunk "x == 0"
}

# large_reads SIZE COUNT OCTETS
large_reads() {
	large read_direct "$1" "$2"
	expect client calls_sent_write_chunks "x == $2"
	expect client calls_sent_offered_octets "x == $3"
	expect client replies_received_write_chunks "x == $2"
	expect client replies_received_written_octets "x == $3"
	expect server rdma_writes "x == $2"
	expect server rdma_write_octets "x == $3"
	expect server rdma_reads "x == 0"
}

large_writes() {
	large write_direct "$1" "$2"
	expect client calls_sent_read_chunks "x == $2"
	expect client calls_sent_read_octets "x == $3"
	expect server rdma_reads "x == $2"
	expect server rdma_read_octets "x == $3"
	expect server rdma_writes "x == 0"
}

# The server refuses a Read chunk, so the client sends the whole Call in one.
refused() {
	echo $READ_CHUNKS >$INJECT
	during write_direct 64k 1
	expect server errors_sent "x == 1"
	expect server errors_sent_read_chunks "x == 1"
	expect client errors_received_read_chunks "x == 1"
	expect client calls_sent_read_chunks "x == 2"
	expect client calls_sent_position_zero "x == 1"
	expect client registrations "x >= 2"
}

# The names of a directory can't go to a Write chunk, so they need a Reply chunk.
listed() {
	during list
	expect client calls_sent_reply_chunk "x >= 1"
	expect client replies_received_reply_chunk "x >= 1"
	expect client replies_received_written_octets "x > 12288"
}

delegated() {
	exec 7<"$LAB_MOUNT/recalled"
	grep -q old <&7 && [ "$(counted delegation)" -gt 0 ]
}

write_locally() { timeout 60 sh -c "echo new >$LAB_EXPORT/recalled"; }

recall() {
	count_event delegation nfsd/nfsd_deleg_read
	lab_until 10 delegated || lab_fail "there was no delegation"
	during write_locally
	expect server calls_sent "x >= 1"
	expect client calls_received "x >= 1"
	expect client replies_sent_inline "x >= 1"
	exec 7<&-
	count_end
}

### Elsewhere

# Read mountstats with nfs-utils.
read_mountstats() { mountstats=$(mountstats mountstats --xprt "$LAB_MOUNT"); }

# field NAME - print a field of the mountstats that were read last
field() { sed -n "s/.*$1: \([0-9]*\).*/\1/p" <<<"$mountstats"; }

same_field() {
	check "mountstats: $1" "$(field "$1")" "x == ${now["client $2"]}"
}

mountstats_agrees() {
	local name

	must_agree
	must read_mountstats
	same_field Registered calls_sent_offered_octets
	same_field 'RDMA received' replies_received_written_octets
	same_field 'Total pull-up' calls_sent_pullup_octets
	same_field 'Failed marshals' failed_marshals
	same_field 'Bad replies' bad_replies
	same_field 'RDMA_NOMSG calls' calls_sent_position_zero
	same_field 'Allocated MRs' requester_registrations
	same_field 'Local Invalidates needed' local_invalidations
	same_field 'Empty sendctx queue count' send_buffer_waits
	same_field 'Connect count' connects
	check "mountstats: segments" $((\
		$(field 'Read segments') + $(field 'Write segments') + \
		$(field 'Reply segments'))) \
		"x == ${now["client registrations"]}"
	for name in 'XIDs not found' 'Hardway allocations' 'Recovered MRs' \
		'Orphaned MRs' 'Replies that waited for Send completion'; do
		check "mountstats: $name" "$(field "$name")" "x == 0"
	done
}

# totals_agree - are the server's totals the same as its connection's values? There was only one
# connection so far.
totals_agree() {
	local key name

	take server "$server" && take total $dir/server || return
	for key in "${!now[@]}"; do
		name=${key#total }
		[ "$name" = "$key" ] || [ -z "${now["server $name"]:-}" ] ||
			same total "$name" server "$name" || return
	done
}

totals() {
	lab_until 10 totals_agree || lab_fail "the totals are wrong: $difference"
	is total connections 1
	is total connections_accepted 1
}

# sysctl NAME LINE - check that the sysctl lies between two values of the total, one read before
# and one after
sysctl() {
	local least value

	take total $dir/server
	least=${now["total $2"]}
	value=$(cat "$sysctls/rdma_stat_$1")
	take total $dir/server
	check "rdma_stat_$1" "$value" "x >= $least && x <= ${now["total $2"]}"
}

sysctls() {
	sysctl read rdma_reads
	sysctl write rdma_writes
	sysctl recv calls_received
	sysctl sq_starve send_queue_waits
	must eval "echo 0 >$sysctls/rdma_stat_read"
	check "read, set back" "$(cat $sysctls/rdma_stat_read)" "x == 0"
	sysctl write rdma_writes
}

# owned KIND REGEX COUNT - check that all resources that match are this module's, and that there
# are at least COUNT. (The RDMA core has some resources of each kind for itself.)
owned() {
	local all

	all=$(rdma resource show "$1" | grep -E "$2")
	echo "$all"
	check "$1 of [rpcrdma2]" "$(grep -cF '[rpcrdma2]' <<<"$all")" "x >= $3"
	! grep -vF '[rpcrdma2]' <<<"$all" || lab_fail "a $1 is somebody else's"
}

resources() {
	owned qp 'type RC' 2
	owned cq rpcrdma2 2
	owned pd rpcrdma2 2
	owned mr . 16
	owned cm_id 'lqpn [1-9]' 2
}

### Connections that come and go

is_new() { [ "$(connection_of client)" != "$client" ] && find_ends; }

# Remove the device for a moment. The client must reconnect.
reconnect() {
	local written=${now["client replies_received_written_octets"]}

	must rdma link delete r0
	must lab_rdma_up "$provider"
	must timeout 60 stat "$LAB_MOUNT/data" >/dev/null
	lab_until 10 is_new || lab_fail "there is no other connection"
	must_agree
	check connects "${now["client connects"]}" "x >= 2"
	check "last close" "${now["client last_close_status"]}" "x == -$ENODEV"
	check "seconds ago" "${now["client last_close_seconds"]}" "x >= 0 && x < 60"
	must read_mountstats
	check "mountstats: octets of all Replies" "$(field 'RDMA received')" "x >= $written"
}

none_left() { [ -z "$(find $dir -name '[0-9]*')" ]; }

read_on() {
	until [ -e /run/stop ]; do
		cat $dir/* $sysctls/* /proc/self/mountstats 2>/dev/null
	done >/dev/null
}

come_and_go() {
	local i

	read_on &
	read_on &
	for i in {1..8}; do
		must lab_mount 4.2
		lab_until 10 find_ends || lab_fail "no files"
		exec 8<"$client"
		must dd if="$LAB_MOUNT/data" of=/dev/null bs=64k count=4 \
			iflag=direct status=none
		must umount "$LAB_MOUNT"
		lab_until 10 none_left || lab_fail "$(ls $dir) is left"
		! cat <&8 2>/dev/null || lab_fail "there is more to read"
		exec 8<&-
	done
	touch /run/stop
	wait
	echo "$i connections came and went"
}

provider=$1
nfs_start "$provider"
none_left || lab_fail "before any connection there is $(ls $dir)"
must dd if=/dev/urandom of=/run/data bs=1M count=4 status=none
cp /run/data "$LAB_EXPORT/data"
: >"$LAB_EXPORT/new"
echo old >"$LAB_EXPORT/recalled"
mkdir "$LAB_EXPORT/many"
touch "$LAB_EXPORT"/many/a-name-that-is-not-so-short-{1..400}

must lab_mount 4.2
lab_until 10 find_ends || lab_fail "not one file for each end: $(ls $dir)"
exec 5<"$LAB_MOUNT/data" 6<>"$LAB_MOUNT/new"
terms
small read_direct 4k 32
small write_direct 4k 32
large_reads 64k 16 1048576
large_writes 64k 16 1048576
large_reads 1M 2 2097152
large_writes 1M 2 2097152
if can_inject; then
	refused
else
	echo "not seen, as this kernel has no fault injection: errors"
fi
listed
recall
mountstats_agrees
totals
sysctls
resources
exec 5<&- 6<&-
reconnect
# The totals below must have the octets of this connection, too.
must dd if=/dev/zero of="$LAB_MOUNT/new" bs=64k count=1 oflag=direct conv=notrunc status=none
must umount "$LAB_MOUNT"
lab_until 10 none_left || lab_fail "$(ls $dir) is left"
take total $dir/server
is total connections 0
check "octets in all" "${now["total rdma_read_octets"]}" "x > 3145728"
come_and_go
nfs_stop
[ ! -e $dir ] || lab_fail "$dir is left"
must lab_kmemleak
