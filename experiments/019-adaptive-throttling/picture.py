#!/usr/bin/env python3
"""Requests for each accepted one: experiments/019-adaptive-throttling/picture.py draws results/019-adaptive-throttling/factor.svg."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import drawing

RESULT = "results/019-adaptive-throttling"
FACTORS = {"50%": 1.6, "20%": 4, "4%": 20}  # wanted requests, in capacities
K = "fleet.clients.gates.adaptiveThrottling.k"

table = drawing.rows(f"{RESULT}/factor/sums.csv")
values = {}
for k in ("2", "1.5", "1.1"):
    for factor in FACTORS:
        found = [int(row["requests"]) / int(row["answers_2xx"]) for row in table
                 if row[K] == k and row["tapi.incidents.0.factor"] == factor]
        values[k, factor] = sum(found) / len(found)
worst = max(abs(value / float(k) - 1) for (k, factor), value in values.items() if FACTORS[factor] >= 4)
sheet = drawing.Sheet(
    f"From four times the capacity on, K requests reach the server for each accepted one: within {100 * worst:.1f} %",
    ["Blue: twenty clients that throttle themselves, mean of five seeds. Dashed: K, as published."])
plot = drawing.Plot(sheet, 66, sheet.y + 50, 690, sheet.y + 320, (0, 2), (0.9, 2.1))
plot.axes([(place, f"{wanted:g} times") for place, wanted in enumerate(FACTORS.values())],
          [(v / 10, f"{v / 10:.1f}") for v in range(10, 21, 2)], "wanted, in capacities →",
          "↑ requests that reach the server for each accepted one")
for k in ("2", "1.5", "1.1"):
    y = plot.y(float(k))
    sheet.line(plot.left, y, plot.right, y, "other", ' stroke-width="2" stroke-dasharray="6 4"')
    points = [(plot.x(place), plot.y(values[k, factor])) for place, factor in enumerate(FACTORS)]
    sheet.path(points, "accent", 3)
    for point, factor in zip(points, FACTORS):
        sheet.dot(*point, "accent-fill")
        is_high = k == "2" or factor == "50%"
        sheet.text(point[0] + 4, point[1] + (20 if is_high else 20), f"{values[k, factor]:.2f}", "small halo")
    sheet.text(plot.right + 10, y + 5, f"K = {k}", "strong")
sheet.save(f"{RESULT}/factor.svg", plot.bottom + 58)
