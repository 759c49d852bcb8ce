# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2153,SC2154,SC2164,SC2317
#
# Packages, kernels and modules; part of lab.

### Packages

packages() {
	case $1 in
	build)	echo "linux-source-$KERNEL gcc make flex bison bc libelf-dev" \
		     "libssl-dev xz-utils kmod rsync patch ccache" ;;
	guest)	echo "rdma-core rdmacm-utils ibverbs-utils iproute2 kmod" \
		     "nfs-common nfs-kernel-server rpcbind e2fsprogs fio" ;;
	qemu)	echo "qemu-system-x86 busybox-static cpio kmod" ;;
	peer)	echo "gcc make librdmacm-dev libibverbs-dev ibverbs-providers" ;;
	lint)	echo "shellcheck sparse" ;;
	*)	die "no package group '$1'; there are: build guest qemu peer lint" ;;
	esac
}

installed() {
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# deps GROUP... - install what is missing; silent and offline where nothing is.
deps() {
	local group names name missing=()

	for group; do
		names=$(packages "$group")
		for name in $names; do
			installed "$name" || missing+=("$name")
		done
	done
	[ ${#missing[@]} -eq 0 ] || install "${missing[@]}"
}

install() {
	mkdir -p "$CACHE"
	exec 8>"$CACHE/apt.lock"
	flock 8
	step "installing $*" "$CACHE/apt.log" apt_install "$@"
	exec 8>&-
}

apt_install() {
	local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -qy)

	"${apt[@]}" update
	"${apt[@]}" install --no-install-recommends "$@"
}

### Kernels
#
# A kernel lives in $CACHE/kernels/NAME, and NAME has a hash of what it was made
# from. In it:
#   build/	where it was built, and modules are built against
#   root/	what is laid over the host's files in a guest: usr/lib/modules
#   ready	comes last
# How a kernel is named, made and booted is up to its kind; a flavour that
# differs in configuration only is of the same kind.

kind() {
	case ${1:-} in
	uml|debug) echo uml ;;
	qemu) echo qemu ;;
	*) die "no flavour '${1:-}'; there are: uml debug qemu" ;;
	esac
}

# kernel FLAVOUR - make sure that it exists; $kernel is its directory.
kernel() {
	flavour=$1
	kind=$(kind "$flavour")
	[ -d "$LAB/patches/$KERNEL" ] ||
		die "no kernel '$KERNEL'; there are: $(ls "$LAB/patches")"
	deps build guest
	"name_$kind"
	kernel=$CACHE/kernels/$name
	[ ! -e "$kernel/ready" ] || return 0

	mkdir -p "$kernel"
	exec 9>"$kernel/lock"
	flock -n 9 || { say "another lab makes $name; waiting"; flock 9; }
	if [ ! -e "$kernel/ready" ]; then
		"make_$kind"
		touch "$kernel/ready"
	fi
	exec 9>&-
}

# kbuild ARGS... - the kernel's own make.
kbuild() {
	if [ "$kind" = uml ]; then
		set -- ARCH=um CC="ccache gcc" "$@"
	fi
	make -C "$kernel/build" "$@"
}

