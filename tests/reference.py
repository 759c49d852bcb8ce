#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Compare the reference with the code: parameters, counters and tracepoints.

Prints a line for each name that only one of the two has.
"""

import pathlib
import re

TOP = pathlib.Path(__file__).resolve().parent.parent


def code(pattern, files):
    text = "\n".join(path.read_text() for path in sorted(TOP.glob(files)))
    return set(re.findall(pattern, text))


def counters():
    """Names of lines in debugfs, and of the kernel's own files"""
    source = "net/sunrpc/xprtrdma/**/*.c"
    shown = code(r'rpcrdma2_show(?:_count)?\(seq, "(\w+)"', source) | \
        code(r'show_errors\(seq, "(\w+)"', source) | code(r"(\w+)=%u[ \\]", source) & \
        code(r"(\w+)=%u", "net/sunrpc/xprtrdma/conn/srq.c")
    parts = code(r'show_part\(seq, kind, "(\w+)"', source)
    for kind in code(r'show_forms\(seq, "(\w+)"', source):
        shown |= {kind} | {f"{kind}_{part}" for part in parts}
    for whose in code(r'show_props\(seq, conn, "(\w+)"', source):
        shown |= {f"{whose}_{prop}" for prop in
                  code(r'\.id\t+= \w+,\n\t\t\.name\t+= "(\w+)"', "net/sunrpc/xprtrdma/wire/*.c")}
    return shown | {f"rdma_{name}" for name in code(r"COUNTER\((stat_\w+)\)", source)}


def tracepoints():
    header = "include/trace/events/rpcrdma2.h"
    return code(r"(?:TRACE_EVENT\(|DEFINE_EVENT\(\w+, )rpcrdma2_(\w+),", header) | \
        code(r"DEFINE_(?!MR)\w+_EVENT\((\w+)\);", header) | \
        {f"mr_{name}" for name in code(r"DEFINE_MR_EVENT\((\w+)\);", header)}


def check_reference():
    """What the code has is on its page, and what is on the page the code has."""
    for page, pattern, have, also in (
            ("parameters", r"^([a-z_]+)$",
             code(r"module_param_(?:cb|named)\((\w+)", "net/sunrpc/xprtrdma/module.c"), set()),
            ("counters", r"^``([a-z_]+)``(?=  |$)", counters(), set()),
            ("tracepoints", r"^``([a-z_0-9]+)``(?=,|  | x|$)", tracepoints(),
             code(r"__(?:field|string)\((?:[\w ]+,\s*)?(\w+)", "include/trace/events/*.h"))):
        text = (TOP / f"Documentation/reference/{page}.rst").read_text()
        named = set(re.findall(pattern, text, re.M))
        said = named | set(re.findall(r"``([a-z_0-9]+)``", text))
        for name in sorted(have - said):
            yield f"Documentation/reference/{page}.rst: lacks {name}"
        for name in sorted(named - have - also):
            yield f"Documentation/reference/{page}.rst: the code has no {name}"


if __name__ == "__main__":
    print("".join(line + "\n" for line in check_reference()), end="")
