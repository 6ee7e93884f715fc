#!/usr/bin/env bash
# The regression gate on what does not depend on the machine's mood: instructions and heap allocations, counted by valgrind.
#
#   experiments/bench/gate.sh            compare with thresholds.json; exit 1 if anything got worse by more than its tolerance
#   experiments/bench/gate.sh --record   measure and rewrite thresholds.json: do that with the change that explains it
#
# Figures are differences of runs, so that the start of the program and what does not grow with the fleet cancel:
#   instructions_per_attempt  twice the devices against once: more instructions by more attempts
#   allocations_per_attempt   the same for heap allocations, in the second half of a run of twice the virtual time: what
#                             an attempt costs in steady state
#   allocations               of a whole run of the smaller fleet, its CSV files among them
#
# FLEETSIM_BENCH names the program (default: the release build of fleetsim-bench, which is built first).
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/../.."
thresholds=experiments/bench/thresholds.json

recording=false
case "$*" in
  "") ;;
  --record) recording=true ;;
  *) echo "usage: experiments/bench/gate.sh [--record]" >&2; exit 64 ;;
esac

if ! command -v valgrind >/dev/null; then
  echo "gate.sh needs valgrind, which counts instructions and allocations, and there is none on the PATH." >&2
  echo "Install it (Debian, Ubuntu: apt-get install valgrind; Fedora: dnf install valgrind) and run this again." >&2
  exit 69
fi
bench=${FLEETSIM_BENCH:-.build/release/fleetsim-bench}
[ -n "${FLEETSIM_BENCH:-}" ] || swift build -c release --product fleetsim-bench >&2
[ -x "$bench" ] || { echo "gate.sh: FLEETSIM_BENCH=$bench is no program" >&2; exit 66; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Valgrind gives up on debug information that it can't read; instructions and allocations are the same without it.
cp "$bench" "$work/bench"
for strip in strip llvm-strip; do
  if command -v "$strip" >/dev/null && "$strip" --strip-debug "$work/bench"; then break; fi
done
# Dictionaries would take other paths in every process.
export SWIFT_DETERMINISTIC_HASHING=1

# field KEY FILE: the value of a line with `"key": value,`.
field() { sed -n "s/.*\"$1\": \"\{0,1\}\([^\",]*\).*/\1/p" "$2"; }

# count TOOL WORKLOAD DEVICES DURATION: "ATTEMPTS COUNT".
count() {
  local options pattern
  case $1 in
    callgrind)
      options=(--callgrind-out-file=/dev/null)
      pattern='s/.*Collected *: *\([0-9]*\).*/\1/p'
      ;;
    memcheck)
      options=(--leak-check=no --undef-value-errors=no)
      pattern='s/.*total heap usage: *\([0-9,]*\) allocs.*/\1/p'
      ;;
  esac
  if ! valgrind --tool="$1" "${options[@]}" --log-file="$work/log" \
    "$work/bench" "$2" --devices "$3" --duration "$4" >"$work/json"; then
    cat "$work/log" >&2
    echo "gate.sh: valgrind --tool=$1 failed on $2" >&2
    exit 70
  fi
  local attempts number
  attempts=$(field attempts "$work/json")
  number=$(sed -n "$pattern" "$work/log" | tr -d ,)
  [ -n "$attempts" ] && [ -n "$number" ] || { echo "gate.sh: no count in what valgrind printed" >&2; exit 70; }
  echo "$attempts $number"
}

# measure WORKLOAD DEVICES DURATION DOUBLED_DURATION: lines "WORKLOAD.FIGURE VALUE".
measure() {
  local small large a b c d
  small=$(count callgrind "$1" "$2" "$3")
  large=$(count callgrind "$1" $(($2 * 2)) "$3")
  echo "$small $large" | awk -v name="$1" '{ printf "%s.instructions_per_attempt %.1f\n", name, ($4 - $2) / ($3 - $1) }'
  a=$(count memcheck "$1" "$2" "$3")
  b=$(count memcheck "$1" "$2" "$4")
  c=$(count memcheck "$1" $(($2 * 2)) "$3")
  d=$(count memcheck "$1" $(($2 * 2)) "$4")
  echo "$a $b $c $d" | awk -v name="$1" '{
    printf "%s.allocations_per_attempt %.5f\n", name, (($8 - $6) - ($4 - $2)) / (($7 - $5) - ($3 - $1))
    printf "%s.allocations %d\n", name, $2
  }'
}

# Long enough to have the outage behind them.
{
  measure herd-1-150 1000 40m 80m
  measure 001 500 1h 2h
} >"$work/figures"

architecture=$(uname -m)
swift_version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9.]*\).*/\1/p' | head -n 1)

if $recording; then
  {
    echo "{"
    echo "  \"architecture\": \"$architecture\","
    echo "  \"swift\": \"$swift_version\","
    echo "  \"tolerance_percent\": 5,"
    echo "  \"allocations_per_attempt_slack\": 0.001,"
    sed 's/^\([^ ]*\) \(.*\)$/  "\1": \2,/; $s/,$//' "$work/figures"
    echo "}"
  } >"$work/thresholds"
  mv "$work/thresholds" "$thresholds"
  chmod 644 "$thresholds"
  echo "recorded in $thresholds:"
  cat "$thresholds"
  exit
fi

[ -r "$thresholds" ] || { echo "gate.sh: there is no $thresholds; make it with --record" >&2; exit 66; }
recorded_architecture=$(field architecture "$thresholds")
if [ "$architecture" != "$recorded_architecture" ]; then
  cat "$work/figures"
  echo "GATE NOT APPLIED: $thresholds was recorded on $recorded_architecture, this is $architecture." >&2
  exit 0
fi
recorded_swift=$(field swift "$thresholds")
if [ "$swift_version" != "$recorded_swift" ]; then
  echo "note: recorded with Swift $recorded_swift, this is $swift_version: a difference may be the compiler's"
fi

awk -v tolerance="$(field tolerance_percent "$thresholds")" -v slack="$(field allocations_per_attempt_slack "$thresholds")" '
  FNR == NR { if (split($0, part, "\"") >= 3) { gsub(/[ :,]/, "", part[3]); recorded[part[2]] = part[3] } next }
  {
    if (!($1 in recorded)) { printf "%-36s %14s  NOT RECORDED: run with --record\n", $1, $2; failed = 1; next }
    old = recorded[$1] + 0; new = $2 + 0
    allowed = old * tolerance / 100
    if ($1 ~ /allocations_per_attempt$/ && allowed < slack) allowed = slack
    change = $1 ~ /allocations_per_attempt$/ ? "" : old != 0 ? sprintf("%+.1f %%", (new - old) / old * 100) : new == old ? "+0.0 %" : "was 0"
    verdict = "as recorded"
    if (new - old > allowed) { verdict = "WORSE"; failed = 1 }
    else if (old - new > allowed) { verdict = "better: keep it with --record"; moved = 1 }
    printf "%-36s %14s %14s  %9s  %s\n", $1, recorded[$1], $2, change, verdict
  }
  BEGIN { printf "%-36s %14s %14s  %9s\n", "figure", "recorded", "now", "change" }
  END {
    if (failed) print "\nGATE FAILED. If the change is worth it, say why in the commit and run experiments/bench/gate.sh --record."
    exit failed
  }
' "$thresholds" "$work/figures"
