#!/usr/bin/env bash
# Predicts what an nginx will do to a fleet, lets it, and prints both: experiments/live/live.sh [REPETITIONS]   (default: 10)
#
# For additive and full jitter, retries by gate and by timer: as many runs as REPETITIONS, each with a seed of its own, ten times as fast as
# life. Keeps, in results/live, runs-OUTAGE.csv (each figure of each run, measured and predicted), table-OUTAGE.md, and observed.csv, what the
# first run counted second by second. SPEED (a whole number), OUTAGE (503, silent or stopped) and KINDS ("full:timer …") change that. Needs nginx
# and python3. Where the machine has other things to do: chrt -r 20 experiments/live/live.sh. FLEETSIM is the program, if it is not to be built.
set -euo pipefail
cd "$(dirname "$0")/../.."
repetitions=${1:-10}
: "${SPEED:=10}" "${OUTAGE:=503}" "${KINDS:=additive:gate additive:timer full:gate full:timer}" "${RESULTS:=results/live}"
. experiments/live/nginx.sh
command -v nginx >/dev/null || { echo "no nginx on the PATH: apt-get install nginx" >&2; exit 69; }
if [ -z "${FLEETSIM:-}" ]; then
  swift build -c release --product fleetsim
  FLEETSIM=.build/release/fleetsim
fi
# The simulator knows no server that refuses connections. A 503 is as quick, and this client treats both alike.
case $OUTAGE in 503 | stopped) status=503 ;; *) status='"none"' ;; esac
# Two time-outs of 15 s would end exactly at a flush: the simulator lets a time-out end first, and a real one ends a moment later.
timeout=15.01s

out=$(mktemp -d)
# What has been measured is told, also when something fails.
trap 'stop_nginx; python3 experiments/live/table.py "$out" "$RESULTS" "$OUTAGE"; rm -rf "$out"' EXIT
for kind in $KINDS; do
  strategy=${kind%:*} retries=${kind#*:}
  case $strategy in additive) strategy=additive:10 ;; esac
  for seed in $(seq "$repetitions"); do
    start_nginx "$SPEED"
    export nginx port silent outage=$OUTAGE
    folder="$out/${kind/:/-}/$seed"
    printf '%s, seed %s: ' "$kind" "$seed"
    "$FLEETSIM" live experiments/live/scenario.json5 --server "http://127.0.0.1:$port" --speed "$SPEED" \
      --set "settings.backoffConfig.jitterStrategy=$strategy" --set "fleet.phones.retries=$retries" \
      --set "tapi.incidents.0.status=$status" --set "fleet.phones.timeout=$timeout" --seed "$seed" --on-incident experiments/live/incident.sh \
      --quiet --out "$folder"
    # nginx closes its log when it ends.
    nginx_does stopped
    sleep 0.3
    awk '{ n[$1]++ } END { for (status in n) print status "," n[status] }' "$nginx/access.log" | sort >"$folder/nginx.csv"
    stop_nginx
  done
done
