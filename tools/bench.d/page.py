#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Write the results of a benchmark into a page, at its marks, and draw a picture.

    page.py DIRECTORY PAGE

DIRECTORY has what tools/bench left there.
"""

import os
import sys

from figures import Figures, KIB, median, ratio, row_name
from plot import Plot

# Marks: the summary at the top is between the first two, the rest is after the last one.
SUMMARY = '.. Made by "make bench", up to the next comment.'
SUMMARY_END = ".. What follows is not."
REST = '.. Made by "make bench", all of it.'
PICTURE = "../performance.svg"
NAMES = {"rpcrdma2": "rpcrdma2", "rpcrdma": "rpcrdma", "tcp": "TCP"}
OURS, OTHER = "rpcrdma2", "rpcrdma"
# The RDMA operation that moves a payload in a chunk
RDMA = {"call": "read", "reply": "write"}
COUNTERS = ["sends", "reads", "writes", "registrations", "invalidations",
            "receives", "posts", "completions", "interrupts", "packets", "switches"]


def heading(text, line="-"):
    return f"{text}\n{line * len(text)}\n"


def table(head, rows):
    rows = [[cell or "\\" if i == 0 else cell for i, cell in enumerate(row)]
            for row in rows]
    widths = [max(map(len, column)) for column in zip(head, *rows)]
    rule = "  ".join("=" * width for width in widths)
    lines = [rule, *("  ".join(cell.ljust(width) for cell, width in
                               zip(row, widths)).rstrip()
                     for row in [head, *rows]), rule]
    lines.insert(2, rule)
    return "\n".join(lines) + "\n"


def show(value, digits=0):
    return "" if value is None else f"{value:,.{digits}f}"


def show_ratio(found):
    """Format a ratio with its spread, which a single round does not have."""
    if not found:
        return ""
    return "{:.2f}".format(found[0]) if found[1] == found[2] else \
        "{:.2f} ({:.2f}-{:.2f})".format(*found)


def raw_ratio(figures, key):
    """Compare RPCs with the bare exchange, RDMA Read or RDMA Write of such a payload."""
    what, size, depth = key
    if size <= 16 * KIB:
        what = "exchange"
    else:
        what = RDMA[what]
    return ratio(figures.series("echo", key, "rate", transport=OURS),
                 figures.series("raw", (what, size, depth), "rate"))


def medians(figures, part, key, field, digits=0):
    return [show(median(figures.series(part, key, field, transport=name)), digits)
            for name in figures.transports(part)]


def against(figures, part, key, field, other=OTHER):
    return ratio(figures.series(part, key, field, transport=OURS),
                 figures.series(part, key, field, transport=other))


def rate_head(figures, part):
    names = [NAMES[name] for name in figures.transports(part)]
    return names + [f"to {name}" for name in names[1:]]


def rate_cells(figures, part, key):
    """The median rate of each transport, and the ratio of rpcrdma2 to each other one"""
    return medians(figures, part, key, "rate") + [
        show_ratio(against(figures, part, key, "rate", other))
        for other in figures.transports(part)[1:]]


def latency_head(figures, part):
    names = [NAMES[name] for name in figures.transports(part)]
    return [f"{name}, median" for name in names] + ["to rpcrdma"] + [
        f"{name}, 99 %" for name in names]


def latency_cells(figures, part, key):
    return [*medians(figures, part, key, "p50_us", 1),
            show_ratio(against(figures, part, key, "p50_us")),
            *medians(figures, part, key, "p99_us", 1)]


def echo_tables(figures, depth):
    keys = [key for key in figures.keys("echo") if key[2] == depth]
    raw = bool(figures.part("raw"))
    yield f"RPCs a second, {depth} at once:\n"
    yield table(["RPC", *rate_head(figures, "echo")] + ["of the device"] * raw,
                [[row_name(key), *rate_cells(figures, "echo", key)] +
                 [show_ratio(raw_ratio(figures, key))] * raw for key in keys])
    yield f"Their latency in microseconds, {depth} at once:\n"
    yield table(["RPC", *latency_head(figures, "echo")],
                [[row_name(key), *latency_cells(figures, "echo", key)]
                 for key in keys])


def count_rows(figures, depth):
    for key in figures.keys("counts", depth=depth):
        for name in figures.transports("counts"):
            line, = figures.part("counts", transport=name, what=key[0],
                                 size=key[1], depth=depth)
            cpu = median(figures.series("echo", key, "cpu_us", transport=name))
            yield [row_name(key), NAMES[name],
                   *(show(line.get(counter), 2) for counter in COUNTERS),
                   show(cpu, 1)]


def count_tables(figures):
    for depth in sorted({key[2] for key in figures.keys("counts")}):
        yield f"{depth} at once:\n"
        yield table(["RPC", "Transport", *COUNTERS, "CPU us"],
                    list(count_rows(figures, depth)))


def nfs_name(key):
    return row_name(key) + (f", {key[2]} at once" if key[1] else "")


def nfs_tables(figures):
    yield "Operations a second:\n"
    yield table(["Operation", *rate_head(figures, "fio")],
                [[nfs_name(key), *rate_cells(figures, "fio", key)]
                 for key in figures.keys("fio")])
    yield "Their latency in microseconds:\n"
    yield table(["Operation", *latency_head(figures, "fio")],
                [[nfs_name(key), *latency_cells(figures, "fio", key)]
                 for key in figures.keys("fio") if key[1]])


def raw_table(figures):
    depths = sorted({key[2] for key in figures.keys("raw")})
    rows = [[row_name(key)] + [
        show(median(figures.series("raw", (*key[:2], depth), "rate")))
        for depth in depths] + [
        show(median(figures.series("raw", (*key[:2], depths[1]), "rate")) *
             key[1] / 1e6)]
        for key in sorted(figures.keys("raw", depth=depths[0]))]
    return table(["Work request", *(f"{depth} at once" for depth in depths),
                  "MB/s"], rows)


def codec_table(lines):
    return table(["Header", "Version", "Octets", "Encode", "Decode"],
                 [[line["what"], str(line["version"]), str(line["octets"]),
                   show(line["encode"], 1), show(line["decode"], 1)]
                  for line in lines])


def memory_row(line):
    pages = line["kib"] - line["queues"] - line["slab"]
    return [NAMES[line["transport"]], f"{line['end']}, {line['state']}",
            show(line["kib"]), show(line["queues"]), show(line["slab"]), show(pages),
            show(line["mrs"]), show(line["kib"] * 1000 / 1024)]


def memory_table(lines):
    lines = sorted(lines, key=lambda line: (line["end"], line["state"],
                                            line["transport"] != OURS))
    return table(["Transport", "End", "KiB", "Queues", "Slab", "Pages", "MRs",
                  "1,000 of them, MiB"], [memory_row(line) for line in lines])


def time_of(figures, part, key, depth, **match):
    """Return the microseconds that an operation takes: {round: time}.

    With depth 1, this is the median latency, else the inverse of the rate.
    """
    if depth == 1:
        return figures.series(part, (*key, depth), "p50_us", **match)
    rates = figures.series(part, (*key, depth), "rate", **match)
    return {turn: 1e6 / rate for turn, rate in rates.items()}


def best_time(figures, key, depth, exchange):
    """Return the time of an RPC if its payload cost only the exchange: {round: time}.

    This is the time of a null RPC, plus the time that the exchange takes longer than an
    empty one.
    """
    null = time_of(figures, "echo", ("null", 0), depth, transport=OURS)
    bare = time_of(figures, "raw", ("exchange", 0), depth)
    full = time_of(figures, "raw", (exchange, key[1]), depth)
    return {turn: null[turn] - bare[turn] + full[turn] for turn in null}


def at_best(figures, raised, key, depth):
    """The ratio to rpcrdma, of rates or latencies, if an inline payload cost nothing"""
    best = best_time(figures, key, depth, "exchange")
    other = time_of(raised or figures, "echo", key, depth, transport=OTHER)
    found = ratio(best, other) if depth == 1 else ratio(other, best)
    return found[0]


def at_best_of_device(figures, key):
    """The part of the device's rate that is left if a payload in a chunk costs nothing"""
    what = RDMA[key[0]]
    best = best_time(figures, key, key[2], f"exchange-{what}")
    return ratio(time_of(figures, "raw", (what, key[1]), key[2]), best)[0]


