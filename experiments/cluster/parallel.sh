#!/bin/sh
# SHARDS=4 experiments/cluster/parallel.sh SCENARIO --seeds 16 --out DIR
seq "${SHARDS:=4}" | parallel --will-cite --quote "${FLEETSIM:-fleetsim}" sweep "$@" --jobs 1 --shard "{}/$SHARDS"
