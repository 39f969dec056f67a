"""The lines between referee and bot: encode and decode, nothing else.

The protocol is described for bots' authors in docs/protocol.md. Here a seat, counted from 0 in
code, becomes the number from 1 that bots see, and back.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from engine.game import line_of
from engine.player import GameEnd, GameSetup, ProtocolError, Turn
from engine.record import TOO_LARGE, GameRecord, Ply, RecordError

VERSION = 1
LONGEST_REPLY = 4096
"""Bytes of a line from a bot, its newline not counted."""
LOG_LIMIT = 64 * 1024
"""Bytes of ``#`` lines a ply."""
NUMBERS_LIMIT = 16
"""How many different numbers a bot may give for a ply; further ones are text for the log."""
TAGS_LIMIT = 16
"""How many different tags a bot may mark a ply by; further ones are text for the log."""
PV_LIMIT = 60
"""Moves that are kept of the line that a bot expects."""
LONGEST_WORD = 40
"""Characters of a time, or a level of isolation."""

HELLO = f"hello {VERSION}\n"
QUIT = "quit\n"
WANTS = frozenset({"legal", "state"})

# Whole escape sequences of terminals, then whatever else could speak to one; tabs stay.
_CONTROL = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|[\x00-\x08\x0a-\x1f\x7f-\x9f]")
_BLANKS = re.compile(r"[ \t]+")
_KEY = re.compile(r"[A-Za-z_][\w.-]{0,31}", re.ASCII)
_MOVE = re.compile(r"[!-~]+")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Ready:
    """A bot's answer to ``hello``."""

    name: str
    wants: frozenset[str]


class Reply(NamedTuple):
    """A bot's move and the free text behind it."""

    move: str
    text: str


def number(value: float) -> str:
    """A score as it is written: ``0.5``, and ``1`` for 1.0."""
    return f"{value:.10g}"


def set_line(option: str, value: str) -> str:
    """``set NAME VALUE``."""
    return f"set {option} {value}\n"


def newgame_line(setup: GameSetup) -> str:
    """``newgame GAME key=value ... seats=N you=S move=MS seed=N``."""
    return (
        f"newgame {setup.variant} seats={setup.variant.seats} you={setup.seat + 1} "
        f"{setup.time.words} seed={setup.seed}\n"
    )


def turn_lines(turn: Turn, wants: frozenset[str]) -> str:
    """The request for a move: ``state`` and ``legal`` if wanted, then ``go``."""
    lines = ""
    if wants:
        if "state" in wants:
            lines = f"state {line_of(turn.state, turn.state.text())}\n"
        if "legal" in wants:
            moves = turn.state.legal_moves()
            lines += f"legal {line_of(turn.state, ' '.join(moves), len(moves))}\n"
    clocks = ",".join([str(max(0, clock.left_ms)) for clock in turn.clocks])
    out = ""
    if turn.out:
        out = " out=" + ",".join(f"{seat + 1}@{ply}" for seat, ply in turn.out)
    return f"{lines}go {turn.ply} clocks={clocks}{out} moves{turn.history and ' '}{turn.history}\n"


def end_line(end: GameEnd) -> str:
    """``end ranks=1,2 scores=1,0 cause=normal``."""
    ranks = ",".join(str(rank) for rank in end.ranks)
    scores = ",".join(number(score) for score in end.scores)
    return f"end ranks={ranks} scores={scores} cause={end.termination}\n"


def decode(line: bytes) -> str:
    """A bot's line as text, as it is.

    Raises:
        ProtocolError: it is no UTF-8.
    """
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        raise ProtocolError(f"sent a line that is no UTF-8: {line[:40]!r}") from None


def without_control(text: str) -> str:
    """A line without control characters, but for tabs."""
    return text if text.isprintable() else _CONTROL.sub("", text)


def visible(text: str, but: str = "\n\t") -> str:
    """A stranger's text with what commands a terminal or can't be seen written out: ``\\x00``.

    Args:
        but: what is left as it is; nothing, where a text is to be a part of one line.
    """
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() or one in but else repr(one)[1:-1] for one in text)


def clean(text: str) -> str:
    """Text of many lines without control characters, but for newlines and tabs."""
    return "\n".join(_CONTROL.sub("", line) for line in text.split("\n"))


def demand_sayable(record: GameRecord) -> None:
    """Refuses a record of more than bots can say by these lines, and than a referee writes down.

    Raises:
        RecordError: it says too much.
    """
    for number, ply in enumerate(record.plies):
        if what := unsayable(ply):
            raise RecordError(f"at ply {number}: no bot can {what}")
    if any(len(fault.detail) > 4 * LONGEST_REPLY for fault in record.faults):
        raise RecordError("a fault has too many words")
    for word in (record.started, record.isolation):
        if len(word) > LONGEST_WORD or not word.isprintable():
            raise RecordError("its beginning or its isolation is no word, or too long a one")


