#!/usr/bin/env python3
"""Does tune find the best of a grid? experiments/search/grid.py [SCENARIOS [SEEDS]]

Twenty small fleets drawn at random, each with an outage and a grid of 11 x 11 values of two keys of the Settings. `tune` searches each
grid with its default budget. `compare` runs all 121 points on other seeds, twice as many as given, and this program computes their
scores from replications.csv by the formula that tune documents. The best point is chosen on half of those seeds among the points that
deliver no less than today's Settings and recover as often; its score and that of tune's choice are from the other half.
Writes results/search/grid.md. About half an hour on one core.
"""
import csv
import json
import math
import os
import random
import subprocess
import sys
import tempfile

FLEETSIM = os.environ.get("FLEETSIM", ".build/release/fleetsim")
SCENARIOS = int(sys.argv[1]) if len(sys.argv) > 1 else 20
SEEDS = int(sys.argv[2]) if len(sys.argv) > 2 else 10
KEYS = {
    "settings.backoffConfig.maxBackoffInterval": [10, 15, 23, 34, 51, 77, 116, 175, 264, 398, 600],
    "settings.backoffConfig.baseBackoffInterval": [0.25, 0.4, 0.6, 1, 1.5, 2.4, 3.7, 5.8, 9, 14, 22],
}
TODAY = [300, 0.5]


def scenario(chance, number):
    devices = chance.choice([200, 300, 400])
    rate = chance.choice([1, 2, 4])
    # A flush each 30 s, or each twenty events: uploads a second in the mean.
    load = devices * max(1 / 30, rate / 60 / 20)
    return {
        "format": 1, "seed": number + 1, "duration": "40m", "interval": "5s",
        "tapi": {
            "bucket": {"capacity": f"{load * chance.choice([1.2, 1.5, 2]):.2f}/s", "burst": max(5, round(load))},
            "overload": {"status": 503},
            "incidents": [{"kind": "outage", "at": "5m", "for": chance.choice(["3m", "6m", "9m"]), "status": chance.choice([503, "none"])}],
        },
        "network": {"latency": {"median": "80ms", "p99": "600ms", "minimum": "10ms"}},
        "fleet": [{
            "name": "phones", "devices": devices, "client": "tapi-document", "events": f"{rate}/min",
            "flush": {"count": 20, "interval": "30s"}, "retries": chance.choice(["timer", "gate"]), "timeout": "15s",
            "settings": {"backoffConfig": {
                "jitterStrategy": chance.choice(["full", "equal", "decorrelated", "additive:10"]),
                "maxBackoffInterval": TODAY[0], "baseBackoffInterval": TODAY[1], "maxRetryCount": 100,
            }},
        }],
    }


def run(*arguments):
    done = subprocess.run([FLEETSIM, *arguments], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(arguments)}: {done.stderr}")
    return done.stdout


def rows(path, file, overrides, seed, seeds):
    """replications.csv, by run in the order of the variants."""
    out = os.path.join(path, "out")
    run("compare", file, *overrides, "--seed", str(seed), "--seeds", str(seeds), "--quiet", "--out", out)
    found = {}
    with open(os.path.join(out, "replications.csv")) as file:
        for row in csv.DictReader(file):
            found.setdefault(row["run"], []).append(row)
    return list(found.values())


def number(row, name):
    return float(row[name]) if row[name] else None


def time(row, name):
    """A time; where the run was too short to tell, the longest that it could have told."""
    horizon = "recovery_horizon_s" if name == "recovery_s" else "affected_horizon_s"
    return number(row, name if row[name] else horizon)


def score(points, today):
    """Mean over the seeds of ln of the geometric mean of the objectives divided by today's."""
    total = 0
    for row, other in zip(points, today):
        ratios = []
        created, days = number(other, "created_events"), number(other, "duration_s") / 86_400
        above = number(other, "attempts_above_twin_per_device")
        floors = {
            "undelivered_events": created / 1_000, "recovery_s": 10, "affected_delivery_p99_s": 10,
            "attempts_above_twin_per_device": max(0.5, (number(other, "attempts_mean_per_device_day") * days - above) / 10),
        }
        for name, floor in floors.items():
            read = time if floor == 10 else number
            a, b = read(row, name), read(other, name)
            if a is None and b is None:
                continue
            ratios.append(1 if a is None else -1 if b is None else math.log((max(a, 0) + floor) / (max(b, 0) + floor)))
        total += sum(ratios) / len(ratios)
    return total / len(points)


def eligible(points, today):
    """Delivers no less than today's Settings, as far as these seeds tell, and recovers as often."""
    recovered = lambda rows: sum(bool(row["recovery_s"]) for row in rows)
    if recovered(points) < recovered(today):
        return False
    differences = [number(a, "undelivered_events") - number(b, "undelivered_events") for a, b in zip(points, today)]
    mean = sum(differences) / len(differences)
    if mean <= 1e-5 * number(today[0], "created_events"):
        return True
    variance = sum((d - mean) ** 2 for d in differences) / (len(differences) - 1)
    # Student's t at 0.3, two-sided, 9 degrees of freedom.
    return variance > 0 and mean / math.sqrt(variance / len(differences)) < 1.1


def main():
    chance = random.Random(121)
    lines, within = [], 0
    for index in range(SCENARIOS):
        with tempfile.TemporaryDirectory() as path:
            file = os.path.join(path, "fleet.json5")
            with open(file, "w") as output:
                json.dump(scenario(chance, index), output)
            grid = [f"{key}={','.join(map(str, values))}" for key, values in KEYS.items()]
            out = os.path.join(path, "tuned")
            run("tune", file, *[word for axis in grid for word in ("--search", axis)], "--out", out, "--quiet")
            chosen = TODAY
            if os.path.exists(os.path.join(out, "settings-document.json")):
                with open(os.path.join(out, "settings-document.json")) as settings:
                    backoff = json.load(settings)["httpConfig"]["backoffConfig"]
                chosen = [backoff["maxBackoffInterval"], backoff["baseBackoffInterval"]]
            points = rows(path, file, [word for axis in grid for word in ("--vary", axis)], 1_000, 2 * SEEDS)
            fixed = lambda values: [word for key, value in zip(KEYS, values) for word in ("--vary", f"{key}={value}")]
            today = rows(path, file, fixed(TODAY), 1_000, 2 * SEEDS)[0]
            mine = rows(path, file, fixed(chosen), 1_000, 2 * SEEDS)[0]
        assert len(points) == 121 and all(len(runs) == 2 * SEEDS for runs in points)
        half = slice(0, SEEDS), slice(SEEDS, 2 * SEEDS)
        allowed = [runs for runs in points if eligible(runs[half[0]], today[half[0]])] + [today]
        best = min(allowed, key=lambda runs: score(runs[half[0]], today[half[0]]))
        a, b = (math.exp(score(runs[half[1]], today[half[1]])) for runs in (mine, best))
        within += a <= b * 1.01
        values = "as today" if chosen == TODAY else f"{chosen[0]:g} s, {chosen[1]:g} s"
        lines.append(f"| {index + 1} | {values} | {a:.3f} | {b:.3f} | {100 * (a / b - 1):+.1f} % |")
        print(lines[-1], flush=True)
    os.makedirs("results/search", exist_ok=True)
    with open("results/search/grid.md", "w") as output:
        output.write("| fleet | tune's cap and base | its score | the grid's best | worse by |\n|---:|---|---:|---:|---:|\n")
        output.write("\n".join(lines) + f"\n\nWithin 1 %: {within} of {SCENARIOS}.\n")
    print(f"within 1 %: {within} of {SCENARIOS}")


main()
