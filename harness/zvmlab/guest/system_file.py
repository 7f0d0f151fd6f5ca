# SPDX-License-Identifier: MIT
"""The file of a system: TOML that describes its users and segments, zvmlab-system(5).

    [segments]
    MONDCSS = "9000-97FF SC RSTD"

    [users.ALICE]
    kernel = "trixie"

    [users.BOB]
    storage = "256M"

Whatever is wrong with it is a UsageError that names the file and, where there is one, the line.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zvmlab.base.errors import UsageError
from zvmlab.base.hints import did_you_mean
from zvmlab.base.home import from_home
from zvmlab.base.json_file import short
from zvmlab.base.progress import Progress
from zvmlab.builder.guesttools import any_tool
from zvmlab.builder.kernels import check_name
from zvmlab.guest.config import (
    BASE_USERID,
    DEFAULT_SEGMENTS,
    HERCULES,
    MIB,
    PAGE,
    QEMU,
    TRACE_DATA,
    GuestConfig,
    normal_storage,
    segment_end,
)
from zvmlab.guest.run_dir import check_name as check_system_name

MAX_BYTES = 1 << 20
MAX_USERS = 64
"""CP_MAX_MACHINES of the core."""
MEMINFO = Path("/proc/meminfo")
_USERID = re.compile(r"[A-Z0-9@#$_+:-]{1,8}")
_FILE = re.compile(r"(?<!\S)FILE=", re.IGNORECASE)
_PAGES = re.compile(r"([0-9A-F]+)-([0-9A-F]+)", re.IGNORECASE)
_RESERVED = {
    "OPERATOR": "CP's operator",
    "SYSTEM": "CP",
    "ZVMLAB": "the harness",
    BASE_USERID: "guests that are saved for others",
}
_QEMU_STATEMENTS = {"SPOOL", "MDISK", "LINK"}
"""Of the directory: devices that CP has there only."""
_HEADER = re.compile(r"\[\s*users\s*\.\s*(?:\"([^\"]*)\"|'([^']*)'|([\w-]+))\s*\]")
_TABLE = re.compile(r"\[([^\[\]]+)\]")
_KEY = re.compile(r"(?:\"([^\"]*)\"|'([^']*)'|([\w-]+))\s*=")
_NOT_YET = {
    "deterministic": "guests of zvmlab up run whether somebody waits for them or not",
    "schedule": "only the CPUs of a guest alone take turns by a seed",
    "segments": "segments belong to the system, in its table [segments]",
    "level": "it belongs to the system, at the beginning of the file",
    "machine": "it belongs to the system, at the beginning of the file",
    "userid": "the name of the table [users.NAME] is the user ID",
}
"""Keys that a user could be expected to have, and why it has not."""


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.isprintable() else None


def _number(value: object) -> int | None:
    return value if type(value) is int and abs(value) < 1 << 63 else None


_MAX_SEED = (1 << 64) - 1


def _seed(value: object) -> int | None:
    return value if type(value) is int and 0 <= value <= _MAX_SEED else None


def _texts(value: object) -> tuple[str, ...] | None:
    good = isinstance(value, list) and all(_text(word) is not None for word in value)
    return tuple(value) if good and isinstance(value, list) else None


def _table(value: object) -> dict[str, str] | None:
    good = isinstance(value, dict) and all(_text(word) is not None for word in value.values())
    return value if good and isinstance(value, dict) else None


_Read = Callable[[object], Any]
_WORDS: dict[_Read, str] = {
    _text: "a text",
    _number: "a number",
    _seed: f"a number from 0 to {_MAX_SEED}",
    _texts: "a list of texts",
    _table: "a table of texts",
}
_SYSTEM_KEYS: dict[str, _Read] = {"name": _text, "level": _text, "machine": _text}
_USER_KEYS: dict[str, _Read] = {
    "kernel": _text,
    "backend": _text,
    "cpus": _number,
    "storage": _text,
    "class": _text,
    "directory": _texts,
    "console": _text,
    "conmode": _text,
    "seed": _seed,
    "modules": _texts,
    "driver": _text,
    "files": _table,
    "tools": _texts,
    "devices": _texts,
    "append": _text,
    "autolog": _text,
    "trace-data": _text,
    "trace-limit": _number,
}


@dataclass(frozen=True)
class SystemFile:
    """What a file says; the users are in its order, which is that of their log-on."""

    path: Path
    name: str
    options: Mapping[str, str]
    """Of the process: level and machine, as far as they are given."""
    segments: tuple[str, ...]
    users: Mapping[str, GuestConfig]
    lines: Mapping[str, int] = field(default_factory=dict)
    """Where each user is described."""
    autolog: Mapping[str, str] = field(default_factory=dict)
    """Users who wait until another one logs them on, and who that is."""

    def where(self, userid: str) -> str:
        """The beginning of a sentence about that user."""
        return f"{self.path}, line {self.lines.get(userid, 1)}: user {userid}"

    def check_memory(self, meminfo: Path = MEMINFO) -> None:
        """UsageError if this machine has not the memory free that the users' storage takes."""
        free = free_memory(meminfo)
        each = {userid: config.emulated_storage() for userid, config in self.users.items()}
        needed = sum(each.values())
        if free is None or needed <= free:
            return
        parts = ", ".join(f"{userid} {size // MIB} MiB" for userid, size in each.items())
        raise UsageError(
            f"{self.path}: the users' storage takes {needed // MIB} MiB ({parts}), and this machine"
            f" has {free // MIB} MiB free; give them less storage, or the system fewer users"
        )


