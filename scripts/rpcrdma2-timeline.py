#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Print a timeline of each RPC in a trace of rpcrdma2.

    trace-cmd record -e rpcrdma2 COMMAND
    trace-cmd report | rpcrdma2-timeline

The script reads the output of trace-cmd report, perf script or tracefs, from files or
from standard input. Events with the same XID belong to one RPC. If the trace has both
ends, so does the timeline. The columns are microseconds since the first event,
microseconds since the previous event, the connection, and the event.
"""

import argparse
import fileinput
import re
import sys

EVENT = re.compile(r"\s(\d+\.\d+): +(?:rpcrdma2:)?rpcrdma2_(\w+): +(.*)")
LOST = re.compile(r"EVENTS? (DROPPED|LOST)|LOST (\d+ )?EVENTS|lost \d+ events",
                  re.IGNORECASE)


class Rpc:
    """The events of one RPC, in order of time."""

    def __init__(self, xid):
        self.xid = xid
        self.events = []

    def add(self, *event):
        self.events.append(event)

    def conns(self):
        """The connection of each end, and earlier connections that carried the RPC"""
        return sorted({conn for _, conn, _, _ in self.events})

    def names(self, conn):
        return {name for _, number, name, _ in self.events if number == conn}

    def is_rpc(self):
        """Tell an RPC from the first messages of a connection, which also have an XID."""
        return any(name in ("call_begin", "call_recv")
                   for _, _, name, _ in self.events)

    def duration(self):
        """The time up to the last event but post_done, which may come long after the RPC."""
        times = [time for time, _, name, _ in self.events if name != "post_done"]
        return times[-1] - times[0]

    def missing(self):
        """List the events that a finished RPC must have, and this one lacks."""
        for conn in self.conns():
            names = self.names(conn)
            if "call_begin" in names:
                wanted = {"call_send", "post", "receive", "call_complete"}
                if "error_recv" not in names:
                    wanted.add("reply_recv")
            elif "error_send" in names or "call_drop" in names:
                wanted = {"receive", "call_recv"}
            else:
                wanted = {"receive", "call_recv", "call_deliver", "reply_send",
                          "post"}
                if self.was_written():
                    wanted.add("reply_done")
            for name in sorted(wanted - names):
                yield f"{name} of connection {conn}"

    def was_written(self):
        return any(name == "reply_send" and "write_len=0 " not in text
                   for _, _, name, text in self.events)

    def show(self):
        begin = before = self.events[0][0]
        print(f"\nxid {self.xid}: {self.duration() * 1e6:.0f} us")
        for time, conn, name, text in self.events:
            print(f"{(time - begin) * 1e6:9.0f} {(time - before) * 1e6:+8.0f}"
                  f"  conn {conn:<3} {name:15} {text}".rstrip())
            before = time
        missing = ", ".join(self.missing())
        if missing:
            print(f"{'':18}  not in the trace: {missing}")


def read(lines):
    """Return the RPCs of a trace, and whether the trace has gaps."""
    rpcs, gaps = {}, False
    events = []
    for line in lines:
        gaps = gaps or bool(LOST.search(line))
        match = EVENT.search(line)
        if match:
            events.append((float(match[1]), match[2], match[3]))
    # Each CPU has its own trace buffer, and tools may merge the buffers only roughly.
    events.sort(key=lambda event: event[0])
    for time, name, text in events:
        fields = dict(re.findall(r"(\w+)=(\S+)", text))
        if "xid" not in fields:
            continue
        rpc = rpcs.setdefault(fields["xid"], Rpc(fields["xid"]))
        text = re.sub(r"^conn=\d+ xid=\w+ ?", "", text)
        rpc.add(time, int(fields["conn"]), name, text)
    return [rpc for rpc in rpcs.values() if rpc.is_rpc()], gaps


def select(rpcs, options):
    if options.xid is not None:
        rpcs = [rpc for rpc in rpcs if int(rpc.xid, 0) == options.xid]
    if options.conn is not None:
        rpcs = [rpc for rpc in rpcs if options.conn in rpc.conns()]
    if options.slowest:
        rpcs = sorted(rpcs, key=Rpc.duration)[-options.slowest:]
    if options.incomplete:
        rpcs = [rpc for rpc in rpcs if any(rpc.missing())]
    return rpcs


def number(text):
    return int(text, 0)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--xid", type=number,
                        help="only this RPC, as 0xNUMBER or a decimal number")
    parser.add_argument("--conn", type=int, help="only those of a connection")
    parser.add_argument("--slowest", type=int, metavar="N",
                        help="only the N that took longest")
    parser.add_argument("--incomplete", action="store_true",
                        help="only those that lack an event")
    parser.add_argument("file", nargs="*", help="traces, as text")
    options = parser.parse_args()

    rpcs, gaps = read(fileinput.input(options.file))
    for rpc in select(rpcs, options):
        rpc.show()
    incomplete = sum(any(rpc.missing()) for rpc in rpcs)
    print(f"\n{len(rpcs)} RPCs in the trace, {incomplete} of them incomplete")
    if gaps:
        print("Events were lost: the trace's buffers were too small.")


try:
    main()
except BrokenPipeError:
    sys.exit(1)
except OSError as error:
    sys.exit(f"rpcrdma2-timeline: {error}")
