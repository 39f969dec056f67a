"""Operations on people, and the search over bots, people and competitions."""

from __future__ import annotations

from typing import Annotated

import sqlalchemy as sa
from pydantic import Field
from sqlalchemy.orm import joinedload

from arena.bots import directory, teams
from arena.bots.directory import LONGEST_QUERY
from arena.ground.numbered_pages import MOST_PAGES
from arena.models import PERSON, Scope, Team, User
from arena.web import profiles
from arena.web.api.bot_shapes import BotShape
from arena.web.api.bots import BotPages
from arena.web.api.competition_shapes import CompetitionShape
from arena.web.api.paging import page
from arena.web.api.shapes import Shape
from arena.web.api.specification import operation
from arena.web.api.user_shapes import (
    PersonDetail,
    PersonList,
    PersonShape,
    TeamDetail,
    TeamList,
)
from arena.web.lookup import find_person, find_team, reading

TAG = "people"


class PeoplePages(BotPages):
    """Which people are wanted: those with a bot that is so."""


class SearchView(Shape):
    """What is searched for."""

    q: Annotated[
        str,
        Field(
            max_length=10_000,
            description=f"Words, or how they begin; of {LONGEST_QUERY} characters at most.",
        ),
    ]
    page: Annotated[int, Field(ge=1, le=MOST_PAGES)] = 1


class SearchShape(Shape):
    """What has all of some words: of each kind a page, and how many there are."""

    words: list[str] = Field(description="By which it was looked for.")
    bots: list[BotShape]
    bots_found: int
    people: list[PersonShape]
    people_found: int
    competitions: list[CompetitionShape]
    competitions_found: int


@operation("GET /people", PersonList, tag=TAG)
def list_people(query: PeoplePages) -> PersonList:
    """Whoever has a bot that has entered something; narrowed by what is asked of that bot."""
    wanted = sa.select(User).where(directory.is_listed_person(query.wish), User.kind == PERSON)
    with reading() as session:
        return page(PersonList, session, wanted, User.id, query)


@operation("GET /people/<name>", PersonDetail, tag=TAG)
def get_person(name: str) -> PersonDetail:
    """What somebody says of themselves, and their bots."""
    with reading() as session:
        user = find_person(session, name)
        bots = directory.names_of_bots(session, user)
        return PersonDetail.of(user, bots=bots)


@operation("GET /teams", TeamList, tag="teams")
def list_teams(query: BotPages) -> TeamList:
    """Teams that have a bot that has entered something; narrowed by what is asked of that bot."""
    wanted = sa.select(Team).where(directory.is_listed_person(query.wish))
    with reading() as session:
        return page(TeamList, session, wanted.options(joinedload(Team.captain)), Team.id, query)


@operation("GET /teams/<name>", TeamDetail, tag="teams")
def get_team(name: str) -> TeamDetail:
    """What a team says of itself, its members and its bots."""
    with reading() as session:
        team = find_team(session, name)
        members = [one.user.name for one in teams.members_of(session, team)]
        bots = list(directory.names_of_bots(session, team))
        return TeamDetail.of(team, members=members, bots=bots)


export_person = operation(
    "GET /people/<name>/export",
    None,
    tag=TAG,
    name="export_person",
    media="application/zip",
    scope=Scope.READ,
    errors=[401, 403],
)(profiles.export)


@operation("GET /search", SearchShape, tag=TAG)
def search(query: SearchView) -> SearchShape:
    """Bots, people and competitions that have all of some words, or words that begin so."""
    with reading() as session:
        found = directory.search(session, query.q, page=query.page)
        return SearchShape(
            words=list(found.words),
            bots=[BotShape.of(one.bot) for one in found.bots.items],
            bots_found=found.bots.found,
            people=[PersonShape.of(one.user) for one in found.people.items],
            people_found=found.people.found,
            competitions=[CompetitionShape.of(one) for one in found.competitions.items],
            competitions_found=found.competitions.found,
        )
