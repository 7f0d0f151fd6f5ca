#!/bin/sh
# SPDX-License-Identifier: MIT
# All linters over the whole tree; every one runs, the result is the worst.  One that
# cannot run here (no headers, no network) says so and fails nothing.
set -u
cd "$(dirname "$0")/.." || exit 1
python=${PYTHON:-/usr/bin/python3}
status=0

run() {
	name=$1
	shift
	code=0
	"$@" || code=$?
	if [ "$code" -eq 0 ]; then
		printf '  %-11s %s\n' ok "$name"
	elif [ "$code" -eq 77 ]; then
		printf '  %-11s %s\n' 'cannot run' "$name"
	else
		printf '  %-11s %s\n' FAILED "$name"
		status=1
	fi
}

c_sources=$(git ls-files 'lib/*.c' 'sim/cp/*.c' 'sim/record/*.c' 'sim/fabricate/*.c' 'sim/control/*.c' \
	'sim/replay/*.c' 'tools/common/*.c' 'tools/dmmon/*.c' 'tools/taskmon/*.c' 'tools/monread/*.c' \
	driver/mon_stream.c)
test_sources=$(git ls-files 'tests/*.c')
agent_sources=$(git ls-files 'guest/agent/*.c')
scripts=$(git ls-files '*.sh' .ci/run)
includes='-Ilib/base -Ilib/monrec -Isim/cp/include -Isim/cp -Isim/record -Isim/fabricate -Isim/control -Isim/replay -Isim/hercules -Idriver -Itools -Itools/common -Itools/dmmon -Itests/unit'
includes="$includes $(pkg-config --cflags libnl-genl-3.0)"

# shellcheck disable=SC2317 # called through run()
sparse_all() {
	result=0
	for file in $c_sources; do
		# Sparse ends with 0 after warnings, too: whatever it says counts.
		# shellcheck disable=SC2086 # lists of options, no blanks within one
		out=$(sparse -Wno-decl -std=gnu11 $includes "$file" 2>&1)
		if [ -n "$out" ]; then
			echo "$out"
			result=1
		fi
	done
	return "$result"
}

# shellcheck disable=SC2086 # lists of files and options, no blanks within one
run cppcheck cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr \
	--suppress=missingIncludeSystem --error-exitcode=1 $includes $c_sources $test_sources $agent_sources
# shellcheck disable=SC2046 # a list of files, no blanks within a name
run 'cppcheck of sim/hercules' cppcheck --quiet --std=c11 --enable=warning,performance,portability \
	--inline-suppr --suppress=missingIncludeSystem --error-exitcode=1 -Ilib/base -Isim/cp/include -Isim/control \
	-Isim/hercules $(git ls-files 'sim/hercules/*.c')
run 'warnings of sim/hercules' env PYTHONPATH=harness "$python" -m zvmlab.build.herculesbuild --lint
run sparse sparse_all
# shellcheck disable=SC2086 # a list of files, no blanks within a name
run shellcheck shellcheck $scripts
# shellcheck disable=SC2046 # a list of files, no blanks within a name
run codespell codespell --quiet-level 3 --ignore-words ci/codespell.txt $(git ls-files ':!tests/fuzz/corpus')
run black "$python" -m black --quiet --check harness tests ci sim guest zvmlab
run mypy "$python" -m mypy --no-error-summary harness/zvmlab tests ci sim/qemu/insert_hooks.py
run reuse reuse lint --quiet
run layers "$python" ci/layers.py
run mutants env PYTHONPATH=harness "$python" tests/mutants/mutate.py --check
run driver env PYTHONPATH=harness "$python" -m zvmlab.build.driverlint
exit $status
