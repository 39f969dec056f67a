"""Dates of competitions: which there may be, how one is set, and what one that is past forbids.

Theory of operation. A date is a moment by the clock of the database
(`arena.ground.db.database_time`), so that it does not matter whose clocks are wrong. What a date
forbids it forbids from that moment on, whether or not the recorder has come to it: who hands
something in is asked when that began (`demand_in_time`). What it brings about the recorder does
(`arena.competitions.happenings`), in the order of the dates, each once; then it has happened, and
is moved no more. Only that of rounds comes again: it is set to its next moment then
(`arena.competitions.rounds`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload

from arena import audit
from arena.competitions.date_settings import PERIODS, settings_of
from arena.competitions.kinds import kind_of
from arena.ground.locks import lock
from arena.ground.refusals import NotThere, Refusal
from arena.models import (
    BotVersion,
    Check,
    Competition,
    CompetitionDate,
    CompetitionState,
    DateKind,
    Entrant,
    JobStatus,
    Ladder,
    TaughtCourse,
    Tournament,
)
from engine.translation import N_, gettext

RANKS: Mapping[DateKind, int] = {kind: rank for rank, kind in enumerate(DateKind)}
"""The order in which the dates of a competition have to be."""
TITLES: Mapping[DateKind, str] = {
    DateKind.OPENS: N_("Opens"),
    DateKind.ENTRIES_CLOSE: N_("Entries close"),
    DateKind.FREEZE: N_("Bots are frozen"),
    DateKind.ROUND: N_("Next round"),
    DateKind.FINAL: N_("Final"),
    DateKind.CLOSES: N_("Closes"),
    DateKind.SEASON: N_("New season"),
}
WORDS: Mapping[DateKind, str] = {
    DateKind.OPENS: N_("games are played from then on"),
    DateKind.ENTRIES_CLOSE: N_("no new bots come in; those that are in may have new versions"),
    DateKind.FREEZE: N_("no bot enters, leaves or is changed any more; games go on"),
    DateKind.ROUND: N_("all bots meet in a tournament, and again after each period"),
    DateKind.FINAL: N_("a tournament of the first is made, of the versions that they have then"),
    DateKind.CLOSES: N_("it is over: nothing is played any more, and its table is final"),
    DateKind.SEASON: N_("it begins again: its past is kept as a season, with its final table"),
}
"""What each is, for whoever sets it or waits for it."""
ONLY_OF_LADDERS = N_("%(name)s is no ladder: it can have %(kinds)s")
NO_SEASONS = N_("%(name)s is a course, which does not begin again: make another for the next class")


def dates_of(session: Session, competition: Competition) -> Sequence[CompetitionDate]:
    """The dates of a competition, in the order in which they happen, with what they made."""
    query = sa.select(CompetitionDate).where(CompetitionDate.competition_id == competition.id)
    found = session.scalars(query.options(joinedload(CompetitionDate.made)))
    return sorted(found, key=lambda one: (one.at, RANKS[one.what]))


def next_dates(
    session: Session, competitions: Collection[Competition]
) -> dict[int, CompetitionDate]:
    """The date that each of some competitions waits for, by its id."""
    query = (
        sa.select(CompetitionDate)
        .where(
            CompetitionDate.competition_id.in_([one.id for one in competitions]),
            CompetitionDate.happened.is_(None),
        )
        .order_by(CompetitionDate.at.desc(), CompetitionDate.id.desc())
    )
    # The first comes last, and stands.
    return {one.competition_id: one for one in session.scalars(query)}


def coming(session: Session, most: int) -> Sequence[CompetitionDate]:
    """The next dates of all competitions."""
    query = (
        sa.select(CompetitionDate)
        .where(CompetitionDate.happened.is_(None))
        .order_by(CompetitionDate.at, CompetitionDate.id)
        .limit(most)
        .options(joinedload(CompetitionDate.competition))
    )
    return session.scalars(query).all()


def next_moment(date: CompetitionDate, now: datetime) -> datetime:
    """The first moment after now at which a date comes again, by whole periods."""
    period = PERIODS[date.settings["every"]]
    return date.at + ((now - date.at) // period + 1) * period


def read_moment(text: str) -> datetime:
    """The moment of a text as ``2026-12-24T18:00Z`` or ``2026-12-24 18:00+01:00``; one without a
    zone is meant in UTC.

    Raises:
        Refusal: it is none.
    """
    try:
        found = datetime.fromisoformat(text.strip())
        return found.replace(tzinfo=found.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        raise Refusal(
            gettext(
                "%(text)r is no moment: write it as 2026-12-24T18:00Z, or with another zone as "
                "2026-12-24T19:00+01:00",
                text=text[:40],
            )
        ) from None


def moment_words(moment: datetime) -> str:
    """A moment as sentences have it: ``2026-12-24 18:00 UTC``."""
    utc = moment.astimezone(UTC)
    return f"{utc:%Y-%m-%d %H:%M:%S}".removesuffix(":00") + " UTC"


def read_dates(given: Mapping[str, str]) -> dict[DateKind, tuple[datetime, dict[str, str]]]:
    """Dates that are given with a competition that is made, in their order.

    Args:
        given: by what happens, its moment and then, if need be, settings as KEY=VALUE:
            ``2026-12-24T18:00Z top=8 format=knockout``.

    Raises:
        Refusal: one of them can't be meant.
    """
    found = {}
    for what in sorted(map(kind_named, given), key=RANKS.__getitem__):
        words = given[what].split()
        settings = dict(word.partition("=")[::2] for word in words if "=" in word)
        moment = " ".join(word for word in words if "=" not in word)
        found[what] = read_moment(moment), settings
    return found


def kind_named(what: str) -> DateKind:
    """The kind of dates of a name.

    Raises:
        Refusal: there is none.
    """
    try:
        return DateKind(what)
    except ValueError:
        known = ", ".join(DateKind)
        raise Refusal(
            gettext("there is no date %(what)r; there are %(known)s", what=what[:40], known=known)
        ) from None


def find_date(session: Session, competition: Competition, what: DateKind) -> CompetitionDate | None:
    """The date of a kind that a competition has; None if it has none."""
    return session.scalar(
        sa.select(CompetitionDate)
        .where(CompetitionDate.competition_id == competition.id, CompetitionDate.what == what)
        .execution_options(populate_existing=True)
    )


def set_date(
    session: Session,
    competition: Competition,
    what: DateKind,
    at: datetime,
    settings: Mapping[str, str],
    now: datetime,
    actor: audit.Actor,
) -> tuple[CompetitionDate, datetime | None]:
    """Sets a date of a competition, or moves it.

    Args:
        settings: as texts; what is missing is as it was, or by default.
        now: by the clock of the database.

    Returns:
        It, and when it was to be before.

    Raises:
        Refusal: there can be none of this kind, it is past, has happened, or is in no order with
            the others.
    """
    lock(session, competition)  # the recorder may be at one of its dates
    _demand_kind(competition, what)
    if what is DateKind.SEASON and session.get(TaughtCourse, competition.id) is not None:
        # Its members would be those of the new season, and their hand-ins in the past.
        raise Refusal(gettext(NO_SEASONS, name=competition.name))
    found = find_date(session, competition, what)
    if found is not None and found.happened is not None:
        raise Refusal(_has_happened(found))
    if at <= now:
        raise Refusal(
            gettext(
                "%(moment)s is past: it is %(now)s now",
                moment=moment_words(at),
                now=moment_words(now),
            )
        )
    _demand_order(session, competition, what, at)
    chosen = settings_of(session, competition, what, settings, found.settings if found else {})
    before = None if found is None else found.at
    if found is None:
        found = CompetitionDate(
            competition=competition, what=what, at=at, settings=chosen, happened=None
        )
        session.add(found)
    else:
        found.at, found.settings = at, chosen
    session.flush()
    words = moment_words(at) if before is None else f"{moment_words(before)} → {moment_words(at)}"
    more = ", ".join([words, *settings_words(found)])
    action = "set date" if before is None else "move date"
    audit.note(session, actor, action, _subject(competition), f"{what}: {more}", now=now)
    return found, before


def remove_date(
    session: Session, competition: Competition, what: DateKind, now: datetime, actor: audit.Actor
) -> CompetitionDate:
    """Removes a date that has not happened; gives what it was.

    Raises:
        Refusal: there is none, or it has happened.
    """
    lock(session, competition)
    found = find_date(session, competition, what)
    if found is None:
        raise NotThere(gettext("%(name)s has no date %(what)s", name=competition.name, what=what))
    if found.happened is not None or found.at <= now:
        raise Refusal(_has_happened(found))
    session.delete(found)
    session.flush()
    detail = f"{what}: {moment_words(found.at)}"
    audit.note(session, actor, "remove date", _subject(competition), detail, now=now)
    return found


def settings_words(date: CompetitionDate) -> list[str]:
    """The settings of a date as they are given: ``top=8``."""
    return [f"{key}={value}" for key, value in told_settings(date).items()]


def told_settings(date: CompetitionDate) -> dict[str, str]:
    """The settings of a date, as texts by their names."""
    its = dict(date.settings)
    told = {key: str(value) for key, value in its.pop("settings", {}).items()}
    return {key: str(value) for key, value in its.items()} | told


def demand_in_time(
    session: Session, ladder: Ladder, began: datetime, bot_id: int | None = None
) -> None:
    """Refuses a bot that is handed in for a ladder, or is to come back to it, too late.

    Whatever decides that is decided here.

    Args:
        began: when it began to be handed in, by the clock of the database.
        bot_id: None for a bot that is new.

    Raises:
        Refusal: it is too late; it says since when.
    """
    past = _past(session, ladder, began)
    if closes := past.get(DateKind.CLOSES):
        words = N_("the ladder %(name)s is closed since %(moment)s and takes no bots")
        raise Refusal(_since(words, closes))
    freeze = past.get(DateKind.FREEZE)
    if freeze is not None and session.scalar(
        _late(began).where(TaughtCourse.ladder_id == ladder.id)
    ):
        return  # a course takes it, and marks it as late
    if freeze is not None:
        words = N_(
            "the bots on the ladder %(name)s are frozen since %(moment)s: none enters, leaves or "
            "is changed"
        )
        raise Refusal(_since(words, freeze))
    entries = past.get(DateKind.ENTRIES_CLOSE)
    if entries is not None and not _is_in(session, ladder, bot_id):
        words = N_(
            "the ladder %(name)s takes no new bots since %(moment)s; those that are on it may have "
            "new versions"
        )
        raise Refusal(_since(words, entries))


def demand_entries_open(session: Session, tournament: Tournament, now: datetime) -> None:
    """Refuses to enter bots in a tournament whose entries are closed.

    Raises:
        Refusal: they are.
    """
    if entries := _past(session, tournament, now).get(DateKind.ENTRIES_CLOSE):
        raise Refusal(_since(N_("nobody enters %(name)s since %(moment)s"), entries))


def demand_not_frozen(session: Session, ladder: Competition, now: datetime) -> None:
    """Refuses to take a bot off a ladder on which they are frozen.

    Raises:
        Refusal: they are.
    """
    if freeze := _past(session, ladder, now).get(DateKind.FREEZE):
        words = N_("the bots on the ladder %(name)s are frozen since %(moment)s: all of them stay")
        raise Refusal(_since(words, freeze))


def frozen(now: datetime) -> sa.Select[int]:
    """The ids of the competitions of which the bots are frozen at a moment."""
    return sa.select(CompetitionDate.competition_id).where(
        CompetitionDate.what == DateKind.FREEZE, CompetitionDate.at <= now
    )


def is_frozen(session: Session, ladder: Competition, now: datetime) -> bool:
    """Whether the bots on a ladder are frozen at a moment."""
    return DateKind.FREEZE in _past(session, ladder, now)


def shut(now: datetime) -> sa.Select[int]:
    """The ids of the competitions that take nothing more at a moment, by their dates."""
    closed = CompetitionDate.what == DateKind.CLOSES
    frozen = CompetitionDate.what == DateKind.FREEZE
    takes_none = sa.and_(frozen, CompetitionDate.competition_id.not_in(_late(now)))
    return sa.select(CompetitionDate.competition_id).where(
        sa.or_(closed, takes_none), CompetitionDate.at <= now
    )


def is_shut(session: Session, ladder: Ladder, now: datetime) -> bool:
    """Whether a ladder takes nothing more at a moment, by its dates."""
    its = shut(now).where(CompetitionDate.competition_id == ladder.id)
    return session.scalar(its.limit(1)) is not None


def _late(now: datetime) -> sa.Select[int]:
    """The ids of the courses that take hand-ins at a moment, though they are late."""
    return sa.select(TaughtCourse.ladder_id).where(TaughtCourse.late_until >= now)


def current_season(session: Session, ladder: Ladder) -> Ladder:
    """The season of a ladder that goes on now, or was the last: itself, if it never began again."""
    return next(iter(seasons_of(session, ladder)), ladder)


def seasons_of(session: Session, ladder: Ladder) -> Sequence[Ladder]:
    """All seasons of a ladder, the newest first; none if it never began again."""
    if ladder.series_id is None:
        return ()
    its = sa.select(Ladder).where(Ladder.series_id == ladder.series_id)
    return session.scalars(its.order_by(Ladder.season.desc())).all()


def _past(
    session: Session, competition: Competition, now: datetime
) -> dict[DateKind, CompetitionDate]:
    query = sa.select(CompetitionDate).where(
        CompetitionDate.competition_id == competition.id, CompetitionDate.at <= now
    )
    return {one.what: one for one in session.scalars(query)}


def _since(words: str, date: CompetitionDate) -> str:
    return gettext(words, name=date.competition.name, moment=moment_words(date.at))


def _is_in(session: Session, ladder: Ladder, bot_id: int | None) -> bool:
    """Whether a bot was on a ladder, or was handed in for it and is not refused yet."""
    if bot_id is None:
        return False
    its = BotVersion.is_of(bot_id)
    there = sa.select(Entrant.id).join(Entrant.version)
    there = there.where(Entrant.competition_id == ladder.id, its, ~Entrant.is_tried)
    waits = (
        sa.select(Check.id)
        .join(Check.version)
        .where(
            Check.ladder_id == ladder.id,
            its,
            Check.enters,
            Check.cancelled == "",
            Check.status.in_((JobStatus.OPEN, JobStatus.ISSUED, JobStatus.SET_ASIDE)),
        )
    )
    return any(session.scalar(one.limit(1)) is not None for one in (there, waits))


def _has_happened(date: CompetitionDate) -> str:
    return gettext(
        "the date %(what)s of %(name)s was on %(moment)s, and stays",
        what=date.what,
        name=date.competition.name,
        moment=moment_words(date.at),
    )


def _subject(competition: Competition) -> str:
    return f"{competition.kind} {competition.name}"


def _demand_kind(competition: Competition, what: DateKind) -> None:
    """Refuses a date of a kind that a competition can't have as it stands."""
    its = kind_of(competition).dates
    if what not in its:
        kinds = ", ".join(its) or gettext("no dates")
        raise Refusal(gettext(ONLY_OF_LADDERS, name=competition.name, kinds=kinds))
    if competition.state is CompetitionState.CLOSED and what is not DateKind.SEASON:
        raise Refusal(gettext("%(name)s is over, and has no more dates", name=competition.name))
    if competition.state is CompetitionState.CLOSED:
        return
    if what is DateKind.OPENS and competition.awaits_field:
        raise Refusal(
            gettext(
                "%(name)s opens when its entries close: set entries-close", name=competition.name
            )
        )
    if what is DateKind.OPENS and competition.state is CompetitionState.OPEN:
        raise Refusal(
            gettext(
                "%(name)s is open already: pause it first, or leave that out",
                name=competition.name,
            )
        )
    # Of what can be frozen they close as it goes on.
    has_begun = competition.matches_made and DateKind.FREEZE not in its
    if what is DateKind.ENTRIES_CLOSE and has_begun:
        raise Refusal(
            gettext("%(name)s has begun: nobody can enter it any more", name=competition.name)
        )


def _demand_order(session: Session, competition: Competition, what: DateKind, at: datetime) -> None:
    """Refuses a date that is in no order with the others of a competition."""
    if what is DateKind.ROUND:
        return
    for other in dates_of(session, competition):
        if other.what is DateKind.ROUND:  # there are more of them
            continue
        earlier = RANKS[other.what] < RANKS[what]
        if other.what is what or (other.at <= at if earlier else at <= other.at):
            continue
        words = (
            N_("%(what)s can't be before %(other)s, which is on %(moment)s")
            if earlier
            else N_("%(what)s can't be after %(other)s, which is on %(moment)s")
        )
        raise Refusal(gettext(words, what=what, other=other.what, moment=moment_words(other.at)))
