#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Host script: a Debian guest installs the packages, mounts, upgrades, changes its kernel, and
# removes the packages. QEMU boots Debian with its own kernel and systemd, and
# packages-guest.sh has the steps. Then, in a chroot, the kernel is updated to the one of
# backports, and QEMU boots that kernel.
#
#	packages-debian.sh [update]
#
# update: only the kernel's update. DEBIAN=trixie: Debian 13 instead of 12. Without KVM, the
# script takes long, because QEMU emulates the CPU. Without "update", the guest also compiles.

set -u

tree=$(realpath "$(dirname "$0")/..")
lab=$tree/tools/lab/lab
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
root=$work/root
timeout=5400

# shellcheck source=tests/debian.sh
. "$tree/tests/debian.sh"

die() {
	echo "FAILED: $*"
	exit 1
}

# make_debs TREE - build TREE's packages, and copy them to the guest's /root
make_debs() {
	rm -rf "$work/out"
	make -C "$1" deb OUT="$work/out" >"$work/log" 2>&1 || {
		tail -n 30 "$work/log"
		die "make deb"
	}
	cp "$work"/out/*.deb "$root/root"
}

# Build packages of the same source as a later version.
next_version() {
	rsync -a --exclude=.git --exclude-from="$tree/.gitignore" "$tree/" "$work/next/"
	echo 99.0 >"$work/next/VERSION"
	make_debs "$work/next"
}

# boot [updated] - boot the guest, and run packages-guest.sh. The script writes to the second
# serial line.
boot() {
	local script="/root/packages-guest.sh${1:+ $1}" accel="tcg,thread=multi" pid

	! { grep -qwE 'vmx|svm' /proc/cpuinfo && [ -w /dev/kvm ]; } || accel=kvm
	install -m 755 "$tree/tests/packages-guest.sh" "$tree/debian/tests/mount-over-rxe" \
		"$root/root"
	cp "$root/boot/vmlinuz-$kernel" "$root/boot/initrd.img-$kernel" "$work"
	truncate -s 5G "$work/disk"
	mke2fs -q -t ext4 -d "$root" "$work/disk" || die "no disk"
	timeout $timeout qemu-system-x86_64 -accel "$accel" -cpu max -smp 2 -m 2G \
		-nodefaults -display none -no-reboot \
		-serial "file:$work/console" -serial "file:$work/said" \
		-drive "file=$work/disk,format=raw,if=virtio" \
		-kernel "$work/vmlinuz-$kernel" -initrd "$work/initrd.img-$kernel" \
		-append "root=/dev/vda rw console=ttyS0 panic=-1 oops=panic
			systemd.run=\"$script\"
			systemd.run_success_action=poweroff-force
			systemd.run_failure_action=poweroff-force" &
	pid=$!
	tail -n +1 -s 1 --pid=$pid -F "$work/said" 2>/dev/null
	wait $pid
	if ! tr -d '\r' <"$work/said" | grep -qx 'trial: passed'; then
		tail -n 60 "$work/console"
		die "in the guest"
	fi
	"$lab" scan "$work/console" || die "a splat in the guest's log"
}

# Update to the kernel of backports. The postinst scripts of the kernel and of its headers have
# DKMS build the module. (The update needs the network.)
update_kernel() {
	local older=$kernel backports=$debian_release-backports

	echo "deb $debian_host/debian $backports main" >>"$root/etc/apt/sources.list"
	in_debian "$root" sh -c "apt-get update -q && apt-get install -qy \
		--no-install-recommends -t $backports linux-image-amd64 linux-headers-amd64" \
		>"$work/log" 2>&1 || {
		tail -n 60 "$work/log"
		die "the kernel's update"
	}
	kernel=$(debian_kernel "$root")
	[ "$kernel" != "$older" ] || die "no newer kernel was installed"
	in_debian "$root" dkms status
	in_debian "$root" modprobe -n -v --ignore-install -S "$kernel" rpcrdma | tail -n 1 |
		grep "/$kernel/updates/dkms/rpcrdma2.ko" || die "no rpcrdma2 for $kernel"
	in_debian "$root" modprobe -n -v --ignore-install -S "$older" rpcrdma | tail -n 1 |
		grep "/$older/updates/dkms/rpcrdma2.ko" || die "no rpcrdma2 for $older any more"
}

# A kernel installs even if the module was never tried on it. (Debian 12's DKMS counts a module
# that it skips as a failure.)
never_tried() {
	local never=99.0.1-amd64

	mkdir "$root/lib/modules/$never"
	cp -a "$root/lib/modules/$kernel/build" "$root/lib/modules/$never"
	in_debian "$root" run-parts --exit-on-error --arg=$never \
		/etc/kernel/header_postinst.d >"$work/log" 2>&1 ||
		die "a kernel that rpcrdma2 is not for can't be installed: $(cat "$work/log")"
	grep 'was skipped for.*rpcrdma2' "$work/log" || die "DKMS says nothing of it"
	rm -r "$root/lib/modules/$never"
}

# Print which module an initramfs has if it was told to have rpcrdma.
in_initramfs() {
	in_debian "$root" update-initramfs -u -k "$kernel" >/dev/null &&
		in_debian "$root" lsinitramfs "/boot/initrd.img-$kernel" |
		sed -n 's|.*/\(rpcrdma2\?\)\.ko.*|\1|p'
}

check_initramfs() {
	local had

	echo rpcrdma >>"$root/etc/initramfs-tools/modules"
	had=$(in_initramfs)
	[ "$had" = rpcrdma2 ] || die "initramfs: $had"
	in_debian "$root" apt-get purge -qy rpcrdma2-dkms >/dev/null 2>&1 || die "apt purge"
	had=$(in_initramfs)
	[ "$had" = rpcrdma ] || die "initramfs, without rpcrdma2: $had"
	echo "initramfs: rpcrdma2; rpcrdma again without the package"
}

"$lab" deps deb debian qemu || exit
case ${1:-} in
update) ;;
'')	debian "$root" || exit 1
	kernel=$(debian_kernel "$root")
	make_debs "$tree"
	next_version
	echo "== A guest with Debian $debian_release and Linux $kernel"
	boot
	rm -rf "$root" ;;
*)	die "packages-debian.sh [update]" ;;
esac

debian "$root" || exit 1
kernel=$(debian_kernel "$root")
echo "== An update of Linux $kernel"
make_debs "$tree"
in_debian "$root" sh -c 'apt-get install -qy --no-install-recommends \
	/root/rpcrdma2-*.deb' >"$work/log" 2>&1 || {
	tail -n 30 "$work/log"
	die "apt install"
}
update_kernel
[ "$debian_release" = bookworm ] || never_tried
echo "== A guest with Debian $debian_release and Linux $kernel"
boot updated
check_initramfs
echo "passed in $((SECONDS / 60)) min"
