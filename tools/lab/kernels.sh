# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2153,SC2154,SC2164,SC2317
#
# Gets packages, and builds kernels and modules; part of lab.

### Packages

packages() {
	case $1 in
	build)	echo "gcc make flex bison bc libelf-dev libssl-dev xz-utils" \
		     "kmod rsync patch ccache" ;;
	guest)	echo "rdma-core rdmacm-utils ibverbs-utils iproute2 procps kmod" \
		     "nfs-common nfs-kernel-server rpcbind e2fsprogs fio" \
		     "krb5-kdc krb5-admin-server" ;;
	qemu)	echo "qemu-system-x86 busybox-static cpio kmod pahole" ;;
	arm64)	echo "qemu-system-arm gcc-aarch64-linux-gnu cpio kmod" ;;
	capture) echo "tcpdump tshark" ;;
	trace)	echo "bpftrace trace-cmd linux-perf" ;;
	peer)	echo "gcc make librdmacm-dev libibverbs-dev ibverbs-providers" ;;
	lint)	echo "shellcheck sparse python3-yaml" ;;
	model)	echo "spin gcc tcc" ;;
	mutate)	echo "gcc libc6-dev tcc" ;;
	prove)	echo "gcc libc6-dev frama-c-base" ;;
	docs)	echo "python3-sphinx" ;;
	deb)	echo "build-essential debhelper dh-dkms python3-sphinx rsync" ;;
	rpm)	echo "rpm cpio python3-sphinx rsync" ;;
	debian)	echo "mmdebstrap lintian e2fsprogs" ;;
	*)	die "no package group '$1'; there are: build guest qemu arm64 capture" \
		    "trace peer lint model mutate prove docs deb rpm debian" ;;
	esac
}

installed() {
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# deps GROUP... - install missing packages. If none is missing, do it silently and offline.
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

### The distribution's packages of a kernel
#
# They are in $debs, which is $CACHE/debs/$KERNEL. They are downloaded and unpacked, but not
# installed, because they are for guests. The machine may have any other kernel. Here apt has
# lists of lab's own, with only the suite that has this kernel. So the machine's lists don't
# change.

# deb_line SUITE - print apt's line for a suite, with the mirror that the machine uses. (Debian 12
# has the keys of Debian 13.)
deb_line() {
	local archive=debian main=bookworm mirror

	case $1 in
	*-security) archive=debian-security main=bookworm-security ;;
	esac
	mirror=$(apt-get update --print-uris |
		 sed -n "s|^'\(.*\)/dists/$main/InRelease'.*|\1|p")
	echo "deb ${mirror:-http://deb.debian.org/$archive} $1 main"
}

# suite - print the suite of Debian that has this kernel
suite() {
	case $KERNEL in
	6.1)	echo bookworm-security ;;
	6.12)	echo bookworm-backports ;;
	7.3)	echo trixie-backports ;;
	esac
}

# The architecture of packages, by Debian's name
architecture=amd64

# suite_apt COMMAND... - run apt-get or apt-cache with that suite only, as if nothing were
# installed: the machine's packages may be from another suite
suite_apt() {
	local command=$1
	shift

	: >"$debs/status"
	"$command" -q -o APT::Architecture="$architecture" -o APT::Architectures="$architecture" \
		-o Dir::Etc::SourceList="$debs/sources.list" \
		-o Dir::Etc::SourceParts=- -o Dir::State::Lists="$debs/lists" \
		-o Dir::State::status="$debs/status" -o Dir::Cache="$debs/cache" "$@"
}

# lock_debs, unlock_debs - keep other labs out while this one reads or changes $debs and its lists
lock_debs() {
	mkdir -p "$debs"
	exec 7>"$debs.lock"
	flock 7
}

unlock_debs() { exec 7>&-; }

suite_update() {
	mkdir -p "$debs"/{lists,cache}
	deb_line "$(suite)" >"$debs/sources.list"
	suite_apt apt-get update
}

