#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Read RPC over RDMA out of captured RoCE v2 packets.

    pcap.py FILE CLIENT-ADDRESS REPORT

REPORT: "messages" prints one line for each Send, "operations" counts packets by
kind. What is Received is put together from the packets of a Send, per sender
and queue pair; the connection manager's own messages (queue pair 1) are left out.
"""

import collections
import ipaddress
import struct
import sys

ROCE_PORT = 4791
SEND_FIRST, SEND_MIDDLE = (0,), (1,)
SEND_LAST, SEND_ONLY = (2, 3, 22), (4, 5, 23)
# After the BTH: immediate data, or the handle to invalidate
EXTRA = {3: 4, 5: 4, 22: 4, 23: 4}
KINDS = {**dict.fromkeys((0, 1, 2, 3, 4, 5, 22, 23), "send"),
         **dict.fromkeys(range(6, 12), "write"), 12: "read request",
         **dict.fromkeys(range(13, 17), "read response"), 17: "ack"}
HTYPES = {0: "MSG", 1: "NOMSG", 4: "ERROR", 5: "CONNPROP"}
RESPONSE = 1


def packets(path):
    """(source address, UDP payload) of each packet to RoCE's port."""
    with open(path, "rb") as file:
        magic, = struct.unpack("I", file.read(24)[:4])
        if magic not in (0xa1b2c3d4, 0xa1b23c4d):
            sys.exit(f"{path} is no capture made on this machine")
        while len(head := file.read(16)) == 16:
            frame = file.read(struct.unpack("IIII", head)[2])
            if len(frame) < 42 or frame[12:14] != b"\x08\x00":
                continue
            ip_len = (frame[14] & 15) * 4
            udp = 14 + ip_len
            if frame[23] != 17 or \
               struct.unpack_from(">H", frame, udp + 2)[0] != ROCE_PORT:
                continue
            length, = struct.unpack_from(">H", frame, udp + 4)
            yield ipaddress.ip_address(frame[26:30]), frame[udp + 8:udp + length]


def transport_packets(path):
    """(source, opcode, destination queue pair, payload) of RPC's connections."""
    for source, data in packets(path):
        opcode, flags, _, qpn = struct.unpack_from(">BBHI", data)
        qpn &= 0xffffff
        if qpn == 1 or opcode not in KINDS:
            continue
        padding = flags >> 4 & 3
        start = 12 + EXTRA.get(opcode, 0)
        yield source, opcode, qpn, data[start:len(data) - 4 - padding]


def messages(path):
    """(source, octets) of each Send. Retransmitted ones appear again."""
    parts = {}
    for source, opcode, qpn, payload in transport_packets(path):
        key = source, qpn
        if opcode in SEND_FIRST:
            parts[key] = payload
        elif opcode in SEND_MIDDLE + SEND_LAST:
            parts[key] = parts.get(key, b"") + payload
        if opcode in SEND_LAST:
            yield source, parts.pop(key)
        elif opcode in SEND_ONLY:
            yield source, payload


def print_messages(path, client):
    for source, data in messages(path):
        sender = "client" if source == client else "server"
        if len(data) < 20:
            print(f"{sender} short length={len(data)}")
            continue
        xid, vers, credit, htype, flags = struct.unpack_from(">5I", data)
        print(f"{sender} {HTYPES.get(htype, htype)} vers={vers} "
              f"credit={credit} response={flags & RESPONSE} "
              f"xid={xid:#010x} length={len(data)}")


def print_operations(path, _):
    count = collections.Counter(KINDS[opcode] for _, opcode, _, _
                                in transport_packets(path))
    for kind, number in sorted(count.items()):
        print(f"{kind}: {number}")


REPORTS = {"messages": print_messages, "operations": print_operations}


def main():
    if len(sys.argv) != 4 or sys.argv[3] not in REPORTS:
        sys.exit(__doc__)
    REPORTS[sys.argv[3]](sys.argv[1], ipaddress.ip_address(sys.argv[2]))


if __name__ == "__main__":
    main()
