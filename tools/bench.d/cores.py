#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Write RPC rates with several CPUs, and counts of contended locks, into a page.

    cores.py --contended STACKS
    cores.py DIRECTORY PAGE

With --contended, the script runs in the guest. For each owner of locks, it prints how often
one was found taken. STACKS is the output of bpftrace. Without --contended, the script makes
a table from what "tools/bench --cores" left in DIRECTORY, and puts it at the page's marks.
"""

import collections
import json
import os
import re
import sys

from figures import Figures, median, ratio, row_name
from page import NAMES, OURS, replace_part, show, show_ratio, table

BEGIN = '.. Made by "make bench-cores", up to the next comment.'
END = ".. That is all of it."

# Functions inside locks and tracing. The first other function on a stack takes the lock.
TAKES = re.compile(r"_*(trace|bpf|perf)|(native_|pv_)?queued_|__pv_|_*raw_(spin|read|write)|"
                   r"do_raw|osq_|rwsem_|down_|_*mutex_|__down|rt_mutex|lock_")
# Modules whose locks are counted by owner. All other locks are the kernel's.
PARTS = {"rpcrdma2": "own", "rpcrdma": "own", "mimic": "device",
         "rdma_rxe": "device", "ib_core": "device", "ib_cm": "device",
         "sunrpc": "sunrpc"}
SHOWN = "own", "sunrpc", "device", "kernel"


def modules():
    """Map functions to modules: {function: module}."""
    found = {}
    with open("/proc/kallsyms", encoding="ascii") as file:
        for line in file:
            words = line.split()
            if len(words) == 4:
                found[words[2]] = words[3].strip("[]")
    return found


def taker(stack):
    """The function that found its lock taken"""
    for frame in stack.split("\n"):
        name = frame.strip().partition("+")[0]
        if name and not TAKES.match(name):
            return name
    return ""


def contended(path):
    """Count contention: {function: how often it found its lock taken}."""
    found = collections.Counter()
    with open(path, encoding="utf-8") as file:
        for line in file:
            data = json.loads(line)
            if data.get("type") == "map":
                for stack, count in data["data"].get("@", {}).items():
                    found[taker(stack)] += count
    return found


def print_contended(path):
    """Print the counts of each owner and, on standard error, the top functions."""
    owner = modules()
    parts = collections.Counter()
    found = contended(path)
    for name, count in found.items():
        parts[PARTS.get(owner.get(name), "kernel")] += count
    for name, count in found.most_common(8):
        print(f"{count:8} {owner.get(name, '')} {name}", file=sys.stderr)
    print(*(f"{part}={parts[part]}" for part in SHOWN))


def rows(lines):
    """Yield a row for each RPC, number of CPUs, number of connections, and transport."""
    groups = collections.defaultdict(dict)
    for line in lines:
        key = line["what"], line["size"], line["cpus"], line["connections"]
        groups[key, line["transport"]][line["round"]] = line

    def rate(key):
        return {turn: line["ops"] * 1e9 / line["wall"] for turn, line in groups[key].items()}

    names = list(NAMES)
    for what, name in sorted(groups, key=lambda key: (*key[0][2:], key[0][1], key[0][0],
                                                      names.index(key[1]))):
        lines = groups[what, name]
        yield [row_name(what), *map(str, what[2:]), NAMES[name],
               show(median(rate((what, name)))),
               show_ratio(ratio(rate((what, OURS)), rate((what, name))))
               if name != OURS else "",
               *(show(1000 * median({turn: line[part] / (line["ops"] + line["warm"])
                                     for turn, line in lines.items()}), 1)
                 for part in SHOWN)]


def part(directory):
    lines = [line for name in sorted(os.listdir(directory))
             for line in Figures(os.path.join(directory, name, "share")).part("cores")]
    rounds = len({line["round"] for line in lines})
    yield ("RPCs, 64 at once; of a thousand, how many locks were found taken, by whose they are. "
           f"Rounds: {rounds}\n")
    yield table(["RPC", "CPUs", "Connections", "Transport", "A second", "rpcrdma2 to it",
                 *(name.capitalize() for name in SHOWN)], list(rows(lines)))


def main():
    if sys.argv[1] == "--contended":
        print_contended(sys.argv[2])
    else:
        directory, page = sys.argv[1:]
        replace_part(page, BEGIN, END, part(directory))


if __name__ == "__main__":
    main()
