#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""The dashboard for Grafana uses only metrics and labels that the exporter prints.

    dashboard.py DASHBOARD METRICS           print each problem on a line
    dashboard.py --tests DASHBOARD METRICS   print tests for promtool

METRICS is a file with the output of "rpcrdma2 stat --prometheus". It must have each metric and
label of the dashboard. The panels and variables must have a form that Grafana accepts. The tests
for promtool evaluate each expression with these metrics: each must parse and have a result.
"""

import json
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
TIMER = TOP / "etc/systemd/rpcrdma2-metrics.timer"
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
OLDEST_SCHEMA = 36          # of Grafana 9
COLUMNS = 24
KINDS = "row", "stat", "table", "timeseries"
SCRAPED = "instance", "job"         # labels that Prometheus adds
# Grafana's own variables in expressions, each with a possible value
OWN = {"__rate_interval": "5m", "__range": "1h"}
ALL = "__all"               # the value of a variable that selects all
SAMPLE = re.compile(r"(?P<name>\w+)(?:\{(?P<labels>.*)\})? \S+$")
SELECTOR = re.compile(r"\b(?P<name>[a-z]\w*_\w+)\b(?:\{(?P<labels>[^}]*)\})?")


def exported(path):
    """{metric: its labels}, and all series with the label "instance" that a scrape adds"""
    labels, series = {}, []
    for line in path.read_text().splitlines():
        match = None if line.startswith("#") else SAMPLE.match(line)
        if match:
            labels[match["name"]] = set(re.findall(r'(\w+)="', match["labels"] or ""))
            series.append(f'{match["name"]}{{{match["labels"] or ""},instance="host"}}'
                          .replace("{,", "{"))
    return labels, series


def expressions(board):
    """(where, expression, text of the legend) of panels and variables"""
    for panel in board["panels"]:
        for target in panel.get("targets", ()):
            yield f"panel {panel['id']}", target["expr"], target["legendFormat"]
    for variable in board["templating"]["list"]:
        if variable["type"] == "query":
            query = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["query"]["query"])
            yield f"variable {variable['name']}", query[1], f"{{{{{query[2]}}}}}"


def check_names(board, metrics):
    """The exporter prints the metrics and labels of each expression."""
    for where, expr, legend in expressions(board):
        named = {match["name"]: match["labels"] or "" for match in SELECTOR.finditer(
            re.sub(r"\$\w+|\b(group_left|label_values)\b", "", expr))}
        known = {*SCRAPED}.union(*(metrics.get(name, ()) for name in named))
        for name, matchers in named.items():
            if name not in metrics:
                yield where, f"there is no metric {name}"
                continue
            for label in re.findall(r"(\w+) *[=!]", matchers):
                if label not in metrics[name] | {*SCRAPED}:
                    yield where, f"{name} has no label {label}"
        lists = re.findall(r"\b(?:by|on|group_left) *\(([\w, ]*)\)", expr)
        used = set(re.findall(r"\w+", " ".join(lists))) | set(re.findall(r"{{(\w+)}}", legend))
        for label in sorted(used - known):
            yield where, f"none of its metrics has a label {label}"


def check_variables(board, _):
    variables = {entry["name"]: entry for entry in board["templating"]["list"]}
    if not any(entry["type"] == "datasource" and entry["query"] == "prometheus"
               for entry in variables.values()):
        yield "variables", "none chooses a Prometheus"
    for name, entry in variables.items():
        if entry["type"] == "query" and entry["datasource"] != SOURCE:
            yield f"variable {name}", "asks another data source than the chosen one"
    used = set(re.findall(r"\$\{?(\w+)", json.dumps(board)))
    for name in sorted(used - {*variables, *OWN, ALL}):
        yield "variables", f"there is no ${name}"
    for name in sorted(variables.keys() - used):
        yield f"variable {name}", "nothing uses it"


def overlap(one, two):
    return one["x"] < two["x"] + two["w"] and two["x"] < one["x"] + one["w"] and \
        one["y"] < two["y"] + two["h"] and two["y"] < one["y"] + one["h"]


def check_places(board, _):
    places = []
    for panel in board["panels"]:
        where, place = f"panel {panel['id']}", panel["gridPos"]
        if any(not isinstance(place[key], int) or place[key] < (key in "wh") for key in "xywh") or \
                place["x"] + place["w"] > COLUMNS:
            yield where, f"does not fit on the grid: {place}"
        for other, taken in places:
            if overlap(place, taken):
                yield where, f"lies on {other}"
        places.append((where, place))


def check_panels(board, _):
    ids = [panel["id"] for panel in board["panels"]]
    for number in sorted({number for number in ids if ids.count(number) > 1}):
        yield f"panel {number}", "there are several of this id"
    # The timer renews the exporter's file at this step. More frequent scrapes find nothing new.
    step = re.search(r"^OnUnitActiveSec=(\d+m)in$", TIMER.read_text(), re.M)[1]
    for panel in board["panels"]:
        where = f"panel {panel['id']}"
        if panel["type"] not in KINDS or not panel["title"]:
            yield where, "has no title, or no type that was tried"
        if panel["type"] == "row":
            continue
        letters = [target["refId"] for target in panel["targets"]]
        if not letters or len(set(letters)) < len(letters):
            yield where, "has no query, or two of one refId"
        if panel["datasource"] != SOURCE:
            yield where, "asks another data source than the chosen one"
        for target in panel["targets"]:
            if target["interval"] != step:
                yield where, f"its step is {target['interval']}, and the timer's {step}"


def check_head(board, _):
    if not isinstance(board["schemaVersion"], int) or board["schemaVersion"] < OLDEST_SCHEMA:
        yield "dashboard", f"schemaVersion is below {OLDEST_SCHEMA}"
    if not re.fullmatch(r"[\w-]{8,40}", board["uid"]) or not board["title"]:
        yield "dashboard", "has no title, or no uid of 8 to 40 characters"
    if board.get("id") is not None:
        yield "dashboard", "has an id, which belongs to one Grafana"


CHECKS = check_head, check_panels, check_places, check_variables, check_names


def problems(board, metrics):
    for check in CHECKS:
        try:
            yield from check(board, metrics)
        except (KeyError, TypeError, AttributeError) as error:
            yield "dashboard", f"{check.__name__}: lacks a field: {error!r}"


def promtool_tests(board, series):
    """Tests with counters that rise by one each minute; no expression is absent()."""
    tests = []
    for _, expr, _ in expressions(board):
        for name, value in OWN.items():
            expr = expr.replace(f"${name}", value)
        tests.append({"expr": f"absent({re.sub(r'[$]{?[a-z]+}?', '.*', expr)})",
                      "eval_time": "60m", "exp_samples": []})
    return {"evaluation_interval": "1m", "tests": [{
        "interval": "1m", "promql_expr_test": tests,
        "input_series": [{"series": one, "values": "1+1x70"} for one in series]}]}


def main():
    arguments = sys.argv[1:]
    tests = arguments[:1] == ["--tests"]
    board = json.loads(pathlib.Path(arguments[-2]).read_text())
    metrics, series = exported(pathlib.Path(arguments[-1]))
    if tests:
        json.dump(promtool_tests(board, series), sys.stdout, indent=1)
        return 0
    found = [f"{where}: {what}" for where, what in problems(board, metrics)]
    print("\n".join(found), end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
