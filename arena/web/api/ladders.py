"""Operations on ladders."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

import sqlalchemy as sa
from pydantic import Field
from sqlalchemy.orm import joinedload

from arena.competitions import ladder_settings
from arena.competitions.ladder_settings import SETTINGS, LadderError
from arena.models import BotVersion, Entrant, EntrantState, Ladder, Scope
from arena.schedule.idle import why_idle
from arena.web import exports, leaderboards
from arena.web.api.ladder_shapes import (
    BoardShape,
    EntrantList,
    EntrantShape,
    LadderDetail,
    LadderList,
    LadderShape,
)
from arena.web.api.paging import Pages, page
from arena.web.api.shapes import Id, Name, Shape
from arena.web.api.specification import operation
from arena.web.identity import settings, signed_in
from arena.web.leaderboards import View
from arena.web.lookup import find_ladder, reading
from arena.web.transactions import changing
from engine.game import GameError
from engine.games import find_variant

TAG = "ladders"
Sort = Literal["rank", "bot", "version", "rating", "games", "score", "faults", "last"]
Chosen = Annotated[
    dict[str, Annotated[str, Field(max_length=1000)]],
    Field(
        description="Texts by their names: "
        + "; ".join(f"{name}: {setting.words}" for name, setting in SETTINGS.items())
        + "."
    ),
]


class NewLadder(Shape):
    """A ladder to be made."""

    name: Name
    game: Name
    options: Annotated[dict[str, str], Field(description="The game's, e.g. size.")] = Field(
        default_factory=dict
    )
    settings: Chosen = Field(default_factory=dict)


class LadderChange(Shape):
    """What is to be different."""

    settings: Chosen


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


class EntrantPages(Pages):
    """Which entrants are wanted."""

    state: EntrantState | None = None


@operation(LadderList, tag=TAG)
def list_ladders(query: Pages) -> LadderList:
    """The ladders."""
    with reading() as session:
        found, following = page(session, sa.select(Ladder), Ladder.id, query)
        return LadderList(items=[LadderShape.of(one) for one in found], next=following)


@operation(LadderDetail, tag=TAG)
def get_ladder(name: str) -> LadderDetail:
    """A ladder, and why nothing is played there."""
    with reading() as session:
        found = find_ladder(session, name)
        running = leaderboards.count_running(session, found)
        quiet = None if running else why_idle(session, found, settings(), datetime.now(UTC))
        return LadderDetail.now(found, running, quiet)


@operation(LadderShape, tag=TAG, status=201, scope=Scope.ORGANISE, errors=[409])
def create_ladder(json: NewLadder) -> tuple[LadderShape, int]:
    """Makes a ladder, which is open at once unless its state is chosen."""
    options = [f"{key}={value}" for key, value in json.options.items()]
    with changing(LadderError, GameError) as session:
        variant = find_variant(json.game, options)
        actor, now = signed_in().actor, datetime.now(UTC)
        made = ladder_settings.create(session, actor, json.name, variant, json.settings, now)
        return LadderShape.of(made), 201


@operation(LadderShape, tag=TAG, scope=Scope.ORGANISE, errors=[409])
def change_ladder(name: str, json: LadderChange) -> LadderShape:
    """Changes settings of a ladder."""
    with changing(LadderError) as session:
        found = find_ladder(session, name)
        actor, now = signed_in().actor, datetime.now(UTC)
        ladder_settings.change(session, actor, found, json.settings, now)
        return LadderShape.of(found)


@operation(BoardShape, tag=TAG)
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
        board = leaderboards.board(session, find_ladder(session, name), view)
        return BoardShape.model_validate(exports.board_json(board))


@operation(EntrantList, tag=TAG)
def list_entrants(name: str, query: EntrantPages) -> EntrantList:
    """The bot versions that ever were on a ladder."""
    version = joinedload(Entrant.version).joinedload(BotVersion.bot)
    with reading() as session:
        ladder = find_ladder(session, name)
        wanted = sa.select(Entrant).where(Entrant.competition_id == ladder.id)
        if query.state is not None:
            wanted = wanted.where(Entrant.state == query.state)
        found, following = page(session, wanted.options(version), Entrant.id, query)
        items = [EntrantShape.of(one, one.version.bot.name) for one in found]
        return EntrantList(items=items, next=following)


ROUTES = (
    ("GET", "/ladders", list_ladders),
    ("POST", "/ladders", create_ladder),
    ("GET", "/ladders/<name>", get_ladder),
    ("PATCH", "/ladders/<name>", change_ladder),
    ("GET", "/ladders/<name>/leaderboard", get_leaderboard),
    ("GET", "/ladders/<name>/entrants", list_entrants),
)
