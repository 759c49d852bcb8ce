#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Host script: packages build, lintian accepts them, DKMS builds in a Debian 12, also from the
# RPM, and removal leaves nothing. DKMS also builds for a faked RDMA stack of a vendor. The
# manual page has all parameters.
#
#	packages.sh [kmod]
#
# kmod: also make the RPM package with a built module. All this runs in a chroot, and no module
# is loaded. tests/packages-debian.sh boots a Debian.

set -u

tree=$(realpath "$(dirname "$0")/..")
lab=$tree/tools/lab/lab
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
root=$work/root

# shellcheck source=tests/report.sh
. "$tree/tests/report.sh"
# shellcheck source=tests/debian.sh
. "$tree/tests/debian.sh"

### Contents

make_deb() { make -C "$tree" deb OUT="$work/out"; }

# The user that builds the packages becomes their maintainer. Here that is root, of a host
# without a domain, so suppress these complaints.
clean_to_lintian() {
	lintian --allow-root --fail-on error,warning "$work"/out/*.changes --suppress-tags \
		bogus-mail-host,bogus-mail-host-in-debian-changelog,root-in-contact
}

unpack() { dpkg -x "$work/out/$1_${version}_all.deb" "$work/$1"; }

# The package has all sources of the module, and nothing else.
has_source() {
	diff <(cd "$tree" && find Kbuild* Kconfig include net -type f \
			! -name '*.o' ! -name '*.ko' ! -name '.*' ! -name '*.mod*' \
			! -name modules.order -exec sha256sum {} + | sort -k 2) \
	     <(cd "$work/rpcrdma2-dkms/usr/src/rpcrdma2-$version" && find . -type f \
			! -name dkms.conf ! -name VERSION -exec sha256sum {} + | sed 's|\./||' | sort -k 2)
}

has_modprobe_file() {
	make -s -C "$tree" install KVER=none MODULE=Makefile \
		INSTALL_MOD_PATH="$work/installed" 2>/dev/null
	diff -r "$work/installed/etc/modprobe.d" "$work/rpcrdma2-dkms/usr/lib/modprobe.d"
}

has_manual_pages() {
	local tools=$work/rpcrdma2-tools/usr

	diff <(cd "$tools/sbin" && echo rpcrdma2 && ls) \
	     <(find "$tools/share/man" -name '*.gz' -printf '%f\n' | sed 's/\.[78]\.gz$//' |
	       sort) &&
	[ -e "$tools/share/rpcrdma2/rpcrdma2.lua" ] &&
	"$tools/sbin/rpcrdma2-waits" --help | grep 'usage: rpcrdma2-waits' &&
	[ -e "$tools/share/doc/rpcrdma2-tools/html/index.html" ]
}

# depends FIELD QUERY NAME... - FIELD of the tools' deb and what rpm answers to QUERY have these.
depends() {
	local field=$1 query=$2 name file
	shift 2

	dpkg-deb -f "$work/out/rpcrdma2-tools_${version}_all.deb" "$field" >"$work/in.deb" &&
	rpm -qp "$query" "$work"/rpm/rpcrdma2-tools-*.noarch.rpm >"$work/in.rpm" || return
	for name; do
		for file in in.deb in.rpm; do
			grep -qE "\\b$name\\b" "$work/$file" || {
				echo "$field: no $name $file: $(cat "$work/$file")"
				return 1
			}
		done
	done
}

# The tools' packages depend on the programs and libraries that the commands use.
has_dependencies() {
	depends Depends --requires python3 kmod iproute2 &&
	depends Recommends --recommends bpftrace librdmacm1 '(libibverbs1|ibverbs-providers)'
}

# The RPMs have the same files as the debs. Documentation is left out: each distribution has its
# own place for it.
same_as_rpm() {
	make -C "$tree" rpm OUT="$work/rpm" RPMFLAGS=--nodeps &&
	diff <(rpm -qpl "$work"/rpm/*.noarch.rpm | grep -E '^/usr/(src|sbin|lib|share/rpcrdma2)/' |
	       sort) \
	     <(cd "$work" && find rpcrdma2-{dkms,tools}/usr | sed 's|^[^/]*||' |
	       grep -E '^/usr/(src|sbin|lib|share/rpcrdma2)/' |
	       grep -vxE '/usr/lib/(modprobe.d|systemd|systemd/system)' | sort) &&
	diff <(rpm2cpio "$work"/rpm/rpcrdma2-dkms-*.rpm | cpio -i --quiet --to-stdout '*/dkms.conf') \
	     "$work/rpcrdma2-dkms/usr/src/rpcrdma2-$version/dkms.conf"
}

### Installation

