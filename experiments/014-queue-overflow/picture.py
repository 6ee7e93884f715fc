#!/usr/bin/env python3
"""Loss by cohort: experiments/014-queue-overflow/picture.py draws results/014-queue-overflow/cohorts.svg from the cohorts' tables."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import drawing

RESULT = "results/014-queue-overflow"
LENGTHS = ["1h", "3h", "6h", "12h"]
RATES = {"light": "1 event a minute", "normal": "6 a minute", "heavy": "20 a minute"}

loss = {}
for length in LENGTHS:
    cohorts = drawing.rows(f"{RESULT}/length/{length}/cohorts.csv")
    for row in cohorts:
        loss[length, row["cohort"]] = int(row["lost_events"]) / int(row["created_events"])
    loss[length, "all"] = sum(int(row["lost_events"]) for row in cohorts) / sum(int(row["created_events"]) for row in cohorts)

title = (f"A long outage is paid by the busiest: after 6 h heavy users have lost {drawing.share(loss['6h', 'heavy'])} of their events, "
         f"light ones {'nothing' if loss['6h', 'light'] == 0 else drawing.share(loss['6h', 'light'])}")
sheet = drawing.Sheet(title, ["Share of the events of 16 hours that is lost, by kind of phone and length of the outage"])
left, column, top = 170, 162, sheet.y + 40
for number, length in enumerate(LENGTHS):
    x = left + column * number
    sheet.text(x, top - 8, f"{length[:-1]} h", "strong")
    for place, cohort in enumerate(["light", "normal", "heavy", "all"]):
        y, value = top + 50 * place, loss[length, cohort]
        if number == 0:
            sheet.text(16, y + 18, "the fleet" if cohort == "all" else cohort, "strong")
            sheet.text(16, y + 36, "its average" if cohort == "all" else RATES[cohort], "small muted")
        sheet.line(x, y + 2, x, y + 36, "axis")
        wide = (column - 70) * value
        sheet.rect(x, y + 6, wide, 24, "accent-fill" if cohort == "heavy" else "other-fill")
        sheet.text(x + wide + 6, y + 24, drawing.share(value, 1), "strong" if cohort == "heavy" else "")
sheet.save(f"{RESULT}/cohorts.svg", top + 4 * 50 + 12)
