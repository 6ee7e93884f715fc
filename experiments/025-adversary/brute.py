#!/usr/bin/env python3
"""Does adversary find what brute force finds? experiments/025-adversary/brute.py

The fleet of experiment 011, brownouts only. Brute force: every combination of START, FACTOR and LENGTH (8 % apart) under five seeds;
an incident counts if the fleet is not back in time in most of them, and the shortest such is the answer. `adversary` gets the bounds
alone, and a fifth of those runs; five times, each with other seeds. Then both answers run with twenty seeds that neither has seen.
Prints what is kept as results/025-adversary/boundary.txt, and fails if an answer of adversary is more than 10 % away. Some ten minutes on two cores.
"""
import csv
import json
import math
import os
import subprocess
import sys
import tempfile

FLEETSIM = os.environ.get("FLEETSIM", ".build/release/fleetsim")
SCENARIO = ["experiments/011-metastable/scenario.json5", "--set", "duration=40m", "--set", "interval=20s"]
STARTS = ["8m", "10m", "12m"]
DEPTHS = [20, 30, 40, 50, 60]
SHORTEST, LONGEST, RATIO = 10, 480, 1.08
SEEDS = 5
SEARCHES = [1, 1001, 2001, 3001, 4001]
UNSEEN = "9001"


def run(*arguments):
    done = subprocess.run([FLEETSIM, *arguments], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(arguments)}: {done.stderr}")
    return done.stdout


def back_in(start, depth, lengths, seed, seeds):
    """By length: how long each seed took to be back; none: never."""
    with tempfile.TemporaryDirectory() as folder:
        run("compare", *SCENARIO, "--set", f"tapi.incidents.0.at={start}", "--set", f"tapi.incidents.0.factor={100 - depth:g}%",
            "--vary", "tapi.incidents.0.for=" + ",".join(f"{length}ms" for length in lengths),
            "--seed", str(seed), "--seeds", str(seeds), "--out", folder + "/out", "--quiet")
        with open(folder + "/out/replications.csv") as file:
            rows = list(csv.DictReader(file))
    found = {}
    for row in rows:
        length = seconds(row["tapi.incidents.0.for"])
        found.setdefault(length, []).append(float(row["recovery_s"]) if row["recovery_s"] else math.inf)
    return found


def seconds(text):
    units = {"ms": 0.001, "m": 60, "s": 1}
    return next(float(text[:-len(unit)]) * size for unit, size in units.items() if text.endswith(unit))


def unseen(start, depth, length, horizon):
    times = back_in(f"{start:g}s", depth, [round(length * 1000), round(length * 1000) + 1], UNSEEN, 20)
    return sum(time > horizon for time in times[min(times)])


def main():
    steps = math.ceil(math.log(LONGEST / SHORTEST) / math.log(RATIO))
    lengths = [round(1000 * SHORTEST * (LONGEST / SHORTEST) ** (step / steps)) for step in range(steps + 1)]
    runs = len(STARTS) * len(DEPTHS) * len(lengths) * SEEDS
    bounds = ["--kind", "brownout", "--retry-after", "none", "--start", f"{STARTS[0]}..{STARTS[-1]}",
              "--depth", f"{DEPTHS[0]}%..{DEPTHS[-1]}%", "--length", f"{SHORTEST}s..{LONGEST}s"]
    answers = [json.loads(run("adversary", *SCENARIO, *bounds, "--seeds", str(SEEDS), "--runs", str(runs // 5),
                              "--seed", str(seed), "--json")) for seed in SEARCHES]
    horizon = seconds(answers[0]["limit"].split("<=")[1])

    grid = {}
    for start in STARTS:
        for depth in DEPTHS:
            for length, times in back_in(start, depth, lengths, 1, SEEDS).items():
                grid[start, depth, length] = sum(time > horizon for time in times)
    broken = [(length, -depth, start) for (start, depth, length), count in grid.items() if 2 * count > SEEDS]
    shortest, depth, start = min(broken)

    print(f"not back within {horizon:g} s of the end, in most of {SEEDS} seeds; of 20 unseen seeds: not back\n")
    print(f"{'':22} {'runs':>6} {'start':>7} {'depth':>7} {'length':>9} {'brute force':>12} {'unseen':>7}")

    def line(name, count, start, depth, length):
        print(f"{name:22} {count:6} {start:6g}s {depth:6g}% {length:8.2f}s {length / shortest - 1:+12.1%} "
              f"{unseen(start, depth, length, horizon):4} /20", flush=True)

    line(f"brute force, {len(grid)} points", runs, seconds(start), -depth, shortest)
    misses = 0
    for seed, answer in zip(SEARCHES, answers):
        found = next(one for one in answer["incidents"] if one["role"] == "boundary")
        line(f"adversary, seed {seed}", answer["runsMade"], found["at_s"], round(100 * found["depth_ratio"], 4), found["for_s"])
        misses += abs(found["for_s"] / shortest - 1) > 0.1 or answer["runsMade"] > runs / 5
    print("\nby brute force, shortest that most seeds are not back from, s:\n\n" + f"{'depth':>8}" + "".join(f"{one:>9}" for one in STARTS))
    for depth in DEPTHS:
        cells = [min((b[0] for b in broken if b[1:] == (-depth, start)), default=None) for start in STARTS]
        print(f"{depth:7}%" + "".join(f"{'none':>9}" if cell is None else f"{cell:9.2f}" for cell in cells))
    return misses


if __name__ == "__main__":
    sys.exit(min(1, main()))
