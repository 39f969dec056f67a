"""What deeds answer, as it travels: a shape for each class of what they change or make."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

from pydantic import Field, create_model
from sqlalchemy.orm import Session

from arena.bots.bot_deeds import BotWithdrawn, EntryAsked
from arena.deeds import Deed, Done
from arena.models import Bot, Check, Entrant, Ladder, Match, StrengthTest, Tournament, User
from arena.schedule.verdicts import VoidedMatch
from arena.web import queries
from arena.web.api.bot_shapes import BotDetail, CheckShape
from arena.web.api.game_shapes import MatchShape
from arena.web.api.ladder_shapes import EntrantShape, LadderShape
from arena.web.api.results import TestShape, TournamentShape
from arena.web.api.shapes import Shape
from arena.web.api.user_shapes import UserShape


class Voided(Shape):
    """A match that is void now."""

    match: MatchShape
    replayed_as: int | None = Field(description="The number of the match that replays it.")


class EntryMade(Shape):
    """What became of an entry."""

    active: bool = Field(description="Whether it is on the ladder already.")
    check: CheckShape | None = Field(description="The check that it is to pass before.")


class LaddersLeft(Shape):
    """How many ladders a bot left."""

    left: int


class ToldAs(NamedTuple):
    """How a class of what deeds answer is told."""

    shape: type[Shape]
    of: Callable[[Session, Any], Shape]


def _match(session: Session, one: Match) -> MatchShape:
    found = queries.match(session, one.id)
    assert found is not None
    return MatchShape.of(found)


def _voided(session: Session, one: VoidedMatch) -> Voided:
    again = None if one.again is None else one.again.id
    return Voided(match=_match(session, one.match), replayed_as=again)


def _entry(_: Session, one: EntryAsked) -> EntryMade:
    check = None if one.check is None else CheckShape.of(one.check)
    return EntryMade(active=check is None, check=check)


ANSWERS: Mapping[type | None, ToldAs] = {
    None: ToldAs(Shape, lambda *_: Shape()),
    Match: ToldAs(MatchShape, _match),
    VoidedMatch: ToldAs(Voided, _voided),
    Ladder: ToldAs(LadderShape, lambda _, one: LadderShape.of(one)),
    Bot: ToldAs(BotDetail, BotDetail.now),
    BotWithdrawn: ToldAs(LaddersLeft, lambda _, one: LaddersLeft(left=one.left)),
    Check: ToldAs(CheckShape, lambda _, one: CheckShape.of(one)),
    Entrant: ToldAs(EntrantShape, lambda _, one: EntrantShape.of(one, one.version.bot.name)),
    EntryAsked: ToldAs(EntryMade, _entry),
    StrengthTest: ToldAs(TestShape, lambda session, one: TestShape.each(session, [one])[0]),
    User: ToldAs(UserShape, lambda _, one: UserShape.of(one)),
    Tournament: ToldAs(TournamentShape, lambda _, one: TournamentShape.of(one)),
}


@cache
def shape_of(answers: type | None) -> type[Shape]:
    """The shape of what a deed answers, with what was done in words."""
    shape = ANSWERS[answers].shape
    name = "Changed" + shape.__name__.removesuffix("Shape")
    said = (str, Field(description="What was done, in words."))
    return create_model(name, __base__=shape, __doc__=shape.__doc__, said=said)


def answer_of(session: Session, deed: type[Deed], done: Done) -> Shape:
    """What a deed answers, in the transaction that did it."""
    session.flush()
    told = ANSWERS[deed.answers].of(session, done.answer)
    return shape_of(deed.answers).model_validate({**dict(told), "said": done.said})
