#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
The suites in user space notice mistakes in wire/ and in the tables of states.

	mutate.py [--every N] [--jobs N] [FILE...]

Makes thousands of mutants, which are files with one mistake each (see mutants.py). Runs the
KUnit suites on each mutant, in user space. A suite that fails, crashes or does not end kills
the mutant. If no suite kills a mutant, three checks follow:

 1. If gcc -O2 makes the same object code of mutant and original, the mutant is equivalent.
 2. The suites run once more, under AddressSanitizer and UBSan.
 3. mutants.equivalent may list the mutant, with the reason why it is equivalent.

All others survive. Prints survivors, and a table with a row for each file. Fails if the suites
kill less than 95 % of a directory's mutants; equivalent ones do not count. Also fails if
mutants.equivalent lists a mutant that does not exist or is killed.

--every N takes each Nth mutant (1). --jobs N runs N at a time (the number of CPUs). FILE is
the name of a source, like chunks.c.
"""

import argparse
import glob
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import mutants

TOP = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
MODULE = f"{TOP}/net/sunrpc/xprtrdma"
MUTATED = sorted(glob.glob(f"{MODULE}/wire/*.c")) + [
    f"{MODULE}/{name}.c" for name in ("conn/handshake", "conn/ask", "responder/stage",
                                        "svc/owner")]
SUITES = (sorted(glob.glob(f"{TOP}/kunit/wire_*.c") + glob.glob(f"{TOP}/kunit/handshake_*.c")) +
          [f"{TOP}/kunit/ask_test.c", f"{TOP}/kunit/job_stage_test.c",
           f"{TOP}/kunit/owner_test.c"] +
          [f"{TOP}/tools/fuzz/kunit_main.c", f"{TOP}/tools/fuzz/shim/xdr_stream.c"])
KNOWN = f"{TOP}/tests/mutants.equivalent"
INCLUDE = [f"-I{TOP}/{d}" for d in ("tools/fuzz/shim", "include", "net/sunrpc/xprtrdma",
                                    "net/sunrpc/xprtrdma/wire", "net/sunrpc/xprtrdma/conn",
                                    "net/sunrpc/xprtrdma/responder", "net/sunrpc/xprtrdma/svc",
                                    "kunit")]
# A mutant may have warnings, but its types must fit.
GCC = ["gcc", "-std=gnu11", "-w", "-Werror=implicit", "-Werror=int-conversion",
       "-Werror=incompatible-pointer-types", "-fno-pie"] + INCLUDE
SANITIZE = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
# tcc is fast, and knows fewer builtins
TCC = ["tcc", "-Werror", "-include", f"{TOP}/tools/fuzz/shim/builtins.h"] + INCLUDE
LEAST = 95              # percent
SECONDS = 5             # of CPU time: a run takes a twentieth of a second
MEMORY = 1 << 31        # octets

NO_C, KILLED, SANITIZED, SAME_CODE, LISTED, SURVIVED = range(6)


def compiles(*command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False).returncode == 0


def passes(program, memory=MEMORY):
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if memory:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    # Without random addresses, each run is the same.
    return subprocess.run(["setarch", "-R", program, "-x"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          preexec_fn=limit, check=False).returncode == 0


class Bench:
    """The suites, built once, to be linked with one mutated object at a time."""

    def __init__(self, out):
        self.out = out
        for kind, flags in (("plain", ["-O1"]), ("checked", SANITIZE)):
            os.mkdir(f"{out}/{kind}")
            for source in SUITES + MUTATED:
                # wire_codecs*.c include the codecs for a kernel module. Here, they are linked.
                if "wire_codecs" in source:
                    continue
                subprocess.run(GCC + flags + ["-c", "-o", self.object(kind, source), source],
                               check=True)

    def object(self, kind, source):
        return f"{self.out}/{kind}/{os.path.basename(source)}.o"

    def prepare(self, source):
        """Link all sources but one into one object. The suites must pass with the original."""
        self.source = source
        self.name = os.path.basename(source)
        for kind in ("plain", "checked"):
            others = sorted(set(glob.glob(f"{self.out}/{kind}/*.c.o")) -
                            {self.object(kind, source)})
            subprocess.run(["gcc", "-no-pie", "-r", "-nostdlib", "-o",
                            f"{self.out}/{kind}/rest.o"] + others + ["-lgcc"], check=True)
        with open(source) as f:
            text = f.read()
        self.original = None
        if self.try_one(text, "original") != SURVIVED:
            sys.exit(f"{self.name}: the suites fail without a mistake")
        with open(f"{self.out}/original/O2.o", "rb") as f:
            self.original = f.read()

    def try_one(self, text, name):
        """Return: the verdict on a mutant"""
        work = f"{self.out}/{name}"
        os.makedirs(work, exist_ok=True)
        source = f"{work}/{self.name}"
        with open(source, "w") as f:
            f.write(text)
        if not compiles(*TCC, "-o", f"{work}/plain", source, f"{self.out}/plain/rest.o"):
            return NO_C
        if not passes(f"{work}/plain"):
            return KILLED
        # From standard input, so that the object does not have the source's name in it
        with open(source, "rb") as f:
            if subprocess.run(GCC + ["-O2", "-x", "c", "-c", "-o", f"{work}/O2.o", "-"], stdin=f,
                              stderr=subprocess.DEVNULL, check=False).returncode:
                return NO_C
        with open(f"{work}/O2.o", "rb") as f:
            if f.read() == self.original:
                return SAME_CODE
        if not compiles(*GCC, *SANITIZE, "-no-pie", "-o", f"{work}/checked", source,
                        f"{self.out}/checked/rest.o"):
            return NO_C
        return SURVIVED if passes(f"{work}/checked", 0) else SANITIZED


def known_equivalents():
    """The mutants that mutants.equivalent lists, without the reasons"""
    known = set()
    with open(KNOWN) as f:
        for line in f:
            if line.strip() and not line[0].isspace() and line[0] != "#":
                known.add(line.rstrip("\n"))
    return known


def share(count):
    killed = count[KILLED] + count[SANITIZED]
    total = killed + count[SURVIVED]
    return 100 * killed / total if total else 100


def row(name, count):
    total = sum(n for verdict, n in count.items() if verdict != NO_C)
    print(f"{name:<16} {total:>7} {count[KILLED] + count[SANITIZED]:>7} "
          f"{count[SURVIVED]:>8} {count[SAME_CODE]:>9} {count[LISTED]:>7} {share(count):>7.1f} %",
          flush=True)


def run_file(bench, source, options, known):
    """Return: the number of mutants with each verdict, and the faults of the list"""
    bench.prepare(source)
    text, found = mutants.read(source, bench.name)
    wrong = [f"no such mutant: {key}" for key in known
             if key.startswith(bench.name + " ") and key not in {m.key for m in found}]
    chosen = found[::options.every]
    count = Counter()
    with ThreadPoolExecutor(options.jobs) as pool:
        slots = list(range(options.jobs))

        def one(mutant):
            slot = slots.pop()
            verdict = bench.try_one(mutants.apply(text, mutant.edit), f"slot{slot}")
            slots.append(slot)
            return verdict
        for mutant, verdict in zip(chosen, pool.map(one, chosen)):
            if mutant.key in known and verdict == SURVIVED:
                verdict = LISTED
            elif mutant.key in known:
                wrong.append(f"not a survivor: {mutant.key}")
            count[verdict] += 1
            if verdict == SURVIVED:
                print(f"  {mutant.line}: {mutant.key}", flush=True)
    row(bench.name, count)
    return count, wrong


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].strip())
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    chosen = [s for s in MUTATED if not options.files or os.path.basename(s) in options.files]
    if unknown := set(options.files) - {os.path.basename(s) for s in MUTATED}:
        sys.exit(f"{', '.join(sorted(unknown))}: not one of "
                 f"{', '.join(os.path.basename(s) for s in MUTATED)}")
    if not shutil.which("tcc"):
        sys.exit("there is no tcc: tools/lab/lab deps mutate")
    known = known_equivalents()
    sums, wrong = {}, []
    with tempfile.TemporaryDirectory() as out:
        bench = Bench(out)
        print(f"{'':<16} mutants  killed survived same code  listed   killed", flush=True)
        for source in chosen:
            count, bad = run_file(bench, source, options, known)
            sums.setdefault(os.path.basename(os.path.dirname(source)), Counter()).update(count)
            wrong += bad
    for directory, count in sums.items():
        row(directory + "/", count)
        if share(count) < LEAST:
            wrong.append(f"{directory}/: less than {LEAST} % are killed")
    for line in wrong:
        print(f"FAIL: {line}")
    sys.exit(bool(wrong) or not chosen)


main()
