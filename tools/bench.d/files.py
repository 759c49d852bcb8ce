#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""How many files can be created, looked up and unlinked in a second?

    files.py DIRECTORY NUMBER
"""

import os
import sys
import time


def create(path):
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))


def rate(do, paths):
    start = time.perf_counter()
    for path in paths:
        do(path)
    return len(paths) / (time.perf_counter() - start)


def forget():
    """What the client knows of names and attributes."""
    os.sync()
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as file:
        file.write("2\n")


def main():
    directory, number = sys.argv[1], int(sys.argv[2])
    paths = [f"{directory}/{i}" for i in range(number)]
    figures = []
    for name, do in ("create", create), ("stat", os.stat), ("unlink", os.unlink):
        forget()
        figures.append(f"{name}={rate(do, paths):.1f}")
    print(*figures)


main()
