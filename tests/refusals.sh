#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Host script: scripts refuse wrong arguments at once, say which ones they take, and have the
# right status. None of them gets to run anything.
#
#	refusals.sh

cd "$(dirname "$(realpath "$0")")/.." || exit
unset LAB_TREE LAB_LIB
passed=0 failed=0
fake=$(mktemp -d)
trap 'rm -rf "$fake"' EXIT

# refuses WORDS COMMAND... - check that COMMAND fails, and says WORDS
refuses() {
	local words=$1 said
	shift

	if said=$(timeout 20 "$@" 2>&1 </dev/null); then
		said="status 0: $said"
	elif grep -q Traceback <<<"$said"; then
		said="a traceback: $said"
	elif grep -qF -e "$words" <<<"$said"; then
		passed=$((passed + 1))
		return
	fi
	failed=$((failed + 1))
	echo "FAIL: $*: not '$words': $said"
}

page=Documentation/protocol/interop.rst
before=$(sha256sum <$page)

refuses 'demo [' tools/demo --bogus
refuses 'bench [--short|--device NAME|--clients|--buffers|--cores|--outages]' tools/bench --bogus
refuses 'bench [--short|--device NAME|--clients|--buffers|--cores|--outages]' tools/bench --short more
refuses 'lab run' tools/lab/lab bogus
refuses "no test is named 'bogus'" tests/check bogus
refuses 'check [' tests/check --bogus
refuses "no test is named 'interop-bogus'" tests/interop bogus
refuses 'interop [CELL' tests/interop --bogus
refuses 'invalid number value' scripts/rpcrdma2-timeline.py --xid bogus
refuses 'No such file' scripts/rpcrdma2-timeline.py /nonexistent
refuses 'unrecognized arguments' scripts/rpcrdma2-doctor --bogus
refuses 'is no directory' scripts/rpcrdma2-doctor --root /nonexistent
refuses '1 to 65535' scripts/rpcrdma2-doctor --port 99999 server
refuses 'name a new file' scripts/rpcrdma2-doctor --report README.md
refuses 'tries no server' scripts/rpcrdma2-doctor --root / server
refuses 'records nothing' scripts/rpcrdma2-doctor --root / --record /run/x
refuses '0 to 4096' scripts/rpcrdma2-ping --size 4097 server
refuses '1 to 65535' scripts/rpcrdma2-ping --port 99999 server
refuses '1 to 65535' scripts/rpcrdma2-ping --port 0 server
refuses '0.1 to 3600' scripts/rpcrdma2-ping --timeout -1 server
refuses '0.1 to 3600' scripts/rpcrdma2-ping --timeout nan server
refuses '0 to 4294967295' scripts/rpcrdma2-ping --program 4294967296 server
refuses 'arguments are required: SERVER' scripts/rpcrdma2-ping
for tool in latency server-latency forms waits; do
	command=scripts/rpcrdma2-$tool
	refuses 'takes a number from 1 to 999999' "$command" -i 0
	refuses 'takes a number from 1 to 999999' "$command" -d
	refuses 'there is no option --bogus' "$command" --bogus
	# Only --help works everywhere.
	if [[ $("$command" --help 2>&1) = "usage: rpcrdma2-$tool [-i SECONDS]"*"rpcrdma2-$tool - "* ]]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAIL: $command --help"
	fi
done
refuses "no connection's number" scripts/rpcrdma2-forms bogus
refuses "takes one connection's number" scripts/rpcrdma2-forms 1 2
refuses "takes no connection's number" scripts/rpcrdma2-waits 1
for command in basename dirname realpath grep sed bash env timeout; do
	ln -s "$(command -v $command)" "$fake"
done
printf '#!/bin/sh\necho 1000\n' >"$fake/id"
chmod 755 "$fake/id"
refuses 'run this as root' env PATH="$fake" scripts/rpcrdma2-forms
printf '#!/bin/sh\necho 0\n' >"$fake/id"
refuses 'bpftrace is not installed' env PATH="$fake" scripts/rpcrdma2-forms
printf '#!/bin/sh\necho it runs\n' >"$fake/bpftrace"
chmod 755 "$fake/bpftrace"
[ -e /sys/module/rpcrdma2 ] ||
	refuses 'the module rpcrdma2 is not loaded' env PATH="$fake" scripts/rpcrdma2-forms
# hostile.sh starts a guest itself.
for script in tests/*.sh tools/bench.d/*.sh; do
	if grep -q '^\. .*:?run this in a guest' "$script"; then
		[ "$script" = tests/hostile.sh ] ||
			refuses 'run this in a guest' bash "$script"
	elif grep -q '^\. .*LAB_' "$script"; then
		failed=$((failed + 1))
		echo "FAIL: $script goes on without the lab's variables"
	fi
done
refuses 'make modules' make -s install MODULE=/nonexistent/rpcrdma2.ko
refuses 'No sources of a kernel' make -s in-tree KDIR=/nonexistent
refuses 'package deb|rpm' tools/package bogus build

[ "$(sha256sum <$page)" = "$before" ] || {
	echo "FAIL: $page was written"
	failed=$((failed + 1))
}

echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
