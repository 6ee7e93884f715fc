#!/usr/bin/env python3
"""Hosts that come back: experiments/028-fleet-hosts/picture.py draws results/028-fleet-hosts/waves.svg."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import drawing

RESULT = "results/028-fleet-hosts"
END = 2880  # the outage's end, in seconds


def course(name):
    return [((float(row["time_s"]) - END) / 60, int(row["requests"]) / 60) for row in drawing.rows(f"{RESULT}/waves/sums.csv")
            if row["run"] == name]


old, full = course("additive:10+clamp"), course("full")
sheet = drawing.Sheet(
    "Ten per cent of jitter below a cap of 5 min leaves one wave every 5 min; full jitter brings all hosts back in twelve",
    ["Requests a second of 10,000 hosts after 28 minutes of outage, means of a minute.",
     "Each poll that a host has held back costs the server half a request."])
plot = drawing.Plot(sheet, 66, sheet.y + 48, 800, sheet.y + 320, (0, 50), (0, 400))
plot.axes([(m, str(m)) for m in range(0, 51, 10)], [(v, str(v)) for v in range(0, 401, 100)], "minutes after the outage →", "↑ requests a second")
sheet.path([(plot.x(x), plot.y(y)) for x, y in old], "other", 2)
sheet.path([(plot.x(x), plot.y(y)) for x, y in full], "accent", 3)
sheet.text(plot.x(13), plot.y(333) - 12, "full jitter, cap 5 min", "strong halo")
sheet.text(plot.x(18), plot.y(90), "10 % of jitter before the cap: never all back", "halo")
sheet.save(f"{RESULT}/waves.svg", plot.bottom + 58)
