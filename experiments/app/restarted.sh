#!/usr/bin/env bash
# The app, killed while it can reach no server, and started again with one: restarted.sh APP --input JSON
# What it tracked before must arrive all the same. For `fleetsim conformance --exec`.
set -euo pipefail
app=$1 input=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Nothing listens on port 9, as on a phone without a network.
"$app" --input "$(sed -E 's#("apiHost": *")[^"]*#\1http://127.0.0.1:9#' <<<"$input")" --folder "$folder" 2>"$folder/log" >&2 &
first=$!
for _ in {1..200}; do
  if grep -q 'no answer' "$folder/log"; then break; fi
  sleep 0.05
done
kill -KILL "$first"
wait "$first" 2>/dev/null || true

"$app" --input "$(sed -E 's#"sequences": *\[.*\]#"sequences":[]#' <<<"$input")" --folder "$folder"
