#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Calls and includes in the module keep to its layers, and its files form no circle.

A file may use functions, variables and headers of its own folder and of lower layers. It calls
upwards through a table of operations, such as struct rpcrdma2_conn_ops. Two files may not need
each other, not even through other files. Prints a line for each call and each include that breaks
a rule, and the calls of each circle.
"""

import collections
import pathlib
import re

from names import COMMENT, FUNCTION, MODULE

# From the bottom to the top. Parts in the same line may not use each other.
LAYERS = (
    ("wire", "trace.c"),
    ("param.c", "sunrpc_quirks.c"),
    ("rdma",),
    ("conn",),
    ("requester", "responder"),
    ("totals.c",),
    ("netlink",),
    ("xprt", "svc", "sysctl.c"),
    ("module.c",),
)
LEVEL = {part: level for level, parts in enumerate(LAYERS) for part in parts}

# This header hides differences between kernels, so all layers may include it.
COMPAT = "compat.h"

# These files read the structs of all layers. They call no functions of higher layers.
SHOWS_ALL = ("trace.c", "netlink/family.c", "netlink/fill.c")

INCLUDE = re.compile(r'^#include "([\w./]+)"', re.M)
STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
# A definition of a variable that other files can use
VARIABLE = re.compile(r"^(?!static|extern|typedef)[\w ]+[ *](rpcrdma2_\w+)(?:\[\w*\])?(?: =|;)", re.M)


def sources():
    """{name: text} of each .c file, without comments and strings"""
    return {str(path.relative_to(MODULE)): STRING.sub('""', COMMENT.sub("", path.read_text()))
            for path in sorted(MODULE.glob("**/*.c")) if not path.name.endswith(".mod.c")}


def exported(texts):
    """(name, file) of each function and variable that other files can use"""
    for name, text in texts.items():
        for found in FUNCTION.finditer(text):
            if not re.search(r"\bstatic\b", found[1]):
                yield found[2], name
        for found in VARIABLE.finditer(text):
            yield found[1], name


def graph(texts):
    """calls[user][file]: functions and variables of a file that its user names"""
    where = dict(exported(texts))
    calls = {name: collections.defaultdict(set) for name in texts}
    for name, text in texts.items():
        for word in set(re.findall(r"\brpcrdma2_\w+", text)):
            if where.get(word, name) != name:
                calls[name][where[word]].add(word)
    return calls


def part(name):
    return name.split("/")[0]


def included():
    """(file, a header of the module that the file includes)"""
    for path in sorted(MODULE.glob("**/*.[ch]")):
        for name in INCLUDE.findall(path.read_text()):
            for header in (path.parent / name, MODULE / name):
                if header.exists():
                    yield str(path.relative_to(MODULE)), str(header.relative_to(MODULE))
                    break


def level_of(header):
    """The layer of a header; outside the folders, a header belongs to the .c file of its name."""
    return LEVEL.get(part(header).replace(".h", ".c"))


def check_includes():
    for user, header in included():
        if COMPAT in (user, header) or user in SHOWS_ALL or part(user) == part(header):
            continue
        if level_of(header) is None:
            yield f"tests/layers.py: {header} is in no layer"
        elif level_of(header) > level_of(user):
            yield f"{user} includes what is not below it: {header}"


def check_layers(calls):
    for user in calls:
        if part(user) not in LEVEL:
            yield f"tests/layers.py: {part(user)} is in no layer"
            continue
        for file, words in sorted(calls[user].items()):
            if part(file) != part(user) and LEVEL.get(part(file), 0) >= LEVEL[part(user)]:
                yield f"{user} names what is not below it: {', '.join(sorted(words))} of {file}"
    for name in sorted(set(LEVEL) - {part(user) for user in calls}):
        yield f"tests/layers.py: there is no {name}"


def reachable(calls, start):
    """All files that a file needs, directly or through others"""
    found, todo = set(), [start]
    while todo:
        for file in calls[todo.pop()]:
            if file not in found:
                found.add(file)
                todo.append(file)
    return found


def check_circles(calls):
    needs = {name: reachable(calls, name) for name in calls}
    circles = {frozenset(other for other in needs[name] if name in needs[other])
               for name in calls if name in needs[name]}
    for circle in sorted(map(sorted, circles)):
        yield f"a circle of {len(circle)} files: {', '.join(circle)}"
        for user in circle:
            for file in circle:
                if calls[user].get(file):
                    yield f"\t{user} needs {file}: {', '.join(sorted(calls[user][file]))}"


if __name__ == "__main__":
    found = graph(sources())
    problems = [*check_layers(found), *check_includes(), *check_circles(found)]
    print("\n".join(problems), end="\n" if problems else "")
    raise SystemExit(bool(problems))
