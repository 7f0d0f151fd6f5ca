#!/bin/sh
# SPDX-License-Identifier: MIT
# All linters over the whole tree; every one runs, the result is the worst.
set -u
cd "$(dirname "$0")/.." || exit 1
python=${PYTHON:-/usr/bin/python3}
status=0

run() {
	name=$1
	shift
	if "$@"; then
		printf '  %-11s %s\n' ok "$name"
	else
		printf '  %-11s %s\n' FAILED "$name"
		status=1
	fi
}

c_sources=$(git ls-files 'sim/cp/*.c' 'sim/record/*.c' 'sim/control/*.c')
test_sources=$(git ls-files 'tests/unit/*.c' 'tests/bench/*.c' 'tests/harness/*.c')
agent_sources=$(git ls-files 'guest/agent/*.c')
scripts=$(git ls-files '*.sh' .ci/run)
includes='-Isim/cp/include -Isim/cp -Isim/record -Isim/control'

sparse_all() {
	out=$(mktemp)
	for file in $c_sources; do
		# shellcheck disable=SC2086
		sparse -Wno-decl -std=gnu11 $includes "$file" 2>>"$out"
	done
	cat "$out"
	test ! -s "$out"
	result=$?
	rm -f "$out"
	return $result
}

# shellcheck disable=SC2086
run cppcheck cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr \
	--suppress=missingIncludeSystem --error-exitcode=1 $includes $c_sources $test_sources $agent_sources
run sparse sparse_all
# shellcheck disable=SC2086
run shellcheck shellcheck $scripts
run codespell codespell --quiet-level 3 --ignore-words ci/codespell.txt $(git ls-files)
run black "$python" -m black --quiet --check harness tests sim guest zvmlab
run mypy env MYPYPATH=harness "$python" -m mypy harness/zvmlab tests/bench tests/e2e tests/harness
run reuse reuse lint --quiet
exit $status
