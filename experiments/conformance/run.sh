#!/usr/bin/env bash
# Judges segment-analytics-python, or SDK=posthog-python, or SDK=mixpanel-python, and writes results/conformance. Needs python3 with venv and
# the network for pip. FLEETSIM is the program; TIMES repeats the run while BUSY processes (two for each core) do nothing but use the cores,
# and counts the failures that a machine at rest does not have.
set -euo pipefail
cd "$(dirname "$0")/../.."
fleetsim=$(realpath "${FLEETSIM:-.build/release/fleetsim}")
sdk=${SDK:-segment-python}
work=$(mktemp -d)
burners=()
trap 'for burner in "${burners[@]}"; do kill "$burner"; done; rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --require-hashes -r experiments/conformance/requirements.lock
PATH="$work/venv/bin:$PATH"
. experiments/conformance/sdk.sh

judge() { # folder
  local code=0
  mkdir -p "$1"
  judge_sdk "$sdk" --exchanges "$1/exchanges" --junit "$1/junit.xml" >"$1/report.txt" 2>"$1/end.txt" || code=$?
  [ "$code" -le 2 ] || { cat "$1/end.txt" >&2; exit "$code"; }
}

failures() { sed -n '/^Does not hold:/,/^$/s/^  *\(S[0-9]*  *[^:]*\):.*/\1/p' "$1/report.txt" | sort; }

if [ -z "${TIMES:-}" ]; then
  judge "results/conformance/$sdk"
  rm "results/conformance/$sdk/end.txt"
  # The exchanges that show what does not hold.
  grep -L '"verdict": "does not hold"' "results/conformance/$sdk/exchanges"/*.json | xargs -r rm || true
  cat "results/conformance/$sdk/report.txt"
  exit 0
fi

judge "$work/alone"
failures "$work/alone" >"$work/alone.txt"
for _ in $(seq "${BUSY:-$(($(nproc) * 2))}"); do
  (while :; do :; done) &
  burners+=($!)
done
for run in $(seq "$TIMES"); do
  judge "$work/$run"
  failures "$work/$run" >"$work/$run.txt"
  echo "run $run: $(wc -l <"$work/$run.txt") failures," \
    "$(comm -13 "$work/alone.txt" "$work/$run.txt" | wc -l) of them false;" \
    "$(cat "$work/$run/end.txt")"
done
