"""Operations by which organisers decide about a match: it is void, or it is tried again."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from pydantic import Field

from arena.models import Scope
from arena.schedule import verdicts
from arena.schedule.verdicts import VerdictError
from arena.web.api.game_shapes import MatchShape
from arena.web.api.shapes import Shape
from arena.web.api.specification import operation
from arena.web.identity import signed_in
from arena.web.lookup import find_match, reading
from arena.web.transactions import changing

TAG = "games"


class Verdict(Shape):
    """Why a match is to be void."""

    note: Annotated[
        str,
        Field(min_length=1, max_length=2000, description="For everybody."),
    ]
    replay: bool = Field(
        default=False,
        description="On a ladder: play it again, with the same bots, opening and dice.",
    )


class Voided(Shape):
    """A match that is void now."""

    match: MatchShape
    replayed_as: int | None = Field(description="The number of the match that replays it.")


@operation(Voided, tag=TAG, scope=Scope.ORGANISE, errors=[409])
def void_match(number: int, json: Verdict) -> Voided:
    """Makes a match void: its games stay to be seen, and count for nothing."""
    with changing(VerdictError) as session:
        find_match(session, number)
        actor, now = signed_in().actor, datetime.now(UTC)
        again = verdicts.void(session, actor, number, json.note, replay=json.replay, now=now)
        replayed_as = None if again is None else again.id
    with reading() as session:
        shown = MatchShape.of(find_match(session, number))
    return Voided(match=shown, replayed_as=replayed_as)


@operation(MatchShape, tag=TAG, scope=Scope.ORGANISE, errors=[404, 409])
def requeue_match(number: int) -> MatchShape:
    """Has a match tried again that was set aside."""
    with changing(VerdictError) as session:
        find_match(session, number)
        verdicts.requeue(session, signed_in().actor, number, datetime.now(UTC))
    with reading() as session:
        return MatchShape.of(find_match(session, number))


ROUTES = (
    ("POST", "/matches/<int:number>/void", void_match),
    ("POST", "/matches/<int:number>/requeue", requeue_match),
)
