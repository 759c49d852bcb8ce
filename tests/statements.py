#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Documentation/protocol/statements.rst names only tests that exist.

    statements.py [FILE]

FILE is Documentation/protocol/statements.rst, which explains its last column.
"""

import glob
import os
import re
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
TITLES = re.compile(r"^(v1 )?(first|prefix|lists|RPC): ")
COLUMNS = 4


def read(pattern):
    return "\n".join(open(path, encoding="ascii").read()
                     for path in sorted(glob.glob(os.path.join(TOP, pattern))))


CLIENT = set(re.findall(r'^\t{ "([^"]+)"', read("tests/peer/client/*.c"), re.M))
SERVER = set(re.findall(r'^\t{ "([^"]+)"', read("tests/peer/server/*.c"), re.M))
KUNIT = read("kunit/*.c")
CASES = set(re.findall(r"KUNIT_CASE(?:_PARAM)?\((\w+)", KUNIT))
PARAMETERS = set(re.findall(r'(?:^\t{ |^\t  |^\t\t\.name = )"([^"]+)",', KUNIT, re.M))

EXISTS = {
    "client": lambda name: TITLES.sub("", name) in CLIENT,
    "server": lambda name: name in SERVER,
    "kunit": lambda name: name in CASES | PARAMETERS,
    "script": lambda name: os.path.isfile(os.path.join(TOP, "tests", name)),
}
IN_WORDS = "reason", "open"


def rows(text):
    """Cells of each row of each list-table, but for its head."""
    for table in text.split(".. list-table::")[1:]:
        table = re.split(r"^\S", table, maxsplit=1, flags=re.M)[0]
        for row in re.split(r"^   \* - ", table, flags=re.M)[2:]:
            yield cells(row)


def cells(row):
    return [" ".join(cell.split()) for cell in re.split(r"^     - ", row, flags=re.M)]


def wrong_with(item):
    kind, _, name = item.partition(": ")
    if kind in IN_WORDS:
        return None if name else f"'{item}' says nothing"
    if kind not in EXISTS:
        return f"'{item}' is no test"
    if not EXISTS[kind](name):
        return f"there is no {kind} '{name}'"
    # A check that finds this name would find any name.
    if EXISTS[kind](name + "?"):
        return f"{kind} '{name}' is not looked for"
    return None


def check(row):
    if len(row) != COLUMNS or not all(row):
        return [f"{len(row)} cells, or an empty one"]
    return list(filter(None, map(wrong_with, row[-1].split("; "))))


def main():
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    path = os.path.join(TOP, "Documentation/protocol/statements.rst")
    with open(sys.argv[1] if len(sys.argv) > 1 else path, encoding="ascii") as file:
        text = file.read()
    passed = failed = unshown = 0
    for row in rows(text):
        wrong = check(row)
        passed += not wrong
        failed += bool(wrong)
        unshown += "open: " in row[-1]
        for what in wrong:
            print(f"FAIL: {row[0]}, {' - '.join(row[1:2])}: {what}")
    print(f"# {unshown} with something open")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    sys.exit(failed > 0 or not passed)


if __name__ == "__main__":
    main()
