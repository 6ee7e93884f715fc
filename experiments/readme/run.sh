#!/bin/sh
# Makes the README's picture and its figures: experiments/readme/run.sh   (a minute on one core)
#
# results/readme gets minutes.csv, a row a minute of seed 1; seeds.csv, a row for each run of five seeds; second.svg, the picture; and
# the run.json of both comparisons. FLEETSIM names a program that is built already.
set -eu
cd "$(dirname "$0")/../.."
if [ -z "${FLEETSIM:-}" ]; then
  swift build -c release --product fleetsim
  FLEETSIM=.build/release/fleetsim
fi
work=.build/readme
rm -rf "$work"
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT
compare() {
  "$FLEETSIM" compare experiments/003-retry-after/gate.json5 --set duration=130m --vary tapi.overload.retryAfter=29s,30s "$@" </dev/null
}
compare --seed 1 --out "$work/one"
compare --seeds 5 --out "$work/seeds"
mkdir -p results/readme
cp "$work/one/run.json" results/readme/one.json
cp "$work/seeds/run.json" results/readme/seeds.json
python3 experiments/readme/picture.py "$work/one" "$work/seeds" results/readme
