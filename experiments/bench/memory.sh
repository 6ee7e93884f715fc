#!/usr/bin/env bash
# What a device takes in memory, by workload and client: writes results/bench/memory.md. Some five minutes; other work beside it
# changes nothing.
#
#   experiments/bench/memory.sh [DEVICES]      (default 100000)
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/../.."
devices=${1:-100000}
bench=${FLEETSIM_BENCH:-.build/release/fleetsim-bench}
[ -x "$bench" ] || swift build -c release --product fleetsim-bench >&2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for workload in $("$bench" | cut -f 1); do
  "$bench" "$workload" --devices "$devices" >>"$work/whole"
  # Ten times as many, so that what a run has once weighs nothing.
  "$bench" "$workload" --devices "$((10 * devices))" --duration 2m >>"$work/rest"
done
python3 - "$work/whole" "$work/rest" "$devices" >"$work/memory.md" <<'P'
import json, sys
whole, rest = ([json.loads(line) for line in open(path)] for path in sys.argv[1:3])
devices = int(sys.argv[3])
print("# Bytes a device\n")
print(f"`experiments/bench/memory.sh {devices}`: each workload of `fleetsim-bench`, {devices:,} devices, one thread. What the")
print("process had resident at most, less what it had before the run, by the device. At rest: over the first two minutes, before anything")
print("fails, with ten times as many. At most: over the whole run, in which most workloads have each device hold the batches of a ten minutes' outage at once; beside")
print("it what was forecast before the run.\n")
print("| workload | at rest | at most | forecast |")
print("|---|---:|---:|---:|")
for row, first in zip(whole, rest):
    keys = ("run_memory_bytes", "estimated_memory_bytes")
    figures = [first["run_memory_bytes"] / 10] + [row[key] for key in keys]
    print(f"| {row['workload']} | " + " | ".join(f"{figure / devices:,.0f}" for figure in figures) + " |")
P
mv "$work/memory.md" results/bench/memory.md
echo "results/bench/memory.md"
