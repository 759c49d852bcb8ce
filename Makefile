# SPDX-License-Identifier: GPL-2.0
#
# Front end: "make help". What is built, and from what, is up to Kbuild.

ifdef KDIR
# What modules are marked with; Debian's "make kernelrelease" says something else.
KVER	?= $(shell sed -n 's/.*UTS_RELEASE "\(.*\)".*/\1/p' \
		$(KDIR)/include/generated/utsrelease.h)
else
KVER	?= $(shell uname -r)
KDIR	= /lib/modules/$(KVER)/build
endif
MODULE	?= net/sunrpc/xprtrdma/rpcrdma2.ko
TESTS	?=

moddir	= $(INSTALL_MOD_PATH)/lib/modules/$(KVER)/updates
confdir	?= $(INSTALL_MOD_PATH)/etc/modprobe.d
conf	= rpcrdma2.conf
kbuild	= $(MAKE) -C $(KDIR) M=$(CURDIR)

.PHONY: help modules install uninstall clean demo check coverage interop bench list lint

help:
	@echo 'Targets:'
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  \1@\2/p' Makefile | tr @ '\t' | expand -t 14
	@echo 'Variables:'
	@echo '  KDIR=DIR            headers or build directory of the kernel to build for,'
	@echo '                      now $(KDIR)'
	@echo '  INSTALL_MOD_PATH=DIR  install below DIR instead of /'
	@echo '  TESTS="NAME..."     the tests to run: names or globs (make list)'
	@echo '  KERNEL=6.12         the kernel of the guests that demo and check boot,'
	@echo '                      instead of 6.1'
	@echo '  SERVER_KERNEL=6.12  that of the servers, where client and server differ'

modules: ## build rpcrdma2.ko
	$(kbuild) W=1 modules

install: ## put module and modprobe.d file in place, run depmod (as root)
	@test -e $(MODULE) || { echo 'No $(MODULE): run "make modules" first.'; exit 1; }
	install -D -m 644 $(MODULE) $(moddir)/rpcrdma2.ko
	install -D -m 644 etc/modprobe.d/$(conf) $(confdir)/$(conf)
	$(depmod)

uninstall: ## undo install
	rm -f $(moddir)/rpcrdma2.ko $(confdir)/$(conf)
	$(depmod)

depmod	= depmod $(if $(INSTALL_MOD_PATH),-b $(INSTALL_MOD_PATH)) $(KVER)

clean: ## remove what was built here
	$(kbuild) clean

demo: ## NFS over RDMA in a guest with the distribution's kernel
	tools/demo

check: ## run all tests, or TESTS, in guests
	tests/check $(TESTS)

coverage: ## run them, and report which lines of the module they reach
	tests/coverage $(TESTS)

interop: ## run the interoperation matrix, and write Documentation/interop.rst
	tests/interop

bench: ## measure it beside rpcrdma and TCP, and write Documentation/performance.rst
	tools/bench

list: ## list the tests
	@tests/check --list $(TESTS)

lint: ## checkpatch, sparse, W=1, shellcheck
	tests/lint.sh
