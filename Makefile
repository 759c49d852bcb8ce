# SPDX-License-Identifier: GPL-2.0
#
# Front end to Kbuild, the tests and the tools: see "make help". Kbuild lists the sources.

ifdef KDIR
# The release that modules must match. Debian's "make kernelrelease" prints another one.
KVER	?= $(shell sed -n 's/.*UTS_RELEASE "\(.*\)".*/\1/p' \
		$(KDIR)/include/generated/utsrelease.h)
else
KVER	?= $(shell uname -r)
KDIR	= /lib/modules/$(KVER)/build
endif
MODULE	?= net/sunrpc/xprtrdma/rpcrdma2.ko
TESTS	?=

VERSION	:= $(shell tools/version)
# Where packages and documentation go
OUT	?= build

moddir	= $(INSTALL_MOD_PATH)/lib/modules/$(KVER)/updates
confdir	?= $(INSTALL_MOD_PATH)/etc/modprobe.d
conf	= rpcrdma2.conf
share	= /usr/share/rpcrdma2
kbuild	= $(MAKE) -C $(KDIR) M=$(CURDIR)

# Files that a build of the module needs, whether here, by DKMS or in a kernel's tree
product	= Kbuild Kbuild.ofed Kconfig include net
copy	= tar -c --exclude-from=.gitignore $(product) | tar -x -C
# A copy lacks tools/version, so a file in the copy keeps the version.
keep_version = echo $(VERSION) >

.PHONY: help version modules install uninstall clean demo check coverage interop bench bench-clients \
	bench-buffers bench-cores bench-outages count-locks \
	list lint mutate prove deb rpm dist in-tree docs html man install-source install-tools

help:
	@echo 'Targets:'
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1@\2/p' Makefile | tr @ '\t' | expand -t 17
	@echo 'Variables:'
	@echo '  KDIR=DIR              headers or build directory of the kernel to build for,'
	@echo '                        now $(KDIR)'
	@echo '  OUT=DIR               where packages and documentation go, now $(OUT)'
	@echo '  INSTALL_MOD_PATH=DIR  install below DIR instead of /'
	@echo '  TESTS="NAME..."       the tests to run: names, globs or tiers (make list)'
	@echo '  KERNEL=7.3            the kernel of the guests: 6.12 or 7.3 instead of 6.1'
	@echo '  SERVER_KERNEL=7.3     the kernel of the servers, if clients have another one'

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
	rm -rf build

deb: ## make Debian packages; DKMS builds the module where they are installed
	tools/package deb $(OUT)

rpm: ## make RPM packages (RPMFLAGS="--with kmod ..." for rpmbuild)
	tools/package rpm $(OUT) $(RPMFLAGS)

dist: ## make a tarball of the last commit
	tools/package dist $(OUT)

in-tree: ## put the module into the kernel sources in KDIR, as CONFIG_RPCRDMA2
	@test -e $(KDIR)/net/sunrpc/clnt.c || { echo 'No sources of a kernel: $(KDIR)'; exit 1; }
	rm -rf $(KDIR)/net/sunrpc/rpcrdma2
	mkdir $(KDIR)/net/sunrpc/rpcrdma2
	$(copy) $(KDIR)/net/sunrpc/rpcrdma2
	$(keep_version) $(KDIR)/net/sunrpc/rpcrdma2/VERSION
	grep -q rpcrdma2 $(KDIR)/net/sunrpc/Makefile || \
		echo 'obj-$$(CONFIG_RPCRDMA2) += rpcrdma2/' >>$(KDIR)/net/sunrpc/Makefile
	grep -q rpcrdma2 $(KDIR)/net/sunrpc/Kconfig || \
		echo 'source "net/sunrpc/rpcrdma2/Kconfig"' >>$(KDIR)/net/sunrpc/Kconfig

docs: ## make documentation (HTML) and manual pages
	tools/lab/lab deps docs
	$(MAKE) html man

