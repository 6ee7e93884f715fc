#!/usr/bin/env bash
# fleetsim against SimPy, and against hand-written C where there is some, on herd-1 and, against C alone, on experiment 001; in
# turn, one core each, but for the rows of fleetsim on several threads.
#
#   experiments/bench/compare.sh [REFERENCE_DIR]
#
# REFERENCE_DIR has a Makefile that builds $BUILD/herd1_general, which takes DEVICES SECONDS SEED, and $BUILD/outage001, which takes
# n=DEVICES seed=SEED; each prints a line of JSON with "attempts" and "ns_per_attempt". The row C-rules is outage001 with fleetsim's
# rules for draws (outage001-rules.patch): what the rules cost and what fleetsim costs beyond them are two figures. Environment:
#   SIZES          devices for herd-1, space separated (default "10000 100000 1000000"; the C program takes fewer than 16,777,216)
#   SIZES_001      devices for experiment 001 (default "20000 100000")
#   THREADS        fleetsim runs with so many threads, too, on as many cores; 1: it does not (default 1)
#   REPEAT         runs of fleetsim and C each, of which the median counts (default 5)
#   SIMPY_DEVICES  devices for SimPy, which costs the same per attempt at any size (default 10000)
#   SIMPY_REPEAT   runs of SimPy (default 1)
#   PYTHON         a Python 3 with venv (default python3); SimPy comes from PyPI into an environment that is thrown away
set -euo pipefail
export LC_ALL=C
[ $# -le 1 ] || { echo "usage: experiments/bench/compare.sh [REFERENCE_DIR]" >&2; exit 64; }
reference=""
if [ $# -eq 1 ]; then
  reference=$(cd "$1" 2>/dev/null && pwd) || { echo "compare.sh: $1 is no directory" >&2; exit 66; }
  [ -f "$reference/Makefile" ] || { echo "compare.sh: there is no Makefile in $1" >&2; exit 66; }
fi
cd "$(dirname "$0")/../.."
read -r -a sizes <<<"${SIZES:-10000 100000 1000000}"
read -r -a sizes_001 <<<"${SIZES_001:-20000 100000}"
repeat=${REPEAT:-5}
threads=${THREADS:-1}
simpy_devices=${SIMPY_DEVICES:-10000}
simpy_repeat=${SIMPY_REPEAT:-1}
python=${PYTHON:-python3}
for number in "${sizes[@]}" "${sizes_001[@]}" "$repeat" "$threads" "$simpy_devices" "$simpy_repeat"; do
  [[ $number =~ ^[1-9][0-9]*$ ]] || { echo "compare.sh: '$number' is no whole number from 1" >&2; exit 64; }
done
command -v "$python" >/dev/null || { echo "compare.sh: there is no $python; set PYTHON" >&2; exit 69; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "building" >&2
swift build -c release --product fleetsim-bench >&2
if [ -n "$reference" ]; then
  make -s -C "$reference" BUILD="$work/reference" "$work/reference/herd1_general" "$work/reference/outage001" >&2
  mkdir "$work/rules"
  cp "$reference/Makefile" experiments/bench/fleetsim_draws.h "$work/rules"
  if ! patch -s -r "$work/rejects" -o "$work/rules/outage001.c" "$reference/outage001.c" experiments/bench/outage001-rules.patch >&2
  then
    echo "compare.sh: outage001-rules.patch does not fit $reference/outage001.c" >&2
    exit 65
  fi
  make -s -C "$work/rules" BUILD="$work/rules/build" "$work/rules/build/outage001" >&2
fi
if ! { "$python" -m venv "$work/venv" && "$work/venv/bin/pip" install -q --require-hashes -r experiments/bench/requirements.lock; } >&2; then
  echo "compare.sh: SimPy could not be installed" >&2
  exit 69
fi

# One core for all: the first that this process may use.
pinned=()
if command -v taskset >/dev/null; then
  core=$(taskset -cp $$ | sed 's/.*: *//; s/[^0-9].*//')
  pinned=(taskset -c "$core")
fi

# run WORKLOAD PROGRAM DEVICES COMMAND…: adds "WORKLOAD PROGRAM DEVICES ATTEMPTS NS" of the JSON that the command prints.
run() {
  local workload=$1 program=$2 devices=$3
  shift 3
  echo "$workload: $program, $devices devices" >&2
  "$@" >"$work/json"
  "$python" -c '
import json, sys
figures = json.load(open(sys.argv[1]))
print(*sys.argv[2:], figures["attempts"], figures["ns_per_attempt"])
' "$work/json" "$workload" "$program" "$devices" >>"$work/runs"
}

for _ in $(seq "$simpy_repeat"); do
  run herd-1 SimPy "$simpy_devices" "${pinned[@]}" "$work/venv/bin/python" experiments/bench/herd1_simpy.py --devices "$simpy_devices"
done
# fleetsim WORKLOAD WORKLOAD_OF_FLEETSIM_BENCH DEVICES
fleetsim() {
  local bench=(.build/release/fleetsim-bench "$2" --devices "$3")
  run "$1" fleetsim "$3" "${pinned[@]}" "${bench[@]}"
  if [ "$threads" -gt 1 ]; then run "$1" "fleetsim-x$threads" "$3" "${bench[@]}" --threads "$threads"; fi
}

for devices in "${sizes[@]}"; do
  for _ in $(seq "$repeat"); do
    fleetsim herd-1 herd-1-150 "$devices"
    if [ -n "$reference" ]; then
      run herd-1 C "$devices" "${pinned[@]}" "$work/reference/herd1_general" "$devices" 3600 1
    fi
  done
done
if [ -n "$reference" ]; then
  for devices in "${sizes_001[@]}"; do
    for _ in $(seq "$repeat"); do
      fleetsim 001 001 "$devices"
      run 001 C "$devices" "${pinned[@]}" "$work/reference/outage001" "n=$devices" seed=1
      run 001 C-rules "$devices" "${pinned[@]}" "$work/rules/build/outage001" "n=$devices" seed=1
    done
  done
fi

model=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo 2>/dev/null | head -n 1)
if [ -z "$model" ]; then model=$(sysctl -n machdep.cpu.brand_string 2>/dev/null || uname -m); fi
echo "herd-1: one virtual hour, capacity 150 % of the normal load; 001: experiment 001 with full jitter, two hours; medians"
if [ "$threads" -gt 1 ]; then echo "one core each, fleetsim-x$threads: $threads threads on as many"; else echo "one core each"; fi
echo "made by: experiments/bench/compare.sh${reference:+ REFERENCE_DIR} (SIZES=\"${sizes[*]}\" SIZES_001=\"${sizes_001[*]}\" REPEAT=$repeat THREADS=$threads SIMPY_DEVICES=$simpy_devices)"
echo "on: $(date -u +%Y-%m-%d), $model, $(getconf _NPROCESSORS_ONLN) cores, load average $(uptime | sed 's/.*average[s]*: *//')"
echo "versions: fleetsim $(git rev-parse --short HEAD), $(swift --version 2>/dev/null | sed -n 's/.*\(Swift version [0-9.]*\).*/\1/p'), $("$python" --version), SimPy $("$work/venv/bin/python" -c 'import simpy; print(simpy.__version__)')${reference:+, $(${CC:-cc} --version | head -n 1)}"
echo
"$python" experiments/bench/compare_table.py "$work/runs"
