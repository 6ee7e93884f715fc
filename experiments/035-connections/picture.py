#!/usr/bin/env python3
"""Goodput after a restart: experiments/035-connections/picture.py draws results/035-connections/restart.svg."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import drawing

RESULT = "results/035-connections"
START, END, LIMIT = 8, 20, 650


def goodput(name):
    """Batches a second over half a minute, which is a flush interval, by minutes."""
    table = drawing.rows(f"{RESULT}/{name}/timeseries.csv")
    values = [float(row["goodput_rps"]) for row in table]
    return [(float(table[i]["time_s"]) / 60 + 1 / 6, sum(values[i - 2:i + 1]) / 3)
            for i in range(2, len(table)) if START <= float(table[i]["time_s"]) / 60 + 1 / 6 <= END]


sheet = drawing.Sheet(
    "A queue of handshakes longer than the clients' time-out keeps the fleet down after a restart of ten seconds",
    ["10,000 phones, time-out 20 s, 100 handshakes a second. The endpoint restarts at 10 min."])
top = sheet.y + 44
plot = drawing.Plot(sheet, 70, top, 812, top + 280, (START, END), (0, LIMIT))
plot.axes([(minute, f"{minute}") for minute in range(START, END + 1, 2)], [(value, f"{value}") for value in range(0, LIMIT, 100)],
          "minutes", "batches accepted a second, mean of 30 s")
sheet.rect(plot.x(10), plot.top, plot.x(10 + 1 / 6) - plot.x(10), plot.bottom - plot.top, "incident-fill")
for name, kind, stroke, dash in [("without", "other", 2, "5 4"), ("short", "other", 2, ""), ("long", "accent", 3, "")]:
    plot.sheet.path([(plot.x(x), plot.y(y)) for x, y in goodput(name)], kind, stroke, dash)
for minute, value, words, kind in [(14.2, 125, "queue of 4,096: the last one waits for 41 s", "small strong halo"),
                                   (12.9, 420, "queue of 500: 5 s", "small halo"),
                                   (11.3, 580, "dashed: connections cost nothing", "small halo")]:
    sheet.text(plot.x(minute), plot.y(value), words, kind)
sheet.save(f"{RESULT}/restart.svg", plot.bottom + 56)
