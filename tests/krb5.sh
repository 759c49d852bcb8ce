#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: page data travels in its own chunks with krb5, and never with krb5i and krb5p.
# With krb5, only the caller is authenticated. With krb5i, the data have a checksum; with krb5p,
# they are encrypted.
#
#	krb5.sh PROVIDER FLAVOUR...
#
# For krb5 the guest needs the kernel parameter init_on_alloc=1. gss_create_new() sets some bits of
# au_flags, and leaves others uninitialized. If RPCAUTH_AUTH_DATATOUCH is set by chance, page data
# travels with the rest of the message. That is slower, but not wrong.

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

provider=$1
LAB_SERVER=guest
realm=LAB
principal=nfs/$LAB_SERVER@$realm

# Configure an enctype that the kernel supports.
configure_kerberos() {
	cat >/etc/krb5.conf <<-END
	[libdefaults]
	default_realm = $realm
	permitted_enctypes = aes128-cts-hmac-sha1-96
	dns_canonicalize_hostname = false
	dns_lookup_kdc = false
	rdns = false
	[realms]
	$realm = {
		kdc = $LAB_SERVER
		master_key_type = aes128-cts-hmac-sha1-96
		supported_enctypes = aes128-cts-hmac-sha1-96:normal
	}
	[domain_realm]
	$LAB_SERVER = $realm
	END
	echo "192.168.77.1 $LAB_SERVER" >/etc/hosts
}

# One principal suffices, because server and client are the same machine.
start_kdc() {
	must kdb5_util create -s -r $realm -P secret >/dev/null
	must kadmin.local addprinc -randkey "$principal"
	must kadmin.local ktadd "$principal"
	must krb5kdc
}

start_gss_daemons() {
	must mount -t rpc_pipefs pipefs /run/rpc_pipefs
	must rpc.svcgssd
	must rpc.gssd
}

# The server does not know the client's root. So it treats unknown users as root.
export_with_kerberos() {
	local options=rw,insecure,fsid=0,no_subtree_check

	must exportfs -o $options,anonuid=0,anongid=0,sec=krb5:krb5i:krb5p \
		"*:$LAB_EXPORT"
}

# check_server - mount over TCP with $flavour. Some Linux servers cannot do krb5p over any
# transport: Linux 6.1.192 takes each Call for garbage.
check_server() {
	lab_until 20 mount -t nfs -o "vers=3,proto=tcp,sec=$flavour" \
		"$LAB_SERVER:$LAB_EXPORT" "$LAB_MOUNT" 2>/dev/null ||
		return
	must umount "$LAB_MOUNT"
}

# count_forms NAME - count the Calls of each form from now on.
count_forms() {
	local event=rpcrdma2/rpcrdma2_call_send

	count_event "$1-write-chunk" $event 'writes > 0'
	count_event "$1-read-chunk" $event 'nomsg == 0 && reads > 0'
	count_event "$1-reply-chunk" $event 'reply == 1'
	count_event "$1-position-zero" $event 'nomsg == 1'
	# A short Call with a Reply chunk of one segment; a long Call of one segment
	count_event "$1-reply-of-one" $event 'nomsg == 0 && reply == 1 && segments == 1'
	count_event "$1-call-of-one" $event 'nomsg == 1 && reply == 0 && segments == 1'
}

# check_form NAME CONDITION - the number n of Calls of a form meets CONDITION, an expression of n.
check_form() {
	local n
	n=$(counted "$1")

	echo "$1: $n"
	((${2//n/$n})) || lab_fail "$1: $n, not $2"
}

check_forms() {
	case $flavour in
	krb5)	check_form "$1-write-chunk" "n > 0"
		check_form "$1-read-chunk" "n > 0" ;;
	*)	check_form "$1-write-chunk" "n == 0"
		check_form "$1-read-chunk" "n == 0"
		check_form "$1-reply-chunk" "n > 0"
		check_form "$1-position-zero" "n > 0" ;;
	esac
	# Head, pages and tail lie apart in memory. This device can bridge the gaps in a segment.
	case $flavour:$provider in
	krb5[ip]:mimic:mlx5)
		check_form "$1-reply-of-one" "n > 0"
		check_form "$1-call-of-one" "n > 0" ;;
	esac
}

write_secret() {
	dd if=/run/secret of="$LAB_MOUNT/secret" bs=256k oflag=direct conv=notrunc status=none
}

# keeps_no_memory NAME - the Calls of 16 MiB in WRITEs keep no memory. sunrpc encrypts a Call into
# pages of its own, and the transport frees these. kmemleak does not see pages.
keeps_no_memory() {
	local before after lost

	must write_secret
	before=$(memory)
	for _ in 1 2 3 4; do
		must write_secret
	done
	after=$(memory)
	lost=$((${before%% *} - ${after%% *}))
	echo "$1: $lost KiB are not free again"
	((lost < 8192)) || lab_fail "$1: Calls keep $lost KiB"
}

nfs_start "$provider"
configure_kerberos
start_kdc
start_gss_daemons
export_with_kerberos
mkdir -p "$LAB_MOUNT"
must dd if=/dev/urandom of=/run/secret bs=1M count=4 status=none
skipped=()
for flavour in "${@:2}"; do
	if ! check_server; then
		skipped+=("$flavour")
		continue
	fi
	for version in 3 4.2; do
		must lab_mount $version "sec=$flavour"
		grep -q " $LAB_MOUNT nfs.*sec=$flavour," /proc/mounts ||
			lab_fail "not mounted with $flavour"
		count_forms "$flavour-$version"
		work offsets "$flavour-$version"
		check_forms "$flavour-$version"
		keeps_no_memory "$flavour-$version"
		must umount "$LAB_MOUNT"
	done
done
nfs_stop
[ ${#skipped[@]} -eq 0 ] || skip "this kernel can't mount with ${skipped[*]}, over TCP either"