class Target:
    """A goal and its result. Ratios are (median, minimum, maximum)."""

    def __init__(self, what, found, limit, best=None, less=False):
        self.what = f"{what}, at {'most' if less else 'least'} {limit}"
        self.found, self.limit, self.best, self.less = found, limit, best, less

    def reached(self):
        middle, least, most = self.found
        if self.less:
            middle, most, limit = -middle, -least, -self.limit
        else:
            limit = self.limit
        if middle >= limit:
            return "yes"
        return "within the spread" if most >= limit else "no"

    def row(self):
        return [self.what, show_ratio(self.found), show(self.best, 2),
                self.reached()]


def targets(figures, raised):
    """Yield the goals for rxe. There the device costs most of what an RPC costs."""

    def rate(key, depth, limit, source=None):
        found = against(source or figures, "echo", (*key, depth), "rate")
        note = " (raised)" if source else ""
        best = at_best(figures, source, key, depth) if key[1] and depth > 1 else None
        return Target(f"{row_name(key)}{note}: RPCs/s, {depth} at once", found,
                      limit, best)

    def latency(key, source=None):
        found = against(source or figures, "echo", (*key, 1), "p50_us")
        note = " (raised)" if source else ""
        return Target(f"{row_name(key)}{note}: median latency", found, 0.8,
                      at_best(figures, source, key, 1), less=True)

    for size, source in (4 * KIB, None), (8 * KIB, None), (16 * KIB, raised):
        for what in "call", "reply":
            yield rate((what, size), 16, 1.3, source)
            yield latency((what, size), source)
    for key in ("null", 0), ("call", KIB), ("reply", KIB):
        for depth in 1, 16:
            yield rate(key, depth, 1.1)
    for key in figures.keys("echo", depth=16):
        if key[1] >= 64 * KIB:
            yield Target(f"{row_name(key)}: of the device, 16 at once",
                         raw_ratio(figures, key), 0.95,
                         at_best_of_device(figures, key))


