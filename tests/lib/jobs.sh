# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Jobs of the script. Host scripts may read this file, too.

# wait_for_any PID... - wait until one of these jobs has ended. Its PID is in $ended then.
#
# "wait -n" of bash 5.2 can miss the end of a job, and sleep on. Bash looks for ended jobs, then
# sleeps. In between, its handler of SIGCHLD can take the job's status.
wait_for_any() {
	local running

	while :; do
		running=$'\n'$(jobs -rp)$'\n'
		for ended; do
			[[ $running = *$'\n'$ended$'\n'* ]] || return 0
		done
		sleep 0.2
	done
}
