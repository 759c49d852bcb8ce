#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Host script: Wireshark's dissector takes all of version 2, names the faults of malformed
# messages, and survives damaged ones. Its numbers and names are the same as in the codecs.
#
#	dissect.sh [SEED]

set -u

tree=$(realpath "$(dirname "$0")/..")
seed=${1:-1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

# dissect [OPTIONS] - print a line FRAME|VERSION-1|VERSION-2|REMARKS for each frame.
dissect() {
	tshark -X lua_script:"$tree/tools/wireshark/rpcrdma2.lua" "$@" \
		-r "$work/pcap" -T fields -E separator='|' -e frame.number \
		-e rpcordma.xid -e rpcrdma2 -e _ws.expert.message 2>"$work/errors"
}

# as_expected EXPECTED VERSION-1 VERSION-2 REMARKS
as_expected() {
	[[ $4 != *Lua* ]] || return
	case $1 in
	any)	[[ $3 = 'RPC-over-RDMA version 2, '* ]] ;;
	fine)	[[ $3 = 'RPC-over-RDMA version 2, '* && $4 != *Malformed* ]] ;;
	"of 2016") [[ $3 = 'RPC-over-RDMA version 2, of 2016, '* && $4 != *Malformed* ]] ;;
	part)	[[ $3 = *'part of a Send' ]] ;;
	cut)	[[ $4 = *'Not captured as a whole'* && $4 != *Malformed* ]] ;;
	v1)	[[ -n $2 && -z $3 ]] ;;
	*)	[[ $4 =~ Malformed:\ .*$1 ]] ;;
	esac
}

check() {
	local frame expected what same version1 version2 remarks

	if ! dissect "$@" >"$work/dissected"; then
		cat "$work/errors"
		echo "FAILED: tshark $*"
		failed=$((failed + 1))
	fi
	while IFS='|' read -r frame expected what same version1 version2 remarks; do
		if [ "$frame" = "$same" ] &&
		   as_expected "$expected" "$version1" "$version2" "$remarks"; then
			passed=$((passed + 1))
		else
			echo "FAILED: $what: expected '$expected', not '$version2', '$remarks'"
			failed=$((failed + 1))
		fi
	done < <(paste -d '|' "$work/expected" "$work/dissected")
}

"$tree/tools/lab/lab" deps capture || exit
"$tree/tests/malformed.py" "$work/pcap" "$seed" >"$work/expected" || exit
check
"$tree/tests/tables.py" || failed=$((failed + 1))
check -2	# two passes, the first without fields, as in Wireshark
echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
