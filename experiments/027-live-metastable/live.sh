#!/usr/bin/env bash
# Predicts what server.py will do to the clients, lets it, and keeps both: live.sh [REPETITIONS]   (default: 10)
#
# For each of SURGES (share of the clients in percent, in ten seconds) as many runs as REPETITIONS, each with a seed of its own, five times as
# fast as life. Writes results/027-live-metastable/live.csv. Needs python3. Where the machine has other things to do: chrt -r 20 live.sh.
# FLEETSIM is the program, if it is not to be built.
set -euo pipefail
cd "$(dirname "$0")/../.."
repetitions=${1:-10}
: "${SPEED:=5}" "${SURGES:=1 2 2.5 3 3.5 4 8}" "${RESULTS:=results/027-live-metastable}"
if [ -z "${FLEETSIM:-}" ]; then
  swift build -c release --product fleetsim
  FLEETSIM=.build/release/fleetsim
fi
here=experiments/027-live-metastable
out=$(mktemp -d)
# What has been measured is told, also when something fails.
trap 'python3 "$here/table.py" LIVE "$out" "$RESULTS/live.csv"; rm -rf "$out"' EXIT
for share in $SURGES; do
  for seed in $(seq "$repetitions"); do
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    log=$(mktemp)
    "$here/server.py" "$port" "$SPEED" "$log" &
    server=$!
    until (: >"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do sleep 0.1; done
    folder="$out/$share/10/$seed"
    printf '%s %%, seed %s: ' "$share" "$seed"
    "$FLEETSIM" live "$here/scenario.json5" --server "http://127.0.0.1:$port" --speed "$SPEED" --seed "$seed" --predictions 1 \
      --set "fleet.search.spikes.0.share=$share%" --quiet --out "$folder"
    kill "$server"
    wait "$server" || true
    mv "$log" "$folder/server.csv"
  done
done
