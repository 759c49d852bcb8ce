#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""The documentation's sentences, words, tables, and names of files and commands are fine.

Prints a line for each fault. With --comments, checks the sentences and words of comments in C
files and scripts instead.
"""

import argparse
import os
import pathlib
import re

TOP = pathlib.Path(__file__).resolve().parent.parent
DOCS = TOP / "Documentation"
MOST_WORDS = 25             # of a sentence
LEAST_WORDS = 8             # of a page's first paragraph
# Habits that readers stumbled over: a pattern, and advice
HABITS = (
    (r"^(Who|What|Whoever|Whatever|Whose)\b(?!.*\?$)", "name the subject"),
    (r"(?:[,;:(]|\b(?:to|until|and|or|of|by|does|than|as)) who(?:ever)?\b", "name the subject"),
    (r"\bbe it\b", "write 'whether ... or'"),
    (r"\bsome \d", "write 'about'"),
    (r"\b(those|that) of\b", "name the thing again"),
    (r"\bat the (most|least)\b", "write 'at most', 'at least'"),
    (r"\bsees? to\b|\bby need\b", "write 'check', or the cause"),
    (r"\bwhat comes? of\b|\bwhat came of\b", "write 'the result'"),
)
PROSE = "warning", "note", "glossary"       # directives with prose in them
RULE = re.compile(r"^ *=+( +=+)+ *$")
# Folders whose comments are checked
FOLDERS = "net", "include", "kunit", "tests", "tools", "scripts", "debian", ".ci"
# A comment, or a literal in which one might seem to begin
COMMENT = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.S)
# The beginning of a paragraph of a comment: a tag or a title of kernel-doc, or an item of a list
TAG = re.compile(r"(?:@[\w.>-]+(?:\.{3})?|Context|Returns?|Locking|Note|DOC|Example):\s*|"
                 r"(?:struct |enum |union |typedef )?\w+(?:\(\))? - ")
ITEM = re.compile(r"(?:[-*o]|\(?(?:\d+|[a-z])[.)])\s+")
LISTED = re.compile(r"(?:Context|Returns?):")   # whose semicolons divide values
# Code; two columns, of a table or an interleaving
ASIDE = re.compile(r"\S(?: {3,}|\t+)\S|[{}]|;;|\)+;$|^#|\w = \w")
NAMES = re.compile(r"[@%&][\w.>-]*\w(?:\(\))?|\b\w+(?:->\w+)+|\b\w+\(\)|\b\w+_\w+")


def without_blocks(text):
    """The lines of a page. Lines of code, tables, titles and directives become empty."""
    lines = text.split("\n")
    hidden, table = None, False
    for at, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        if hidden is not None and (not line or indent > hidden):
            yield ""
            continue
        hidden = None
        if RULE.match(line):
            table = not table or bool(lines[at + 1:at + 2] and lines[at + 1].strip())
            yield ""
            continue
        directive = re.match(r" *\.\. ([\w-]+)::", line)
        if line.lstrip().startswith(".. ") or line.strip() == "::":
            hidden = None if directive and directive[1] in PROSE else indent
            yield ""
        elif table or re.match(r"^[=\-~]{4,}$", line) or line.startswith("| ") or \
                re.match(r"^[=\-~]{4,}$", lines[at + 1] if at + 1 < len(lines) else ""):
            yield ""
        else:
            hidden = indent if line.endswith("::") else None
            yield line


def plain(text):
    """The text without markup; a literal becomes a word"""
    text = re.sub(r"``[^`]*``", "X", text)
    text = re.sub(r":\w+:`([^`<]*?)(?: <[^>]*>)?`", r"\1", text)
    text = re.sub(r"`([^`<>]+)`_?", r"\1", text)
    text = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"[*`_]{1,2}(?=\w)|(?<=\w)[*`]{1,2}", "", text)


def paragraphs(path):
    """(number of its first line, its text)"""
    text = path.read_text()
    if path.suffix == ".md":
        text = re.sub(r"(?ms)^```.*?^```|^[|#].*?$", lambda m: "\n" * m[0].count("\n"), text)
    start, words, before = 0, [], 0
    for number, line in enumerate([*without_blocks(text), ""], 1):
        item = re.match(r" *([*-]|\d+\.|--\w+( [A-Z]+)?) +", line)
        indent = item.end() if item else len(line) - len(line.lstrip())
        if words and (not line.strip() or item or indent != before):
            yield start, " ".join(words)
            words = []
        if line.strip():
            start = start if words else number
            words.append((line[item.end():] if item else line).strip())
            before = indent


def sentences(text):
    return re.split(r"(?<=[.!?])[\")]*\s+(?=[\"(]?[A-Z0-9]|rpcrdma|nfsd|sunrpc|siw|rxe|mimic)",
                    plain(text))


def script_comments(text):
    """(number of its first line, its lines) of a script's comments and docstrings"""
    for match in re.finditer(r'^([ \t]*)#(?!!).*(?:\n\1#.*)*|^ *"""(?:.|\n)*?"""', text, re.M):
        yield text.count("\n", 0, match.start()) + 1, [
            re.sub(r'^\s*(#+ ?|""")|"""$', "", line) for line in match[0].split("\n")]


