"""What deeds answer, as it travels: by the classes of what they change or make."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from pydantic import Field, create_model
from sqlalchemy.orm import Session

from arena.competitions.gauntlets import Gauntlet
from arena.deeds import Deed, Done
from arena.models import (
    Analysis,
    Bot,
    BotTuning,
    Check,
    Competition,
    CompetitionDate,
    Entrant,
    Hook,
    Ladder,
    Match,
    MatchSet,
    OpeningBook,
    Repository,
    Selection,
    StrengthTest,
    Team,
    TestPreset,
    Tournament,
    User,
)
from arena.web.api.analyses import AnalysisShape
from arena.web.api.books import BookShape
from arena.web.api.bot_shapes import BotDetail, CheckShape
from arena.web.api.competition_shapes import CompetitionShape, DateShape, EntrantShape
from arena.web.api.game_shapes import MatchShape
from arena.web.api.gauntlet_shapes import GauntletShape
from arena.web.api.ladder_shapes import LadderShape
from arena.web.api.match_set_shapes import MatchSetShape
from arena.web.api.notifications import HookShape
from arena.web.api.presets import PresetShape
from arena.web.api.repositories import RepositoryShape
from arena.web.api.results import TestShape, TournamentShape
from arena.web.api.selections import SelectionShape
from arena.web.api.shapes import Shape
from arena.web.api.tunings import TuningShape
from arena.web.api.user_shapes import TeamShape, UserShape

SHAPES: Mapping[type, type[Shape]] = {
    Match: MatchShape,
    MatchSet: MatchSetShape,
    Ladder: LadderShape,
    Bot: BotDetail,
    Check: CheckShape,
    Entrant: EntrantShape,
    StrengthTest: TestShape,
    BotTuning: TuningShape,
    TestPreset: PresetShape,
    User: UserShape,
    Team: TeamShape,
    Tournament: TournamentShape,
    OpeningBook: BookShape,
    Repository: RepositoryShape,
    Selection: SelectionShape,
    Analysis: AnalysisShape,
    Gauntlet: GauntletShape,
    Hook: HookShape,
    Competition: CompetitionShape,
    CompetitionDate: DateShape,
}
"""The shapes as which rows travel, of any class that derives from one of these, too. A class that a
deed has of its own for what it answers travels field by field."""


def _shape_of_row(kind: type) -> type[Shape] | None:
    """The shape of a class of rows; None if it is none."""
    return next((SHAPES[one] for one in kind.__mro__ if one in SHAPES), None)


def shape_of(answers: type | None) -> type[Shape]:
    """The shape of what a deed answers, with what was done in words."""
    return _with_words(Shape if answers is None else _shape_of_row(answers) or _composed(answers))


@cache
def _with_words(shape: type[Shape]) -> type[Shape]:
    name = "Changed" + shape.__name__.removesuffix("Shape")
    said = (str, Field(description="What was done, in words."))
    return create_model(name, __base__=shape, __doc__=shape.__doc__, said=said)


@cache
def _composed(answers: type) -> type[Shape]:
    """The shape of a class of fields, which may be rows; what they are told as stands beside."""
    fields: dict[str, Any] = {}
    for name, hint in get_type_hints(answers, include_extras=True).items():
        kind, *words = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        # Each alone, or None beside it.
        kinds = tuple(_shape_of_row(one) or one for one in get_args(kind) or (kind,))
        about = Field(description=f"{words[0]}.") if words else Field()
        fields[name] = (Union[kinds], about)  # noqa: UP007 - they are known only now
    return create_model(answers.__name__, __base__=Shape, __doc__=answers.__doc__, **fields)


def _told(session: Session, one: Any) -> Any:
    shape = _shape_of_row(type(one))
    return one if shape is None else shape.looked_up(session, one)


def answer_of(session: Session, deed: type[Deed], done: Done) -> Shape:
    """What a deed answers, in the transaction that did it."""
    session.flush()
    answer = done.answer
    if deed.answers is None:
        fields = {}
    elif shape := _shape_of_row(deed.answers):
        fields = dict(shape.looked_up(session, answer))
    else:
        fields = {name: _told(session, getattr(answer, name)) for name in answer._fields}
    return shape_of(deed.answers).model_validate({**fields, "said": done.said})
