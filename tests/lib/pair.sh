# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# These functions are for two guests, a server and a client, that run the same script.

# pair_server [EXPORT [PROVIDER]] - the server's part: serve until the client has finished.
pair_server() {
	nfs_start "${2:-rxe}" "${1:-tmpfs}"
	lab_signal ready
	lab_wait_end
	nfs_stop
	exit
}

# export_on_disk - make an export on a disk that keeps its files, and the server's record of
# clients, when the server restarts. A script can use it as its lab_make_export(), whose
# exports are empty after each restart.
export_on_disk() {
	local image=$LAB_SHARE/disk.img disk=/run/disk

	mkdir -p $disk || return
	if [ "$LAB_BOOT" -eq 1 ]; then
		truncate -s 512M "$image" &&
		mkfs.ext4 -q -O ea_inode "$image" &&
		mount -o loop "$image" $disk &&
		mkdir $disk/export &&
		cp -a /var/lib/nfs $disk/nfs || return
	else
		mount -o loop "$image" $disk || return
	fi
	mount --bind $disk/nfs /var/lib/nfs &&
	mount --bind $disk/export "$LAB_EXPORT"
}

# answer REQUEST... - on the server, until the client has finished: call the function REQUEST
# each time the client sends the signal of that name.
answer() {
	local request

	until [ -e "$LAB_SHARE/.lab-end" ]; do
		for request; do
			lab_wait "$request" 0 2>/dev/null && "$request"
		done
		lab_nap
	done
}

# pair_client VERSION [OPTIONS] - the client's part: mount, once the server is ready.
pair_client() {
	must lab_rdma_up rxe
	load_transport
	must lab_wait ready 120
	must lab_mount "$@"
}

# silence - drop all that this guest sends, until end_silence.
silence() { must tc qdisc add dev "$LAB_NETDEV" root netem loss 100%; }
end_silence() { must tc qdisc del dev "$LAB_NETDEV" root; }

# pair_client_stop - undo pair_client.
pair_client_stop() {
	must umount "$LAB_MOUNT"
	must nfs_unload
}

# true_within SECONDS COMMAND... - try COMMAND until it succeeds, at most until $SECONDS is
# that high. A try that took longer than 0.3 s counts as 0.3 s: this guest got no CPU then,
# and the other guest hardly got more.
true_within() {
	local left=$((($1 - SECONDS) * 1000000)) before now
	shift

	before=${EPOCHREALTIME//[^0-9]/}
	until "$@"; do
		[ $left -gt 0 ] || return 1
		lab_nap
		now=${EPOCHREALTIME//[^0-9]/}
		left=$((left - (now - before < 300000 ? now - before : 300000)))
		before=$now
	done
}

# until_passed START SECONDS - wait until so many seconds after START, a time of date +%s.
until_passed() {
	while (($(date +%s) < $1 + $2)); do
		lab_nap
	done
}
