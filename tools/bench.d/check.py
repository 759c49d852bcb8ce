#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Check that the figures of each part of a benchmark make sense.

    check.py DIRECTORY

The checks ignore speed. They look only at what is the same on all machines.
"""

import sys

from figures import Figures, KIB, row_name

TRANSPORTS = ["rpcrdma2", "rpcrdma", "tcp"]


class Check:
    def __init__(self, figures):
        self.figures, self.failed, self.passed = figures, 0, 0

    def expect(self, good, *what):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print("FAIL:", *what)

    def rows(self, part, keys, **match):
        """Expect a row for each key, and no other row."""
        found = self.figures.keys(part, **match)
        self.expect(sorted(found) == sorted(keys), part, match, "has", found)

    def timed(self, part):
        for line in self.figures.part(part):
            self.expect(line["ops"] >= line["depth"] and line["warm"] > 0 and
                        0 < line["p50"] <= line["p99"] <= line["wall"] and
                        0 < line["cpu"] <= line["ns"], line)

    def echo(self, keys):
        for name in TRANSPORTS:
            self.rows("echo", keys, transport=name)
            self.rows("counts", keys, transport=name)
        self.timed("echo")
        self.timed("counts")

    def raw(self, keys):
        self.rows("raw", keys)
        self.timed("raw")

    def near(self, line, counter, due):
        self.expect(abs(line[counter] - due) < 0.2, line["transport"],
                    row_name((line["what"], line["size"])), counter,
                    line[counter], "but", due, "are due")

    def counts(self):
        """Expect two Sends for each RPC. Only larger payloads have a chunk."""
        for line in self.figures.part("counts"):
            self.expect(line["packets"] > 0, line)
        for line in self.figures.part("counts", transport="rpcrdma2"):
            chunks = int(line["size"] > 8 * KIB)
            self.near(line, "sends", 2)
            self.near(line, "registrations", chunks)
            self.near(line, "invalidations", 0)
            self.near(line, "reads", chunks * (line["what"] == "call"))
            self.near(line, "writes", chunks * (line["what"] == "reply"))

    def nfs(self, keys):
        for name in TRANSPORTS:
            self.rows("fio", keys, transport=name)
        for line in self.figures.part("fio"):
            self.expect(line["rate"] > 0 and not line["error"], line)

    def memory(self):
        """Expect sizes within wide bounds. rxe rounds its Queues up, but that adds little."""
        ends = {line["end"]: line["kib"] for line in self.figures.part("memory")}
        self.expect(sorted(ends) == ["client", "server"], "memory of", ends)
        for end, kib in ends.items():
            self.expect(100 < kib < 20000, end, kib, "KiB a connection")
        for line in self.figures.part("memory"):
            self.expect(0 < line["queues"] < 1024, "Queues of", line)
            self.expect(0 < line["slab"] < line["kib"] - line["queues"], "slab of", line)
            self.expect(line["mrs"] == (16 if line["end"] == "client" else 0),
                        "registrations of", line)

    def codec(self):
        lines = self.figures.part("codec")
        self.expect(len(lines) == 14, "codec has", len(lines), "lines")
        for line in lines:
            self.expect(line["encode"] > 0 and line["decode"] > 0 and
                        line["octets"] >= 28, line)


def main():
    directory = sys.argv[1]
    check = Check(Figures(directory))
    sizes, depths = [4 * KIB, 64 * KIB], [16]
    check.echo([("null", 0, depth) for depth in depths] +
               [(what, size, depth) for what in ("call", "reply")
                for size in sizes for depth in depths])
    check.raw([(what, size, depth) for what in ("send", "read", "write",
                                                "exchange-read", "exchange-write")
               for size in sizes for depth in depths] +
              [("exchange", size, depth) for size in (0, 4 * KIB)
               for depth in depths])
    check.counts()
    check.nfs([(what, 4 * KIB, 16) for what in ("randread", "randwrite")] +
              [(what, 1024 * KIB, 16) for what in ("read", "write")] +
              [(what, 0, 1) for what in ("create", "stat", "unlink")])
    check.memory()
    check.codec()
    print(f"{check.passed} passed, {check.failed} failed")
    return bool(check.failed or not check.passed)


if __name__ == "__main__":
    sys.exit(main())