def free_memory(meminfo: Path = MEMINFO) -> int | None:
    """Bytes that programs can still have (proc(5), MemAvailable); None if nobody knows."""
    try:
        found = re.search(r"^MemAvailable: +(\d+) kB$", meminfo.read_text("ascii"), re.MULTILINE)
    except (OSError, UnicodeDecodeError):
        return None
    return int(found[1]) << 10 if found else None


def read_system(path: Path, name: str | None = None) -> SystemFile:
    """The file's system, called *name* (default: what the file says, or the file's own name)."""
    return _Reader(path).read(name)


def check_userid(userid: str, where: str) -> None:
    """UsageError, which begins with *where*, if no guest of a system can have that user ID."""
    if userid.startswith("*"):
        raise UsageError(f"{where}: {userid} is the name of a service of CP; a user needs another")
    if not _USERID.fullmatch(userid):
        raise UsageError(
            f"{where}: the user ID {short(userid)} is not 1 to 8 characters A to Z, 0 to 9,"
            " @ # $ _ - + :"
        )
    if userid in _RESERVED:
        raise UsageError(
            f"{where}: {userid} is the user ID of {_RESERVED[userid]}; a user needs another"
        )


class _Reader:
    """One file while it is read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._source = self._load()
        self._lines = _Lines(self._source)

    def read(self, name: str | None) -> SystemFile:
        """All of it, checked."""
        tables = self._parse()
        users, segments = tables.pop("users", None), tables.pop("segments", None)
        words = self._values("", tables, _SYSTEM_KEYS, ("users", "segments"))
        if users is not None and not isinstance(users, dict):
            raise UsageError(
                f"{self._at('', 'users')}: users is {_shown(users)}; each user has a table [users.NAME]"
            )
        if not users:
            raise UsageError(f"{self._path} has no users; give each a table [users.NAME]")
        if len(users) > MAX_USERS:
            raise UsageError(f"{self._path} has {len(users)} users (at most {MAX_USERS})")
        ranges = self._segments(segments)
        found: dict[str, GuestConfig] = {}
        lines: dict[str, int] = {}
        autolog: dict[str, str] = {}
        for given, table in users.items():
            userid = self._userid(given, lines)
            lines[userid] = self._lines.user(given)
            found[userid] = self._user(given, userid, table, ranges)
            if "autolog" in table:
                autolog[userid] = table["autolog"].upper()
        self._check_autolog(autolog, {given.upper(): given for given in users})
        name = name or words.pop("name", None) or self._path.stem
        words.pop("name", None)
        try:
            check_system_name(name, "system")
        except UsageError as error:
            raise UsageError(f"{error}; give it another with --name") from None
        return SystemFile(self._path, name, words, ranges, found, lines, autolog)

    def _load(self) -> str:
        try:
            with open(self._path, "rb") as file:
                data = file.read(MAX_BYTES + 1)
        except OSError as error:
            raise UsageError(f"{self._path} cannot be read: {error.strerror}") from None
        if len(data) > MAX_BYTES:
            raise UsageError(f"{self._path} has more than {MAX_BYTES >> 20} MiB")
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise UsageError(f"{self._path} is not TOML: {error}") from None

    def _parse(self) -> dict[str, Any]:
        """The tables; two of one user are told as such, which TOML does not allow either."""
        for userid, line, first in self._lines.repeated_users():
            raise UsageError(
                f"{self._path}, line {line}: there are two users {userid}; the first is in line"
                f" {first}"
            )
        try:
            return tomllib.loads(self._source)
        except ValueError as error:  # or a number whose text Python does not take
            raise UsageError(f"{self._path} is not TOML: {error}") from None
        except RecursionError:
            raise UsageError(f"{self._path} is nested too deeply") from None

    def _at(self, table: str, key: str) -> str:
        return f"{self._path}, line {self._lines.key(table, key)}"

    def _values(
        self, table: str, found: Mapping[str, Any], keys: Mapping[str, _Read], *more: Any
    ) -> dict[str, Any]:
        """The values of a table, each of its type."""
        known = [*keys, *(more[0] if more else ())]
        values: dict[str, Any] = {}
        for key, value in found.items():
            if key not in keys and table and key in _NOT_YET:
                raise UsageError(
                    f"{self._at(table, key)}: a user has no {key}: {_NOT_YET[key]}; remove the line"
                )
            if key not in keys:
                raise UsageError(
                    f"{self._at(table, key)}: unknown key: {short(key)} (possible:"
                    f" {', '.join(known)}){did_you_mean(key, known)}"
                )
            values[key] = keys[key](value)
            if values[key] is None:
                raise UsageError(
                    f"{self._at(table, key)}: {key} is {_shown(value)}; it must be"
                    f" {_WORDS[keys[key]]}"
                )
        return values

    def _userid(self, given: str, lines: Mapping[str, int]) -> str:
        userid = given.upper()
        where = f"{self._path}, line {self._lines.user(given)}"
        check_userid(userid, where)
        if userid in lines:
            raise UsageError(
                f"{where}: there are two users {userid}; the first is in line {lines[userid]}"
            )
        return userid

    def _check_autolog(self, autolog: Mapping[str, str], users: Mapping[str, str]) -> None:
        """Whoever waits is waiting for a user who will be there."""
        for userid, other in autolog.items():
            where = self._at(f"users.{users[userid]}", "autolog")
            if other not in users:
                raise UsageError(
                    f"{where}: autolog: there is no user {short(other)}"
                    f"{did_you_mean(other, list(users))}"
                )
            chain = [userid]
            while chain[-1] in autolog:
                chain.append(autolog[chain[-1]])
                if chain[-1] == userid:
                    raise UsageError(
                        f"{where}: nobody would ever log {userid} on, because each waits for the"
                        f" next: {' -> '.join(chain)}; remove one autolog"
                    )
                if chain[-1] in chain[:-1]:
                    break  # of a cycle that it is not in, which its members tell

    def _segments(self, table: object) -> tuple[str, ...]:
        """The segments' definitions; no two have a page in common."""
        if table is None:
            return DEFAULT_SEGMENTS
        if not isinstance(table, dict):
            raise UsageError(
                f"{self._at('', 'segments')}: segments is {_shown(table)}; it must be a table"
                ' [segments] of lines such as MONDCSS = "9000-97FF SC RSTD"'
            )
        found: dict[str, str] = {}
        pages: dict[str, list[tuple[int, int]]] = {}
        for given, words in table.items():
            name, where = given.upper(), self._at("segments", given)
            if _text(words) is None:
                raise UsageError(f"{where}: {given} is {_shown(words)}; it must be a text")
            if name in found:
                raise UsageError(f"{where}: the segment {name} is defined twice")
            if ";" in given + words:
                raise UsageError(
                    f"{where}: {given} has a semicolon; give each segment its own line"
                )
            words = self._with_file(words, where)
            found[name] = f"{name} {words}"
            try:
                segment_end(found[name])
            except UsageError as error:
                raise UsageError(f"{where}: {error}") from None
            ranges = [match for match in map(_PAGES.fullmatch, words.split()) if match]
            pages[name] = [(int(match[1], 16), int(match[2], 16)) for match in ranges]
            for other in pages:
                shared = _shared_page(pages[name], pages[other]) if other != name else None
                if shared is not None:
                    raise UsageError(
                        f"{where}: the segments {other} and {name} both have the page at"
                        f" {shared * PAGE:X}; give one of them another place"
                    )
        return tuple(found.values())

    def _with_file(self, words: str, where: str) -> str:
        """A segment's definition; the file of its contents is there, and found from any folder."""
        given = _FILE.search(words)
        if given is None:
            return words
        rest, path = words[: given.start()], words[given.end() :]
        if not self._beside(path).is_file():
            raise UsageError(f"{where}: no such file: {path}")
        return f"{rest}FILE={self._beside(path)}"

    def _user(
        self, given: str, userid: str, table: object, segments: tuple[str, ...]
    ) -> GuestConfig:
        where = f"{self._path}, line {self._lines.user(given)}: user {userid}"
        if not isinstance(table, dict):
            raise UsageError(f"{where} is {_shown(table)}; it must be a table [users.{userid}]")
        values = self._values(f"users.{given}", table, _USER_KEYS)
        self._check_user(given, values)
        cp = {"userid": userid}
        for key in ("class", "console", "conmode", "seed"):
            if key in values:
                cp[key] = str(values[key])
        if "directory" in values:
            cp["directory"] = ";".join(values["directory"])
        fields = {key: values[key] for key in ("backend", "cpus", "driver") if key in values}
        if "storage" in values:
            fields["storage"] = normal_storage(values["storage"])
        try:
            return GuestConfig(
                kernel=self._near(values.get("kernel", "bookworm")),
                segments=segments,
                cp=cp,
                modules=tuple(map(self._near, values.get("modules", ()))),
                files=self._files(values),
                devices=tuple(self._devices(values)),
                command_line=values.get("append", ""),
                trace_data=values.get("trace-data", "short"),
                trace_limit=values.get("trace-limit", 1024),
                **fields,
            )
        except UsageError as error:
            raise UsageError(f"{where}: {error}") from None

    def _check_user(self, given: str, values: Mapping[str, Any]) -> None:
        """What names something: it is there."""
        table = f"users.{given}"
        if "kernel" in values:
            try:
                check_name(self._near(values["kernel"]))
            except UsageError as error:
                raise UsageError(f"{self._at(table, 'kernel')}: {error}") from None
        for word in values.get("modules", ()):
            if "/" in word and not Path(self._near(word)).exists():
                raise UsageError(f"{self._at(table, 'modules')}: no such module: {word}")
        for at, local in values.get("files", {}).items():
            if not at.startswith("/"):
                raise UsageError(
                    f"{self._at(table, 'files')}: the guest's path {short(at)} does not begin with /"
                )
            if not self._beside(local).is_file():
                raise UsageError(f"{self._at(table, 'files')}: no such file: {local}")
        statements = (words.split()[:1] for words in values.get("directory", ()))
        found = {word.upper() for words in statements for word in words}
        for word in sorted(found & _QEMU_STATEMENTS if values.get("backend") == HERCULES else ()):
            raise UsageError(
                f"{self._at(table, 'directory')}: {word} statements are for members in {QEMU}:"
                f" card devices, printers and disks of {HERCULES} are its own; leave out {word}, or"
                " backend"
            )
        if values.get("trace-data", "short") not in TRACE_DATA:
            raise UsageError(
                f"{self._at(table, 'trace-data')}: trace-data is {_shown(values['trace-data'])}"
                f" ({' or '.join(TRACE_DATA)})"
            )

    def _files(self, values: Mapping[str, Any]) -> dict[str, Path]:
        files = {at: self._beside(local) for at, local in values.get("files", {}).items()}
        for name in values.get("tools", ()):
            files |= any_tool(name, Progress(brief=True))
        return files

    def _devices(self, values: Mapping[str, Any]) -> Iterator[str]:
        """In the words of the user's emulator; files are relative to the folder."""
        for words in values.get("devices", ()):
            kind, given, image = words.partition(",file=")
            if values.get("backend") == HERCULES:
                beside = ((word, self._beside(word)) for word in words.split())
                yield " ".join(str(path) if path.is_file() else word for word, path in beside)
            else:
                yield f"{kind},file={self._beside(image)}" if given else kind

    def _near(self, word: str) -> str:
        """A word that can be a path, which is relative to the file's folder."""
        if "/" not in word or word.startswith(("/", "~", "source:")):
            return word
        return str(self._beside(word))

    def _beside(self, path: str) -> Path:
        return self._path.absolute().parent / from_home(path)


