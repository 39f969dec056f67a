"""Operations on people's games against bots: to begin one, to play it, to look on."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Self

import sqlalchemy as sa
from flask import abort
from pydantic import Field
from sqlalchemy.orm import Session, joinedload, selectinload, undefer

from arena import sittings
from arena.ground.refusals import Refusal, WrongField
from arena.models import BotVersion, JobStatus, Scope, Sitting, SittingSeat
from arena.schedule.requests import MOST_SET
from arena.sittings import Wish
from arena.web.api.game_shapes import Record
from arena.web.api.paging import Pages, page
from arena.web.api.shapes import At, BotVersionName, Key, List, Name, Number, Shape
from arena.web.api.specification import operation
from arena.web.identity import settings, signed_in
from arena.web.lines import line_at
from arena.web.lookup import find_ladder, find_sitting, reading
from arena.web.sittings import any_place, any_seed, begin_game, own_game, player
from arena.web.words import sentence
from engine.game import IllegalMoveError
from engine.sitting import position
from engine.translation import gettext

TAG = "sittings"
Ply = Annotated[
    Number,
    Field(description="How many plies were played; if it went on meanwhile, nothing happens."),
]


class SittingSeatShape(Shape):
    """Who has a seat of a person's game."""

    seat: Annotated[int, At(lambda one: one.seat + 1)]
    player: str
    bot: Annotated[str | None, At(lambda one: one.version and one.version.bot.name)] = Field(
        description="Null for the person."
    )
    version: Annotated[int | None, At(lambda one: one.version and one.version.number)]
    score: float | None = Field(description="Null as long as the game has no result.")
    rank: int | None


class SittingShape(Shape):
    """A person's game against bots."""

    number: Annotated[int, At("id")]
    ladder: Annotated[str, At("ladder.name")] = Field(description="By whose rules it is played.")
    variant: str
    plies: int
    to_move: int | None = Field(description="The seat; null when the game is over.")
    waits_for_bot: Annotated[bool, At(lambda one: one.status in (JobStatus.OPEN, JobStatus.ISSUED))]
    problem: Annotated[
        str, At(lambda one: one.problem if one.status is JobStatus.SET_ASIDE else "")
    ] = Field(
        description="Why the bot's move could not be made, after three tries: then the game can "
        "only be given up. Empty if all is well."
    )
    created: datetime
    moved: datetime
    finished: datetime | None
    seats: list[SittingSeatShape]

    @classmethod
    def of(cls, row: Sitting, **besides: Any) -> Self:
        """What travels of a sitting, with its seats loaded."""
        record = sittings.record_of(row)
        to_move = None if row.finished is not None else position(record).to_move
        seats = [
            SittingSeatShape.of(
                one,
                player=record.players[one.seat],
                score=record.scores[one.seat] if record.ranks else None,
                rank=record.ranks[one.seat] if record.ranks else None,
            )
            for one in row.seats
        ]
        return super().of(
            row,
            variant=str(record.variant),
            to_move=None if to_move is None else to_move + 1,
            seats=seats,
            **besides,
        )


class SittingDetail(SittingShape):
    """A person's game against bots, and what can be played in it."""

    played: list[str] = Field(description="The moves so far, those of the opening too.")
    position: str = Field(description="Where they have led, as the docs of the game say.")
    legal: list[str] = Field(
        description="The moves of whoever is to move; empty when the game is over."
    )

    @classmethod
    def of(cls, row: Sitting, **besides: Any) -> Self:
        """What travels of a sitting, with its seats loaded."""
        record = sittings.record_of(row)
        state = position(record)
        legal = [] if row.finished is not None else list(state.legal_moves())
        return super().of(
            row, played=list(record.moves), position=state.text(), legal=legal, **besides
        )


