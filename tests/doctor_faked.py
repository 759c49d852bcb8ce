#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""rpcrdma2-doctor finds the faults of made-up hosts; each finding has a test and a paragraph.

    doctor_faked.py

A guest of tests/doctor.sh can't have Secure Boot, an IOMMU, InfiniBand, vendors' stacks, or logs
of all kinds; these hosts have them. A host is a directory of files, which the doctor takes
instead of "/". Each finding has its paragraph in Documentation/fix/findings.rst, and its test
here or in tests/doctor.sh.
"""

import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import re
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
DOCTOR = f"{TOP}/scripts/rpcrdma2-doctor"
KERNEL = "6.1.0-9-amd64"
FILE = f"/lib/modules/{KERNEL}/updates/rpcrdma2.ko"
MODINFO = f"filename: {FILE}\nsrcversion: AAAA\nvermagic: {KERNEL} SMP mod_unload\n"
PORT = "/sys/class/infiniband/mlx5_0/ports/1"
DEBUGFS = "/sys/kernel/debug/rpcrdma2"
LINK = [{"ifname": "mlx5_0", "port": 1, "netdev": "ens1"}]
ADDRESS = {"ifname": "ens1", "mtu": 9000, "addr_info": [
    {"local": "10.0.0.1", "prefixlen": 24, "scope": "global"}]}
XPRT = "\txprt:\trdma 0 0 1 0 0 {sends} {sends} 0 0 {backlog} {reads} {writes}" \
       " 0 0 0 0 0 0 {failed} {bad} 0 0 0 16 0 0 0\n"
MOUNT = "device srv:/ mounted on /mnt with fstype nfs4 statvers=1.1\n" + XPRT + \
        "\tper-op statistics\n" \
        "\tREAD: {n} {n} {late} 0 {octets} 0 0 0 0\n" \
        "\tWRITE: {n} {n} 0 {octets} 0 0 0 0 0\n"


def healthy():
    """{path: text} of a healthy client with nothing mounted"""
    return {
        "/proc/sys/kernel/osrelease": KERNEL,
        "/sys/module/rpcrdma2/srcversion": "AAAA",
        "/sys/module/rpcrdma2/parameters/inline_size": "12288",
        "/commands/modinfo rpcrdma2": MODINFO,
        "/usr/bin/apt-get": "", "/sys/class/net/ens1/device/vendor": "0x15b3",
        f"{PORT}/state": "4: ACTIVE", f"{PORT}/link_layer": "Ethernet",
        f"{PORT}/rate": "100 Gb/sec (4X EDR)",
        "/sys/class/infiniband/mlx5_0/node_type": "1: CA",
        "/commands/rdma -j link show": json.dumps(LINK),
        "/commands/ip -j address": json.dumps([ADDRESS]),
    }


def serving(conf, portlist, **connection):
    files = {"/proc/fs/nfsd/threads": "8", "/proc/fs/nfsd/portlist": portlist,
             "/etc/nfs.conf": conf}
    if connection:
        values = {"role": "server", "version": 2, "peer_address": "10.0.0.2:999",
                  "responder_credits": 64, "responder_outstanding": 0} | connection
        files[f"{DEBUGFS}/1"] = lines(values)
    return files


def lines(values):
    return "".join(f"{name}: {value}\n" for name, value in values.items())


def mounted(stats=None, **connection):
    stats = {"sends": 1000, "backlog": 0, "reads": 0, "writes": 0, "failed": 0,
             "bad": 0, "n": 400, "octets": 400 * 8000, "late": 0} | (stats or {})
    values = {"role": "client", "version": 2, "peer_address": "10.0.0.9:20049",
              "offered_rbsiz": 12288, "inline_send": 12288, "inline_receive": 12288,
              "connects": 1, "last_close_status": 0, "requester_credits": 64,
              "calls_sent": 1000, "calls_sent_inline": 1000} | connection
    return {"/proc/mounts": "srv:/ /mnt nfs4 rw,proto=rdma,port=20049,addr=10.0.0.9 0 0",
            "/proc/self/mountstats": MOUNT.format(**stats),
            f"{DEBUGFS}/7": lines(values)}


def by_netlink(files, **server):
    """The same host with a debugfs that may not be read; rpcrdma2(8) prints the values."""
    values = {name: int(value) if re.fullmatch(r"-?\d+", value) else value
              for name, value in (line.split(": ") for line in
                                  files[f"{DEBUGFS}/7"].splitlines())}
    values["errors_sent_vers"] = 0
    return files | {f"{DEBUGFS}/7": "(may not be read)",
                    "/commands/rpcrdma2 --json conn show": json.dumps({"connections": [values]}),
                    "/commands/rpcrdma2 --json stat": json.dumps({"server": server})}


def log(*said):
    return {"/commands/dmesg": "".join(f"[ 1.0] {line}\n" for line in said)}


def no_devices(*links):
    """A host without RDMA devices, but with these network interfaces"""
    return {f"{PORT}/{name}": None for name in ("state", "link_layer", "rate")} | {
        "/commands/ip -j address": json.dumps(links)}


def idle(**more):
    """A mount without a connection"""
    files = mounted()
    del files[f"{DEBUGFS}/7"]
    return files | more


NOT_LOADED = {"/sys/module/rpcrdma2/srcversion": None,
              "/sys/module/rpcrdma2/parameters/inline_size": None}
ALIAS = {"/commands/modprobe -D rpcrdma": f"insmod /lib/sunrpc.ko\ninsmod {FILE}\n"}
NO_MODULE = NOT_LOADED | {
    "/commands/modinfo rpcrdma2": "modinfo: ERROR: Module rpcrdma2 not found."}
DRACUT = f"/boot/initramfs-{KERNEL}.img"
LSINITRD = "/commands/lsinitrd " + DRACUT.replace("/", "%")
VENDORS = f"/lib/modules/{KERNEL}/updates/dkms/rpcrdma.ko.xz"
SECURE = {"/sys/kernel/security/lockdown": "none [integrity] confidentiality"}

# (name, differences from a healthy host, findings). The doctor must report these findings,
# and no other one of level "wrong" or "hint".
CASES = (
    ("a healthy client", {}, "RD001 RD101 RD301"),
    ("not loaded yet", NOT_LOADED | ALIAS, "RD003"),
    ("not loaded yet, with the package's install line", NOT_LOADED | {
        "/commands/modprobe -D rpcrdma": "install /sbin/modprobe -q --ignore-install "
        "rpcrdma2 $CMDLINE_OPTS || { echo; /sbin/modprobe -C /dev/null rpcrdma; }"},
     "RD003"),
    ("rpcrdma would be loaded", NOT_LOADED | {"/commands/modprobe -D rpcrdma":
     "insmod /lib/modules/x/kernel/net/sunrpc/xprtrdma/rpcrdma.ko.xz"},
     "RD004=the kernel's own"),
    ("a vendor's rpcrdma would be loaded", NOT_LOADED | {"/commands/modprobe -D rpcrdma":
     f"insmod {VENDORS}"}, f"RD004=a vendor's ({VENDORS}"),
    ("blacklisted", NOT_LOADED | {"/commands/modprobe -D rpcrdma": ""}, "RD004"),
    ("rpcrdma is loaded", NOT_LOADED | {"/sys/module/rpcrdma/refcnt": "1"},
     "RD002=rpcrdma is loaded, the kernel's own module"),
    ("a vendor's rpcrdma is loaded", NOT_LOADED | {
        "/sys/module/rpcrdma/srcversion": "CCCC", VENDORS: "",
        "/commands/modinfo " + VENDORS.replace("/", "%"):
        f"filename: {VENDORS}\nsrcversion: CCCC"},
     "RD002=apt remove mlnx-nfsrdma-dkms"),
    ("a vendor's rpcrdma is loaded, on an RPM system", NOT_LOADED | {
        "/usr/bin/apt-get": None, "/sys/module/rpcrdma/srcversion": "CCCC",
        f"/lib/modules/{KERNEL}/extra/mlnx-nfsrdma/rpcrdma.ko": ""},
     "RD002=rpm -e mlnx-nfsrdma"),
    ("the kernel's rpcrdma is loaded, a vendor's installed", NOT_LOADED | {
        "/sys/module/rpcrdma/srcversion": "DDDD", VENDORS: "",
        "/commands/modinfo " + VENDORS.replace("/", "%"):
        f"filename: {VENDORS}\nsrcversion: CCCC"}, "RD002=the kernel's own"),
    ("a new kernel without the module", NO_MODULE |
     {"/lib/modules/6.1.0-8-amd64/updates/dkms/rpcrdma2.ko.xz": ""},
     "RD005=there is: 6.1.0-8-amd64"),
    ("no module, on Debian", NO_MODULE, f"RD005=apt install linux-headers-{KERNEL}; then"),
    ("no module, on Fedora", NO_MODULE | {"/usr/bin/apt-get": None, "/usr/bin/dnf": ""},
     f"RD005=dnf install kernel-devel-{KERNEL}; then"),
    ("a kernel that is supported, and not tested", NO_MODULE | {
        "/proc/sys/kernel/osrelease": "6.8.0-45-generic"},
     "RD005=then build and install the module"),
    ("a kernel that is too old", NO_MODULE | {
        "/proc/sys/kernel/osrelease": "5.14.0-570.el9.x86_64"},
     "RD005=supported: 6.1 to 7.3, tested: 6.1, 6.12, 7.3. Boot one of those"),
    ("a kernel that is too new", NO_MODULE | {
        "/proc/sys/kernel/osrelease": "7.10.0-amd64"}, "RD005=an rpcrdma2 that supports"),
    ("a kernel that the tests were not run on", {"/commands/modinfo rpcrdma2":
     MODINFO + "kernel: expected to work, Ubuntu\n"},
     "RD001 RD015=with this kernel, 6.1.0-9-amd64: expected to work, Ubuntu"),
    ("another kernel's module", NOT_LOADED | ALIAS | {"/commands/modinfo rpcrdma2":
     MODINFO.replace("vermagic: 6.1", "vermagic: 6.12")}, "RD006=6.12.0-9-amd64"),
    ("another kernel's module, linked by weak-modules", NOT_LOADED | ALIAS | {
        "/commands/modinfo rpcrdma2": MODINFO.replace("vermagic: 6.1", "vermagic: 6.12")
        .replace("/updates/", "/weak-updates/")}, "RD003"),
    ("no depmod", NO_MODULE | {FILE: ""}, "RD007"),
    ("an initramfs with rpcrdma", NOT_LOADED | ALIAS | {
        f"/boot/initrd.img-{KERNEL}": "", "/commands/lsinitramfs %boot%initrd.img-"
        + KERNEL: "usr/lib/modules/x/kernel/net/sunrpc/xprtrdma/rpcrdma.ko"},
     f"RD008=update-initramfs -u -k {KERNEL}"),
    ("dracut's initramfs with rpcrdma", NOT_LOADED | ALIAS | {
        DRACUT: "", LSINITRD: "-rw-r--r-- 1 root root 9 Jan 1 1970 usr/lib/rpcrdma.ko.xz"},
     f"RD008=dracut --force {DRACUT} {KERNEL}"),
    ("dracut's initramfs, named as Debian's", NOT_LOADED | ALIAS | {
        f"/boot/initrd.img-{KERNEL}": "",
        f"/commands/lsinitrd %boot%initrd.img-{KERNEL}": "usr/lib/rpcrdma.ko"},
     f"RD008=dracut --force /boot/initrd.img-{KERNEL} {KERNEL}"),
    ("dracut's initramfs with both", NOT_LOADED | ALIAS | {
        DRACUT: "", LSINITRD: "usr/lib/rpcrdma.ko.xz\nusr/lib/rpcrdma2.ko"}, "RD003"),
    ("an initramfs with both", NOT_LOADED | ALIAS | {
        f"/boot/initrd.img-{KERNEL}": "", "/commands/lsinitramfs %boot%initrd.img-"
        + KERNEL: "x/rpcrdma.ko\nx/updates/rpcrdma2.ko"}, "RD003"),
    ("Secure Boot", NOT_LOADED | ALIAS | SECURE, "RD009=Secure Boot"),
    ("Secure Boot, signed", NOT_LOADED | ALIAS | SECURE | {
        "/commands/modinfo rpcrdma2": MODINFO + "signer: DKMS key\n"}, "RD003"),
    ("signatures enforced", NOT_LOADED | ALIAS |
     {"/sys/module/module/parameters/sig_enforce": "Y"}, "RD009=sig_enforce"),
    ("updated, not loaded anew", {"/sys/module/rpcrdma2/srcversion": "BBBB"}, "RD010"),
    ("version 1 by parameter", {"/sys/module/rpcrdma2/parameters/version": "1"},
     "RD011=version=1"),
    ("version 1 by another", {"/sys/module/rpcrdma2/parameters/dialects": "v1"},
     "RD011=dialects=v1"),
    ("locked down", SECURE, "RD013=integrity"),
    ("locked down for good",
     {"/sys/kernel/security/lockdown": "none integrity [confidentiality]"},
     "RD013=bpftrace"),
    ("OFED", {"/usr/src/ofa_kernel/default/Module.symvers": ""},
     "RD012=(/usr/src/ofa_kernel): modules"),
    ("OFED without headers", {"/sys/module/mlx_compat/srcversion": "EEEE"},
     "RD012=apt install mlnx-ofed-kernel-dkms, then build rpcrdma2 again"),

    ("no device", {f"{PORT}/{name}": None for name in ("state", "link_layer", "rate")},
     "RD100=netdev ens1"),
    ("no device, and interfaces that don't fit", no_devices(
        *(ADDRESS | {"ifname": name} for name in ("lo", "ifb0", "dummy0", "wlan0")),
        ADDRESS | {"ifname": "ib0", "link_type": "infiniband"},
        ADDRESS | {"ifname": "ens1", "link_type": "ether"}) | {
        "/sys/class/net/wlan0/device/vendor": "", "/sys/class/net/wlan0/wireless/x": "",
        "/sys/class/net/ib0/device/vendor": ""}, "RD100=netdev ens1"),
    ("no device, and an interface that is down", no_devices(
        ADDRESS | {"ifname": "ens0", "flags": ["BROADCAST"]}, ADDRESS | {
            "flags": ["UP"]}) | {"/sys/class/net/ens0/device/vendor": ""},
     "RD100=netdev ens1"),
    ("no device, and no card", no_devices(
        *(ADDRESS | {"ifname": name} for name in ("lo", "ifb0", "dummy0"))),
     "RD100=needs a wired network card"),
    ("InfiniBand without a subnet manager", {
        f"{PORT}/state": "2: INIT", f"{PORT}/link_layer": "InfiniBand"},
     "RD102=INIT"),
    ("InfiniBand", {
        f"{PORT}/link_layer": "InfiniBand",
        "/sys/class/infiniband/mlx5_0/device/net/ib0/dev_port": "0",
        "/sys/class/infiniband/mlx5_0/device/net/ib1/dev_port": "1",
        "/commands/rdma -j link show": json.dumps([{"ifname": "mlx5_0", "port": 1}]),
        "/commands/ip -j address": json.dumps([ADDRESS | {"ifname": "ib0",
                                                          "mtu": 2044}])},
     "RD101=InfiniBand, ib0"),
    ("no iproute2's rdma", {
        "/commands/rdma -j link show": "",
        "/sys/class/infiniband/mlx5_0/device/net/ens1/dev_port": "0"}, "RD101=ens1"),
    ("the port that is not used is down", {
        "/sys/class/infiniband/mlx5_0/ports/2/state": "1: DOWN"}, "RD101 RD102=2 is DOWN"),
    ("no address", {"/commands/ip -j address": json.dumps(
        [ADDRESS | {"addr_info": []}])}, "RD103"),
    ("the address is a VLAN's", {
        "/sys/class/net/ens1/upper_ens1.5/x": "",
        "/commands/ip -j address": json.dumps([ADDRESS | {"addr_info": []},
                                               ADDRESS | {"ifname": "ens1.5"}])},
     "RD101"),
    ("no fast registration", {"/commands/rdma -j -d dev show": json.dumps(
        [{"ifname": "mlx5_0", "caps": ["MEM_WINDOW"]}])}, "RD104"),
    ("small packets", {"/commands/ip -j address": json.dumps(
        [ADDRESS | {"mtu": 1500}])}, "RD105=1024"),
    ("devices of namespaces", {"/commands/rdma system show": "netns exclusive"},
     "RD106"),

    ("little memory may be locked", {"/proc/self/limits":
     "Max locked memory         65536                65536                bytes"},
     "RD201=64 KiB"),
    ("an IOMMU", {"/sys/class/infiniband/mlx5_0/device/iommu_group/type": "DMA-FQ"},
     "RD202"),
    ("IOMMU passes through", {
        "/sys/class/infiniband/mlx5_0/device/iommu_group/type": "identity"}, "RD101"),
    ("bounce buffers", {"/proc/cmdline": "ro swiotlb=4096,force"}, "RD203"),
    ("bounce buffers are short", {"/sys/kernel/debug/swiotlb/io_tlb_used": "30000",
     "/sys/kernel/debug/swiotlb/io_tlb_nslabs": "32768"}, "RD204=swiotlb=131072"),

    ("a server", serving("[nfsd]\nrdma=y\nrdma-port=20049\n", "rdma 20049\ntcp 2049\n"),
     "RD303=port 20049"),
    ("a server without the port", serving("[nfsd]\n", "tcp 2049\n"), "RD302"),
    ("a server that should have it", serving("[nfsd]\nrdma=y\nrdma-port=20049\n", "tcp 2049\n"),
     "RD302=although"),
    ("another port", serving("[nfsd]\nrdma=y\nrdma-port=20049\n", "rdma 2050\n"), "RD304"),
    ("until the next start", serving("[mountd]\nrdma=y\nrdma-port=20049\n", "rdma 20049\n"), "RD305"),
    ("a port without a number", serving("[nfsd]\nrdma=y\n", "rdma 20049\n"), "RD307"),
    ("a port by its name", serving("[nfsd]\nrdma=y\n", "rdma 20049\n") |
     {"/etc/services": "nfsrdma 20049/tcp\n"}, "RD303"),
    ("few threads", serving("[nfsd]\nrdma=y\nrdma-port=20049\n", "rdma 20049\n",
                            responder_outstanding=9), "RD306 RD601"),

    ("a mount", mounted(), "RD501=100 % of 1000"),
    ("a mount that is idle", idle(**{f"{DEBUGFS}/server": "connections: 0"}),
     "RD502=idle"),
    ("no debugfs", idle(), "RD502=debugfs"),
    ("a mount that may not be looked at", idle(**{f"{DEBUGFS}/7": "(may not be read)",
     f"{DEBUGFS}/server": "connections: 0"}), "RD502=(RD014) RD014=run this as root"),
    ("a mount that lockdown hides, with RPCs that wait", idle(**SECURE | {
        f"{DEBUGFS}/7": "(may not be read)",
        "/sys/kernel/debug/sunrpc/rpc_clnt/4/xprt/info":
        "netid: rdma\naddr:  10.0.0.9\n",
        "/sys/kernel/debug/sunrpc/rpc_clnt/4/tasks": "1 c084\n"}),
     "RD013 RD502=(RD014) RD014=locked down"),
    ("a mount, under lockdown", by_netlink(mounted()) | SECURE, "RD013 RD501=100 % of 1000"),
    ("errors, under lockdown", by_netlink(mounted(errors_sent=3, errors_sent_system=3)) | SECURE,
     "RD013 RD501 RD511=(errors_sent_system: 3)"),
    ("clients that went silent, by netlink", by_netlink(mounted(), heartbeats_missed=2),
     "RD501 RD605=2 clients"),
    ("no connection, by netlink", mounted() | {
        f"{DEBUGFS}/7": None, "/commands/rpcrdma2 --json conn show": '{"connections": []}'},
     "RD502=idle"),
    ("a mount that hangs", idle(**{
        "/sys/kernel/debug/sunrpc/rpc_clnt/4/xprt/info":
        "netid: rdma\naddr:  10.0.0.9\n",
        "/sys/kernel/debug/sunrpc/rpc_clnt/4/tasks": "1 c084\n2 c084\n"}),
     "RD503=2 RPCs"),
    ("version 1", mounted(version=1), "RD504"),
    ("the server's buffers are smaller", mounted(inline_send=4096), "RD505"),
    ("16 KiB at a time", mounted({"reads": 390, "writes": 380,
                                  "octets": 400 * 16500}), "RD506=98 % RD507=20480"),
    ("1 MiB at a time", mounted({"reads": 400, "writes": 400,
                                 "octets": 400 << 20}), "RD501"),
    ("few credits", mounted(requester_credits=2), "RD508=2 credits"),
    ("few, and all in use", mounted({"backlog": 5000}, requester_credits=8),
     "RD508=8 credits"),
    ("as many as a server grants at first", mounted(requester_credits=4), "RD501"),
    ("many RPCs", mounted({"backlog": 5000}), "RD509=5.0 RPCs"),
    ("lost connections", mounted(connects=9, last_close_status=-104),
     "RD510=a work request failed"),
    ("idle once", mounted(connects=2, last_close_status=-108), "RD501"),
    ("errors", mounted(errors_received="3", errors_received_segments="3"),
     "RD511=segments: 3"),
    ("unusable Replies", mounted({"bad": 2}), "RD512"),
    ("local invalidations", mounted(registrations=900, local_invalidations=900),
     "RD513"),
    ("registrations are short", mounted(registration_waits=100), "RD514"),
    ("timeouts", mounted({"late": 3}), "RD515"),
    ("a server that was gone", mounted(silent_connections=2), "RD516=2 connections"),
    ("a kernel that says it otherwise", mounted({"sends": "many"}), "RD099=mounts"),

    ("a client with all credits", serving(
        "[nfsd]\nrdma=y\nrdma-port=20049\n", "rdma 20049\n", responder_outstanding=4,
        responder_credits=4), "RD602=10.0.0.2:999"),
    ("memory for reads", serving("[nfsd]\nrdma=y\nrdma-port=20049\n", "rdma 20049\n") |
     {f"{DEBUGFS}/server": "read_page_waits: 500\nread_pages_limit: 64\n"}, "RD603"),
    ("a client's errors", serving("[nfsd]\nrdma=y\nrdma-port=20049\n", "rdma 20049\n", errors_sent=1,
                                  errors_sent_bad_xdr=1), "RD604=bad_xdr"),

    ("clients that are gone", serving("[nfsd]\nrdma=y\nrdma-port=20049\n", "rdma 20049\n") |
     {f"{DEBUGFS}/server": "heartbeats_missed: 3\n"}, "RD605=3 clients"),

    ("log: a connection", log("rpcrdma2: no connection to 10.0.0.9 port 20049"),
     "RD701"),
    ("log: two modules", NOT_LOADED | ALIAS |
     log('rpcrdma2: another module provides the RPC transport "rdma"'), "RD702"),
    ("log: two modules, mended", log('rpcrdma2: another module provides "rdma"'),
     "RD001"),
    ("log: symbols", NOT_LOADED | ALIAS |
     log("rpcrdma2: disagrees about version of symbol rdma_connect"), "RD703"),
    ("log: registration", log("rpcrdma2: device x lacks memory management extensions"),
     "RD704"),
    ("log: queues", log("rpcrdma2: device x makes no queue pair with 9 Sends"),
     "RD705"),
    ("log: not responding", log("nfs: server srv not responding, still trying"),
     "RD706"),
    ("log: responding", log("nfs: server srv not responding", "nfs: server srv OK"),
     "RD001"),
    ("log: unsigned", NOT_LOADED | ALIAS |
     log("Loading of unsigned module is rejected"), "RD707"),
    ("log: a bug", log("WARNING: CPU: 0 PID: 1 at send.c:1 x+0x1/0x2 [rpcrdma2]"),
     "RD708"),
    ("log: a parameter", log("rpcrdma2: version=7 refused: a multiple of 1"), "RD709"),
    ("log: swiotlb", log("mlx5_core: swiotlb buffer is full (sz: 4096 bytes)"),
     "RD710"),
)

ANSWER = {"version": 2, "ok": True, "device": "mlx5_0", "credits": 64,
          "rpc": "success", "microseconds": 20, "receive_size": 12288}
SILENT = {"ok": False, "step": "calling", "why": "the server closed the connection"}

# (name, answers of rpcrdma2-ping, its answer for a large Call, findings)
PINGS = (
    ("both versions", [ANSWER, ANSWER | {"version": 1}], ANSWER, "RD414"),
    ("version 1", [SILENT | {"version": 2}, ANSWER | {"version": 1}], ANSWER, "RD415"),
    ("version 2", [ANSWER, SILENT | {"version": 1}], ANSWER, "RD416"),
    ("no answer", [SILENT | {"version": 2}, SILENT | {"version": 1}], SILENT,
     "RD417=closed the connection"),
    ("packets are lost", [ANSWER, ANSWER], SILENT | {"why": "transport retry"},
     "RD418=4000 octets"),
    ("no NFS", [ANSWER | {"rpc": "no such program"}] * 2, ANSWER, "RD419"),
    ("few credits", [ANSWER | {"credits": 1}] * 2, ANSWER, "RD420"),
    ("small buffers", [ANSWER | {"receive_size": 4096}] * 2, ANSWER,
     "RD421=of 4096 octets, this host of 12288"),
    ("no way", [SILENT | {"version": 2, "step": "resolving"}], SILENT, "RD411"),
    ("refused", [SILENT | {"version": 2, "step": "connecting", "why": "rejected"}],
     SILENT, "RD412"),
    ("silence", [SILENT | {"version": 2, "step": "connecting", "why": "no answer"}],
     SILENT, "RD413=connecting: no answer"),
    ("no memory to lock", [SILENT | {"version": 2, "step": "making queues", "why": "ENOMEM"}],
     SILENT, "RD410=ulimit -l"),
    ("no library", [{"missing": "librdmacm.so.1 is not here"}], SILENT,
     "RD410=apt install librdmacm1"),
)


# Expressions in findings that readers stumbled over
AWKWARD = re.compile(r"\bsees? to\b|\bwhoever\b|\bthose (of|that)\b|\bof all things\b|"
                     r"\b(has|is) (it|there) [^.;]*\?|\bthe way to\b|\bas a habit\b|"
                     r"\bwants a\b|can't|don't|\bby need\b")
# Files of a host with secrets, which must stay out of an archive
SECRETS = {
    "/etc/krb5.keytab": "SECRET-1", "/etc/nfs.conf": "[gssd]\nx=SECRET-2\n[nfsd]\nrdma=y\n",
    "/proc/cmdline": "ro password=SECRET-3 swiotlb=force",
    "/etc/services": "SECRET-4 1/tcp\nnfsrdma 20049/tcp\n",
    "/proc/mounts": "//x/SECRET-5 /y cifs rw 0 0\nsrv:/ /mnt nfs4 proto=rdma,addr=10.0.0.9 0 0\n",
    "/commands/dmesg": "[ 0.0] Command line: root=/dev/nfs SECRET-9\n"
    "[ 1.0] usb: SECRET-6\n[ 2.0] rpcrdma2: no connection to x\n"
    "[ 3.0] ------------[ cut here ]------------\n[ 3.0] WARNING: y+0x1/0x2 [rpcrdma2]\n"
    "[ 3.0]  some_caller+0x3/0x4\n[ 3.0] ---[ end trace 0 ]---\n[ 4.0] SECRET-7\n",
    f"{DEBUGFS}/control/1": "SECRET-8",
    "/commands/dpkg-query -W *rdma* nfs-* iproute* kmod dkms bpftrace *ibverbs* mlnx-* "
    "linux-image-* kernel-*": "rpcrdma2-dkms\t1.0.0\nmlnx-nfsrdma\t\n",
}


def make(directory, changes, first=None):
    for path, text in ((healthy() if first is None else first) | changes).items():
        if text is None:
            continue
        os.makedirs(os.path.dirname(directory + path), exist_ok=True)
        with open(directory + path, "w", encoding="utf-8") as file:
            file.write(text)


def load_doctor():
    loader = importlib.machinery.SourceFileLoader("doctor", DOCTOR)
    spec = importlib.util.spec_from_loader("doctor", loader)
    doctor = importlib.util.module_from_spec(spec)
    loader.exec_module(doctor)
    return doctor


def run(*arguments):
    """Run the doctor; return (status, standard output, standard error)."""
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        try:
            status = load_doctor().main(list(arguments))
        except SystemExit as end:
            status = end.code
    return status, output.getvalue(), errors.getvalue()


def consult(directory):
    status, output, errors = run("--json", "--root", directory)
    if errors:
        return None, errors
    return status, json.loads(output)["findings"]


def verdict(status, findings, expected):
    """How the findings differ from the expected ones; empty if they do not"""
    if status is None:
        return findings
    texts = {}
    for found in findings:
        texts.setdefault(found["id"], []).append(found["text"] + found["fix"])
    wanted = dict(word.partition("=")[::2] for word in
                  re.split(r" (?=RD\d)", expected))
    for name, text in wanted.items():
        if not any(text in said for said in texts.get(name, [])):
            return f"no {name} {text}: {texts}"
    for found in findings:
        if found["level"] in ("wrong", "hint") and found["id"] not in wanted:
            return f"{found['id']}, too: {found['text']}"
    wrong = any(found["level"] == "wrong" for found in findings)
    return "" if status == wrong else f"status {status}"


def check_numbers():
    """The doctor, its documentation and the tests have the same numbers of findings."""
    with open(DOCTOR, encoding="utf-8") as file:
        text = file.read()
    table, rest = text.split("\n}\n", 1)
    have = set(re.findall(r'^    "(RD\d+)": \(', table, re.M))
    made = set(re.findall(r'"(RD\d+)"', rest))
    with open(f"{TOP}/Documentation/fix/findings.rst", encoding="utf-8") as file:
        explained = set(re.findall(r"^ *(RD\d+)$", file.read(), re.M))
    with open(f"{TOP}/tests/doctor.sh", encoding="utf-8") as file:
        tried = set(re.findall(r"^finds (RD\d+)", file.read(), re.M))
    tried |= {name for case in CASES + PINGS
              for name in re.findall(r"RD\d+", case[-1])} | {"RD000"}
    for what, those in (("made", made), ("explained", explained), ("tried", tried)):
        yield f"{what}, and not in the table: {sorted(those - have)}" \
            if those - have else ""
        yield f"not {what}: {sorted(have - those)}" if have - those else ""


def check_pings():
    """The doctor draws the right conclusions from a server's answers."""
    doctor = load_doctor()
    for name, results, large, expected in PINGS:
        with tempfile.TemporaryDirectory() as directory:
            make(directory, {})
            host, report = doctor.Host(directory, None), doctor.Report()
            host.run = lambda *command, said=results, also=large: "\n".join(
                map(json.dumps, [also] if "--size" in command else said))
            doctor.check_rdma(host, report, "10.0.0.9", 20049)
        wrong = any(found["level"] == "wrong" for found in report.findings)
        problem = verdict(wrong, report.findings, expected)
        yield f"{name}: {problem}" if problem else ""


