"""Operations on ladders."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

import sqlalchemy as sa
from pydantic import Field

from arena.bots import ladder_quotas, quota, teams
from arena.competitions.round_tables import MOST_ROUNDS, round_table
from arena.lists.accuracy import accuracies
from arena.models import Bot, Ladder, Scope, User
from arena.web import leaderboards
from arena.web.api.competition_shapes import EntrantList
from arena.web.api.competitions import EntrantPages, entrants_of, happening
from arena.web.api.ladder_shapes import (
    AccuracyBoard,
    BoardShape,
    FinalTableShape,
    LadderDetail,
    LadderList,
    QuotaShape,
    QuotasShape,
)
from arena.web.api.paging import Pages, page
from arena.web.api.round_shapes import LadderRoundsShape
from arena.web.api.shapes import Id, Name, Shape
from arena.web.api.specification import operation
from arena.web.crosstable import ladder_crosstable
from arena.web.identity import settings, signed_in
from arena.web.leaderboards import View
from arena.web.lookup import find_ladder, reading
from arena.web.traces import of_competition
from arena.web.validators import answer_if_known

TAG = "ladders"
Sort = Literal["rank", "bot", "version", "rating", "games", "score", "faults", "last"]


class BoardView(Shape):
    """What of a leaderboard is wanted."""

    sort: Sort = "rank"
    page: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    bot: Annotated[Name, Field(description="A part of the names wanted.")] = ""
    owner: Name = ""
    language: Name = ""
    against: Annotated[
        Id | None, Field(description="The id of an entrant, for everybody's games.")
    ] = None


@operation("GET /ladders", LadderList, tag=TAG)
def list_ladders(query: Pages) -> LadderList:
    """What can be entered at any time, each with its leader."""
    with reading() as session:
        return page(LadderList, session, sa.select(Ladder), Ladder.id, query)


@operation("GET /ladders/<name>", LadderDetail, tag=TAG)
def get_ladder(name: str) -> LadderDetail:
    """A ladder, and why nothing is played there."""
    with reading() as session:
        found = find_ladder(session, name)
        return LadderDetail.of(found, **happening(session, found))


class QuotaView(Shape):
    """The bot, or the team, that a quota is asked for."""

    bot: Annotated[Name, Field(description="One's own, or the name of a new one.")] = ""
    team: Annotated[Name, Field(description="A team of one's own, if a new one is its.")] = ""


@operation("GET /ladders/<name>/quotas", QuotasShape, tag=TAG, scope=Scope.SUBMIT)
def get_quotas(name: str, query: QuotaView) -> QuotasShape:
    """What one has on a ladder of what each person may have there: to be asked before files are
    sent.

    A bot that is shared with one counts for its owner, a team's for the captain.
    """
    now = datetime.now(UTC)
    with reading() as session:
        ladder = find_ladder(session, name)
        user = session.get_one(User, signed_in().id)
        new = (teams.own(session, query.team, user) if query.team else user).person_id
        person, bot = ladder_quotas.whose_next(session, query.bot, new)
        found = None if bot is None else session.get(Bot, bot)
        if found is None or not signed_in().owns(found):
            person, bot = new, None
        refusal = ladder_quotas.why_no_room(session, ladder, person, bot, now)
        if bot is None and not refusal:
            who = session.get_one(User, person)
            refusal = quota.why_no_more_bots(session, who, settings().bots_a_person)
        its = ladder_quotas.quotas_of(session, ladder, person, now)
        parts = {key: QuotaShape(**part._asdict()) for key, part in its._asdict().items()}
        return QuotasShape(**parts, refusal=refusal or None)


@operation("GET /ladders/<name>/leaderboard", BoardShape, tag=TAG)
def get_leaderboard(name: str, query: BoardView) -> BoardShape:
    """A page of a ladder's leaderboard.

    The ranked ones come first, then those in placement; all pages together have each once.
    Ranks change with every match, so that pages asked for at different moments may not fit;
    the entrants of a ladder can be listed without such gaps.
    """
    view = View(
        query.sort, query.page, query.bot, query.owner, query.language, query.against, in_a_row=True
    )
    with reading() as session:
        ladder = find_ladder(session, name)
        answer_if_known(session, of_competition(ladder))
        return BoardShape.of(leaderboards.board(session, ladder, view))


@operation("GET /ladders/<name>/final-table", FinalTableShape, tag=TAG)
def get_final_table(name: str) -> FinalTableShape:
    """The final table of a ladder that is closed, which no order of its games decides."""
    with reading() as session:
        return FinalTableShape.read(session, find_ladder(session, name))


class RoundView(Shape):
    """How many rounds are asked for."""

    last: Annotated[int, Field(ge=1, le=MOST_ROUNDS, description="So many, the newest.")] = 20


@operation("GET /ladders/<name>/rounds", LadderRoundsShape, tag=TAG)
def get_rounds(name: str, query: RoundView) -> LadderRoundsShape:
    """The rounds of a ladder, its divisions, and where each bot came."""
    with reading() as session:
        found = find_ladder(session, name)
        return LadderRoundsShape.shown(round_table(session, found, query.last))


@operation("GET /ladders/<name>/seasons", LadderList, tag=TAG)
def list_seasons(name: str, query: Pages) -> LadderList:
    """The seasons of a ladder: itself alone, if it never began again."""
    with reading() as session:
        found = find_ladder(session, name)
        is_its = Ladder.id == found.id
        if found.series_id is not None:
            is_its = Ladder.series_id == found.series_id
        its = sa.select(Ladder).where(is_its)
        return page(LadderList, session, its, Ladder.id, query)


class CrosstableCell(Shape):
    """What a bot did against another."""

    bot: str
    version: int
    wins: int
    draws: int
    losses: int


class CrosstableRow(Shape):
    """What a bot did against those others that it met."""

    bot: str
    version: int
    against: list[CrosstableCell]


class CrosstableShape(Shape):
    """What the best bots of a ladder did against each other, by their ranks."""

    bots: list[CrosstableRow]


@operation("GET /ladders/<name>/crosstable", CrosstableShape, tag=TAG)
def get_crosstable(name: str) -> CrosstableShape:
    """What the 20 best bots of a ladder did against each other."""
    with reading() as session:
        found = ladder_crosstable(session, find_ladder(session, name))
    rows = [
        CrosstableRow(
            bot=one.version.bot.name,
            version=one.version.number,
            against=[
                CrosstableCell(
                    bot=other.version.bot.name,
                    version=other.version.number,
                    wins=score.wins,
                    draws=score.draws,
                    losses=score.losses,
                )
                for other in found.entrants
                if (score := found.cells.get((one.id, other.id))) is not None
            ],
        )
        for one in found.entrants
    ]
    return CrosstableShape(bots=rows)


@operation("GET /ladders/<name>/accuracy", AccuracyBoard, tag=TAG)
def get_accuracy(name: str) -> AccuracyBoard:
    """How accurate the bots of a ladder are against perfect play, the most accurate first."""
    with reading() as session:
        found = find_ladder(session, name)
        return AccuracyBoard.shown(found, accuracies(session, found))


@operation("GET /ladders/<name>/entrants", EntrantList, tag=TAG)
def list_entrants(name: str, query: EntrantPages) -> EntrantList:
    """The bot versions that ever were on a ladder."""
    with reading() as session:
        return entrants_of(session, find_ladder(session, name), query)
