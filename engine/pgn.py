"""PGN, the form in which programs of some games keep them: read for openings and as records, and
written of records.

Read is what the standard of 1994 calls the import format: tags, moves with or without numbers,
comments, variations, glyphs, results. Which words are moves is for the game to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from textwrap import wrap
from typing import NamedTuple

from engine.clock import LONGEST_MS, TimeControl
from engine.game import (
    Dialect,
    GameError,
    IllegalMoveError,
    Termination,
    Variant,
)
from engine.record import Fault, GameRecord, Ply, states_known
from engine.translation import gettext

PROTOCOL = "pgn"
"""The name by which a variant is asked for its `Dialect` of PGN."""
RESULTS = frozenset({"1-0", "0-1", "1/2-1/2", "*"})
LINE = 79
"""Characters of a line of moves, at most."""

_LOOKS_LIKE = re.compile(r"\s*(?:\[\s*\w+\s+\"|\{|;|%|[0-9]+\.)")
_TOKEN = re.compile(
    r"""(?P<blank>\s+)
    |(?P<comment>\{[^}]*\}|;[^\n]*|(?<![^\n])%[^\n]*)
    |(?P<tag>\[\s*(?P<name>\w+)\s+"(?P<value>(?:[^"\\\n]|\\.)*)"\s*\])
    |(?P<glyph>\$[0-9]+)
    |(?P<open>\()
    |(?P<close>\))
    |(?P<number>[0-9]+\.+)
    |(?P<word>[^\s{}()\[\];$]+)""",
    re.VERBOSE,
)


class PgnError(ValueError):
    """A text that is no PGN; one sentence, with its line."""

    def __init__(self, line: int, words: str) -> None:
        super().__init__(words)
        self.line = line


class PgnMove(NamedTuple):
    """A move as it is written, and its line, from 1."""

    text: str
    line: int


@dataclass(slots=True)
class PgnGame:
    """A game: its tags, and the moves of its main line, which nobody has checked."""

    line: int
    """Where it begins."""
    tags: dict[str, str] = field(default_factory=dict)
    moves: list[PgnMove] = field(default_factory=list)


def looks_like_pgn(text: str) -> bool:
    """Whether a text begins as PGN does."""
    return _LOOKS_LIKE.match(text) is not None


def read_games(text: str) -> Iterator[PgnGame]:
    """The games of a text, one after the other.

    Raises:
        PgnError: a comment, variation or tag is not closed, or the like.
    """
    line, at, depth, opened = 1, 0, 0, 0
    game: PgnGame | None = None
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            if text[at] == "{":
                raise PgnError(line, gettext("a comment is not closed by }"))
            if text[at] == "[":
                raise PgnError(line, gettext('a tag is no [Name "value"]'))
            raise PgnError(line, gettext("nothing begins with %(letter)r", letter=text[at]))
        kind, here = found.lastgroup, line
        line += text.count("\n", at, found.end())
        at = found.end()
        if kind in ("blank", "comment", "glyph"):
            continue
        if kind == "open":
            depth, opened = depth + 1, opened if depth else here
        elif kind == "close":
            depth -= 1
            if depth < 0:
                raise PgnError(here, gettext("a variation is closed by ) that was not opened"))
        elif depth:
            continue
        elif kind == "word" and found["word"] in RESULTS:
            if game is not None:
                yield game
            game = None
        elif kind == "tag":
            if game is not None and game.moves:
                yield game
                game = None
            game = game or PgnGame(here)
            game.tags[found["name"]] = re.sub(r"\\(.)", r"\1", found["value"])
        else:
            game = game or PgnGame(here)
            if kind == "word" and (move := found["word"].rstrip("!?")):
                game.moves.append(PgnMove(move, here))
    if depth:
        raise PgnError(opened, gettext("a variation is not closed by )"))
    if game is not None:
        yield game


def dialect_of(variant: Variant) -> Dialect | None:
    """How PGN writes the variant's moves; None if its games have no PGN."""
    return variant.dialect(PROTOCOL)


def read_record(game: PgnGame, variant: Variant) -> GameRecord:
    """A game as a record of what it claims: its moves are legal, and its result is not proven.

    Who lost a game that was not over by the rules has resigned, or left as it says. One without a
    result goes on. Its seed, and the rules that it was played by, are not known.

    Args:
        variant: from where the game begins: its FEN is for the caller to read.

    Raises:
        PgnError: a move is not legal.
        NoPgnError: games of the variant are not written so.
    """
    dialect = dialect_of(variant)
    if dialect is None:
        raise NoPgnError(gettext("games of %(game)s are not written as PGN", game=variant.game))
    state, plies = variant.initial(), list[Ply]()
    for number, (word, line) in enumerate(game.moves, start=1):
        try:
            move = state.canonical(dialect.read(state, word))
        except IllegalMoveError as error:
            raise PgnError(
                line, gettext("ply %(number)s: %(error)s", number=number, error=error)
            ) from None
        assert state.to_move is not None
        plies.append(Ply(state.to_move, move))
        state = state.play(move)
    ranks = _RANKS.get(game.tags.get("Result", ""))
    how, faults = state.ending(), list[Fault]()
    if how is None and ranks and 2 in ranks:
        loser = ranks.index(2)
        how = _FAULTS.get(game.tags.get("Termination", "").lower(), Termination.RESIGN)
        faults.append(Fault(loser, len(plies), how, ""))
        state = state.retire(loser)
    scores: tuple[float, ...] = ()
    if state.to_move is None:
        ranks = ranks or state.ranks()
        scores = state.scores() if ranks == state.ranks() else _scores(ranks)
    elif ranks:
        scores = _scores(ranks)
    return GameRecord(
        variant=variant,
        seed=0,
        players=(game.tags.get("White", "?"), game.tags.get("Black", "?")),
        time=_time_control(game.tags.get("TimeControl", "")),
        opening=0,
        plies=tuple(plies),
        faults=tuple(faults),
        termination=how or (Termination.NORMAL if ranks else Termination.VOID),
        scores=scores,
        ranks=ranks or (),
        isolation="none",
        started=_moment(game.tags.get("UTCDate") or game.tags.get("Date", "")),
    )


