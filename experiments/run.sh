#!/bin/sh
# Runs experiments and keeps their results: experiments/run.sh [NAME…]   (default: all that have a `runs` file)
#
# Each line of experiments/NAME/runs is "RESULT  COMMAND…"; the command's files go to results/NAME/RESULT. To keep results small,
# histograms of delivery times are left out (summary.csv holds their percentiles), mean curves (report.html shows them), report.html
# unless RESULT ends in +report, and the time series of an experiment with many variants, whose `runs` file has a line "# without time series";
# with a line "# without pictures" there is none of the comparison either.
set -eu
cd "$(dirname "$0")/.."
swift build -c release --product fleetsim
if [ $# -eq 0 ]; then set -- $(cd experiments && for f in */runs; do dirname "$f"; done); fi
for name in "$@"; do
  grep -v '^ *\(#\|$\)' "experiments/$name/runs" | while read -r result command; do
    out="results/$name/${result%+report}"
    echo "== $out: fleetsim $command --out $out"
    rm -rf "$out"
    # The words of a line are split at spaces on purpose.
    # shellcheck disable=SC2086
    .build/release/fleetsim $command --out "$out" </dev/null
    find "$out" \( -name delivery_histogram.csv -o -name curves.csv \) -exec rm {} +
    if grep -q '^# without time series' "experiments/$name/runs"; then find "$out" -name timeseries.csv -exec rm {} +; fi
    if grep -q '^# without pictures' "experiments/$name/runs"; then rm -f "$out/comparison.svg"; fi
    rm -rf "$out.journal"
    case "$result" in *+report) ;; *) rm -f "$out/report.html" ;; esac
  done
done
