"""Operations on bots: their versions, and two side by side."""

from __future__ import annotations

from typing import Annotated

import sqlalchemy as sa
from flask import abort
from pydantic import Field
from sqlalchemy.orm import joinedload, selectinload

from arena.bots import directory
from arena.bots.directory import Narrowing
from arena.bots.submissions import is_only_refused
from arena.ground.bot_names import Named
from arena.models import Bot, BotVersion
from arena.web import bots, queries, submissions
from arena.web.api.bot_shapes import (
    BotDetail,
    BotList,
    BotOnLadder,
    VersionList,
    VersionShape,
)
from arena.web.api.paging import Pages, page
from arena.web.api.results import Encounter
from arena.web.api.shapes import Id, Name, Shape
from arena.web.api.specification import operation
from arena.web.entrants import on_ladder, shown_first
from arena.web.lookup import find_bot, reading
from engine.translation import gettext

TAG = "bots"


class BotPages(Pages):
    """Which bots are wanted."""

    owner: Name = ""
    tag: Name = ""
    language: Annotated[Name, Field(description="Of some version of it.")] = ""
    game: Annotated[Name, Field(description="That it has entered somewhere.")] = ""

    @property
    def wish(self) -> Narrowing:
        """What is asked of them."""
        return Narrowing(owner=self.owner, tag=self.tag, language=self.language, game=self.game)


class LadderView(Shape):
    """Which version is wanted."""

    version: Id | None = None


class EncounterView(Shape):
    """Where two bots met."""

    competition: Annotated[
        Name | None, Field(description="By default that in which they met most.")
    ] = None


@operation("GET /bots", BotList, tag=TAG)
def list_bots(query: BotPages) -> BotList:
    """Whatever plays here, through all its versions; narrowed, if asked."""
    which = Bot.deleted.is_(None), ~is_only_refused(), *directory.narrowed(query.wish)
    wanted = sa.select(Bot).where(*which)
    wanted = wanted.options(joinedload(Bot.owner), selectinload(Bot.tags))
    with reading() as session:
        return page(BotList, session, wanted, Bot.id, query)


@operation("GET /bots/<name>", BotDetail, tag=TAG)
def get_bot(name: str) -> BotDetail:
    """A bot, and its versions on ladders."""
    with reading() as session:
        return BotDetail.looked_up(session, find_bot(session, name))


@operation("GET /bots/<name>/ladders/<ladder>", BotOnLadder, tag=TAG)
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
            what = str(Named(bot.name, query.version))
            abort(
                404, gettext("The bot %(bot)s is on no ladder %(ladder)s.", bot=what, ladder=ladder)
            )
        return BotOnLadder.shown(on_ladder(session, shown, versions), versions)


@operation("GET /bots/<name>/versions", VersionList, tag=TAG)
def list_versions(name: str, query: Pages) -> VersionList:
    """What was ever uploaded of a bot; each stays as it was."""
    with reading() as session:
        bot = find_bot(session, name)
        wanted = sa.select(BotVersion).where(queries.versions_to_see(bot))
        told = VersionShape.with_checks
        return page(VersionList, session, wanted, BotVersion.number, query, told=told)


@operation("GET /bots/<name>/against/<rival>", Encounter, tag=TAG)
def get_encounter(name: str, rival: str, query: EncounterView) -> Encounter:
    """Two bots side by side; greedy:2 instead of greedy is one of its versions."""
    with reading() as session:
        return bots.encounter_shape(session, name, rival, query.competition)


download_version = operation(
    "GET /bots/<name>/versions/<int:number>/files",
    None,
    tag=TAG,
    name="download_version",
    media="application/x-tar",
    errors=[401, 403],
)(submissions.download)
