#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: perf, trace-cmd and bpftrace read every tracepoint, and the figures of
# scripts/rpcrdma2-* agree with mountstats and sunrpc. The kernel needs BPF and perf.
#
#	trace.sh
#	trace.sh all			(also perf trace, which takes minutes)
#	trace.sh mount-and-work		(what is traced)

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

self=$LAB_TREE/tests/trace.sh
scripts=$LAB_TREE/scripts
tools=(latency server-latency forms waits)
declare -A pid_of=()

title() { echo "== $* ($SECONDS s)"; }

# expect WHAT VALUE CONDITION - check VALUE, which is n in CONDITION
expect() {
	echo "$1: $2"
	[ -n "$2" ] || lab_fail "$1: nothing"
	((${3//n/$2})) || lab_fail "$1: $2, not $3"
}

# With this rsize, a direct read of 1 MiB is sixteen READs at once, also on a slow machine.
mount_it() { lab_mount 4.2 rsize=65536; }

# Send messages of all usual forms, without caches.
work_a_little() {
	local dir=$LAB_MOUNT/work i

	mkdir "$dir"
	for i in {1..10}; do
		echo "$i" >"$dir/$i"
	done
	dd if=/dev/zero of="$dir/large" bs=1M count=3 oflag=direct
	dd if="$dir/large" of=/dev/null bs=1M iflag=direct
	dd if="$dir/large" of=/dev/null bs=4k count=20 iflag=direct
	echo 3 >/proc/sys/vm/drop_caches
	cat "$dir"/[0-9]* >/dev/null
	ls -l "$dir" >/dev/null
	rm -r "$dir"
} 2>/dev/null

mount_and_work() {
	must mount_it
	must work_a_little
	must umount "$LAB_MOUNT"
}

### perf, trace-cmd, bpftrace

# same_events COMMAND... - check that COMMAND lists all events, as SUBSYSTEM:NAME
same_events() {
	find $TRACING/events/rpcrdma2 -name 'rpcrdma2_*' -printf 'rpcrdma2:%f\n' |
		sort >/run/events
	"$@" 2>/dev/null | grep -o 'rpcrdma2:rpcrdma2_[a-z_]*' | sort >/run/listed
	must diff /run/events /run/listed
	echo "$1 lists all $(wc -l </run/events) events"
}

# check_text FILE - check a trace in text: each event is parsed, and values have names
check_text() {
	local text

	! grep rpcrdma2_ "$1" | grep -m 5 -v -E 'rpcrdma2_[a-z_]*(: *|\()conn=' ||
		lab_fail "$1: not parsed"
	! grep -m 5 -E 'FAILED TO PARSE|UNKNOWN|REC->|__print' "$1" ||
		lab_fail "$1: not parsed"
	for text in form=inline form=write-chunk form=read-chunk status=OK \
		last=Send 'NEGOTIATING -> READY' 'server peer=192.168.77.1'; do
		grep -q "$text" "$1" || lab_fail "$1: no '$text'"
	done
	expect "$1, events" "$(grep -c rpcrdma2_ "$1")" 'n > 500'
}

# check_quiet FILE - check that a tool's standard error has no complaints
check_quiet() {
	! grep -i -E 'warn|error|fail|unknown|lost|rpcrdma2' "$1" ||
		lab_fail "there are complaints in $1"
}

read_by_perf() {
	same_events perf list 'rpcrdma2:*'
	must perf record -q -a -B -N -m 2048 -e 'rpcrdma2:*' -o /run/perf.data \
		"$self" mount-and-work 2>/run/perf.err
	must perf script -i /run/perf.data >/run/perf.txt 2>>/run/perf.err
	check_quiet /run/perf.err
	check_text /run/perf.txt
}

# (Without --libtraceevent_print, perf trace shows numbers instead of names.)
read_by_perf_trace() {
	must perf trace -a -m 2048 --libtraceevent_print -e 'rpcrdma2:*' \
		-o /run/perf-trace.txt "$self" mount-and-work 2>/run/perf-trace.err
	check_quiet /run/perf-trace.err
	check_text /run/perf-trace.txt
}

read_by_trace_cmd() {
	must trace-cmd record -q -b 8192 -e rpcrdma2 -o /run/trace.dat \
		"$self" mount-and-work >/run/trace-cmd.err 2>&1
	must trace-cmd report -i /run/trace.dat >/run/trace.txt 2>>/run/trace-cmd.err
	check_quiet /run/trace-cmd.err
	check_text /run/trace.txt
}

# The timeline has both ends of each RPC, with all events.
check_timeline() {
	local last rpcs

	must "$scripts/rpcrdma2-timeline.py" --incomplete /run/trace.txt >/run/timeline
	cat /run/timeline
	rpcs=$(grep -c 'rpcrdma2_call_complete' /run/trace.txt)
	last=$(tail -n 1 /run/timeline)
	[ "$last" = "$rpcs RPCs in the trace, 0 of them incomplete" ] ||
		lab_fail "there were $rpcs RPCs"
	"$scripts/rpcrdma2-timeline.py" --slowest 2 /run/perf.txt
}

### The bpftrace tools

# attached TOOL - has the tool attached all its probes? If it has ended, the test fails. The tool
# has a descriptor for each probe except BEGIN, and for the buffer of each CPU.
attached() {
	local probes fds

	kill -0 "${pid_of[$1]}" || {
		cat "/run/$1.out" "/run/$1.err"
		lab_fail "$1 has ended"
	}
	probes=$(sed -n 's/^Attaching \([0-9]*\) probes.*/\1/p' "/run/$1.out")
	fds=$(find "/proc/${pid_of[$1]}/fd" -lname '*perf_event*' 2>/dev/null |
		wc -l)
	[ -n "$probes" ] && [ "$fds" -ge $((probes - 2 + $(nproc))) ]
}

start_tools() {
	local tool

	for tool; do
		"$scripts/rpcrdma2-$tool" >"/run/$tool.out" 2>"/run/$tool.err" &
		pid_of[$tool]=$!
	done
	for tool; do
		must lab_until 60 attached "$tool"
	done
}

ended() { ! kill -0 "${pid_of[$1]}" 2>/dev/null; }

# bpftrace 0.17 ignores a signal that does not interrupt its epoll_wait(), so repeat the signal.
stop_tools() {
	local tool i

	for tool; do
		kill -INT "${pid_of[$tool]}"
	done
	for tool; do
		for ((i = 0; i < 6; i++)); do
			lab_until 20 ended "$tool" && break
			kill -INT "${pid_of[$tool]}"
		done
		ended "$tool" || lab_fail "$tool does not end"
		must wait "${pid_of[$tool]}"
		cat "/run/$tool.out"
		[ ! -s "/run/$tool.err" ] || {
			cat "/run/$tool.err"
			lab_fail "$tool complains"
		}
	done
}

# stats TOOL MAP 'count'|'total' - print a sum of stats() maps. MAP is a pattern.
stats() {
	awk -v map="^@$2:" -v what="$3" -F '[:,]' '
	$0 ~ map {
		for (i = 2; i <= NF; i++)
			if (split($i, word, " ") == 2 && word[1] == what)
				n += word[2]
	}
	END { printf "%.0f\n", n }' "/run/$1.out"
}

# number TOOL MAP [KEY] - print the number in a count() map. Without KEY, add those for all keys.
number() {
	awk -v key="@$2${3:+[$3]}" -F ': ' '
	($1 == key || index($1, key "[") == 1) && NF == 2 { n += $2 }
	END { printf "%.0f\n", n }' "/run/$1.out"
}

# in_hist TOOL MAP - print how many values a histogram has
in_hist() {
	awk -v map="@$2" '
	/^@/ { mine = index($0, map ":") == 1 || index($0, map "[") == 1 }
	mine && /^[[(]/ { sub(/^[^])]*[])] */, ""); n += $1 }
	END { printf "%.0f\n", n }' "/run/$1.out"
}

# The phases add up to an RPC's whole time, with a small difference. sunrpc takes its time a
# little before its event, and in microseconds.
check_latency() {
	local rpcs all sum phase

	rpcs=$(counted complete)
	expect "latency: RPCs" "$(stats latency all_ns count)" "n == $rpcs"
	for phase in queue wait register wire invalidate wakeup all; do
		expect "latency: RPCs in $phase" "$(in_hist latency $phase)" "n == $rpcs"
	done
	all=$(stats latency all_ns total)
	sum=$(stats latency '(queue|wait|register|wire|invalidate|wakeup)_ns' total)
	expect "latency: ns in all" "$all" 'n > 0'
	expect "latency: ns in all phases" "$sum" "n > $((all - all / 50))"
	expect "latency: ns in all phases" "$sum" "n < $((all + all / 20))"
}

check_server_latency() {
	local all

	all=$(stats server-latency all_ns total)
	expect "server-latency: RPCs" "$(stats server-latency all_ns count)" \
		"n == $(counted complete)"
	expect "server-latency: ns in all" "$all" 'n > 0'
	expect "server-latency: ns in all phases" \
		"$(stats server-latency '(thread|read|program|write)_ns' total)" "n == $all"
	expect "server-latency: with Reads" "$(in_hist server-latency read)" 'n > 2'
	expect "server-latency: with Writes" "$(in_hist server-latency write)" 'n > 2'
}

check_forms() {
	local map form rpcs registered

	rpcs=$(counted complete)
	for map in calls_sent calls_received replies_sent replies_received; do
		expect "forms: $map" "$(number forms $map)" "n == $rpcs"
		expect "forms: octets of $map" "$(in_hist forms "octets_$map")" "n == $rpcs"
	done
	for form in inline read-chunk write-chunk; do
		expect "forms: $form" "$(number forms calls_sent $form)" 'n > 2'
	done
	registered=$(counted register)
	expect "forms: registrations" "$(in_hist forms octets_registered)" \
		"n == $registered"
	expect "forms: invalidations" "$(number forms invalidations)" "n == $registered"
}

# There are two credits, and four slots, because sunrpc wants that many. RPCs wait for both.
check_waits() {
	grep -q ': 2 credits granted, 128 requested' /run/waits.out ||
		lab_fail "waits: the grant isn't told"
	expect "waits: for a credit" "$(in_hist waits us_credit)" \
		"n == $(counted credit)"
	expect "waits: for a credit" "$(counted credit)" 'n > 2'
	expect "waits: for a slot" "$(in_hist waits 'us_sunrpc[xprt_backlog]')" 'n > 2'
	expect "waits: Calls" "$(in_hist waits outstanding)" "n >= $(counted complete)"
}

# sends - print the number of Sends in /proc/self/mountstats
sends() { awk '$1 == "xprt:" { n += $8 } END { print n + 0 }' /proc/self/mountstats; }

# uncounted - print how many of the client's messages are in mountstats, but not in its events.
# A client may send a message by itself, so read both until no message comes in between.
uncounted() {
	local sent more

	until [ "${sent:-}" = "$(sends)" ]; do
		sent=$(sends)
		more=$((sent - $(counted calls) - $(counted answers)))
	done
	echo $more
}

# Run the tools beside counts of single events, and beside sunrpc's own counts.
run_tools() {
	local before

	echo 2 >/sys/module/rpcrdma2/parameters/max_requests
	count_event complete rpcrdma2/rpcrdma2_call_complete
	count_event register rpcrdma2/rpcrdma2_mr_register
	count_event credit rpcrdma2/rpcrdma2_wait "reason == 0"
	count_event client rpcrdma2/rpcrdma2_conn_new "active == 1"
	start_tools "${tools[@]}"
	title "Working"
	must mount_it
	count_event calls rpcrdma2/rpcrdma2_call_send \
		"conn == $(last_field client conn)"
	# Newer servers ask for what a delegation's holder knows.
	count_event answers rpcrdma2/rpcrdma2_reply_send \
		"conn == $(last_field client conn)"
	before=$(uncounted)
	must work_a_little
	expect "Calls sent, and counted" "$(counted calls)" 'n > 20'
	expect "Calls sent, and not counted" "$(uncounted)" "n == $before"
	must umount "$LAB_MOUNT"
	title "Stopping the tools"
	stop_tools "${tools[@]}"
}

# Each interval has its own results, and the tool ends after the given time.
trace_as_json() {
	must mount_it
	"$scripts/rpcrdma2-forms" --json -i 2 -d 9 >/run/forms.json 2>/run/forms.err &
	pid_of[forms]=$!
	until ended forms; do
		must stat -f "$LAB_MOUNT" >/dev/null
		sleep 0.3
	done
	must wait "${pid_of[forms]}"
	must umount "$LAB_MOUNT"
	[ ! -s /run/forms.err ] || lab_fail "forms complains: $(cat /run/forms.err)"
	expect "forms, as JSON: intervals with Calls" "$(python3 -c '
import json
found = [json.loads(line) for line in open("/run/forms.json") if line.strip()]
print(sum("inline" in said["data"].get("@calls_sent", {}) for said in found
          if said["type"] == "map"))')" 'n >= 2'
}

if [ "${1:-}" = mount-and-work ]; then
	mount_and_work
	exit
fi

nfs_start rxe
title "perf"
read_by_perf
if [ "${1:-}" = all ]; then
	title "perf trace"
	read_by_perf_trace
fi
title "trace-cmd"
read_by_trace_cmd
check_timeline
title "bpftrace"
same_events bpftrace -l 'tracepoint:rpcrdma2:*'
run_tools
check_latency
check_server_latency
check_forms
check_waits
title "JSON"
trace_as_json
title "Done"
nfs_stop