def target_table(figures, raised):
    return table(["Target", "Found", "At best", "Reached"],
                 [target.row() for target in targets(figures, raised)])


def least_rate(key):
    """The goal on mimic: the minimum ratio to rpcrdma's rate of RPCs"""
    if key[1] in (4 * KIB, 8 * KIB):
        return 1.5
    return 1.3 if key[1] <= KIB else 1


def goal_cell(found, limit):
    if not found:
        return ""
    middle, _, most = found
    mark = "" if middle >= limit else " ~" if most >= limit else " -"
    return f"{middle:.2f}{mark}"


def goal_table(kernels, part, other, limit_of, wanted=lambda key: True):
    """Make a table of the ratios of rates, for each kernel and depth.

    kernels: {name: figures}
    """
    rows = {}
    columns = list(dict.fromkeys((name, key[2]) for name, figures in kernels.items()
                                 for key in figures.keys(part)))
    for name, figures in kernels.items():
        for key in filter(wanted, figures.keys(part)):
            cells = rows.setdefault(key[:2], {})
            cells[name, key[2]] = goal_cell(
                against(figures, part, key, "rate", other), limit_of(key))
    head = [f"{name}, {depth} at once" for name, depth in columns]
    return table(["\\", "At least", *head],
                 [[row_name(key), f"{limit_of(key):g}",
                   *(cells.get(column, "") for column in columns)]
                  for key, cells in rows.items()])


def goal_tables(kernels):
    """Yield the tables of the goals for mimic, which costs little but its copying."""
    yield "RPCs a second, to rpcrdma:\n"
    yield goal_table(kernels, "echo", OTHER, least_rate)
    yield "RPCs a second, to TCP:\n"
    yield goal_table({name: figures for name, figures in kernels.items()
                      if "tcp" in figures.transports("echo")}, "echo", "tcp",
                     lambda key: 1, lambda key: key[1] >= 4 * KIB)
    yield "NFS operations a second, to rpcrdma:\n"
    yield goal_table(kernels, "fio", OTHER, lambda key: 1)


def cpu_head(figures):
    return [f"{NAMES[name]}, CPU us" for name in figures.transports("echo")]


def several_cpus_tables(connections):
    """Yield tables for guests with two CPUs: rates by the clock, and CPU time.

    The CPU time is that of both ends and the device together. connections: {number: figures}
    """
    for number, figures in connections.items():
        yield f"RPCs a second, 64 at once, over {number} connection{'s' * (number > 1)}:\n"
        yield table(["RPC", *rate_head(figures, "echo"), *cpu_head(figures)],
                    [[row_name(key), *rate_cells(figures, "echo", key),
                      *medians(figures, "echo", key, "cpu_us", 1)]
                     for key in figures.keys("echo")])


