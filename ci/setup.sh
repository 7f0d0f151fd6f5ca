#!/bin/sh
# SPDX-License-Identifier: MIT
# Install the Debian packages of ci/packages.txt that are missing; quiet and
# quick if none is.  Usage: ci/setup.sh [GROUP…] (run build check lint bench fuzz;
# without one, all).
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
wanted=$(awk -v groups=" $* " '/^[^#]/ && (groups == "  " || index(groups, " " $1 " ")) { print $2 }' "$list")

if ! command -v dpkg-query >/dev/null; then
	say "this is not a Debian system; use your own package manager to install what $list lists"
	exit 77
fi

missing=
# shellcheck disable=SC2086
installed=$(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' $wanted 2>/dev/null |
	awk '$1 == "ii" { print $2 }') || true
for package in $wanted; do
	if ! echo "$installed" | grep -Fqx "$package"; then
		missing="$missing $package"
	fi
done
if [ -z "$missing" ]; then
	exit 0
fi

say "installing$missing"
as_root=
if [ "$(id -u)" -ne 0 ]; then
	if ! command -v sudo >/dev/null; then
		say "neither root nor sudo; as root, run: apt-get install$missing"
		exit 77
	fi
	as_root=sudo
fi
apt() {
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 "$@" >&2
}
# shellcheck disable=SC2086
if ! apt install -y --no-install-recommends $missing; then
	say "renewing the package lists"
	apt update
	# shellcheck disable=SC2086
	apt install -y --no-install-recommends $missing
fi