def comments(path):
    """(number of its first line, its lines)"""
    text = path.read_text()
    if path.suffix not in (".c", ".h"):
        yield from script_comments(text)
        return
    for match in COMMENT.finditer(text):
        if match[0].startswith("/*"):
            lines = re.sub(r"^/\*+ ?|\s*\*+/$", "", match[0]).split("\n")
            yield text.count("\n", 0, match.start()) + 1, [
                re.sub(r"^\s*(\* ?|$)|^\s+", "", line).rstrip("\\ \t") for line in lines]


def comment_paragraphs(path):
    """(number of its first line, its text), without code and columns"""
    for first, lines in comments(path):
        start, words, hidden, divider, before = 0, [], False, "\n", None
        for number, line in enumerate([*lines, ""], first):
            text = line.strip()
            begin = TAG.match(text) or ITEM.match(text)
            aside = not begin and ASIDE.search(text)
            indent = len(line.expandtabs()) - len(text.expandtabs())
            moved = before is not None and abs(indent - before) > 1
            if words and (not text or begin or aside or moved):
                yield from ((start, part) for part in " ".join(words).split(divider))
                words = []
            if not text or begin:
                hidden = False
            hidden = hidden or bool(aside)
            before = None if begin else indent      # a tag's second line is indented
            if text and not hidden:
                if not words:
                    start, divider = number, ";" if LISTED.match(text) else "\n"
                words.append(NAMES.sub("X", text[begin.end():] if begin else text))


def check_text(numbered):
    for number, text in numbered:
        for sentence in sentences(text):
            words = [word for word in sentence.split() if re.search(r"\w", word)]
            if len(words) > MOST_WORDS:
                yield number, f"{len(words)} words: {' '.join(words[:8])} ..."
            for pattern, advice in HABITS:
                for match in re.finditer(pattern, sentence):
                    yield number, f"'{match[0]}': {advice}"


def check_sentences(path):
    return check_text(paragraphs(path))


def check_comments(path):
    return check_text(comment_paragraphs(path))


def check_tables(path):
    """A line with one cell is a row of its own; Sphinx refuses text between the columns."""
    columns = []
    for number, line in enumerate(path.read_text().split("\n"), 1):
        if RULE.match(line):
            columns = [match.start() for match in re.finditer("=+", line)]
        elif not line.strip():
            columns = []
        elif columns and line[columns[0]:columns[1]].strip(" .\\") and \
                not line[columns[1]:].strip():
            yield number, f"a row with one cell: {line.strip()}"
        elif any(line[column - 2:column].strip() for column in columns[1:]):
            yield number, f"text between the columns: {line.strip()}"


def check_first(path):
    """The first thing below the title has to be a paragraph."""
    body = re.sub(r"\A(\.\. SPDX.*\n+)?=+\n.*\n=+\n+|\A#.*\n+", "", path.read_text())
    first = plain(body.split("\n\n")[0])
    if path.parent.name != "man" and path.name != "SECURITY.md" and (
            len(first.split()) < LEAST_WORDS or re.match(r"\.\.|=|\d|[*:|]", first)):
        yield 1, "begins without a paragraph that says what the page is about"


def check_names(path):
    """The page names only files, commands and targets that exist."""
    makefile = (TOP / "Makefile").read_text()
    for number, line in enumerate(path.read_text().split("\n"), 1):
        for name in re.findall(r"(?<![\w/.<-])((?:tests|tools|scripts|kunit|net|Documentation)"
                               r"/[\w./-]*\w)", line):
            if not any(TOP.glob(name + "*")) and not re.search(
                    "xprtrdma|NAME|admin-guide/nfs|^net/sunrpc/rpcrdma2$", name):
                yield number, f"there is no {name}"
        for name in re.findall(r"(?<![\w/.])(rpcrdma2-[a-z]+(?:-[a-z]+)?)(?![\w*.-])", line):
            if not any((TOP / "scripts").glob(name + "*")) and not re.match(
                    "rpcrdma2-(dkms|tools|conn|local|metrics)", name):
                yield number, f"there is no command {name}"
        for name in re.findall(r"(?:``|`|^ *)make ([a-z]+(?:-[a-z]+)*)(?=[`' ]|$)", line):
            if not re.search(rf"^([a-z -]* )?{name}( [a-z -]*)?:", makefile, re.M):
                yield number, f"there is no target {name}"


def is_source(path):
    """A C file or a script"""
    if path.suffix in (".c", ".h", ".py", ".sh", ".bt", ".awk"):
        return True
    return path.is_file() and not path.suffix and path.read_bytes()[:2] == b"#!"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--comments", metavar="FILE", nargs="*", type=pathlib.Path,
                        help="check comments of these files (default: of all sources)")
    sources = parser.parse_args().comments
    checks = check_sentences, check_first, check_names, check_tables
    pages = [*sorted(TOP.glob("*.md")), *sorted(TOP.glob("tests/*/README.md")),
             *sorted(TOP.glob("tools/*/README.md"))] + \
        [path for path in sorted(DOCS.glob("**/*.rst")) if path.parent.name != "raw"]
    if sources is not None:
        checks = check_comments,
        pages = [path.resolve() for path in sources] or sorted(
            path for folder in FOLDERS for path in (TOP / folder).rglob("*") if is_source(path))
    for path in pages:
        for check in checks:
            for number, what in check(path):
                print(f"{os.path.relpath(path, TOP)}:{number}: {what}")


if __name__ == "__main__":
    main()
