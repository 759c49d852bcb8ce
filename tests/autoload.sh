#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: after "make install", a request for RPC over RDMA loads this module. The
# kernel's own rpcrdma has the same aliases.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

loads_for() { modprobe -n -v --ignore-install "$1" | sed -n 's|^insmod .*/\(.*\)\.ko.*|\1|p' | tail -n 1; }

# The mount fails, because there is no server. It only has to request the module.
ask_by_mount() {
	mount -t nfs -o vers=4.2,proto=rdma,port=20049,retry=0,soft,timeo=10,retrans=0 \
		"$LAB_SERVER:/" /mnt 2>/dev/null
}

# The kernel's own rpcrdma is loaded when rpcrdma2 is installed. A kernel can hold only one of
# them. The log names the one in the way, and a command that unloads it. (The command is not
# modprobe -r: after the installation, modprobe takes "rpcrdma" as an alias of rpcrdma2.)
must modprobe rpcrdma
must make -s -C "$LAB_TREE" install KVER="$(uname -r)" \
	MODULE="$LAB_MODULES/rpcrdma2.ko"
! lab_insmod rpcrdma2 2>/dev/null || lab_fail "rpcrdma and rpcrdma2 are both loaded"
advice=$(dmesg | sed -n 's/.*rpcrdma2: another module .* unload it first (\(.*\))$/\1/p')
[ -n "$advice" ] || lab_fail "the log does not say that rpcrdma is in the way"
must eval "$advice"
[ ! -e /sys/module/rpcrdma ] || lab_fail "'$advice' does not unload rpcrdma"

for name in rpcrdma rpcrdma6 svcrdma xprtrdma; do
	[ "$(loads_for $name)" = rpcrdma2 ] ||
		lab_fail "$name loads '$(loads_for $name)'"
done

# A server loads the module by the name of its listener.
must lab_rdma_up rxe
nfs_serve
[ -e /sys/module/rpcrdma2 ] || lab_fail "nfsd did not load rpcrdma2"
must rpc.nfsd 0
must nfs_unload

# A client loads the module by the mount's proto=.
ask_by_mount
[ -e /sys/module/rpcrdma2 ] || lab_fail "mount did not load rpcrdma2"
[ ! -e /sys/module/rpcrdma ] || lab_fail "the kernel's own rpcrdma is loaded"
must nfs_unload

# A kernel without rpcrdma2 uses its own rpcrdma, and the log says so.
must rm "/lib/modules/$(uname -r)/updates/rpcrdma2.ko"
must depmod
! modprobe rpcrdma2 || lab_fail "modprobe loaded rpcrdma, and didn't say so"
dmesg | grep -q "rpcrdma2: can't be loaded, so the kernel's own rpcrdma is" ||
	lab_fail "the log does not say that there is no rpcrdma2"
must rmmod rpcrdma
ask_by_mount
[ -e /sys/module/rpcrdma ] || lab_fail "no rpcrdma2, and no rpcrdma"
must lab_until 30 rmmod rpcrdma

must make -s -C "$LAB_TREE" uninstall KVER="$(uname -r)"
[ "$(loads_for rpcrdma)" = rpcrdma ] ||
	lab_fail "uninstalled, rpcrdma loads '$(loads_for rpcrdma)'"
