"""Puts what fleetsim bench --json printed into a table and a picture.

scaling_plot.py CSV SVG JSON...
"""

import json
import math
import sys

COLUMNS = ["workload", "devices", "attempts", "repeats", "ns_per_attempt", "run_memory_bytes",
           "estimated_memory_bytes", "bytes_per_device", "digest"]
COLOURS = ["#1b6ca8", "#c8553d", "#3a7d44", "#7a4f9a", "#8a6d1d"]
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 460, 360, 64, 56, 52


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
    return f"{value:,.0f}" if value >= 10 else f"{value:g}"


def panel(x0, title, key, rows, names):
    width, height = WIDTH - LEFT - 24, HEIGHT - TOP - BOTTOM
    (xl, xh), (yl, yh) = bounds([r["devices"] for r in rows]), bounds([r[key] for r in rows])

    def x(v):
        return x0 + LEFT + width * math.log(v / xl) / math.log(xh / xl)

    def y(v):
        return TOP + height * (1 - math.log(v / yl) / math.log(yh / yl))

    out = [f'<text x="{x0 + LEFT}" y="{TOP - 12}" font-weight="bold">{title}</text>']
    for v in ticks(yl, yh):
        out.append(f'<line x1="{x0 + LEFT}" x2="{x0 + LEFT + width}" y1="{y(v):.1f}" y2="{y(v):.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{x0 + LEFT - 8}" y="{y(v) + 4:.1f}" text-anchor="end">{number(v)}</text>')
    for v in ticks(xl, xh):
        out.append(f'<line x1="{x(v):.1f}" x2="{x(v):.1f}" y1="{TOP}" y2="{TOP + height}" stroke="#eee"/>')
        out.append(f'<text x="{x(v):.1f}" y="{TOP + height + 18}" text-anchor="middle">{number(v)}</text>')
    out.append(f'<text x="{x0 + LEFT + width / 2}" y="{TOP + height + 38}" text-anchor="middle">devices</text>')
    for i, name in enumerate(names):
        colour = COLOURS[i % len(COLOURS)]
        points = sorted((r["devices"], r[key]) for r in rows if r["workload"] == name)
        line = " ".join(f"{x(d):.1f},{y(v):.1f}" for d, v in points)
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for d, v in points:
            out.append(f'<circle cx="{x(d):.1f}" cy="{y(v):.1f}" r="3.5" fill="{colour}">'
                       f"<title>{name}, {d:,} devices: {v:,.1f}</title></circle>")
    return out


def main():
    csv_path, svg_path, *paths = sys.argv[1:]
    rows = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            rows += json.load(file)
    if not rows:
        sys.exit("scaling_plot.py: there is nothing to draw: no size fitted into memory")
    rows.sort(key=lambda r: (r["workload"], r["devices"]))
    with open(csv_path, "w", encoding="utf-8") as file:
        file.write(",".join(COLUMNS) + "\n")
        for r in rows:
            file.write(",".join("" if r[c] is None else str(r[c]) for c in COLUMNS) + "\n")

    names = list(dict.fromkeys(r["workload"] for r in rows))
    drawn = [r for r in rows if r["bytes_per_device"] and r["bytes_per_device"] > 0]
    body = panel(0, "ns per attempt", "ns_per_attempt", rows, names)
    if drawn:
        body += panel(WIDTH, "bytes per device", "bytes_per_device", drawn, names)
    for i, name in enumerate(names):
        colour = COLOURS[i % len(COLOURS)]
        body.append(f'<rect x="{LEFT + 150 * i}" y="12" width="14" height="4" fill="{colour}"/>')
        body.append(f'<text x="{LEFT + 150 * i + 20}" y="18">{name}</text>')
    with open(svg_path, "w", encoding="utf-8") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDTH} {HEIGHT}" width="{2 * WIDTH}" '
                   f'height="{HEIGHT}" font-family="sans-serif" font-size="12">\n'
                   f'<rect width="100%" height="100%" fill="white"/>\n' + "\n".join(body) + "\n</svg>\n")


main()
