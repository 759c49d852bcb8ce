# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154,SC2164
#
# Builds with the distribution's packages of headers, as their users do; part of lab.
#
# Headers of another suite need the compiler of that suite, and its libc for the programs among
# the headers. So each suite has a directory with headers, everything that a build with them
# needs, and nothing else: $CACHE/headers/SUITE. Packages are unpacked there, not installed.
# The directory is make's root.

# Packages for a build, besides the dependencies of the headers
TOOLS="binutils make dash bash coreutils diffutils findutils grep mawk sed perl kmod"

# headers SUITE VERSION [MAKE-ARGS...] - build the module with the newest headers of that version
# in that suite. The compiler's output goes to stdout.
# headers SUITE VERSION --list - print the release of these headers
headers() {
	local suite=$1 version=$2
	shift 2

	headers_ready "$suite" "$version"
	if [ "${1:-}" = --list ]; then
		echo "$release"
		return
	fi
	say "building for $release of $suite"
	headers_make "$@"
}

# headers_ready SUITE VERSION - make sure that the headers are in $root; $release is their
# kernel's. Keeps $root.lock on fd 9.
headers_ready() {
	debs=$CACHE/debs/$1
	root=$CACHE/headers/$1
	mkdir -p "$debs" "$root"
	exec 9>"$root.lock"
	flock 9
	headers_find "$@"
	[ -e "$root/ready-$release" ] ||
		step "getting headers $release and what builds with them" \
			"$root.log" headers_get
}

# headers_find SUITE VERSION - find $release. As for kernels, apt fetches its lists only once.
headers_find() {
	[ -e "$debs/lists-ready" ] ||
		step "asking $1 for its packages" "$debs.log" update_all "$1"
	release=$(suite_apt apt-cache pkgnames "linux-headers-$2" |
		  KERNEL=$2 newest_release headers)
	[ -n "$release" ] || die "$1 has no linux-headers-$2*-amd64"
}

# update_all SUITE - fetch the lists of a suite, and of the suite that it adds to
update_all() {
	mkdir -p "$debs"/{lists,cache}
	case $1 in
	*-*)	deb_line "${1%%-*}" >"$debs/sources.list" ;;
	*)	: >"$debs/sources.list" ;;
	esac
	deb_line "$1" >>"$debs/sources.list"
	suite_apt apt-get update
	touch "$debs/lists-ready"
}

install_anew() {
	suite_apt apt-get -qq -y --no-install-recommends install "$@"
}

headers_get() {
	# shellcheck disable=SC2086 # several packages
	unpack_all "linux-headers-$release" $TOOLS
	mkdir -p "$root"/{dev,proc,tmp,mnt}
	touch "$root/ready-$release"
}

# unpack_all PACKAGE... - unpack packages and their dependencies in $root
unpack_all() {
	local deb dir

	# List all packages. With an empty cache, apt prints the URI of each.
	mkdir -p "$debs/none/partial"
	install_anew -o Dir::Cache::archives="$debs/none" --print-uris "$@" |
		cut -d ' ' -f 2 >"$debs/files"
	install_anew --download-only "$@"
	mkdir -p "$root"/usr/{bin,sbin,lib,lib64}
	for dir in bin sbin lib lib64; do
		ln -sfn "usr/$dir" "$root/$dir"
	done
	while read -r deb; do
		dpkg-deb --fsys-tarfile "$debs/cache/archives/$deb" |
			tar -x --keep-directory-symlink -C "$root"
	done <"$debs/files"
	ln -sf mawk "$root/usr/bin/awk"
}

headers_make() {
	local name

	name=headers-$release-$(basename "$TREE")-$(echo "$TREE" | hash_of)
	build=$CACHE/modules/$name

	rm -rf "$build"
	mkdir -p "$build"
	copy_tree "$build"
	headers_root make -s -C "/usr/src/linux-headers-$release" M=/mnt \
		-j"$(nproc)" W=1 "$@" modules 2>&1
}

# headers_root COMMAND... - run a command with $root as its root, and with $build as /mnt there
headers_root() {
	local user=()

	[ "$(id -u)" = 0 ] || user=(--map-root-user)
	# shellcheck disable=SC2016 # sh expands them
	unshare --mount "${user[@]}" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin sh -ec '
		mount --bind "$2" "$1/mnt"
		mount --rbind /dev "$1/dev"
		mount --rbind /proc "$1/proc"
		root=$1
		shift 2
		exec chroot "$root" "$@"
	' sh "$root" "$build" "$@"
}
