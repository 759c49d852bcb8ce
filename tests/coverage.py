#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Print how many lines of each file of the module the tests reached.

    coverage.py SOURCE-DIRECTORY LINES.json UNREACHED [LEAST]

LINES.json has a line of gcov's JSON for each file that was compiled. A source line may occur
in several of these, because the wire suites contain copies of the codecs. The line counts as
reached if any copy was reached. UNREACHED gets the lines that were not reached, by function.
The script fails if fewer than LEAST % of the lines were reached.
"""
import collections
import json
import os
import sys


def read(directory, path):
    """{file: {line: count}} and {file: {line: function}}"""
    counts = collections.defaultdict(collections.Counter)
    functions = collections.defaultdict(dict)
    with open(path, encoding="utf-8") as file:
        for text in file:
            for source in json.loads(text)["files"]:
                name = os.path.normpath(source["file"])
                if not name.startswith(directory):
                    continue
                name = name[len(directory):]
                for line in source["lines"]:
                    number = line["line_number"]
                    counts[name][number] += line["count"]
                    if "function_name" in line:
                        functions[name][number] = line["function_name"]
    return counts, functions


def ranges(numbers):
    """[3, 4, 5, 9] is "3-5, 9"."""
    runs = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def write_unreached(path, counts, functions):
    """Write the lines that were not reached, by file and function."""
    with open(path, "w", encoding="utf-8") as file:
        for name in sorted(counts):
            missing = collections.defaultdict(list)
            for number in sorted(counts[name]):
                if not counts[name][number]:
                    missing[functions[name].get(number, "")].append(number)
            for function, numbers in missing.items():
                file.write(f"{name}: {function}(): {ranges(numbers)}\n")


def show(name, reached, lines):
    """Print a line of the report."""
    print(f"{name:28} {reached:5} of {lines:5} lines, {100 * reached / lines:5.1f} %")


def main(directory, path, unreached, least=0):
    """Print the report, and write the list of unreached lines."""
    counts, functions = read(os.path.normpath(directory) + "/", path)
    if not counts:
        sys.exit(f"no line of {directory} in {path}")
    for name in sorted(counts):
        show(name, sum(count > 0 for count in counts[name].values()),
             len(counts[name]))
    reached = sum(count > 0 for lines in counts.values()
                  for count in lines.values())
    lines = sum(map(len, counts.values()))
    show("all", reached, lines)
    write_unreached(unreached, counts, functions)
    print(f"Not reached: {unreached}")
    if 100 * reached < int(least) * lines:
        sys.exit(f"fewer than {least} % were reached")


main(*sys.argv[1:])
