#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: client and server work in another network namespace, at the address and port
# of a pair in the first one.
#
# rxe looks up its routes, and has its socket, in the first namespace only. In another
# namespace, an rxe device can only talk to itself. The first namespace must also have an
# interface of the same index and address. siw does not even work in this setup.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

# hold - start a process in namespace "other", with mounts of its own
hold() {
	ip netns exec other sleep infinity &
	disown
	must lab_until 10 is_in_other $!
}

is_in_other() { ip netns pids other | grep -qx "$1"; }

# within PID COMMAND... - run COMMAND with the process's network and mounts. COMMAND may be a
# function of lib.sh, or listen.
within() {
	nsenter --target "$1" --net --mount --root --wd bash -c \
		". $LAB_TREE/tests/lib.sh; $(declare -f listen); \"\$@\"" - "${@:2}"
}

make_other_namespace() {
	local index
	index=$(cat /sys/class/net/dummy0/ifindex)

	must ip netns add other
	ip -n other -batch - <<-END || lab_fail "no network in the other namespace"
	link set lo up
	link add dummy0 index $index type dummy
	addr add $LAB_SERVER/24 dev dummy0
	link set dummy0 mtu 9000 up
	END
	hold
	server=$!
	hold
	client=$!
	must within "$server" mount -t tmpfs nfs /var/lib/nfs
	must within "$server" touch /var/lib/nfs/{etab,rmtab}
	for process in $server $client; do
		must within "$process" mount -t tmpfs mnt /mnt
	done
	must within "$server" rdma link add r1 type rxe netdev dummy0
	must lab_until 10 other_device_is_there
}

other_device_is_there() { rdma link show r1/1 2>/dev/null | grep -q ACTIVE; }

other_device_is_gone() { ! rdma link show r1/1 >/dev/null 2>&1; }

# In that namespace, the kernel keeps no record of NFSv4 clients. So there is no grace period to
# end.
serve_there() { must within "$server" eval 'LAB_BOOT=2; nfs_serve; true'; }

listen() {
	must rpc.nfsd --no-udp 8
	echo Y 2>/dev/null >/proc/fs/nfsd/v4_end_grace
	echo "rdma 20049" >/proc/fs/nfsd/portlist || lab_fail "no listener"
}

# sees WHO COMMAND... - check that COMMAND prints WHO
sees() {
	local answer
	answer=$("${@:2}") || lab_fail "status $?: ${*:2}"

	[ "$answer" = "$1" ] || lab_fail "'$answer' answers, not '$1': ${*:2}"
}

each_sees_its_own() {
	sees first cat "$LAB_MOUNT/who"
	sees other within "$client" cat "$LAB_MOUNT/who"
}

# refuses COMMAND... - check that COMMAND, which mounts, fails. The mount does not try for long.
refuses() {
	! "$@" 4.2 soft,retry=0,timeo=10,retrans=0 2>/dev/null ||
		lab_fail "the other namespace's server answers: $*"
}

make_other_namespace
nfs_start rxe
serve_there
echo first >"$LAB_EXPORT/who"
must within "$server" eval "echo other >$LAB_EXPORT/who"

must lab_mount 4.2
must within "$client" lab_mount 4.2
each_sees_its_own
work offsets &
must within "$client" eval "LAB_ROLE=client; work offsets"
must wait $!

# A netlink socket sees the connections of its own namespace: one client's and one server's.
mine=$("$LAB_TREE/scripts/rpcrdma2" conn show | cut -d : -f 1)
others=$(within "$client" "$LAB_TREE/scripts/rpcrdma2" conn show | cut -d : -f 1)
[[ $(wc -w <<<"$mine") -eq 2 && $(wc -w <<<"$others") -eq 2 &&
	-z $(printf '%s\n' "$mine" "$others" | sort | uniq -d) ]] ||
	lab_fail "connections: $mine; in the other namespace: $others"
for number in $others; do
	! "$LAB_TREE/scripts/rpcrdma2" conn set "$number" heartbeat 9 2>/dev/null ||
		lab_fail "a connection of the other namespace was set"
done

# A server accepts no client of the other namespace.
must within "$client" umount "$LAB_MOUNT"
must within "$server" rpc.nfsd 0
refuses within "$client" lab_mount
must within "$server" listen
must umount "$LAB_MOUNT"
must rpc.nfsd 0
refuses lab_mount
must listen
must lab_mount 4.2
must within "$client" lab_mount 4.2
each_sees_its_own

# The namespace ends with its last process, while the mount is in use. If nothing holds a
# reference to the namespace, its device goes, too.
mapfile -t processes <<<"$(ip netns pids other)"
must ip netns del other
kill -KILL "$client"
must within "$server" rpc.nfsd 0
kill -KILL "${processes[@]}" 2>/dev/null
must lab_until 30 other_device_is_gone
work files
must umount "$LAB_MOUNT"
nfs_stop
