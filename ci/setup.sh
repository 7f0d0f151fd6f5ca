#!/bin/sh
# SPDX-License-Identifier: MIT
# Install the Debian packages of ci/packages.txt that are missing; quiet and
# quick if none is.  Usage: ci/setup.sh [GROUP…] (run build test check lint bench fuzz hercules deb hosts
# recipes; without one, all but recipes, whose packages start services).
set -eu

list=$(dirname "$0")/packages.txt

say() {
	echo "ci/setup.sh: $*" >&2
}

for group in "$@"; do
	if ! grep -q "^$group " "$list"; then
		say "there is no group $group in $list"
		exit 2
	fi
done
wanted=$(awk -v groups=" $* " '/^[^#]/ && ((groups == "  " && $1 != "recipes") || index(groups, " " $1 " ")) && !seen[$2]++ { print $2 }' "$list")

if ! command -v dpkg-query >/dev/null; then
	say "this is not a Debian system; use your own package manager to install what $list lists"
	exit 77
fi

# What of $wanted is not installed; an entry may have several names.
missing() {
	entries=$(echo "$wanted" | tr '\n' ' ')
	# shellcheck disable=SC2046
	dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' $(echo "$entries" | tr '|' ' ') 2>/dev/null |
		awk -v entries="$entries" '
			$1 == "ii" { there[$2] = 1 }
			END {
				count = split(entries, entry, " ")
				for (e = 1; e <= count; e++) {
					found = 0
					number = split(entry[e], name, "|")
					for (n = 1; n <= number; n++)
						found += name[n] in there
					if (!found)
						print entry[e]
				}
			}'
}

# Of each name that differs between releases, the one that apt's lists have here; else the first.
known() {
	for entry in "$@"; do
		chosen=${entry%%|*}
		for name in $(echo "$entry" | tr '|' ' '); do
			if [ "$name" != "$entry" ] && apt-cache policy "$name" 2>/dev/null | grep -q 'Candidate: [0-9]'; then
				chosen=$name
				break
			fi
		done
		echo "$chosen"
	done
}

lacking=$(missing)
if [ -z "$lacking" ]; then
	exit 0
fi

as_root=
if [ "$(id -u)" -ne 0 ]; then
	if ! command -v sudo >/dev/null; then
		# shellcheck disable=SC2086
		say "neither root nor sudo; as root, run: apt-get install $(known $lacking | xargs)"
		exit 77
	fi
	as_root=sudo
fi
apt() {
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 "$@" >&2
}
install() {
	# shellcheck disable=SC2086
	names=$(known $lacking | xargs)
	say "installing $names"
	# shellcheck disable=SC2086
	apt install -y --no-install-recommends $names
}
if ! install; then
	say "renewing the package lists"
	apt update
	install
fi
