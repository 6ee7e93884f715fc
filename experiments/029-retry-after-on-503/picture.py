#!/usr/bin/env python3
"""Sends and peak by switch: experiments/029-retry-after-on-503/picture.py draws results/029-retry-after-on-503/switch.svg."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import drawing

RESULT = "results/029-retry-after-on-503"
NAMES = {"ignored": "ignores it", "delaysBatch": "batch, the longer of both", "replacesBackoff": "batch, not its backoff",
         "pausesPipeline": "pauses everything"}
rows = [row for row in drawing.rows(f"{RESULT}/switch/summary.csv")]
sheet = drawing.Sheet(
    "A client that pauses for the Retry-After of a 503 halves the sends; with the same 60 s for all it never recovers",
    ["20,000 phones after ten minutes of 503 with Retry-After. Sends a phone (152 without an outage); time to recovery."])
top = sheet.y + 40
sheet.text(246, top - 8, "60 s for all", "strong")
sheet.text(546, top - 8, "30 to 90 s, drawn", "strong")
for number, (switch, name) in enumerate(NAMES.items()):
    y = top + 34 * number
    best = switch == "pausesPipeline"
    sheet.text(16, y + 21, name, "strong" if best else "")
    for x, spread in [(246, False), (546, True)]:
        row = next(r for r in rows if r["fleet.phones.policy.retryAfterOnOtherCodes"] == switch and (r["actions.0.retryAfter"] != "60s") == spread)
        sends = int(row["attempts"]) / int(row["devices"])
        sheet.line(x, y + 2, x, y + 30, "axis")
        sheet.rect(x, y + 5, 130 * sends / 360, 21, "accent-fill" if best else "other-fill")
        back = drawing.span(float(row["recovery_s"])) if row["recovery_s"] else "never"
        sheet.text(x + 130 * sends / 360 + 8, y + 21, f"{sends:.0f}; {back}", "small halo")
sheet.save(f"{RESULT}/switch.svg", top + 34 * len(NAMES) + 12)
