#!/usr/bin/env python3
"""The load of the three courses: experiments/023-retry-every-second/picture.py draws results/023-retry-every-second/requests.svg."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import drawing

RESULT = "results/023-retry-every-second"
START = 14  # o'clock, at second 0
COURSES = {"old": "the client of that day", "operators": "and the operators' actions", "fixed": "the fixed client, alone"}

def course(name):
    return [(START + float(row["time_s"]) / 3600, int(row["requests"]) / 300) for row in drawing.rows(f"{RESULT}/{name}/sums.csv")
            if row["seed"] == "1"]


lines = {name: course(name) for name in COURSES}
mean = sum(value for _, value in lines["old"][-12:]) / 12
calm = sum(value for _, value in lines["fixed"][-12:]) / 12
sheet = drawing.Sheet(
    f"A spike of five minutes leaves {mean / calm:.0f} times the load for good; with the fixed client it is over in half an hour",
    ["Requests a second that reach the API from 16:00 on, one seed, means of five minutes"])
plot = drawing.Plot(sheet, 66, sheet.y + 48, 800, sheet.y + 360, (16, 23), (0, 180))
sheet.rect(plot.x(16), plot.top, plot.x(16 + 5 / 60) - plot.x(16), plot.bottom - plot.top, "incident-fill")
plot.axes([(hour, f"{hour}:00") for hour in range(16, 24)], [(v, str(v)) for v in range(0, 161, 40)], "time of day →", "↑ requests a second")
sheet.text(plot.x(16) + 10, plot.top + 10, "spike, 16:00 to 16:05", "small incident-text halo")
for name, kind, stroke, dash in [("old", "other", 2, ""), ("operators", "other", 2, "6 4"), ("fixed", "accent", 3, "")]:
    sheet.path([(plot.x(hour), plot.y(value)) for hour, value in lines[name]], kind, stroke, dash)
sheet.text(plot.x(18.4), plot.y(lines["old"][-12][1]) - 14, f"{COURSES['old']}: {mean:.0f} a second, never back", "halo")
sheet.text(plot.x(18.15), plot.y(60), "Retry-After from 18:00, let in again by 20:45:", "halo")
sheet.text(plot.x(18.15), plot.y(60) + 20, "back at 20:45 to 20:50", "halo")
sheet.text(plot.x(16.75), plot.y(26), f"{COURSES['fixed']}: back at 16:35 to 16:40", "strong halo")
sheet.save(f"{RESULT}/requests.svg", plot.bottom + 58)
