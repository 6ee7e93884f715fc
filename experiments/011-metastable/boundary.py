#!/usr/bin/env python3
"""How far a denser map moves the boundary: experiments/011-metastable/boundary.py COARSE/stability.csv DENSE/stability.csv

For every y that both maps looked at next to the boundary: where along x the last point recovers and the first one does not. Prints
both, and how far their middles are apart, in cells of the first map.
"""
import csv
import re
import sys

UNITS = {"": 1, "ms": 0.001, "s": 1, "m": 60, "h": 3600, "%": 0.01}


def number(text):
    """A number with a unit, or several as in 2m30s."""
    parts = re.findall(r"([0-9.]+)([a-z%]*)", text)
    return sum(float(value) * UNITS[unit] for value, unit in parts)


def boundaries(path):
    """By y: the largest x that recovers below the smallest that never does, and that one."""
    rows = {}
    with open(path) as file:
        for row in csv.DictReader(file):
            rows.setdefault(number(row["y"]), []).append((number(row["x"]), row["outcome"] == "recovers"))
    found = {}
    for y, points in rows.items():
        points.sort()
        ill = next((x for x, recovers in points if not recovers), None)
        well = max((x for x, recovers in points if recovers and (ill is None or x < ill)), default=None)
        if ill is not None and well is not None:
            found[y] = (well, ill)
    return found


first, second = boundaries(sys.argv[1]), boundaries(sys.argv[2])
cell = min(ill - well for well, ill in first.values())
fine = min(ill - well for well, ill in second.values())
moved = []
print(f"one cell along x: {cell:g} in the first map, {fine:g} in the second")
print(f"{'y':>8} {'first map':>20} {'second map':>20} {'moved, cells':>14}")
for y in sorted(first):
    # Where a map is coarse, away from the cliff of that row, its boundary is not known to one cell.
    near = [other for other in second if abs(other - y) < 1e-6 * max(1, abs(y))]
    if not near or first[y][1] - first[y][0] > 1.5 * cell or second[near[0]][1] - second[near[0]][0] > 1.5 * cell:
        continue
    a, b = first[y], second[near[0]]
    moved.append(abs(sum(b) - sum(a)) / 2 / cell)
    print(f"{y:8g} {a[0]:9.4g} to {a[1]:7.4g} {b[0]:9.4g} to {b[1]:7.4g} {moved[-1]:14.2f}")
print(f"{len(moved)} rows, largest move {max(moved):.2f} cells")
