"""Operations on bots: their versions, and two side by side."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import sqlalchemy as sa
from flask import abort
from pydantic import Field
from sqlalchemy.orm import Session, joinedload

from arena.bots import entries, sharing
from arena.bots.submissions import SubmissionError
from arena.competitions.ranks import ranks_of
from arena.models import Bot, BotVersion, EntrantState, Scope, User
from arena.people.accounts import PeopleError
from arena.web import pages, queries, submissions
from arena.web.api.bot_shapes import (
    BotDetail,
    BotList,
    BotOnLadder,
    BotShape,
    CheckShape,
    VersionList,
    VersionShape,
    WaitingShape,
)
from arena.web.api.ladder_shapes import EntrantShape, RankedEntrant
from arena.web.api.paging import Pages, page
from arena.web.api.results import Encounter
from arena.web.api.shapes import Id, Name, Shape
from arena.web.api.specification import operation
from arena.web.co_owners import share_own, unshare_own
from arena.web.identity import signed_in
from arena.web.lookup import find_bot, find_ladder, reading
from arena.web.on_ladder import on_ladder, shown_first
from arena.web.submissions import own_bot
from arena.web.transactions import changing

TAG = "bots"


class BotPages(Pages):
    """Which bots are wanted."""

    owner: Name | None = None


class LadderView(Shape):
    """Which version is wanted."""

    version: Id | None = None


class EncounterView(Shape):
    """Where two bots met."""

    competition: Annotated[
        Name | None, Field(description="By default that in which they met most.")
    ] = None


class Entry(Shape):
    """A version and the ladder that it is to be on."""

    ladder: Name
    version: Annotated[Id | None, Field(description="By default the newest.")] = None


class EntryMade(Shape):
    """What became of an entry."""

    active: bool = Field(description="Whether it is on the ladder already.")
    check: CheckShape | None = Field(description="The check that it is to pass before.")


class Retirement(Shape):
    """The ladder that a bot is to leave."""

    ladder: Name


class LaddersLeft(Shape):
    """How many ladders a bot left."""

    left: int


class Share(Shape):
    """Whom a bot is shared with."""

    user: Name


class BotChange(Shape):
    """What is to be different about a bot."""

    open_source: bool = Field(description="Whether everybody may read its code and its logs.")


@operation(BotList, tag=TAG)
def list_bots(query: BotPages) -> BotList:
    """The bots."""
    wanted = sa.select(Bot).options(joinedload(Bot.owner))
    if query.owner is not None:
        owner = sa.select(User.id).where(User.lower_name == query.owner.lower())
        wanted = wanted.where(Bot.owner_id == owner.scalar_subquery())
    with reading() as session:
        found, following = page(session, wanted, Bot.id, query)
        return BotList(items=[BotShape.of(one) for one in found], next=following)


@operation(BotDetail, tag=TAG)
def get_bot(name: str) -> BotDetail:
    """A bot, and its versions on ladders."""
    with reading() as session:
        return _detail(session, find_bot(session, name))


def _detail(session: Session, bot: Bot) -> BotDetail:
    on = queries.entrants_of_bot(session, bot)
    ranks = ranks_of(session, on)
    ladders = [RankedEntrant.at(one, bot.name, ranks[one.id]) for one in on]
    waiting = [
        WaitingShape(version=number, test=test.id)
        for number, tests in queries.tests_waited_for(session, bot).items()
        for test in tests
    ]
    return BotDetail(
        **BotShape.of(bot).model_dump(),
        co_owners=[user.name for user in sharing.co_owners(session, bot)],
        ladders=ladders,
        waiting=waiting,
    )


@operation(BotOnLadder, tag=TAG)
def get_bot_on_ladder(name: str, ladder: str, query: LadderView) -> BotOnLadder:
    """What a bot did on a ladder: its opponents, seats, openings, and the course of its rating.

    It is told of the version that is active there, or had the most games, if no other is asked
    for.
    """
    with reading() as session:
        bot = find_bot(session, name)
        on = queries.entrants_of_bot(session, bot)
        versions = [one for one in on if one.competition.name == ladder]
        wanted = [one for one in versions if query.version in (None, one.version.number)]
        shown = shown_first(wanted)
        if shown is None:
            what = bot.name if query.version is None else f"{bot.name}:{query.version}"
            abort(404, f"The bot {what} is on no ladder {ladder}.")
        return BotOnLadder.told(on_ladder(session, shown, versions), versions, bot.name)


@operation(BotDetail, tag=TAG, scope=Scope.SUBMIT)
def change_bot(name: str, json: BotChange) -> BotDetail:
    """Opens or closes the code and the logs of a bot of one's own."""
    with changing() as session:
        bot, opened = own_bot(session, name), json.open_source
        actor, now = signed_in().actor, datetime.now(UTC)
        entries.open_source(session, actor, bot, opened=opened, now=now)
        return _detail(session, bot)