# fetch NAME... - download packages that are missing
fetch() {
	local name missing=()

	lock_debs
	for name; do
		[ -e "$(deb "$name")" ] || missing+=("$name")
	done
	[ ${#missing[@]} -eq 0 ] ||
		step "downloading ${missing[*]}" "$debs.log" download "${missing[@]}"
	unlock_debs
}

# (A package gets its name here when it is complete.)
download() {
	suite_update
	mkdir -p "$debs/partial"
	cd "$debs/partial"
	suite_apt apt-get download "$@"
	mv ./*.deb ..
}

# deb NAME - print the file of a package
deb() { find "$debs" -maxdepth 1 -name "$1_*.deb" | sort -V | tail -n 1; }

### Kernels
#
# A kernel lives in $CACHE/kernels/NAME. NAME has a hash of everything that the kernel was made
# from. The directory contains:
#   build/	the build directory, also for builds of modules
#   root/	the files to lay over the host's in a guest: usr/lib/modules, and for another
#		architecture all programs
#   ready	a mark that is made last
# The kind of a kernel decides how it is named, made and booted. Flavours of one kind differ in
# configuration only.

kind() {
	case ${1:-} in
	uml|debug) echo uml ;;
	qemu) echo qemu ;;
	kcsan|iommu) echo x86 ;;
	arm64) echo arm64 ;;
	*) die "no flavour '${1:-}'; there are: uml debug qemu kcsan iommu arm64" ;;
	esac
}

check_version() {
	[ -d "$LAB/patches/$1" ] ||
		die "no kernel '$1'; there are: $(cd "$LAB/patches" && echo *)"
}

# kernel FLAVOUR - make sure that the kernel exists; $kernel is its directory
kernel() {
	flavour=$1
	kind=$(kind "$flavour")
	check_version "$KERNEL"
	debs=$CACHE/debs/$KERNEL
	mkdir -p "$debs"
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

# kbuild ARGS... - run the kernel's own make. Headers of a newer suite need the tools of that
# suite.
#
# CCACHE_DEPEND has ccache use the compiler's list of files, instead of running the preprocessor.
kbuild() {
	local -x CCACHE_DEPEND=1

	case $kind:$(suite) in
	uml:*|x86:*|arm64:*)
		make -C "$kernel/build" ARCH="$arch" CROSS_COMPILE="$cross" \
			CC="ccache ${cross}gcc" "$@" ;;
	*:bookworm-*) make -C "$kernel/build" "$@" ;;
	*)	root=$CACHE/headers/$(suite) headers_root \
			make -C "/usr/src/linux-headers-$release" \
			"${@//"$build"//mnt}" ;;
	esac
}

# without_comments FILE... - print configurations, patches and scripts without comments, since
# words change no kernel.
without_comments() {
	awk 'FNR == 1 { patch = FILENAME ~ /[.]patch$/ }
	     /^--- / { patch = 0 }
	     !patch && !/^[ \t]*(#|$)/ || /^# CONFIG_/' "$@"
}

# name_source ARCH CROSS-COMPILE FILE... - name a kernel that is built here. The name depends on
# the FILEs as it does on the source.
name_source() {
	local version

	arch=$1 cross=$2
	shift 2
	fragments=("$LAB/config/common.config" "$LAB/config/$kind.config")
	[ "$flavour" = "$kind" ] || fragments+=("$LAB/config/$flavour.config")
	[ ! -e "$LAB/config/$flavour-$KERNEL.config" ] ||
		fragments+=("$LAB/config/$flavour-$KERNEL.config")
	patches=("$LAB/patches/$KERNEL"/*.patch)
	fetch "linux-source-$KERNEL"
	version=$(dpkg-deb -f "$(deb "linux-source-$KERNEL")" Version)
	source=$CACHE/src/linux-$version-$(without_comments "${patches[@]}" | hash_of)
	name=$flavour-$version-$({ without_comments "${fragments[@]}" "$@"
		echo "$source"; "${cross}gcc" --version; } | hash_of)
}

make_source() {
	mkdir -p "$CACHE/src" "$kernel/build"
	exec 8>"$source.lock"
	flock 8
	[ -e "$source/ready" ] ||
		step "unpacking $(basename "$source")" "$source.log" unpack_source
	exec 8>&-

	step "configuring $name" "$kernel/config.log" configure_source
	check_config
	step "building $name (takes minutes)" "$kernel/build.log" \
		kbuild -j"$(nproc)"
	step "installing the modules of $name" "$kernel/install.log" \
		kbuild modules_install INSTALL_MOD_PATH="$kernel/root/usr"
}

unpack_source() {
	local patch

	rm -rf "$source"
	mkdir "$source"
	dpkg-deb --fsys-tarfile "$(deb "linux-source-$KERNEL")" |
		tar -xO "./usr/src/linux-source-$KERNEL.tar.xz" |
		tar -C "$source" --strip-components=1 -xJ
	for patch in "${patches[@]}"; do
		patch -d "$source" -p1 <"$patch"
	done
	touch "$source/ready"
}

configure_source() {
	cd "$source"
	ARCH=$arch CROSS_COMPILE=$cross scripts/kconfig/merge_config.sh -n -O "$kernel/build" \
		"${fragments[@]}"
}

# Kconfig drops options that a kernel doesn't offer. Tests in a kernel without them would prove
# nothing. KERNEL.gone lists options that this kernel may lack.
check_config() {
	local lost gone=$LAB/config/$KERNEL.gone

	[ -e "$gone" ] || gone=/dev/null
	lost=$(cat "${fragments[@]}" | grep -E '^(# )?CONFIG_' |
	       grep -vxFf "$kernel/build/.config" | grep -vxFf "$gone" || true)
	[ -z "$lost" ] || die "lost from the configuration:"$'\n'"$lost"
}

name_uml() { name_source um ""; }
make_uml() { make_source; }

name_x86() {
	deps qemu
	name_source x86_64 "" "$LAB/guest/initrd.sh"
}

make_x86() {
	make_source
	cp "$kernel/build/arch/x86/boot/bzImage" "$kernel/vmlinuz"
	step "making its initrd" "$kernel/initrd.log" make_initrd
}

# The packages of an arm64 guest's programs. They are unpacked, not installed. /etc, users and
# alternatives are the host's, which has the same packages.
ARM64_PROGRAMS="busybox-static bash coreutils dash diffutils findutils grep mawk sed libc-bin
	util-linux mount procps kmod iproute2 nfs-common nfs-kernel-server rpcbind e2fsprogs
	python3"

name_arm64() {
	deps arm64
	name_source arm64 aarch64-linux-gnu- "$LAB/guest/initrd.sh" <(echo "$ARM64_PROGRAMS")
}

make_arm64() {
	make_source
	cp "$kernel/build/arch/arm64/boot/Image" "$kernel/vmlinuz"
	step "getting what it runs" "$kernel/root.log" get_arm64
	step "making its initrd" "$kernel/initrd.log" make_initrd
}

name_qemu() {
	deps qemu
	lock_debs
	release=$(find "$debs" -name '*.deb' -printf '%f\n' | cut -d _ -f 1 |
		  newest_release image)
	if [ -z "$release" ]; then
		step "looking for a kernel" "$debs.log" suite_update
		release=$(suite_apt apt-cache pkgnames linux-image- |
			  newest_release image)
	fi
	unlock_debs
	[ -n "$release" ] || die "apt knows no linux-image-$KERNEL.*-amd64"
	name=qemu-$release-$(without_comments "$LAB/guest/initrd.sh" | hash_of)
}

# newest_release image|headers - print the newest release of the packages on standard input.
# Debian signs an image, so it may come some days after the headers of its release.
newest_release() {
	sed -nE "s/^linux-$1-(${KERNEL//./\\.}\.[^-]+(-[0-9]+)?-amd64)$/\1/p" |
		sort -V | tail -n 1
}

# Headers are in several packages, and so is the image of a newer kernel.
make_qemu() {
	local packages=("linux-headers-$release" "linux-image-$release") name

	fetch "${packages[@]}"
	mapfile -t -O 2 packages < <(
		for name in "${packages[@]}"; do
			dpkg-deb -f "$(deb "$name")" Depends |
			grep -oE 'linux-(headers|kbuild|base|binary|modules)-[^ ,]+'
		done | sort -u)
	fetch "${packages[@]}"
	step "unpacking $release" "$kernel/unpack.log" \
		unpack_qemu "${packages[@]}"
	case $(suite) in
	bookworm-*) ;;
	*)	(headers_ready "$(suite)" "$KERNEL") ;;
	esac
	step "making its initrd" "$kernel/initrd.log" make_initrd \
		virtio_pci virtio_net 9pnet_virtio 9p overlay
	ln -sfn "root/usr/src/linux-headers-$release" "$kernel/build"
}

# unpack_qemu NAME... - unpack packages below root/, as if they were installed there
unpack_qemu() {
	local name root=$kernel/root

	rm -rf "$root"
	for name; do
		dpkg -x "$(deb "$name")" "$root"
	done
	# A directory /lib would hide the host's /lib, which is a link to usr/lib.
	if [ -e "$root/lib" ]; then
		mkdir -p "$root/usr/lib"
		mv "$root/lib/modules" "$root/usr/lib"
		rmdir "$root/lib"
	fi
	mv "$(find "$root" -name 'vmlinuz*')" "$kernel/vmlinuz"
	depmod -b "$root/usr" "$release"
	sed -i "s|^include /usr/src|include $root/usr/src|" \
		"$root/usr/src/linux-headers-$release/Makefile"
}

# (Each step runs in a subshell, so these variables stay inside.)
get_arm64() {
	debs=$CACHE/debs/bookworm-arm64 root=$kernel/root architecture=arm64
	update_all bookworm
	# shellcheck disable=SC2086 # several packages
	unpack_all $ARM64_PROGRAMS
}

# make_initrd [MODULE...] - pack initrd.sh, busybox and modules. initrd.sh loads modules in the
# order of their names.
make_initrd() {
	local dir=$kernel/initrd module number=100

	rm -rf "$dir"
	mkdir -p "$dir/bin" "$dir/modules"
	cp -p "$LAB/guest/initrd.sh" "$dir/init"
	# For another architecture, root/ has the guest's busybox.
	cp "$kernel/root/bin/busybox" "$dir/bin" || cp /bin/busybox "$dir/bin"
	for module; do
		modprobe -d "$kernel/root/usr" -S "$release" --show-depends "$module"
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' |
	while read -r module; do
		xzcat -f "$module" >"$dir/modules/$number.ko"
		number=$((number + 1))
	done
	(cd "$dir" && find . | cpio -o -H newc) >"$kernel/initrd.img"
}

### Modules

# counts_lines - do the modules count which lines run? Only debug's kernel supports that.
counts_lines() { [ -n "${LAB_COVERAGE:-}" ] && [ "$flavour" = debug ]; }

# copy_tree DIRECTORY [RSYNC-OPTION...] - copy the tree for a build. rsync compares contents, not
# times, so make sees only what changed. The copy has no history, so it gets its version in a file.
copy_tree() {
	rsync -rlp "${@:2}" --checksum --delete --exclude={.git,'.*.cmd','*.o','*.ko'} \
		--exclude={'*.mod','*.mod.c','*.gcno',Module.symvers,modules.order,/VERSION} \
		"$TREE/" "$1/"
	[ $# -gt 1 ] || "$TREE/tools/version" >"$1/VERSION"
}

# modules FLAVOUR [MAKE-ARGS...] - build the tree's modules in $build, a copy of the tree. A
# warning is an error.
#
# Returns with $build.lock on fd 9, for the time that the caller uses the result. Modules that count
# lines have a directory of their own. Without MAKE-ARGS, an unchanged tree is not built again.
modules() {
	local told new=all

	[ -e "$TREE/Kbuild" ] || die "no modules in $TREE: it has no Kbuild"
	kernel "$1"
	shift
	told=$*
	build=$CACHE/modules/$name-$(basename "$TREE")-$(echo "$TREE" | hash_of)
	if counts_lines; then
		build+=-gcov
		set -- GCOV_PROFILE=y "$@"
	fi
	mkdir -p "$build"
	exec 9>"$build.lock"
	flock 9

	if [ -z "$told" ] && [ -e "$build.made" ]; then
		new=$(copy_tree "$build" --dry-run --itemize-changes)
	fi
	[ -n "$new" ] || return 0
	rm -f "$build.made"
	copy_tree "$build"
	[ "$kind" != uml ] || set -- UBSAN_SANITIZE=y "$@"
	kbuild -s -j"$(nproc)" W=1 KCFLAGS="-g -Werror" M="$build" CONFIG_RDMA_MIMIC=m \
		"$@" modules >&2 || {
		say "building the modules of $TREE for $flavour failed"
		exit 1
	}
	[ -n "$told" ] || touch "$build.made"
}
