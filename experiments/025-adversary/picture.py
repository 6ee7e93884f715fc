#!/usr/bin/env python3
"""The boundary, found and by brute force: experiments/025-adversary/picture.py draws results/025-adversary/boundary.svg from boundary.txt."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import drawing

import re

RESULT = "results/025-adversary"
found = []
for line in (drawing.ROOT / RESULT / "boundary.txt").read_text().splitlines():
    match = re.match(r"(brute force, \d+ points|adversary, seed \d+) +(\d+) +\d+s +\d+% +([\d.]+)s +([-+][\d.]+)%", line)
    if match:
        found.append((match[1], int(match[2]), float(match[3]), float(match[4])))
force, searches = found[0], found[1:]
worst = max(abs(search[3]) for search in searches)
part = force[1] / max(search[1] for search in searches)
sheet = drawing.Sheet(
    f"With a {'ninth' if 8.5 < part < 9.5 else f'{1 / part:.0%}'} of the runs every search finds the shortest fatal brownout to within {worst:.1f} %",
    ["The shortest brownout to 40 % of the capacity from which the fleet of 011 does not come back"])
table = [(name, seconds, f"{seconds:.1f} s, {runs:,} runs" + (f", {change:+.1f} %" if change else ""), name.startswith("adversary"))
         for name, runs, seconds, change in found]
x = 220 + (drawing.WIDTH - 370) * force[2] / 36
sheet.line(x, sheet.y + 16, x, sheet.y + 16 + 28 * len(table), "axis", ' stroke-dasharray="5 4"')
bottom = drawing.bars(sheet, sheet.y + 16, table, 36, left=220, right=150)
sheet.save(f"{RESULT}/boundary.svg", bottom + 12)
