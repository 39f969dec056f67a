"""Operations on tournaments."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

import sqlalchemy as sa
from pydantic import Field

from arena.competitions import results, tournament_fields, tournaments
from arena.competitions.calling_off import call_off
from arena.competitions.tournaments import CompetitionLimits, TournamentError, TournamentPlan
from arena.formats.catalogue import FORMATS
from arena.formats.settings import FormatError
from arena.models import CompetitionState, Scope, Tournament
from arena.web.api.paging import Pages, page
from arena.web.api.results import TournamentDetail, TournamentList, TournamentShape
from arena.web.api.shapes import BotVersionName, Line, Name, Shape
from arena.web.api.specification import operation
from arena.web.changing_tournaments import demand_may_withdraw
from arena.web.identity import signed_in
from arena.web.lookup import find_ladder, find_tournament, reading
from arena.web.tournaments import whole
from arena.web.transactions import changing

TAG = "tournaments"
SETTINGS = "; ".join(
    f"{name}: " + ", ".join(f"{key} ({setting.words})" for key, setting in kind.settings.items())
    for name, kind in FORMATS.items()
    if kind.settings
)


class NewTournament(Shape):
    """A tournament to be made, by the rules of a ladder."""

    name: Name
    ladder: Name
    format: Annotated[str, Field(max_length=20, description=f"One of {', '.join(FORMATS)}.")]
    title: Annotated[str, Field(max_length=120)] = ""
    note: Line = ""
    bots: Annotated[
        list[BotVersionName] | None,
        Field(
            max_length=tournaments.MOST_ENTRANTS,
            description="By default all that are active on the ladder.",
        ),
    ] = None
    as_given: Annotated[
        bool, Field(description="Seed the bots in this order, not by their ratings.")
    ] = False
    top: Annotated[
        int | None, Field(ge=2, le=1000, description="Only the first so many by seeding.")
    ] = None
    settings: Annotated[
        dict[str, Annotated[int, Field(ge=0, le=1_000_000)]],
        Field(description=f"The format's. {SETTINGS}."),
    ] = Field(default_factory=dict)
    tie_breaks: Annotated[list[str] | None, Field(max_length=10)] = None
    seed: Annotated[int, Field(ge=0, le=2**48 - 1)] = 0
    paused: Annotated[
        bool, Field(description="Make no match until it is opened: its field can change so long.")
    ] = False


class TournamentChange(Shape):
    """What is to be different about a tournament."""

    state: Literal["open", "paused"]


class NewEntrants(Shape):
    """Who enters a tournament."""

    bots: Annotated[list[BotVersionName], Field(min_length=1, max_length=tournaments.MOST_ENTRANTS)]


class Withdrawal(Shape):
    """Who is withdrawn from a tournament, and why."""

    bot: BotVersionName
    note: Annotated[
        str,
        Field(
            max_length=2000,
            description="Why, for everybody; needed once it has begun.",
        ),
    ] = ""


class CallingOff(Shape):
    """Why a tournament is called off."""

    note: Annotated[str, Field(min_length=1, max_length=2000, description="For everybody.")]


@operation(TournamentList, tag=TAG)
def list_tournaments(query: Pages) -> TournamentList:
    """The tournaments."""
    with reading() as session:
        found, following = page(session, sa.select(Tournament), Tournament.id, query)
        return TournamentList(items=[_summary(one) for one in found], next=following)


def _summary(tournament: Tournament) -> TournamentShape:
    return TournamentShape.model_validate(results.summary(tournament))


@operation(TournamentDetail, tag=TAG)
def get_tournament(name: str) -> TournamentDetail:
    """All that stands in a tournament: standings, crosstable, rounds, bracket."""
    with reading() as session:
        return TournamentDetail.model_validate(whole(session, find_tournament(session, name)))


@operation(TournamentShape, tag=TAG, status=201, scope=Scope.ORGANISE, errors=[404, 409])
def create_tournament(json: NewTournament) -> tuple[TournamentShape, int]:
    """Makes a tournament of bots of a ladder, which begins as soon as a worker is free."""
    with changing(TournamentError, FormatError) as session:
        ladder = find_ladder(session, json.ladder)
        if json.bots is None:
            field = tournaments.field_of(session, ladder)
        else:
            field = tournaments.named_versions(session, json.bots)
            if not json.as_given:
                field = tournaments.seeded_by(session, ladder, field)
        plan = TournamentPlan(
            json.name,
            ladder.variant,
            ladder.time,
            json.format,
            title=json.title,
            settings=json.settings,
            tie_breaks=None if json.tie_breaks is None else tuple(json.tie_breaks),
            openings=ladder.openings,
            limits=CompetitionLimits.of(ladder),
            seed=json.seed,
            note=json.note,
            paused=json.paused,
        )
        actor, now = signed_in().actor, datetime.now(UTC)
        made = tournaments.create(session, plan, field[: json.top], now, actor)
        return _summary(made), 201


@operation(TournamentShape, tag=TAG, scope=Scope.ORGANISE, errors=[409])
def call_off_tournament(name: str, json: CallingOff) -> TournamentShape:
    """Calls a tournament off for ever: what is not played yet never is, and nobody wins."""
    with changing(TournamentError) as session:
        found = find_tournament(session, name)
        call_off(session, found, json.note, datetime.now(UTC), signed_in().actor)
        return _summary(found)


@operation(TournamentShape, tag=TAG, scope=Scope.ORGANISE, errors=[409])
def change_tournament(name: str, json: TournamentChange) -> TournamentShape:
    """Pauses a tournament, or opens it again."""
    with changing(TournamentError) as session:
        found = find_tournament(session, name)
        state, now = CompetitionState(json.state), datetime.now(UTC)
        tournaments.set_state(session, found, state, now, signed_in().actor)
        return _summary(found)


@operation(TournamentShape, tag=TAG, scope=Scope.ORGANISE, errors=[409])
def enter_tournament(name: str, json: NewEntrants) -> TournamentShape:
    """Enters bots in a tournament that has not begun; they come last in the seeding."""
    with changing(TournamentError, FormatError) as session:
        found, now = find_tournament(session, name), datetime.now(UTC)
        versions = tournaments.named_versions(session, json.bots)
        tournament_fields.enter(session, found, versions, now, signed_in().actor)
        return _summary(found)


@operation(TournamentShape, tag=TAG, scope=Scope.SUBMIT, errors=[409])
def withdraw_from_tournament(name: str, json: Withdrawal) -> TournamentShape:
    """Takes a bot out of a tournament: any for organisers, one's own for everybody else.

    Before its first match is made it is as if the bot had never been in it. After that its
    results stand, that of a match under way, too, and what it has not begun it forfeits.
    """
    with changing(TournamentError, FormatError) as session:
        found, now = find_tournament(session, name), datetime.now(UTC)
        entrant = tournament_fields.find_entrant(session, found, json.bot)
        demand_may_withdraw(entrant)
        tournament_fields.withdraw(session, found, entrant, json.note, now, signed_in().actor)
        return _summary(found)


ROUTES = (
    ("GET", "/tournaments", list_tournaments),
    ("POST", "/tournaments", create_tournament),
    ("GET", "/tournaments/<name>", get_tournament),
    ("PATCH", "/tournaments/<name>", change_tournament),
    ("POST", "/tournaments/<name>/enter", enter_tournament),
    ("POST", "/tournaments/<name>/withdraw", withdraw_from_tournament),
    ("POST", "/tournaments/<name>/call-off", call_off_tournament),
)
