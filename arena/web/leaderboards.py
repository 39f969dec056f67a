"""The leaderboard of a ladder, read with a fixed number of statements.

Of everybody on the ladder only what ranks them is read; the rest only of those that are shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Load, Session, joinedload

from arena.competitions.ranks import active_on, games_to_be_ranked, needed_games
from arena.formats.score import Score
from arena.models import (
    Bot,
    BotVersion,
    Competition,
    Entrant,
    EntrantState,
    GameSeat,
    JobStatus,
    Ladder,
    Match,
    PlayedGame,
    User,
)
from arena.ratings.trueskill import Rating
from arena.web import queries

MOVEMENT_GAMES = 200
"""A rank is compared with the one before so many games of the ladder."""
PAGE_BOTS = 50
"""A page of a board shows so many ranked bots, and so many in placement."""


Rated = tuple[int, float, int]
"""What ranks an entrant: its id, what is surely believed of it, and its games."""


@dataclass(frozen=True, slots=True)
class BoardLine:
    """An entrant on the board of its ladder."""

    entrant: Entrant
    rank: int | None
    """None while it is in placement."""
    climbed: int = 0
    """How many ranks it gained lately; negative if it lost some."""
    against: Score | None = None
    """What it did against the picked bot."""

    @property
    def rating(self) -> Rating:
        """Its rating: what is believed of it."""
        return Rating(self.entrant.mu, self.entrant.sigma)

    @property
    def surely(self) -> float:
        """What it is surely above, in points of the rating; ranks go by it."""
        return Rating(self.entrant.conservative).display

    @property
    def score(self) -> float:
        """Points a game, from 0 to 1."""
        return self.entrant.points / self.entrant.games if self.entrant.games else 0.0

    @property
    def fault_share(self) -> float:
        """Faults a game."""
        return self.entrant.faults / self.entrant.games if self.entrant.games else 0.0


@dataclass(frozen=True, slots=True)
class View:
    """What somebody wants to see of a board."""

    sort: str = "rank"
    """A key of `SORTS` for the ranked bots."""
    page: int | None = None
    """The page of ranked bots, from 1; None is all of them at once."""
    bot: str = ""
    """A part of the names wanted."""
    owner: str = ""
    language: str = ""
    picked_id: int | None = None
    """An active entrant; every line gains its games against that one."""
    in_a_row: bool = False
    """Whether those in placement come on pages of their own, after the ranked ones, so that all
    pages have each bot once; else the first of them stand below the ranked ones of any page."""

    @property
    def is_filtered(self) -> bool:
        """Whether some bots are left out."""
        return bool(self.bot or self.owner or self.language)


@dataclass(frozen=True, slots=True)
class LadderBoard:
    """A ladder's leaderboard, or a page of it."""

    ladder: Ladder
    view: View
    ranked: tuple[BoardLine, ...]
    placement: tuple[BoardLine, ...]
    """The unranked bots nearest to a place on the board."""
    field_count: int
    """How many bots are paired on the ladder."""
    ranked_count: int
    """How many of them have a place on the board."""
    found_count: int
    """How many of these the view's filters let through."""
    placement_count: int
    """How many of those in placement they let through."""
    games_to_be_ranked: int
    picked: Entrant | None
    """The entrant whose games against everyone the lines show."""
    running: int
    """Matches that a worker plays now."""

    @property
    def lines(self) -> tuple[BoardLine, ...]:
        """Its bots, the ranked ones first."""
        return (*self.ranked, *self.placement)

    @property
    def trend_span(self) -> float:
        """How far the trend that goes farthest reaches, so that all are drawn to one scale."""
        trends = [line.entrant.trend for line in self.ranked if line.entrant.trend]
        return max([max(trend) - min(trend) for trend in trends], default=0.0) or 1.0

    @property
    def pages(self) -> int:
        """How many pages the ranked bots take, and those in placement if they have pages."""
        bots = self.found_count + (self.placement_count if self.view.in_a_row else 0)
        return max(1, -(-bots // PAGE_BOTS))


SORTS: Mapping[str, sa.ColumnElement[Any]] = {
    "rank": Entrant.conservative.desc(),
    "bot": sa.func.lower(Bot.name),
    "version": BotVersion.created.desc(),
    "rating": Entrant.mu.desc(),
    "games": Entrant.games.desc(),
    "score": (Entrant.points / sa.func.nullif(Entrant.games, 0)).desc(),
    "faults": (sa.cast(Entrant.faults, sa.Double) / sa.func.nullif(Entrant.games, 0)).desc(),
    "last": Entrant.last_game.desc(),
}
"""The orders in which ranked bots can be shown, each with what people look for at the top."""


def board(session: Session, ladder: Ladder, view: View = View()) -> LadderBoard:
    """A ladder's leaderboard, ranked by what is surely believed of each: mu - 3 sigma."""
    field = _field(session, ladder)
    needed = games_to_be_ranked(ladder, len(field))
    ranked = [entrant for entrant, _, games in field if games >= needed]
    ranks = {entrant: rank for rank, entrant in enumerate(ranked, start=1)}
    in_placement = [entrant for entrant, _, games in field if games < needed]
    order = ranked
    if view.is_filtered or view.sort != "rank":
        wanted = _wanted(session, ladder, view)
        order = [entrant for entrant in wanted if entrant in ranks]
        placed = set(wanted)
        in_placement = [entrant for entrant in in_placement if entrant in placed]
    found, waiting = len(order), len(in_placement)
    if view.page is not None:
        begin = (view.page - 1) * PAGE_BOTS
        order = order[begin : begin + PAGE_BOTS]
        before = max(begin - found, 0) if view.in_a_row else 0
        room = PAGE_BOTS - (len(order) if view.in_a_row else 0)
        in_placement = in_placement[before : before + room]
    pick = [entrant for entrant, _, _ in field if entrant == view.picked_id]
    shown = _load(session, [*order, *in_placement, *pick])
    picked = shown[pick[0]] if pick else None
    climbed = _climbed(session, ladder, field, ranks)
    against = queries.scores_against(session, [picked.id]) if picked else {}

    def line(entrant_id: int) -> BoardLine:
        return BoardLine(
            shown[entrant_id],
            ranks.get(entrant_id),
            climbed.get(entrant_id, 0),
            against[entrant_id].turned if entrant_id in against else None,
        )

    return LadderBoard(
        ladder,
        view,
        tuple(map(line, order)),
        tuple(map(line, in_placement)),
        field_count=len(field),
        ranked_count=len(ranks),
        found_count=found,
        placement_count=waiting,
        games_to_be_ranked=needed,
        picked=picked,
        running=count_running(session, ladder),
    )


def _field(session: Session, ladder: Ladder) -> Sequence[Rated]:
    """What ranks the active entrants of a ladder, the first first."""
    rows = session.execute(
        sa.select(Entrant.id, Entrant.conservative, Entrant.games)
        .where(active_on(ladder.id))
        .order_by(Entrant.conservative.desc(), Entrant.id)
    )
    return [(entrant, conservative, games) for entrant, conservative, games in rows]


def _wanted(session: Session, ladder: Ladder, view: View) -> Sequence[int]:
    """The active entrants that a view's filters let through, in its order."""
    query = (
        sa.select(Entrant.id)
        .join(Entrant.version)
        .join(BotVersion.bot)
        .join(Bot.owner)
        .where(active_on(ladder.id))
        .order_by(sa.nulls_last(SORTS[view.sort]), Entrant.id)
    )
    if view.bot:
        query = query.where(Bot.name.icontains(view.bot, autoescape=True))
    if view.owner:
        query = query.where(User.named(view.owner))
    if view.language:
        query = query.where(BotVersion.language == view.language)
    return session.scalars(query).all()


def _load(session: Session, ids: Sequence[int]) -> dict[int, Entrant]:
    """Entrants with all that a line shows of them, by their ids."""
    version = joinedload(Entrant.version).load_only(
        BotVersion.number, BotVersion.language, BotVersion.created
    )
    owner = version.joinedload(BotVersion.bot).load_only(Bot.name).joinedload(Bot.owner)
    found: dict[int, Entrant] = {}
    # SQLite takes 32,766 parameters of a statement at most.
    for start in range(0, len(ids), 10_000):
        part = sa.select(Entrant).where(Entrant.id.in_(ids[start : start + 10_000]))
        for entrant in session.scalars(part.options(owner.load_only(User.name))):
            found[entrant.id] = entrant
    return found


def languages(session: Session, ladder: Ladder) -> Sequence[str]:
    """What the active bots of a ladder are written in."""
    return session.scalars(
        sa.select(BotVersion.language)
        .join(Entrant, Entrant.version_id == BotVersion.id)
        .where(active_on(ladder.id))
        .distinct()
        .order_by(BotVersion.language)
    ).all()


def leaders(session: Session, ladders: Sequence[Ladder]) -> dict[int, Entrant]:
    """Who is first on each ladder's board, by the ladder's id."""
    races = [ladder.id for ladder in ladders if ladder.variant.seats == 1]
    fields = (
        sa.select(Entrant.competition_id, sa.func.count().label("field"))
        .where(Entrant.competition_id.in_(races), Entrant.state == EntrantState.ACTIVE)
        .group_by(Entrant.competition_id)
        .subquery()
    )
    needed = needed_games(races, Ladder.id, fields.c.field)
    first = (
        sa.select(Entrant.id)
        .where(active_on(Ladder.id), Entrant.games >= needed)
        .order_by(Entrant.conservative.desc(), Entrant.id)
        .limit(1)
        .correlate(Ladder, fields)
        .scalar_subquery()
    )
    asked = (
        sa.select(first)
        .select_from(Ladder)
        .outerjoin(fields, fields.c.competition_id == Ladder.id)
        .where(Ladder.id.in_([one.id for one in ladders]))
    )
    found = [entrant for entrant in session.scalars(asked) if entrant is not None]
    rating = Load(Entrant).load_only(Entrant.competition_id, Entrant.mu, Entrant.sigma)
    query = sa.select(Entrant).where(Entrant.id.in_(found)).options(queries.named(rating))
    return {entrant.competition_id: entrant for entrant in session.scalars(query)}


def count_running(session: Session, competition: Competition) -> int:
    """How many matches of a competition a worker plays now."""
    query = (
        sa.select(sa.func.count())
        .select_from(Match)
        .where(
            Match.competition_id == competition.id,
            Match.status == JobStatus.ISSUED,
            Match.worker.is_not(None),
        )
    )
    return session.scalar(query) or 0


def _climbed(
    session: Session, ladder: Ladder, field: Sequence[Rated], ranks: Mapping[int, int]
) -> dict[int, int]:
    """How many ranks each gained over the ladder's last games, among those that are ranked now."""
    last = (
        sa.select(PlayedGame.id)
        .where(PlayedGame.competition_id == ladder.id)
        .order_by(PlayedGame.id.desc())
        .limit(MOVEMENT_GAMES)
    )
    rows = session.execute(
        sa.select(GameSeat.entrant_id, GameSeat.mu_before - 3 * GameSeat.sigma_before)
        .where(GameSeat.game_id.in_(last))
        .order_by(GameSeat.game_id.desc())
    )
    before: dict[int, float] = {}
    played = Counter[int]()
    for entrant, conservative in rows:
        if conservative is not None:
            before[entrant] = conservative  # the oldest comes last, and stands
            played[entrant] += 1
    # Those that were ranked by then, in their order of now.
    were_there = [
        (before.get(entrant, conservative), entrant)
        for entrant, conservative, games in field
        if entrant in ranks and games > played[entrant]
    ]
    order = sorted((-conservative, entrant) for conservative, entrant in were_there)
    earlier = {entrant: rank for rank, (_, entrant) in enumerate(order)}
    return {entrant: earlier[entrant] - now for now, (_, entrant) in enumerate(were_there)}
