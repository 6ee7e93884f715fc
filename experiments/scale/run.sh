#!/usr/bin/env bash
# What --scale makes of the answer: experiment 001 and an evening's peak at 1:1 … 1:5000, several seeds each, and what the same
# division gives with a tenth of a second's burst, however few tokens that is. Writes results/scale/table.md. Some minutes.
set -euo pipefail
cd "$(dirname "$0")/../.."
fleetsim=${FLEETSIM:-.build/release/fleetsim}
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
table=results/scale/table.md
mkdir -p results/scale

# row LABEL SCALE SEEDS VARIANT FILE [options]: a row of the table, or why there is none.
row() {
  local label=$1 scale=$2 seeds=$3 variant=$4 file=$5; shift 5
  rm -rf "$work/out"
  if ! "$fleetsim" compare "$file" "$@" --seeds "$seeds" --quiet --out "$work/out" >/dev/null 2>"$work/error"; then
    local reason
    reason=$(sed -nE 's/.*filled by ([0-9.]+) devices.*(up to 1:[0-9]+) it keeps.*/\1 devices fill the capacity; \2/p' "$work/error" | head -n 1)
    echo "| $label | $scale | | refused: ${reason:-$(head -n 1 "$work/error")} | | | |"
    return
  fi
  python3 - "$work/out/replications.csv" "$label" "$scale" "$variant" <<'PY'
import csv, sys
path, label, scale, variant = sys.argv[1:]
rows = [r for r in csv.DictReader(open(path)) if r["run"] == variant]
# Student's t for 95 %, by degrees of freedom.
T = {1: 12.71, 2: 4.30, 3: 3.18, 4: 2.78, 5: 2.57, 7: 2.36, 9: 2.26, 11: 2.20, 15: 2.13, 19: 2.09}
def figure(values, form):
    n, mean = len(values), sum(values) / len(values)
    error = (sum((v - mean) ** 2 for v in values) / (n - 1) / n) ** 0.5 if n > 1 else 0
    return form(mean) + " ± " + form(T[n - 1] * error)
recovered = [float(r["recovery_s"]) for r in rows if r["recovery_s"]]
recovery = figure(recovered, lambda v: f"{v:.0f}") if len(recovered) == len(rows) else f"{len(recovered)} of {len(rows)} recover"
undelivered = figure([100 * (float(r["lost_events"]) + float(r["blocked_events"] or 0) + float(r["pending_events"])) / float(r["created_events"]) for r in rows], lambda v: f"{v:.2f}")
attempts = figure([float(r["attempts"]) / float(r["devices"]) for r in rows], lambda v: f"{v:.1f}")
print(f"| {label} | {scale} | {rows[0]['devices']} | {recovery} | {undelivered} | {attempts} | {len(rows)} |")
PY
}

outage=experiments/001-outage-herd/scenario.json5
evening=experiments/scale/evening.json5
{
  echo "| case | scale | devices | recovery, s | undelivered, % of the events | attempts a device | seeds |"
  echo "|---|---|---:|---:|---:|---:|---:|"
  for jitter in additive:10 full; do
    for at in 1:1:3 1:5:4 1:20:6 1:25:6 1:50:6 1:200:6 1:1000:6; do
      IFS=: read -r one n seeds <<<"$at"
      row "001, $jitter" "$one:$n" "$seeds" "$jitter" "$outage" --jitter "$jitter" --set interval=2s --scale "$one:$n"
    done
    row "001, $jitter, a tenth of a second's burst" "1:20" 6 "$jitter" "$outage" --jitter "$jitter" --set interval=2s \
      --set fleet.phones.devices=1000 --set tapi.bucket.capacity=63.35/s --set tapi.bucket.burst=6
    row "001, $jitter, a tenth of a second's burst" "1:200" 6 "$jitter" "$outage" --jitter "$jitter" --set interval=2s \
      --set fleet.phones.devices=100 --set tapi.bucket.capacity=6.335/s --set tapi.bucket.burst=1
  done
  for client in segment-swift tapi-document; do
    # 1:1 takes a quarter of an hour and some gigabytes a run; 1:20 stands for it.
    for at in 1:20:2 1:200:4 1:400:4 1:500:6 1:800:6 1:1000:10 1:1200:10 1:5000:6; do
      IFS=: read -r one n seeds <<<"$at"
      row "evening, $client" "$one:$n" "$seeds" 10s "$evening" --vary interval=10s --set "fleet.ios.client=$client" --scale "$one:$n"
    done
    row "evening, $client, a tenth of a second's burst" "1:1000" 6 10s "$evening" --vary interval=10s \
      --set "fleet.ios.client=$client" --set fleet.ios.devices=3000 --set tapi.bucket.capacity=60/s
    row "evening, $client, a tenth of a second's burst" "1:4000" 6 10s "$evening" --vary interval=10s \
      --set "fleet.ios.client=$client" --set fleet.ios.devices=750 --set tapi.bucket.capacity=15/s
  done
} | tee "$table"
