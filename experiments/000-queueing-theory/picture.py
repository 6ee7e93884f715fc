#!/usr/bin/env python3
"""Simulated against theory: experiments/000-queueing-theory/picture.py draws results/000-queueing-theory/intervals.svg from the README's table."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import drawing

RESULT = "results/000-queueing-theory"
systems = []
for line in (drawing.ROOT / "experiments/000-queueing-theory/README.md").read_text().splitlines():
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    if cells[0].startswith("M/"):
        (theory,), (mean, half) = drawing.numbers(cells[3]), drawing.numbers(cells[4])
        systems.append((f"{cells[0]}, {cells[1]}", (mean - half) / theory - 1, (mean + half) / theory - 1))
held = sum(low <= 0 <= high for _, low, high in systems)
sheet = drawing.Sheet(
    f"The intervals of {'all' if held == len(systems) else held} {len(systems)} systems contain what queueing theory says",
    ["Simulated against theory, with the 95 % interval; behind the name the utilisation"])
plot = drawing.Plot(sheet, 210, sheet.y + 24, 800, sheet.y + 24 + 30 * len(systems), (-0.0125, 0.0125), (0, 1))
for percent in (-1, -0.5, 0, 0.5, 1):
    x = plot.x(percent / 100)
    sheet.line(x, plot.top, x, plot.bottom, "axis" if percent == 0 else "grid")
    sheet.text(x, plot.bottom + 20, f"{percent:+g} %" if percent else "theory", "small muted", "middle")
for number, (name, low, high) in enumerate(systems):
    y = plot.top + 15 + 30 * number
    kind = "accent" if low <= 0 <= high else "other"
    sheet.text(16, y + 5, name)
    sheet.line(plot.x(low), y, plot.x(high), y, kind, ' stroke-width="3"')
    sheet.dot(plot.x((low + high) / 2), y, f"{kind}-fill", 5)
sheet.save(f"{RESULT}/intervals.svg", plot.bottom + 34)
