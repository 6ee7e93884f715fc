#!/bin/bash
#SBATCH --job-name=fleetsim
#SBATCH --array=1-4
#SBATCH --cpus-per-task=1
# sbatch experiments/cluster/slurm.sh SCENARIO --seeds 16 --journal DIR      (--array=1-100 before the script's name for 100 shards)
exec "${FLEETSIM:-fleetsim}" compare "$@" --jobs "$SLURM_CPUS_PER_TASK" --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT"
