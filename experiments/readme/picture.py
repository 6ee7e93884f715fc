#!/usr/bin/env python3
"""The picture of the README: experiments/readme/picture.py [ONE SEEDS] OUT

ONE and SEEDS are what experiments/readme/run.sh has compared: one seed with its time series, and several seeds. Their columns that the
picture needs go to OUT/minutes.csv and OUT/seeds.csv; without them the picture is drawn again from those files. Needs Python 3 alone.
"""

import csv
import pathlib
import sys

END = 30  # minute of the run in which the outage ends; the picture counts from there
VARIANTS = ["29s", "30s"]
WIDTH, HEIGHT, LEFT, RIGHT = 830, 570, 74, 18
FROM, TO = -14, 101  # minutes
WAITING = (112, 336, 1_250_000)  # top, bottom, largest value
SERVED = (402, 522, 1_450)


def rows(path):
    with open(path) as file:
        return list(csv.DictReader(file))


def write(path, table):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, table[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)


def minutes(one):
    """A row a minute: rates are the minute's mean, what waits is its end's."""
    series = {name: rows(one / name / "timeseries.csv") for name in VARIANTS}
    table = []
    for start in range(0, len(series["29s"]) - 59, 60):
        row = {"minute": start // 60 + 1, "capacity_rps": float(series["29s"][start + 59]["capacity_rps"])}
        for name in VARIANTS:
            part = series[name][start:start + 60]
            for column in ["offered_rps", "goodput_rps"]:
                row[f"{column}_{name}"] = round(sum(float(r[column]) for r in part) / 60, 1)
            row[f"backlog_events_{name}"] = round(sum(float(r["backlog_events"]) for r in part) / 60)
        table.append(row)
    return table


def seeds(folder):
    kept = ["seed", "recovery_s", "healthy_s", "lost_events", "attempts", "devices"]
    found = rows(folder / "replications.csv")
    name = "variant" if "variant" in found[0] else "run"
    return [{"retry_after": row[name], **{column: row[column] for column in kept}} for row in found]


def x(minute):
    return LEFT + (WIDTH - LEFT - RIGHT) * (minute - FROM) / (TO - FROM)


def y(value, panel):
    top, bottom, largest = panel
    return bottom - (bottom - top) * value / largest


def text(at, height, words, kind="", anchor="start"):
    return f'<text x="{at:.1f}" y="{height:.1f}" class="{kind}" text-anchor="{anchor}">{words}</text>'


def line(table, column, panel, kind):
    points = [(row["minute"] - END, float(row[column])) for row in table if FROM <= row["minute"] - END <= TO]
    return f'<polyline class="{kind}" points="{" ".join(f"{x(m):.1f},{y(v, panel):.1f}" for m, v in points)}"/>'


def rule(panel, value, words, kind="grid"):
    height = y(value, panel)
    return (f'<line class="{kind}" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{height:.1f}" y2="{height:.1f}"/>'
            + text(LEFT - 8, height + 5, words, "soft", "end"))


def recovered(minute, kind, words, start, rise):
    """The moment from which on no more events wait than without an outage."""
    at, height = x(minute), y(30_000, WAITING)
    return (f'<line class="stem {kind}" x1="{at:.1f}" x2="{at:.1f}" y1="{height - 7:.1f}" y2="{height - rise + 6:.1f}"/>'
            f'<circle class="dot {kind}" cx="{at:.1f}" cy="{height:.1f}" r="6"/>'
            + text(x(start), height - rise, words, f"strong {kind}-text"))


STYLE = """
text { font: 16px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328 }
.title { font-size: 21px; font-weight: 700 } .strong { font-weight: 700; stroke: #ffffff; stroke-width: 4; paint-order: stroke }
.paper { fill: #ffffff } .soft { fill: #59636e } .grid { stroke: #d1d9e0 } .outage { fill: #f3d9a4; opacity: .55 }
polyline { fill: none; stroke-linejoin: round }
.win { stroke: #0064a8; stroke-width: 3.5 } .win-text { fill: #0064a8 } .other { stroke: #6e7781; stroke-width: 2.5 } .other-text { fill: #59636e }
.stem { stroke-width: 1.5 } .dot { fill: #ffffff; stroke-width: 3 } .capacity { stroke: #1f2328; stroke-width: 1.5; stroke-dasharray: 6 4 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .paper { fill: #0d1117 } .soft { fill: #a2abb5 } .grid { stroke: #30363d } .outage { fill: #7a5b1e; opacity: .5 }
.win { stroke: #58b3ff } .win-text { fill: #58b3ff } .other { stroke: #9aa3ad } .other-text { fill: #a2abb5 } .dot { fill: #0d1117 } .strong { stroke: #0d1117 }
.capacity { stroke: #e6edf3 }
}"""


def picture(table, runs):
    back = {row["retry_after"]: float(row["recovery_s"]) / 60 for row in runs if row["seed"] == "1"}
    won, lost = (f"{back[name]:.0f}" for name in VARIANTS)
    capacity = max(row["capacity_rps"] for row in table)
    busy = [float(row["goodput_rps_30s"]) for row in table if END < row["minute"] <= END + 60]
    idle = 100 * (1 - sum(busy) / len(busy) / capacity)
    headline = f"Retry-After of 29 s: recovered in {won} minutes; of 30 s: in {lost}"
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" '
           f'aria-labelledby="t d"><title id="t">{headline}</title><desc id="d">Two fleets of 20,000 phones that flush every 30 s, after ten '
           f"minutes of 429: events that wait, and requests that the server accepts in a second.</desc><style>{STYLE}</style>",
           f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>',
           text(16, 34, headline, "title"),
           text(16, 60, "20,000 phones flush every 30 s. A retry waits for the first flush after its Retry-After:", "soft"),
           text(16, 81, "29 s ends just before the next flush, 30 s just after it, and the phone waits for another.", "soft")]
    for panel in (WAITING, SERVED):
        out.append(f'<rect class="outage" x="{x(-10):.1f}" width="{x(0) - x(-10):.1f}" y="{panel[0]}" height="{panel[1] - panel[0]}"/>')
    for value, words in [(0, "0"), (500_000, "0.5 M"), (1_000_000, "1 M")]:
        out.append(rule(WAITING, value, words))
    out += [text(x(0) + 10, WAITING[0] + 12, "Events that wait on the phones", "strong"),
            text(x(-10) + 4, WAITING[0] + 16, "outage"), text(x(-10) + 4, WAITING[0] + 35, "429"),
            line(table, "backlog_events_30s", WAITING, "other"), line(table, "backlog_events_29s", WAITING, "win"),
            text(x(40), y(840_000, WAITING), "Retry-After: 30 s", "strong other-text"),
            text(x(8.4), y(560_000, WAITING), "Retry-After: 29 s", "strong win-text"),
            recovered(back["29s"], "win", f"recovered after {won} min", 10, 52),
            recovered(back["30s"], "other", f"recovered after {lost} min", 62.5, 75)]
    for value, words in [(0, "0"), (500, "500"), (1000, "1,000")]:
        out.append(rule(SERVED, value, words))
    height = y(capacity, SERVED)
    out += [f'<line class="capacity" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{height:.1f}" y2="{height:.1f}"/>',
            text(x(0) + 10, SERVED[0] - 12, "Requests that the server accepts, a second", "strong"),
            text(WIDTH - RIGHT, height - 6, f"capacity: {capacity:,.0f}", anchor="end"),
            line(table, "goodput_rps_30s", SERVED, "other"), line(table, "goodput_rps_29s", SERVED, "win"),
            text(x(14), y(800, SERVED), f"With 30 s, {idle:.0f} % of the capacity is idle in the first hour", "other-text")]
    for minute in range(0, TO + 1, 20):
        out.append(text(x(minute), SERVED[1] + 20, str(minute), "soft", "middle"))
    out.append(text(WIDTH - RIGHT, SERVED[1] + 40, "minutes since the end of the outage", "soft", "end"))
    return "\n".join(out) + "\n</svg>\n"


def main(arguments):
    if len(arguments) not in (1, 3):
        sys.exit(__doc__)
    out = pathlib.Path(arguments[-1])
    if len(arguments) == 3:
        write(out / "minutes.csv", minutes(pathlib.Path(arguments[0])))
        write(out / "seeds.csv", seeds(pathlib.Path(arguments[1])))
    table = [{key: float(value) for key, value in row.items()} for row in rows(out / "minutes.csv")]
    (out / "second.svg").write_text(picture(table, rows(out / "seeds.csv")), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
