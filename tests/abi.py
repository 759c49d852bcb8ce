#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""The stable interfaces still have all names that tests/abi.names lists.

    abi.py [--write]

Documentation/reference/abi.rst says which interfaces are stable. tests/abi.names lists the
names of module parameters, findings, JSON fields and metrics. It also lists netlink commands,
attributes and enums, with their numbers. A program breaks when a name disappears or gets
another number. Each new name needs a line in the list; --write adds the line.

Prints each problem on a line of its own.
"""

import importlib.machinery
import importlib.util
import pathlib
import re
import sys

sys.dont_write_bytecode = True
TOP = pathlib.Path(__file__).resolve().parent.parent
NAMES = TOP / "tests/abi.names"
HEAD = """\
# SPDX-License-Identifier: GPL-2.0
# Stable names: Documentation/reference/abi.rst. By tests/abi.py --write.
"""


def module(path):
    loader = importlib.machinery.SourceFileLoader(path.name.replace("-", "_"), str(path))
    found = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(found)
    return found


def sample(tool, kind):
    """A value of the kind"""
    if kind.endswith(":"):
        return "address" if kind == "address:" else \
            {name: sample(tool, part) for name, part in tool.SETS[kind[:-1]]}
    return "[::1]:1" if kind == "string" else 1


def totals(tool):
    """Totals as the kernel sends them, without credits and other values of one connection"""
    for role, values in sample(tool, "totals:").items():
        yield role, {name: value for name, value in tool.flat(values).items()
                     if not re.match("(requester|responder)_", name)}


def json_names(tool):
    """Names of the fields that rpcrdma2 --json prints for a connection and for totals"""
    yield from (f"json connection {name}" for name in tool.flat(sample(tool, "conn:")))
    yield "json connection mounts"
    yield from (f"json {role} {name}" for role, values in totals(tool) for name in values)


def metric_names(tool):
    metrics = tool.Metrics()
    conn = tool.flat(sample(tool, "conn:"))
    conn["peer_address"] = "[::1]:1"
    sums = dict(totals(tool))
    tool.add_role(metrics, "client", sums["client"])
    tool.add_conn(metrics, conn)
    tool.add_machine(metrics, sums["machine"])
    for name, (kind, _, samples) in metrics.metrics.items():
        labels = " ".join(re.findall(r"(\w+)=", samples[0]))
        yield f"metric {kind} {name} {labels}".rstrip()


def names():
    source = (TOP / "net/sunrpc/xprtrdma/param.c").read_text()
    yield from (f"parameter {name}"
                for name in re.findall(r"module_param_(?:cb|named)\((\w+)", source))
    doctor, tool = module(TOP / "scripts/rpcrdma2-doctor"), module(TOP / "scripts/rpcrdma2")
    yield from (f"finding {number}" for number in doctor.FINDINGS)
    yield from (f"netlink command {number} {name}" for name, number in tool.COMMANDS.items())
    for name, entries in tool.ENUMS.items():
        yield from (f"netlink {name} {number} {entry}" for number, entry in enumerate(entries))
    for name, attrs in tool.SETS.items():
        yield from (f"netlink attribute {name} {number} {attr} {kind}"
                    for number, (attr, kind) in enumerate(attrs, 1))
    yield from json_names(tool)
    yield from metric_names(tool)


def main():
    have = set(names())
    if sys.argv[1:] == ["--write"]:
        NAMES.write_text(HEAD + "\n".join(sorted(have)) + "\n")
        return
    listed = {line for line in NAMES.read_text().splitlines() if not line.startswith("#")}
    for line in sorted(listed - have):
        print(f"tests/abi.names: this was promised, and is gone or another: {line}")
    for line in sorted(have - listed):
        print(f"tests/abi.names: new, run tests/abi.py --write: {line}")


if __name__ == "__main__":
    main()
