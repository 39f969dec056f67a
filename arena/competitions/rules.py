"""By which rules something is played: those of a ladder, or of a game by itself."""

from __future__ import annotations

from sqlalchemy.orm import Session

from arena.competitions.founding import find_named
from arena.ground.refusals import Refusal
from arena.models import Ladder
from engine.clock import DEFAULT_MOVE_MS, TimeControl, parse_time
from engine.game import GameError, Variant
from engine.games import find_variant


def ladder_or_game(session: Session, ladder: str, game: str) -> tuple[Ladder | None, Variant]:
    """The ladder whose rules are meant, if one is, and the variant.

    Args:
        game: with its options, as ``clobber size=5x6``.

    Raises:
        Refusal: both are given or none, or there is no such thing.
    """
    if bool(ladder) == bool(game):
        raise Refusal("say what is played: a ladder, which has its game, or a game")
    if ladder:
        found = find_named(session, Ladder, ladder)
        return found, found.variant
    name, *options = game.split() or [""]
    try:
        return None, find_variant(name, options)
    except GameError as error:
        raise Refusal(str(error)) from None


def time_of(ladder: Ladder | None, clock: str, move: int | None) -> TimeControl:
    """The time control that is asked for, else the ladder's, else DEFAULT_MOVE_MS a move.

    Args:
        clock: seconds a game and more a move, as ``10+0.1``.
        move: milliseconds.

    Raises:
        Refusal: both are given, or one can't be.
    """
    if clock and move is not None:
        raise Refusal("give a time a game or a time a move, not both")
    if ladder is not None and not clock and move is None:
        return ladder.time
    try:
        if clock:
            return parse_time(clock)
        return TimeControl(move_ms=DEFAULT_MOVE_MS if move is None else move)
    except GameError as error:
        raise Refusal(str(error)) from None
