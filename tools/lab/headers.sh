# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154,SC2164
#
# Building against the distribution's packages of headers, as their users do; part of
# lab.
#
# Those of another suite need that suite's compiler, and its libc for the programs
# among them. So each suite has a directory with headers and all that it takes to
# build with them, and nothing else: $CACHE/headers/SUITE. It is unpacked there, not
# installed, and make has it as its root.

# Besides what a package of headers depends on
TOOLS="binutils make dash bash coreutils diffutils findutils grep mawk sed perl kmod"

# headers SUITE VERSION [MAKE-ARGS...] - build the module against the newest headers of
# that version in that suite. All that the compiler says goes to stdout.
# headers SUITE VERSION --list - print which those are
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

# headers_ready SUITE VERSION - make sure that they are there, in $root; $release is
# the kernel's. Holds $root.lock on fd 9.
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

# As for the others' lists, apt is asked once.
headers_find() {
	[ -e "$debs/lists-ready" ] ||
		step "asking $1 for its packages" "$debs.log" update_all "$1"
	release=$(suite_apt apt-cache pkgnames "linux-headers-$2" |
		  KERNEL=$2 newest_release headers)
	[ -n "$release" ] || die "$1 has no linux-headers-$2*-amd64"
}

# update_all SUITE - with all that it needs of others
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

# unpack_all PACKAGE... - and what they depend on, in $root
unpack_all() {
	local deb dir

	# All of them: what is in the cache already has no URI to print.
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

# headers_root COMMAND... - with $root as its root, and $build as /mnt there
headers_root() {
	local user=()

	[ "$(id -u)" = 0 ] || user=(--map-root-user)
	# shellcheck disable=SC2016 # sh expands those
	unshare --mount "${user[@]}" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin sh -ec '
		mount --bind "$2" "$1/mnt"
		mount --rbind /dev "$1/dev"
		mount --rbind /proc "$1/proc"
		root=$1
		shift 2
		exec chroot "$root" "$@"
	' sh "$root" "$build" "$@"
}
