#!/bin/sh
# By what factor do common random numbers narrow the intervals of differences? Experiment 001 with SEEDS seeds (default 20);
# writes results/crn/{statistics,differences}.csv and the table of results/crn/README.md.
set -eu
cd "$(dirname "$0")/../.."
seeds=${SEEDS:-20}
out=results/crn
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
swift build -c release --product fleetsim
.build/release/fleetsim compare experiments/001-outage-herd/scenario.json5 --seeds "$seeds" --out "$work/out"
mkdir -p "$out"
cp "$work/out/statistics.csv" "$work/out/differences.csv" "$out/"
# A row for each metric, a column for each variant against the first; names of 001 hold no comma.
awk -F, '
  NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
  {
    if (!($1 in seen)) { seen[$1] = 1; variants[++v] = $1 }
    metric = $column["metric"]
    if (!(metric in known)) { known[metric] = 1; metrics[++m] = metric }
    factor[metric, $1] = $column["crn_factor_ratio"]
  }
  END {
    printf "| metric |"; for (i = 1; i <= v; i++) printf " %s |", variants[i]; printf "\n|---|"
    for (i = 1; i <= v; i++) printf "---:|"; printf "\n"
    for (k = 1; k <= m; k++) {
      any = 0
      for (i = 1; i <= v; i++) if (factor[metrics[k], variants[i]] != "") any = 1
      if (!any) continue
      printf "| `%s` |", metrics[k]
      for (i = 1; i <= v; i++) {
        f = factor[metrics[k], variants[i]]
        if (f == "") printf " – |"; else printf " %.2f |", f
      }
      printf "\n"
    }
  }' "$out/differences.csv" >"$work/table.md"
# The text above the table is written by hand.
awk '/^\| metric / { exit } { print }' "$out/README.md" >"$work/README.md" 2>/dev/null || true
cat "$work/README.md" "$work/table.md" >"$out/README.md"
cat "$work/table.md"
