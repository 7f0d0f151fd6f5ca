# SPDX-License-Identifier: MIT
"""Debian packages of other suites and architectures, and sources, by private apt lists.

The machine's own lists and configuration are not touched: apt is given lists,
caches and a source list of its own below the cache.  The archive is the one this
machine is configured for; apt verifies its signatures with Debian's keyring and
the packages with the hashes in the signed index.

    suite = Suite("trixie", "s390x")
    suite.update()
    newest = suite.find(r"linux-image-.*-s390x")[-1]
    suite.download(newest.name, Path("debs"))

What is there already goes on working without a network, and after the archive
has moved on: old lists are kept when they cannot be renewed, and an old file is
returned when the new one cannot be fetched.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from zvmlab.base import manifest
from zvmlab.base.cache import cache_root, locked
from zvmlab.base.decided import keep, recall, state_of
from zvmlab.base.errors import CannotRun, UsageError
from zvmlab.base.owned import is_ours, mark
from zvmlab.base.progress import Progress

HOUR = 3600.0
DAY = 24 * HOUR
UPDATE_SECONDS = 300
QUERY_SECONDS = 60
DOWNLOAD_SECONDS = 900
HELPER = "/usr/lib/apt/apt-helper"
REACH = ("Acquire::http", "Acquire::Check-Valid-Until", "Acquire::Check-Date", "Acquire::Max")
"""Settings of the machine's apt that are kept: proxies, and whether a stale mirror is taken."""
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


class AptRefused(CannotRun):
    """apt has ended with an error of its own."""


@dataclass(frozen=True)
class Package:
    """A binary package as the suite's signed index describes it."""

    name: str
    version: str
    sha256: str
    size: int
    filename: str
    depends: str

    @property
    def file(self) -> str:
        """Name that apt gives the downloaded file: a colon in the version is quoted."""
        arch = self.filename.rpartition("_")[2].removesuffix(".deb")
        return f"{self.name}_{self.version.replace(':', '%3a')}_{arch}.deb"


@dataclass(frozen=True)
class _Source:
    """One archive and suite from the machine's own configuration."""

    uri: str
    suite: str


def _deb822_sources(text: str) -> list[_Source]:
    """Enabled entries with the component main of a .sources file."""
    found = []
    for paragraph in re.split(r"\n[ \t]*\n", text):
        lines = [line for line in paragraph.splitlines() if not line.startswith("#")]
        unfolded = re.sub(r"\n[ \t]+", " ", "\n".join(lines))
        fields = {
            name.strip().lower(): value.split()
            for name, colon, value in (line.partition(":") for line in unfolded.splitlines())
            if colon
        }
        if [v.lower() for v in fields.get("enabled", [])] in (["no"], ["false"], ["0"]):
            continue
        if "main" in fields.get("components", []):
            found += [_Source(u, s) for u in fields.get("uris", []) for s in fields["suites"]]
    return found


def _one_line_sources(text: str) -> list[_Source]:
    """Entries with the component main of a sources.list file."""
    found = []
    for line in text.splitlines():
        bare = re.sub(r"\[[^]]*\]", " ", line.partition("#")[0])
        words = bare.split()
        if len(words) >= 4 and words[0] in ("deb", "deb-src") and "main" in words[3:]:
            found.append(_Source(words[1], words[2]))
    return found


def archive_uri(etc: Path = Path("/etc/apt"), os_release: Path = Path("/etc/os-release")) -> str:
    """The Debian archive that this machine is configured for.

    Third parties have suites called "stable" with a component "main", too: the
    machine's own suite and a path that ends in "debian" tell the archive from
    them, and its signature settles it.
    """
    found: list[_Source] = []
    for file in [etc / "sources.list", *sorted((etc / "sources.list.d").glob("*"))]:
        if file.is_file() and file.suffix in (".list", ".sources"):
            text = file.read_text(encoding="utf-8", errors="replace")
            found += (_deb822_sources if file.suffix == ".sources" else _one_line_sources)(text)
    try:
        release = dict(
            line.split("=", 1) for line in os_release.read_text().splitlines() if "=" in line
        )
    except OSError:
        release = {}
    own = shlex.split(release.get("VERSION_CODENAME", "")) or [""]
    names = {own[0], "stable", "oldstable", "testing", "unstable", "sid"}
    for source in sorted(found, key=lambda s: s.suite != own[0]):
        if source.suite in names and source.uri.rstrip("/").endswith("debian"):
            return source.uri
    raise CannotRun(
        f"{etc}/sources.list and {etc}/sources.list.d name no Debian archive to fetch packages"
        " from; add a line such as 'deb MIRROR/debian bookworm main'"
    )


