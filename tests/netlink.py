#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Send malformed requests to the netlink family, and dump while connections come and go.

    netlink.py malformed NUMBER SEED    send requests about the connection NUMBER
    netlink.py dump SECONDS NUMBER...   these connections stay, and others come and go
    netlink.py absent NUMBER            this connection is in another network namespace

Prints a line for each fault. The status is 1 if there is any.
"""

import errno
import importlib.machinery
import importlib.util
import os
import pathlib
import random
import struct
import sys
import time

TOOL = pathlib.Path(__file__).resolve().parent.parent / "scripts/rpcrdma2"
loader = importlib.machinery.SourceFileLoader("rpcrdma2", str(TOOL))
nl = importlib.util.module_from_spec(importlib.util.spec_from_loader("rpcrdma2", loader))
loader.exec_module(nl)

ID, ROLE, HEARTBEAT, SIZE = (
    1 + [name for name, _ in nl.SETS["conn"]].index(attr)
    for attr in ("id", "role", "heartbeat", "receive_buffer_size"))
GET, SET, TOTALS = (nl.COMMANDS[name] for name in ("conn-get", "conn-set", "totals-get"))
ROUNDS = 3000
NOBODY = 65534
failures = []


def u32(kind, value):
    return nl.attribute(kind, struct.pack("=I", value))


def complain(text):
    failures.append(text)
    print(text)


def ask(socket, command, payload, flags=nl.NLM_F_ACK):
    """Return: the errno that answers a request, or 0, and the kernel's message"""
    try:
        socket.ask(socket.family, command, 1, payload, flags)
    except nl.Refused as refused:
        return refused.number, str(refused)
    return 0, ""


def expect(title, answer, number, text=""):
    if answer[0] != number or text not in answer[1]:
        complain(f"{title}: {answer}, not ({number}, '{text}')")


def directed(socket, conn):
    """The kernel must refuse these requests, and say why."""
    none = struct.pack("=I", 4000000000)
    for title, command, payload, number, text in (
            ("no number", GET, b"", errno.EINVAL, "number of a connection is missing"),
            ("no number", SET, u32(HEARTBEAT, 5), errno.EINVAL, "number of a connection"),
            ("no such connection", GET, nl.attribute(ID, none), errno.ENOENT,
             "no such connection"),
            ("no such connection", SET, nl.attribute(ID, none) + u32(HEARTBEAT, 5),
             errno.ENOENT, "no such connection"),
            ("two octets of number", GET, nl.attribute(ID, b"\1\0"), errno.EINVAL,
             "invalid attribute length"),
            ("another attribute", GET, u32(ID, conn) + u32(ROLE, 0), errno.EINVAL, "attribute"),
            ("an attribute of none", GET, u32(ID, conn) + u32(99, 0), errno.EINVAL,
             "Unknown attribute"),
            ("octets behind", GET, u32(ID, conn) + b"\0\0", errno.EINVAL, "leftover"),
            ("nothing to set", SET, u32(ID, conn), errno.EINVAL, "nothing to set"),
            ("a role to set", SET, u32(ID, conn) + u32(ROLE, 0), errno.EINVAL, "attribute"),
            ("an odd size", SET, u32(ID, conn) + u32(SIZE, 5000), errno.EINVAL,
             "multiple of 1024"),
            ("a small size", SET, u32(ID, conn) + u32(SIZE, 2048), errno.ERANGE,
             "out of range"),
            ("a large size", SET, u32(ID, conn) + u32(SIZE, 262144 + 1024), errno.ERANGE,
             "out of range"),
            ("a slow heartbeat", SET, u32(ID, conn) + u32(HEARTBEAT, 3601), errno.ERANGE,
             "out of range"),
            ("an attribute of totals", TOTALS, u32(1, 0), errno.EINVAL, ""),
            ("no such command", 99, b"", errno.EOPNOTSUPP, ""),
            ("an event as a request", nl.COMMANDS["conn-lost-ntf"], b"", errno.EOPNOTSUPP, "")):
        expect(title, ask(socket, command, payload), number, text)
    expect("a dump with a number", ask(socket, GET, u32(ID, conn), nl.NLM_F_DUMP),
           errno.EINVAL, "a dump takes no attributes")
    expect("a dump of totals", ask(socket, TOTALS, b"", nl.NLM_F_DUMP), errno.EOPNOTSUPP)


