# SPDX-License-Identifier: GPL-2.0
"""Read the figures of a benchmark: lines of NAME=VALUE, and fio's JSON.

A series has one value for each round: {round: value}.
"""

import json
import os
import re
import statistics

KIB, MIB = 1 << 10, 1 << 20


def number(text):
    for kind in int, float:
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def read_lines(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="ascii") as file:
        return [{name: number(value) for name, value in
                 (word.split("=", 1) for word in line.split())}
                for line in file]


def rates(line):
    """Add rates, and times in microseconds, to a line of raw or echo."""
    line["rate"] = line["ops"] * 1e9 / line["ns"]
    line["cpu_us"] = line["cpu"] / line["ops"] / 1e3
    line["p50_us"] = line["p50"] / 1e3
    line["p99_us"] = line["p99"] / 1e3
    return line


def per_rpc(line):
    """Replace counters before and after by their difference for each RPC."""
    rpcs = line["ops"] + line["warm"]
    for name in [name for name in line if name.startswith("from_")]:
        counter = name[len("from_"):]
        line[counter] = (line[counter] - line[name]) / rpcs
    return line


def read_fio(path, transport, turn):
    """Read fio's results without rates, because fio uses the guest's own clock for them."""
    with open(path, encoding="ascii") as file:
        jobs = json.load(file)["jobs"]
    for job in jobs:
        what, kib, depth = job["jobname"].split("-")
        side = job["write" if "write" in what else "read"]
        latency = side["clat_ns"]["percentile"]
        yield {"part": "fio", "transport": transport, "round": turn,
               "what": what, "size": int(kib) * KIB, "depth": int(depth),
               "job": job["jobname"], "error": job["error"],
               "ops": side["total_ios"],
               "p50_us": latency["50.000000"] / 1e3,
               "p99_us": latency["99.000000"] / 1e3}


def files_rates(line):
    for what in "create", "stat", "unlink":
        yield {**line, "part": "fio", "what": what, "size": 0, "depth": 1,
               "error": 0, "rate": line[what]}


class Figures:
    """All figures in the shared directory of a guest, or of a pair of guests"""

    def __init__(self, directory):
        self.lines = []
        for name in sorted(os.listdir(directory)):
            path = os.path.join(directory, name)
            if name.startswith("figures"):
                self.lines += read_lines(path)
            elif fio := re.fullmatch(r"fio-(.+)-(\d+)\.json", name):
                self.lines += read_fio(path, fio[1], int(fio[2]))
        self.lines += [row for line in self.part("files")
                       for row in files_rates(line)]
        for line in self.part("raw") + self.part("echo") + self.part("counts"):
            rates(line)
        for line in self.part("counts"):
            per_rpc(line)
        self.fio_rates()

    def fio_rates(self):
        """Compute each job's rate from the CPU time that the guest had for the job."""
        clocks = {(line["transport"], line["round"], line["job"]): line["ns"]
                  for line in self.part("clock")}
        for line in self.lines:
            if line["part"] == "fio" and "job" in line:
                key = line["transport"], line["round"], line["job"]
                line["rate"] = line["ops"] * 1e9 / clocks[key]

    def part(self, part, **match):
        return [line for line in self.lines if line["part"] == part and
                all(line.get(name) == value for name, value in match.items())]

    def keys(self, part, **match):
        """(what, size, depth) of each row, in order"""
        return list(dict.fromkeys((line["what"], line["size"], line["depth"])
                                  for line in self.part(part, **match)))

    def series(self, part, key, field, **match):
        what, size, depth = key
        return {line["round"]: line[field] for line in
                self.part(part, what=what, size=size, depth=depth, **match)
                if field in line}

    def transports(self, part):
        return list(dict.fromkeys(sorted(
            (line["transport"] for line in self.part(part)),
            key=["rpcrdma2", "rpcrdma", "tcp"].index)))


def median(series):
    return statistics.median(series.values()) if series else None


def ratio(series, other):
    """(median, minimum, maximum) of the ratios in each round, or None"""
    ratios = [series[turn] / other[turn] for turn in series if turn in other]
    if not ratios:
        return None
    return statistics.median(ratios), min(ratios), max(ratios)


def size_name(size):
    if not size:
        return ""
    if size < KIB:
        return f"{size} octets"
    if size < MIB:
        return f"{size // KIB} KiB"
    return f"{size // MIB} MiB"


def row_name(key):
    return " ".join(filter(None, (size_name(key[1]), key[0])))
