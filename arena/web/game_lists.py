"""Lists of games as pages and the API ask for them: the filter of an address, and its next page."""

from __future__ import annotations

from collections.abc import Mapping

import sqlalchemy as sa
from flask import abort
from sqlalchemy.orm import Session

from arena.ground.bot_names import Named
from arena.ground.db import LARGEST_ID
from arena.ground.refusals import NotAllowed
from arena.lists.filters import GameFilter
from arena.lists.search import ListPlace
from arena.models import Bot, BotVersion, Competition, Entrant
from arena.web.permissions import may_know_workers
from engine.translation import gettext

CURSOR = r"[0-9a-f]{1,8}(?:\.[0-9a-f]{1,8})?"
"""The pattern of a cursor; that of a list by length has the plies of the last game shown, too."""


def read_filter(words: Mapping[str, str]) -> GameFilter:
    """The filter that an address says.

    Raises:
        WrongField: a word of it can't be meant.
        NotAllowed: it asks for what only organisers may.
    """
    wanted = GameFilter.read(words)
    if wanted.worker is not None and not may_know_workers():
        raise NotAllowed(gettext("games by their worker are for organisers to look for"))
    return wanted


def counted_games(wanted: GameFilter) -> GameFilter:
    """The games that are counted of those that are wanted: what counts, if nothing is said."""
    return wanted if wanted.counts is not None else wanted.but(counts=True)


def cursor(place: ListPlace | None) -> str | None:
    """Where a list goes on, as an address has it; None where it has ended."""
    if place is None:
        return None
    return f"{place.number:x}.{place.plies:x}" if place.plies else f"{place.number:x}"


def read_cursor(text: str | None) -> ListPlace | None:
    """What `cursor` wrote, of which nothing but that it is well formed is taken on trust."""
    if not text:
        return None
    number, _, plies = text.partition(".")
    return ListPlace(min(int(number, 16), LARGEST_ID), min(int(plies or "0", 16), LARGEST_ID))


def of_entrant(session: Session, wanted: GameFilter, entrant: int) -> GameFilter | None:
    """A filter of the games of one entrant alone; None if it has no game that is wanted, too."""
    row = session.execute(
        sa.select(Competition.name, Bot.name.label("bot"), BotVersion.number)
        .select_from(Entrant)
        .join(Competition, Competition.id == Entrant.competition_id)
        .join(BotVersion, BotVersion.id == Entrant.version_id)
        .join(Bot, Bot.id == BotVersion.bot_id)
        .where(Entrant.id == entrant)
    ).first()
    if row is None or wanted.competition not in (None, row.name):
        return None
    if wanted.bot is not None:
        abort(422, gettext("entrant: give that, or a bot."))
    return wanted.but(competition=row.name, bot=Named(row.bot, row.number))
