"""A bot's log by plies: what `engine.process` put together, taken apart again."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine import exchange

HEADING = "--- ply {} ---"
"""What stands above what was written to standard error at a ply."""
NOTE = "ply {}: "
"""The beginning of a line that was said before the reply at a ply."""
_HEADING, _NOTE = (
    re.compile(re.escape(words).replace(r"\{\}", r"(\d{1,9})"), re.ASCII)
    for words in (HEADING, NOTE)
)


def is_heading(line: str) -> bool:
    """Whether a line stands above what was written at a ply."""
    return _HEADING.fullmatch(line) is not None


def apart(log: str) -> tuple[str, list[exchange.ExchangedLine]]:
    """What a bot wrote, and the lines that were exchanged with it."""
    text, section = _parts(log)
    return text, exchange.read_lines(section)


def _parts(log: str) -> tuple[str, str]:
    """What a bot wrote, and the section of the lines that were exchanged with it."""
    # The last one: a bot may write such a line as well, and what was exchanged comes after that.
    text, found, lines = f"\n{log}".rpartition(f"\n{exchange.HEADING}")
    return (text[1:] + "\n" * bool(text), lines) if found else (log, "")


def by_ply(log: str) -> dict[int, str]:
    """What a bot wrote at each ply, by the number of plies before it; -1 for what is of none."""
    found: dict[int, list[str]] = {}
    for ply, line in _lines(apart(log)[0]):
        found.setdefault(ply, []).append(line)
    return {ply: "".join(lines) for ply, lines in found.items()}


def exchanged_by_ply(log: str) -> dict[int, str]:
    """The lines exchanged with a bot as they are kept, by plies as in `by_ply`."""
    return exchange.by_ply(_parts(log)[1])


def place_of(ply: int, first: int, last: int) -> int:
    """The position in which something is shown that was said at a ply: the one that it led to.

    What was said before a bot's first turn is shown where its game begins, and in the last position
    also what was said after the last ply, such as why a bot ended.

    Args:
        first: how many plies the opening made.
        last: how many plies there were when the bot left, or at the end.
    """
    return min(first if ply < 0 else ply + 1, last)


def by_place(log: str, first: int, last: int) -> dict[int, str]:
    """What a bot wrote, by the position in which it is shown; the arguments are `place_of`'s."""
    found: dict[int, str] = {}
    for ply, text in sorted(by_ply(log).items()):
        place = place_of(ply, first, last)
        found[place] = found.get(place, "") + text
    return found


def _lines(log: str) -> Iterator[tuple[int, str]]:
    ply = -1
    for line in log.splitlines(keepends=True):
        if heading := _HEADING.fullmatch(line.rstrip("\n")):
            ply = int(heading[1])
        elif ply < 0 and (note := _NOTE.match(line)):
            yield int(note[1]), line[note.end() :]
        else:
            yield ply, line
