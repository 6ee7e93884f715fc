#!/bin/sh
# What `fleetsim live --on-incident` runs: nginx does as the scenario's incident, then as before.
set -eu
. "$(dirname "$0")/nginx.sh"
if [ "$FLEETSIM_MOMENT" = begin ]; then nginx_does "$outage"; else nginx_does normal; fi
