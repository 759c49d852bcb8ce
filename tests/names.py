#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Each function of the module has a name of its own, with the word of its file.

A stack trace, a kprobe and ftrace show only the name. So each name stands in one file. A
function that leaves its file begins with rpcrdma2_. A static function begins with the word of
its file: the file's own name, or a word that WORDS lists for the file. Prints a line for each
name that breaks a rule.
"""

import collections
import pathlib
import re

MODULE = pathlib.Path(__file__).resolve().parent.parent / "net/sunrpc/xprtrdma"

# The words of files whose static functions don't begin with the file's name
WORDS = {
    "conn/debugfs.c": "dbgfs",
    "conn/life.c": "conn",
    "conn/handshake.c": "hs",
    "conn/listen.c": "listener",
    "rdma/recv_pool.c": "recv",
    "rdma/send_pool.c": "send",
    "rdma/sq.c": "sq send",
    "conn/state.c": "conn",
    "module.c": "rpcrdma2",
    "netlink/family.c": "netlink",
    "netlink/fill.c": "put",
    "requester/buffer.c": "call_buffer",
    "requester/invalidate.c": "inv",
    "requester/long.c": "long_reply",
    "requester/register.c": "reg mr mrs",
    "requester/reply.c": "reply call",
    "requester/show.c": "format",
    "responder/admit.c": "admit budget share",
    "responder/call.c": "job",
    "responder/job.c": "job jobs",
    "responder/reply.c": "job",
    "svc/accept.c": "backlog source",
    "svc/io.c": "svc",
    "svc/transport.c": "svc",
    "wire/chunks.c": "chunk chunks segment",
    "wire/props.c": "prop",
    "xprt/connect.c": "connect xprt_conn",
    "xprt/reverse.c": "bc",
    "xprt/servers.c": "server",
    "xprt/transport.c": "xprt",
}

EXPORTED = ("rpcrdma2_", "to_rpcrdma2_")

# Kernel style: a definition begins in the first column, and so does its brace.
FUNCTION = re.compile(r"^(?![\s#}])([^;{}=#]*?)\b(\w+)\(([^;{}]*)\)\n{", re.M)
COMMENT = re.compile(r"/\*.*?\*/", re.S)


def functions(path):
    """A file's functions: {name: whether the function is static}"""
    text = COMMENT.sub("", path.read_text())
    return {found[2]: re.search(r"\bstatic\b", found[1]) for found in FUNCTION.finditer(text)}


def check_names(name, found, unused):
    """Yield the faults in the names of one file's functions"""
    words = WORDS.get(name, pathlib.Path(name).stem).split()
    for function, static in found.items():
        if name.endswith(".h") or not static:
            if not function.startswith(EXPORTED):
                yield f"{name}: {function}() leaves its file, and has no rpcrdma2_"
            continue
        word = [word for word in words if function.startswith(f"{word}_")]
        if not word:
            yield f"{name}: {function}() does not begin with {' or '.join(words)}"
        unused -= {(name, each) for each in word}


def check():
    where = collections.defaultdict(list)
    unused = {(name, word) for name, words in WORDS.items() for word in words.split()}
    for path in sorted(MODULE.glob("**/*.[ch]")):
        if path.name.endswith(".mod.c"):
            continue
        name = str(path.relative_to(MODULE))
        found = functions(path)
        for function in found:
            where[function].append(name)
        yield from check_names(name, found, unused)
    for function, names in sorted(where.items()):
        # A header may have an empty one, for kernels that lack what the file needs.
        files = [name for name in names if name.endswith(".c")]
        if len(names) > 1 and (len(files) != 1 or not function.startswith(EXPORTED)):
            yield f"{function}() stands in {' and '.join(names)}"
    for name, word in sorted(unused):
        yield f"tests/names.py: no function of {name} begins with {word}_"


if __name__ == "__main__":
    problems = list(check())
    print("\n".join(problems), end="\n" if problems else "")
    raise SystemExit(bool(problems))
