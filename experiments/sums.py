#!/usr/bin/env python3
"""Sums of the time series of a comparison: experiments/sums.py RESULT FROM TO STEP

Writes RESULT/sums.csv: for each run and each STEP seconds between the seconds FROM and TO, how many requests came, how many were answered,
and the backlog at the end of the step. run.json names the runs and the keys that are varied, which are columns. Needs Python 3 and nothing
else.
"""

import csv
import json
import pathlib
import sys

ANSWERS = ["answers_2xx", "answers_429", "answers_503", "unheard_answers"]


def steps(series, start, end, length):
    """A row a step; a rate times the interval is a number of requests."""
    interval = float(series[1]["time_s"]) - float(series[0]["time_s"])
    for begin in range(start, end, length):
        part = [row for row in series if begin <= float(row["time_s"]) < min(begin + length, end)]
        if part:
            yield {"time_s": begin, "requests": round(sum(float(row["offered_rps"]) for row in part) * interval),
                   **{name: sum(int(row[name]) for row in part) for name in ANSWERS}, "backlog_events": part[-1]["backlog_events"]}


def main():
    result = pathlib.Path(sys.argv[1])
    start, end, length = map(int, sys.argv[2:])
    table = []
    for run in json.loads((result / "run.json").read_text())["runs"]:
        with open(result / run["folder"] / "timeseries.csv") as file:
            series = list(csv.DictReader(file))
        keys = {override["path"]: override["value"] for override in run["overrides"]}
        table += [{"run": run["name"], **keys, **row} for row in steps(series, start, end, length)]
    if table:
        with open(result / "sums.csv", "w", newline="") as file:
            writer = csv.DictWriter(file, table[0].keys(), lineterminator="\n")
            writer.writeheader()
            writer.writerows(table)


if __name__ == "__main__":
    main()
