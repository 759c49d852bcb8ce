#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Generate what follows from the netlink family's specification, or check it.

    netlink.py [--check]

The specification is Documentation/netlink/specs/rpcrdma2.yaml. The script makes the header of
the family, and the tables in scripts/rpcrdma2. With --check, it writes nothing, and prints the
names of files that differ from what it would write.
"""

import pathlib
import re
import sys

import yaml

TOP = pathlib.Path(__file__).resolve().parent.parent
SPEC = TOP / "Documentation/netlink/specs/rpcrdma2.yaml"
HEADER = TOP / "include/uapi/linux/rpcrdma2_netlink.h"
TOOL = TOP / "scripts/rpcrdma2"
HEAD = """\
/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly: tools/netlink.py makes this header from
 * Documentation/netlink/specs/rpcrdma2.yaml
 */

#ifndef _UAPI_LINUX_RPCRDMA2_NETLINK_H
#define _UAPI_LINUX_RPCRDMA2_NETLINK_H

#define RPCRDMA2_FAMILY_NAME\t"rpcrdma2"
#define RPCRDMA2_FAMILY_VERSION\t1
"""


def constant(*words):
    return "_".join(("rpcrdma2",) + words).upper().replace("-", "_")


def enum(name, lines):
    return f"\nenum{name} {{\n" + "".join(f"\t{line},\n" if line else "\n"
                                          for line in lines) + "};\n"


def header(spec):
    text = HEAD
    for definition in spec["definitions"]:
        text += enum(f" rpcrdma2_{definition['name']}",
                     [constant(definition["name"], entry) for entry in definition["entries"]])
    for attrs in spec["attribute-sets"]:
        names = [constant("a", attrs["name"], attr["name"]) for attr in attrs["attributes"]]
        last = constant("a", attrs["name"])
        text += enum("", [f"{names[0]} = 1", *names[1:], "", f"__{last}_MAX"])
        text = text.replace(f"\t__{last}_MAX,\n", f"\t__{last}_MAX,\n"
                            f"\t{last}_MAX = (__{last}_MAX - 1)\n")
    names = [constant("cmd", op["name"]) for op in spec["operations"]["list"]]
    last = constant("cmd")
    text += enum("", [f"{names[0]} = 1", *names[1:], "", f"__{last}_MAX"])
    text = text.replace(f"\t__{last}_MAX,\n",
                        f"\t__{last}_MAX,\n\t{last}_MAX = (__{last}_MAX - 1)\n")
    for group in spec["mcast-groups"]["list"]:
        text += f"\n#define {constant('mcgrp', group['name'])}\t\"{group['name']}\"\n"
    return text + "\n#endif /* _UAPI_LINUX_RPCRDMA2_NETLINK_H */\n"


def kind(attr):
    """How the tool reads an attribute: as a set, an enum, or a type"""
    if attr["type"] == "nest":
        return f"{attr['nested-attributes']}:"
    if "enum" in attr:
        return f"enum {attr['enum']}"
    return attr.get("display-hint", "be16" if "byte-order" in attr else attr["type"])


def tables(spec):
    text = "ENUMS = {\n"
    for definition in spec["definitions"]:
        text += f"    \"{definition['name']}\": ({', '.join(map(repr_of, definition['entries']))}),\n"
    text += "}\nCOMMANDS = {\n"
    for number, op in enumerate(spec["operations"]["list"], 1):
        text += f"    \"{op['name']}\": {number},\n"
    text += "}\n# Attribute sets: names and types, from 1 on\nSETS = {\n"
    for attrs in spec["attribute-sets"]:
        text += f"    \"{attrs['name']}\": (\n" + "".join(
            f"        (\"{attr['name'].replace('-', '_')}\", \"{kind(attr)}\"),\n"
            for attr in attrs["attributes"]) + "    ),\n"
    return text + "}\n"


def repr_of(text):
    return f'"{text}"'


def tool(spec):
    old = TOOL.read_text()
    return re.sub(r"(?s)(# By tools/netlink.py: begin\n).*(# By tools/netlink.py: end\n)",
                  lambda match: match[1] + tables(spec) + match[2], old)


def main():
    spec = yaml.safe_load(SPEC.read_text())
    for path, text in (HEADER, header(spec)), (TOOL, tool(spec)):
        if path.exists() and path.read_text() == text:
            continue
        if sys.argv[1:] == ["--check"]:
            print(f"{path.relative_to(TOP)}: differs from the specification: run tools/netlink.py")
        else:
            path.write_text(text)


if __name__ == "__main__":
    main()
