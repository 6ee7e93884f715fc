#!/usr/bin/env python3
"""Spikes behind a hang: experiments/033-synchronous-retries/picture.py draws results/033-synchronous-retries/spikes.svg."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import drawing

RESULT = "results/033-synchronous-retries"


def course(result, run):
    return [(float(row["time_s"]) - 320, int(row["requests"]) / 1000) for row in drawing.rows(f"{RESULT}/{result}/sums.csv")
            if row["run"] == run]


old, new = course("constant", "1"), course("backoff", "full")
sheet = drawing.Sheet(
    "A hang of 20 s sends every phone's retry in one second; a constant wait repeats the spike each 5 s, full jitter does not",
    ["Requests a second of 60,000 phones, which ask for 667 a second, after a hang of 20 s ends in errors."])
plot = drawing.Plot(sheet, 66, sheet.y + 48, 800, sheet.y + 320, (-4, 36), (0, 14))
plot.axes([(s, str(s)) for s in range(0, 36, 5)], [(v, str(v)) for v in range(0, 13, 4)], "seconds after the hang →", "↑ thousand requests a second")
sheet.path([(plot.x(x), plot.y(y)) for x, y in old], "other", 2)
sheet.path([(plot.x(x), plot.y(y)) for x, y in new], "accent", 3)
sheet.text(plot.x(12), plot.y(9.4), "one retry at once, then each 5 s", "halo")
sheet.text(plot.x(22), plot.y(2.6) - 26, "full jitter, 1 to 60 s", "strong halo")
sheet.save(f"{RESULT}/spikes.svg", plot.bottom + 58)