_RANKS: Mapping[str, tuple[int, ...]] = {"1-0": (1, 2), "0-1": (2, 1), "1/2-1/2": (1, 1)}
_FAULTS = {"time forfeit": Termination.TIMEOUT, "rules infraction": Termination.ILLEGAL}
_CONTROL = re.compile(r"(1/)?([0-9]{1,6}(?:\.[0-9]{1,3})?)(?:\+([0-9]{1,6}(?:\.[0-9]{1,3})?))?")


def _scores(ranks: tuple[int, ...]) -> tuple[float, ...]:
    """The scores as chess counts them."""
    return tuple(0.5 if 2 not in ranks else 2.0 - rank for rank in ranks)


def _time_control(text: str) -> TimeControl:
    """What `_time` wrote; a day for each move where nothing that can be kept is said."""
    found = _CONTROL.fullmatch(text)
    try:
        if found and found[1] and not found[3]:
            return TimeControl(move_ms=round(float(found[2]) * 1000))
        if found and not found[1]:
            time_ms, inc_ms = (round(float(one or 0) * 1000) for one in found.groups()[1:])
            return TimeControl(time_ms=time_ms, inc_ms=inc_ms)
    except GameError:
        pass
    return TimeControl(move_ms=LONGEST_MS)


def _moment(date: str) -> str:
    """The beginning of a day, as records have it; empty if it is not known."""
    is_day = re.fullmatch(r"[0-9]{4}\.[0-9]{2}\.[0-9]{2}", date, re.ASCII)
    return f"{date.replace('.', '-')}T00:00:00Z" if is_day else ""


class NoPgnError(GameError):
    """A game that has no PGN."""


def write(
    record: GameRecord,
    *,
    event: str = "?",
    site: str = "?",
    round: str = "-",
    comments: bool = False,
) -> str:
    """A record as PGN, in the standard's export format but for tags that it does not name.

    Args:
        comments: puts what bots said of their moves behind them.

    Raises:
        NoPgnError: games of its variant are not written so.
    """
    dialect = dialect_of(record.variant)
    if dialect is None:
        raise NoPgnError(
            gettext("games of %(game)s are not written as PGN", game=record.variant.game)
        )
    first, second = record.players
    date = record.started.partition("T")[0].replace("-", ".")
    result = _result(record)
    tags = {
        "Event": event,
        "Site": site,
        "Date": date or "????.??.??",
        "Round": round,
        "White": first,
        "Black": second,
        "Result": result,
        **({"SetUp": "1", "FEN": dialect.start} if dialect.start else {}),
        "TimeControl": _time(record),
        "Termination": _termination(record),
    }
    lines = [f'[{name} "{_quoted(value)}"]' for name, value in tags.items()]
    words = " ".join([*_moves(record, dialect, comments), result])
    # Castling is written with hyphens.
    body = "\n".join(wrap(words, LINE, break_on_hyphens=False, break_long_words=False))
    return "\n".join([*lines, "", body]) + "\n"


def _quoted(text: str) -> str:
    printable = "".join(one if one.isprintable() else "?" for one in text)
    return printable.replace("\\", "\\\\").replace('"', '\\"')


def _moves(record: GameRecord, dialect: Dialect, comments: bool) -> Iterator[str]:
    """The words of the moves, with their numbers; they end where the rules of now refuse one."""
    number, is_due = _first_number(dialect.start), True
    for state, ply in zip(states_known(record), record.plies, strict=False):
        if not state.is_legal(ply.move):
            return
        if ply.seat == 0 or is_due:
            yield f"{number}{'.' if ply.seat == 0 else '...'}"
        yield dialect.write(state, ply.move)
        number += ply.seat
        is_due = bool(comments and ply.text)
        if is_due:
            text = "".join(one if one.isprintable() else " " for one in ply.text)
            yield "{" + text.replace("}", ")") + "}"


def _first_number(start: str) -> int:
    """The number of the first move, which a FEN has as its last field."""
    last = start.rpartition(" ")[2]
    return max(1, int(last)) if last.isdigit() else 1


def _result(record: GameRecord) -> str:
    if record.termination is Termination.VOID:
        return "*"
    first, second = record.ranks
    return "1/2-1/2" if first == second else "1-0" if first < second else "0-1"


def _time(record: GameRecord) -> str:
    """Seconds a game and more a move, or ``1/S``: one move in so many seconds, and so on."""
    time = record.time
    if time.move_ms is not None:
        return f"1/{time.move_ms / 1000:g}"
    base = f"{(time.time_ms or 0) / 1000:g}"
    return f"{base}+{time.inc_ms / 1000:g}" if time.inc_ms else base


TERMINATIONS: Mapping[Termination, str] = {
    Termination.TIMEOUT: "time forfeit",
    Termination.ILLEGAL: "rules infraction",
    Termination.PROTOCOL: "rules infraction",
    Termination.CRASH: "abandoned",
    Termination.MEMORY: "abandoned",
    Termination.START: "abandoned",
    Termination.PLY_LIMIT: "adjudication",
    Termination.VOID: "unterminated",
}
"""What PGN says of how a game ended, where that is not ``normal``."""


def _termination(record: GameRecord) -> str:
    return TERMINATIONS.get(record.termination, "normal")
