#!/usr/bin/env python3
"""Calls by clients, ours and published: experiments/021-optimistic-contention/picture.py draws results/021-optimistic-contention/calls.svg."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import drawing

RESULT = "results/021-optimistic-contention"
NAMES = {"None": "no backoff", "Exponential": "exponential", "Decorr": "decorrelated", "EqualJitter": "equal", "FullJitter": "full"}

table = drawing.rows(f"{RESULT}/contest.csv")
lines = {name: [row for row in table if row["strategy"] == key] for key, name in NAMES.items()}
last = {name: float(found[-1]["calls"]) for name, found in lines.items()}
clients = max(int(row["clients"]) for row in table)
sheet = drawing.Sheet(
    f"As published: with {clients} clients full jitter makes {last['full']:,.0f} calls where backoff alone makes {last['exponential']:,.0f}",
    ["Lines: ours, mean of 100 repetitions. Dots: the article's figures, Brooker 2015."])
plot = drawing.Plot(sheet, 76, sheet.y + 50, 630, sheet.y + 400, (0, clients), (0, 8400))
plot.axes([(c, str(c)) for c in range(0, clients + 1, 40)], [(v, f"{v:,}") for v in range(0, 8001, 2000)], "clients →", "↑ calls to the row")
for name, found in lines.items():
    is_best = name in ("full", "equal")
    points = [(plot.x(int(row["clients"])), plot.y(float(row["calls"]))) for row in found]
    sheet.path(points, "accent" if is_best else "other", 3 if is_best else 2, "" if name in ("full", "exponential") else "6 3")
    for row in found:
        sheet.dot(plot.x(int(row["clients"])), plot.y(float(row["published_calls"])), "accent-fill" if is_best else "other-fill", 3)
    shift = {"full": 12, "equal": -6}.get(name, 0)
    sheet.text(plot.right + 10, plot.y(last[name]) + 5 + shift, f"{name}: {last[name]:,.0f}", "strong" if is_best else "")
sheet.save(f"{RESULT}/calls.svg", plot.bottom + 58)
