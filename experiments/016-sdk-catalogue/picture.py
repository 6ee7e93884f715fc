#!/usr/bin/env python3
"""Recovery against loss, a dot a client: experiments/016-sdk-catalogue/picture.py draws results/016-sdk-catalogue/recovery-loss.svg."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import drawing

RESULT = "results/016-sdk-catalogue"
clients = []
for row in drawing.rows(f"{RESULT}/outage/summary.csv"):
    if row["recovery_s"]:
        lost = int(row["undelivered_events"]) / int(row["created_events"])
        clients.append((float(row["recovery_s"]) / 60, lost, row["run"]))
kept = [client for client in clients if client[1] < 0.05]
gone = [client for client in clients if client[1] >= 0.05]
losses = [100 * client[1] for client in gone]
never = len(drawing.rows(f"{RESULT}/outage/summary.csv")) - len(clients)
assert never == 0, "a client that never recovers has no place here"

sheet = drawing.Sheet(
    f"Clients that keep the data are back within {min(kept)[0]:.0f} to {max(kept)[0]:.0f} minutes; those that give up lose "
    f"{min(losses):.0f} to {max(losses):.0f}\u00a0% of the events",
    ["Every preset, 1,000 quiet phones, 20 minutes of 503. Blue: keeps all but 0.2 % of the run's events at most."])
plot = drawing.Plot(sheet, 66, sheet.y + 56, 800, sheet.y + 600, (-1, 45), (0, 0.14))
plot.axes([(m, str(m)) for m in range(0, 46, 5)], [(p / 100, f"{p} %" if p else "0") for p in range(0, 15, 2)],
          "minutes from the outage's end until the fleet is back →", "↑ events of the run that are not delivered")

# Those that give up lie close together: names in two columns beside them, in their order from above.
near = sorted([client for client in gone if client[0] < 6], key=lambda client: (-client[1], client[0]))
pitch, columns = 19, (plot.x(13.5), plot.x(29))
half = (len(near) + 1) // 2
for number, (minutes, lost, name) in enumerate(near):
    column, place = divmod(number, half)
    x, y = columns[column], plot.top + 4 + pitch * place + (pitch * 0.5 if column else 0)
    edge = x - 4
    sheet.path([(plot.x(minutes), plot.y(lost)), (plot.x(6.5), y), (edge, y)], "stem", 0.7)
for number, (minutes, lost, name) in enumerate(near):
    column, place = divmod(number, half)
    sheet.text(columns[column], plot.top + 9 + pitch * place + (pitch * 0.5 if column else 0), name, "small halo")
for minutes, lost, name in gone:
    if minutes >= 6:
        sheet.text(plot.x(minutes) + 9, plot.y(lost) + 22, f"{name}", "small halo")

# Those that keep all: names above, the last one lowest, so that no stem stands in a name.
placed = []
for minutes, lost, name in sorted(kept, reverse=True):
    x, wide, y = plot.x(minutes), drawing.width(name), plot.y(lost) - 20
    start = x + 5 if x + 5 + wide < plot.right + 20 else x - 5 - wide
    while any(start < other[1] + 8 and start + wide > other[0] - 8 and abs(y - other[2]) < 18
              or start - 2 < other[3] < start + wide + 4 and other[2] < y + 8 for other in placed):
        y -= 18
    placed.append((start, start + wide, y, x))
    sheet.line(x, plot.y(lost) - 5, x, y - 10, "accent")
    sheet.text(start, y, name, "small halo")
for minutes, lost, name in gone:
    sheet.dot(plot.x(minutes), plot.y(lost), "other-fill")
for minutes, lost, name in kept:
    sheet.dot(plot.x(minutes), plot.y(lost), "accent-fill")
sheet.save(f"{RESULT}/recovery-loss.svg", plot.bottom + 58)
