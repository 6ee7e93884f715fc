#!/usr/bin/env python3
"""Load by client and share of failures: experiments/018-token-buckets/picture.py draws results/018-token-buckets/load.svg."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import drawing

RESULT = "results/018-token-buckets"
SHARES = ["1%", "20%", "30%", "50%"]
KINDS = {"perRun 0": "no retries", "null": "three retries", "capacity 5": "bucket, per success",
         "capacity 5, perRequest 10%": "bucket, per call"}

def load(table, share, budget=None):
    """Requests that reach the server for each call, the mean of the seeds."""
    found = [int(row["attempts"]) / int(row["created_events"]) for row in table
             if f"share={share} " in row["run"] and (budget is None or f"retryBudget={budget} " in row["run"])]
    return sum(found) / len(found)


shares, breaker = (drawing.rows(f"{RESULT}/{name}/summary.csv") for name in ("shares", "breaker"))
lines = {name: [load(shares, share, budget) for share in SHARES] for budget, name in KINDS.items()}
lines["breaker of retries"] = [load(breaker, share) for share in SHARES]
most = max(lines["bucket, per success"] + lines["bucket, per call"])
title = (f"Where half of the requests fail, three retries make the load {lines['three retries'][-1]:.2f} times as large; "
         f"with a token bucket it stays at {most:.1f}")
sheet = drawing.Sheet(title, ["100 clients, 1,000 calls a second; a share of what reaches the server fails by chance. Mean of five seeds."])
plot = drawing.Plot(sheet, 66, sheet.y + 50, 575, sheet.y + 340, (0, 50), (0.95, 1.95))
plot.axes([(s, f"{s} %") for s in (1, 10, 20, 30, 40, 50)], [(v / 10, f"{v / 10:.1f}") for v in range(10, 20, 2)],
          "requests that fail →", "↑ requests that reach the server for each call")
places = {"three retries": 0, "bucket, per call": -12, "bucket, per success": 4, "breaker of retries": 20, "no retries": 36}
for name, values in lines.items():
    points = [(plot.x(float(share[:-1])), plot.y(value)) for share, value in zip(SHARES, values)]
    is_bucket = name.startswith("bucket")
    sheet.path(points, "accent" if is_bucket else "other", 3 if is_bucket else 2, "6 3" if name == "bucket, per call" else "")
    y = plot.y(values[-1]) if name == "three retries" else plot.y(1.05) + places[name] - 6
    sheet.text(plot.right + 8, y + 5, f"{name}: {values[-1]:.2f}", "strong halo" if is_bucket else "halo")
sheet.save(f"{RESULT}/load.svg", plot.bottom + 58)
