#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest script: page data travels alone with krb5, and never with krb5i and krb5p. With krb5
# only the caller is authenticated; krb5i checks the data itself, and krb5p encrypts it.
#
#	krb5.sh PROVIDER FLAVOUR...
#
# For krb5 the guest needs the kernel parameter init_on_alloc=1: gss_create_new()
# sets some bits of au_flags and leaves the others as they were in memory, so
# RPCAUTH_AUTH_DATATOUCH may be among them. (Page data travels with the rest then,
# which is slower, and right.)

# shellcheck source=tests/lib.sh
. "${LAB_TREE:?run this in a guest, by tools/lab/lab}/tests/lib.sh"

provider=$1
LAB_SERVER=guest
realm=LAB
principal=nfs/$LAB_SERVER@$realm

# The enctype is one that the kernel knows.
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

# One principal serves both ends: the server's, and the machine's that mounts.
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

# Root on the client is nobody whom the server knows.
export_with_kerberos() {
	local options=rw,insecure,fsid=0,no_subtree_check

	must exportfs -o $options,anonuid=0,anongid=0,sec=krb5:krb5i:krb5p \
		"*:$LAB_EXPORT"
}

# Some Linux servers take no krb5p, whatever the transport: 6.1.192 finds garbage
# in each Call.
check_server() {
	lab_until 20 mount -t nfs -o "vers=3,proto=tcp,sec=$flavour" \
		"$LAB_SERVER:$LAB_EXPORT" "$LAB_MOUNT" 2>/dev/null ||
		return
	must umount "$LAB_MOUNT"
}

# count_forms NAME - of the messages with Calls, from now on.
count_forms() {
	local event=rpcrdma2/rpcrdma2_call_send

	count_event "$1-write-chunk" $event 'writes > 0'
	count_event "$1-read-chunk" $event 'nomsg == 0 && reads > 0'
	count_event "$1-reply-chunk" $event 'reply == 1'
	count_event "$1-position-zero" $event 'nomsg == 1'
	# A short Call, its Reply in one segment; and the other way round
	count_event "$1-reply-of-one" $event 'nomsg == 0 && reply == 1 && segments == 1'
	count_event "$1-call-of-one" $event 'nomsg == 1 && reply == 0 && segments == 1'
}

# check_form NAME CONDITION - CONDITION is about n, how often it was.
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
	# Head, pages and tail lie apart. This device bridges the gaps.
	case $flavour:$provider in
	krb5[ip]:mimic:mlx5)
		check_form "$1-reply-of-one" "n > 0"
		check_form "$1-call-of-one" "n > 0" ;;
	esac
}

nfs_start "$provider"
configure_kerberos
start_kdc
start_gss_daemons
export_with_kerberos
mkdir -p "$LAB_MOUNT"
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
		must umount "$LAB_MOUNT"
	done
done
nfs_stop
[ ${#skipped[@]} -eq 0 ] || skip "this kernel can't mount with ${skipped[*]}, over TCP either"
