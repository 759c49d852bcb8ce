#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""The reference, versions, map of files and figures agree with the code and the benchmarks.

Compares the reference with the code: parameters with their values and defaults, counters, and
tracepoints. Also compares versions of the module and of kernels, and the map of files, with the
code. Compares figures with the output of the benchmarks. Prints a line for each difference.
"""

import pathlib
import re
import subprocess

from names import COMMENT

TOP = pathlib.Path(__file__).resolve().parent.parent


def code(pattern, files):
    text = "\n".join(path.read_text() for path in sorted(TOP.glob(files)))
    return set(re.findall(pattern, text))


def counters():
    """Names of lines in debugfs, in the kernel's own files, and in rpcrdma2 --json"""
    source = "net/sunrpc/xprtrdma/**/*.c"
    shown = code(r'rpcrdma2_show(?:_count)?\(seq, "(\w+)"', source) | \
        code(r'show_errors\(seq, "(\w+)"', source) | code(r"(\w+)=%u[ \\]", source) & \
        code(r"(\w+)=%u", "net/sunrpc/xprtrdma/rdma/srq.c")
    parts = code(r'show_part\(seq, kind, "(\w+)"', source)
    for kind in code(r'show_forms\(seq, "(\w+)"', source):
        shown |= {kind} | {f"{kind}_{part}" for part in parts}
    for whose in code(r'show_props\(seq, conn, "(\w+)"', source):
        shown |= {f"{whose}_{prop}" for prop in
                  code(r'\.id\t+= \w+,\n\t\t\.name\t+= "(\w+)"', "net/sunrpc/xprtrdma/wire/*.c")}
    return shown | {f"rdma_{name}" for name in code(r"COUNTER\((stat_\w+)\)", source)} | \
        {name for name in code(r"json (?:connection|client|server|machine) (\w+)\n",
                               "tests/abi.names") if not re.match("errors_[a-z]+_", name)}


def tracepoints():
    header = "include/trace/events/rpcrdma2.h"
    return code(r"(?:TRACE_EVENT\(|DEFINE_EVENT\(\w+, )rpcrdma2_(\w+),", header) | \
        code(r"DEFINE_(?!MR)\w+_EVENT\((\w+)\);", header) | \
        {f"mr_{name}" for name in code(r"DEFINE_MR_EVENT\((\w+)\);", header)}


def check_reference():
    """Each name of the code is on its page, and the code has each name of the page."""
    for page, pattern, have, also in (
            ("parameters", r"^([a-z_]+)$",
             code(r"module_param_(?:cb|named)\((\w+)", "net/sunrpc/xprtrdma/param.c"), set()),
            ("counters", r"^``([a-z_]+)``(?=  |$)", counters(), set()),
            ("tracepoints", r"^``([a-z_0-9]+)``(?=,|  | x|$)", tracepoints(),
             code(r"__(?:field|string)\((?:[\w ]+,\s*)?(\w+)", "include/trace/events/*.h"))):
        text = (TOP / f"Documentation/reference/{page}.rst").read_text()
        named = set(re.findall(pattern, text, re.M))
        said = named | set(re.findall(r"``([a-z_0-9]+)``", text))
        for name in sorted(have - said):
            yield f"Documentation/reference/{page}.rst: lacks {name}"
        for name in sorted(named - have - also):
            yield f"Documentation/reference/{page}.rst: the code has no {name}"


def constant(text, source):
    """A number in the code: itself, a macro, or the kernel's SZ_16M"""
    while not text.isdigit():
        text = {"SZ_16M": str(16 << 20)}.get(text) or re.search(
            rf"^#define {text}\s+(\w+)", source, re.M)[1]
    return int(text)


