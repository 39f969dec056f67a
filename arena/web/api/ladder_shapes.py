"""What the API says of ladders and those on them, and how it is made of what the database holds."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Self

from flask import abort
from pydantic import Field
from sqlalchemy.orm import Session

from arena.competitions.final_tables import final_table
from arena.lists.accuracy import Accuracy, is_solved
from arena.models import Approval, CompetitionState, HomeRule, Ladder
from arena.web.api.competition_shapes import CompetitionShape, EntrantShape, Happening
from arena.web.api.shapes import At, List, Shape
from arena.web.leaderboards import leaders
from engine.translation import gettext


class LadderShape(CompetitionShape):
    """What can be entered at any time, and ranks whoever plays there."""

    draws: Annotated[float, At("draw_probability")] = Field(
        description="How likely a draw between equals is taken to be."
    )
    home: HomeRule = Field(
        description="Whether bots that stay at home may play there: no, beside boxed ones, or only."
    )
    approval: Approval = Field(
        description="Whether strength tests, tunings and gauntlets by its rules wait for a second "
        "person's approval."
    )
    most_bots: int | None = Field(
        description="How many bots each person may enter; null for any number."
    )
    most_active: int | None = Field(
        description="How many bots each person may have active at a time; null for any number."
    )
    most_uploads: int | None = Field(
        description="How many versions each person may hand in within 24 hours; null for any "
        "number."
    )
    season: int | None = Field(
        description="Which season of the ladder it is; null if it never began again."
    )


class LadderDetail(LadderShape, Happening):
    """A ladder, and what happens there at this moment."""


class ListedLadder(LadderShape):
    """A ladder, and who leads there."""

    leader: str | None = Field(description="As greedy v2; null before anybody is ranked.")

    @classmethod
    def each(cls, session: Session, rows: Sequence[Ladder]) -> list[Self]:
        """What travels of some ladders, with who leads there."""
        first = {id_: one.version.label for id_, one in leaders(session, rows).items()}
        return [cls.of(one, leader=first.get(one.id)) for one in rows]


class LadderList(List):
    items: list[ListedLadder]


class BoardLineShape(Shape):
    """A bot on a leaderboard."""

    rank: int | None = Field(description="Null while it is in placement.")
    surely: Annotated[float, At(lambda line: round(line.surely, 1))] = Field(
        description="The rating that it surely exceeds, mu - 3 sigma, by which it is ranked."
    )
    bot: Annotated[str, At("entrant.version.bot.name")]
    version: Annotated[int, At("entrant.version.number")]
    owner: Annotated[str, At("entrant.version.bot.owner.name")]
    language: Annotated[str, At("entrant.version.language")]
    rating: Annotated[float, At(lambda line: round(line.rating.display, 1))]
    interval: Annotated[float, At(lambda line: round(line.rating.display_margin, 1))] = Field(
        description="Half of the rating's 95 % interval."
    )
    mu: Annotated[float, At("entrant.mu")]
    sigma: Annotated[float, At("entrant.sigma")]
    games: Annotated[int, At("entrant.games")]
    wins: Annotated[int, At("entrant.wins")]
    draws: Annotated[int, At("entrant.draws")]
    losses: Annotated[int, At("entrant.losses")]
    score: Annotated[float, At(lambda line: round(line.score, 4))] = Field(
        description="Points a game, from 0 to 1."
    )
    places: Annotated[list[int], At("entrant.places")] = Field(
        description="How often it came first, second and so on, in games of more than two sides."
    )
    faults: Annotated[int, At("entrant.faults")]
    last_game: Annotated[datetime | None, At("entrant.last_game")]
    uploaded: Annotated[datetime, At("entrant.version.created")] = Field(
        description="When its version was."
    )
    climbed: int = Field(description="How many ranks it gained in the ladder's last games.")
    trend: Annotated[list[float], At("entrant.trend")] = Field(
        description="Its rating after each of its last games."
    )
    against_wins: Annotated[int | None, At(lambda line: line.against and line.against.wins)] = None
    against_draws: Annotated[int | None, At(lambda line: line.against and line.against.draws)] = (
        None
    )
    against_losses: Annotated[int | None, At(lambda line: line.against and line.against.losses)] = (
        None
    )


class BoardShape(Shape):
    """A ladder's leaderboard at this moment, or a page of it."""

    ladder: Annotated[str, At("ladder.name")]
    variant: Annotated[str, At(lambda board: str(board.ladder.variant))]
    games: Annotated[int, At("ladder.games")]
    running: int = Field(description="Matches that a worker plays now.")
    ranked: Annotated[int, At("ranked_count")]
    placement: Annotated[int, At("placement_count")]
    page: Annotated[int | None, At("view.page")]
    pages: Annotated[int, At(lambda board: board.pages if board.view.page is not None else 1)]
    against: Annotated[str | None, At(lambda board: board.picked and board.picked.version.label)]
    bots: Annotated[
        list[BoardLineShape], At(lambda board: [BoardLineShape.of(line) for line in board.lines])
    ]