install_debs() {
	cp "$work"/out/*.deb "$root/root" &&
	in_debian "$root" sh -c 'exec apt-get install -qy --no-install-recommends \
		/root/rpcrdma2-*.deb'
}

status() { in_debian "$root" dkms status -m rpcrdma2 -k "$kernel"; }

built() { status && status | grep -q ': installed'; }

# loads MODULE FILE - would modprobe load FILE for this name?
loads() {
	in_debian "$root" modprobe -n -v --ignore-install -S "$kernel" "$1" | tee /dev/stderr |
		tail -n 1 | grep -q "/$kernel/$2 *\$"
}

installed_modinfo() {
	in_debian "$root" modinfo -k "$kernel" "$@" rpcrdma2
}

is_version() { installed_modinfo -F version | tee /dev/stderr | grep -qxF "$version"; }

# DKMS skips a kernel that compat.h refuses, and that is no failure. (doctor_faked.py checks
# that DKMS and compat.h refuse the same kernels.)
leaves_out_others() {
	local never=99.0.1-amd64 status=0

	mkdir "$root/lib/modules/$never"
	cp -a "$root/lib/modules/$kernel/build" "$root/lib/modules/$never"
	in_debian "$root" dkms build -m rpcrdma2 -v "$version" -k $never || status=$?
	[ $status = 77 ] || return
	printf 'BUILD_EXCLUSIVE_KERNEL=\nMAKE[0]+=" RPCRDMA2_ANY_KERNEL=1"\n' \
		>"$root/etc/dkms/rpcrdma2.conf"
	in_debian "$root" dkms build -m rpcrdma2 -v "$version" -k $never &&
	in_debian "$root" dkms remove -m rpcrdma2 -v "$version" -k $never
	status=$?
	rm -r "$root/lib/modules/$never" "$root/etc/dkms/rpcrdma2.conf"
	return $status
}

is_signed() { installed_modinfo -F signer | tee /dev/stderr | grep -q .; }

# The manual page has each parameter, with each number (or word like v1) that modinfo has about
# it, and no other parameter.
parameters_are_explained() {
	local parameter text number missing=0

	zcat "$work/rpcrdma2-tools/usr/share/man/man7/rpcrdma2.7.gz" | awk '
		/^\.SH/	{ parameters = /PARAMETERS/ }
		!parameters { next }
		/^\.B/	{ name = $2; next }
		!/^\./ && name { text[name] = text[name] " " $0 }
		END { for (name in text) print name ":" text[name] }' >"$work/page"
	installed_modinfo -F parm >"$work/parameters"
	while IFS=: read -r parameter text; do
		grep -qx "$parameter" "$tree/Documentation/reference/parameters.rst" || {
			echo "$parameter: not in Documentation/reference/parameters.rst"
			missing=1
		}
		for number in '' $(grep -oE '[[:alnum:]]*[0-9]+' <<<"$text"); do
			grep -qE "^$parameter:.*\\b$number" "$work/page" || {
				echo "$parameter: manual page without '$number'"
				missing=1
			}
		done
	done <"$work/parameters"
	diff <(cut -d : -f 1 "$work/page" | sort) <(cut -d : -f 1 "$work/parameters" | sort) &&
		return $missing
}

### A vendor's RDMA stack
#
# The fake has only the parts that a build sees: headers, symbol versions that are not the
# kernel's, and an rdma_cm that uses these.

fake_stack() {
	local ofed=$root/usr/src/ofa_kernel/x86_64/$kernel fake=$root/root/rdma_cm
	local headers

	headers=$(in_debian "$root" sed -n 's|^include \(.*\)/Makefile$|\1|p' \
		"/usr/src/linux-headers-$kernel/Makefile")
	mkdir -p "$ofed/include" "$fake"
	cp -r "$root$headers/include/rdma" "$ofed/include"
	echo '#define FAKE_STACK 1' >>"$ofed/include/rdma/ib_verbs.h"
	awk -F '\t' -v OFS='\t' '$3 ~ /infiniband.core/ {
			$1 = "0x0fedcafe"; $3 = "/build/" $3; print }' \
		"$root/usr/src/linux-headers-$kernel/Module.symvers" \
		>"$ofed/Module.symvers"

	cat >"$fake/rdma_cm.c" <<-END
	#include <linux/module.h>
	#include <rdma/ib_verbs.h>
	static struct ib_client client;
	static int __init fake_init(void) { return ib_register_client(&client); }
	module_init(fake_init);
	MODULE_LICENSE("GPL");
	END
	cat >"$fake/Kbuild" <<-END
	obj-m := rdma_cm.o
	KBUILD_EXTRA_SYMBOLS := ${ofed#"$root"}/Module.symvers
	END
	in_debian "$root" sh -c "make -s -C /lib/modules/$kernel/build M=/root/rdma_cm modules &&
		install -D /root/rdma_cm/rdma_cm.ko /lib/modules/$kernel/updates/rdma_cm.ko &&
		depmod $kernel"
}

rebuild() {
	in_debian "$root" sh -c "dkms unbuild -m rpcrdma2 -v $version -k $kernel
		dkms build -m rpcrdma2 -v $version -k $kernel"
	cat "$root/var/lib/dkms/rpcrdma2/$version/build/make.log" \
		"$root/var/lib/dkms/rpcrdma2/$version/$kernel/x86_64/log/make.log" \
		>"$work/make.log" 2>/dev/null
	status | grep -q ': built'
}

fits_stack() {
	rebuild || return
	grep 'with the RDMA stack of /usr/src/ofa_kernel' "$work/make.log" &&
	in_debian "$root" modprobe --dump-modversions \
		"/var/lib/dkms/rpcrdma2/$version/$kernel/x86_64/module/rpcrdma2.ko" >"$work/crcs" &&
	! grep -P '\t(ib|rdma)_' "$work/crcs" | grep -v 0x0fedcafe &&
	grep -P '0x0fedcafe\tib_dealloc_pd' "$work/crcs"
}

# refused WORDS - check that the build fails, with WORDS about the part that does not fit
refused() {
	! rebuild &&
	grep "$1" "$work/make.log" && grep 'was built with another ib_core' "$work/make.log"
}

### Removal

remove_debs() { in_debian "$root" apt-get remove -qy rpcrdma2-dkms rpcrdma2-tools; }

### The RPM package, whose scripts call DKMS
#
# The host's rpm installs the package in the chroot, without its dependencies.

in_rpm() {
	# shellcheck disable=SC2016 # the inner shell's
	unshare --mount --pid --fork sh -c 'root=$1; shift
		mount -t proc proc "$root/proc" &&
		mount --rbind /dev "$root/dev" &&
		exec rpm --root "$root" "$@"' sh "$root" "$@" </dev/null
}

# After installation, run DKMS as the installation of a kernel does.
install_rpm() {
	cp "$work"/rpm/rpcrdma2-dkms-*.rpm "$root/root" &&
	in_rpm --install --nodeps "$root"/root/rpcrdma2-dkms-*.rpm &&
	in_rpm --verify --nodeps rpcrdma2-dkms &&
	in_debian "$root" dkms autoinstall -k "$kernel"
}

remove_rpm() { in_rpm --erase --nodeps rpcrdma2-dkms; }

# refused_by_rpm WORDS - check that rpm refuses to install the package, with these words
refused_by_rpm() {
	! in_rpm --install --nodeps "$root"/root/rpcrdma2-dkms-*.rpm >"$work/said" 2>&1 &&
	grep "$1" "$work/said" && ! in_rpm -q rpcrdma2-dkms
}

# Give the chroot a directory for the kernel that runs here: first without headers, then with
# headers that build nothing.
without_module() {
	local running

	running=$root/lib/modules/$(uname -r)
	mkdir "$running" &&
	refused_by_rpm 'there are no headers of Linux' &&
	mkdir "$running/build" && echo broken >"$running/build/Makefile" &&
	in_rpm --install --nodeps "$root"/root/rpcrdma2-dkms-*.rpm >"$work/said" 2>&1
	cat "$work/said"
	grep 'there is no module for Linux' "$work/said" &&
	grep 'scriptlet failed' "$work/said" && remove_rpm && rm -r "$running"
}

### kmod
#
# The module is built for the kernel of the lab's QEMU guests, whose headers the lab has.

sign_key() {
	openssl req -new -x509 -newkey rsa:2048 -nodes -subj "/CN=rpcrdma2's test" -days 10 \
		-outform DER -keyout "$work/key.pem" -out "$work/certificate.der" 2>/dev/null
}

make_kmod() {
	local headers

	headers=$("$lab" kernel qemu)/build && sign_key &&
	kmod_kernel=$(basename "$(realpath "$headers")") &&
	kmod_kernel=${kmod_kernel#linux-headers-} &&
	make -C "$tree" rpm OUT="$work/kmod" RPMFLAGS="--nodeps --with kmod \
		--define 'kernel_release $kmod_kernel' --define 'kernel_build $headers' \
		--define 'module_sign_key $work/key.pem' \
		--define 'module_sign_cert $work/certificate.der'"
}

# The package is for that kernel, is signed, and conflicts with the other packages.
kmod_is_right() {
	local package file=lib/modules/$kmod_kernel/extra/rpcrdma2/rpcrdma2.ko

	package=$(echo "$work"/kmod/kmod-rpcrdma2-*.x86_64.rpm)
	(cd "$work" && rpm2cpio "$package" | cpio -id --quiet) &&
	[ "$(modinfo -F signer "$work/$file")" = "rpcrdma2's test" ] &&
	[ "$(modinfo -F version "$work/$file")" = "$version" ] &&
	[ -e "$work/usr/lib/modprobe.d/rpcrdma2.conf" ] &&
	rpm -qp --conflicts "$package" | grep -x rpcrdma2-dkms &&
	rpm -qp --conflicts "$package" | grep -x mlnx-nfsrdma
}

# Install a weak-modules that records its arguments and its input.
weak_modules() {
	local file=/lib/modules/$kmod_kernel/extra/rpcrdma2/rpcrdma2.ko

	cat >"$root/usr/sbin/weak-modules" <<-'END'
	#!/bin/sh
	echo "$1 $(cat)" >>/root/weak
	END
	chmod +x "$root/usr/sbin/weak-modules"
	cp "$work"/kmod/kmod-rpcrdma2-*.x86_64.rpm "$root/root" &&
	in_rpm --install --nodeps "$root"/root/kmod-rpcrdma2-*.rpm &&
	in_rpm --erase kmod-rpcrdma2 &&
	diff "$root/root/weak" - <<-END &&
	--add-modules $file
	--remove-modules $file
	END
	rm "$root/usr/sbin/weak-modules"
}

### dracut, beside initramfs-tools

# An initramfs that was told to have rpcrdma gets rpcrdma2, and the file with the alias.
dracut_has_it() {
	in_debian "$root" dracut --force --no-hostonly --add-drivers rpcrdma --kver "$kernel" \
		--modules "base kernel-modules" /root/initramfs.img &&
	in_debian "$root" lsinitrd /root/initramfs.img >"$work/listed" &&
	grep -o 'lib/modules/.*/rpcrdma2.ko' "$work/listed" &&
	grep -o 'modprobe.d/rpcrdma2.conf' "$work/listed"
}

