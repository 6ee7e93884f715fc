#!/usr/bin/env python3
"""Does a large fleet's time series, scaled down, match a small fleet's within sampling noise?

experiments/bench/series_noise.py LARGE/timeseries.csv SMALL/timeseries.csv

Counts of independent devices scatter at most like Poisson counts, so z = (large / factor - small) / sqrt(m · (1 + 1 / factor)), m the larger of the two, has
a root mean square of 1 or less where nothing but chance is between the two. The factor is that of the created events, rounded.
"""
import csv
import math
import sys

COUNTS = [
    "offered_rps", "first_attempts_rps", "retries_rps", "goodput_rps", "answers_2xx", "answers_429", "answers_503",
    "created_events", "delivered_events", "backlog_batches", "waiting_devices",
]


def read(path):
    with open(path) as file:
        return list(csv.DictReader(file))


def main():
    large, small = read(sys.argv[1]), read(sys.argv[2])
    if len(large) != len(small):
        sys.exit(f"{len(large)} rows in one, {len(small)} in the other: run both with the same duration and interval")
    factor = round(total(large, "created_events") / total(small, "created_events"))
    print(f"{len(small)} rows, factor {factor}")
    print(f"{'column':<20} {'total, small':>16} {'large / factor':>16} {'apart':>10} {'rms z':>7} {'largest |z|':>12}")
    for column in COUNTS:
        scores = []
        for a, b in zip(large, small):
            x, y = float(a[column]) / factor, float(b[column])
            scores.append((x - y) / math.sqrt(max(x, y, 1) * (1 + 1 / factor)))
        x, y = total(large, column) / factor, total(small, column)
        apart = f"{(x - y) / y:+.4%}" if y else "-"
        rms = math.sqrt(sum(z * z for z in scores) / len(scores))
        print(f"{column:<20} {y:16,.0f} {x:16,.0f} {apart:>10} {rms:7.2f} {max(map(abs, scores)):12.1f}")


def total(rows, column):
    return sum(float(row[column]) for row in rows)


main()
