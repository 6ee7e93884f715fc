#!/usr/bin/env python3
"""How long the runs stay ill: experiments/034-escape-times/picture.py writes results/034-escape-times/escape.csv and escape.svg.

Of each replications.csv there it keeps the columns that this takes.
"""

import csv
import math
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parent.parent)]
import chain
import drawing

RESULT = "results/034-escape-times"
KEPT = ["seed", "recovery_s", "recovery_horizon_s", "possible_s"]
RUNS = ["seeds", "short", "even"]


def write(path, rows):
    with open(path, "w", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


tables = []
for run in RUNS:
    path = f"{RESULT}/{run}/replications.csv"
    write(drawing.ROOT / path, [{name: row[name] for name in KEPT} for row in drawing.rows(path)])
    tables.append({"run": run, **chain.escapes(drawing.ROOT / path)})
write(drawing.ROOT / RESULT / "escape.csv", tables)

seeds = sorted(chain.watches(drawing.ROOT / RESULT / "seeds/replications.csv"))
mean = float(tables[0]["escape_mean_s"]) / 60
sheet = drawing.Sheet(
    f"Ill runs come back by one constant chance, after {mean:.0f} min in the mean",
    [f"The share of {len(seeds)} runs that have not recovered. Dashed: by that chance, from where they are ill."])
end = max(length for length, _, _ in seeds) / 60
plot = drawing.Plot(sheet, 66, sheet.y + 48, 800, sheet.y + 320, (0, end), (0, 1))
plot.axes([(m, str(m)) for m in range(0, int(end) + 1, 60)], [(v / 4, f"{25 * v} %") for v in range(0, 5)],
          "minutes from the incident's end →", "↑ not recovered")
points, left, share = [(plot.x(0), plot.y(1))], len(seeds), 1
for length, came_back, _ in seeds:
    # Kaplan and Meier: who is still ill at the end was watched until then.
    after = share * (1 - 1 / left) if came_back else share
    points += [(plot.x(length / 60), plot.y(share)), (plot.x(length / 60), plot.y(after))]
    left, share = left - 1, after
ill = tables[0]["ill_seeds"]
onset = sum(first for length, _, first in seeds if length > first) / ill / 60
law = [onset + (end - onset) * place / 120 for place in range(121)]
sheet.path(points, "accent", 2.4)
sheet.path([(plot.x(m), plot.y(ill / len(seeds) * math.exp((onset - m) / mean))) for m in law], "other", 1.8, "6 4")
sheet.save(f"{RESULT}/escape.svg", plot.bottom + 58)