def check_words():
    for number, (_, text, fix) in load_doctor().FINDINGS.items():
        found = AWKWARD.search(text) or AWKWARD.search(fix)
        yield f"{number} is not plain English: {found[0]}" if found else ""


def compat(kernel, probes=("SVC_RESPAGES", "SVC_CB_LWQ", "XPO_RELEASE_CTXT"), more=(),
           of_debian=True):
    """(why compat.h refuses a kernel, or empty; the state of that kernel in modinfo)"""
    path = f"{TOP}/net/sunrpc/xprtrdma/compat.h"
    with open(path, encoding="utf-8") as file:
        headers = re.findall(r"#include <(.*)>", file.read())
    major, minor = kernel.split(".")
    with tempfile.TemporaryDirectory() as directory:
        for header in headers:
            make(directory, {f"/{header}": ""}, {})
        make(directory, {"/linux/version.h": f"#define LINUX_VERSION_CODE ({major} << 16 | "
                         f"{minor} << 8 | 9)\n#define KERNEL_VERSION(a, b, c) "
                         "(((a) << 16) + ((b) << 8) + (c))\n"}, {})
        done = subprocess.run(
            ["gcc", "-E", "-P", "-nostdinc", f"-I{directory}", "-include", path, "-x", "c",
             *(f"-DRPCRDMA2_HAVE_{name}" for name in probes), *(f"-D{name}" for name in more),
             *(["-DRPCRDMA2_HAVE_PACKAGE_H"] if of_debian else []),
             "-"], input="state: RPCRDMA2_KERNEL_STATE", capture_output=True, text=True,
            check=False)
    refusal = re.search(r'#error "refused: (.*)"', done.stderr)
    state = re.search(r"^state: (.*)", done.stdout, re.M)
    return refusal[1] if refusal else "" if done.returncode == 0 else done.stderr, \
        "".join(re.findall(r'"(.*?)"', state[1])) if state else ""


