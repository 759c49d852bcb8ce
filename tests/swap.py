#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Use more memory than there is, and check that no page of it is lost or changed.

    swap.py MIB SECONDS

Each page holds its own number, and the number of times it was written. Reads and writes pages
in random order for SECONDS, and then reads each page once more.
"""

import array
import mmap
import random
import struct
import sys
import time

PAGE = mmap.PAGESIZE


def content(page, generation):
    return struct.pack("<II", page, generation) * (PAGE // 8)


def write(memory, page, generation):
    memory[page * PAGE:(page + 1) * PAGE] = content(page, generation)


def check(memory, page, generation):
    data = memory[page * PAGE:(page + 1) * PAGE]
    if data != content(page, generation):
        sys.exit(f"page {page}, written {generation} times, begins with "
                 f"{data[:16].hex()}")


def main():
    pages = (int(sys.argv[1]) << 20) // PAGE
    rng = random.Random(3)
    generations = array.array("I", bytes(4 * pages))
    memory = mmap.mmap(-1, pages * PAGE,
                       mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for page in range(pages):
        write(memory, page, 0)
    end = time.monotonic() + float(sys.argv[2])
    steps = 0
    while time.monotonic() < end:
        page = rng.randrange(pages)
        check(memory, page, generations[page])
        if rng.randrange(2):
            generations[page] += 1
            write(memory, page, generations[page])
        steps += 1
    for page in range(pages):
        check(memory, page, generations[page])
    print(f"swap: {pages} pages, {steps} steps")


if __name__ == "__main__":
    main()