def numbers(source, values):
    """For each struct rpcrdma2_range: the values that it takes, and the default"""
    shares = dict(re.findall(r"param_set_share\(&(\w+), (\w+)\)", source))
    for name, variable, *limits in re.findall(
            r"struct rpcrdma2_range (\w+) = \{\s*&(\w+), (\w+), (\w+), (\w+)\s*\};", source):
        low, high, unit = (constant(limit, source) for limit in limits)
        takes = f"{low or 1} to {high}" + (f", a multiple of {unit}" if unit > 1 else "")
        if not low or re.search(rf"&inline_min_ops, &{name},", source):
            takes += ", or 0"
        yield name, (takes, f": a {constant(shares[variable], source)}th of the memory"
                     if variable in shares else f" {values[variable] or 0}")


def words(source, values):
    """The same for parameters that take words"""
    levels = dict(re.findall(r'\[(RDMA2_RVREQSUP_\w+)\]\t= "(\w+)"', source))
    every, some = (re.findall(r"&rpcrdma2_(\w+)", found) for found in
                   re.findall(r"\.dialect\t= \{ (.*?) \}", source))
    return {"use_srq": ("Y or N", " Y" if values["rpcrdma2_use_srq"] == "true" else " N"),
            "reverse": (", ".join(levels.values()), f" {levels[values['rpcrdma2_reverse']]}"),
            "dialects": tuple(text.replace("_", "-")
                              for text in (", ".join(every), f" {','.join(some)}"))}


def parameter_facts():
    """(name, values that it takes, default, modinfo's description)"""
    source = "".join((TOP / path).read_text() for path in (
        "net/sunrpc/xprtrdma/wire/dialect.c", "net/sunrpc/xprtrdma/param.h",
        "include/linux/sunrpc/rpcrdma2.h", "net/sunrpc/xprtrdma/param.c"))
    values = dict(re.findall(r"^(?:unsigned int|bool|u32) (rpcrdma2_\w+)(?: = (\w+))?;", source,
                             re.M))
    facts = {**dict(numbers(source, values)), **words(source, values)}
    for name, which in re.findall(r"module_param_(?:cb|named)\((\w+),\s*&?\w+,\s*&?(\w+),",
                                  source):
        said = re.search(rf'MODULE_PARM_DESC\({name},\s*"([^"]*)"', source)[1]
        takes, default = facts.get(which) or facts[name]
        yield name, takes, default, said


def check_parameters():
    """The code, modinfo and the reference have the same values and defaults."""
    page = "Documentation/reference/parameters.rst"
    entries = dict(re.findall(r"^([a-z_]+)\n((?: {4}.*\n)+)", (TOP / page).read_text(), re.M))
    for name, takes, default, said in parameter_facts():
        if not said.endswith(f" ({takes}; default{default})"):
            yield f"param.c: {name} takes {takes}; default{default}. MODULE_PARM_DESC: {said}"
        entry = " ".join(entries.get(name, "").replace("``", "").split())
        kind = "Range " if takes[0].isdigit() else ""
        wanted = f" Default{default}." if ", " in takes and not kind else \
            f" {kind}{takes}. Default{default}."
        if not entry.endswith(wanted):
            yield f"{page}: {name} should end with '{wanted.strip()}'"
        for value in takes.split(", ") if not kind and ", " in takes else ():
            if f"``{value}``" not in entries.get(name, ""):
                yield f"{page}: {name} takes {value}, too"
    if ".. include:: ../reference/parameters.rst" not in (
            TOP / "Documentation/man/rpcrdma2.7.rst").read_text():
        yield "Documentation/man/rpcrdma2.7.rst: does not include the page of parameters"


