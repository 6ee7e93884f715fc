#!/usr/bin/env python3
"""Do the recommended Settings of 020 stand an adversary? experiments/025-adversary/settings.py

Two of 020's worlds (overload answered with 503, and with 429 and Retry-After), at a quarter of their size and an hour long; and the first
with incidents of at most a minute. In each `adversary` looks for the incident that hurts the recommended Settings most, and for the one
that hurts the document's defaults most. Both Settings then meet both incidents under ten seeds of their own. Prints what is kept as
results/025-adversary/settings.txt. Some ten minutes on two cores.
"""
import csv
import json
import os
import subprocess
import sys
import tempfile

FLEETSIM = os.environ.get("FLEETSIM", ".build/release/fleetsim")
FOLDER = "experiments/020-recommended-defaults/"
WORLDS = {
    "overload answered 503": [FOLDER + "long-outage.json5"],
    "overload answered 429": [FOLDER + "rate-limit.json5"],
    "overload answered 503, at most a minute": [FOLDER + "long-outage.json5", "--length", "10s..1m"],
}
SETTINGS = {
    "recommended": "results/020-recommended-defaults/tuned/settings.json",
    "defaults": "experiments/020-recommended-defaults/settings-cdn.json",
}
COLUMNS = ["recovery_s", "undelivered_events", "affected_delivery_p99_s", "attempts_above_twin_per_device"]
SEEDS = range(9001, 9011)


def run(*arguments):
    done = subprocess.run([FLEETSIM, *arguments], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(arguments)}: {done.stderr}")
    return done.stdout


def summaries(scenario, settings):
    for seed in SEEDS:
        with tempfile.TemporaryDirectory() as folder:
            run("run", scenario, "--settings", settings, "--seed", str(seed), "--out", folder + "/out", "--quiet")
            with open(folder + "/out/summary.csv") as file:
                yield next(csv.DictReader(file))


def mean(rows, column):
    """Over the runs that have a value."""
    values = [float(row[column]) for row in rows if row[column]]
    return f"{sum(values) / len(values):10.1f}" if values else f"{'none':>10}"


def main():
    for name, world in WORLDS.items():
        for victim, settings in SETTINGS.items():
            with tempfile.TemporaryDirectory() as folder:
                found = json.loads(run("adversary", *world, "--set", "duration=60m", "--scale", "1:4", "--settings", settings,
                                       "--runs", "200", "--json", "--out", folder + "/out"))
                print(f"{name}, the incident that hurts the {victim} most ({found['runsMade']} runs):\n{found['verdict']}\n")
                print(f"{'':24}{'back in time':>14}{'back after':>12}{'undelivered':>13}{'affected p99':>14}{'extra attempts':>16}")
                for role in ["worst", "boundary"]:
                    if not os.path.exists(f"{folder}/out/{role}.json5"):
                        continue
                    for other, path in SETTINGS.items():
                        rows = list(summaries(f"{folder}/out/{role}.json5", path))
                        back = sum(bool(row["recovery_s"]) for row in rows)
                        cells = [mean(rows, column) for column in COLUMNS]
                        print(f"{role + ', ' + other:24}{back:11} /10{cells[0]:>11}s{cells[1]:>13}{cells[2]:>13}s{cells[3]:>16}", flush=True)
                print()


if __name__ == "__main__":
    main()
