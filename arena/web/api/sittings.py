"""Operations on people's games against bots, which are played on their pages."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from flask import abort
from pydantic import Field
from sqlalchemy.orm import joinedload, selectinload, undefer

from arena import sittings
from arena.models import BotVersion, JobStatus, Scope, Sitting, SittingSeat
from arena.web.api.paging import Pages, page
from arena.web.api.shapes import List, Record, Shape
from arena.web.api.specification import operation
from arena.web.identity import signed_in
from arena.web.lookup import reading
from engine.record import GameRecord
from engine.sitting import position

TAG = "playing"


class SittingSeatShape(Shape):
    """Who has a seat of a person's game."""

    seat: int
    player: str
    bot: str | None = Field(description="Null for the person.")
    version: int | None
    score: float | None = Field(description="Null as long as the game has no result.")
    rank: int | None


class SittingShape(Shape):
    """A person's game against bots."""

    number: int
    ladder: str = Field(description="By whose rules it is played.")
    variant: str
    plies: int
    to_move: int | None = Field(description="The seat; null when the game is over.")
    waits_for_bot: bool
    created: datetime
    moved: datetime
    finished: datetime | None
    seats: list[SittingSeatShape]

    @classmethod
    def of(cls, one: Sitting, record: GameRecord) -> SittingShape:
        """A sitting as it travels, with its seats loaded."""
        over = one.finished is not None
        to_move = None if over else position(record).to_move
        return cls(
            number=one.id,
            ladder=one.ladder.name,
            variant=str(record.variant),
            plies=one.plies,
            to_move=None if to_move is None else to_move + 1,
            waits_for_bot=not over and one.status is not JobStatus.FIXED,
            created=one.created,
            moved=one.moved,
            finished=one.finished,
            seats=[
                SittingSeatShape(
                    seat=seat.seat + 1,
                    player=record.players[seat.seat],
                    bot=seat.version.bot.name if seat.version else None,
                    version=seat.version.number if seat.version else None,
                    score=record.scores[seat.seat] if record.ranks else None,
                    rank=record.ranks[seat.seat] if record.ranks else None,
                )
                for seat in one.seats
            ],
        )


class SittingList(List):
    items: list[SittingShape]


@operation(SittingList, tag=TAG, scope=Scope.READ)
def list_sittings(query: Pages) -> SittingList:
    """One's own games against bots."""
    seats = selectinload(Sitting.seats).joinedload(SittingSeat.version)
    wanted = (
        sa.select(Sitting)
        .where(Sitting.user_id == signed_in().id)
        .options(
            undefer(Sitting.game), joinedload(Sitting.ladder), seats.joinedload(BotVersion.bot)
        )
    )
    with reading() as session:
        found, following = page(session, wanted, Sitting.id, query)
        items = [SittingShape.of(one, sittings.record_of(one)) for one in found]
    return SittingList(items=items, next=following)


@operation(SittingShape, tag=TAG)
def get_sitting(number: int) -> SittingShape:
    """A person's game against bots, and where it stands."""
    with reading() as session:
        found = sittings.find(session, number)
        if found is None:
            abort(404, f"There is no game {number} of a person against bots.")
        return SittingShape.of(found, sittings.record_of(found))


@operation(Record, tag=TAG)
def get_sitting_record(number: int) -> Record:
    """The record of a person's game, as far as it was played; void while it has no result."""
    with reading() as session:
        found = sittings.find(session, number)
        if found is None:
            abort(404, f"There is no game {number} of a person against bots.")
        return Record(sittings.record_of(found).to_json())


ROUTES = (
    ("GET", "/sittings", list_sittings),
    ("GET", "/sittings/<int:number>", get_sitting),
    ("GET", "/sittings/<int:number>/record", get_sitting_record),
)
