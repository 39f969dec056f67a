"""How games go on from a line, for programs."""

from __future__ import annotations

from typing import Annotated, Literal

from flask import request
from pydantic import Field

from arena.ground.refusals import Refusal, WrongField
from arena.lists.explorer import BranchTally
from arena.web.api.shapes import Id, Shape
from arena.web.api.specification import operation
from arena.web.explorer import Explored, explore
from arena.web.lines import read_line
from arena.web.lookup import find_competition, reading

TAG = "games"


class LineView(Shape):
    """Which line is wanted: a start and moves, or a game up to a ply."""

    moves: Annotated[str, Field(description="From the start, with spaces between them.")] = ""
    start: Annotated[
        list[str],
        Field(description="Where lots or a position chose it: an option as key=value, each once."),
    ] = Field(default_factory=list)
    game: Annotated[
        Id | None, Field(description="The number of a game, in the place of these.")
    ] = None
    ply: Annotated[int | None, Field(ge=0, description="Up to which ply of it.")] = None
    all: Annotated[
        Literal["yes", "no"],
        Field(description="Whether all competitions of the variant are counted, not this alone."),
    ] = "no"


class SeatTally(Shape):
    """What came of some games for a seat."""

    seat: int
    won: int
    drawn: int
    lost: int


class BranchShape(Shape):
    """A way on from a line."""

    move: str | None = Field(description="Null where games ended, or the move is not known here.")
    games: int
    chosen: int = Field(
        description="In how many a bot chose the move; in the others the opening set it."
    )
    seats: list[SeatTally]


class StartShape(Shape):
    """A start of a variant that has several."""

    start: list[str]
    games: int
    seats: list[SeatTally]


class LinePlayer(Shape):
    """A bot that chose the last move of a line."""

    bot: str
    games: int
    won: int
    drawn: int
    lost: int


class LineShape(Shape):
    """How games went on from a line. Only games that count are told of."""

    competition: str
    everywhere: bool = Field(description="Whether all competitions of its variant are counted.")
    start: list[str] = Field(description="The options in which it differs from the variant.")
    moves: list[str]
    position: str | None = Field(description="Null where a start has to be chosen first.")
    to_move: int | None = Field(description="The seat; 0 for chance, null when the game is over.")
    line: str = Field(description="What the filter line takes; empty beyond what is counted.")
    games: int
    seats: list[SeatTally]
    branches: list[BranchShape]
    starts: list[StartShape] = Field(description="From which to choose, where there are several.")
    bots: list[LinePlayer] = Field(
        description="Who chose the last move, in the newest games of the line."
    )
    last_games: list[int]


def _seats(tally: BranchTally) -> list[SeatTally]:
    return [
        SeatTally(seat=seat + 1, won=won, drawn=drawn, lost=lost)
        for seat, (won, drawn, lost) in sorted(tally.results.items())
    ]


def _shape(found: Explored) -> LineShape:
    line = found.line
    to_move = None if line is None else line.state.to_move
    return LineShape(
        competition=found.competition.name,
        everywhere=found.everywhere,
        start=line.words.get("start", []) if line else [],
        moves=list(line.opening.moves) if line else [],
        position=line.state.text() if line else None,
        to_move=None if to_move is None else to_move + 1,
        line=found.word,
        games=found.total.games,
        seats=_seats(found.total),
        branches=[
            BranchShape(
                move=one.move,
                games=one.tally.games,
                chosen=one.tally.chosen,
                seats=_seats(one.tally),
            )
            for one in found.branches
        ],
        starts=[
            StartShape(
                start=[f"{key}={its}" for key, its in one.own.items()],
                games=one.tally.games,
                seats=_seats(one.tally),
            )
            for one in found.starts
        ],
        bots=[
            LinePlayer(
                bot=name, games=share.games, won=share.won, drawn=share.drawn, lost=share.lost
            )
            for name, share in found.players
        ],
        last_games=list(found.last_games),
    )


@operation("GET /explorer/<name>", LineShape, tag=TAG, errors=[404, 409])
def explore_line(name: str, query: LineView) -> LineShape:
    """How the games of a competition, or of all of its variant, go on from a line."""
    with reading() as session:
        competition = find_competition(session, name)
        try:
            line = read_line(session, competition.variant, request.args)
        except WrongField as error:
            # It is as the document says, and yet can't be meant.
            raise Refusal(str(error)) from None
        return _shape(explore(session, competition, line, everywhere=query.all == "yes"))
