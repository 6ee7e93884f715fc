#!/usr/bin/env python3
"""The same calls under two rules of a slow server: rules.py [SEEDS]   (default: 64)

Writes results/031-tipping-point/rules.csv. Under "arrival" a call's work takes as long as the server needs for it when it arrives, as in
moonpool's example. Under "begin" it takes as long as the server needs when a worker takes it, as in a brownout of fleetsim. A way takes 1 to
5 ms, evenly drawn, and so is the first call's time within 20 ms. Needs Python 3 and nothing else.
"""

import csv
import heapq
import pathlib
import random
import sys

WORKERS, WORK, SLOW = 4, 0.025, 4
EVERY, TIMEOUT, TRIES, FROM, END = 0.02, 0.2, 4, 10.0, 40.0
LENGTHS = [500, 600, 625, 650, 675, 700, 750, 800, 825, 850, 875, 900, 1000, 2000]


def heard(rule, length, seed):
    """The share of the calls of the last ten seconds that hear an answer."""
    chance, end = random.Random(seed), FROM + length
    free, good, total = [0.0] * WORKERS, 0, 0
    first = chance.uniform(0, EVERY)
    # Sends, by the time at which they reach the server: (arrival, sent, the call's begin, tries before)
    events = []
    for call in range(round(END / EVERY)):
        start = first + call * EVERY
        heapq.heappush(events, (start + chance.uniform(0.001, 0.005), start, start, 0))
    while events:
        arrival, sent, start, tries = heapq.heappop(events)
        begin = max(free[0], arrival)
        decides = arrival if rule == "arrival" else begin
        done = begin + WORK * (SLOW if FROM <= decides < end else 1)
        heapq.heapreplace(free, done)
        is_heard = done + chance.uniform(0.001, 0.005) <= sent + TIMEOUT
        if start >= END - 10:
            total += tries == 0
            good += is_heard
        if not is_heard and tries + 1 < TRIES:
            again = sent + TIMEOUT
            heapq.heappush(events, (again + chance.uniform(0.001, 0.005), again, start, tries + 1))
    return good / total


seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 64
rows = [{"rule": rule, "for_ms": length, "seeds": seeds, "storm": sum(heard(rule, length / 1000, seed) < 0.5 for seed in range(seeds))}
        for rule in ("arrival", "begin") for length in LENGTHS]
path = pathlib.Path(__file__).resolve().parent.parent.parent / "results/031-tipping-point/rules.csv"
path.parent.mkdir(parents=True, exist_ok=True)
with open(path, "w", newline="") as file:
    writer = csv.DictWriter(file, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
