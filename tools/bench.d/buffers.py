#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Write what Receive buffers of various sizes cost and gain into a page, at its marks.

The page also gets the speed of the two drafts of version 2.

    buffers.py DIRECTORY PAGE

DIRECTORY has what tools/bench --buffers left there.
"""

import math
import os
import sys

from figures import Figures, KIB, median, ratio, row_name
from page import replace_part, show, show_ratio, table

BEGIN = '.. Made by "make bench-buffers", up to the next comment.'
END = ".. What follows is not."
TEXTS = "rpcrdma2:dialects=v2-09", "rpcrdma2:dialects=v2-01"


def variant(size):
    return f"rpcrdma2:inline_size={size}"


def sizes_of(figures):
    """The sizes of buffers, in ascending order"""
    return sorted({int(line["transport"].rpartition("=")[2])
                   for line in figures.part("echo")})


def rate_table(figures):
    """Make a table: for each size of buffers, the rate and its ratio to the smallest size's."""
    sizes = sizes_of(figures)
    keys = [key for key in figures.keys("echo") if key[1]]

    def series(key, size):
        return figures.series("echo", key, "rate", transport=variant(size))

    head = ["\\"] + [cell for key in keys for cell in
                     (f"{row_name(key)}, {key[2]} at once", f"to {sizes[0] // KIB} KiB")]
    return table(head, [
        [f"{size // KIB} KiB"] +
        [cell for key in keys for cell in
         (show(median(series(key, size))),
          show_ratio(ratio(series(key, size), series(key, sizes[0]))))]
        for size in sizes])


def memory_rows(directory):
    for name in os.listdir(directory):
        if not name.startswith("memory-"):
            continue
        _, what, state = name.split("-")
        lines = Figures(os.path.join(directory, name, "share")).part("memory")
        kib = {line["end"]: line["kib"] for line in lines}
        if what == "need":
            order = 1, ["idle", "grown", "rested"].index(state)
            what = f"4 to 64 KiB as used, not shared: {state}"
        else:
            order = 0, int(what)
            what = f"{int(what) // KIB} KiB"
        yield order, [what, *(show(kib[end]) for end in ("client", "server")),
                      show(sum(kib.values()) * 100 / KIB)]


def memory_table(directory):
    return table(["Buffers", "Client, KiB", "Server, KiB", "100 of them, MiB"],
                 [row for _, row in sorted(memory_rows(directory))])


def text_rates(figures, part, key):
    """The rates of each draft, by round"""
    for text in TEXTS:
        yield {line["round"]: line["ops"] * 1e9 / line["ns"] for line in
               figures.part(part, transport=text, what=key[0], size=key[1], depth=key[2])}


def mean_ratio(pairs):
    """In each round, the geometric mean of the ratios of all operations"""
    old, new = {}, {}
    for first, second in pairs:
        for turn in first.keys() & second.keys():
            old[turn] = old.get(turn, 0) + math.log(second[turn])
            new[turn] = new.get(turn, 0) + math.log(first[turn])
    return ratio({turn: math.exp((old[turn] - new[turn]) / len(pairs)) for turn in old},
                 {turn: 1 for turn in old})


def text_table(figures):
    rows = []
    for part, prefix in ("echo", ""), ("work", "NFS: "):
        keys = figures.keys(part)
        pairs = [tuple(text_rates(figures, part, key)) for key in keys]
        rows += [[f"{prefix}{row_name(key)}, {key[2]} at once",
                  *(show(median(rates)) for rates in pair), show_ratio(ratio(*pair[::-1]))]
                 for key, pair in zip(keys, pairs)]
        rows.append([f"{prefix}all of them", "", "", show_ratio(mean_ratio(pairs))])
    return table(["A second", "v2-09", "v2-01", "v2-01 to v2-09"], rows)


def part(directory):
    def of(name):
        return Figures(os.path.join(directory, name, "share"))

    for device in "mimic", "rxe":
        yield f"RPCs a second over {device}, by the size of the buffers at both ends:\n"
        yield rate_table(of(device))
    yield "Memory of an idle connection, the mean of 100, by that size; rxe:\n"
    yield memory_table(directory)
    yield "The draft of 2016 beside v2-09, over mimic:\n"
    yield text_table(of("texts"))


def main():
    directory, page = sys.argv[1:]
    replace_part(page, BEGIN, END, part(directory))


if __name__ == "__main__":
    main()
