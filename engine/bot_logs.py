"""A bot's log by plies: what `engine.process` put together, taken apart again."""

from __future__ import annotations

import re
from collections.abc import Iterator

HEADING = "--- ply {} ---"
"""What stands above what was written to standard error at a ply."""
NOTE = "ply {}: "
"""With what a line begins that was said before the reply at a ply."""
_HEADING, _NOTE = (
    re.compile(re.escape(words).replace(r"\{\}", r"(\d{1,9})"), re.ASCII)
    for words in (HEADING, NOTE)
)


def is_heading(line: str) -> bool:
    """Whether a line stands above what was written at a ply."""
    return _HEADING.fullmatch(line) is not None


def by_ply(log: str) -> dict[int, str]:
    """What a log has of each ply, by the number of plies before it; -1 for what is of none."""
    found: dict[int, list[str]] = {}
    for ply, line in _lines(log):
        found.setdefault(ply, []).append(line)
    return {ply: "".join(lines) for ply, lines in found.items()}


def at(log: str, ply: int, last: int) -> str:
    """What a log has of the move that led to a position, after so many plies.

    At the end that is also what was written after the last ply, such as why a bot ended.

    Args:
        last: how many plies the game has.
    """
    parts = by_ply(log)
    return "".join(
        text
        for its, text in sorted(parts.items())
        if its == ply - 1 or (ply == last and its >= last)
    )


def _lines(log: str) -> Iterator[tuple[int, str]]:
    ply = -1
    for line in log.splitlines(keepends=True):
        if heading := _HEADING.fullmatch(line.rstrip("\n")):
            ply = int(heading[1])
        elif ply < 0 and (note := _NOTE.match(line)):
            yield int(note[1]), line[note.end() :]
        else:
            yield ply, line
