#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Read extended attributes and ACLs with buffers of all sizes.

    xattr.py make EXPORT                  make files with attributes and ACLs, on the server
    xattr.py read MOUNT RESULTS KIND...   read them on a mount; write errno and data to RESULTS
    xattr.py copy MOUNT                   check that shutil.copy2() keeps all attributes
    xattr.py compare RESULTS TCP          check that RESULTS are the same as over TCP

KIND: value, list, acl.

A client caches the attributes that it has read. So each pair of a value and a buffer has its own
file, and each mount must be a new one.
"""

import ctypes
import errno
import json
import os
import random
import shutil
import struct
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
GUARD = 64          # octets behind each buffer, which nothing may write to
UNTOUCHED = 0xa5

# Octets of the values, and of the buffers; a buffer of 0 asks for the length.
VALUES = (100, 4097, 16385, 65536)
BUFFERS = (0, 1, 128, 1024, 4096, 16384, 65536)
# Entries of the POSIX ACL behind an NFSv4 ACL, and names in a list: as many as ext4 has room for
ENTRIES = 420
NAMES = 40
COPIED = "copied"


def value(size):
    return random.Random(size).randbytes(size)


def acl(entries):
    """A POSIX ACL with this number of users, in the kernel's format"""
    everyone = 0xffffffff
    all_entries = [(1, 7, everyone)]
    all_entries += [(2, 5, 1000 + i) for i in range(entries)]
    all_entries += [(4, 4, everyone), (16, 5, everyone), (32, 0, everyone)]
    return struct.pack("<I", 2) + b"".join(
        struct.pack("<HHI", *entry) for entry in all_entries)


def cases(*kinds):
    """(file, attribute to read or None for the list of names, octets of the buffer)"""
    for size in BUFFERS:
        for length in VALUES if "value" in kinds else ():
            yield f"value-{length}-{size}", "user.value", size
        if "acl" in kinds:
            yield f"acl-{size}", "system.nfs4_acl", size
        if "list" in kinds:
            yield f"list-{size}", None, size


def make(export):
    for name, attribute, _ in cases("value", "list", "acl"):
        path = f"{export}/{name}"
        with open(path, "wb"):
            pass
        if attribute == "user.value":
            os.setxattr(path, attribute, value(int(name.split("-")[1])))
        elif attribute:
            os.setxattr(path, "system.posix_acl_access", acl(ENTRIES))
        else:
            for i in range(NAMES):
                os.setxattr(path, f"user.{i:050}", b"")
    path = f"{export}/{COPIED}"
    with open(path, "wb") as file:
        file.write(b"contents")
    for length in VALUES:
        os.setxattr(path, f"user.{length}", value(length))


def call(path, attribute, size):
    """Call getxattr(2) or listxattr(2). Return: errno or 0, the result, and the written data"""
    memory = ctypes.create_string_buffer(bytes([UNTOUCHED]) * (size + GUARD),
                                         size + GUARD)
    buffer = memory if size else None
    if attribute:
        done = LIBC.getxattr(path.encode(), attribute.encode(), buffer, size)
    else:
        done = LIBC.listxattr(path.encode(), buffer, size)
    error = ctypes.get_errno() if done < 0 else 0
    written = memory.raw[:done] if size and done > 0 else b""
    if memory.raw[size:] != bytes([UNTOUCHED]) * GUARD:
        sys.exit(f"{path}: octets behind a buffer of {size} were written to")
    return error, max(done, 0), written


def expected(name, size):
    """The result that an application can rely on, or None if only the server knows the value"""
    kind, *length = name.split("-")
    if kind != "value":
        return None
    length = int(length[0])
    if not size:
        return 0, length, b""
    if size < length:
        return errno.ERANGE, 0, b""
    return 0, length, value(length)


def name_of(error):
    return errno.errorcode.get(error, str(error))


def read(mount, results, *kinds):
    found, wrong = {}, 0
    for name, attribute, size in cases(*kinds):
        got = call(f"{mount}/{name}", attribute, size)
        found[name] = name_of(got[0]), got[1], got[2].hex()
        due = expected(name, size)
        if due and got != due:
            print(f"{name}: {name_of(got[0])}, {got[1]} octets, due: "
                  f"{name_of(due[0])}, {due[1]}")
            wrong += 1
    with open(results, "w", encoding="ascii") as file:
        json.dump(found, file)
    if wrong:
        sys.exit(f"{wrong} of {len(found)} are wrong")


def copy(mount):
    target = f"{mount}/copy"
    shutil.copy2(f"{mount}/{COPIED}", target)
    names = sorted(n for n in os.listxattr(target) if n.startswith("user."))
    if names != sorted(f"user.{length}" for length in VALUES):
        sys.exit(f"{target}: the copy has {names}")
    for length in VALUES:
        if os.getxattr(target, f"user.{length}") != value(length):
            sys.exit(f"{target}: user.{length} is another one")
    os.unlink(target)


def compare(results, tcp):
    with open(results, encoding="ascii") as file:
        got = json.load(file)
    with open(tcp, encoding="ascii") as file:
        due = json.load(file)
    # The ACL and the list must be longer than small buffers, but must fit into the largest one.
    for kind, small in ("acl", 4096), ("list", 1024):
        if f"{kind}-{small}" not in due:
            continue
        few, all_of_it = due[f"{kind}-{small}"], due[f"{kind}-{BUFFERS[-1]}"]
        if few[0] != "ERANGE" or all_of_it[0] != "0" or all_of_it[1] <= 2 * small:
            sys.exit(f"{kind}: too short for a test, {all_of_it[:2]}")
    wrong = [name for name in due if got.get(name) != due[name]]
    for name in wrong:
        print(f"{name}: {got[name][:2]}, due: {due[name][:2]}")
    if wrong or not due or len(got) != len(due):
        sys.exit(f"{len(wrong)} of {len(due)} differ")
    print(f"{len(got)} reads end as over TCP")


COMMANDS = {"make": make, "read": read, "copy": copy, "compare": compare}


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in COMMANDS:
        sys.exit(__doc__)
    COMMANDS[sys.argv[1]](*sys.argv[2:])
