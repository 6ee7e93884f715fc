#!/usr/bin/env bash
# Does a comparison in four shards, under GNU parallel and under Slurm, give the bytes of one in one piece? And when it is killed with
# kill -9 at ten random moments and started again?
#
# FLEETSIM=.build/release/fleetsim experiments/cluster/verify.sh      (SEED=2 for other moments, KILLS=3 for fewer)
# Slurm is tried if sbatch and sinfo answer; slurm-one-node.sh makes a cluster of this machine.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
FLEETSIM=$(realpath "${FLEETSIM:-$(command -v fleetsim)}")
export FLEETSIM
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$here/../.."

# 64 runs: four strategies under sixteen seeds.
compared=(experiments/001-outage-herd/scenario.json5 --jitter none,additive:10,full,equal --seeds 16
  --set fleet.phones.devices=200 --set tapi.bucket.capacity=12.67/s --set tapi.bucket.burst=20)
RANDOM=${SEED:=1} kills=${KILLS:-10}

moment() { echo "$((RANDOM % 2)).$((RANDOM % 10))"; }
runs() { find "$1" -name '*.run' -printf '%f %i %T@\n' 2>/dev/null | sort; }

parallel_start() { setsid "$here/parallel.sh" "${compared[@]}" --journal "$1" >"$work/log" 2>&1 & leader=$!; }
parallel_kill() {
  # Every process of the session that was started for it.
  ps -o pid= -s "$leader" | xargs -r kill -9 2>/dev/null || true
  wait "$leader" 2>/dev/null || true
}
parallel_finish() { wait "$leader"; }

slurm_start() { job=$(sbatch --parsable --output="$work/log-%a" "$here/slurm.sh" "${compared[@]}" --journal "$1"); }
slurm_wait() { while squeue --noheader --jobs "$job" 2>/dev/null | grep -q .; do sleep 0.2; done; }
slurm_kill() { scancel --full --signal=KILL "$job" || true; scancel "$job" || true; slurm_wait; }
slurm_finish() { slurm_wait; }

compare() {
  diff -r "$work/whole" "$1" >/dev/null || { echo "$2: the runs DIFFER from those of one piece" >&2; exit 1; }
  "$FLEETSIM" compare "${compared[@]}" --journal "$1" --out "$1.out" --quiet >/dev/null
  diff -r -x run.json -x report.html "$work/whole.out" "$1.out" >/dev/null \
    || { echo "$2: the results DIFFER from those of one piece" >&2; exit 1; }
  echo "$2: equal, byte for byte"
}

try() {
  "$1_start" "$work/$1"; "$1_finish"
  compare "$work/$1" "$2, 4 shards"
  local there=() before kept
  mkdir "$work/$1-killed"
  for _ in $(seq "$kills"); do
    before=$(runs "$work/$1-killed")
    "$1_start" "$work/$1-killed"; sleep "$(moment)"; "$1_kill"
    # Whoever was complete before is the same file still: neither lost nor made again.
    kept=$(comm -12 <(echo "$before") <(runs "$work/$1-killed"))
    [ "$kept" = "$before" ] || { echo "$2: a run that was complete was lost or made again" >&2; exit 1; }
    there+=("$(find "$work/$1-killed" -name '*.run' | wc -l)")
  done
  "$1_start" "$work/$1-killed"; "$1_finish"
  echo "$2, kill -9 at $kills random moments (seed $SEED), with this many runs complete after each: ${there[*]}"
  compare "$work/$1-killed" "$2, 4 shards, killed and restarted"
}

"$FLEETSIM" compare "${compared[@]}" --journal "$work/whole" --out "$work/whole.out" --quiet >"$work/log"
echo "in one piece: $(runs "$work/whole" | wc -l) runs, SHA-256 of all" \
  "$(cd "$work/whole" && find . -type f | LC_ALL=C sort | xargs sha256sum | sha256sum | cut -c1-16)"
if command -v parallel >/dev/null; then try parallel "GNU parallel"; else echo "GNU parallel: not there, not tried"; fi
if sinfo >/dev/null 2>&1; then try slurm "Slurm"; else echo "Slurm: no cluster answers, not tried"; fi
