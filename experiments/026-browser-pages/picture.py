#!/usr/bin/env python3
"""Requests and losses by client: experiments/026-browser-pages/picture.py draws results/026-browser-pages/open.svg."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import drawing

RESULT = "results/026-browser-pages"
clients = drawing.rows(f"{RESULT}/open/summary.csv")
loss = {row["run"]: int(row["lost_events"]) / int(row["created_events"]) for row in clients}
requests = {row["run"]: int(row["attempts"]) for row in clients}
sheet = drawing.Sheet(
    f"Open pages lose {drawing.share(loss['segment-browser'])} or {drawing.share(loss['segment-browser-batching'])} of the events in ten minutes "
    "of 503; phones lose none",
    ["20,000 visitors, 45 minutes, page open all the time. Blue: the clients of a browser."])
top = sheet.y + 38
sheet.text(236, top - 8, "requests", "strong")
sheet.text(576, top - 8, "events lost", "strong")
for number, row in enumerate(clients):
    name, y = row["run"], top + 32 * number
    kind = "accent-fill" if "browser" in name else "other-fill"
    sheet.text(16, y + 20, name, "small strong" if "browser" in name else "small")
    for x, value, limit, words in [(236, requests[name], max(requests.values()), f"{requests[name] / 1e6:.1f} M"),
                                   (576, loss[name], max(loss.values()), drawing.share(loss[name], 1))]:
        sheet.line(x, y + 2, x, y + 30, "axis")
        sheet.rect(x, y + 5, 180 * value / limit, 21, kind)
        sheet.text(x + 180 * value / limit + 8, y + 21, words)
sheet.save(f"{RESULT}/open.svg", top + 32 * len(clients) + 12)
