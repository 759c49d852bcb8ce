#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: rpcrdma2-doctor finds each fault of set-ups that the script breaks one by one,
# and nothing else. doctor_faked.py has the set-ups that a guest can't have: Secure Boot, an
# IOMMU, InfiniBand.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

doctor=$LAB_TREE/scripts/rpcrdma2-doctor
said=/run/doctor.json
kernel=$(uname -r)
updates=/lib/modules/$kernel/updates
parameters=/sys/module/rpcrdma2/parameters

# consult TITLE STATUS [OPTION...] [SERVER] - ask the doctor about the set-up TITLE. The doctor
# must exit with STATUS.
consult() {
	title=$1
	"$doctor" --json "${@:3}" >$said 2>&1
	status=$?
	echo "# $title: $(grep -o '"id": "RD[0-9]*", "level": "\(wrong\|hint\)"' $said |
		grep -o 'RD[0-9]*' | tr '\n' ' ')after $SECONDS s"
	[ $status -eq "$2" ] || complain "status $status"
}

complain() {
	cat $said
	lab_fail "$title: $*"
}

# level ID - print the finding's level: wrong, hint, note or ok. Print nothing if there is no
# such finding.
level() { sed -n "s/.*\"id\": \"$1\", \"level\": \"\([a-z]*\)\".*/\1/p" $said | sort -u; }

# finds ID LEVEL [TEXT] - check that there is a finding of this level, which contains TEXT.
finds() {
	[ "$(level "$1")" = "$2" ] || complain "$1 is '$(level "$1")', not $2"
	grep "\"$1\"" $said | grep -qF -e "${3:-$1}" || complain "$1 does not say '$3'"
}

finds_no() {
	local id

	for id; do
		[ -z "$(level "$id")" ] || complain "$id, of all things"
	done
}

# finds_nothing wrong|hint... - check that no finding has one of these levels.
finds_nothing() {
	local kind

	for kind; do
		! grep -q "\"level\": \"$kind\"" $said || complain "something is a $kind"
	done
}

no_client() { [ -z "$(connection_of client)" ]; }

# finding ID FILE - print a finding's line, without the end that depends on its place.
finding() { sed -n "/\"$1\"/s/}.*//p" "$2"; }

### The module

put_module() {
	must make -s -C "$LAB_TREE" install KVER="$kernel" MODULE="$1"
}

must mkdir -p /etc/nfs.conf.d
must modprobe rpcrdma
consult "the kernel's own module is loaded, and no other there" 1
finds RD002 wrong "the kernel's own module"
finds RD005 wrong "then build and install the module"
finds RD100 wrong
finds RD301 note
must rmmod rpcrdma

sed "s/vermagic=$kernel/vermagic=9${kernel#?}/" "$LAB_MODULES/rpcrdma2.ko" >/run/other.ko
put_module /run/other.ko
consult "a module of another kernel's" 1
finds RD006 wrong "9${kernel#?}"

must cp "$LAB_MODULES/rpcrdma2.ko" "$updates/rpcrdma2.ko"
must mv /etc/modprobe.d/rpcrdma2.conf /run
consult "no file in modprobe.d" 1
finds RD004 wrong
must mv /run/rpcrdma2.conf /etc/modprobe.d

must mv "$updates/rpcrdma2.ko" /run
must depmod
must mv /run/rpcrdma2.ko "$updates"
consult "a module that depmod has not seen" 1
finds RD007 wrong
must depmod

### Devices

must ip link add dummy1 type dummy
must rdma link add r1 type rxe netdev dummy1
must ip link add dummy2 type dummy
must ip link set dummy2 up
must rdma link add r2 type rxe netdev dummy2
must lab_until 10 eval 'rdma link show r2/1 | grep -q ACTIVE'
consult "a device whose link is down, one without an address" 1
finds RD003 ok
finds RD102 wrong "r1/1 is DOWN"
finds RD103 wrong "dummy2 has no IP address"
must rdma link delete r1
must rdma link delete r2

must lab_rdma_up rxe
load_transport
must modprobe nfsd
must mount -t nfsd nfsd /proc/fs/nfsd

### A server

nfs_serve
echo -rdma 20049 >/proc/fs/nfsd/portlist 2>/dev/null
rpc.nfsd 0
rpc.nfsd --no-udp 8
must ip link set "$LAB_NETDEV" mtu 1500
consult "nfsd without the port, and small packets" 1 "$LAB_SERVER"
must ip link set "$LAB_NETDEV" mtu 9000
finds RD105 hint "1024 octets"
finds_no RD100 RD102 RD103
finds RD302 wrong rdma-port=20049
finds RD412 wrong
finds RD405 ok "port 2049 open"
printf '[nfsd]\nrdma=y\nrdma-port=20049\n' >/etc/nfs.conf.d/doctor.conf
rpc.nfsd 0
must rpc.nfsd --no-udp 8
echo Y 2>/dev/null >/proc/fs/nfsd/v4_end_grace

