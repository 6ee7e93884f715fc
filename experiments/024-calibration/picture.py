#!/usr/bin/env python3
"""Fitted against planted: experiments/024-calibration/picture.py draws results/024-calibration/fitted.svg from incidents.md."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import drawing

RESULT = "results/024-calibration"
KEYS = [("capacity of the server", 1), ("share of the old SDK", 4), ("phase of the kiosks' flush", 7)]

incidents = []
for line in (drawing.ROOT / RESULT / "incidents.md").read_text().splitlines():
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    if cells[0].isdigit():
        incidents.append(cells)
panels, held = [], 0
for name, first in KEYS:
    found = []
    for cells in incidents:
        planted, fitted = float(cells[first]), float(cells[first + 1])
        low, high = drawing.numbers(cells[first + 2])[:2]
        whole = 60 if "phase" in name else planted  # of its period for a phase
        held += low <= planted <= high
        found.append([(value - planted) / whole for value in (fitted, low, high)])
    panels.append((name, found))
worst = max(abs(row[0]) for _, found in panels for row in found)
sheet = drawing.Sheet(
    f"All {len(panels) * len(incidents)} planted values are found within {100 * worst:.1f} %; {held} intervals hold them",
    ["Fitted against planted, an incident a row, with its 95 % interval. Blue: the interval holds what was planted (0 %)."])
top, limit = sheet.y + 50, 0.15
for number, (name, found) in enumerate(panels):
    left = 24 + 268 * number
    plot = drawing.Plot(sheet, left, top, left + 246, top + 14 * len(found) + 8, (-limit, limit), (0, 1))
    sheet.text(left, top - 12, name, "strong")
    for percent in (-10, 0, 10):
        sheet.line(plot.x(percent / 100), top, plot.x(percent / 100), plot.bottom, "axis" if percent == 0 else "grid")
        sheet.text(plot.x(percent / 100), plot.bottom + 20, f"{percent:+d} %" if percent else "0", "small muted", "middle")
    for place, (fitted, low, high) in enumerate(found):
        y = top + 11 + 14 * place
        kind = "accent" if low <= 0 <= high else "other"
        sheet.line(plot.x(max(low, -limit)), y, plot.x(min(high, limit)), y, kind, ' stroke-width="2"')
        sheet.dot(plot.x(fitted), y, f"{kind}-fill", 4)
sheet.save(f"{RESULT}/fitted.svg", top + 14 * len(incidents) + 44)
