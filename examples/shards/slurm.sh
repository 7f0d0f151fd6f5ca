#!/bin/sh
# SPDX-License-Identifier: MIT
# A sweep in shards as a Slurm job array; then one report of the whole.
#
#   slurm.sh SHARDS SCENARIO --seed N [OPTION…]
#
# Run it in the folder that zvmlab is in; all nodes must have that folder and ZVMLAB_CACHE, by a shared
# file system.  A shard whose node fails is queued again by Slurm.  Partition, account and the like
# come from sbatch's own variables (SBATCH_PARTITION=…).
set -eu

if [ $# -lt 4 ]; then
	echo "usage: slurm.sh SHARDS SCENARIO --seed N [OPTION...]" >&2
	exit 2
fi
shards=$1 scenario=$2
shift 2
whole=zvmlab-sweep/${scenario##*:}

# sbatch runs this file again, once for each shard.
if [ -n "${SLURM_ARRAY_TASK_ID-}" ]; then
	exec ./zvmlab sweep "$scenario" "$@" --fresh --shard "$SLURM_ARRAY_TASK_ID/$shards" \
		--output "$whole-$SLURM_ARRAY_TASK_ID-of-$shards"
fi
# And once for all of them.
if [ -n "${SLURM_JOB_ID-}" ] && [ "${ZVMLAB_MERGE-}" = "$whole" ]; then
	exec ./zvmlab merge "$whole"-*-of-"$shards"/results.jsonl --output "$whole"
fi

mkdir -p zvmlab-sweep
rm -f "$whole"-*-of-"$shards"/results.jsonl
job=$(sbatch --parsable --requeue --array="1-$shards" --time=30 --job-name=zvmlab-sweep \
	--output="$whole-%a-of-$shards.log" "$0" "$shards" "$scenario" "$@")
# A sweep that finds something fails as a job, but has its results; the merge says what has none.
status=0
ZVMLAB_MERGE=$whole sbatch --wait --time=30 --dependency="afterany:${job%%;*}" --job-name=zvmlab-merge \
	--output="$whole.log" "$0" "$shards" "$scenario" "$@" || status=$?
cat "$whole.log"
exit "$status"