def _shared_page(ones: list[tuple[int, int]], others: list[tuple[int, int]]) -> int | None:
    for first, last in ones:
        for other_first, other_last in others:
            if first <= other_last and other_first <= last:
                return max(first, other_first)
    return None


def _shown(value: object) -> str:
    """A value as the user has written it, more or less."""
    return short(value) if isinstance(value, (str, int, float, bool, list, dict)) else str(value)


class _Lines:
    """Where tables and keys stand in the source: tomllib does not tell.

    A text of several lines that looks like keys can make a number wrong, and nothing else.
    """

    def __init__(self, source: str) -> None:
        self._tables: dict[str, int] = {"": 1}
        self._keys: dict[tuple[str, str], int] = {}
        self._repeated: list[tuple[str, int, int]] = []
        table = ""
        for number, line in enumerate(source.splitlines(), 1):
            text = line.strip()
            if user := _HEADER.match(text):
                table = f"users.{user[1] or user[2] or user[3] or ''}"
                if table in self._tables:
                    self._repeated.append((table[6:], number, self._tables[table]))
                self._tables.setdefault(table, number)
            elif header := _TABLE.match(text):
                table = re.sub(r"[\s\"']", "", header[1])
                self._tables.setdefault(table, number)
            elif key := _KEY.match(text):
                self._keys.setdefault((table, key[1] or key[2] or key[3] or ""), number)

    def repeated_users(self) -> list[tuple[str, int, int]]:
        """User ID, line, and the line of the first of that name."""
        return self._repeated

    def user(self, userid: str) -> int:
        """The line of a user's table."""
        return self._tables.get(f"users.{userid}") or self.key("users", userid)

    def key(self, table: str, key: str) -> int:
        """The line of a key, or else of its table."""
        nested = self._tables.get(f"{table}.{key}" if table else key, 0)
        return self._keys.get((table, key), 0) or nested or self._tables.get(table, 1)
