#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# On this machine: Prometheus' own promtool takes the metrics of rpcrdma2(8) and the alert
# rules, and each alert fires when it should. promtool is unpacked from Debian's package and
# not installed, as that package would start a server.

set -u

tree=$(realpath "$(dirname "$0")/..")
cache=${RPCRDMA2_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rpcrdma2}/prometheus
promtool=$cache/usr/bin/promtool
# shellcheck source=tests/report.sh
. "$tree/tests/report.sh"

get_promtool() {
	local directory

	[ ! -x "$promtool" ] || return 0
	directory=$(mktemp -d) || return
	(cd "$directory" && apt-get -q download prometheus) &&
		mkdir -p "$cache" && dpkg-deb -x "$directory"/prometheus_*.deb "$cache"
	local status=$?
	rm -rf "$directory"
	return $status
}

# Of a machine with a connection of either role; each value is 1.
metrics() {
	python3 -B - "$tree" <<-'END'
	import sys
	sys.path.insert(0, f"{sys.argv[1]}/tests")
	import abi
	tool = abi.module(abi.TOP / "scripts/rpcrdma2")
	sums = dict(abi.totals(tool))
	conns = [{**tool.flat(abi.sample(tool, "conn:")), "connection": number, "role": role,
	          "peer_address": '[fe80::1]:20049', "device": "r0"}
	         for number, role in enumerate(tool.ENUMS["role"], 1)]
	tool.Netlink, tool.totals, tool.connections = lambda: None, lambda _: sums, lambda _: conns
	print(tool.exposition(), end="")
	END
}

check_metrics() { metrics | "$promtool" check metrics; }

refuses_bad_metrics() { ! (metrics; echo "rpcrdma2_x{") | "$promtool" check metrics; }

get_promtool || { echo "SKIP: no package of prometheus"; exit 77; }
check "metrics" check_metrics
check "broken metrics are refused" refuses_bad_metrics
check "alert rules" "$promtool" check rules "$tree/etc/prometheus/rpcrdma2.rules.yml"
check "alerts" "$promtool" test rules "$tree/tests/rules.test.yml"
[ $failures -eq 0 ]
