# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Jobs of the script. Host scripts may read this file, too.

# wait_for_any PID... - wait until one of these jobs has ended. Its PID is in $ended then.
#
# "wait -n" can sleep on after the job's end (bash 5.2): the handler of SIGCHLD takes the job's
# status after bash looked for jobs that ended, and before bash sleeps.
wait_for_any() {
	local running

	while :; do
		running=" $(jobs -rp | tr '\n' ' ')"
		for ended; do
			[[ $running = *" $ended "* ]] || return 0
		done
		sleep 0.2
	done
}
