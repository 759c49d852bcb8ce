#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Print the rates of a benchmark: rpcrdma2 beside the other transports.

    rates.py DIRECTORY
"""

import itertools
import sys

from figures import Figures
from page import echo_tables, nfs_tables


def show_rates(tables):
    """Print the first table, which has the rates, and the title above it."""
    for text in itertools.islice(tables, 2):
        print(text)


def main():
    figures = Figures(sys.argv[1])
    for depth in dict.fromkeys(key[2] for key in figures.keys("echo")):
        show_rates(echo_tables(figures, depth))
    if figures.keys("fio"):
        show_rates(nfs_tables(figures))


if __name__ == "__main__":
    main()
