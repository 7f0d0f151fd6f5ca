#!/bin/sh
# SPDX-License-Identifier: MIT
# A sweep in shards on several hosts, by GNU parallel and ssh; then one report of the whole.
#
#   parallel.sh [--again] SHARDS HOST[,HOST…] SCENARIO --seed N [OPTION…]
#
# Each host has zvmlab in the folder that this is run from, rsync, and a shell for you by ssh without
# a password; ":" is this machine.  A shard whose host fails, or answers no more, runs again on another
# one.  With --again only the shards run that are not here yet: after this machine has failed, or all
# others have.  PARALLEL_SSH is the ssh that is used, with its options.
set -eu

again=
if [ "${1-}" = --again ]; then
	again=yes
	shift
fi
if [ $# -lt 5 ]; then
	echo "usage: parallel.sh [--again] SHARDS HOST[,HOST...] SCENARIO --seed N [OPTION...]" >&2
	exit 2
fi
shards=$1 hosts=$2 scenario=$3
shift 3
whole=zvmlab-sweep/${scenario##*:}
finished='^{"finished":'

# Those of all shards whose results are not here, or have no end.
lost() {
	for number in $(seq "$shards"); do
		grep -qs "$finished" "$whole-$number-of-$shards/results.jsonl" || echo "$number"
	done
}

if [ -z "$again" ]; then
	rm -f "$whole"-*-of-"$shards"/results.jsonl
fi
# A host that has no power any more closes no connection.
PARALLEL_SSH=${PARALLEL_SSH:-ssh -o BatchMode=yes -o ConnectTimeout=20 -o ServerAliveInterval=10}
export PARALLEL_SSH
# For the shells of the hosts.
options=
for word in "$scenario" "$@"; do
	options="$options'$(printf '%s' "$word" | sed "s/'/'\\\\''/g")' "
done
file=$whole-{}-of-$shards/results.jsonl
# A sweep that finds something has its results; one that did not come to its end is the host's failure.
lost | parallel --will-cite --sshlogin "$hosts" --workdir "$PWD" --jobs 1 --retries 4 --timeout 1800 --return "$file" \
	"rm -f $file; ./zvmlab sweep $options--fresh --shard {}/$shards --output $whole-{}-of-$shards; grep -q '$finished' $file" || true
exec ./zvmlab merge "$whole"-*-of-"$shards"/results.jsonl --output "$whole"
