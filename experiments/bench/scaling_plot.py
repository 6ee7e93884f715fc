"""Puts what fleetsim-bench printed into a table and a picture.

scaling_plot.py CSV SVG [JSON...]

Each JSON has the runs of one row, whose median time counts. Without JSON it draws the table that is there.
"""

import csv
import json
import math
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import drawing  # noqa: E402

COLUMNS = ["workload", "devices", "attempts", "repeats", "ns_per_attempt", "run_memory_bytes",
           "estimated_memory_bytes", "bytes_per_device", "digest"]
# Of several workloads the first has the accent.
DASHES = ["", "7 3", "2 3", "9 3 2 3", "1 4"]
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 415, 380, 64, 100, 64


def ticks(low, high):
    """1, 2 and 5 times the powers of ten from `low` to `high`; only the powers where there are many."""
    steps = [m * 10.0 ** e for e in range(-3, 13) for m in (1, 2, 5)]
    inside = [s for s in steps if low <= s <= high]
    powers = [s for s in inside if abs(math.log10(s) - round(math.log10(s))) < 1e-9]
    return powers if len(inside) > 8 and len(powers) > 1 else inside


def bounds(values):
    """The range of an axis: at least a factor of four, with room at both ends."""
    low, high = min(values), max(values)
    middle = math.sqrt(low * high)
    return min(low / 1.3, middle / 2), max(high * 1.3, middle * 2)


def number(value):
    if value >= 1_000_000:
        return f"{value / 1_000_000:g}M"
    if value >= 1_000:
        return f"{value / 1_000:g}k"
    return f"{value:,.0f}" if value >= 10 else f"{value:g}"


def panel(sheet, x0, title, key, rows, names):
    width, height = WIDTH - LEFT - 24, HEIGHT - TOP - BOTTOM
    (xl, xh), (yl, yh) = bounds([r["devices"] for r in rows]), bounds([r[key] for r in rows])

    def x(v):
        return x0 + LEFT + width * math.log(v / xl) / math.log(xh / xl)

    def y(v):
        return TOP + height * (1 - math.log(v / yl) / math.log(yh / yl))

    sheet.text(x0 + LEFT, TOP - 14, title, "strong")
    for v in ticks(yl, yh):
        sheet.line(x0 + LEFT, y(v), x0 + LEFT + width, y(v))
        sheet.text(x0 + LEFT - 8, y(v) + 5, number(v), "small muted", "end")
    for v in ticks(xl, xh):
        sheet.line(x(v), TOP, x(v), TOP + height)
        sheet.text(x(v), TOP + height + 20, number(v), "small muted", "middle")
    sheet.text(x0 + LEFT + width, TOP + height + 44, "devices", "small", "end")
    for i, name in enumerate(names):
        kind = look(i)
        points = sorted((r["devices"], r[key]) for r in rows if r["workload"] == name)
        sheet.path([(x(d), y(v)) for d, v in points], kind, 2.5, DASHES[i % len(DASHES)])
        for d, v in points:
            place = "end" if d == points[-1][0] and len(points) > 1 else "start" if d == points[0][0] else "middle"
            sheet.text(x(d), y(v) - 12, f"{v:,.0f}", "small halo", place)
            sheet.dot(x(d), y(v), f"{kind}-fill", 4)


def look(workload):
    return "accent" if workload == 0 else "other"


def main():
    csv_path, svg_path, *paths = sys.argv[1:]
    rows = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            runs = [json.loads(line) for line in file]
        if len({run["digest"] for run in runs}) > 1:
            sys.exit(f"scaling_plot.py: runs of {runs[0]['workload']} with {runs[0]['devices']} devices have other results")
        times = [run["ns_per_attempt"] for run in runs]
        rows.append(runs[0] | {"repeats": len(runs), "ns_per_attempt": round(statistics.median(times), 3)})
    if not paths:
        with open(csv_path, encoding="utf-8") as file:
            for r in csv.DictReader(file):
                rows.append({c: r[c] if c in ("workload", "digest") else float(r[c]) if r[c] else None for c in COLUMNS})
                rows[-1]["devices"] = int(r["devices"])
    if not rows:
        sys.exit("scaling_plot.py: there is nothing to draw: no size fitted into memory")
    rows.sort(key=lambda r: (r["workload"], r["devices"]))
    if paths:
        with open(csv_path, "w", encoding="utf-8") as file:
            file.write(",".join(COLUMNS) + "\n")
            for r in rows:
                file.write(",".join("" if r[c] is None else str(r[c]) for c in COLUMNS) + "\n")

    names = list(dict.fromkeys(r["workload"] for r in rows))
    drawn = [r for r in rows if r["bytes_per_device"] and r["bytes_per_device"] > 0]
    largest = rows[-1] if len(names) == 1 else None
    title = "Cost by the size of the fleet" if largest is None else (
        f"{number(largest['devices'])} devices: {largest['ns_per_attempt']:.0f} ns an attempt"
        + (f", {largest['bytes_per_device']:.0f} bytes a device" if largest["bytes_per_device"] else ""))
    sheet = drawing.Sheet(title, [], f"Time and memory of {', '.join(names)} by devices.")
    for i, name in enumerate(names):
        x = 16 + 160 * i
        sheet.path([(x, 54), (x + 24, 54)], look(i), 2.5, DASHES[i % len(DASHES)])
        sheet.text(x + 32, 59, name)
    panel(sheet, 0, "ns per attempt", "ns_per_attempt", rows, names)
    if drawn:
        panel(sheet, WIDTH, "bytes per device", "bytes_per_device", drawn, names)
    sheet.save(pathlib.Path(svg_path).resolve(), HEIGHT)


main()
