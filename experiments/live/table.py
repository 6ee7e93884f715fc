"""Puts the runs of live.sh or sdk.sh together: a row for each figure of each run, a table of what was as predicted, and the first run second by second.

Usage: table.py FOLDER RESULTS OUTAGE   (FOLDER/KIND/SEED has live.csv and nginx.csv; of sdk.sh the SDK is OUTAGE and KIND)
"""

import csv
import pathlib
import sys

folder, results, outage = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
judged = ["attempts", "answers_2xx", "answers_429", "answers_503", "recovery_s", "time_to_delivery_p50_s", "time_to_delivery_p99_s"]
if outage == "stopped":
    # Predicted as 503s: refused connections have no status.
    judged.remove("answers_503")
columns = ["run", "metric", "measured", "predicted", "predicted_low", "predicted_high", "difference_ratio", "agrees"]
rows, kinds, counted = [], {}, []
first = None


def label(kind):
    """As the table has it."""
    return kind if kind == outage else kind.replace("-", ", ")


for kind in sorted(p for p in folder.iterdir() if p.is_dir()):
    for run in sorted(kind.iterdir(), key=lambda p: int(p.name)):
        if not (run / "nginx.csv").exists():
            continue
        first = first or run
        figures = {row["metric"]: row for row in csv.DictReader(open(run / "live.csv"))}
        for row in figures.values():
            rows.append([f"{kind.name}-{run.name}"] + [row[c] for c in columns[1:]])
        misses = [m for m in judged if m in figures and figures[m]["agrees"] != "true"]
        kinds.setdefault(kind.name, []).append((run.name, misses, figures))
        nginx = {int(r[0]): int(r[1]) for r in csv.reader(open(run / "nginx.csv"))}
        ours = {s: int(float(figures[f"answers_{n}"]["measured"])) if f"answers_{n}" in figures else 0
                for s, n in ((200, "2xx"), (429, "429"), (503, "503"))}
        counted.append(max(abs(nginx.get(s, 0) - n) for s, n in ours.items()))

if first is None:
    sys.exit("no run has ended")
results.mkdir(parents=True, exist_ok=True)
with open(results / f"runs-{outage}.csv", "w", newline="") as file:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)

if outage == "503":
    # Enough for calibrate, which knows these names.
    with open(results / "observed.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["time", "requests", "2xx", "429", "5xx"])
        for row in csv.DictReader(open(first / "timeseries.csv")):
            accepted, limited, down = int(row["answers_2xx"]), int(row["answers_429"]), int(row["answers_503"])
            writer.writerow([int(float(row["time_s"])), round(float(row["offered_rps"])), accepted, limited, down])

lines = [f"| {outage} | as predicted | " + " | ".join(judged) + " |", "|---" * (len(judged) + 2) + "|"]
for kind, runs in kinds.items():
    cells = []
    for metric in judged:
        shares = [float(f[metric]["difference_ratio"]) for _, _, f in runs if metric in f and f[metric]["difference_ratio"]]
        missed = sum(metric in misses for _, misses, _ in runs)
        text = f"{min(shares):+.1%} to {max(shares):+.1%}" if shares else "–"
        cells.append(text + (f", {missed} not" if missed else ""))
    good = sum(not misses for _, misses, _ in runs)
    lines.append(f"| {label(kind)} | {good} of {len(runs)} | " + " | ".join(cells) + " |")
lines += ["", "Every run, and what in it was not as predicted:", ""]
for kind, runs in kinds.items():
    lines.append(f"- {label(kind)}: " + "; ".join(f"{n} {', '.join(m) if m else 'all'}" for n, m, _ in runs))
lines.append(f"- nginx's own log and the run's counts of 200, 429 and 503 differ by at most {max(counted)} requests in a run.")
text = "\n".join(lines) + "\n"
open(results / f"table-{outage}.md", "w").write(text)
print(text)