def check_versions():
    """Pages name the newest release of NEWS.md, and the kernels that the module builds for."""
    news = re.findall(r"^## (\d+\.\d+\.\d+)$", (TOP / "NEWS.md").read_text(), re.M)
    for path in sorted(TOP.glob("Documentation/**/*.rst")):
        for found in sorted(set(re.findall(r"rpcrdma2/(\d[\d.]*\d)", path.read_text())) - {news[0]}):
            yield f"{path.relative_to(TOP)}: the newest version is {news[0]}, not {found}"
    status = re.search(r"Status: (\S+)\. ", (TOP / "README.md").read_text())[1]
    if not news[0].startswith(f"{status}."):
        yield f"README.md: the status is {status}, and the newest release {news[0]}"
    version = subprocess.run([TOP / "tools/version"], check=True, text=True,
                             stdout=subprocess.PIPE).stdout.strip()
    if re.fullmatch(r"[1-9][\d.]*", version) and version not in news:
        yield f"NEWS.md: has nothing about {version}, which this tree is"
    for kernel in code(r"RPCRDMA2_IS_LINUX\((\d+, \d+)\)", "net/sunrpc/xprtrdma/compat.h"):
        kernel = kernel.replace(", ", ".")
        for page in "README.md", "Documentation/reference/support.rst":
            if not re.search(rf"\b{kernel}\b", (TOP / page).read_text()):
                yield f"{page}: says nothing of Linux {kernel}"


# Functions of the kernel that the module does not call, and of Prometheus
FOREIGN = {"alloc_pages_bulk", "ib_mad_recv_done", "rate", "rpc_malloc"}


def check_functions():
    """Functions that pages name are defined or called here."""
    known = FOREIGN.union(
        *(re.findall(r"\w+", COMMENT.sub(" ", path.read_text()))
          for files in ("net", "include", "kunit", "tests", "tools")
          for path in TOP.glob(f"{files}/**/*.[ch]")))
    for path in sorted(TOP.glob("Documentation/**/*.rst")):
        for number, line in enumerate(path.read_text().split("\n"), 1):
            for name in re.findall(r"\b([a-z_]\w*)\(\)", line):
                if name not in known:
                    yield f"{path.relative_to(TOP)}:{number}: there is no {name}()"


def check_file_map():
    """Each file of the module has a line in the overview, and each line a file."""
    module = TOP / "net/sunrpc/xprtrdma"
    page = "Documentation/develop/overview.rst"
    listed = set(re.findall(r"^``([\w/]+\.\w+)``  ", (TOP / page).read_text(), re.M))
    for name in sorted({str(path.relative_to(module)) for path in module.glob("**/*.c")
                        if not path.name.endswith(".mod.c")} - listed):
        yield f"{page}: lacks {name}"
    for name in sorted(listed):
        if not (module / name).exists():
            yield f"{page}: there is no {name}"


def counts(text):
    """For each section with rates: rows where rpcrdma2 is faster, slower, or neither"""
    for section in re.split(r"\n(?=[^\n]+\n-{4,}\n)", text):
        title = re.match(r"(RPCs|NFS), mimic, Linux (\S+)\n", section)
        if not title:
            continue
        rates = "".join(re.findall(r"^\w[^\n]* a second[^\n]*:\n\n=.*?\n\n", section, re.M | re.S))
        ratios = [tuple(map(float, row)) for row in
                  re.findall(r"^\w[^(\n]* \(([\d.]+)-([\d.]+)\)", rates, re.M)]
        faster = sum(low > 1 for low, _ in ratios)
        slower = sum(high < 1 for _, high in ratios)
        kind = "RPCs" if title[1] == "RPCs" else "NFS operations"
        yield kind, title[2], faster, slower, len(ratios) - faster - slower


def check_figures():
    """The figures of README.md and of the verdict are in the benchmarks' own page."""
    raw = (TOP / "Documentation/performance/raw/results.rst").read_text()
    verdict = (TOP / "Documentation/performance/verdict.rst").read_text()
    for page, text in (("README.md", (TOP / "README.md").read_text()), ("verdict.rst", verdict)):
        for number in re.findall(r"\b\d{2,3},\d{3}\b", text):
            if number not in raw:
                yield f"{page}: {number} is not in raw/results.rst"
    for row in counts(raw):
        if not re.search(r"^" + r" +".join(map(str, row)) + "$", verdict, re.M):
            yield f"verdict.rst: by raw/results.rst it is {row}"


def main():
    for check in (check_reference, check_parameters, check_versions, check_file_map,
                  check_functions, check_figures):
        for line in check():
            print(line)


if __name__ == "__main__":
    main()
