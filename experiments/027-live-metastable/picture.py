#!/usr/bin/env python3
"""Seeds that stay down by surge: experiments/027-live-metastable/picture.py draws results/027-live-metastable/threshold.svg."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import drawing

RESULT = "results/027-live-metastable"
simulated = [(float(row["surge_rps"]), int(row["down"]) / int(row["seeds"])) for row in drawing.rows(f"{RESULT}/threshold.csv")
             if row["surge_s"] == "10"]
live = {}
for row in drawing.rows(f"{RESULT}/live.csv"):
    live.setdefault(float(row["surge_rps"]), []).append(int(row["measured_down"]))
same = sum(row["predicted_down"] == row["measured_down"] for row in drawing.rows(f"{RESULT}/live.csv"))
sheet = drawing.Sheet(
    f"Ten seconds of 20 requests a second suffice to keep the service down; {same} of {same} live runs end as predicted",
    ["Share of the runs that stay down, by the rate of the surge. 8 requests a second before and after, 20 served."])
plot = drawing.Plot(sheet, 66, sheet.y + 48, 800, sheet.y + 300, (10, 42), (0, 1))
plot.axes([(v, str(v)) for v in range(12, 41, 4)], [(v / 4, f"{25 * v} %") for v in range(5)], "requests a second in the surge →", "↑ runs that stay down")
sheet.path([(plot.x(x), plot.y(y)) for x, y in simulated], "other", 2)
for rate, down in live.items():
    sheet.dot(plot.x(rate), plot.y(sum(down) / len(down)), "accent-fill", 6)
sheet.text(plot.x(25), plot.y(0.62), "dots: ten runs each against a real server", "strong halo")
sheet.text(plot.x(25), plot.y(0.62) + 22, "line: 40 seeds of the simulator", "halo")
sheet.save(f"{RESULT}/threshold.svg", plot.bottom + 58)
