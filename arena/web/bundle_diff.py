"""How two versions' files differ, for who may read both."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from arena.bots import stored_files
from arena.bots.stored_files import StoredFile
from arena.models import BotVersion
from engine.plurals import counted
from engine.translation import gettext, ngettext

LARGEST_FILE = 256 * 1024
"""Larger files are only said to differ."""
MOST_LINES = 2000
MOST_PAIRS = 25_000_000
"""The most pairs of lines that are compared, in all files together: it takes as long as there are
pairs of them where their author wants it to, and so many about a second."""
NOTHING = StoredFile(0, b"")
"""What a file is in a version that has none of its name."""


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of a unified diff."""

    kind: str
    """``file``, ``place``, ``gone``, ``come`` or ``same``."""
    text: str


def difference(bundles: Path, candidate: BotVersion, baseline: BotVersion) -> list[DiffLine]:
    """The unified diff from the baseline's files to the candidate's; empty if they are equal."""
    old, new = (_files(bundles / version.digest) for version in (baseline, candidate))
    lines: list[DiffLine] = []
    pairs = 0
    for name in sorted(old.keys() | new.keys()):
        was, now = old.get(name, NOTHING), new.get(name, NOTHING)
        if was == now:
            continue
        texts = _text(was), _text(now)
        if texts[0] is None or texts[1] is None:
            words = gettext(
                "%(name)s: %(was)s and %(bytes)s, no text to show",
                name=name,
                was=was.size,
                bytes=counted(now.size, "byte"),
            )
            lines.append(DiffLine("file", words))
            continue
        names = (f"{baseline.label}/{name}", f"{candidate.label}/{name}")
        before, after = texts[0].splitlines(), texts[1].splitlines()
        pairs += len(before) * len(after)
        if pairs > MOST_PAIRS:
            words = gettext(
                "%(name)s: %(before)s and %(after)s lines, too many to compare",
                name=name,
                before=len(before),
                after=len(after),
            )
            lines.append(DiffLine("file", words))
            continue
        made = difflib.unified_diff(before, after, *names, lineterm="")
        lines += [DiffLine(_kind(line), line) for line in made]
    if len(lines) > MOST_LINES:
        left = len(lines) - MOST_LINES
        lines = [*lines[:MOST_LINES], DiffLine("file", _more(left))]
    return lines


def _more(lines: int) -> str:
    return ngettext("and %(lines)s line more", "and %(lines)s lines more", lines, lines=lines)


def _files(bundle: Path) -> Mapping[str, StoredFile]:
    """The files of a stored bundle by their names; none if it is not stored on this server."""
    return stored_files.read(bundle, LARGEST_FILE + 1) if bundle.exists() else {}


def _text(file: StoredFile) -> str | None:
    if file.size > LARGEST_FILE or b"\0" in file.content:
        return None
    try:
        return file.content.decode()
    except UnicodeDecodeError:
        return None


def _kind(line: str) -> str:
    if line.startswith(("---", "+++")):
        return "file"
    return {"@": "place", "-": "gone", "+": "come"}.get(line[:1], "same")