def check_versions():
    """The doctor knows its version; doctor, DKMS and compat.h support the same kernels."""
    doctor = load_doctor()
    version = subprocess.run([f"{TOP}/tools/version"], check=True, text=True,
                             stdout=subprocess.PIPE).stdout.strip()
    with open(f"{TOP}/debian/rpcrdma2-dkms.dkms", encoding="utf-8") as file:
        exclusive = re.search(r'^BUILD_EXCLUSIVE_KERNEL="(.*)"$', file.read(), re.M)[1]
    for kernel in ("4.18", "5.14", "6.0", "6.1", "6.2", "6.8", "6.12", "6.18", "6.19", "7.0",
                   "7.1", "7.3", "7.4", "7.10", "7.30", "8.1", "10.1"):
        refusal, state = compat(kernel)
        said = {"compat.h": not refusal, "dkms": bool(re.match(exclusive, f"{kernel}.9-amd64")),
                "doctor": doctor.is_supported(f"{kernel}.9-amd64")}
        yield "" if len(set(said.values())) == 1 else f"Linux {kernel}: supported by {said}"
        yield "" if (state == "tested") == (kernel in doctor.TESTED) else \
            f"Linux {kernel} is {state}"
    for wanted, *given in (("server's pages", "SVC_CB_LWQ", "XPO_RELEASE_CTXT"),
                           ("callbacks", "SVC_RESPAGES", "XPO_RELEASE_CTXT"),
                           ("xpo_release_ctxt", "SVC_RESPAGES_INSIDE", "SVC_CB_WAITQ"),
                           ("", "SVC_RESPAGES_INSIDE", "SVC_CB_WAITQ", "XPO_RELEASE_CTXT")):
        for more in (), ("RPCRDMA2_ANY_KERNEL",):
            refusal, _ = compat("6.12", given, more)
            yield "" if wanted in refusal and bool(wanted) == bool(refusal) else \
                f"compat.h with {given}: {refusal}"
    for macro in "RHEL_MAJOR", "CONFIG_SUSE_KERNEL", "UTS_UBUNTU_RELEASE_ABI":
        _, state = compat("6.12", more=(macro,))
        yield "" if state.startswith("expected to work, ") else f"{macro}: {state}"
    for kernel in doctor.TESTED:
        _, state = compat(kernel, of_debian=False)
        yield "" if state == "expected to work, not Debian's" else f"not Debian's: {state}"
    refusal, state = compat("9.9", more=("RPCRDMA2_ANY_KERNEL",))
    yield "" if (refusal, state) == ("", "not supported") else f"forced: {refusal} {state}"
    said = run("--version")
    yield "" if said == (0, f"rpcrdma2-doctor {version}\n", "") else f"--version: {said}"
    with tempfile.TemporaryDirectory() as directory:
        make(directory, {})
        said = json.loads(run("--json", "--root", directory)[1])
    yield "" if (said.get("version"), said.get("format")) == (version, 1) else \
        f"JSON without versions: {said}"


