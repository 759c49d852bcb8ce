#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: README's commands, the doctor and the other tools work on a mount while the
# kernel is locked down, as by Secure Boot. The kernel needs CONFIG_SECURITY_LOCKDOWN_LSM. The
# script loads the module before the lockdown, because the module has no signature.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

lockdown=/sys/kernel/security/lockdown
scripts=$LAB_TREE/scripts
said=/run/doctor.json

# lock LEVEL - lock the kernel down. Nothing can unlock it.
lock() {
	must eval "echo $1 >$lockdown"
	grep -q "\[$1\]" $lockdown || lab_fail "not locked down: $(cat $lockdown)"
	echo "# $(cat $lockdown), after $SECONDS s"
}

# doctor_finds ID TEXT - the last consultation had finding ID, which contains TEXT.
doctor_finds() {
	grep "\"$1\"" $said | grep -qF -e "$2" || {
		cat $said
		lab_fail "the doctor does not find $1 with '$2'"
	}
}

# consult [SERVER] - run the doctor while a mount is in use.
consult() {
	ls "$LAB_MOUNT" >/dev/null
	must "$scripts/rpcrdma2-doctor" --json "$@" >$said
	! grep '"RD502"' $said || lab_fail "the doctor sees no connection"
	doctor_finds RD501 "$LAB_MOUNT: version 2, "
	doctor_finds RD601 "1 in version 2"
}

# see_versions FILE - run the command that this document gives administrators.
see_versions() {
	local command

	command=$(sed -n 's/^ *\(rpcrdma2 conn show\)$/\1/p' "$LAB_TREE/$1")
	[ -n "$command" ] || lab_fail "$1 has no such command"
	must eval "$scripts/$command" >/run/versions
	[ "$(grep -c ' dialect v2-09 ' /run/versions)" -eq 2 ] ||
		lab_fail "$1: $(cat /run/versions)"
}

# read_all - all files of debugfs that are only for reading can be read. The lockdown closes the
# other files, which are left out here.
read_all() {
	local file

	find $CONNECTIONS -type f ! -path '*/control/*' ! -name inject_error >/run/files
	while read -r file; do
		must cat "$file" >/dev/null
	done </run/files
	grep -q '/[0-9]*$' /run/files || lab_fail "no connection has a file"
}

# by_netlink - rpcrdma2 shows and changes a connection, and the doctor works without debugfs.
by_netlink() {
	"$scripts/rpcrdma2" conn show "$LAB_MOUNT" >/run/said
	grep -q "client ready .* mount $LAB_MOUNT\$" /run/said ||
		lab_fail "rpcrdma2 conn show: $(cat /run/said)"
	must "$scripts/rpcrdma2" conn set "$LAB_MOUNT" heartbeat 9 receive-buffer-size 16384
	"$scripts/rpcrdma2" conn show --details "$LAB_MOUNT" >/run/said
	grep -q '^ *heartbeat: *9$' /run/said || lab_fail "$(cat /run/said)"
	must umount /sys/kernel/debug
	consult
	must mount -t debugfs none /sys/kernel/debug
}

# attached - rpcrdma2-forms has attached all probes. It has a descriptor for each CPU's buffer, and
# for each probe but BEGIN and END.
attached() {
	local probes fds

	kill -0 $forms || lab_fail "it has ended: $(cat /run/forms.out)"
	probes=$(sed -n 's/^Attaching \([0-9]*\) probes.*/\1/p' /run/forms.out)
	fds=$(find "/proc/$forms/fd" -lname '*perf_event*' 2>/dev/null | wc -l)
	[ -n "$probes" ] && [ "$fds" -ge $((probes - 2 + $(nproc))) ]
}

forms_ended() { ! kill -0 $forms 2>/dev/null; }

# trace_forms - rpcrdma2-forms sees Calls. It may miss a signal, so send the signal until it ends.
trace_forms() {
	"$scripts/rpcrdma2-forms" >/run/forms.out 2>&1 &
	forms=$!
	must lab_until 60 attached
	must stat -f "$LAB_MOUNT" >/dev/null
	for _ in 1 2 3 4 5 6; do
		kill -INT $forms 2>/dev/null
		lab_until 20 forms_ended && break
	done
	must wait $forms
	grep '^@calls_sent\[' /run/forms.out || lab_fail "no Call: $(cat /run/forms.out)"
}

[ -e $lockdown ] || mount -t securityfs none /sys/kernel/security
[ -e $lockdown ] || skip "this kernel can't be locked down"
must modprobe -a rdma_ucm ib_uverbs
nfs_start rxe
must lab_mount 4.2
must touch "$LAB_MOUNT/file"

lock integrity
see_versions README.md
see_versions Documentation/man/rpcrdma2.7.rst
read_all
by_netlink
consult "$LAB_SERVER"
doctor_finds RD013 integrity
doctor_finds RD414 "in version 2"
must "$scripts/rpcrdma2-ping" "$LAB_SERVER"
! eval "echo rbsiz 8192 >$CONNECTIONS/control/$(basename "$(connection_of client)")" \
	2>/dev/null || lab_fail "a size could be changed"
trace_forms

# At this level, tracing is forbidden, but all counters can be read.
lock confidentiality
see_versions README.md
read_all
by_netlink
consult
doctor_finds RD013 bpftrace
! "$scripts/rpcrdma2-forms" >/run/forms.out 2>&1 || lab_fail "it traces"
grep -i lockdown /run/forms.out || lab_fail "no reason is said: $(cat /run/forms.out)"
must umount "$LAB_MOUNT"
nfs_stop
