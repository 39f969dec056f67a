"""Operations on competitions of any kind; ladders, tournaments and tests have more of their own."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

import sqlalchemy as sa
from pydantic import Field
from sqlalchemy.orm import Session, joinedload

from arena.competitions.dates import dates_of
from arena.models import (
    BotVersion,
    Competition,
    Entrant,
    EntrantState,
    LadderRound,
    MemberRole,
    Membership,
    Scope,
)
from arena.schedule.idle import why_idle
from arena.web import leaderboards
from arena.web.api.competition_shapes import (
    CompetitionDetail,
    CompetitionList,
    DateList,
    DateShape,
    EntrantList,
    MembershipList,
)
from arena.web.api.paging import Pages, page
from arena.web.api.shapes import Name
from arena.web.api.specification import operation
from arena.web.identity import began, settings
from arena.web.lookup import find_competition, reading
from arena.web.permissions import demand_organiser

TAG = "competitions"


class CompetitionPages(Pages):
    """Which competitions are wanted."""

    kind: Annotated[Name | None, Field(description="ladder, tournament, test or another.")] = None


class EntrantPages(Pages):
    """Which entrants are wanted."""

    state: EntrantState | None = None


@operation("GET /competitions", CompetitionList, tag=TAG)
def list_competitions(query: CompetitionPages) -> CompetitionList:
    """Ladders, tournaments, strength tests and what else is played, in one list, but for rounds of
    ladders, which GET /tournaments lists by round_of."""
    wanted = sa.select(Competition).where(LadderRound.lists())
    if query.kind is not None:
        wanted = wanted.where(Competition.kind == query.kind)
    with reading() as session:
        return page(CompetitionList, session, wanted, Competition.id, query)


@operation("GET /competitions/<name>", CompetitionDetail, tag=TAG)
def get_competition(name: str) -> CompetitionDetail:
    """A competition, and why nothing is played there."""
    with reading() as session:
        found = find_competition(session, name)
        return CompetitionDetail.of(found, **happening(session, found))


@operation("GET /competitions/<name>/dates", DateList, tag=TAG)
def list_dates(name: str) -> DateList:
    """The dates of a ladder or a tournament, and the moment by the clock that decides them."""
    with reading() as session:
        its = dates_of(session, find_competition(session, name))
        return DateList(now=began(), items=[DateShape.of(one) for one in its])


def happening(session: Session, competition: Competition) -> dict[str, Any]:
    """What happens in a competition now, for the fields of `Happening`."""
    running = leaderboards.count_running(session, competition)
    quiet = None if running else why_idle(session, competition, settings(), datetime.now(UTC))
    return {"running": running, "quiet": quiet}


class MembershipPages(Pages):
    """Which members are wanted."""

    role: MemberRole | None = None


@operation(
    "GET /competitions/<name>/members", MembershipList, tag=TAG, scope=Scope.ORGANISE, of_one=True
)
def list_competition_members(name: str, query: MembershipPages) -> MembershipList:
    """Who belongs to a competition, for its organisers."""
    with reading() as session:
        found = find_competition(session, name)
        demand_organiser(found)
        wanted = sa.select(Membership).where(Membership.competition_id == found.id)
        if query.role is not None:
            wanted = wanted.where(Membership.role == query.role)
        wanted = wanted.options(joinedload(Membership.user))
        return page(MembershipList, session, wanted, Membership.user_id, query)


@operation("GET /competitions/<name>/entrants", EntrantList, tag=TAG)
def list_competition_entrants(name: str, query: EntrantPages) -> EntrantList:
    """The bot versions that ever were in a competition."""
    with reading() as session:
        return entrants_of(session, find_competition(session, name), query)


def entrants_of(session: Session, competition: Competition, query: EntrantPages) -> EntrantList:
    """A page of the entrants of a competition."""
    version = joinedload(Entrant.version).joinedload(BotVersion.bot)
    wanted = sa.select(Entrant).where(Entrant.competition_id == competition.id)
    if query.state is not None:
        wanted = wanted.where(Entrant.state == query.state)
    return page(EntrantList, session, wanted.options(version), Entrant.id, query)