### Leftovers

nothing_is_left() {
	! find "$root"/{etc,lib/modules,usr,var/lib/dkms} -name '*rpcrdma2*' | grep .
}

"$lab" deps deb rpm debian || exit
version=$("$tree/tools/version")

check "make deb" make_deb
check lintian clean_to_lintian
unpack rpcrdma2-dkms && unpack rpcrdma2-tools || exit 1
check "the module's source, and nothing else" has_source
check "the modprobe.d file of make install" has_modprobe_file
check "a manual page for each command" has_manual_pages
check "make rpm, with the same in it" same_as_rpm
check "the tools' dependencies" has_dependencies

debian "$root" || exit 1
kernel=$(debian_kernel "$root")
check "before, rpcrdma is the kernel's" loads rpcrdma kernel/net/sunrpc/xprtrdma/rpcrdma.ko
check "apt install, Linux $kernel" install_debs
check "built by DKMS" built
check "it is version $version" is_version
check "signed, for Secure Boot" is_signed
check "a kernel that is not supported is left out, unless told otherwise" leaves_out_others
check "rpcrdma is rpcrdma2" loads rpcrdma updates/dkms/rpcrdma2.ko
check "dracut's initramfs has rpcrdma2 for rpcrdma" dracut_has_it
check "parameters in rpcrdma2(7) and its source" parameters_are_explained

