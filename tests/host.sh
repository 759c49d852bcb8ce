#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Host script: all tests that need no kernel pass: the wire codecs in user space, and the checks
# of scripts. The codecs run the KUnit suites and a fuzzer, both with sanitizers. They are also
# compared with rpcgen's.
#
#	host.sh [SECONDS [SEED]]
#
# The fuzzer runs for SECONDS (20). The script builds outside of the tree. If rpcgen or TI-RPC is
# missing, it installs them.

top=$(cd "$(dirname "$0")/.." && pwd)
seconds=${1:-20}
seed=${2:-1}
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
trap 'exit 1' INT TERM
passed=0 failed=0 skipped=0

have_rpcgen() {
	command -v rpcgen >/dev/null && [ -e /usr/include/tirpc/rpc/xdr.h ]
}

install_rpcgen() {
	have_rpcgen && return
	echo "host.sh: installing rpcsvc-proto and libtirpc-dev"
	{
		apt-get -q update &&
		DEBIAN_FRONTEND=noninteractive apt-get -q -y \
			--no-install-recommends install rpcsvc-proto \
			libtirpc-dev
	} >"$out/apt.log" 2>&1 || tail -n 5 "$out/apt.log"
	have_rpcgen
}

# run TITLE COMMAND... - run a program whose last line counts its tests, and add its counts.
run() {
	title=$1
	shift
	echo "### $title"
	"$@" >"$out/log" 2>&1
	status=$?
	cat "$out/log"
	counts=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' \
		"$out/log" | tail -n 1)
	case $counts in
	'')	# the program ended early
		failed=$((failed + 1))
		echo "FAIL: $title: no count, status $status"
		return ;;
	esac
	passed=$((passed + ${counts%% *}))
	skipped=$((skipped + ${counts##* }))
	counts=${counts#* }
	failed=$((failed + ${counts%% *}))
	if [ "$status" -ne 0 ] && [ "${counts%% *}" -eq 0 ]; then
		echo "FAIL: $title: status $status"
		failed=$((failed + 1))
	fi
}

# build DIRECTORY - build a directory of the tree in $out/build.
build() {
	make -s -j "$(nproc)" -C "$top/$1" O="$out/build/$1" all >"$out/make.log" 2>&1 &&
		return
	echo "FAIL: $1 does not build"
	cat "$out/make.log"
	failed=$((failed + 1))
	return 1
}

export UBSAN_OPTIONS=print_stacktrace=1
if build tools/fuzz; then
	run "the KUnit suites for wire/, in user space" \
		"$out/build/tools/fuzz/kunit"
	run "damaged messages" \
		"$out/build/tools/fuzz/fuzz_decode" "$seconds" "$seed"
fi
if ! install_rpcgen; then
	echo "SKIP: wire/ against rpcgen: no rpcgen, or no TI-RPC"
	skipped=$((skipped + 1))
elif build tools/xdr; then
	run "wire/ against rpcgen" "$out/build/tools/xdr/oracle" 20000 "$seed"
fi
run "the tests that Documentation/protocol/statements.rst names" "$top/tests/statements.py"
run "extract-xdr.sh" "$top/scripts/test-extract-xdr.sh"
run "rpcrdma2-doctor, on hosts that are made up" "$top/tests/doctor_faked.py"
run "what scripts refuse" "$top/tests/refusals.sh"
run "whom the lab ends" "$top/tests/lab_guests.sh"

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
