#!/bin/sh
# Is tune's probability to have chosen the best right, and does its race need fewer runs? experiments/search/calibration.sh [PROBLEMS]
#
# Problems with known expected values, of eight families in turn: Tests/FleetStatisticsTests/PlantedSelections.swift. Writes
# results/search/calibration.md. About a minute for the 3,000 problems of the default.
set -eu
cd "$(dirname "$0")/../.."
problems=${1:-3000}
found=$(mktemp)
trap 'rm -f "$found"' EXIT
FLEETSIM_PLANTED=$problems swift test -c release --disable-testable-imports --filter SelectionRaceTests | tee /dev/stderr | sed -n 's/^PLANTED //p' >"$found"
part() { sed -n "s/^$1 //p" "$found"; }
{
  echo "# Is the choice as sure as is said?"
  echo
  echo "\`experiments/search/calibration.sh $problems\`: problems with 3 to 16 systems whose expected values are known. Each race goes on until"
  echo "it is 95 % sure or has taken 60 draws a system; \"said\" is the mean of what was stated."
  echo
  echo "| said to be sure | problems | said | right |"
  echo "|---|---:|---:|---:|"
  part tenths
  echo
  echo "The races that got sure took $(part taken) % of their draws."
  echo
  echo "Of those said to be 95 % sure, by family:"
  echo
  echo "| family | problems | said | right |"
  echo "|---|---:|---:|---:|"
  part families
  echo
  echo "Wrong choices at the same budget, 24 draws a system:"
  echo
  echo "| problems | race | tune's halving | halving in even parts | equal draws |"
  echo "|---:|---:|---:|---:|---:|"
  part wrong
} >results/search/calibration.md
