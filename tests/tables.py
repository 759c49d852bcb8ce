#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Dissector and codecs have the same numbers and names.

Compares the sources of both: the header types and the properties of each dialect of version 2,
and the numbers and names of errors.
"""

import os
import re
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
CODECS = os.path.join("net", "sunrpc", "xprtrdma", "wire")


def read(*path):
    with open(os.path.join(TOP, *path), encoding="ascii") as file:
        return file.read()


HEADER = read("include", "linux", "sunrpc", "rpcrdma2.h")
LUA = read("tools", "wireshark", "rpcrdma2.lua")


def c_constants(text):
    return {name: int(value, 0) for name, value in
            re.findall(r"^(?:#define\s+|\t)(\w+)(?:\t+=)?\s+(0x\w+|\d+)\b", text, re.M)}


def c_table(text, table, name):
    """The value of a field in each entry of a table"""
    body = re.search(rf"struct rpcrdma2_\w+ {table}\[\] = {{\n(.*?)^}};", text,
                     re.M | re.S)
    return re.findall(rf"\t\.{name}\t+= \"?(\w+)", body[1])


def lua_constants():
    found = {}
    for names, values in re.findall(r"^local ([A-Z][\w, ]*) =\s+([\w, ]+)$", LUA, re.M):
        found.update({name: int(value, 0) for name, value in
                      zip(names.split(", "), values.split(", "))
                      if re.fullmatch(r"0x\w+|\d+", value)})
    return found


def lua_table(name, constants):
    """A table of strings: {key: value}"""
    body = re.search(rf"^local {name} = {{(.*?)^}}$", LUA, re.M | re.S)
    return {constants[key] if key in constants else int(key, 0): value for key, value in
            re.findall(r"\[(\w+)\] = \"([^\"]+)\"", body[1])}


def expected():
    """(title, numbers or names in the codecs, numbers or names in the dissector)"""
    lua = lua_constants()
    new, old = (read(CODECS, name) for name in ("v2_09.c", "v2_01.c"))
    for text, types, types_name, props_name in (
            (new, "types", "HTYPES", "PROPERTIES"),
            (old, "operations", "OPERATIONS", "CHARACTERISTICS")):
        constants = c_constants(HEADER + text)
        yield (types_name, {constants[word] for word in c_table(text, types, "htype")},
               set(lua_table(types_name, lua)))
        yield (props_name, {constants[word] for word in c_table(text, "props", "id")},
               set(lua_table(props_name, lua)))
    constants = c_constants(HEADER + new)
    yield ("ERRORS", dict(zip((constants[word] for word in
                               c_table(new, "errors", "number")),
                              c_table(new, "errors", "name"))),
           lua_table("ERRORS", lua))


def main():
    failed = 0
    for what, ours, theirs in expected():
        if not ours or ours != theirs:
            failed += 1
            print(f"FAILED: {what}: codecs {ours}, dissector {theirs}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