class NewSitting(Shape):
    """A game that one wants to play."""

    ladder: Annotated[Name, Field(description="By whose rules it is played.")]
    bots: Annotated[
        list[BotVersionName],
        Field(max_length=8, description="Who has the other places, in order."),
    ] = Field(default_factory=list)
    place: Annotated[
        int | None,
        Field(
            ge=1,
            le=8,
            description="One's own: the seat, or in a team game the team; by default by lot.",
        ),
    ] = None
    opening: Annotated[
        Literal["start", "random"], Field(description="A random one is a balanced one.")
    ] = "start"
    moves: Annotated[
        list[Annotated[str, Field(max_length=200)]],
        Field(max_length=MOST_SET, description="That were played when it begins."),
    ] = Field(default_factory=list)
    start: Annotated[
        dict[str, str],
        Field(description="Options that say how it begins where lots or a position do."),
    ] = Field(default_factory=dict)
    key: Annotated[
        Key | None, Field(description="Whoever sends the same one again gets the game it began.")
    ] = None


class NewMove(Shape):
    """A move in one's own game."""

    move: Annotated[str, Field(max_length=200)]
    ply: Ply


class Resignation(Shape):
    """A resignation: one gives a game up."""

    ply: Ply


class TakeBack(Shape):
    """A wish to take one's last move back."""

    ply: Ply


class SittingList(List):
    items: list[SittingShape]


@operation("GET /sittings", SittingList, tag=TAG, scope=Scope.READ)
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
        return page(SittingList, session, wanted, Sitting.id, query)


@operation("GET /sittings/<int:number>", SittingDetail, tag=TAG)
def get_sitting(number: int) -> SittingDetail:
    """A person's game against bots: where it stands, and what can be played."""
    with reading() as session:
        return SittingDetail.of(find_sitting(session, number))


@operation(
    "POST /sittings", SittingDetail, tag=TAG, status=201, scope=Scope.SUBMIT, errors=[404, 409]
)
def begin_sitting(json: NewSitting) -> tuple[SittingDetail, int]:
    """Begins a game of one's own against bots of a ladder, unrated.

    Where a bot is to move, it is waited for: look at the game again until it does so no more.
    """

    def wish(session: Session) -> Wish:
        ladder = find_ladder(session, json.ladder)
        chosen = None
        if json.moves or json.start:
            if json.opening == "random":
                raise Refusal(gettext("give moves and a start, or a random opening"))
            try:
                chosen = line_at(ladder.variant, json.start, tuple(json.moves)).opening
            except WrongField as error:
                # It is as the document says, and yet can't be meant.
                raise Refusal(str(error)) from None
        return Wish(
            ladder,
            any_place(ladder) if json.place is None else json.place - 1,
            tuple(sittings.opponent_named(session, ladder, name) for name in json.bots),
            json.opening == "random",
            json.key or secrets.token_hex(16),
            any_seed(),
            chosen,
        )

    return _own(begin_game(player(), wish)), 201


@operation(
    "POST /sittings/<int:number>/move", SittingDetail, tag=TAG, scope=Scope.SUBMIT, errors=[409]
)
def play_move(number: int, json: NewMove) -> SittingDetail:
    """Plays a move in a game of one's own."""
    try:
        with own_game(number) as found:
            sittings.move(found, json.move.strip(), json.ply, datetime.now(UTC))
    except IllegalMoveError as error:
        abort(409, sentence(error))
    return _own(number)


@operation(
    "POST /sittings/<int:number>/resign", SittingDetail, tag=TAG, scope=Scope.SUBMIT, errors=[409]
)
def resign_sitting(number: int, json: Resignation) -> SittingDetail:
    """Gives a game of one's own up."""
    with own_game(number) as found:
        sittings.resign(found, json.ply, datetime.now(UTC))
    return _own(number)


@operation(
    "POST /sittings/<int:number>/back", SittingDetail, tag=TAG, scope=Scope.SUBMIT, errors=[409]
)
def take_back(number: int, json: TakeBack) -> SittingDetail:
    """Takes the last move of a game back that one plays alone, such as a puzzle."""
    most = settings().open_games
    with own_game(number) as found:
        sittings.take_back(found, json.ply, datetime.now(UTC), most_open=most)
    return _own(number)


def _own(number: int) -> SittingDetail:
    """A game that is there, as it is now."""
    with reading() as session:
        return SittingDetail.of(find_sitting(session, number))


@operation("GET /sittings/<int:number>/record", Record, tag=TAG)
def get_sitting_record(number: int) -> Record:
    """The record of a person's game, as far as it was played; void while it has no result."""
    with reading() as session:
        return Record(sittings.record_of(find_sitting(session, number)).to_json())
