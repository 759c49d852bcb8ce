#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Have nfsd listen at an address, over one transport and no other.

    listen.py rdma ADDRESS PORT

Only nfsd's netlink interface takes an address. Linux 6.1 does not have this interface.
"""
import socket
import struct
import sys

NLM_F_REQUEST, NLM_F_ACK = 1, 4
NLMSG_ERROR = 2
GENL_ID_CTRL = 16
CTRL_CMD_GETFAMILY = 3
CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME = 1, 2
NFSD_CMD_LISTENER_SET = 6
NFSD_A_SERVER_SOCK_ADDR = 1
NFSD_A_SOCK_ADDR, NFSD_A_SOCK_TRANSPORT_NAME = 1, 2
NLA_F_NESTED = 0x8000


def attribute(kind, data):
    size = 4 + len(data)
    return struct.pack("=HH", size, kind) + data + bytes(-size % 4)


def attributes(data):
    found = {}
    while data:
        size, kind = struct.unpack_from("=HH", data)
        found[kind] = data[4:size]
        data = data[(size + 3) // 4 * 4:]
    return found


def ask(sock, family, command, attrs):
    body = struct.pack("=BBxx", command, 1) + attrs
    sock.send(struct.pack("=IHHII", 16 + len(body), family,
                          NLM_F_REQUEST | NLM_F_ACK, 1, 0) + body)
    answer = sock.recv(65536)
    if struct.unpack_from("=H", answer, 4)[0] == NLMSG_ERROR:
        error = -struct.unpack_from("=i", answer, 16)[0]
        if error:
            sys.exit(f"listen.py: error {error}")
    return answer[20:]


def main():
    transport, address, port = sys.argv[1:]
    sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
    name = attribute(CTRL_ATTR_FAMILY_NAME, b"nfsd\0")
    family = attributes(ask(sock, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, name))
    family = struct.unpack("=H", family[CTRL_ATTR_FAMILY_ID])[0]
    sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
    where = struct.pack("=H", socket.AF_INET) + struct.pack("!H", int(port)) + \
        socket.inet_aton(address) + bytes(8 + 112)
    ask(sock, family, NFSD_CMD_LISTENER_SET,
        attribute(NFSD_A_SERVER_SOCK_ADDR | NLA_F_NESTED,
                  attribute(NFSD_A_SOCK_ADDR, where) +
                  attribute(NFSD_A_SOCK_TRANSPORT_NAME,
                            transport.encode() + b"\0")))


main()
