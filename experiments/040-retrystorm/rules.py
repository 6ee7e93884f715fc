#!/usr/bin/env python3
"""Breakers at a steady load for 20 s: rules.py > results/040-retrystorm/tripped.csv

By fleetsim and by retrystorm's published rules, ten seeds each: the share of breaker time that is tripped. Theirs counts a breaker as tripped until
a decision closes it; `open` counts its two seconds alone, as fleetsim does.
"""

import csv
import heapq
import pathlib
import random
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BREAKER = '{requests:50,window:"10m",threshold:"49%",minimumFailures:25,openTime:"2s",longestOpenTime:"2s",whenOpen:"fails"}'

CALLERS, WORKERS, QUEUE, SERVICE = 100, 10, 100, 0.01
TIMEOUT, WAIT, RETRIES, WINDOW, OPEN, END = 0.05, 0.025, 5, 50, 2.0, 20.0


class Breaker:
    def __init__(self, fails_fast):
        self.fails_fast, self.state, self.outcomes, self.opened = fails_fast, "closed", [], 0.0
        self.probing = self.failed_probe = False
        self.times = []

    def trip(self, now):
        self.state, self.opened, self.probing, self.failed_probe = "open", now, False, False
        self.times.append(now)

    def look(self, now):
        """Where a decision finds it."""
        if self.state == "open" and now - self.opened >= OPEN:
            self.state, self.probing, self.failed_probe = "half", False, False
        if self.state == "half" and self.failed_probe:
            self.trip(now)
        elif self.state == "closed" and len(self.outcomes) == WINDOW and 2 * sum(self.outcomes) >= WINDOW:
            self.trip(now)

    def admits(self, now):
        if not self.fails_fast:
            return True
        self.look(now)
        if self.state == "half" and not self.probing:
            self.probing = True
            return True
        return self.state == "closed"

    def retries(self, now, tries):
        self.look(now)
        if self.state == "half" and not self.fails_fast and not self.probing:
            self.probing = True
            return True
        return self.state == "closed" and tries <= RETRIES

    def hear(self, failed):
        self.outcomes = (self.outcomes + [failed])[-WINDOW:]
        if self.state == "half":
            if failed:
                self.failed_probe = True
            else:
                self.state, self.outcomes = "closed", []


def run(load, fails_fast, seed):
    draw = random.Random(seed)
    breakers = [Breaker(fails_fast) for _ in range(CALLERS)]
    events, order, waiting, busy = [], 0, [], 0
    tripped = samples = 0

    def at(time, kind, *what):
        nonlocal order
        order += 1
        heapq.heappush(events, (time, order, kind, what))

    def serve(job, now):
        nonlocal busy
        busy += 1
        at(now + draw.expovariate(1 / SERVICE), "served", job)

    def fail(caller, tries, now):
        breakers[caller].hear(True)
        if tries <= RETRIES and breakers[caller].retries(now, tries):
            at(now + WAIT, "try", caller, tries + 1)

    for caller in range(CALLERS):
        at(draw.expovariate(load / CALLERS), "new", caller)
    at(0.0, "sample")
    while events and events[0][0] < END:
        now, _, kind, what = heapq.heappop(events)
        if kind == "sample":
            samples += CALLERS
            tripped += sum(b.state != "closed" for b in breakers)
            at(now + 0.01, "sample")
        elif kind == "new":
            at(now + draw.expovariate(load / CALLERS), "new", what[0])
            at(now, "try", what[0], 1)
        elif kind == "try":
            caller, tries = what
            job = [caller, tries, False]
            if not breakers[caller].admits(now):
                continue
            if busy < WORKERS:
                serve(job, now)
            elif len(waiting) < QUEUE:
                waiting.append(job)
            else:
                fail(caller, tries, now)
                continue
            at(now + TIMEOUT, "late", job)
        elif kind == "served":
            busy -= 1
            if waiting:
                serve(waiting.pop(0), now)
            if not what[0][2]:
                what[0][2] = True
                breakers[what[0][0]].hear(False)
        elif kind == "late" and not what[0][2]:
            what[0][2] = True
            fail(what[0][0], what[0][1], now)
    ends = sum(min(OPEN, END - time) for b in breakers for time in b.times) / (END * CALLERS)
    return tripped / samples, ends


def ours(fails_fast, load):
    """By fleetsim."""
    with tempfile.TemporaryDirectory() as out:
        subprocess.run(
            [ROOT / ".build/release/fleetsim", "compare", ROOT / "experiments/040-retrystorm/scenario.json5", "--set", "duration=20s",
             "--set", f"fleet.callers.gates.breaker={BREAKER}", "--set", f"fleet.callers.gates.breaker.retriesOnly={str(not fails_fast).lower()}",
             "--set", f"fleet.callers.events.rate={load / CALLERS}/s", "--vary", "seed=" + ",".join(map(str, range(1, 11))), "--out", out],
            check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(f"{out}/summary.csv") as file:
            times = [float(row["breaker_open_s"]) for row in csv.DictReader(file)]
    return sum(times) / len(times) / END / CALLERS


LOADS = (820, 850, 880, 900)
print("breaker,by", *(f"load_{load}" for load in LOADS), sep=",")
for fails_fast in (False, True):
    stops = "all" if fails_fast else "retries"
    runs = [[run(load, fails_fast, seed) for seed in range(1, 11)] for load in LOADS]
    print(stops, "fleetsim", *(f"{ours(fails_fast, load):.4f}" for load in LOADS), sep=",")
    for i, by in enumerate(("rules_tripped", "rules_open")):
        print(stops, by, *(f"{sum(r[i] for r in of_load) / len(of_load):.4f}" for of_load in runs), sep=",")