def unsayable(ply: Ply) -> str:
    """What of a ply no bot can say, in words; empty if there is nothing."""
    if not (ply.text or ply.values or ply.tags or ply.pv):
        return ""
    if len(ply.text) > LONGEST_REPLY or _CONTROL.search(ply.text):
        return "say such a text"
    if len(ply.values) > NUMBERS_LIMIT or not all(map(_KEY.fullmatch, ply.values)):
        return "give such values"
    if len(ply.tags) > TAGS_LIMIT or not all(map(_KEY.fullmatch, ply.tags)):
        return "give such tags"
    if len(ply.pv) > PV_LIMIT or len(" ".join(ply.pv)) > LONGEST_REPLY:
        return "expect so many moves"
    return "" if all(map(_MOVE.fullmatch, ply.pv)) else "expect such moves"


def split_words(line: str, most: int = -1) -> list[str]:
    """The words of a line; nothing but spaces and tabs of ASCII stands between them.

    Args:
        most: how often it is split; by default everywhere.
    """
    if line.isascii() and line.isprintable():
        return line.split(None, most)
    stripped = line.strip(" \t")
    return _BLANKS.split(stripped, max(0, most)) if stripped else []


def parse_ready(line: str) -> Ready:
    """The answer to ``hello``.

    Raises:
        ProtocolError: it is not ``ready NAME [key=value ...]``.
    """
    words = split_words(line)
    # A key in the place of the name is a name forgotten.
    if len(words) < 2 or words[0] != "ready" or words[1].startswith(("want=", "protocol=")):
        raise ProtocolError(f"expected 'ready NAME' after 'hello', got {line[:60]!r}")
    name = without_control(words[1])
    if not name or any(map(_CONTROL.search, words[2:])):
        raise ProtocolError(f"a control character in {line[:60]!r}")
    keys = dict(word.split("=", 1) for word in words[2:] if "=" in word)
    if not re.fullmatch(r"[0-9]{1,9}", keys.get("protocol", "1")):
        raise ProtocolError(f"protocol={keys['protocol'][:20]!r} is no version number")
    wanted = {word for word in keys.get("want", "").split(",") if word}
    return Ready(name[:80], frozenset(wanted) & WANTS)


def parse_option(line: str) -> str | None:
    """What a line ``# option NAME KIND ...`` declares; None if it is any other text."""
    words = split_words(line[1:], 1)
    return words[1] if len(words) == 2 and words[0] == "option" else None


def parse_ok(line: str) -> None:
    """The answer to ``newgame``.

    Raises:
        ProtocolError: it is not ``ok``.
    """
    if split_words(line)[:1] != ["ok"]:
        raise ProtocolError(f"expected 'ok' after 'newgame', got {line[:60]!r}")


def parse_reply(line: str) -> Reply:
    """The answer to ``go``.

    Raises:
        ProtocolError: it is not ``move M [free text]``.
    """
    words = split_words(line, 2)
    if len(words) < 2 or words[0] != "move" or _CONTROL.search(words[1]):
        raise ProtocolError(f"expected 'move MOVE' after 'go', got {line[:60]!r}")
    return Reply(words[1], without_control(words[2]).rstrip() if len(words) == 3 else "")


def parse_value(line: str) -> tuple[str, float] | None:
    """Key and number of a line ``# key value``; None if it is any other text for the log."""
    words = split_words(line[1:])
    if len(words) != 2 or not _KEY.fullmatch(words[0]) or not _NUMBER.fullmatch(words[1]):
        return None
    value = float(words[1])
    return (words[0], value) if abs(value) < TOO_LARGE else None


def parse_tag(line: str) -> str | None:
    """The word of a line ``# tag WORD``; None if it is any other text for the log."""
    words = split_words(line[1:])
    return words[1] if len(words) == 2 and words[0] == "tag" and _KEY.fullmatch(words[1]) else None


def parse_pv(line: str) -> tuple[str, ...]:
    """The moves of a line ``# pv MOVE MOVE ...``, as many as are kept; none if it is another."""
    words = split_words(line[1:])
    moves = words[1 : 1 + PV_LIMIT]
    return tuple(moves) if words[:1] == ["pv"] and all(map(_MOVE.fullmatch, moves)) else ()


def share(values: Mapping[str, float]) -> float | None:
    """What a bot expects of a ply for the side to move, 0 to 1; None if it said no such number."""
    value = values.get("eval")
    return value if value is not None and 0 <= value <= 1 else None
