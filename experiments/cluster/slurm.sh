#!/bin/bash
#SBATCH --job-name=fleetsim-sweep
#SBATCH --array=0-3
#SBATCH --cpus-per-task=1
# sbatch experiments/cluster/slurm.sh SCENARIO --seeds 16 --out DIR      (--array=0-99 before the script's name for 100 shards)
exec "${FLEETSIM:-fleetsim}" sweep "$@" --jobs "$SLURM_CPUS_PER_TASK"
