#!/bin/sh
# How often do 95 % intervals hold what they should? Writes results/coverage/coverage.txt and results/coverage/conclusions.md.
#
# First a scenario with a known expected value (the mean wait of M/M/1), 1,000 repetitions of ten replications: see
# Tests/FleetSimulationTests/Theory/CoverageTests.swift. The seeds are 1 to 10,000.
#
# Then what a verdict stands on, in three small fleets: 2,000 runs of each are the truth; 400 comparisons of 10 runs drawn from
# them, and 400 that go on until known: see Tests/FleetExperimentsTests/ConclusionCoverageTests.swift. Some minutes.
set -eu
cd "$(dirname "$0")/../.."
mkdir -p results/coverage
FLEETSIM_COVERAGE=1000 swift test -c release --disable-testable-imports --filter FleetSimulationTests.CoverageTests | tee /dev/stderr \
  | sed -n 's/^COVERAGE //p' >results/coverage/coverage.txt

pools=$(mktemp -d)
trap 'rm -rf "$pools"' EXIT
# A comparison of one variant: --vary sets a key to what it is.
for case in well-behaved:interval=1s rare-losses:interval=5s metastable:interval=10s; do
  name=${case%%:*}
  .build/release/fleetsim compare "experiments/coverage/$name.json5" --vary "${case#*:}" --seeds 2000 --quiet --out "$pools/$name"
done
FLEETSIM_POOLS=$pools swift test -c release --disable-testable-imports --filter ConclusionCoverageTests | tee /dev/stderr >"$pools/found.txt"
{
  echo "| case | metric | runs | intervals given | of these hold the truth |"
  echo "|---|---|---|---:|---:|"
  sed -n 's/^COVERAGE //p' "$pools/found.txt" \
    | awk -F, '{ held = $5 > 0 ? sprintf("%.1f %% (%d)", 100 * $6 / $5, $6) : "–"
        runs = $3 == "fixed" ? "10" : "15 to 480, until known"
        printf "| %s | `%s` | %s | %d of %d | %s |\n", $1, $2, runs, $5, $4, held }'
} >results/coverage/conclusions.md
