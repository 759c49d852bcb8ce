#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Host script: a tracepoint that is off costs a nop. The script builds the files that an RPC
# passes through for the distribution's kernel, with and without tracepoints. Then it counts the
# instructions that can run.

set -eu

if [ "${KERNEL:-6.1}" != 6.1 ]; then
	echo "SKIP: on $KERNEL static branches become nops only in the linked module"
	exit 77
fi

tree=$(realpath "$(dirname "$0")/..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

objects=()
for file in rdma/{sq,send_pool,recv_pool} conn/negotiate requester/{requester,register,marshal,reply} \
	responder/{job,call,reply,rw} svc/io xprt/reverse; do
	objects+=("net/sunrpc/xprtrdma/$file.o")
done

# build DIRECTORY [MAKE-ARGS...] - build the objects in a copy of the tree
build() {
	mkdir "$1"
	tar -C "$tree" --exclude-vcs --exclude='*.o' --exclude='*.ko' \
		--exclude='.*.cmd' -c . | tar -C "$1" -x
	make -s -j"$(nproc)" -C "$kernel/build" M="$1" "${@:2}" "${objects[@]}"
}

kernel=$("$tree/tools/lab/lab" kernel qemu)
build "$work/with"
build "$work/without" KCFLAGS=-DNOTRACE
"$tree/tests/reachable.py" "$work/with" "$work/without" "${objects[@]}"
