#!/bin/sh
# Makes what the README quotes: experiments/readme/run.sh   (a minute on one core)
#
# results/readme gets four.txt, what the README's first command prints, and seconds.csv, a row for each of five seeds with a
# Retry-After of 29 s and of 30 s. FLEETSIM names a program that is built already.
set -eu
cd "$(dirname "$0")/../.."
if [ -z "${FLEETSIM:-}" ]; then
  swift build -c release --product fleetsim
  FLEETSIM=.build/release/fleetsim
fi
work=.build/readme
rm -rf "$work"
mkdir -p "$work" results/readme
trap 'rm -rf "$work"' EXIT
"$FLEETSIM" compare experiments/001-outage-herd/scenario.json5 \
  --vary settings.backoffConfig.jitterStrategy=additive:10,full,equal,decorrelated >results/readme/four.txt
"$FLEETSIM" compare experiments/003-retry-after/gate.json5 --set duration=130m --vary tapi.overload.retryAfter=29s,30s --seeds 5 \
  --out "$work/seconds"
cp "$work/seconds/replications.csv" results/readme/seconds.csv
