#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: the netlink family and rpcrdma2(8) show what debugfs shows, take settings,
# send events, and refuse malformed requests. Dumps are complete while connections come and
# go, and Prometheus can read the metrics.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

tool=$LAB_TREE/scripts/rpcrdma2
parameters=/sys/module/rpcrdma2/parameters
second=/run/second
many=/run/many
events=/run/events
seed=${1:-1}

# json EXPRESSION COMMAND... - print EXPRESSION of d, which is the output of rpcrdma2 COMMAND
json() {
	local said

	said=$("$tool" --json "${@:2}") || lab_fail "status $?: rpcrdma2 ${*:2}: $said"
	python3 -c 'import json, sys; d = json.loads(sys.argv[2]); print(eval(sys.argv[1]))' \
		"$1" "$said"
}

# is VALUE EXPRESSION COMMAND... - check that EXPRESSION has this value
is() {
	local found

	found=$(json "${@:2}") || lab_fail "status $?: ${*:2}"
	[ "$found" = "$1" ] || lab_fail "${*:2}: '$found', not '$1'"
}

becomes() { lab_until 20 test_is "$@" || is "$@"; }
test_is() { [ "$(json "${@:2}")" = "$1" ]; }

# refuses TEXT COMMAND... - check that rpcrdma2 ends with status 1 and prints TEXT
refuses() {
	local status

	"$tool" "${@:2}" >/run/said 2>&1
	status=$?
	{ [ $status -eq 1 ] && grep -qF -e "$1" /run/said; } ||
		lab_fail "status $status: rpcrdma2 ${*:2}: $(cat /run/said)"
}

# number_of MOUNT - print the number of the mount's first connection
number_of() { json 'd["connections"][0]["connection"]' conn show "$1"; }

### Events

listens() { awk -v id="$monitor" '$3 == id && $4 !~ /^0*$/ { n++ } END { exit !n }' /proc/net/netlink; }

watch_events() {
	"$tool" --json monitor >$events &
	monitor=$!
	must lab_until 20 listens
}

stop_watching() {
	kill "$monitor"
	wait "$monitor" 2>/dev/null
}

# has_event EVENT EXPRESSION - is there an EVENT for which EXPRESSION is true? c is the
# connection.
has_event() {
	python3 - "$@" <<-'END'
	import json, sys
	for line in open("/run/events"):
	    d = json.loads(line)
	    c = d["connection"]
	    if d["event"] == sys.argv[1] and eval(sys.argv[2]):
	        sys.exit(0)
	sys.exit(1)
	END
}

event() { lab_until 20 has_event "$@" || lab_fail "no event $*: $(cat $events)"; }

### Values that are shown

# same_as_debugfs - does debugfs have the same values? Skip values that change by themselves.
same_as_debugfs() {
	local file

	for file in "$CONNECTIONS"/[0-9]*; do
		"$tool" --json conn show "${file##*/}" >/run/by-netlink || return
		python3 - "$file" <<-'END' || return
		import json, sys
		by_netlink = json.load(open("/run/by-netlink"))["connections"][0]
		for line in open(sys.argv[1]):
		    name, value = (word.strip() for word in line.split(":", 1))
		    if name.endswith("seconds") or value == "-":
		        continue
		    other = str(by_netlink.get(name, "nothing"))
		    if value.lower() != other.lower():
		        sys.exit(f"{name}: {value} in debugfs, {other} by netlink")
		END
	done
}

show() {
	is 4 'len(d["connections"])' conn show
	is 1 'd["format"]' conn show
	is 1 'len(d["connections"])' conn show "$LAB_MOUNT"
	is "['$LAB_MOUNT']" 'd["connections"][0]["mounts"]' conn show "$LAB_MOUNT"
	is "['client', 'server']" 'sorted({c["role"] for c in d["connections"]})' \
		conn show "$LAB_SERVER"
	is "$(readlink /proc/self/ns/net | tr -cd 0-9)" 'd["connections"][0]["netns"]' conn show
	[ -e "$(echo /sys/kernel/sunrpc/xprt-switches/*/xprt-"$(json \
		'd["connections"][0]["xprt_id"]' conn show "$LAB_MOUNT")"-rdma)" ] ||
		lab_fail "sunrpc has no such transport"
	lab_until 10 same_as_debugfs || lab_fail "debugfs says something else"
	refuses "no NFS mount" conn show /run
	refuses "no connection" conn show 4000000000
	refuses "no host" conn show no..host
	"$tool" conn show --details >/run/said || lab_fail "no details"
	grep -q '^ *calls_sent: *[1-9]' /run/said || lab_fail "$(cat /run/said)"
	is 2 'd["client"]["connections"]' stat
	is True 'd["server"]["calls_received"] > 0' stat
	is True 'd["machine"]["read_pages_limit"] > 0' stat
}

in_another_namespace() {
	must ip netns add other
	[ "$(ip netns exec other "$tool" conn show | wc -l)" -eq 0 ] ||
		lab_fail "connections of this namespace are seen in another"
	must ip netns exec other "$LAB_TREE/tests/netlink.py" absent "$1"
	ip netns exec other "$tool" --json stat >/run/said || lab_fail "no totals there"
	! grep -q machine /run/said || lab_fail "the machine's memory is shown there"
	grep -q '"connections_made": 0' /run/said || lab_fail "$(cat /run/said)"
	must ip netns del other
}

