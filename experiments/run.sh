#!/bin/sh
# Runs experiments and keeps their results: experiments/run.sh [NAME…]   (default: all that have a `runs` file)
#
# Each line of experiments/NAME/runs is "RESULT  COMMAND…"; the command's files go to results/NAME/RESULT. To keep results small,
# histograms of delivery times are left out (summary.csv holds their percentiles), mean curves (report.html shows them), differences between
# variants of several seeds, of run.json the answer and the files' digests, and report.html unless RESULT ends in +report. A line of
# `runs` leaves more out or puts something in, for all results or, with "of RESULT…" behind it, for these:
#
#   # without time series        for an experiment with many variants
#   # without pictures           there is none of the comparison
#   # without tables             a map shows what statistics.csv and replications.csv have
#   # with sums FROM TO STEP     sums.csv: of the time series between these seconds, by experiments/sums.py
#
# experiments/NAME/picture.py, where there is one, draws more of them in the end (without Python it is left out).
set -eu
cd "$(dirname "$0")/.."
swift build -c release --product fleetsim
if [ $# -eq 0 ]; then set -- $(cd experiments && for f in */runs; do dirname "$f"; done); fi
for name in "$@"; do
  runs="experiments/$name/runs"
  grep -v '^ *\(#\|$\)' "$runs" | while read -r result command; do
    kept=${result%+report}
    out="results/$name/$kept"
    says() { grep -Eq "^# $1( of (.* )?$kept( .*)?)?\$" "$runs"; }
    echo "== $out: fleetsim $command --out $out"
    rm -rf "$out"
    # The words of a line are split at spaces on purpose.
    # shellcheck disable=SC2086
    .build/release/fleetsim $command --out "$out" </dev/null
    find "$out" \( -name delivery_histogram.csv -o -name curves.csv -o -name differences.csv \) -exec rm {} +
    if says 'with sums [0-9 ]*[0-9]'; then
      # shellcheck disable=SC2046
      experiments/sums.py "$out" $(sed -En "s/^# with sums ([0-9]+ [0-9]+ [0-9]+)( of (.* )?$kept( .*)?)?\$/\1/p" "$runs")
    fi
    if says 'without time series'; then find "$out" \( -name timeseries.csv -o -name connections.csv -o -name proxies.csv \) -exec rm {} +; fi
    if says 'without pictures'; then rm -f "$out/comparison.svg"; fi
    if says 'without tables'; then rm -f "$out/statistics.csv" "$out/replications.csv"; fi
    rm -rf "$out.journal"
    # What the answer said and the digests of all files: half of what a result would take.
    find "$out" -name run.json | while read -r run; do
      sed '/^  "answer": {/,/^  },$/d; /^  "files": \[/,/^  \],$/d' "$run" >"$run.short"
      mv "$run.short" "$run"
    done
    case "$result" in *+report) ;; *) rm -f "$out/report.html" ;; esac
  done
  if [ -x "experiments/$name/picture.py" ] && command -v python3 >/dev/null; then "experiments/$name/picture.py"; fi
done
