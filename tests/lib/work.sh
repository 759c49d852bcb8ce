# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Work on a mount.

# work WORKLOAD [NAME [MOUNT]] - run a workload on the mount. If the server is in this guest,
# the workload compares the files with the server's.
work() {
	local name=${2:-$1} server=''

	[ "$LAB_ROLE" = client ] || server=$LAB_EXPORT/$name
	must "$LAB_TREE/tests/workload.py" "$1" "${3:-$LAB_MOUNT}/$name" "$server"
}

# load_start - start work on the mount in the background, until load_stop. It goes on while
# the mount does not respond.
load_start() {
	echo 0 >/run/load.rounds
	rm -f "$LAB_MOUNT/load/stop"
	"$LAB_TREE/tests/workload.py" load "$LAB_MOUNT/load" &
	load=$!
	must load_advances 60
}

# load_advances SECONDS - wait until the load has done five rounds more.
load_advances() { lab_until "$1" load_is_at $(($(cat /run/load.rounds) + 5)); }

load_is_at() { [ "$(cat /run/load.rounds)" -ge "$1" ]; }

# load_stop - end the load. The test fails if the load met an error or lost data.
load_stop() {
	touch "$LAB_MOUNT/load/stop"
	must wait "$load"
}

# replug PROVIDER SECONDS - under load, remove the device and add it again after so many
# seconds; the mount must recover.
replug() {
	must timeout 60 rdma link delete r0
	sleep "$2"
	must lab_rdma_up "$1"
	load_advances 90 || lab_fail "the mount did not come back"
}
