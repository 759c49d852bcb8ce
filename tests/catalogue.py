#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""The catalogue of tests has the first sentence of each script and all names in tests/table.

    catalogue.py [--check]

Writes the tables of Documentation/develop/catalogue.rst between the marks "catalogue begin"
and "catalogue end". A mark lists the files of its table, or says "names". With --check, it
writes nothing, and prints a line if the page is stale. In either case, it prints files that
are in no table or in two, and sentences that tests/prose.py would refuse.
"""

import pathlib
import re
import sys
import textwrap

import prose

TOP = pathlib.Path(__file__).resolve().parent.parent
PAGE = TOP / "Documentation/develop/catalogue.rst"
DIRECTORIES = "tests", "kunit"
TABLE = re.compile(r"(\.\. catalogue begin: (.*?)\n\n)(.*?)(\.\. catalogue end\n)", re.S)
KIND = re.compile(r"^(Guest|Host) script: |^Script of both guests: ")
# Names of files, variables and commands in a sentence
LITERAL = re.compile(r'"([^"]+)"|(/?(?:[\w-]+/)+(?:[\w*-]+(?:\.\w+)*)?|'
                     r'[\w-]+\.(?:sh|py|c)\b|\w+_\w+)')
# Names that begin with a small letter
SMALL = "checkpatch", "perf,", "rpcrdma2", "spin ", "sunrpc", "tshark"
WIDTHS = 29, 63


def find(name):
    return next(path for path in (TOP / directory / name for directory in DIRECTORIES)
                if path.exists())


def head(path):
    """The first comment, or the docstring"""
    text = re.sub(r"\A(#!.*\n)?(// SPDX.*\n|# SPDX.*\n)?(# shellcheck.*\n)?", "", path.read_text())
    for pattern, prefix in (r'\A"""\n?(.*?)"""', ""), (r"\A/\*\n(.*?)\*/", r" \* ?"), \
            (r"\A((?:#.*\n)+)", "# ?"):
        match = re.match(pattern, text, re.S)
        if match:
            return re.sub(f"(?m)^{prefix}", "", match[1]).strip()
    return ""


def sentence(path):
    """The first sentence of a file's head, without the kind of script"""
    first = re.split(r"(?<=[.!?]) ", " ".join(head(path).split("\n\n")[0].split()))[0]
    first = KIND.sub("", first).rstrip(".")
    return first if first.startswith(SMALL) else first[:1].upper() + first[1:]


def check_sentence(name):
    """Complaints about a file's sentence, as prose.py would make them"""
    said = sentence(find(name))
    if not said:
        yield "has no sentence at its head"
    if len(said.split()) > prose.MOST_WORDS:
        yield f"more than {prose.MOST_WORDS} words: {said}"
    for pattern, advice in prose.HABITS:
        if re.search(pattern, said):
            yield f"{advice}: {said}"


def table(rows, titles):
    """A table of reStructuredText, with cells that wrap"""
    rule = "  ".join("=" * width for width in WIDTHS[:len(titles)])
    yield rule
    yield f"{titles[0]:<{WIDTHS[0]}}  {titles[1]}"
    yield rule
    for first, second in rows:
        cells = textwrap.wrap(second, WIDTHS[1], break_long_words=False, break_on_hyphens=False)
        for at, cell in enumerate(cells):
            yield f"{'' if at else first:<{WIDTHS[0]}}  {cell}"
    yield rule


def described(wanted):
    for name in wanted:
        yield f"``{name}``", LITERAL.sub(lambda match: f"``{match[1] or match[2]}``",
                                         sentence(find(name)))


def tests():
    """(name, tier, command) of tests/table"""
    text = (TOP / "tests/table").read_text().replace("\\\n", " ")
    for line in text.splitlines():
        if line and not line.startswith("#"):
            name, tier, rest = line.split(None, 2)
            yield name, tier, re.search(r"\b(?:tests|tools)/\S+", rest)[0]


def names():
    """(script, the tests that run it by tier)"""
    of_script = {}
    for name, tier, command in tests():
        of_script.setdefault(command, {}).setdefault(tier, []).append(f"``{name}``")
    for command, tiers in sorted(of_script.items()):
        yield f"``{command.removeprefix('tests/')}``", "; ".join(
            f"{tier}: {', '.join(of_tier)}" for tier, of_tier in tiers.items())


def tables(text):
    """The page with new tables, and the names of the files in them"""
    listed = []

    def replace(match):
        wanted = match[2].split()
        if wanted == ["names"]:
            rows, titles = names(), ("Script", "Tests")
        else:
            listed.extend(wanted)
            rows, titles = described(wanted), ("File", "What it shows or does")
        return match[1] + "\n".join(table(rows, titles)) + "\n\n" + match[4]

    return TABLE.sub(replace, text), listed


def files():
    """Names of all tests and of the files that help them"""
    return {path.name for pattern in ("tests/*.sh", "tests/*.py", "kunit/*_test.c")
            for path in TOP.glob(pattern)}


def main():
    check = sys.argv[1:] == ["--check"]
    old = PAGE.read_text()
    new, listed = tables(old)
    wrong = [f"no table of {PAGE.name} has {name}" for name in sorted(files() - set(listed))]
    wrong += [f"{PAGE.name} has {name} twice" for name in sorted(set(listed))
              if listed.count(name) > 1]
    wrong += [f"{name}: {what}" for name in listed for what in check_sentence(name)]
    if check and new != old:
        wrong.append(f"{PAGE.relative_to(TOP)} is stale: run tests/catalogue.py")
    elif new != old:
        PAGE.write_text(new)
    print("\n".join(wrong), end="\n" if wrong else "")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
