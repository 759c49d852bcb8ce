#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Host script: a small kernel builds with the module in its own sources, with =y and with =m.
# The test copies a kernel's sources, and "make in-tree" adds the module.
#
#	in-tree.sh

set -eu

tree=$(realpath "$(dirname "$0")/..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# config y|m - print the options that RPCRDMA2 depends on or makes use of.
config() {
	cat <<-END
	CONFIG_64BIT=y
	CONFIG_SMP=y
	CONFIG_MODULES=y
	CONFIG_MODULE_UNLOAD=y
	CONFIG_MULTIUSER=y
	CONFIG_FILE_LOCKING=y
	CONFIG_PROC_FS=y
	CONFIG_SYSFS=y
	CONFIG_SYSCTL=y
	CONFIG_PCI=y
	CONFIG_NET=y
	CONFIG_INET=y
	CONFIG_INFINIBAND=y
	CONFIG_INFINIBAND_USER_ACCESS=y
	CONFIG_INFINIBAND_ADDR_TRANS=y
	CONFIG_NETWORK_FILESYSTEMS=y
	CONFIG_NFS_FS=y
	CONFIG_NFS_V4=y
	CONFIG_NFS_V4_1=y
	CONFIG_INOTIFY_USER=y
	CONFIG_NFSD=y
	CONFIG_NFSD_V4=y
	CONFIG_SUNRPC_XPRT_RDMA=m
	CONFIG_RPCRDMA2=$1
	END
}

kbuild() { make -s -C "$work/src" O="$work/build" CC="ccache gcc" "$@"; }

# build y|m TARGET... - configure the kernel with RPCRDMA2=y or m, and make TARGETs. The module must
# build without a warning.
build() {
	local value=$1
	shift

	config "$value" >"$work/wanted"
	kbuild KCONFIG_ALLCONFIG="$work/wanted" allnoconfig
	grep -x "CONFIG_RPCRDMA2=$value" "$work/build/.config" || {
		grep -vxFf "$work/build/.config" "$work/wanted"
		echo "FAILED: lost from the configuration"
		exit 1
	}
	kbuild -j"$(nproc)" "$@" >"$work/log" 2>&1 || {
		tail -n 30 "$work/log"
		echo "FAILED: make $*"
		exit 1
	}
	! grep rpcrdma2/ "$work/log" || {
		echo "FAILED: warnings"
		exit 1
	}
}

"$tree/tools/lab/lab" deps build
source=$(realpath "$("$tree/tools/lab/lab" kernel uml)/build/source")
echo "sources: $(basename "$source")"
mkdir "$work/build"
# Leave out large parts of the sources that are not built here.
rsync -a --include='*/' --include='Kconfig*' --include=Makefile \
	--exclude=/{Documentation,sound,tools/testing,drivers/gpu/drm/amd,'arch/[!xu]*'}/'**' \
	"$source/" "$work/src/"
for _ in once again; do
	make -s -C "$tree" in-tree KDIR="$work/src"
done
[ "$(grep -c rpcrdma2 "$work"/src/net/sunrpc/{Makefile,Kconfig} | cut -d : -f 2 | tr -d '\n')" = 11 ]

build y vmlinux
nm "$work/build/vmlinux" | grep ' rpcrdma2_xprt_register$'
echo "ok: CONFIG_RPCRDMA2=y"
build m vmlinux modules
modinfo "$work/build/net/sunrpc/rpcrdma2/net/sunrpc/xprtrdma/rpcrdma2.ko" | grep -x 'intree: *Y'
echo "ok: CONFIG_RPCRDMA2=m; $SECONDS s"
