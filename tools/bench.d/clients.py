#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Write the costs of a server with very many clients into a page, at its marks.

    clients.py DIRECTORY PAGE

DIRECTORY has what "tools/bench --clients" left there.
"""

import os
import statistics
import sys

from figures import Figures, median, ratio, row_name
from page import NAMES, replace_part, show, show_ratio, table

START = '.. Made by "make bench-clients", up to the next comment.'
END = '.. Up to here.'
SHARED = "rpcrdma2:use_srq={}"


class Crowd:
    """The figures of one transport with one number of connections"""

    def __init__(self, transport, connections, lines):
        self.name = [NAMES[transport], show(connections)]
        self.connections = connections
        self.line = {}
        self.lines = lines
        self.kib = {}
        for line in lines:
            if "state" in line:
                self.kib[line["end"], line["state"]] = line["kib"]
            else:
                # The clients connect several times. The first time counts.
                self.line = {**line, **self.line}

    def costs(self):
        idle = self.kib.get(("server", "idle"))
        return [*self.name, show(idle), show(self.kib.get(("server", "used"))),
                *(show(self.kib.get(("both", state))) for state in ("idle", "busy")),
                show(idle and idle * self.connections / 1024)]

    def times(self):
        return [*self.name,
                *(show(self.line.get(name) and self.line[name] / 1e3, 1)
                  for name in ("connect_ms", "storm_ms", "down_ms", "strangers_ms",
                               "removal_ms")),
                show(self.line.get("rnr"))]

    def fairness(self):
        def microseconds(name):
            found = [line[name] for line in self.lines if name in line]
            return show(statistics.median(found) / 1e3 if found else None, 1)

        return [*self.name, *map(microseconds, ("p50", "p99", "slow_p50", "slow_p99",
                                                "beside_p50", "beside_p99"))]


def crowds(directory, prefix):
    found = {}
    for name in sorted(os.listdir(directory)):
        if not name.startswith(prefix):
            continue
        for line in Figures(os.path.join(directory, name, "share")).part("clients"):
            found.setdefault((line["transport"], line["connections"]),
                             []).append(line)
    for key in sorted(found, key=lambda key: (key[0] != "rpcrdma2", key[1])):
        yield Crowd(*key, found[key])


def rxe_rows(directory):
    for name in sorted(os.listdir(directory), reverse=True):
        if not name.startswith("memory-"):
            continue
        for line in Figures(os.path.join(directory, name, "share")).part("memory"):
            yield [NAMES[line["transport"]], f"{line['end']}, {line['state']}",
                   show(line["connections"]), show(line["kib"]),
                   show(line["queues"]), show(line["slab"])]


def shared_table(directory):
    """Compare the rates with shared Receives and with Receives of each connection."""
    figures = Figures(directory)

    def rates(key, shared):
        return figures.series("echo", key, "rate", transport=SHARED.format(shared))

    return table(["RPC", "Shared", "Of each", "Shared to of each"],
                 [[f"{row_name(key)}, {key[2]} at once",
                   *(show(median(rates(key, shared))) for shared in (1, 0)),
                   show_ratio(ratio(rates(key, 1), rates(key, 0)))]
                  for key in figures.keys("echo")])


def sections(directory):
    found = list(crowds(directory, "clients-"))
    yield "KiB for each connection, mimic:\n"
    yield table(["Transport", "Connections", "Server, idle", "Server, used",
                 "Both ends, idle", "Both ends, busy", "All at the server, idle, MiB"],
                [crowd.costs() for crowd in found])
    yield "The same, between two guests, rxe; busy: at most:\n"
    yield table(["Transport", "End", "Connections", "KiB", "Queues", "Slab"],
                list(rxe_rows(directory)))
    yield "RPCs a second of 64 connections, mimic; the server's Receives shared, or not:\n"
    yield shared_table(os.path.join(directory, "shared", "share"))
    yield "Seconds until all are served, mimic:\n"
    yield table(["Transport", "Connections", "When they connect",
                 "Since their server stopped", "For which it was down",
                 "Strangers, since it started", "Their device is removed", "RNR NAKs"],
                [crowd.times() for crowd in found])
    columns = ["Transport", "Connections", "Alone", "99 %",
               "Beside a slow one", "99 %", "Beside a fast one", "99 %"]
    yield "Microseconds that a small RPC takes, median and 99 %, mimic:\n"
    yield table(columns, [crowd.fairness() for crowd in found])
    yield "The same, emulated, where the device has a CPU of its own:\n"
    yield table(columns, [crowd.fairness() for crowd in crowds(directory, "own-")])


def main():
    directory, page = sys.argv[1:]
    replace_part(page, START, END, sections(directory))


if __name__ == "__main__":
    main()
