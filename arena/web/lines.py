"""Lines as addresses name them: a start and moves from it, or a game up to one of its plies.

A page that goes on from a position takes ``start`` (an option as ``key=value``, once for each that
the game's lots or its position chose) and ``moves`` with spaces between them; or ``game`` and
``ply``. Whatever is there to be gone on from is named by one of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session
from werkzeug.datastructures import MultiDict

from arena.ground.refusals import Refusal, WrongField
from arena.keeping.reading import record_of
from arena.models import Competition, CompetitionState, Ladder, PlayedGame
from arena.web.forms import named_number
from engine.game import CHANCE, GameError, Move, Seat, State, Variant
from engine.openings import Opening, played, start_at
from engine.plurals import grouped
from engine.record import other_rules
from engine.shelf import Missing
from engine.translation import gettext

MOST_OPTIONS = 20
LONGEST_MOVES = 20_000
"""Characters of the moves in an address or a form."""


@dataclass(frozen=True, slots=True)
class ChosenLine:
    """Moves from a start, which the rules allow, and where they lead."""

    opening: Opening
    states: tuple[State, ...]
    """The positions from the start to the end of them."""
    own: Mapping[str, str]
    """The options in which its start differs from the variant that was asked about."""

    @property
    def state(self) -> State:
        """The position that is reached."""
        return self.states[-1]

    @property
    def last(self) -> Move | None:
        """The move that led there; None at the start."""
        return self.opening.moves[-1] if self.opening.moves else None

    @property
    def before(self) -> State | None:
        """What stood before that move."""
        return self.states[-2] if len(self.states) > 1 else None

    @property
    def last_mover(self) -> Seat | None:
        """Who made the last move; None if there is none, or it was drawn by lot."""
        seat = self.states[-2].to_move if len(self.states) > 1 else CHANCE
        return None if seat == CHANCE else seat

    @property
    def next_place(self) -> int:
        """The place, among those of a match's entrants, whose turn it is; else the first."""
        seat = self.state.to_move
        return 0 if seat in (None, CHANCE) else self.opening.variant.entrant_of[seat or 0]

    @property
    def words(self) -> dict[str, Any]:
        """What an address calls it by."""
        return self.after()

    def after(self, *moves: str) -> dict[str, Any]:
        """What an address calls the line by that goes on so."""
        told: dict[str, Any] = {"moves": " ".join([*self.opening.moves, *moves]) or None}
        if self.own:
            told["start"] = [f"{key}={its}" for key, its in self.own.items()]
        return told


def line_at(variant: Variant, own: Mapping[str, str], moves: tuple[str, ...]) -> ChosenLine:
    """The line of some moves.

    Raises:
        WrongField: the start is none of the variant, or the rules do not allow a move.
    """
    try:
        start = start_at(variant, own)
    except GameError as error:
        raise WrongField("start", str(error)) from None
    if start.drawn(0) != start:
        raise WrongField(
            "start", gettext("%(start)s draws its start by lot: say which it is", start=start)
        )
    try:
        opening, states = played(start, moves)
    except GameError as error:
        raise WrongField("moves", str(error)) from None
    differs = {key: its for key, its in start.options.items() if variant.options.get(key) != its}
    return ChosenLine(opening, tuple(states), differs)


def read_line(session: Session, variant: Variant, asked: MultiDict[str, str]) -> ChosenLine | None:
    """The line that an address or a form names; None if it names none.

    Raises:
        Refusal: it can't be meant, or the rules are not here.
    """
    if asked.get("game"):
        return _line_of_game(session, variant, asked)
    options = [one for one in asked.getlist("start")[:MOST_OPTIONS] if one]
    moves = asked.get("moves", "")
    if not options and not moves.strip():
        return None
    if isinstance(variant, Missing):
        raise Refusal(variant.reason)
    if len(moves) > LONGEST_MOVES:
        raise WrongField(
            "moves", gettext("give at most %(most)s characters", most=grouped(LONGEST_MOVES))
        )
    own = {}
    for option in options:
        key, equals, value = option.partition("=")
        if not equals:
            raise WrongField(
                "start",
                gettext("%(option)r is no option; it is written key=value", option=option[:40]),
            )
        own[key] = value
    return line_at(variant, own, tuple(moves.split()))


def _line_of_game(session: Session, variant: Variant, asked: MultiDict[str, str]) -> ChosenLine:
    number = named_number(asked["game"])
    stored = session.scalar(sa.select(PlayedGame.record).where(PlayedGame.id == number))
    if stored is None:
        raise WrongField("game", gettext("there is no such game"))
    record = record_of(session, number, stored)
    if other := other_rules(record):
        raise Refusal(other)
    ply = named_number(asked.get("ply", ""), len(record.plies))
    if not 0 <= ply <= len(record.plies):
        raise WrongField("ply", gettext("the game has %(number)s", number=len(record.plies)))
    if any(fault.ply <= ply for fault in record.faults):
        raise WrongField("ply", gettext("somebody had left by then: go on from an earlier one"))
    own = {
        key: its for key, its in record.variant.options.items() if variant.options.get(key) != its
    }
    return line_at(variant, own, record.moves[:ply])


def ladder_for(session: Session, competition: Competition) -> Ladder | None:
    """A ladder by whose rules games of a competition can be gone on with, itself if it is one."""
    if isinstance(competition, Ladder):
        return competition
    ladders = sa.select(Ladder).where(Ladder.game == competition.game).order_by(Ladder.id)
    alike = [one for one in session.scalars(ladders) if one.options == competition.options]
    opened = [one for one in alike if one.state is CompetitionState.OPEN]
    return next(iter([*opened, *alike]), None)
