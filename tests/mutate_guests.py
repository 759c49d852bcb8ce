#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Tests in guests notice mistakes in the rest of the module.

	mutate_guests.py [--seed N] [--test "SCRIPT ARGS"]... [--only TEXT]... COUNT [FILE...]

Draws COUNT mutants (mutants.py) of the sources in rdma/, conn/, requester/ and responder/, or
of FILEs. Works in a copy of the tree, and builds the modules with one mutant at a time. Runs
tests in guests until one fails. A splat, the kernel's death or a timeout is a failure, too.
TESTS below lists tests for all sources, and tests for some sources. The TESTs of the command
line replace them. Before a test's first use, the tree itself must pass it, or it is not used.
The time that the tree takes sets the timeout. A mutant with the same object code as the
original is equivalent. A mutant that does not compile is replaced by another. The same seed
draws the same mutants. With --only, a mutant's printed line must have one of the TEXTs. Runs
with different seeds can go on at the same time. FLAVOUR in the environment is the guests'
flavour: uml is quick, and debug notices more.

Prints a line for each mutant as it ends, and a table.
"""

import argparse
import fnmatch
import functools
import glob
import os
import random
import subprocess
import sys
import time
from collections import Counter

import mutants

TOP = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
DIRECTORIES = ["rdma", "conn", "requester", "responder"]
# Each test, and the sources with whose mutants it runs. Quick ones are first: nfs.sh stops at its
# first failure, and echo.sh goes on. In a uml guest, disconnect.sh, errors.sh, memory.sh and
# reverse.sh skip themselves.
TESTS = {
    "tests/nfs.sh mimic 4.2": ["*"],
    "tests/echo.sh mimic suites=echo_forms,echo_rare,echo_many,echo_connect,echo_reverse": ["*"],
    "tests/accept.sh": ["conn/cm.c", "conn/listen.c", "conn/life.c"],
    "tests/admission.sh": ["responder/admit.c", "responder/rw.c", "responder/call.c"],
    "tests/disconnect.sh": ["conn/life.c", "conn/state.c", "conn/cm.c"],
    "tests/echo.sh mimic suites=echo_disconnect": ["conn/life.c", "conn/state.c", "conn/cm.c"],
    "tests/echo.sh mimic reverse=genl suites=echo_reverse_forms,echo_reverse": ["responder/*.c"],
    "tests/errors.sh rxe": ["requester/*.c", "responder/reply.c", "responder/call.c"],
    "tests/faults.sh mlx5 send_fail send-inv_refuse write_lose read_lose reg-mr_refuse "
    "recv_fail_status=4 send_rnr_times=3 send_srq-fatal create-qp_remove":
        ["rdma/*.c", "conn/cm.c", "conn/life.c", "requester/invalidate.c",
         "requester/register.c", "responder/rw.c", "responder/reply.c"],
    "tests/fragmented.sh": ["requester/register.c", "requester/buffer.c", "rdma/buffer.c"],
    "tests/grants.sh": ["rdma/srq.c", "rdma/recv*.c", "responder/grant.c"],
    "tests/heartbeat.sh mimic": ["conn/heartbeat.c", "conn/state.c"],
    "tests/killed.sh": ["requester/copy.c", "requester/invalidate.c", "requester/register.c",
                        "requester/reply.c"],
    "tests/krb5.sh mimic:mlx5 krb5p": ["requester/copy.c"],
    "tests/limits.sh max_fast_reg=1 rd_atom=1 max_srq_wr=0,max_send_sge=1,max_qp_wr=64 "
    "max_cqe=700,local_dma_lkey=0":
        ["rdma/*.c", "requester/*.c", "responder/rw.c", "responder/pages.c",
         "responder/reply.c"],
    "tests/listen.sh rxe": ["conn/listen.c"],
    "tests/memory.sh": ["rdma/*.c", "requester/*.c", "responder/*.c"],
    "tests/mountstats.sh": ["requester/show.c", "conn/stats.c"],
    "tests/netlink.sh": ["conn/stats.c", "conn/debugfs.c", "conn/terms.c",
                         "responder/responder.c"],
    "tests/queued.sh mlx5": ["requester/credit.c", "requester/wait.c", "rdma/send_pool.c"],
    "tests/resize.sh rxe v2-09 2": ["conn/resize.c", "conn/negotiate.c", "conn/terms.c",
                                    "rdma/recv_pool.c", "rdma/send_pool.c"],
    "tests/reverse.sh": ["requester/*.c", "responder/*.c", "conn/*.c"],
    "tests/srq.sh": ["rdma/srq.c"],
    "tests/statistics.sh rxe": ["conn/debugfs.c", "conn/stats.c", "requester/call.c",
                                "requester/reply.c", "responder/*.c"],
    "tests/xattr.sh rxe v2-09": ["requester/copy.c", "requester/marshal.c", "requester/reply.c",
                                 "responder/reply.c"],
}
FLAVOUR = os.environ.get("FLAVOUR", "uml")
CACHE = os.environ.get("RPCRDMA2_CACHE") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "rpcrdma2")
SOURCES = "net/sunrpc/xprtrdma"
STATUS = {0: "survived", 96: "the kernel died", 97: "a splat", 124: "a timeout"}
SAME_CODE, SURVIVED = "same code", "survived"


def run(tree, test, timeout):
    """Run a test with a tree's modules, and return its status."""
    return subprocess.run([f"{tree}/tools/lab/lab", "run", FLAVOUR, "--timeout", str(timeout),
                           *test.split()], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          check=False).returncode


