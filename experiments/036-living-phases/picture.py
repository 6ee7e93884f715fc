#!/usr/bin/env python3
"""How far uploads keep together: experiments/036-living-phases/picture.py draws results/036-living-phases/synchrony.svg."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import drawing

RESULT = "results/036-living-phases"


def course(variant):
    return [(float(row["time_s"]) / 60 + 1, float(row["synchrony_ratio"]))
            for row in drawing.rows(f"{RESULT}/phases/{variant}/timeseries.csv") if row["synchrony_ratio"]]


own, locked = course("afterFlush"), course("afterAnswer")
sheet = drawing.Sheet(
    "Where the flush interval begins at the answer, an outage locks the fleet in step, and it stays so",
    ["Order parameter of the phases of all uploads: 0 if they come evenly, 1 if all come together.",
     "Ten minutes of silence from minute 20. Retries by gate, full jitter."])
plot = drawing.Plot(sheet, 66, sheet.y + 48, 800, sheet.y + 320, (0, 120), (0, 1))
plot.axes([(m, str(m)) for m in range(0, 121, 20)], [(v / 4, f"{v / 4:g}") for v in range(0, 5)], "minutes →", "↑ order parameter")
sheet.path([(plot.x(x), plot.y(y)) for x, y in own], "other", 2)
sheet.path([(plot.x(x), plot.y(y)) for x, y in locked], "accent", 3)
sheet.text(plot.x(60), plot.y(0.86), "the interval begins at the answer", "strong halo")
sheet.text(plot.x(60), plot.y(0.2), "a timer of each phone's own", "halo")
sheet.save(f"{RESULT}/synchrony.svg", plot.bottom + 58)
