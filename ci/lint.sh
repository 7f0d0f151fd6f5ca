#!/bin/sh
# SPDX-License-Identifier: MIT
# All linters over the whole tree, or those that are named; one more at once than there are processors,
# because the first ones fetch packages and wait for them.
# Every one runs, the result is the worst.  One that cannot run here (no headers, no network) says so
# and fails nothing.
set -u
cd "$(dirname "$0")/.." || exit 1
python=${PYTHON:-/usr/bin/python3}
export PYTHONPATH=harness
# Those that fetch packages begin first, then those that take longest.
linters='driver hercules cppcheck mypy sparse reuse objects black codespell shellcheck mutants layers version pages translations'
tab=$(printf '\t')

# Calls "$@" with options and sources of each module, but QEMU's port: that needs QEMU's headers.
each_module() {
	# A line for each folder of C: its name, include options, sources (module.mk).
	modules=$("$python" -m zvmlab.builder.module_mk) || return 1
	result=0
	while IFS="$tab" read -r folder options sources; do
		[ "$folder" = sim/qemu ] || "$@" "$options" "$sources" </dev/null || result=1
	done <<-END
	$modules
	END
	return "$result"
}

# What it found in a file is kept, by a checksum of the file with all that it includes; CI looks at all.
# shellcheck disable=SC2086 # lists, no blanks within a word
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

# shellcheck disable=SC2086 # as above
sparse_some() {
	# What includes Hercules' headers or is a test is not held against sparse.
	case $2 in sim/hercules/* | tests/* | guest/*) return 0 ;; esac
	libnl=$(pkg-config --cflags libnl-genl-3.0)
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

# Tests in no module have their own ways to be built.
lone_sources() {
	modules=$("$python" -m zvmlab.builder.module_mk) || return 1
	git ls-files 'tests/*.c' | while read -r file; do
		case $modules in *"$file"*) ;; *) echo "$file" ;; esac
	done
}

# Runs one of them; 77: it cannot.
# shellcheck disable=SC2046,SC2086 # lists of files, no blanks within a name; an option, or none
lint() {
	case $1 in
	cppcheck)
		worst=0
		each_module cppcheck_some || worst=1
		cppcheck_some '' "$(lone_sources)" || worst=1
		return "$worst"
		;;
	sparse) each_module sparse_some ;;
	hercules) "$python" -m zvmlab.builder.herculesbuild --lint ;;
	shellcheck) shellcheck $(git ls-files '*.sh' .ci/run) ;;
	codespell)
		codespell --quiet-level 3 --ignore-words ci/codespell.txt $(git ls-files ':!tests/fuzz/corpus')
		;;
	black) "$python" -m black --quiet --check harness tests ci corrections sim guest zvmlab ;;
	mypy)
		# It keeps what it knows of modules that have not changed, with all that they import.
		keeps=
		[ "${CI:-}" = true ] && keeps=--cache-dir=/dev/null
		"$python" -m mypy $keeps --no-error-summary harness/zvmlab tests ci sim/qemu/*.py corrections/*.py
		;;
	reuse) reuse lint --quiet ;;
	# The floors are those of the objects.
	objects)
		# A developer's tools are linked of them later; in CI nobody needs what a debugger reads.
		debug=
		[ "${CI:-}" = true ] && debug=DEBUG_INFO=-g0
		make --no-print-directory -s -j "$(nproc)" $debug objects && "$python" ci/floors.py build/plain
		;;
	mutants) "$python" tests/mutants/mutate.py --check ;;
	layers | version | pages | translations) "$python" "ci/$1.py" ;;
	driver) "$python" -m zvmlab.builder.driverlint ;;
	*)
		echo "ci/lint.sh: there is no linter $1 ($linters)" >&2
		return 2
		;;
	esac
}

# Runs one, and says in one piece what it found and how it went; fails if that fails the whole.
# shellcheck disable=SC2317 # called through xargs
told() {
	began=$(date +%s)
	code=0
	said=$(lint "$1" 2>&1) || code=$?
	failed=0
	case $code,$1 in
	0,*) result=ok ;;
	77,*) result='cannot run' ;;
	# What is for others to do: it is shown, and fails nothing here.
	*,mutants | *,translations) result='to do' ;;
	*)
		result=FAILED
		failed=1
		;;
	esac
	[ -z "$said" ] || said="$said
"
	flock "$2" printf '%s  %-11s %4d s  %s\n' "$said" "$result" $(($(date +%s) - began)) "$1"
	return "$failed"
}

if [ "${1:-}" = --told ]; then
	told "$3" "$2"
	exit
fi
lock=$(mktemp) || exit 1
trap 'rm -f "$lock"' EXIT
# shellcheck disable=SC2086 # words
[ $# -gt 0 ] || set -- $linters
if ! printf '%s\n' "$@" | xargs -n 1 -P $(($(nproc) + 1)) sh ci/lint.sh --told "$lock"; then
	exit 1
fi