@operation(VersionList, tag=TAG)
def list_versions(name: str, query: Pages) -> VersionList:
    """The versions of a bot."""
    with reading() as session:
        bot = find_bot(session, name)
        wanted = sa.select(BotVersion).where(BotVersion.bot_id == bot.id)
        found, following = page(session, wanted, BotVersion.number, query)
        return VersionList(items=[VersionShape.of(one) for one in found], next=following)


@operation(Encounter, tag=TAG)
def get_encounter(name: str, rival: str, query: EncounterView) -> Encounter:
    """Two bots side by side; greedy:2 instead of greedy is one of its versions."""
    with reading() as session:
        first, second, met, found = pages.duel(session, name, rival, query.competition)
        return Encounter.model_validate(
            {
                "bots": (first.name, second.name),
                "met_in": [one.name for one in met],
                "duel": found and found.to_json(),
            }
        )


@operation(EntryMade, tag=TAG, scope=Scope.SUBMIT, errors=[409])
def enter_bot(name: str, json: Entry) -> EntryMade:
    """Puts a version of a bot of one's own on a ladder.

    One that was there before comes back at once with the rating that it had, held less firmly;
    another is checked first.
    """
    with changing(SubmissionError) as session:
        bot = own_bot(session, name)
        wanted = sa.select(BotVersion).where(BotVersion.bot_id == bot.id)
        if json.version is not None:
            wanted = wanted.where(BotVersion.number == json.version)
        version = session.scalar(wanted.order_by(BotVersion.number.desc()).limit(1))
        if version is None:
            abort(404, f"The bot {bot.name} has no such version.")
        ladder, now = find_ladder(session, json.ladder), datetime.now(UTC)
        check = entries.ask_entry(session, signed_in().actor, version, ladder, now)
        made = None if check is None else CheckShape.of(check)
        return EntryMade(active=made is None, check=made)


@operation(EntrantShape, tag=TAG, scope=Scope.SUBMIT, errors=[409])
def retire_bot(name: str, json: Retirement) -> EntrantShape:
    """Takes a bot of one's own off a ladder."""
    with changing(SubmissionError) as session:
        bot = own_bot(session, name)
        ladder = find_ladder(session, json.ladder)
        there = [
            one
            for one in queries.entrants_of_bot(session, bot)
            if one.competition_id == ladder.id and one.state is not EntrantState.RETIRED
        ]
        if not there:
            abort(409, f"The bot {bot.name} is not on the ladder {ladder.name}.")
        for entrant in there:
            entries.retire(session, signed_in().actor, entrant, datetime.now(UTC))
        return EntrantShape.of(there[0], bot.name)


@operation(LaddersLeft, tag=TAG, scope=Scope.SUBMIT, errors=[404, 409])
def withdraw_bot(name: str) -> LaddersLeft:
    """Takes a bot of one's own off every ladder."""
    with changing(SubmissionError) as session:
        bot = own_bot(session, name)
        left = entries.withdraw(session, signed_in().actor, bot, datetime.now(UTC))
        return LaddersLeft(left=left)


@operation(BotDetail, tag=TAG, scope=Scope.SUBMIT, errors=[409])
def share_bot(name: str, json: Share) -> BotDetail:
    """Makes somebody a co-owner of a bot of one's own, who may do with it whatever one may."""
    with changing(PeopleError, SubmissionError) as session:
        bot = find_bot(session, name)
        share_own(session, bot, json.user)
        return _detail(session, bot)


@operation(BotDetail, tag=TAG, scope=Scope.SUBMIT, errors=[409])
def unshare_bot(name: str, json: Share) -> BotDetail:
    """Makes somebody a co-owner no more; co-owners can do so for themselves."""
    with changing(PeopleError, SubmissionError) as session:
        bot = find_bot(session, name)
        unshare_own(session, bot, json.user)
        return _detail(session, bot)


download_version = operation(
    None, tag=TAG, name="download_version", media="application/x-tar", errors=[401, 403]
)(submissions.download)

ROUTES = (
    ("GET", "/bots", list_bots),
    ("GET", "/bots/<name>", get_bot),
    ("PATCH", "/bots/<name>", change_bot),
    ("GET", "/bots/<name>/ladders/<ladder>", get_bot_on_ladder),
    ("GET", "/bots/<name>/versions", list_versions),
    ("GET", "/bots/<name>/versions/<int:number>/files", download_version),
    ("GET", "/bots/<name>/against/<rival>", get_encounter),
    ("POST", "/bots/<name>/enter", enter_bot),
    ("POST", "/bots/<name>/retire", retire_bot),
    ("POST", "/bots/<name>/withdraw", withdraw_bot),
    ("POST", "/bots/<name>/share", share_bot),
    ("POST", "/bots/<name>/unshare", unshare_bot),
)
