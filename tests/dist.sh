#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Host script: the tarball of "make dist" is the same each time, knows its version, builds,
# installs, and runs its own tests. It contains all committed files, without git's history. A
# tree from a tarball cannot make another tarball, so the test is skipped there.
#
#	dist.sh [all]
#
# With "all", the tarball's tests include one in a guest, which needs all modules to be built.

set -u

tree=$(realpath "$(dirname "$0")/..")
cache=${RPCRDMA2_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rpcrdma2}/dist
copy=$cache/tree
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
version=$("$tree/tools/version")
# shellcheck source=tests/report.sh
. "$tree/tests/report.sh"
tests=dissect
[ "${1:-}" != all ] || tests="dissect wire"

# same_version COMMAND... - the last word that COMMAND prints is the tree's version.
same_version() {
	local said

	said=$("$@") && echo "$said" && [ "${said##* }" = "$version" ]
}

make_dist() { make -s -C "$tree" dist OUT="$1"; }

made_twice() {
	make_dist "$work/one" && make_dist "$work/two" && diff -r "$work/one" "$work/two"
}

has_all() {
	diff <(git -c safe.directory='*' -C "$tree" ls-tree -r --name-only HEAD | sort) \
	     <(cd "$copy" && find . ! -type d ! -path ./VERSION ! -path ./rpcrdma2.spec |
	       cut -c 3- | sort)
}

no_history() { [ ! -e "$copy/.git" ]; }

install_all() {
	make -s -C "$copy" install-source install-tools DESTDIR="$work/root" OUT="$work/build"
}

# DKMS gets the source without tools/, so the version is in a file.
source_has_version() {
	cat "$work/root/usr/src/rpcrdma2-$version/VERSION"
}

in_manual_page() { grep -h '^\.TH' "$work/root/usr/share/man/man7/rpcrdma2.7"; }

spec_version() { sed -n 's/^Version:[[:space:]]*//p' "$copy/rpcrdma2.spec"; }

module_version() {
	local headers

	headers=$("$copy/tools/lab/lab" kernel qemu)/build &&
	make -s -C "$copy" -j"$(nproc)" modules CC="ccache gcc" KDIR="$headers" >&2 &&
	modinfo -F version "$copy/net/sunrpc/xprtrdma/rpcrdma2.ko"
}

run_tests() { make -C "$copy" check TESTS="$tests" JOBS=1; }

if [ ! -e "$tree/.git" ]; then
	echo "SKIP: a tarball does not make another"
	exit 77
fi
"$tree/tools/lab/lab" deps docs || exit
mkdir -p "$cache"
exec 9>"$cache/lock"
flock 9
check "make dist, twice the same" made_twice
rm -rf "$copy"
mkdir "$copy"
tar -C "$copy" --strip-components=1 -xzf "$work/one/rpcrdma2-$version.tar.gz" || exit
check "the tarball has what is committed" has_all
check "no history" no_history
check "tools/version" same_version "$copy/tools/version"
check "rpcrdma2.spec" same_version spec_version
check "make install-source install-tools" install_all
check "the module's source" same_version source_has_version
check "rpcrdma2-doctor" same_version "$work/root/usr/sbin/rpcrdma2-doctor" --version
check "rpcrdma2-waits" same_version "$work/root/usr/sbin/rpcrdma2-waits" --version
check "rpcrdma2(7)" grep -F "$version" <(in_manual_page)
check "MODULE_VERSION" same_version module_version
check "make check TESTS=\"$tests\"" run_tests
[ $failures -eq 0 ]