html man:
	sphinx-build -q -W --keep-going -d $(OUT)/doctrees -b $@ \
		Documentation $(OUT)/$@

version:
	@echo $(VERSION)

# Packages install into DESTDIR, by this target and install-tools.
install-source:
	mkdir -p $(DESTDIR)/usr/src/rpcrdma2-$(VERSION)
	$(copy) $(DESTDIR)/usr/src/rpcrdma2-$(VERSION)
	$(keep_version) $(DESTDIR)/usr/src/rpcrdma2-$(VERSION)/VERSION
	install -D -m 644 etc/modprobe.d/$(conf) $(DESTDIR)/usr/lib/modprobe.d/$(conf)

# Installed commands have no suffix.
install-tools: man
	install -D -m 755 scripts/run-bpftrace $(DESTDIR)$(share)/run-bpftrace
	install -d $(DESTDIR)/usr/sbin
	for tool in scripts/rpcrdma2-*; do \
		name=$${tool##*/}; \
		case $$tool in \
		*.bt)	install -m 644 $$tool $(DESTDIR)$(share) && \
			ln -sf ..$(share:/usr%=%)/run-bpftrace \
				$(DESTDIR)/usr/sbin/$${name%.*} ;; \
		*)	[ -L $$tool ] || \
			install -m 755 $$tool $(DESTDIR)/usr/sbin/$${name%.*} ;; \
		esac || exit; \
	done
	for page in $(OUT)/man/*.[1-8]; do \
		install -D -m 644 $$page \
			$(DESTDIR)/usr/share/man/man$${page##*.}/$${page##*/}; \
	done
	install -D -m 644 tools/wireshark/rpcrdma2.lua \
		$(DESTDIR)$(share)/rpcrdma2.lua
	install -m 755 scripts/rpcrdma2 $(DESTDIR)/usr/sbin/rpcrdma2
	install -m 644 Documentation/netlink/specs/rpcrdma2.yaml \
		etc/prometheus/rpcrdma2.rules.yml \
		etc/prometheus/rpcrdma2.dashboard.json $(DESTDIR)$(share)
	install -D -m 644 etc/bash-completion/rpcrdma2 \
		$(DESTDIR)/usr/share/bash-completion/completions/rpcrdma2
	sed -i 's/@VERSION@/$(VERSION)/' $(DESTDIR)$(share)/run-bpftrace \
		$(DESTDIR)/usr/sbin/rpcrdma2-doctor $(DESTDIR)/usr/sbin/rpcrdma2
	install -D -m 644 -t $(DESTDIR)/usr/lib/systemd/system etc/systemd/*

demo: ## NFS over RDMA in a guest with the distribution's kernel
	tools/demo

check: ## run all tests, or TESTS, in guests
	tests/check $(TESTS)

coverage: ## run the tests, and report which lines of the module they reach
	tests/coverage $(TESTS)

interop: ## run the interoperation matrix, and write Documentation/protocol/interop.rst
	tests/interop

count-locks: ## count locks and atomics for each RPC, for rpcrdma2 and rpcrdma
	tools/count-locks

bench: ## compare rpcrdma2 with rpcrdma and TCP, and write Documentation/performance/raw/results.rst
	tools/bench

bench-clients: ## measure a server with very many clients, into the same page
	tools/bench --clients

bench-buffers: ## measure sizes of Receive buffers, and the drafts of version 2, into the same page
	tools/bench --buffers

bench-cores: ## measure rates and contended locks with several CPUs, into the same page
	tools/bench --cores

bench-outages: ## measure how soon an end notices that the other one is gone, into the same page
	tools/bench --outages

list: ## list the tests
	@tests/check --list $(TESTS)

mutate: ## put mistakes into the codecs, and check that the wire suites notice
	tests/check mutate

prove: ## prove with Frama-C that the decoders stay in bounds
	tests/check prove

lint: ## checkpatch, sparse, W=1, shellcheck, sentences of documentation and comments
	tests/lint.sh
