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

# What is for others to do, such as a translation: it is shown, and fails nothing here.
report() {
	name=$1
	shift
	if "$@"; then
		printf '  %-11s %s\n' ok "$name"
	else
		printf '  %-11s %s\n' 'to do' "$name"
	fi
}

# A line for each folder of C: its name, include options, sources (module.mk).
modules=$(PYTHONPATH=harness "$python" -m zvmlab.builder.module_mk) || exit 1
# Tests in no module have their own ways to be built.
lone_sources=$(git ls-files 'tests/*.c' | while read -r file; do
	case $modules in *"$file"*) ;; *) echo "$file" ;; esac
done)
scripts=$(git ls-files '*.sh' .ci/run)
mypy_keeps=
if [ "${CI:-}" = true ]; then
	mypy_keeps=--cache-dir=/dev/null
fi
libnl=$(pkg-config --cflags libnl-genl-3.0)
tab=$(printf '\t')

# Calls "$@" with options and sources of each module, but QEMU's port: that needs QEMU's headers.
# shellcheck disable=SC2317 # called through run()
each_module() {
	result=0
	while IFS="$tab" read -r folder options sources; do
		[ "$folder" = sim/qemu ] || "$@" "$options" "$sources" </dev/null || result=1
	done <<-END
	$modules
	END
	return "$result"
}

# What it found in a file is kept, by a checksum of the file with all that it includes; CI looks at all.
# shellcheck disable=SC2317,SC2086 # called through run(); lists, no blanks within a word
cppcheck_some() {
	kept=
	if [ "${CI:-}" != true ]; then
		# One folder for each way to call it: its own checksum does not have the options.
		kept=build/lint/cppcheck-$(echo "$1 $2" | cksum | tr ' ' -)
		mkdir -p "$kept"
		kept=--cppcheck-build-dir=$kept
	fi
	cppcheck $kept --quiet --std=c11 --enable=warning,performance,portability --inline-suppr \
		--suppress=missingIncludeSystem --error-exitcode=1 $1 $2
}

# shellcheck disable=SC2317,SC2086 # as above
sparse_some() {
	# What includes Hercules' headers or is a test is not held against sparse.
	case $2 in sim/hercules/* | tests/* | guest/*) return 0 ;; esac
	result_of_some=0
	for file in $2; do
		# Sparse ends with 0 after warnings, too: whatever it says counts.
		out=$(sparse -Wno-decl -std=gnu11 $1 $libnl "$file" 2>&1)
		if [ -n "$out" ]; then
			echo "$out"
			result_of_some=1
		fi
	done
	return "$result_of_some"
}

run cppcheck each_module cppcheck_some
run 'cppcheck of the rest' cppcheck_some '' "$lone_sources"
run 'warnings of sim/hercules' env PYTHONPATH=harness "$python" -m zvmlab.builder.herculesbuild --lint
run sparse each_module sparse_some
# shellcheck disable=SC2086 # a list of files, no blanks within a name
run shellcheck shellcheck $scripts
# shellcheck disable=SC2046 # a list of files, no blanks within a name
run codespell codespell --quiet-level 3 --ignore-words ci/codespell.txt $(git ls-files ':!tests/fuzz/corpus')
run black "$python" -m black --quiet --check harness tests ci corrections sim guest zvmlab
# It keeps what it knows of modules that have not changed, with all that they import.
# shellcheck disable=SC2086 # an option, or none
run mypy "$python" -m mypy $mypy_keeps --no-error-summary harness/zvmlab tests ci sim/qemu/*.py corrections/*.py
run reuse reuse lint --quiet
run layers env PYTHONPATH=harness "$python" ci/layers.py
run objects make --no-print-directory -s -j "$(nproc)" objects
run floors env PYTHONPATH=harness "$python" ci/floors.py build/plain
run version "$python" ci/version.py
run pages "$python" ci/pages.py
report translations env PYTHONPATH=harness "$python" ci/translations.py
report mutants env PYTHONPATH=harness "$python" tests/mutants/mutate.py --check
run driver env PYTHONPATH=harness "$python" -m zvmlab.builder.driverlint
exit $status
