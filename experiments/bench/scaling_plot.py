"""Puts what fleetsim bench --json printed into a table and a picture.

scaling_plot.py CSV SVG [JSON...]

Without JSON it draws the table that is there.
"""

import csv
import json
import math
import pathlib
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


def panel(x0, title, key, rows, names):
    width, height = WIDTH - LEFT - 24, HEIGHT - TOP - BOTTOM
    (xl, xh), (yl, yh) = bounds([r["devices"] for r in rows]), bounds([r[key] for r in rows])

    def x(v):
        return x0 + LEFT + width * math.log(v / xl) / math.log(xh / xl)

    def y(v):
        return TOP + height * (1 - math.log(v / yl) / math.log(yh / yl))

    out = [f'<text class="strong" x="{x0 + LEFT}" y="{TOP - 14}">{title}</text>']
    for v in ticks(yl, yh):
        out.append(f'<line x1="{x0 + LEFT}" x2="{x0 + LEFT + width}" y1="{y(v):.1f}" y2="{y(v):.1f}" class="grid"/>')
        out.append(f'<text class="small muted" x="{x0 + LEFT - 8}" y="{y(v) + 5:.1f}" text-anchor="end">{number(v)}</text>')
    for v in ticks(xl, xh):
        out.append(f'<line x1="{x(v):.1f}" x2="{x(v):.1f}" y1="{TOP}" y2="{TOP + height}" class="grid"/>')
        out.append(f'<text class="small muted" x="{x(v):.1f}" y="{TOP + height + 20}" text-anchor="middle">{number(v)}</text>')
    out.append(f'<text class="small" x="{x0 + LEFT + width}" y="{TOP + height + 44}" text-anchor="end">devices</text>')
    for i, name in enumerate(names):
        kind = "accent" if i == 0 else "other"
        points = sorted((r["devices"], r[key]) for r in rows if r["workload"] == name)
        line = " ".join(f"{x(d):.1f},{y(v):.1f}" for d, v in points)
        out.append(f'<polyline points="{line}" class="{kind}" stroke-width="2.5" '
                   f'stroke-dasharray="{DASHES[i % len(DASHES)]}"/>')
        for d, v in points:
            place = "end" if d == points[-1][0] and len(points) > 1 else "start" if d == points[0][0] else "middle"
            out.append(f'<text class="small halo" x="{x(d):.1f}" y="{y(v) - 12:.1f}" text-anchor="{place}">{v:,.0f}</text>')
            out.append(f'<circle cx="{x(d):.1f}" cy="{y(v):.1f}" r="4" class="{kind}-fill">'
                       f"<title>{name}, {d:,} devices: {v:,.1f}</title></circle>")
    return out


def main():
    csv_path, svg_path, *paths = sys.argv[1:]
    rows = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            rows += json.load(file)
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
    body = panel(0, "ns per attempt", "ns_per_attempt", rows, names)
    if drawn:
        body += panel(WIDTH, "bytes per device", "bytes_per_device", drawn, names)
    largest = rows[-1] if len(names) == 1 else None
    title = "Cost by the size of the fleet" if largest is None else (
        f"{number(largest['devices'])} devices: {largest['ns_per_attempt']:.0f} ns an attempt"
        + (f", {largest['bytes_per_device']:.0f} bytes a device" if largest["bytes_per_device"] else ""))
    body.insert(0, f'<text class="title" x="16" y="30">{title}</text>')
    for i, name in enumerate(names):
        kind = "accent" if i == 0 else "other"
        x = 16 + 160 * i
        body.append(f'<line x1="{x}" x2="{x + 24}" y1="52" y2="52" class="{kind}" stroke-width="2.5" '
                    f'stroke-dasharray="{DASHES[i % len(DASHES)]}"/>')
        body.append(f'<text class="small" x="{x + 32}" y="57">{name}</text>')
    with open(svg_path, "w", encoding="utf-8") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDTH} {HEIGHT}" width="{2 * WIDTH}" '
                   f'height="{HEIGHT}">\n<title>{title}</title>\n<style>{drawing.STYLE}</style>\n'
                   f'<rect width="100%" height="100%" class="paper"/>\n' + "\n".join(body) + "\n</svg>\n")


main()