def as_nobody(conn):
    """Any user may look, and only an administrator may set."""
    child = os.fork()
    if child:
        if os.waitpid(child, 0)[1]:
            complain("as nobody: see above")
        return
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    socket = nl.Netlink()
    expect("nobody looks", ask(socket, GET, u32(ID, conn)), 0)
    expect("nobody looks at totals", ask(socket, TOTALS, b""), 0)
    expect("nobody sets", ask(socket, SET, u32(ID, conn) + u32(HEARTBEAT, 7)), errno.EPERM)
    sys.stdout.flush()
    os._exit(bool(failures))


def mutated(draw, conn):
    """A request with a few mistakes"""
    parts = [u32(ID, draw.choice((conn, 0, draw.getrandbits(32)))),
             u32(HEARTBEAT, 5), u32(SIZE, draw.choice((4096, 8192, draw.getrandbits(32))))]
    data = bytearray(b"".join(draw.sample(parts, draw.randint(0, 3))))
    for _ in range(draw.randint(0, 4)):
        what = draw.randrange(3)
        if what == 0 and data:
            data[draw.randrange(len(data))] = draw.getrandbits(8)
        elif what == 1:
            del data[draw.randint(0, len(data)):]
        else:
            data += draw.randbytes(draw.randint(0, 12))
    return bytes(data)


def fuzz(socket, conn, seed):
    """Each request gets one answer, however malformed it is."""
    draw = random.Random(seed)
    answers = {}
    for _ in range(ROUNDS):
        command = draw.choice((GET, SET, TOTALS, draw.randrange(256)))
        flags = draw.choice((nl.NLM_F_ACK, nl.NLM_F_DUMP)) if command != SET else nl.NLM_F_ACK
        number = ask(socket, command, mutated(draw, conn), flags)[0]
        answers[number] = answers.get(number, 0) + 1
    print("# answers:", ", ".join(f"{errno.errorcode.get(number, 'done')} {count}"
                                  for number, count in sorted(answers.items())))
    for number in (0, errno.EINVAL, errno.EOPNOTSUPP):
        if not answers.get(number):
            complain(f"no request had the answer {number}: what was tried?")


def malformed(conn, seed):
    socket = nl.Netlink()
    directed(socket, conn)
    as_nobody(conn)
    fuzz(socket, conn, seed)
    if conn not in (found["connection"] for found in nl.connections(socket)):
        complain(f"connection {conn} is gone")


def absent(conn):
    socket = nl.Netlink()
    for command, more in (GET, b""), (SET, u32(HEARTBEAT, 7)):
        expect("a connection from elsewhere", ask(socket, command, u32(ID, conn) + more),
               errno.ENOENT, "no such connection")


def dump(seconds, stay):
    """Each dump has each connection that stays, once."""
    socket = nl.Netlink()
    end, rounds, seen = time.monotonic() + seconds, 0, set()
    while time.monotonic() < end:
        found = [conn["connection"] for conn in nl.connections(socket)]
        if found != sorted(set(found)):
            complain(f"not in order, or twice: {found}")
        if stay - set(found):
            complain(f"missing: {sorted(stay - set(found))}")
        seen.update(found)
        rounds += 1
    print(f"# {rounds} dumps, {len(stay)} connections stayed, {len(seen - stay)} came")
    if not seen - stay or len(stay) < 10:
        complain("nothing came, or too few stayed")


def main():
    if sys.argv[1] == "malformed":
        malformed(int(sys.argv[2]), int(sys.argv[3]))
    elif sys.argv[1] == "dump":
        dump(int(sys.argv[2]), set(map(int, sys.argv[3:])))
    else:
        absent(int(sys.argv[2]))
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
