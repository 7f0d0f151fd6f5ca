#!/bin/sh
# SPDX-License-Identifier: MIT
# A sweep in shards on several hosts, by GNU parallel and ssh; then one report of the whole.
#
#   parallel.sh SHARDS HOST[,HOST…] SCENARIO --seed N [OPTION…]
#
# Each host has zvmlab in the folder that this is run from, rsync, and a shell for you by ssh without
# a password; ":" is this machine.  A shard whose host fails runs again, on another one.
set -eu

if [ $# -lt 5 ]; then
	echo "usage: parallel.sh SHARDS HOST[,HOST...] SCENARIO --seed N [OPTION...]" >&2
	exit 2
fi
shards=$1 hosts=$2 scenario=$3
shift 3

# A sweep that finds something (1) has its results; whatever else ends it is the host's failure.
seq "$shards" | parallel --will-cite --sshlogin "$hosts" --workdir "$PWD" --jobs 1 --retries 4 --timeout 1800 \
	--return "zvmlab-sweep/$scenario-{}-of-$shards/results.jsonl" \
	"./zvmlab sweep $scenario $* --fresh --shard {}/$shards || [ \$? -eq 1 ]"
exec ./zvmlab merge zvmlab-sweep/"$scenario"-*-of-"$shards" --output "zvmlab-sweep/$scenario"
