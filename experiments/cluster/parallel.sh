#!/bin/sh
# SHARDS=4 experiments/cluster/parallel.sh SCENARIO --seeds 16 --journal DIR
shards=${SHARDS:-4}
seq "$shards" | parallel --will-cite --quote "${FLEETSIM:-fleetsim}" compare "$@" --jobs 1 --shard "{}/$shards"