set_values() {
	local id=$1

	must "$tool" conn set "$LAB_MOUNT" heartbeat 7
	is 7 'd["connections"][0]["heartbeat"]' conn show "$id"
	must "$tool" conn set "$id" heartbeat 0
	is 0 'd["connections"][0]["heartbeat"]' conn show "$id"
	must "$tool" conn set "$id" heartbeat 1 receive-buffer-size 32768
	is 32768 'd["connections"][0]["receive_buffer_size"]' conn show "$id"
	work files resize &
	becomes 32768 'd["connections"][0]["offered_rbsiz"]' conn show "$id"
	must wait $!
	# Now the connection has a heartbeat each second.
	becomes True 'd["connections"][0]["heartbeats"] > 1' conn show "$id"
	refuses "multiple of 1024" conn set "$id" receive-buffer-size 5000 heartbeat 9
	is 1 'd["connections"][0]["heartbeat"]' conn show "$id"
	must "$tool" conn set "$id" heartbeat 5
	refuses "cannot be set" conn set "$id" role server
}

### Metrics

metrics() {
	must "$tool" stat --prometheus --output /run/metrics
	python3 - <<-'END' || lab_fail "metrics: see above"
	import re, sys
	kinds, seen = {}, set()
	for line in open("/run/metrics"):
	    kind = re.fullmatch(r"# TYPE (\w+) (counter|gauge)\n", line)
	    if kind:
	        kinds[kind[1]] = kind[2]
	    elif not line.startswith("# HELP "):
	        sample = re.fullmatch(r'(\w+)(\{\w+="[^"]*"(,\w+="[^"]*")*\})? (\d+)\n', line)
	        if not sample or sample[1] not in kinds or line.split()[0] in seen:
	            sys.exit(f"bad sample: {line}")
	        if (kinds[sample[1]] == "counter") != sample[1].endswith("_total"):
	            sys.exit(f"bad name: {line}")
	        seen.add(" ".join(line.split()[:-1]))
	for wanted in ('rpcrdma2_errors_sent_total{role="server",code="bad_xdr"}',
	               'rpcrdma2_connections{role="client"}', "rpcrdma2_loaded"):
	    if wanted not in seen:
	        sys.exit(f"lacks {wanted}")
	END
	! command -v promtool >/dev/null ||
		must promtool check metrics </run/metrics
}

### While connections come and go

come_and_go() {
	while [ ! -e /run/enough ]; do
		lab_mount 3 nosharecache,nconnect=2 /run/goes && umount /run/goes || return
	done
}

crowd() {
	local churn stay

	rm -f /run/enough
	must lab_mount 4.1 nconnect=8 $many
	must eval "for i in {1..30}; do ls $many >/dev/null; stat -f $many >/dev/null; done"
	# sunrpc closes a connection that had no RPC for five minutes.
	must stat -f $second >/dev/null
	# Guests have no /dev/fd.
	"$tool" conn show | cut -d : -f 1 >/run/stay
	mapfile -t stay </run/stay
	come_and_go &
	churn=$!
	must "$LAB_TREE/tests/netlink.py" dump 8 "${stay[@]}"
	touch /run/enough
	must wait $churn
	must umount $many
}

### A server that is set to version 1 while its client asks for version 2

has_begun() { [ "$(counted begun)" -gt 0 ]; }

# falls_back - set the server to version 1 while the client's request is delayed. The server
# reads the parameter when the request arrives.
falls_back() {
	must tc qdisc add dev lo root netem delay 2s
	count_event begun rpcrdma2/rpcrdma2_conn_new 'active == 1'
	lab_mount 4.2 &
	must lab_until 20 has_begun
	must eval "echo 1 >$parameters/version"
	sleep 2
	must tc qdisc del dev lo root
	must wait $!
	event fallback 'c["dialect"] == "v1" and c["peer_address"].startswith("192.")'
	is 1 'd["client"]["dialect_fallbacks"]' stat
	is v1 'd["connections"][0]["dialect"]' conn show "$LAB_MOUNT"
	must eval "echo 0 >$parameters/version"
}

# no_heartbeat - siw has no heartbeats, and nobody can change that.
no_heartbeat() {
	is 0 'd["connections"][0]["heartbeat"]' conn show "$LAB_MOUNT"
	refuses "the device is siw" conn set "$LAB_MOUNT" heartbeat 5
}

refuses "not loaded" conn show
nfs_start rxe
watch_events
must lab_mount 4.2
must ip address add 192.168.77.2/24 dev "$LAB_NETDEV"
LAB_SERVER=192.168.77.2 must lab_mount 3 '' $second
work files
id=$(number_of "$LAB_MOUNT")
event conn_ready "c['connection'] == $id and c['role'] == 'client'"
event conn_ready "c['role'] == 'server'"
show
in_another_namespace "$id"
set_values "$id"
metrics
must "$LAB_TREE/tests/netlink.py" malformed "$id" "$seed"
crowd
must umount $second
must umount "$LAB_MOUNT"
event conn_lost "c['connection'] == $id and c['close_status'] == -108 and c['calls_sent'] > 9"
event conn_lost "c['role'] == 'server' and c['close_status'] == -103"
becomes 0 'd["client"]["connections"]' stat
is True 'd["client"]["connections_made"] > 10 and d["client"]["calls_sent"] > 9' stat
becomes True 'd["server"]["calls_received"] == d["client"]["calls_sent"]' stat
stop_watching
nfs_stop

nfs_start siw
watch_events
falls_back
no_heartbeat
must umount "$LAB_MOUNT"
stop_watching
nfs_stop