def machine(directory):
    with open(os.path.join(directory, "machine"), encoding="ascii") as file:
        return file.read()


def picture(figures):
    """Draw the ratio of rpcrdma2 to each other transport, with 16 RPCs at once."""
    marks = {}
    for key in figures.keys("echo", depth=16):
        marks[row_name(key)] = {
            f"to {NAMES[other]}": against(figures, "echo", key, "rate", other)
            for other in figures.transports("echo")[1:]}
    return Plot("RPCs per second, 16 at once: rpcrdma2 to the others",
                list(marks.items()))


def is_in_summary(key):
    what, size, depth = key
    if depth != 16:
        return False
    if what in ("null", "call", "reply"):
        return size in (0, 4 * KIB, 64 * KIB, 1024 * KIB)
    return size in (4 * KIB, 1024 * KIB)


def summary(figures):
    yield f".. image:: {PICTURE}\n"
    yield table(["A second, 16 at once", *rate_head(figures, "echo")],
                [[prefix + row_name(key), *rate_cells(figures, part, key)]
                 for part, prefix in (("echo", ""), ("fio", "NFS: "))
                 for key in figures.keys(part) if is_in_summary(key)])


def rpc_and_nfs_tables(figures, where):
    yield heading(f"RPCs, {where}")
    for depth in sorted({key[2] for key in figures.keys("echo")}):
        yield from echo_tables(figures, depth)
    yield heading(f"NFS, {where}")
    yield from nfs_tables(figures)


def kernels(directory):
    names = [name.partition("-")[2] for name in os.listdir(directory)
             if name.startswith("mimic-")]
    return sorted(names, key=lambda name: [int(part) for part in name.split(".")])


def sections(directory):
    def of(name):
        return Figures(os.path.join(directory, name, "share"))

    mimic = {name: of(f"mimic-{name}") for name in kernels(directory)}
    rxe, raised = of("rxe-6.1"), of("raised")
    codec = Figures(directory)

    yield machine(directory)
    yield heading("Targets, mimic")
    yield from goal_tables(mimic)
    yield heading("Targets, rxe")
    yield target_table(rxe, raised)
    for name, figures in mimic.items():
        yield from rpc_and_nfs_tables(figures, f"mimic, Linux {name}")
    yield heading("RPCs, mimic, Linux 7.3 with two CPUs")
    yield from several_cpus_tables({number: of(f"cpus-2-{number}") for number in (1, 4)})
    yield from rpc_and_nfs_tables(rxe, "rxe, Linux 6.1")
    yield heading("What an RPC needs")
    yield from count_tables(rxe)
    for name, figures in ("mimic", mimic["6.1"]), ("rxe", rxe):
        yield heading(f"The device by itself, {name}")
        yield raw_table(figures)
    yield heading("With inline_size=20480, rxe")
    for depth in sorted({key[2] for key in raised.keys("echo")}):
        yield from echo_tables(raised, depth)
    yield heading("Memory of a connection")
    yield memory_table([line for name in sorted(os.listdir(directory))
                        if name.startswith("memory-")
                        for line in of(name).part("memory")])
    yield heading("Headers")
    yield codec_table(codec.part("codec"))


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def replace_part(path, begin, end, parts):
    """Put these paragraphs between two marks of a page, in place of the old ones."""
    with open(path, encoding="utf-8") as file:
        above, found, rest = file.read().partition(begin)
    below = rest.partition(end)[2]
    if not found or not below:
        sys.exit(f"{path} lacks one of its marks: {begin} {end}")
    write(path, "".join([above, begin, "\n\n", "\n".join(parts), "\n", end, below]))


def main():
    directory, page = sys.argv[1:]
    figures = Figures(os.path.join(directory, "mimic-6.1", "share"))
    with open(page, encoding="utf-8") as file:
        above, _, rest = file.read().partition(SUMMARY)
    between = rest.partition(SUMMARY_END)[2].partition(REST)[0]
    write(page, "".join([
        above, SUMMARY, "\n\n", "\n".join(summary(figures)), "\n",
        SUMMARY_END, between, REST, "\n\n", "\n".join(sections(directory))]))
    write(os.path.join(os.path.dirname(page), PICTURE), picture(figures).svg())


if __name__ == "__main__":
    main()
