#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Count the instructions of a tracepoint that is off, for trace-cost.sh.

    reachable.py WITH WITHOUT OBJECT...

WITH and WITHOUT are directories in which the objects were built, with and
without tracepoints. A tracepoint that is off is a nop, so its code is not
reachable from the beginning of a function. Fails if such code is reachable, or
if tracepoints add more than 3 percent to the reachable instructions.
"""

import re
import subprocess
import sys

INSTRUCTION = re.compile(r"\s+([0-9a-f]+):\t(\S+)\s*(.*)")
RELOCATION = re.compile(r"\s+[0-9a-f]+: R_X86_64_\S+\s+(\S+)")
TRACING = re.compile(r"__tracepoint_rpcrdma2|tp_func_rpcrdma2")


class Code:
    """The instructions of an object, by section and address."""

    def __init__(self, path):
        self.instructions = {}
        self.functions = {}
        self.next = {}
        section = last = None
        text = subprocess.run(["objdump", "-dr", "--no-show-raw-insn", path],
                              capture_output=True, text=True,
                              check=True).stdout
        for line in text.splitlines():
            if match := re.match(r"Disassembly of section (.*):", line):
                section, last = match[1], None
            elif match := re.match(r"([0-9a-f]+) <(.+)>:$", line):
                self.functions[match[2]] = (section, int(match[1], 16))
            elif match := RELOCATION.match(line):
                self.instructions[last][2] = match[1]
            elif match := INSTRUCTION.match(line):
                here = (section, int(match[1], 16))
                self.instructions[here] = [match[2], match[3], ""]
                self.next[last] = here
                last = here

    def target(self, here):
        """The target of a jump, or None if the jump leaves the object"""
        _, operand, symbol = self.instructions[here]
        if not symbol:
            return here[0], int(operand.split()[0], 16)
        match = re.fullmatch(r"(\.text\S*?)\+0x([0-9a-f]+)", symbol)
        return (match[1], int(match[2], 16) + 4) if match else None

    def reachable(self, function):
        """The addresses of instructions that may run; a static branch is a nop"""
        found, ahead = set(), [self.functions[function]]
        while ahead:
            here = ahead.pop()
            if here in found or here not in self.instructions:
                continue
            found.add(here)
            opcode = self.instructions[here][0]
            if opcode.startswith("j"):
                ahead.append(self.target(here))
            if opcode != "jmp" and not opcode.startswith("ret"):
                ahead.append(self.next.get(here))
        return found

    def count(self):
        """The numbers of instructions and of nops, and the functions that reach tracing"""
        instructions, nops, tracing = set(), set(), []
        for function in self.functions:
            # The tracing macros define the former, and other functions jump to the latter.
            if "trace" in function or function.endswith(".cold"):
                continue
            for here in self.reachable(function):
                opcode, operands, symbol = self.instructions[here]
                if TRACING.search(symbol):
                    tracing.append(function)
                nop = opcode.startswith("nop") or operands == "%ax,%ax"
                (nops if nop else instructions).add(here)
        return len(instructions), len(nops), tracing


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    sums = [0, 0, 0, 0]
    for name in sys.argv[3:]:
        before, before_nops, _ = Code(f"{sys.argv[2]}/{name}").count()
        after, after_nops, tracing = Code(f"{sys.argv[1]}/{name}").count()
        if tracing:
            sys.exit(f"{name}: what a tracepoint does is reachable in "
                     f"{', '.join(tracing)}")
        print(f"{name}: {before} instructions and {before_nops} nops, "
              f"with tracepoints {after} and {after_nops}")
        sums = [a + b for a, b in
                zip(sums, (before, before_nops, after, after_nops))]
    print("in all: {} instructions and {} nops, "
          "with tracepoints {} and {}".format(*sums))
    if not sums[1] < sums[3]:
        sys.exit("there are no tracepoints")
    if sums[2] > sums[0] * 1.03:
        sys.exit("that is more than 3 percent")


main()
