#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A hostile peer, and an honest mount beside it that must not notice. On this
# machine this builds the peer (tests/peer), and runs itself in a guest.
#
#	hostile.sh client PROVIDER [TEXT]	a client that attacks the server
#	hostile.sh server PROVIDER [TEXT]	a server that the module's client has
#						to bear with
#
# TEXT selects cases. FLAVOUR is the guest's kernel (debug).

if [ -z "${LAB_LIB:-}" ]; then
	tree=$(realpath "$(dirname "$0")/..")
	peer=${RPCRDMA2_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rpcrdma2}/peer
	"$tree/tools/lab/lab" deps peer &&
		make -s -C "$tree/tests/peer" O="$peer" &&
		exec "$tree/tools/lab/lab" run "${FLAVOUR:-debug}" \
			--timeout 900 -e "PEER=$peer/peer" "$0" "$@"
	exit 1
fi

# shellcheck source=tests/lib.sh
. "$LAB_TREE/tests/lib.sh"

# The honest mount works all the time.
honest_start() {
	must lab_mount 4.2
	load_start
}

honest_stop() {
	must load_advances 60
	load_stop
	must umount "$LAB_MOUNT"
}

attack_server() {
	yes hostile 2>/dev/null | head -c 65536 >"$LAB_EXPORT/data"
	: >"$LAB_EXPORT/sink"
	chmod 666 "$LAB_EXPORT/data" "$LAB_EXPORT/sink"
	"$PEER" client "$LAB_SERVER" 20049 "$@"
}

nfs_start "$2"
honest_start
case $1 in
client)	attack_server "${@:3}"; status=$? ;;
esac
honest_stop
nfs_stop
must lab_kmemleak
exit $status
