#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Write a capture of RPC-over-RDMA messages, most of them malformed.

    malformed.py FILE [SEED]

The messages are Sends on RoCE v2. Prints a line FRAME|EXPECTED|WHAT for each frame: its
number, what a dissector should find, and a description. EXPECTED is one of these:

    fine     nothing is wrong
    of 2016  nothing is wrong; the message is of the 2016 draft
    any      the message is damaged at random, so the dissector may find anything
    part     the packet completes no Send
    cut      the end of the packet was not captured
    v1       the message is of version 1
    PATTERN  the dissector's complaint matches this
"""

import random
import struct
import sys

MSG, NOMSG, ERROR, CONNPROP = 0, 1, 4, 5
REQUEST, DISPOSITION, UPDATE = 0xffffff01, 0xffffff02, 0xffffff03
XID, HANDLE = 0x5c3e11d0, 0x1100
SEND_FIRST, SEND_MIDDLE, SEND_LAST, SEND_ONLY = 0, 1, 2, 4
RANDOM_MESSAGES = 400
CALL, REPLY = 0, 1


def words(*values):
    return struct.pack(f">{len(values)}I", *(value & 0xffffffff for value in values))


# Messages

def prefix(htype, response, **changes):
    word = {"xid": XID, "vers": 2, "credit": 32, "htype": htype,
            "flags": response, **changes}
    return words(*word.values())


def segment(length=4096, handle=HANDLE, offset=0x7000):
    return words(handle, length) + struct.pack(">Q", offset)


def read(position, *args, **kwargs):
    return words(position) + segment(*args, **kwargs)


def chunk(*segments):
    return words(len(segments)) + b"".join(segments)


def links(*items, follows=1):
    return b"".join(words(follows) + item for item in items) + words(0)


def lists(inv=0, reads=(), writes=(), reply=None, follows=1):
    return (words(inv) + links(*reads, follows=follows) +
            links(*writes, follows=follows) +
            (words(0) if reply is None else words(follows) + reply))


def rpc(direction, xid=XID):
    """NFS version 4, procedure NULL."""
    if direction == CALL:
        return words(xid, CALL, 2, 100003, 4, 0, 0, 0, 0, 0)
    return words(xid, REPLY, 0, 0, 0, 0)


def msg(direction=CALL, message=None, head=None, **chunks):
    return (prefix(MSG, direction, **(head or {})) + lists(**chunks) +
            (rpc(direction) if message is None else message))


def nomsg(direction=CALL, after=b"", **chunks):
    return prefix(NOMSG, direction) + lists(**chunks) + after


def error(*body, response=1):
    return prefix(ERROR, response) + words(*body)


def prop(number, data):
    return words(number, len(data)) + data + bytes(-len(data) % 4)


def connprop(*props, count=None, after=b""):
    return (prefix(CONNPROP, 0) +
            words(len(props) if count is None else count) + b"".join(props) + after)


def prop_set(*props):
    return words(len(props)) + b"".join(props)


def subset(*bits):
    return words(len(bits), *bits)


def request(*props, after=b""):
    return prefix(REQUEST, 0) + prop_set(*props) + after


def disposition(*subsets):
    return prefix(DISPOSITION, 1) + b"".join(subsets)


def update(item, settled=0, after=b""):
    return prefix(UPDATE, 0) + item + words(settled) + after


PROPS = prop(1, words(12288)), prop(2, words(1))
EXTENSION = prop(0xffffff01, words(0x72327031)), prop(0xffffff02, words(4096))

FINE = {
    "CONNPROP": connprop(*PROPS),
    "CONNPROP, no properties": connprop(),
    "CONNPROP, defaults": connprop(prop(1, b""), prop(2, b"")),
    "CONNPROP, unknown property": connprop(prop(77, b"seven77"), *PROPS),
    "CONNPROP, changes": connprop(*PROPS, *EXTENSION),
    "CONNPROP, experiments of others": connprop(
        *PROPS, prop(0xffffff01, b"others"), prop(0xffffff02, words(1))),
    "REQUEST": request(*PROPS),
    "REQUEST of nothing": request(),
    "REQUEST of something unknown": request(prop(77, b"seven77")),
    "DISPOSITION": disposition(subset(1), subset(2), subset(0x80000000)),
    "DISPOSITION, any number of words": disposition(subset(1, 0, 0), subset(),
                                                    subset(2, 0)),
    "UPDATE": update(PROPS[0], 1),
    "UPDATE of a wish": update(EXTENSION[1]),
    "UPDATE of something unknown": update(prop(77, b"seven77")),
    "Call": msg(),
    "Reply": msg(REPLY),
    "unknown flags": msg(head={"flags": 0xfffffffe}),
    "Call, all chunks": msg(inv=HANDLE, reads=[read(40), read(40)],
                            writes=[chunk(segment(), segment()), chunk()],
                            reply=chunk(segment())),
    "Reply, chunks": msg(REPLY, writes=[chunk(segment(0))], reply=chunk(segment(0))),
    "two Read chunks": msg(reads=[read(4136), read(40, 4093)]),
    "many segments": msg(reads=[read(40)] * 60),
    "NOMSG Call": nomsg(inv=HANDLE, reads=[read(0)], reply=chunk(segment())),
    "NOMSG Reply": nomsg(REPLY, reply=chunk(segment())),
    "ERR_VERS": error(1, 2, 2),
    "ERR_VERS of version 1": prefix(ERROR, 0)[:-4] + words(1, 1, 1),
    "BAD_HEADER of the 2016 text": prefix(ERROR, 2),
    "INVAL_HTYPE of the 2022 text": prefix(ERROR, 4),
    "BAD_XDR": error(2),
    "INVAL_HTYPE": error(3),
    "READ_CHUNKS": error(4, 0),
    "WRITE_CHUNKS": error(5, 8),
    "SEGMENTS": error(6, 64),
    "WRITE_RESOURCE": error(7, 1, 65536),
    "REPLY_RESOURCE": error(8, 65536),
    "SYSTEM": error(9),
    "error of an extension": error(42, 1, 2, 3),
}

# A part of the dissector's complaint, and the message that causes it
MALFORMED = [
    ("version 3", msg(head={"vers": 3})),
    ("version 0", msg(head={"vers": 0})),
    ("header type 2 is unknown", prefix(2, 0) + lists()),
    ("header type 4294967295 is unknown", prefix(-1, 0) + lists()),
    ("header type 6 is unknown", prefix(6, 0)[:-4]),
    ("length 77 is not a multiple of four", msg() + b"?"),

    ("Receive Buffer Size 512", connprop(prop(1, words(512)))),
    ("Receive Buffer Size 4098", connprop(prop(1, words(4098)))),
    ("Reverse Request Support 3", connprop(prop(2, words(3)))),
    ("Receive Buffer Size has 8 octets", connprop(prop(1, words(4096, 0)))),
    ("property of 4294967295 octets", connprop(words(77, -1))),
    ("4294967295 properties", connprop(*PROPS, count=-1)),
    ("12 octets follow the last property", connprop(*PROPS, count=1)),
    ("4 octets follow the last property", connprop(*PROPS, after=words(0))),

    ("Receive Buffer Size 4098", request(prop(1, words(4098)))),
    ("Reverse Request Support 3", update(prop(2, words(3)))),
    ("4294967295 properties", prefix(REQUEST, 0) + words(-1)),
    ("4 octets follow the last property", request(*PROPS, after=words(0))),
    ("subset of 4294967295 words", disposition(words(-1, 0), subset(), subset())),
    ("before its count of words", disposition(subset(1), subset())),
    ("subsets overlap", disposition(subset(3), subset(2), subset())),
    ("subsets overlap", disposition(subset(0x80000000), subset(), subset(0x80000000))),
    ("subsets overlap", disposition(subset(), subset(0, 4), subset(1, 6))),
    ("4 octets follow the last subset", disposition(subset(), subset(), subset(),
                                                    words(0))),
    ("settled by 2", update(PROPS[0], 2)),
    ("4 octets follow the update", update(PROPS[0], after=words(0))),

    ("XID 0x00000007", msg(message=rpc(CALL, 7))),
    ("direction 1", msg(message=rpc(REPLY))),
    ("direction 0", msg(head={"flags": 1})),
    ("direction 2", msg(message=words(XID, 2))),
    ("before the RPC message's direction", msg(message=words(XID))),
    ("Read chunk at position 0", msg(reads=[read(0)])),

    ("Read segment is announced by 2", msg(reads=[read(40)], follows=2)),
    ("Write chunk is announced by 256", msg(writes=[chunk()], follows=256)),
    ("Reply chunk is announced by 4294967295", msg(reply=chunk(), follows=-1)),
    ("position 42 is not a multiple", msg(reads=[read(42)])),
    ("position 40 is divided", msg(reads=[read(40), read(8196), read(40)])),
    ("position 4132 overlaps", msg(reads=[read(4132), read(40)])),
    ("position 44 is outside", msg(reads=[read(44)])),
    ("position 4 is outside", msg(reads=[read(4)])),
    ("Write chunk of 4294967295 segments", msg(writes=[words(-1)])),
    ("Reply chunk of 3 segments", msg(message=b"", reply=words(3) + segment() * 2)),
    ("wraps around", msg(reads=[read(40, offset=2 ** 64 - 4095)])),
    ("4 GiB", msg(writes=[chunk(segment(2 ** 31), segment(2 ** 31))])),
    ("0x0000dead is in no chunk", msg(inv=0xdead, reads=[read(40)])),
    ("a Reply has a Read list", msg(REPLY, reads=[read(16)])),
    ("before its", prefix(MSG, 0) + words(0) + (words(1) + read(40)) * 9),

    ("no Read chunk at position 0", nomsg(reads=[read(40)])),
    ("no Read chunk at position 0", nomsg(reply=chunk(segment()))),
    ("no Reply chunk", nomsg(REPLY)),
    ("no Reply chunk", nomsg(REPLY, reply=chunk(segment(4)))),
    ("40 octets follow", nomsg(reads=[read(0)], after=rpc(CALL))),
    ("position 8192 is outside", nomsg(reads=[read(0), read(8192)])),

    ("error code 0", error(0)),
    ("before its error code", prefix(ERROR, 1)),
    ("before its error code", prefix(ERROR, 101)),
    ("before its error's arguments", error(7, 1)),
    ("4 octets follow the error", error(9, 0)),
    ("versions from 3 to 2", error(1, 3, 2)),
    ("not marked as a response", error(9, response=0)),
]


# Packets: RoCE v2 in UDP, IPv4, Ethernet

class Capture:
    def __init__(self, path):
        self.file = open(path, "wb")
        self.file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        self.frame = 0
        self.psn = 0

    def packet(self, opcode, payload, expected, what, qpn=0x12, captured=None):
        self.frame += 1
        padding = -len(payload) % 4
        bth = struct.pack(">BBHII", opcode, padding << 4, 0xffff, qpn,
                          self.psn & 0xffffff) + payload + bytes(padding + 4)
        self.psn += 1
        udp = struct.pack(">4H", 49152, 4791, 8 + len(bth), 0) + bth
        ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0x4000, 64, 17,
                         0, bytes((192, 0, 2, 1)), bytes((192, 0, 2, 2))) + udp
        frame = bytes(12) + b"\x08\x00" + ip
        kept = frame[:captured]
        self.file.write(struct.pack("<IIII", self.frame, 0, len(kept), len(frame)))
        self.file.write(kept)
        print(self.frame, expected, what, sep="|")

    def send(self, message, expected, what):
        self.packet(SEND_ONLY, message, expected, what)


# Cuts after which the message is still complete
WHOLE = {("ERR_VERS", 28), ("error of an extension", 24),
         ("error of an extension", 28), ("error of an extension", 32)}


def write_truncated(capture):
    """Write each message cut to every length that is too short. Without a Read list, two
    words of the RPC message are enough."""
    for name, message in FINE.items():
        least = len(message)
        if message[12:16] == words(MSG) and message[24:28] == words(0):
            least = message.rindex(words(XID)) + 8
        for length in range(1, least):
            capture.send(message[:length], "fine" if (name, length) in WHOLE else ".",
                         f"{name}, cut to {length} octets")


def write_damaged(capture, seed):
    generator = random.Random(seed)
    for number in range(RANDOM_MESSAGES):
        name, message = generator.choice(list(FINE.items()))
        damaged = bytearray(message)
        for _ in range(generator.randint(1, 4)):
            damaged[generator.randrange(len(damaged))] = generator.randrange(256)
        if damaged[4:8] != words(1):
            capture.send(damaged, "any", f"{name}, damage {number}")


def write_pieces(capture):
    """Write Sends of several packets, some of which are repeated or lost."""
    message = FINE["many segments"]
    pieces = message[:500], message[500:1000], message[1000:]

    capture.packet(SEND_FIRST, pieces[0], "part", "first of three")
    capture.packet(SEND_MIDDLE, pieces[1], "part", "second of three")
    capture.psn -= 1
    capture.packet(SEND_MIDDLE, pieces[1], "part", "second of three, again")
    capture.packet(SEND_LAST, pieces[2], "fine", "third of three")
    capture.psn -= 1
    capture.packet(SEND_LAST, pieces[2], "part", "third of three, again")
    capture.packet(SEND_FIRST, pieces[0], "part", "first of three, before a gap")
    capture.psn += 1
    capture.packet(SEND_LAST, pieces[2], "part", "third of three, after a gap")
    capture.psn = -1
    capture.packet(SEND_FIRST, pieces[0], "part", "first, PSN wraps")
    capture.packet(SEND_LAST, pieces[1], "before", "last, and something is missing")


def write_not_captured(capture):
    for name in "CONNPROP", "Call, all chunks", "NOMSG Reply":
        for captured in range(80, 80 + 26, 5):
            capture.packet(SEND_ONLY, FINE[name], "cut", f"{name}, {captured} captured",
                           captured=captured)


def of_2016(htype, direction, *body):
    """A message of the 2016 draft, which has a direction in the place of the flags"""
    return prefix(htype, direction) + b"".join(body)


def operation(number, info):
    return words(number, len(info)) + info


def init_xchar(*props, after=words(0)):
    return operation(1, prop_set(*props) + after)


# Without the first word, the handle to invalidate: the 2016 draft has none
READ_LISTS = lists(reads=[read(40)])[4:]
REPLY_LISTS = lists(reply=chunk(segment(400)))[4:]
NO_LISTS = lists()[4:]

OF_2016 = {
    "Call": of_2016(MSG, CALL, NO_LISTS, rpc(CALL)),
    "Reply": of_2016(MSG, REPLY, NO_LISTS, rpc(REPLY)),
    "Call with a Read chunk": of_2016(MSG, CALL, READ_LISTS, rpc(CALL)),
    "Reply elsewhere": of_2016(NOMSG, REPLY, REPLY_LISTS),
    "INIT_XCHAR": of_2016(CONNPROP, CALL, init_xchar(
        prop(1, words(4096)), prop(2, words(1)), prop(3, words(2)))),
    "INIT_XCHAR, which won't change": of_2016(CONNPROP, REPLY, init_xchar(
        prop(0xffffff00, b"12345"), after=words(1, 1))),
    "REQ_XCHAR": of_2016(CONNPROP, CALL, operation(2, prop_set(
        prop(1, words(4096)), prop(0xffffff02, words(0))))),
    "REQ_XCHAR of nothing": of_2016(CONNPROP, CALL, operation(2, prop_set())),
    "RESP_XCHAR": of_2016(CONNPROP, REPLY, operation(
        3, subset(1) + subset() + subset(2, 1))),
    "UPD_XCHAR": of_2016(CONNPROP, CALL, operation(
        4, prop(3, words(3)) + words(1))),
    "unknown operation": of_2016(CONNPROP, CALL, operation(5, b"12345678")),
}
BAD_OF_2016 = [
    ("Receive Buffer Size 100", init_xchar(prop(1, words(100)))),
    ("Requester Remote Invalidation 2", init_xchar(prop(2, words(2)))),
    ("Requester Remote Invalidation has 0 octets", init_xchar(prop(2, b""))),
    ("Backward Request Support 4", init_xchar(prop(3, words(4)))),
    ("subset of 2 words", init_xchar(after=words(2, 0))),
    ("4 octets follow the subset", init_xchar(after=words(0, 0))),
    ("Backward Request Support 4", operation(2, prop_set(prop(3, words(4))))),
    ("Receive Buffer Size has 0 octets", operation(4, prop(1, b"") + words(0))),
    ("4 octets follow the last property", operation(2, prop_set() + words(0))),
    ("subsets overlap", operation(3, subset(1) + subset(1) + subset())),
    ("before its boolean", operation(4, prop(1, words(4096)))),
    ("settled by 4294967295", operation(4, prop(1, words(4096)) + words(-1))),
]


def write_2016(capture):
    for name, message in OF_2016.items():
        capture.send(message, "of 2016", f"2016, {name}")
    for pattern, body in BAD_OF_2016:
        capture.send(of_2016(CONNPROP, CALL, body), pattern, f"2016, {pattern}")


def write_version_1(capture):
    """Write version 1 messages, which are another dissector's, before and after others."""
    for _ in range(2):
        capture.packet(SEND_ONLY, words(XID, 1, 32, MSG, 0, 0, 0) + rpc(CALL), "v1",
                       "version 1", qpn=0x13)
        for name in "NOMSG Reply", "SYSTEM", "Call, all chunks":
            capture.send(FINE[name], "fine", f"{name}, after version 1")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    capture = Capture(sys.argv[1])
    for name, message in FINE.items():
        capture.send(message, "fine", name)
    for pattern, message in MALFORMED:
        capture.send(message, pattern, pattern)
    write_truncated(capture)
    write_damaged(capture, sys.argv[2] if len(sys.argv) == 3 else "1")
    write_pieces(capture)
    write_not_captured(capture)
    write_2016(capture)
    write_version_1(capture)
    capture.file.close()


if __name__ == "__main__":
    main()