name_uml() {
	local version

	fragments=("$LAB/config/common.config" "$LAB/config/uml.config")
	[ "$flavour" = uml ] || fragments+=("$LAB/config/$flavour.config")
	patches=("$LAB/patches/$KERNEL"/*.patch)
	version=$(dpkg-query -W -f '${Version}' "linux-source-$KERNEL")
	source=$CACHE/src/linux-$version-$(cat "${patches[@]}" | hash_of)
	name=$flavour-$version-$({ cat "${fragments[@]}"
		echo "$source"; gcc --version; } | hash_of)
}

make_uml() {
	mkdir -p "$CACHE/src" "$kernel/build"
	exec 8>"$source.lock"
	flock 8
	[ -e "$source/ready" ] ||
		step "unpacking $(basename "$source")" "$source.log" unpack_uml
	exec 8>&-

	step "configuring $name" "$kernel/config.log" configure_uml
	check_config
	step "building $name (takes minutes)" "$kernel/build.log" \
		kbuild -j"$(nproc)"
	step "installing the modules of $name" "$kernel/install.log" \
		kbuild modules_install INSTALL_MOD_PATH="$kernel/root/usr"
}

unpack_uml() {
	local patch

	rm -rf "$source"
	mkdir "$source"
	tar -C "$source" --strip-components=1 \
		-xf "/usr/src/linux-source-$KERNEL.tar.xz"
	for patch in "${patches[@]}"; do
		patch -d "$source" -p1 <"$patch"
	done
	touch "$source/ready"
}

configure_uml() {
	cd "$source"
	ARCH=um scripts/kconfig/merge_config.sh -O "$kernel/build" \
		"${fragments[@]}"
}

# Kconfig drops what a kernel doesn't offer; a kernel that lacks what was asked
# for would pass tests that mean nothing.
check_config() {
	local lost

	lost=$(cat "${fragments[@]}" | grep -E '^(# )?CONFIG_' |
	       grep -vxFf "$kernel/build/.config" || true)
	[ -z "$lost" ] || die "lost from the configuration:"$'\n'"$lost"
}

# The distribution's kernel is unpacked, not installed: no boot files, no hooks.
# Its headers are installed, as for any module.
name_qemu() {
	deps qemu
	release=$(dpkg-query -W -f '${Package}\n' | newest_release)
	if [ -z "$release" ]; then
		mkdir -p "$CACHE"
		step "looking for a kernel" "$CACHE/apt.log" apt-get -q update
		release=$(apt-cache pkgnames linux-headers- | newest_release)
	fi
	[ -n "$release" ] || die "apt knows no linux-headers-$KERNEL.*-amd64"
	name=qemu-$release-$(hash_of <"$LAB/guest/initrd.sh")
}

newest_release() {
	sed -nE "s/^linux-headers-(${KERNEL//./\\.}\.[^-]+(-[0-9]+)?-amd64)$/\1/p" |
		sort -V | tail -n 1
}

make_qemu() {
	installed "linux-headers-$release" || install "linux-headers-$release"
	step "downloading linux-image-$release" "$kernel/download.log" \
		download_qemu
	step "unpacking it" "$kernel/unpack.log" unpack_qemu
	step "making its initrd" "$kernel/initrd.log" make_initrd
	ln -sfn "/usr/src/linux-headers-$release" "$kernel/build"
}

download_qemu() {
	cd "$kernel"
	apt-get -q download "linux-image-$release"
}

unpack_qemu() {
	rm -rf "$kernel/root"
	dpkg -x "$kernel/linux-image-$release"_*.deb "$kernel/root"
	# /lib would hide the host's, which is a link to usr/lib.
	mkdir -p "$kernel/root/usr"
	mv "$kernel/root/lib" "$kernel/root/usr/lib"
	mv "$kernel/root/boot/vmlinuz-$release" "$kernel/vmlinuz"
	depmod -b "$kernel/root/usr" "$release"
	rm "$kernel/linux-image-$release"_*.deb
}

# initrd.sh, busybox, and in the order of their names the modules to load.
make_initrd() {
	local dir=$kernel/initrd module number=100

	rm -rf "$dir"
	mkdir -p "$dir/bin" "$dir/modules"
	cp -p "$LAB/guest/initrd.sh" "$dir/init"
	cp /bin/busybox "$dir/bin"
	for module in virtio_pci virtio_net 9pnet_virtio 9p overlay; do
		modprobe -d "$kernel/root/usr" -S "$release" --show-depends "$module"
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' |
	while read -r module; do
		cp "$module" "$dir/modules/$((number++)).ko"
	done
	(cd "$dir" && find . | cpio -o -H newc) >"$kernel/initrd.img"
}

### Modules

# modules FLAVOUR [MAKE-ARGS...] - build the tree's modules, out of the tree;
# $build is where. Called with the result in use, holds $build.lock on fd 9.
modules() {
	[ -e "$TREE/Kbuild" ] || die "no modules in $TREE: it has no Kbuild"
	kernel "$1"
	shift
	build=$CACHE/modules/$name-$(basename "$TREE")-$(echo "$TREE" | hash_of)
	mkdir -p "$build"
	exec 9>"$build.lock"
	flock 9

	# Contents decide, not times: make then sees what changed, and only that.
	rsync -rlp --checksum --delete --exclude={.git,'.*.cmd','*.o','*.ko'} \
		--exclude={'*.mod','*.mod.c',Module.symvers,modules.order} \
		"$TREE/" "$build/"
	[ "$kind" = qemu ] || set -- UBSAN_SANITIZE=y "$@"
	kbuild -s -j"$(nproc)" KCFLAGS=-g M="$build" "$@" modules >&2 || {
		say "building the modules of $TREE for $flavour failed"
		exit 1
	}
}
