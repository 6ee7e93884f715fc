#!/usr/bin/env bash
# How small a surge keeps the service down, in the simulator: threshold.sh [SEEDS]   (default: 40)
#
# Writes results/027-live-metastable/threshold.csv: surges of ten seconds from 12 to 40 requests a second, and of 40 a second from half a second
# on. FLEETSIM is the program, if it is not to be built.
set -euo pipefail
cd "$(dirname "$0")/../.."
seeds=${1:-40}
if [ -z "${FLEETSIM:-}" ]; then
  swift build -c release --product fleetsim
  FLEETSIM=.build/release/fleetsim
fi
here=experiments/027-live-metastable
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
# Share of the clients in percent, and seconds.
for surge in 1:10 1.5:10 2:10 2.5:10 3:10 3.5:10 4:10 8:10 0.4:0.5 0.6:0.75 0.8:1 1:1.25 1.2:1.5 1.6:2 2.4:3 4:5; do
  share=${surge%:*} spread=${surge#*:}
  for seed in $(seq "$seeds"); do
    "$FLEETSIM" run "$here/scenario.json5" --jobs 1 --seed "$seed" --quiet --set "fleet.search.spikes.0.share=$share%" \
      --set "fleet.search.spikes.0.spread=${spread}s" --out "$out/$share/$spread/$seed" >/dev/null
  done
done
python3 "$here/table.py" SIMULATED "$out" results/027-live-metastable/threshold.csv
