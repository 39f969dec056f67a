"""What happened to a bot, as an Atom feed that a feed reader asks for now and then.

Nothing is stored for it: each event is a row that is there anyway. Its id and its time never
change, so that a reader shows it once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from flask import Blueprint, Response, render_template, request, url_for
from sqlalchemy.orm import Session, joinedload

from arena.bots.suspension import SUSPEND, suspended_on
from arena.competitions.kinds import kind_of
from arena.models import (
    AuditEntry,
    Bot,
    BotVersion,
    Check,
    Competition,
    CompetitionState,
    Entrant,
    JobStatus,
)
from arena.web import queries
from arena.web.competitions import address_of
from arena.web.identity import may_read
from arena.web.lookup import find_bot, reading
from engine.protocol import visible
from engine.translation import gettext, translated

news = Blueprint("news", __name__)

EVENTS_TOLD = 50


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened to a bot."""

    key: str
    """What no other event of the arena is called: ``check-17``."""
    at: datetime
    title: str
    words: str
    """What else there is to say; empty if nothing."""
    address: str
    """The address of the page where it can be seen."""
    page: str = ""
    """That of one that is the owner's alone, if there is more for them."""


@news.get("/bots/<name>/feed.atom")
def feed(name: str) -> Response:
    """What happened to a bot, the newest first, as Atom (RFC 4287)."""
    with reading() as session:
        bot = find_bot(session, name)
        text = render_template("news.xml", bot=bot, events=events(session, bot))
    answer = Response(text, mimetype="application/atom+xml")
    answer.add_etag()
    answer.make_conditional(request)
    return answer


def events(session: Session, bot: Bot, *, count: int = EVENTS_TOLD) -> list[Event]:
    """The last checks, suspensions, and ends of competitions, the newest first."""
    kinds = (_checks, _suspensions, _ends)
    found = [event for kind in kinds for event in kind(session, bot, count)]
    return sorted(found, key=lambda event: (event.at, event.key), reverse=True)[:count]


def _checks(session: Session, bot: Bot, count: int) -> Iterator[Event]:
    query = (
        sa.select(Check)
        .join(BotVersion, BotVersion.id == Check.version_id)
        .where(queries.versions_to_see(bot), Check.status == JobStatus.FIXED)
        .order_by(Check.id.desc())
        .limit(count)
        .options(joinedload(Check.ladder), joinedload(Check.version).joinedload(BotVersion.bot))
    )
    address = url_for("bots.bot", name=bot.name, _anchor="versions", _external=True)
    for check in session.scalars(query):
        its = {"version": check.version.label, "ladder": check.ladder.title}
        if check.passed:
            title = gettext("%(version)s passed its check for %(ladder)s", **its)
        else:
            title = gettext("%(version)s did not pass its check for %(ladder)s", **its)
        broken = [one for one in check.findings if not one["kept"]]
        # What a finding says may quote the bot's output, which is its owners' to show.
        told = broken if may_read(bot) else []
        each = [(translated(one.get("clause", "")), one.get("words")) for one in told]
        wrong = [": ".join(filter(None, parts)) for parts in each]
        words = "; ".join(filter(None, [check.outcome_told, *wrong])) if broken else ""
        page = url_for("submissions.check", number=check.id, _external=True)
        # XML has no way at all to say most control characters.
        yield Event(f"check-{check.id}", check.created, title, visible(words), address, page)


def _suspensions(session: Session, bot: Bot, count: int) -> Iterator[Event]:
    query = (
        sa.select(AuditEntry)
        .where(AuditEntry.subject == f"bot {bot.name}", AuditEntry.action == SUSPEND)
        .order_by(AuditEntry.id.desc())
        .limit(count)
    )
    address = url_for("bots.bot", name=bot.name, _external=True)
    its = sa.select(Competition.name).join(Entrant, Entrant.competition_id == Competition.id)
    its = its.join(BotVersion, BotVersion.id == Entrant.version_id)
    seen = set(session.scalars(its.where(BotVersion.bot_id == bot.id)))
    for entry in session.scalars(query):
        if suspended_on(entry.detail) not in seen:
            continue
        title = gettext("%(bot)s was suspended", bot=bot.name)
        yield Event(f"suspension-{entry.id}", entry.at, title, visible(entry.detail), address)


def _ends(session: Session, bot: Bot, count: int) -> Iterator[Event]:
    """The ends of the competitions that versions of a bot were in."""
    entered = (
        sa.select(Entrant.competition_id)
        .join(BotVersion, BotVersion.id == Entrant.version_id)
        .where(BotVersion.bot_id == bot.id)
    )
    query = (
        sa.select(Competition)
        .where(
            Competition.id.in_(entered),
            Competition.state == CompetitionState.CLOSED,
        )
        .order_by(Competition.finished.desc(), Competition.id.desc())
        .limit(count)
    )
    for one in session.scalars(query):
        title, words = kind_of(one).conclusion(session, one)
        address = address_of(one, external=True)
        when = one.finished or one.created
        yield Event(f"end-{one.id}", when, title, visible(words), address)
