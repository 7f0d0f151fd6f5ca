#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# timed.sh FILE STEP COMMAND…   runs a command, and adds a line about it to FILE
# timed.sh FILE                 prints the lines as a table
# A line has the step, seconds, the command's CPU seconds, and the CPU seconds of the whole machine.
set -u
file=$1
shift

# CPU seconds that all processors have been busy since the machine started (proc(5): user, nice,
# system, irq, softirq, in hundredths of a second).
machine() {
	awk '$1 == "cpu" { printf "%.2f", ($2 + $3 + $4 + $7 + $8) / 100 }' /proc/stat
}

if [ $# -eq 0 ]; then
	awk -F '\t' -v cpus="$(nproc)" '
		BEGIN { printf "%-12s %7s %9s %14s\n", "step", "seconds", "CPU time", "machine busy" }
		function line(step, seconds, own, all) {
			printf "%-12s %7.0f %7.0f s %13.0f%%\n", step, seconds, own, seconds ? 100 * all / seconds / cpus : 0
		}
		{ line($1, $2, $3, $4); seconds += $2; own += $3; all += $4 }
		END {
			line("all", seconds, own, all)
			if (seconds > 60 && all - own > seconds * cpus / 5)
				printf "other programs took %.0f %% of the CPU time that the machine gave meanwhile\n", 100 * (all - own) / all
		}' "$file"
	exit
fi

step=$1
shift
mkdir -p "$(dirname "$file")"
before=$(machine)
measured=$(mktemp)
TIMEFORMAT='%R %U %S'
exec 3>&2
# What bash measures goes to the file, what the command says where it belongs.
{ time "$@" 2>&3; } 2>"$measured"
code=$?
read -r seconds user system <<<"$(tail -n 1 "$measured")"
rm -f "$measured"
awk -v s="$step" -v t="$seconds" -v u="$user" -v y="$system" -v b="$before" -v a="$(machine)" \
	'BEGIN { printf "%s\t%s\t%.2f\t%.2f\n", s, t, u + y, a - b }' >>"$file"
exit "$code"
