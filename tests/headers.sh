#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Host script: the module builds without a warning from W=1 for each kernel whose headers
# Debian 12, 13 and sid have. The compiler is the one that built the kernel. The build refuses
# a kernel that is too new for compat.h, unless the user insists.

set -u

lab=$(realpath "$(dirname "$0")/..")/tools/lab/lab
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

kernels() {
	cat <<-END
	bookworm-security 6.1
	bookworm-security 6.12
	trixie-security 6.12
	trixie-backports 7.2
	trixie-backports 7.3
	sid 7
	END
}

result() {
	if [ "$1" = 0 ]; then
		passed=$((passed + 1))
		echo "ok: $2"
	else
		failed=$((failed + 1))
		tail -n 40 "$work/log"
		echo "FAILED: $2"
	fi
}

# build SUITE VERSION [MAKE-ARGS...] - build the module for a kernel of a Debian suite.
build() { "$lab" headers "$@" >"$work/log" 2>"$work/lab" </dev/null; }

# is_clean STATUS - the build succeeded without a warning. Then make prints nothing, except that
# it skips BTF.
is_clean() { [ "$1" = 0 ] && ! grep -v 'Skipping BTF generation' "$work/log"; }

refused() { [ "$1" != 0 ] && grep -q '#error.*refused: newer than' "$work/log"; }

while read -r suite version; do
	release=$("$lab" headers "$suite" "$version" --list) || {
		echo "$suite has no headers of $version any more"
		continue
	}
	insist=()
	case $release in
	6.*|7.[0-3].*) ;;
	*)	build "$suite" "$version"
		refused $?
		result $? "$release of $suite is refused"
		insist=(RPCRDMA2_ANY_KERNEL=1) ;;
	esac
	build "$suite" "$version" "${insist[@]}"
	is_clean $?
	result $? "W=1, $release of $suite"
done < <(kernels)

echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