def check_arguments():
    for argument in ("99999", "0", "-1", "nfs"):
        status, _, errors = run(f"--port={argument}", "server")
        yield "" if status == 2 and "1 to 65535" in errors else f"--port {argument}: {errors}"
    status, _, errors = run("--report", DOCTOR)
    yield "" if status == 2 and "exists" in errors else f"--report overwrites: {errors}"


def archive_of(changes):
    """({name: text} of the files in an archive of such a host, the doctor's output)"""
    with tempfile.TemporaryDirectory() as directory:
        make(f"{directory}/host", changes)
        status, output, errors = run("--root", f"{directory}/host", "--report",
                                     f"{directory}/x.tar.gz")
        if not os.path.exists(f"{directory}/x.tar.gz"):
            return {}, f"status {status}: {output}{errors}"
        if os.stat(f"{directory}/x.tar.gz").st_mode & 0o77:
            return {}, "others may read it"
        os.mkdir(f"{directory}/unpacked")
        subprocess.run(["tar", "-xzf", f"{directory}/x.tar.gz", "-C",
                        f"{directory}/unpacked"], check=True)
        top, = os.listdir(f"{directory}/unpacked")
        again = run("--json", "--root", f"{directory}/unpacked/{top}")
        files = {}
        for place, _, names in os.walk(f"{directory}/unpacked/{top}"):
            for name in names:
                path = os.path.join(place, name)
                with open(path, encoding="utf-8") as file:
                    files[path[len(f"{directory}/unpacked/{top}"):]] = file.read()
    if again[1] != files["/findings.json"]:
        return {}, f"{again[1]} is not what was found at first: {files['/findings.json']}"
    return files, output


