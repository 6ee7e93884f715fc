#!/bin/sh
# SHARDS=4 experiments/cluster/parallel.sh SCENARIO --seeds 16 --out DIR
shards=${SHARDS:-4}
seq "$shards" | parallel --will-cite --quote "${FLEETSIM:-fleetsim}" sweep "$@" --jobs 1 --shard "{}/$shards"