class FinalLineShape(Shape):
    """Where a bot came in a ladder that is closed."""

    place: Annotated[int | None, At("final_place")] = Field(
        description="Null for who had too few games to be ranked."
    )
    bot: Annotated[str, At("version.bot.name")]
    version: Annotated[int, At("version.number")]
    owner: Annotated[str, At("version.bot.owner.name")]
    elo: Annotated[float | None, At("final_elo")] = Field(
        description="Above the mean of its field, by all games at once, whatever their order."
    )
    elo_lower: Annotated[float | None, At("final_lower")] = Field(
        description="The lower end of its 95 % interval."
    )
    elo_upper: Annotated[float | None, At("final_upper")]
    points: float
    games: int
    wins: int
    draws: int
    losses: int


class FinalTableShape(Shape):
    """The final table of a ladder that is closed."""

    ladder: str
    finished: datetime | None
    games: int | None = Field(description="By so many; null while it is being made.")
    bots: list[FinalLineShape]

    @classmethod
    def read(cls, session: Session, ladder: Ladder) -> FinalTableShape:
        """The shape of a ladder's final table."""
        if ladder.state is not CompetitionState.CLOSED:
            words = "The ladder %(name)s is not closed, and has no final table yet."
            abort(404, gettext(words, name=ladder.name))
        lines = final_table(session, ladder)
        return cls(
            ladder=ladder.name,
            finished=ladder.finished,
            games=ladder.placed_games,
            bots=[FinalLineShape.of(one) for one in lines],
        )


class AccuracyShape(Shape):
    """How accurate a bot is against perfect play, where that is certain, in its newest games."""

    bot: str
    version: int
    games: int = Field(description="In which some of its moves were judged.")
    judged: int = Field(description="Its moves of which it is certain that they could lose.")
    kept: int = Field(description="How many of these lost nothing.")
    results_given_away: Annotated[int, At("results")] = Field(
        description="How many made a draw or a loss of a win, or a loss of a draw."
    )
    lost: int = Field(description="What the others lost, added up.")
    accuracy: Annotated[float, At("share")] = Field(description="Kept by judged, from 0 to 1.")


class AccuracyBoard(Shape):
    """How accurate the bots of a ladder are."""

    ladder: str
    variant: str
    solved: bool = Field(description="Whether anything finds what its positions are worth.")
    bots: list[AccuracyShape]

    @classmethod
    def shown(cls, ladder: Ladder, lines: Sequence[Accuracy]) -> AccuracyBoard:
        """How accurate some versions are on a ladder."""
        return cls(
            ladder=ladder.name,
            variant=str(ladder.variant),
            solved=is_solved(ladder.variant),
            bots=[AccuracyShape.of(line) for line in lines],
        )


class RankedEntrant(EntrantShape):
    """A bot version on a ladder, with its place on the board."""

    rank: int | None = Field(description="Null while it has none: in placement, or not active.")
    ranked: int = Field(description="How many have one.")


class QuotaShape(Shape):
    """How much of a quota is used."""

    had: int
    most: int | None = Field(description="Null for any number.")


class QuotasShape(Shape):
    """What somebody has on a ladder of what each person may have there."""

    bots: QuotaShape = Field(description="Bots that ever entered it, or are to.")
    active: QuotaShape = Field(
        description="Bots that are active, or become so when they pass their checks."
    )
    uploads: QuotaShape = Field(description="Versions that were handed in within 24 hours.")
    refusal: str | None = Field(
        description="Why a new version of the bot can't be handed in now; null if it can."
    )