def check_report():
    """An archive has the files that helpers need, and no secrets."""
    files, output = archive_of(mounted() | SECRETS | {
        "/proc/fs/nfsd/threads": "8", "/proc/fs/nfsd/portlist": "rdma 20049",
        f"{DEBUGFS}/server": "connections: 0", f"{DEBUGFS}/cpus/0": "of no finding",
        "/etc/os-release": "ID=debian"})
    text = "".join(files.values())
    for secret in set(re.findall(r"SECRET-\d", str(SECRETS))):
        yield f"{secret} is in the archive" if secret in text or not files else ""
    for wanted in ("no connection to x", "some_caller", "swiotlb=force", "rdma=y",
                   "rpcrdma2-dkms\t1.0.0", "ID=debian", "role: client",
                   "connections: 0", "of no finding", "nfsrdma", '"RD701"', '"RD501"', '"RD708"'):
        yield "" if wanted in text else f"the archive lacks {wanted}: {output}"
    for name in files:
        yield "" if name == "/CONTENTS" or re.search(
            rf"^ *\d+  {re.escape(name[1:])}$", files["/CONTENTS"], re.M) else \
            f"CONTENTS lacks {name}"
    yield "" if "no user data" in output else f"it does not say what is in it: {output}"


def check_user():
    """The user nobody can't see everything, and the doctor says so."""
    with open(DOCTOR, encoding="utf-8") as file:
        done = subprocess.run(["/usr/bin/python3", "-", "--json"], cwd="/", text=True,
                              stdin=file, capture_output=True, check=False,
                              user=None if os.geteuid() else 65534)
    return "" if '"RD000"' in done.stdout else f"no RD000: {done.stdout}{done.stderr}"


def main():
    passed = failed = 0
    for name, changes, expected in CASES:
        with tempfile.TemporaryDirectory() as directory:
            make(directory, changes)
            problem = verdict(*consult(directory), expected)
        if problem:
            print(f"FAIL: {name}: {problem}")
        passed, failed = passed + (not problem), failed + bool(problem)
    for problem in (*check_pings(), *check_words(), *check_versions(), *check_arguments(),
                    *check_report(), check_user(), *check_numbers()):
        if problem:
            print(f"FAIL: {problem}")
        passed, failed = passed + (not problem), failed + bool(problem)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
