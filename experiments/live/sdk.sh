#!/usr/bin/env bash
# A fleet of fifty real SDK processes before an nginx with an outage: predicts first, measures, and prints both: sdk.sh [REPETITIONS]   (default: 10)
#
# SDK=posthog-python takes another one than segment-python; capacity=30 burst=30 is a server that limits nobody; FIRST is the first seed.
# Keeps, in results/live, runs-SDK.csv (each figure of each run, measured and predicted) and table-SDK.md, with NAME in place of SDK if it is
# given. Needs nginx, python3 with venv and the network for pip. FLEETSIM is the program, if it is not to be built.
set -euo pipefail
cd "$(dirname "$0")/../.."
repetitions=${1:-10}
: "${SDK:=segment-python}" "${RESULTS:=results/live}" "${FIRST:=1}" "${capacity:=8}" "${burst:=4}" "${retry_after:=2}"
: "${NAME:=$SDK}"
. experiments/live/nginx.sh
command -v nginx >/dev/null || { echo "no nginx on the PATH: apt-get install nginx" >&2; exit 69; }
if [ -z "${FLEETSIM:-}" ]; then
  swift build -c release --product fleetsim
  FLEETSIM=.build/release/fleetsim
fi
out=$(mktemp -d)
venv=$(mktemp -d)
# What has been measured is told, also when something fails.
trap 'stop_nginx; python3 experiments/live/table.py "$out" "$RESULTS" "$NAME"; rm -rf "$out" "$venv"' EXIT
python3 -m venv "$venv"
"$venv/bin/pip" install -q --require-hashes -r experiments/conformance/requirements.lock
PATH="$venv/bin:$PATH"
# A right model is outside the range of 320 seeds in one of eight figures in at most 8 * 2 / 321 = 5 % of the runs.
for seed in $(seq "$FIRST" $((FIRST + repetitions - 1))); do
  start_nginx 1
  export nginx port silent outage=503 capacity burst retry_after
  folder="$out/$NAME/$seed"
  printf '%s, seed %s: ' "$NAME" "$seed"
  "$FLEETSIM" live experiments/live/sdk.json5 --server "http://127.0.0.1:$port" --seed "$seed" \
    --set "fleet.processes.client=$SDK" --set "tapi.bucket.capacity=$capacity/s" --set "tapi.bucket.burst=$burst" \
    --exec "python3 experiments/conformance/$SDK/cli.py" --warm-up 15s --predictions 320 --on-incident experiments/live/incident.sh \
    --quiet --out "$folder"
  # nginx closes its log when it ends.
  nginx_does stopped
  sleep 0.3
  awk '{ n[$1]++ } END { for (status in n) print status "," n[status] }' "$nginx/access.log" | sort >"$folder/nginx.csv"
  stop_nginx
done