def _run(argv: list[str], conf: Path, seconds: int, cwd: Path | None = None) -> str:
    """Run apt; its whole process group is ended at the time limit."""
    env = {**os.environ, "APT_CONFIG": str(conf), "LC_ALL": "C.UTF-8"}
    try:
        process = subprocess.Popen(
            argv,
            env=env,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except FileNotFoundError as error:
        raise CannotRun(f"{argv[0]} is missing; packages are fetched on Debian only") from error
    try:
        out, err = process.communicate(timeout=seconds)
    except BaseException as error:
        _end(process)
        if isinstance(error, subprocess.TimeoutExpired):
            raise CannotRun(f"'{' '.join(argv[:2])}' did not end within {seconds} s") from error
        raise
    if process.returncode != 0:
        reasons = [line[3:] for line in err.splitlines() if line.startswith("E: ")]
        reason = reasons[0] if reasons else f"exit code {process.returncode}"
        raise AptRefused(f"'{' '.join(argv[:2])}' failed: {reason.rstrip('.')}")
    return out


def _replace(file: Path, text: str) -> Path:
    """Write a file at once: other processes read it."""
    scratch = file.with_name(f"{file.name}.{os.getpid()}")
    scratch.write_text(text, encoding="utf-8")
    return scratch.replace(file)


def _end(process: subprocess.Popen[str]) -> None:
    """Kill apt and all that it has started, of which nothing may be left any more."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def _sha256(file: Path) -> str:
    with open(file, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


class Suite:
    """One suite of the Debian archive for one architecture, or its sources."""

    def __init__(
        self, name: str, arch: str, source: bool = False, progress: Progress | None = None
    ) -> None:
        if not re.fullmatch(r"[a-z][a-z0-9-]*", name) or not re.fullmatch(r"[a-z0-9-]+", arch):
            raise UsageError(f"invalid Debian suite or architecture: '{name}', '{arch}'")
        self.name = name
        self.arch = arch
        self.source = source
        self._label = f"{name}-{'source' if source else arch}"
        self._home = cache_root() / "apt" / self._label
        self._stamp = self._home / "updated"
        self._lists = self._home / "lists"
        self._progress = progress or Progress()

    def update(self, max_age: float = DAY) -> bool:
        """Renew the lists if they are older than *max_age* seconds.

        Return: False if they could not be renewed and the old ones are used.
        """
        with locked(f"apt-{self._label}"):
            self._drop_damaged()
            if self._stamp.exists() and time.time() - self._stamp.stat().st_mtime < max_age:
                return True
            what = "sources" if self.source else self.arch
            try:
                self._write_sources()
                with self._progress.step(f"reading Debian's index of {self.name} ({what})"):
                    _run(["apt-get", "update"], self._conf, UPDATE_SECONDS)
            except CannotRun as error:
                if not self._stamp.exists():
                    raise CannotRun(
                        f"Debian's index of {self.name} ({what}) cannot be read: {error}"
                    ) from error
                self._progress.say(f"using the old index of {self.name} ({what}): {error}")
                return False
            manifest.write(self._lists)
            self._stamp.touch()
            return True

    def find(self, pattern: str) -> list[Package]:
        """Packages whose whole name matches the regular expression, oldest version first."""
        found = []
        for paragraph in self._described(pattern).split("\n\n"):
            fields = dict(re.findall(r"^([A-Za-z0-9-]+): (.*)$", paragraph, re.MULTILINE))
            if "Filename" in fields:
                found.append(
                    Package(
                        name=fields["Package"],
                        version=fields["Version"],
                        sha256=fields["SHA256"],
                        size=int(fields["Size"]),
                        filename=fields["Filename"],
                        depends=fields.get("Depends", ""),
                    )
                )
        numbers = re.compile(r"(\d+)")
        found.sort(
            key=lambda p: [
                (1, int(word), "") if word.isdigit() else (0, 0, word)
                for word in numbers.split(f"{p.version} {p.name}")
            ]
        )
        return found

    def _described(self, pattern: str) -> str:
        """What the lists say of these packages.

        apt reads whole lists for each question, which takes more than a second of CPU time; so the
        answer is kept for as long as the lists are the same.
        """
        self._need_lists()
        state = state_of([self._lists])
        key = hashlib.sha256(f"{self._label} {pattern}".encode()).hexdigest()[:16]
        known: str | None = recall("packages", key, state)
        if known is not None:
            return known
        names = [
            name
            for name in self._query(["apt-cache", "pkgnames"]).split()
            if re.fullmatch(pattern, name)
        ]
        argv = ["apt-cache", "--no-all-versions", "show", *names]
        text = self._query(argv) if names else ""
        # Lists that apt could not read are others now.
        if state_of([self._lists]) == state:
            keep("packages", key, state, text)
        return text

    def package(self, name: str) -> Package:
        """The package of exactly this name."""
        found = self.find(re.escape(name))
        if not found:
            raise CannotRun(f"Debian's {self.name} has no package {name} for {self.arch}")
        return found[0]

    def depends(self, name: str) -> list[str]:
        """Names of the packages that *name* depends on (of alternatives, the first)."""
        groups = self.package(name).depends.split(",")
        first = (group.split("|")[0].strip().partition(" ")[0] for group in groups)
        return [word.partition(":")[0] for word in first if word]

    def download(self, name: str, into: Path) -> Path:
        """Fetch the suite's .deb of *name* unless it is in *into* already.

        If it cannot be fetched, an older version that is there is returned.
        """
        into.mkdir(parents=True, exist_ok=True)
        package = self.package(name)
        file = into / package.file
        if file.exists() and _sha256(file) == package.sha256:
            return file
        try:
            return self._fetch(name, into)
        except CannotRun as error:
            older = sorted(into.glob(f"{name}_*.deb"), key=lambda f: f.stat().st_mtime)
            if not older:
                raise
            self._progress.say(f"using {older[-1].name}: {error}")
            return older[-1]

    def download_all(self, names: Sequence[str], into: Path) -> list[Path]:
        """Fetch the .debs of *names* and of everything they depend on; apt resolves that."""
        self._need_lists()
        (into / "partial").mkdir(parents=True, exist_ok=True)
        argv = [
            *("apt-get", "install", "--yes", "--download-only", "--no-install-recommends"),
            *("-o", f"Dir::Cache::archives={into}", *names),
        ]
        with self._progress.step(f"fetching {', '.join(names)} and what they need"):
            try:
                _run(argv, self._conf, DOWNLOAD_SECONDS, into)
            except CannotRun:
                if not self.update(max_age=0):
                    raise
                _run(argv, self._conf, DOWNLOAD_SECONDS, into)
        return sorted(into.glob("*.deb"))

    def download_source(self, name: str, into: Path) -> list[Path]:
        """Fetch the upstream tarball(s) of source package *name* into *into*."""
        self._need_lists()
        into.mkdir(parents=True, exist_ok=True)
        argv = ["apt-get", "--download-only", "--tar-only", "source", name]
        with self._progress.step(f"fetching the source of {name}"):
            _run(argv, self._conf, DOWNLOAD_SECONDS, into)
        found = sorted(into.glob(f"{name}_*.orig*.tar.*"))
        if not found:
            raise CannotRun(f"Debian's {self.name} has no upstream tarball of {name}")
        return found

    def download_known(self, name: str, file: str, sha256: str, into: Path) -> None:
        """Fetch a file of source package *name* that the suite does not list.

        Its hash is all that says which file it is: no signed index names it.
        """
        initial = name[:4] if name.startswith("lib") else name[0]
        uri = f"{archive_uri().rstrip('/')}/pool/main/{initial}/{name}/{file}"
        into.mkdir(parents=True, exist_ok=True)
        with self._progress.step(f"fetching {file}"):
            argv = [HELPER, "download-file", uri, str(into / file), f"SHA256:{sha256}"]
            _run(argv, self._conf, DOWNLOAD_SECONDS, into)

    def _query(self, argv: list[str]) -> str:
        """Ask the lists; they are fetched anew if apt cannot read them."""
        try:
            return _run(argv, self._conf, QUERY_SECONDS)
        except AptRefused as error:
            self._progress.say(f"fetching the index of {self.name} anew: {error}")
            with locked(f"apt-{self._label}"):
                self._forget()
            self.update()
            return _run(argv, self._conf, QUERY_SECONDS)

    def _need_lists(self) -> None:
        if not self._stamp.exists() or manifest.is_whole(self._lists) is False:
            self.update()

    def _drop_damaged(self) -> None:
        """Lists that are not as they were fetched are fetched anew, whatever their age."""
        if manifest.is_whole(self._lists) is False:
            self._forget()

    def _forget(self) -> None:
        shutil.rmtree(self._lists, ignore_errors=True)
        self._stamp.unlink(missing_ok=True)

    def _fetch(self, name: str, into: Path) -> Path:
        """Download with the lists at hand; with renewed ones if the archive has moved on."""
        try:
            package = self.package(name)
            self._apt_download(package, into)
        except CannotRun:
            if not self.update(max_age=0):
                raise
            package = self.package(name)
            self._apt_download(package, into)
        file = into / package.file
        if not file.exists() or _sha256(file) != package.sha256:
            raise CannotRun(f"{file} was downloaded damaged; remove it and try again")
        return file

    def _apt_download(self, package: Package, into: Path) -> None:
        text = f"fetching {package.name} {package.version} ({package.size / 1e6:.1f} MB)"
        with self._progress.step(text):
            argv = ["apt-get", "download", f"{package.name}={package.version}"]
            _run(argv, self._conf, DOWNLOAD_SECONDS, into)

    def _write_sources(self) -> None:
        """Write the sources of the lists."""
        signed = f"[signed-by={KEYRING}] " if KEYRING.exists() else ""
        kind = "deb-src" if self.source else "deb"
        # What is in backports depends on the release that it is for.
        release = self.name.removesuffix("-backports")
        suites = dict.fromkeys([self.name, release])
        lines = [f"{kind} {signed}{archive_uri()} {suite} main\n" for suite in suites]
        _replace(self._folders() / "sources.list", "".join(lines))

    def _folders(self) -> Path:
        """Make the folders that apt needs; return their top."""
        home = self._home
        for folder in ("lists/partial", "archives/partial", "empty"):
            (home / folder).mkdir(parents=True, exist_ok=True)
        (home / "status").touch()
        if not is_ours(home.parent):
            mark(home.parent)
        return home

    @functools.cached_property
    def _conf(self) -> Path:
        """A configuration that takes from the machine's only how to reach the archive.

        apt wants absolute paths: it is written each time, because a cache can be moved.
        """
        home = self._folders()
        dump = subprocess.run(
            ["apt-config", "dump"], capture_output=True, text=True, check=False, timeout=30
        ).stdout
        acquire = [s for s in dump.splitlines() if s.startswith(REACH)]
        settings = {
            "APT::Architecture": self.arch,
            "APT::Architectures": self.arch,
            "APT::Sandbox::User": "",
            "APT::Update::Error-Mode": "any",
            "Acquire::Languages": "none",
            "Acquire::Retries": "3",
            "Acquire::http::Timeout": "30",
            "Acquire::https::Timeout": "30",
            "Dir::Cache": str(home),
            "Dir::Cache::archives": str(home / "archives"),
            "Dir::Etc::Main": "/dev/null",
            "Dir::Etc::Parts": str(home / "empty"),
            "Dir::Etc::SourceList": str(home / "sources.list"),
            "Dir::Etc::SourceParts": str(home / "empty"),
            "Dir::Etc::Preferences": "/dev/null",
            "Dir::Etc::PreferencesParts": str(home / "empty"),
            "Dir::State": str(home),
            "Dir::State::Lists": str(home / "lists"),
            "Dir::State::status": str(home / "status"),
        }
        mine = [f'{key} "{value}";' for key, value in settings.items()]
        return _replace(home / "apt.conf", "\n".join([*acquire, *mine, ""]))
