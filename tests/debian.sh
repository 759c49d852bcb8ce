# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Make a real Debian to try packages in: a directory for chroot, or a disk for QEMU. It has
# ccache, the distribution's kernel with its headers, and all dependencies of our packages. So
# trying the packages takes no network. Scripts source this file.

debian_release=${DEBIAN:-bookworm}
debian_packages=(linux-image-amd64 linux-headers-amd64 initramfs-tools zstd systemd-sysv
	udev kmod iproute2 dkms openssl rdma-core nfs-kernel-server nfs-common python3
	libjs-sphinxdoc ccache dracut-core)
debian_cache=${RPCRDMA2_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rpcrdma2}/debian
debian_host=http://deb.debian.org

# make_debian DIRECTORY - install Debian in a directory. Its mounts end with mmdebstrap, even if
# that is killed.
make_debian() {
	unshare --mount mmdebstrap --mode=root --variant=important --skip=cleanup/apt \
		--aptopt='APT::Install-Recommends "false"' \
		--include="${debian_packages[*]}" "$debian_release" "$1" - <<-END
	deb $debian_host/debian $debian_release main
	deb $debian_host/debian $debian_release-updates main
	deb $debian_host/debian-security $debian_release-security main
	END
}

# debian DIRECTORY - copy a fresh Debian to a new directory. The first call makes the original,
# which takes minutes and the network.
debian() {
	local kept

	kept=$debian_cache/$debian_release-$({ declare -f make_debian
		echo "${debian_packages[@]}"; } | sha256sum | cut -c 1-10)
	mkdir -p "$debian_cache"
	exec 9>"$kept.lock"
	flock 9
	if [ ! -d "$kept" ]; then
		echo "making a Debian $debian_release in $kept (takes minutes)"
		rm -rf "$kept.new"
		make_debian "$kept.new" >"$kept.log" 2>&1 || {
			tail -n 20 "$kept.log"
			return 1
		}
		mv "$kept.new" "$kept"
	fi
	exec 9>&-
	cp -a "$kept" "$1"
}

# in_debian DIRECTORY COMMAND... - run a command in that Debian, in its own mount namespace, and
# with ccache's files from outside.
in_debian() {
	local root=$1
	shift
	mkdir -p "$debian_cache/ccache" "$root/var/cache/ccache"
	# shellcheck disable=SC2016 # the inner shell's
	env -i PATH=/usr/lib/ccache:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root \
		DEBIAN_FRONTEND=noninteractive CCACHE_DIR=/var/cache/ccache \
		unshare --mount --pid --fork sh -c 'root=$1 ccache=$2; shift 2
			mount -t proc proc "$root/proc" &&
			mount --rbind /dev "$root/dev" &&
			mount --bind "$ccache" "$root/var/cache/ccache" &&
			exec chroot "$root" "$@"' sh "$root" "$debian_cache/ccache" "$@" </dev/null
}

# debian_kernel DIRECTORY - print the release of the newest kernel in that Debian.
debian_kernel() { find "$1"/lib/modules/* -maxdepth 0 -printf '%f\n' | sort -V | tail -n 1; }
