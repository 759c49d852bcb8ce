#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Part of packages-debian.sh: the steps of a new user in a booted Debian. The user installs the
# packages, exports and mounts over RDMA, upgrades while mounted, and goes back to the kernel's
# own module. The directory /root has the packages, packages of a later version, and the
# packages' own test.
#
#	packages-guest.sh [updated]
#
# updated: the packages are installed, and the kernel is another one than at that time. The
# packages' own test, debian/tests/mount-over-rxe, runs here, too.

set -u
exec >/dev/ttyS1 2>&1
export PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive HOME=/root
cd /root || exit

say() { echo "== $(cut -d ' ' -f 1 /proc/uptime) s: $*"; }
fail() { echo "trial: FAILED: $*"; dmesg | tail -n 30; exit 1; }
must() { "$@" || fail "status $?: $*"; }

# apt COMMAND PACKAGE... - run apt-get, with its output in the file "said", too
apt() {
	local status=0

	apt-get -qy -o Dpkg::Use-Pty=0 "$@" >said 2>&1 || status=$?
	cat said
	[ $status -eq 0 ] || fail "apt-get $*"
}

# version_of head|tail - print the first or the last version of the packages here
version_of() { find . -name 'rpcrdma2-dkms_*.deb' | cut -d _ -f 2 | sort -V | "$1" -n 1; }

device() {
	must modprobe dummy numdummies=1
	must ip addr add 192.168.77.1/24 dev dummy0
	must ip link set dummy0 mtu 9000 up
	must rdma link add r0 type rxe netdev dummy0
}

serve() {
	mkdir -p /srv/export /etc/nfs.conf.d
	printf '[nfsd]\nrdma=y\nrdma-port=20049\n' >/etc/nfs.conf.d/rdma.conf
	echo '/srv/export *(rw,no_root_squash,insecure,fsid=0,no_subtree_check)' >/etc/exports
	must systemctl start nfs-server
	must grep '^rdma 20049' /proc/fs/nfsd/portlist
}

mount_it() {
	must mount -t nfs -o vers=4.2,proto=rdma,port=20049 192.168.77.1:/ /mnt
	must grep 'proto=rdma' /proc/mounts
}

# there_and_back NAME - write a file on the mount, and read it without a cache
there_and_back() {
	must dd if=/dev/urandom of="/root/$1" bs=64k count=64 status=none
	must cp "/root/$1" "/mnt/$1"
	must sync
	must cmp "/root/$1" "/srv/export/$1"
	echo 3 >/proc/sys/vm/drop_caches
	must cmp "/root/$1" "/mnt/$1"
}

# loaded MODULE [VERSION] - check that only this one of the two modules is loaded
loaded() {
	must [ -e "/sys/module/$1" ]
	[ $# -lt 2 ] || must [ "$(cat /sys/module/rpcrdma2/version)" = "$2" ]
	must [ "$(lsmod | grep -c '^rpcrdma')" = 1 ]
}

unload() {
	umount /mnt
	must systemctl stop nfs-server
	for _ in {1..30}; do
		! rmmod "$1" 2>/dev/null || return 0
		sleep 1
	done
	must rmmod "$1"
}

# Install the packages, mount, upgrade, and mount with the new version.
installed_and_upgraded() {
	say "apt install ./rpcrdma2-*_${version}_all.deb, the kernel's own rpcrdma loaded"
	must modprobe rpcrdma
	apt install ./rpcrdma2-dkms_"$version"_all.deb ./rpcrdma2-tools_"$version"_all.deb
	must grep "the kernel's own rpcrdma is loaded" said
	must rmmod rpcrdma

	say "export and mount over RDMA"
	device
	serve
	mount_it
	loaded rpcrdma2 "$version"
	must grep -h ^version: /sys/kernel/debug/rpcrdma2/[0-9]*
	there_and_back first

	say "apt install ./rpcrdma2-*_${next}_all.deb, while it is mounted"
	apt install ./rpcrdma2-dkms_"$next"_all.deb ./rpcrdma2-tools_"$next"_all.deb
	must grep "version $version is loaded, and stays" said
	loaded rpcrdma2 "$version"
	there_and_back second
	must [ "$(modinfo -F version rpcrdma2)" = "$next" ]
	dkms status

	say "the next load has the new version"
	unload rpcrdma2
	must systemctl start nfs-server
	mount_it
	loaded rpcrdma2 "$next"
	there_and_back third
}

# Run the package's own test, and undo what it leaves.
autopkgtest() {
	say "the package's own test, mount-over-rxe"
	must /root/mount-over-rxe
	must rdma link delete r0
	must rmmod dummy
}

booted_after_update() {
	autopkgtest
	say "export and mount over RDMA, after the kernel's update"
	device
	serve
	mount_it
	loaded rpcrdma2 "$version"
	rpcrdma2-doctor --json >said
	must grep RD001 said
	there_and_back first
}

version=$(version_of head)
next=$(version_of tail)
say "Linux $(uname -r), systemd: $(systemctl --version | head -n 1)"
case ${1:-} in
updated) booted_after_update ;;
*)	installed_and_upgraded ;;
esac

say "apt remove rpcrdma2-dkms, while it is mounted"
apt remove rpcrdma2-dkms
loaded rpcrdma2 "$next"
there_and_back fourth

say "the next load is the kernel's own"
unload rpcrdma2
must systemctl start nfs-server
mount_it
loaded rpcrdma
there_and_back fifth
unload rpcrdma
say "done"
echo "trial: passed"
