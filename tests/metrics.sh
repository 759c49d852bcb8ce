#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Host script: Prometheus' promtool accepts the metrics, the alert rules and the dashboard's
# expressions. Each alert fires when it should. The dashboard uses only metrics and labels that
# exist. The script unpacks promtool from Debian's package and does not install the package,
# which would start a server.

set -u

tree=$(realpath "$(dirname "$0")/..")
cache=${RPCRDMA2_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rpcrdma2}/prometheus
promtool=$cache/usr/bin/promtool
dashboard=$tree/etc/prometheus/rpcrdma2.dashboard.json
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
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

# Print the metrics of a machine with a client's and a server's connection; each value is 1.
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

# evaluates DASHBOARD - check that promtool parses each expression, and gets a result
evaluates() {
	"$tree/tests/dashboard.py" --tests "$1" "$work/metrics" >"$work/dashboard.test.yml" &&
		"$promtool" test rules "$work/dashboard.test.yml"
}

# changed SED-EXPRESSION - make a copy of the dashboard with this mistake
changed() {
	sed "$1" "$dashboard" >"$work/changed.json"
	! cmp -s "$dashboard" "$work/changed.json"
}

# refuses REASON SED-EXPRESSION - check that a dashboard with this mistake is refused
refuses() {
	changed "$2" || return
	"$tree/tests/dashboard.py" "$work/changed.json" "$work/metrics" | tee "$work/said"
	grep -q "$1" "$work/said"
}

does_not_evaluate() { changed "$1" && ! evaluates "$work/changed.json"; }

get_promtool || { echo "SKIP: no package of prometheus"; exit 77; }
check "metrics" check_metrics
check "broken metrics are refused" refuses_bad_metrics
check "alert rules" "$promtool" check rules "$tree/etc/prometheus/rpcrdma2.rules.yml"
check "alerts" "$promtool" test rules "$tree/tests/rules.test.yml"

metrics >"$work/metrics"
check "dashboard" "$tree/tests/dashboard.py" "$dashboard" "$work/metrics"
check "dashboard: expressions" evaluates "$dashboard"
check "dashboard: an unknown metric" refuses "there is no metric rpcrdma2_x_total" \
	's/rpcrdma2_credit_waits_total/rpcrdma2_x_total/'
check "dashboard: an unknown label" refuses "rpcrdma2_loaded has no label role" \
	's/rpcrdma2_loaded{/&role=\\"client\\",/'
check "dashboard: an unknown label in a sum" refuses "no.* has a label host" \
	's/sum by (instance)/sum by (host)/'
check "dashboard: an unknown label in a legend" refuses "no.* has a label dev" \
	's/{{device}}/{{dev}}/'
check "dashboard: an unknown variable" refuses "there is no .peers" 's/[$]peer/&s/'
check "dashboard: an unused variable" refuses "peer: nothing uses it" 's/[$]peer/.*/g'
check "dashboard: no data source to choose" refuses "none chooses" 's/"prometheus",$/"loki",/'
check "dashboard: two panels of one id" refuses "several of this id" 's/"id": 2,/"id": 3,/'
check "dashboard: panels that overlap" refuses "lies on" 's/"x": 8,/"x": 7,/'
check "dashboard: panels off the grid" refuses "does not fit" 's/"w": 8,/"w": 9,/'
check "dashboard: an old schema" refuses "schemaVersion" 's/"schemaVersion": .*/"schemaVersion": 16,/'
check "dashboard: a missing field" refuses "lacks a field" '/"gridPos"/d'
check "dashboard: a step below the timer's" refuses "its step" 's/"interval": "1m"/"interval": "15s"/'
check "dashboard: no PromQL" does_not_evaluate 's/sum by (instance) (rate/sum by (instance) ((rate/'
check "dashboard: no result" does_not_evaluate 's/role=\\"client/&s/'
[ $failures -eq 0 ]