@functools.cache
def limit(test):
    """
    Check that the original passes a test. Return: the seconds that a mutant has for it, or None
    """
    start = time.time()
    if run(TOP, test, 900):
        print(f"# {test} fails without a mistake, so it is not used", flush=True)
        return None
    seconds = int(30 + 4 * (time.time() - start))
    print(f"# {test}: at most {seconds} s", flush=True)
    return seconds


class Copy:
    """A copy of the tree, in which one source at a time has a mistake"""

    def __init__(self, path):
        self.path = path
        subprocess.run(["rsync", "-a", "--delete", "--exclude=.git", f"{TOP}/", f"{path}/"],
                       check=True)
        modules = self.build()
        if not modules:
            sys.exit("the modules do not build")
        self.codes = {s: self.code_of(modules, s) for s in sources([])}

    def build(self):
        """Return: the directory with the modules; None if there is a warning or an error"""
        made = subprocess.run([f"{self.path}/tools/lab/lab", "modules", FLAVOUR],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              check=False)
        return made.stdout.split("\n")[-2] if made.returncode == 0 else None

    def code_of(self, modules, source):
        """A source's object code, without debugging information"""
        out = f"{self.path}.o"
        subprocess.run(["objcopy", "--strip-debug", f"{modules}/{SOURCES}/{source[:-2]}.o", out],
                       check=True)
        with open(out, "rb") as f:
            return f.read()

    def try_one(self, mutant, source, tests):
        """Return: the verdict on a mutant, or None if it does not compile"""
        path = f"{self.path}/{SOURCES}/{source}"
        with open(path) as f:
            text = f.read()
        try:
            with open(path, "w") as f:
                f.write(mutants.apply(text, mutant.edit))
            modules = self.build()
            if not modules:
                return None
            if self.code_of(modules, source) == self.codes[source]:
                return SAME_CODE
            for test, patterns in tests.items():
                if not any(fnmatch.fnmatch(source, p) for p in patterns) or not limit(test):
                    continue
                status = run(self.path, test, limit(test))
                if status:
                    return f"{STATUS.get(status, 'failed')}: {test}"
            return SURVIVED
        finally:
            with open(path, "w") as f:
                f.write(text)


def sources(names):
    """The sources to look at, below SOURCES: those with these names, or all"""
    found = [os.path.relpath(s, f"{TOP}/{SOURCES}") for d in DIRECTORIES
             for s in glob.glob(f"{TOP}/{SOURCES}/{d}/*.c")]
    return sorted(s for s in found if os.path.basename(s) != "handshake.c" and
                  (not names or os.path.basename(s) in names))


def table(results):
    print(f"{'':<12} mutants  killed survived same code")
    for directory in DIRECTORIES:
        count = Counter(v if v in (SAME_CODE, SURVIVED) else "killed"
                        for d, v in results if d == directory)
        if count:
            print(f"{directory + '/':<12} {sum(count.values()):>7} {count['killed']:>7} "
                  f"{count[SURVIVED]:>8} {count[SAME_CODE]:>9}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].strip())
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--test", action="append")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("count", type=int)
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    tests = {test: ["*"] for test in options.test} if options.test else TESTS
    drawn = [(m, s) for s in sources(options.files)
             for m in mutants.read(f"{TOP}/{SOURCES}/{s}", s)[1]
             if not options.only or any(text in m.key for text in options.only)]
    if not drawn:
        sys.exit("no such source, or no such mutant")
    random.Random(options.seed).shuffle(drawn)
    copy = Copy(f"{CACHE}/mutants-{options.seed}")
    results = []
    for mutant, source in drawn:
        if len(results) == options.count:
            break
        start = time.time()
        verdict = copy.try_one(mutant, source, tests)
        if verdict:
            results.append((os.path.dirname(source), verdict))
            print(f"{len(results)}. {verdict} ({time.time() - start:.0f} s)\n"
                  f"   {mutant.line}: {mutant.key}", flush=True)
    table(results)


main()
