#!/usr/bin/env bash
# What an attempt costs, and how much memory a device takes, as the fleet grows: fleetsim-bench at several sizes, on one core.
#
#   experiments/bench/scaling.sh
#
# Writes results/bench/scaling.csv and results/bench/scaling.svg. Environment:
#   SIZES           devices, space separated (default "10000 100000 1000000 10000000")
#   WORKLOADS       of fleetsim-bench, space separated (default "herd-1-150 001")
#   REPEAT          runs of each, of which the median counts (default 3)
#   FLEETSIM_BENCH  the program (default: the release build, which is built first)
#   OUT             where to write (default results/bench)
#   PYTHON          a Python 3, its standard library alone (default python3)
# A size that does not fit into memory is left out with a message.
set -euo pipefail
export LC_ALL=C
[ $# -eq 0 ] || { echo "usage: experiments/bench/scaling.sh (SIZES, WORKLOADS, REPEAT, FLEETSIM_BENCH, OUT, PYTHON)" >&2; exit 64; }
cd "$(dirname "$0")/../.."
read -r -a sizes <<<"${SIZES:-10000 100000 1000000 10000000}"
read -r -a workloads <<<"${WORKLOADS:-herd-1-150 001}"
repeat=${REPEAT:-3}
out=${OUT:-results/bench}
python=${PYTHON:-python3}
for number in "${sizes[@]}" "$repeat"; do
  [[ $number =~ ^[1-9][0-9]*$ ]] || { echo "scaling.sh: '$number' is no whole number from 1" >&2; exit 64; }
done
command -v "$python" >/dev/null || { echo "scaling.sh: there is no $python; set PYTHON" >&2; exit 69; }
bench=${FLEETSIM_BENCH:-.build/release/fleetsim-bench}
[ -n "${FLEETSIM_BENCH:-}" ] || swift build -c release --product fleetsim-bench >&2
[ -x "$bench" ] || { echo "scaling.sh: FLEETSIM_BENCH=$bench is no program" >&2; exit 66; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

pinned=()
if command -v taskset >/dev/null; then
  core=$(taskset -cp $$ | sed 's/.*: *//; s/[^0-9].*//')
  pinned=(taskset -c "$core")
fi

for workload in "${workloads[@]}"; do
  for devices in "${sizes[@]}"; do
    echo "$workload, $devices devices" >&2
    for _ in $(seq "$repeat"); do
      status=0
      "${pinned[@]}" "$bench" "$workload" --devices "$devices" >>"$work/$workload.$devices.json" || status=$?
      if [ "$status" -ne 0 ]; then
        [ "$status" -eq 65 ] || exit "$status"
        rm "$work/$workload.$devices.json"
        break
      fi
    done
  done
done
mkdir -p "$out"
"$python" experiments/bench/scaling_plot.py "$out/scaling.csv" "$out/scaling.svg" "$work"/*.json
echo "written: $out/scaling.csv, $out/scaling.svg" >&2
