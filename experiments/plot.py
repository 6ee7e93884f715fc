#!/usr/bin/env python3
"""Draws the figures of any --out directory of fleetsim as PNG files: experiments/plot.py DIR [--out FIGURES]

What it draws is what it finds: series.png (timeseries.csv of a run or of each variant, with the twin's where it is there), delivery.png
(delivery_histogram.csv), summary.png (summary.csv), curves.png (curves.csv), statistics.png (statistics.csv) and
pareto.png (pareto.csv). Needs pandas and matplotlib.
"""

import argparse
import json
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd

MEASURES = {
    "lost_or_blocked_events": "events lost",
    "recovery_s": "recovery, s",
    "late_events": "events late",
    "affected_delivery_p99_s": "99 % of affected events delivered, s",
    "attempts_above_twin_per_device": "extra attempts per device",
}
STYLES = ["-", "--", ":", "-."]


def styles(count):
    """A colour and a dash for each variant, so that no two of the first forty look alike."""
    colours = plt.get_cmap("tab10").colors
    return [{"color": colours[i % 10], "linestyle": STYLES[i // 10 % 4]} for i in range(count)]


def folders(directory):
    """The folder of each variant by its name, in the order of the comparison; a run's is the directory itself."""
    runs = json.loads((directory / "run.json").read_text())["runs"]
    found = {run["name"]: directory / run["folder"] for run in runs}
    return {name: folder for name, folder in found.items() if (folder / "timeseries.csv").exists()}


def minutes(axis):
    axis.set_xlabel("time, min")
    axis.set_xlim(left=0)
    axis.set_ylim(bottom=0)
    axis.grid(alpha=0.3)


def series(directory):
    variants = folders(directory)
    if not variants:
        return None
    figure, axes = plt.subplots(2, 1, figsize=(10, 7), sharex=True, layout="constrained")
    for (name, folder), style in zip(variants.items(), styles(len(variants))):
        table = pd.read_csv(folder / "timeseries.csv")
        for axis, column in zip(axes, ["offered_rps", "backlog_events"]):
            axis.plot(table.time_s / 60, table[column], label=name, linewidth=1, **style)
        twin = folder / "twin_timeseries.csv"
        if twin.exists():
            calm = pd.read_csv(twin)
            axes[1].plot(calm.time_s / 60, calm.backlog_events, color="grey", linewidth=0.7)
    axes[0].plot(table.time_s / 60, table.capacity_rps, color="black", linewidth=0.8, label="capacity")
    axes[0].set_ylabel("offered load, requests/s")
    axes[1].set_ylabel("backlog, events (grey: the twin's)")
    axes[0].legend(fontsize="small")
    for axis in axes:
        minutes(axis)
    return figure


def delivery(directory):
    variants = {n: f for n, f in folders(directory).items() if (f / "delivery_histogram.csv").exists()}
    if not variants:
        return None
    figure, axis = plt.subplots(figsize=(10, 4), layout="constrained")
    for (name, folder), style in zip(variants.items(), styles(len(variants))):
        table = pd.read_csv(folder / "delivery_histogram.csv")
        later = 1 - table.events.cumsum() / table.events.sum()
        axis.step(table.upper_s.clip(lower=0.01), later.clip(lower=1e-6), label=name, where="post", **style)
    axis.set(xscale="log", yscale="log", xlabel="time to delivery, s", ylabel="share of events that took longer")
    axis.grid(alpha=0.3)
    axis.legend(fontsize="small")
    return figure


def bars(labels, values, errors=None, note="never"):
    """A panel for each measure; what has no value is said in words."""
    figure, axes = plt.subplots(
        1, len(MEASURES), figsize=(14, 1.2 + 0.35 * len(labels)), sharey=True, layout="constrained")
    for axis, (column, title) in zip(axes, MEASURES.items()):
        numbers = values[column]
        error = None if errors is None else errors[column].fillna(0)
        axis.barh(labels, numbers.fillna(0), xerr=error, color="#4878a8")
        for place, number in enumerate(numbers):
            if pd.isna(number):
                axis.text(0, place, " " + note, va="center", fontsize="small")
        if not numbers.fillna(0).any():
            axis.set_xlim(0, 1)
        axis.set_title(title, fontsize="small")
        axis.grid(axis="x", alpha=0.3)
    axes[0].invert_yaxis()
    return figure


def summary(directory):
    path = directory / "summary.csv"
    if not path.exists():
        return None
    table = pd.read_csv(path)
    return bars(table.run.astype(str), table)


def statistics(directory):
    path = directory / "statistics.csv"
    if not path.exists():
        return None
    table = pd.read_csv(path)
    table.variant = table.variant.astype(str)
    order = table.variant.drop_duplicates()
    wide = table.pivot(index="variant", columns="metric").reindex(order)
    of = lambda column: wide[column].reindex(columns=list(MEASURES))
    return bars(order, of("mean"), of("half_width_95"), note="no value")


def curves(directory):
    path = directory / "curves.csv"
    if not path.exists():
        return None
    table = pd.read_csv(path)
    figure, axes = plt.subplots(2, 1, figsize=(10, 7), sharex=True, layout="constrained")
    groups = list(table.groupby("variant", sort=False))
    for (name, rows), style in zip(groups, styles(len(groups))):
        for axis, stem, unit in [(axes[0], "offered", "rps"), (axes[1], "backlog", "events")]:
            axis.plot(rows.time_s / 60, rows[f"{stem}_{unit}"], label=name, linewidth=1, **style)
            low, high = rows[f"{stem}_low_95_{unit}"], rows[f"{stem}_high_95_{unit}"]
            axis.fill_between(rows.time_s / 60, low, high, color=style["color"], alpha=0.15, linewidth=0)
        axes[1].plot(rows.time_s / 60, rows.twin_backlog_events, color="grey", linewidth=0.7)
    axes[0].plot(rows.time_s / 60, rows.capacity_rps, color="black", linewidth=0.8, label="capacity")
    axes[0].set_ylabel("offered load, requests/s: mean and 95 %")
    axes[1].set_ylabel("backlog, events (grey: the twin's)")
    axes[0].legend(fontsize="small")
    for axis in axes:
        minutes(axis)
    return figure


def pareto(directory):
    path = directory / "pareto.csv"
    if not path.exists():
        return None
    table = pd.read_csv(path)
    objectives = [column for column in table if column.endswith("_vs_today_ratio")]
    across, up = (objectives + ["score_ratio"])[:2]
    figure, axis = plt.subplots(figsize=(8, 6), layout="constrained")
    for kind, rows in table.groupby("kind"):
        axis.scatter(rows[across], rows[up], label=kind, s=80 if kind in ["today", "recommended"] else 18)
    axis.set(xscale="log", yscale="log", xlabel=across, ylabel=up)
    axis.grid(alpha=0.3)
    axis.legend(fontsize="small")
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("directory", type=pathlib.Path, help="what a command wrote with --out")
    parser.add_argument("--out", type=pathlib.Path, help="where the figures go (default: figures)", default="figures")
    arguments = parser.parse_args()
    if not (arguments.directory / "run.json").exists():
        sys.exit(f"{arguments.directory}: holds no run.json: it is no directory that fleetsim wrote with --out")
    drawn = []
    for draw in [series, delivery, summary, curves, statistics, pareto]:
        figure = draw(arguments.directory)
        if figure is None:
            continue
        arguments.out.mkdir(parents=True, exist_ok=True)
        drawn.append(f"{draw.__name__}.png")
        figure.savefig(arguments.out / drawn[-1], dpi=110)
        plt.close(figure)
    if not drawn:
        sys.exit(f"{arguments.directory}: holds no table to draw")
    print(f"Written to {arguments.out}: {', '.join(drawn)}")


if __name__ == "__main__":
    main()