check "a vendor's RDMA stack, faked" fake_stack
check "the build uses its symbols' versions" fits_stack
mv "$root/usr/src/ofa_kernel" "$root/usr/src/ofa_kernel.gone"
check "a stack without headers is refused" refused updates/rdma_cm.ko
mv "$root/usr/src/ofa_kernel.gone" "$root/usr/src/ofa_kernel"
rm "$root/lib/modules/$kernel/updates/rdma_cm.ko"
in_debian "$root" depmod "$kernel"
check "headers of a stack that is not there are refused" refused /usr/src/ofa_kernel
rm -r "$root/usr/src/ofa_kernel"

check "apt remove" remove_debs
check "nothing is left" nothing_is_left
check "rpcrdma is the kernel's again" loads rpcrdma kernel/net/sunrpc/xprtrdma/rpcrdma.ko

check "rpm --install" install_rpm
check "built by DKMS" built
check "rpcrdma is rpcrdma2" loads rpcrdma updates/dkms/rpcrdma2.ko
check "rpm --erase" remove_rpm
check "rpm --install without headers, and without a module" without_module
# DKMS keeps its directory of a module that it could not build.
rm -rf "$root/var/lib/dkms/rpcrdma2"
check "nothing is left" nothing_is_left

if [ "${1:-}" = kmod ]; then
	check "make rpm, with kmod" make_kmod
	check "the kmod is signed, and conflicts with others" kmod_is_right
	check "weak-modules is told" weak_modules
	check "nothing is left" nothing_is_left
fi
[ $failures -eq 0 ]
