#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Write the times of outages into a page: until an end notices, and until work goes on.

    outages.py DIRECTORY PAGE

DIRECTORY has what "tools/bench --outages" left there.
"""

import os
import sys

from figures import Figures
from page import replace_part, show, table

BEGIN = '.. Made by "make bench-outages", up to the next comment.'
END = ".. Those were all."
VARIANTS = [("rxe", 5), ("rxe", 0), ("siw", 0), ("tcp", 0)]
# State, event, and the end that the figure is about
NOTICED = {
    "Network cut, idle: client": ("idle", "network", "client"),
    "Network cut, idle: server": ("idle", "network", "server"),
    "Network cut, busy: client": ("busy", "network", "client"),
    "Network cut, busy: server": ("busy", "network", "server"),
    "Server stands still: client": ("busy", "paused", "client"),
    "Server's power cut: client": ("busy", "power", "client"),
    "Server's address lost: client": ("busy", "address", "client"),
    "Client stands still: server": ("busy", "client-paused", "server"),
    "Client's power cut: server": ("busy", "client-power", "server"),
}
ON = {
    "Network is back, idle": ("idle", "network", "client"),
    "Network is back, busy": ("busy", "network", "client"),
    "Network is back after 60 s, busy": ("busy", "network-60", "client"),
    "Network is back after 30 s, busy": ("busy", "network-30", "client"),
    "Server goes on": ("busy", "paused", "client"),
    "Server is up again": ("busy", "power", "client"),
    "Server is up again, in seconds": ("busy", "restart", "client"),
    "Client goes on": ("busy", "client-paused", "client"),
    "Other address told, first one lost": ("busy", "address", "client"),
    "Other address told, power cut": ("busy", "power-elsewhere", "client"),
}


def variant_name(transport, heartbeat):
    if transport == "tcp":
        return "TCP"
    return f"{transport}, {heartbeat or 'off'}"


def cell(lines, name, where):
    """Format seconds, or "> SECONDS" if nothing happened within the limit."""
    state, event, end = where
    for line in lines:
        if name in line and (line["state"], line["event"], line["end"]) == where:
            value = line[name]
            return value.replace(">", "> ") if isinstance(value, str) else show(value)
    sys.exit(f"no figure: {name}, {state}, {event}, {end}")


def table_of(found, title, name, events):
    return table([title, *(variant_name(*variant) for variant in found)],
                 [[what, *(cell(lines, name, where) for lines in found.values())]
                  for what, where in events.items()])


def part(directory):
    found = {
        variant: Figures(os.path.join(directory, "outages-{}-{}".format(*variant),
                                      "share")).part("outages")
        for variant in VARIANTS}
    yield "Seconds until an end noticed:\n"
    yield table_of(found, "What happened: who notices", "noticed", NOTICED)
    yield "Seconds until work went on:\n"
    yield table_of(found, "Since", "on", ON)


def main():
    directory, page = sys.argv[1:]
    replace_part(page, BEGIN, END, part(directory))


if __name__ == "__main__":
    main()
