"""What happened, as Atom feeds that a feed reader asks for now and then: to a bot, on a ladder, in
a tournament, of strength tests, and what somebody was told.

Nothing is stored for it: each event is a row that is there anyway. Its id and its time never
change, so that a reader shows it once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import sqlalchemy as sa
from flask import Blueprint, Response, abort, render_template, request, url_for
from sqlalchemy.orm import Session, joinedload

from arena.bots.notifications import NOT_PASSED, PASSED
from arena.bots.suspension import SUSPEND, suspended_on
from arena.competitions.kinds import kind_of
from arena.models import (
    HOUSE,
    AuditEntry,
    Bot,
    BotVersion,
    Check,
    Competition,
    CompetitionState,
    Entrant,
    FormerName,
    JobStatus,
    Ladder,
    LadderRound,
    StrengthTest,
    User,
    Wishes,
)
from arena.people.accounts import digest
from arena.people.notifications import text_of, told_to
from arena.web import queries
from arena.web.competitions import address_of
from arena.web.identity import keep_to_itself
from arena.web.lookup import find_bot, find_ladder, find_tournament, reading
from arena.web.permissions import may_read
from engine.protocol import visible
from engine.translation import gettext, translated

news = Blueprint("news", __name__)

EVENTS_TOLD = 50
START = datetime(2000, 1, 1, tzinfo=UTC)
"""When a feed was last changed in which there never was anything."""


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
    """The address of the owner's own page, if there is more for them."""


@news.get("/bots/<name>/feed.atom")
def feed(name: str) -> Response:
    """What happened to a bot, the newest first."""
    with reading() as session:
        bot = find_bot(session, name)
        home = url_for("bots.bot", name=bot.name, _external=True)
        return _atom(home, bot.name, bot.owner.name, bot.created, events(session, bot))


@news.get("/ladders/<name>/feed.atom")
def ladder_feed(name: str) -> Response:
    """Who entered a ladder, and that it was closed."""
    with reading() as session:
        ladder = find_ladder(session, name)
        found = [*_entries(session, ladder, EVENTS_TOLD), *_end(session, ladder)]
        return _of_competition(session, ladder, found)


@news.get("/tournaments/<name>/feed.atom")
def tournament_feed(name: str) -> Response:
    """A feed that says that a tournament was made, and how it ended."""
    with reading() as session:
        tournament = find_tournament(session, name)
        title = gettext("The tournament %(title)s was made", title=tournament.title)
        made = Event(
            f"made-{tournament.id}",
            tournament.created,
            title,
            "",
            address_of(tournament, external=True),
        )
        return _of_competition(session, tournament, [made, *_end(session, tournament)])


@news.get("/tests/feed.atom")
def tests_feed() -> Response:
    """The strength tests that are over."""
    with reading() as session:
        query = (
            sa.select(StrengthTest)
            .where(StrengthTest.state == CompetitionState.CLOSED)
            .order_by(StrengthTest.finished.desc(), StrengthTest.id.desc())
            .limit(EVENTS_TOLD)
        )
        found = [event for one in session.scalars(query) for event in _end(session, one)]
        first = session.scalar(sa.select(sa.func.min(StrengthTest.created)))
        home = url_for("strength.listing", _external=True)
        return _atom(home, gettext("Strength tests"), HOUSE, first or START, found)


@news.get("/feeds/<secret>.atom")
def own_feed(secret: str) -> Response:
    """What somebody was told, for whoever has the address that was made for it."""
    with reading() as session:
        query = sa.select(User).join(Wishes, Wishes.user_id == User.id)
        user = session.scalar(query.where(Wishes.feed_digest == digest(secret), User.active))
        if user is None:
            abort(404, gettext("There is no such feed: its address was made anew, or never one."))
        found = [
            Event(
                f"told-{one.id}",
                one.at,
                visible(text_of(one)),
                "",
                f"{request.host_url.rstrip('/')}{one.address}",
            )
            for one in told_to(session, user.id, count=EVENTS_TOLD)
        ]
        home = url_for("notifications.own_notifications", _external=True)
        title = gettext("What %(name)s is told", name=user.name)
        return keep_to_itself(_atom(home, title, user.name, user.created, found))


def _of_competition(session: Session, competition: Competition, found: list[Event]) -> Response:
    home = address_of(competition, external=True)
    found.sort(key=lambda event: (event.at, event.key), reverse=True)
    creator = competition.creator_id and session.get(User, competition.creator_id)
    author = creator.name if creator else HOUSE
    return _atom(home, competition.title, author, competition.created, found[:EVENTS_TOLD])


def _atom(home: str, title: str, author: str, since: datetime, found: Sequence[Event]) -> Response:
    """A feed as Atom (RFC 4287).

    Args:
        home: the address of the page that it is about.
        since: when it was last changed, if nothing is told.
    """
    text = render_template(
        "news.xml", home=home, title=visible(title), author=author, since=since, events=found
    )
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
        title = gettext(PASSED if check.passed else NOT_PASSED, **its)
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
    its = sa.select(Competition).join(Entrant, Entrant.competition_id == Competition.id)
    its = its.join(BotVersion, BotVersion.id == Entrant.version_id)
    its = its.where(BotVersion.bot_id == bot.id)
    former = sa.select(FormerName.lower_name).where(
        FormerName.competition_id.in_(its.with_only_columns(Competition.id))
    )
    # The log has the name of then.
    current = session.scalars(its.with_only_columns(sa.func.lower(Competition.name)))
    seen = {"", *current, *session.scalars(former)}
    for entry in session.scalars(query):
        if suspended_on(entry.detail).lower() not in seen:
            continue
        title = gettext("%(bot)s was suspended", bot=bot.name)
        yield Event(f"suspension-{entry.id}", entry.at, title, visible(entry.detail), address)


def _ends(session: Session, bot: Bot, count: int) -> Iterator[Event]:
    """The ends of the competitions that versions of a bot were in, but for rounds of ladders."""
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
            LadderRound.lists(),
        )
        .order_by(Competition.finished.desc(), Competition.id.desc())
        .limit(count)
    )
    for one in session.scalars(query):
        yield from _end(session, one)


def _end(session: Session, competition: Competition) -> Iterator[Event]:
    """The end of a competition, if it is over."""
    if competition.state is CompetitionState.CLOSED:
        end = kind_of(competition).conclusion(session, competition)
        address = address_of(competition, external=True)
        when = competition.finished or competition.created
        yield Event(f"end-{competition.id}", when, end.title, visible(end.words), address)


def _entries(session: Session, ladder: Ladder, count: int) -> Iterator[Event]:
    """The versions that last entered a ladder."""
    query = (
        sa.select(Entrant)
        .where(Entrant.competition_id == ladder.id, ~Entrant.is_tried)
        .order_by(Entrant.entered.desc(), Entrant.id.desc())
        .limit(count)
        .options(joinedload(Entrant.version).joinedload(BotVersion.bot))
    )
    for one in session.scalars(query):
        its = {"version": one.version.label, "ladder": ladder.title}
        title = gettext("%(version)s entered %(ladder)s", **its)
        address = url_for("bots.bot", name=one.version.bot.name, ladder=ladder.name, _external=True)
        yield Event(f"entry-{one.id}", one.entered, title, "", address)
