#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: RPCs of every form go over real connections, from and to this guest, in both
# directions.
#
#	echo.sh PROVIDER [TRANSPORT] [PARAMETER=VALUE...] [-- [PARAMETER=VALUE...]]...
#
# PROVIDER is rxe, siw, mimic, or tcp, which needs no device. TRANSPORT is the module under test:
# rpcrdma2 (default) or rpcrdma. If a test fails with the kernel's own rpcrdma, too, the fault may
# be the test's. Each "--" begins another run in the same guest.
#
# Two parameters are for the echo module: suites=NAME,NAME... runs these suites, and only=TEXT
# runs the tests with TEXT in their name. All other parameters are for the transport.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

provider=${1:-rxe}
[ $# -eq 0 ] || shift
transport=rpcrdma2
case ${1:-} in
''|*=*|--) ;;
*)	transport=$1; shift ;;
esac
log=/run/echo.log

# load_transport [PARAMETER=VALUE]...
load_transport() {
	case $transport in
	*/*)	insmod "$transport" ;;
	*)	if [ -e "$LAB_MODULES/$transport.ko" ]; then
			# shellcheck disable=SC2046 # several, or none
			lab_insmod "$transport" $(echo "${PARAMETERS:-}" | tr : ' ') "$@"
		else
			modprobe "$transport"
		fi ;;
	esac
}

# unload MODULE - unload a module. This tries for 30 seconds, because transports are freed some
# time after their last user is gone.
unload() {
	lab_until 30 rmmod "$1" 2>/dev/null || rmmod "$1" ||
		lab_fail "$1 can't be unloaded"
}

# totals pass|fail|skip - add up the numbers in the last lines of all suites.
totals() {
	sed -n "s/^# Totals:.* $1:\([0-9]*\).*/\1/p" "$log" |
		awk '{ n += $1 } END { print n + 0 }'
}

# follows MARK - does the log have a line that is written now?
follows() {
	echo "echo.sh: $1" >/dev/kmsg
	lab_nap 0.2
	grep -q "echo.sh: $1" $log
}

# After a failure, the last events are in share/ of the log.
tracing=/sys/kernel/tracing
events=$tracing/events/rpcrdma2/enable

# reverse_forms_are_counted PARAMETERS - check that the server sent Calls of every form. In v2-01
# it sends no Write chunks, because the client could not refuse one: there is no error for this.
reverse_forms_are_counted() {
	local write_chunks=calls_sent_write_chunks counter

	case $1 in *v2-01*) write_chunks='' ;; esac
	for counter in calls_sent_inline calls_sent_read_chunks \
		       calls_sent_position_zero $write_chunks \
		       calls_sent_reply_chunk remote_invalidations; do
		grep -q "^$counter: *[1-9]" /sys/kernel/debug/rpcrdma2/server ||
			lab_fail "no $counter: $(cat /sys/kernel/debug/rpcrdma2/server)"
	done
}

# echo_suites PARAMETER=VALUE... - load the transport, run its suites, and unload it.
echo_suites() {
	local parameter transports=() echos=() follower

	for parameter; do
		case $parameter in
		suites=*|only=*) echos+=("$parameter") ;;
		*)	transports+=("$parameter") ;;
		esac
	done
	case $provider:$transport in
	tcp:*)	echos+=(proto=tcp) ;;
	# rpcrdma does not support the forms in echo_rare.
	*:rpcrdma) echos=("suites=echo_forms,echo_many,echo_disconnect,echo_reverse,echo_connect"
			  "${echos[@]}") ;;
	esac
	[ "$provider" = tcp ] || load_transport "${transports[@]}" ||
		lab_fail "can't load $transport ${transports[*]}"
	[ ! -e $events ] || echo 1 >$events
	case ${MIMIC:-} in
	*sg_gaps=1*)
		count_event bridging rpcrdma2/rpcrdma2_mr_alloc 'gaps == 1 && count > 0' ;;
	esac
	: >$log
	dmesg --follow-new --notime >$log &
	follower=$!
	must lab_until 20 follows begin
	lab_insmod rpcrdma2_echo_kunit "${echos[@]}" || lab_fail "can't load the tests"
	must lab_until 60 follows end
	kill $follower
	cat $log
	[ ! -e $events ] || cp $tracing/trace /run/trace
	case ${PARAMETERS:-}:$* in
	*reverse=genl*echo_reverse_forms*) reverse_forms_are_counted "${PARAMETERS:-}:$*" ;;
	esac
	case ${MIMIC:-} in
	*sg_gaps=1*)
		[ "$(counted bridging)" -gt 0 ] || lab_fail "no registration bridges gaps"
		count_end ;;
	esac
	unload rpcrdma2_echo_kunit
	[ "$provider" = tcp ] || {
		unload "$(basename "$transport" .ko)"
		nothing_is_mapped
	}

	echo "echo over $provider${*:+, $*}: $(totals pass) passed, $(totals fail) failed," \
	     "$(totals skip) skipped"
	if grep -E '^ *not ok |failed to initialize' $log; then
		[ ! -e /run/trace ] || cp /run/trace "$LAB_SHARE/trace"
		lab_fail "not all tests passed"
	fi
	[ "$(totals pass)" -gt 0 ] || lab_fail "no test ran"
}

[ "$provider" = tcp ] || {
	lab_rdma_up "$provider" || lab_fail "no $provider device"
	dma_now_is_none
}
run=()
for word in "$@" --; do
	if [ "$word" = -- ]; then
		echo_suites "${run[@]}"
		run=()
	else
		run+=("$word")
	fi
done
