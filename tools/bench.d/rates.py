#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Print the rates that a benchmark found, rpcrdma2 beside the others.

    rates.py DIRECTORY
"""

import itertools
import sys

from figures import Figures
from page import echo_tables, nfs_tables


def show_rates(tables):
    """Of each set of tables, the first has the rates, after its title."""
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