consult "all is right" 0 --record /run/recorded "$LAB_SERVER"
finds_nothing wrong hint
finds RD001 ok
finds RD101 ok "r0/1: RoCE, $LAB_NETDEV, $LAB_SERVER/24"
finds RD303 ok "port 20049, 8 threads"
finds RD405 ok
finds RD414 ok "in version 2 over r0"
finds RD414 ok "in version 1 over r0"
cp $said /run/right.json
consult "... as it was recorded" 0 --root /run/recorded
for id in RD001 RD101 RD303; do
	[ "$(finding $id /run/right.json)" = "$(finding $id $said)" ] ||
		complain "$id is another"
done

must "$doctor" --report /run/report.tar.gz >/run/reported
must grep "no user data" /run/reported
must tar -xzf /run/report.tar.gz -C /run
must grep sys/kernel/debug/rpcrdma2/server /run/rpcrdma2-report-*/CONTENTS
must grep . /run/rpcrdma2-report-*/sys/kernel/debug/rpcrdma2/server
consult "... as an archive has it" 0 --root "$(echo /run/rpcrdma2-report-*)"
for id in RD001 RD101 RD303; do
	[ "$(finding $id /run/right.json)" = "$(finding $id $said)" ] ||
		complain "$id is another"
done

must "$LAB_TREE/scripts/rpcrdma2-ping" fd00:77::1
must mv /dev/infiniband/rdma_cm /run
consult "nothing to try RDMA with" 0 "$LAB_SERVER"
finds RD410 hint rdma_ucm
must mv /run/rdma_cm /dev/infiniband

consult "a name without an address" 1 nobody.invalid
finds RD401 wrong nobody.invalid

echo 1 >$parameters/version
consult "version 1 only" 0 "$LAB_SERVER"
finds RD011 hint
finds RD415 note
finds RD414 ok "in version 1"
echo 0 >$parameters/version

### Paths to a server

must ip route add blackhole 10.8.0.0/16
consult "no route" 1 10.8.0.1
finds RD402 wrong

must ip address add 10.7.0.1/24 dev dummy2
consult "the server is in another interface's subnet" 1 10.7.0.2
finds RD403 wrong "over dummy2"

# To the doctor, a host without RDMA looks like a host behind a firewall.
must ip netns add other
must ip link add veth0 mtu 9000 type veth peer name veth1 netns other
must ip link set veth0 up
must ip address add 10.6.0.1/24 dev veth0
must ip -n other link set veth1 mtu 1500 up
must ip -n other address add 10.6.0.2/24 dev veth1
must rdma link add r6 type rxe netdev veth0
consult "a smaller MTU there, and RDMA is not let through" 1 10.6.0.2
finds RD407 wrong "packets of 1500 octets reach 10.6.0.2, and packets of 9000"
finds RD405 ok "port 2049 closed"
finds RD406 hint
finds RD413 wrong
must tc -n other qdisc add dev veth1 root netem loss 100%
consult "nothing is let through" 1 10.6.0.2
finds RD404 wrong
finds RD413 wrong
must rdma link delete r6
must ip link delete veth0

### Mounts

must lab_mount 4.2
work names
consult "a mount that is in use" 0
finds_nothing wrong hint
finds RD501 ok "$LAB_MOUNT: version 2, "
finds RD601 ok "1 in version 2"

dd if=/dev/urandom of="$LAB_MOUNT/data" bs=16k count=150 oflag=direct status=none
dd if="$LAB_MOUNT/data" of=/dev/null bs=16k iflag=direct status=none
consult "16 KiB at a time" 0
finds RD506 hint "of WRITEs by chunk"
finds RD506 hint inline_size=20480
finds RD507 hint inline_size=20480
must umount "$LAB_MOUNT"

echo 2 >$parameters/max_requests
must lab_mount 4.2
dd if=/dev/zero of="$LAB_MOUNT/waits" bs=1M count=150 conv=fsync status=none
consult "two credits" 0 "$LAB_SERVER"
finds RD420 hint "2 credits"
finds RD508 hint "2 credits, and "
finds_no RD509
! grep -q "and 0.0 RPCs wait" $said || complain "none waits"
echo 128 >$parameters/max_requests

must rpc.nfsd 0
ls "$LAB_MOUNT" >/dev/null 2>&1 &
waiter=$!
must lab_until 30 no_client
consult "a server that is gone" 1
finds RD503 wrong "$LAB_MOUNT"
must rpc.nfsd --no-udp 8
must wait $waiter
consult "it is back" 0
finds RD510 hint "the server closed it"
must umount "$LAB_MOUNT"
nfs_stop
echo "all of it took $SECONDS s"
