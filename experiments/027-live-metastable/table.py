"""What remains after the surge: table.py SIMULATED|LIVE FOLDER FILE

FOLDER has a folder SHARE/SPREAD/SEED for each run, of `fleetsim run` or of `fleetsim live` with server.csv beside it. FILE gets a row for each
run, of the time from 20 to 45 s after the surge. "Down" is the published test: at most half of the requests end well, and each is tried twice
or more often in the mean.
"""

import csv
import pathlib
import sys

kind, folder, file = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
START, DEVICES, USUAL = 20, 4000, 8


def read(path):
    with open(path) as lines:
        return list(csv.DictReader(lines))


def after(path, end):
    """Requests, tries, answers heard and refusals in the window."""
    rows = [row for row in read(path) if end + 20 <= float(row["time_s"]) < end + 45]
    total = {name: sum(float(row[name]) for row in rows) for name in
             ["offered_rps", "first_attempts_rps", "answers_2xx", "unheard_answers", "answers_503"]}
    heard = total["answers_2xx"] - total["unheard_answers"]
    first = total["first_attempts_rps"]
    return {"requests": round(first), "attempts": round(total["offered_rps"]), "heard": round(heard), "refused": round(total["answers_503"]),
            "attempts_per_request": round(total["offered_rps"] / first, 3), "success_ratio": round(min(heard / first, 1.0), 3),
            "down": int(heard <= first / 2 and total["offered_rps"] >= 2 * first)}


table = []
for run in sorted(folder.glob("*/*/*"), key=lambda p: (float(p.parts[-3]), float(p.parts[-2]), int(p.parts[-1]))):
    share, spread, seed = (float(part) for part in run.parts[-3:])
    head = {"surge_rps": round(USUAL + DEVICES * share / 100 / spread, 2), "surge_s": f"{spread:g}", "seed": int(seed)}
    end = START + spread
    if kind == "LIVE":
        # The server's seconds begin with its first request, which is within one of the run's begin.
        queue = [int(row["longest_queue"]) for row in read(run / "server.csv") if end + 20 <= float(row["time_s"]) < end + 45]
        sides = {"predicted": after(run / "predicted" / "timeseries.csv", end), "measured": after(run / "timeseries.csv", end)}
        table.append({**head, **{f"{side}_{name}": sides[side][name] for name in sides["measured"] for side in sides},
                      "measured_queue_low": min(queue), "measured_queue_high": max(queue)})
    else:
        rows = [row for row in read(run / "timeseries.csv") if end + 20 <= float(row["time_s"]) < end + 45]
        queue = [int(row["server_queue_requests"]) for row in rows]
        table.append({**head, **after(run / "timeseries.csv", end), "queue_low": min(queue), "queue_high": max(queue)})
if kind == "SIMULATED":
    # A row for each surge, over its seeds.
    surges = {}
    for row in table:
        surges.setdefault((row["surge_rps"], row["surge_s"]), []).append(row)
    table = [{"surge_rps": rate, "surge_s": length, "seeds": len(rows), "down": sum(row["down"] for row in rows),
              "attempts_per_request_low": min(row["attempts_per_request"] for row in rows),
              "attempts_per_request_high": max(row["attempts_per_request"] for row in rows),
              "success_ratio_low": min(row["success_ratio"] for row in rows), "success_ratio_high": max(row["success_ratio"] for row in rows),
              "queue_low": min(row["queue_low"] for row in rows), "queue_high": max(row["queue_high"] for row in rows)}
             for (rate, length), rows in sorted(surges.items(), key=lambda item: (float(item[0][1]), item[0][0]))]
file.parent.mkdir(parents=True, exist_ok=True)
with open(file, "w", newline="") as lines:
    writer = csv.DictWriter(lines, dict.fromkeys(name for row in table for name in row), lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
print(file.read_text())
