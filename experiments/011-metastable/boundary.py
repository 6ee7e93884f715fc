#!/usr/bin/env python3
"""How far a denser map moves the boundary: experiments/011-metastable/boundary.py COARSE/stability.csv DENSE/stability.csv

For every line of points, in both directions, that both maps looked at next to the boundary: where along it the last point recovers and
the first one does not. Prints both, and how far their middles are apart, in cells of the first map.
"""
import csv
import re
import sys

UNITS = {"": 1, "ms": 0.001, "s": 1, "m": 60, "h": 3600, "%": 0.01}


def number(text):
    """A number with a unit, or several as in 2m30s."""
    parts = re.findall(r"([0-9.]+)([a-z%]*)", text)
    return sum(float(value) * UNITS[unit] for value, unit in parts)


def boundaries(path, along, across):
    """By the place across: the largest value along a line that recovers below the smallest that does not, and that one."""
    lines = {}
    with open(path) as file:
        for row in csv.DictReader(file):
            lines.setdefault(number(row[across]), []).append((number(row[along]), row.get("class", row.get("outcome")) == "recovers"))
    found = {}
    for place, points in lines.items():
        points.sort()
        ill = next((value for value, recovers in points if not recovers), None)
        well = max((value for value, recovers in points if recovers and (ill is None or value < ill)), default=None)
        if ill is not None and well is not None:
            found[place] = (well, ill)
    return found


def compare(along, across):
    first, second = (boundaries(path, along, across) for path in sys.argv[1:3])
    if not first or not second:
        sys.exit(f"no line along {along} has the boundary on it in both maps")
    cell = min(ill - well for well, ill in first.values())
    fine = min(ill - well for well, ill in second.values())
    moved = []
    print(f"along {along}: one cell is {cell:g} in the first map, {fine:g} in the second")
    print(f"{across:>8} {'first map':>22} {'second map':>22} {'moved, cells':>14}")
    for place in sorted(set(first) & set(second)):
        a, b = first[place], second[place]
        # Away from the cliff of its line a map is coarse, and its boundary is not known to one cell.
        if a[1] - a[0] > 1.5 * cell or b[1] - b[0] > 1.5 * cell:
            continue
        moved.append(abs(sum(b) - sum(a)) / 2 / cell)
        print(f"{place:8g} {a[0]:10.4g} to {a[1]:8.4g} {b[0]:10.4g} to {b[1]:8.4g} {moved[-1]:14.2f}")
    print(f"{len(moved)} lines, largest move {max(moved, default=0):.2f} cells\n")


if len(sys.argv) != 3:
    sys.exit("usage: experiments/011-metastable/boundary.py COARSE/stability.csv DENSE/stability.csv")
compare("x", "y")
compare("y", "x")
