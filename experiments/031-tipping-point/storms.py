#!/usr/bin/env python3
"""How many of the seeds stay in a storm, by length of the slowdown: storms.py [SEEDS]   (default: 64)

Writes results/031-tipping-point/storms.csv. A storm is a run in whose seconds 30 to 40 fewer than half of the calls hear an answer. FLEETSIM
is the program (default: .build/release/fleetsim, which it does not build). Needs Python 3.
"""

import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HERE = "experiments/031-tipping-point"
LENGTHS = [500, 600, 650, 700, 750, 800, 825, 850, 900, 1000, 2000]
program = os.environ.get("FLEETSIM", ".build/release/fleetsim")
seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 64

rows = []
for length in LENGTHS:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "compare", f"{HERE}/scenario.json5", "--set", f"tapi.incidents.0.for={length}ms", "--vary",
                        "seed=" + ",".join(map(str, range(1, seeds + 1))), "--quiet", "--out", f"{folder}/out"],
                       cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        storms = 0
        for run in json.loads((pathlib.Path(folder) / "out/run.json").read_text())["runs"]:
            with open(pathlib.Path(folder) / "out" / run["folder"] / "timeseries.csv") as file:
                late = [row for row in csv.DictReader(file) if 30 <= float(row["time_s"]) < 40]
            calls = sum(int(row["created_events"]) for row in late)
            storms += sum(int(row["answers_2xx"]) - int(row["unheard_answers"]) for row in late) < calls / 2
    rows.append({"for_ms": length, "seeds": seeds, "storm": storms})
path = ROOT / "results/031-tipping-point/storms.csv"
path.parent.mkdir(parents=True, exist_ok=True)
with open(path, "w", newline="") as file:
    writer = csv.DictWriter(file, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
