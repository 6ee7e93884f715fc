#!/bin/sh
# How often do 95 % intervals hold what they should? Writes results/coverage/coverage.txt.
#
# A scenario with a known expected value (the mean wait of M/M/1), 1,000 repetitions of ten replications: see
# Tests/FleetSimulationTests/Theory/CoverageTests.swift. The seeds are 1 to 10,000. Some minutes.
set -eu
cd "$(dirname "$0")/../.."
mkdir -p results/coverage
FLEETSIM_COVERAGE=1000 swift test -c release --filter CoverageTests | tee /dev/stderr \
  | sed -n 's/^COVERAGE //p' >results/coverage/coverage.txt
