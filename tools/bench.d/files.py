#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Measure how many files a second of CPU time creates, looks up and unlinks.

    files.py DIRECTORY NUMBER CLOCK

CLOCK is a file that has the CPU time used so far, in ns.
"""

import os
import sys


def create(path):
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))


def read_clock(clock):
    with open(clock, encoding="ascii") as file:
        return int(file.read())


def rate(do, paths, clock):
    start = read_clock(clock)
    for path in paths:
        do(path)
    return len(paths) * 1e9 / (read_clock(clock) - start)


def forget():
    """Make the client drop the names and attributes in its caches."""
    os.sync()
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as file:
        file.write("2\n")


def main():
    directory, number, clock = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    paths = [f"{directory}/{i}" for i in range(number)]
    figures = []
    for name, do in ("create", create), ("stat", os.stat), ("unlink", os.unlink):
        forget()
        figures.append(f"{name}={rate(do, paths, clock):.1f}")
    print(*figures)


main()
