"""Bots taken in: validated, stored, checked, entered, retired."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload

from arena import audit, naming
from arena.bots import ladder_quotas, quota, runtimes, sending, sharing, spent_quotas
from arena.bots.bars import demand_not_barred
from arena.bots.forges import Commit, keep
from arena.bots.intake import TakenIn
from arena.bots.lost_bundles import bring_back
from arena.competitions.dates import demand_in_time
from arena.competitions.masks import masked
from arena.competitions.strength_plans import check_terms
from arena.ground import bot_names, texts
from arena.ground.db import count_rows, is_lately
from arena.ground.locks import find, lock
from arena.ground.refusals import NotThere, Refusal
from arena.models import (
    TRIED,
    Bot,
    BotVersion,
    Check,
    CompetitionState,
    Entrant,
    EntrantState,
    HomeRule,
    JobStatus,
    Ladder,
    LargeFile,
    Match,
    Runtime,
    SpentKind,
    Team,
    User,
    VersionStatus,
)
from arena.ratings.book import NEW
from arena.ratings.trueskill import Rating
from arena.strength.sequential import StrengthError
from arena.strength.terms import StrengthTerms
from engine.plurals import counted
from engine.translation import gettext

LONGEST_NOTE = 500
"""Characters of what an owner says of a version."""

NONE: Mapping[str, int] = MappingProxyType({})

AGAINST = "against"
"""The key in the wish for a test first that has the number of the version that was active when it
was handed in. If none is active when its check passes, it was taken off: a version that was to be
tested does not enter without a test."""


DAY = timedelta(hours=24)


class SubmissionError(Refusal):
    """A bot that can't be taken in; one sentence that says what to do."""


def submit(
    session: Session,
    owner: User,
    name: str,
    *,
    digest: str,
    size: int,
    language: str,
    ladder: Ladder,
    runtime: str = "",
    note: str = "",
    test_first: StrengthTerms | None = None,
    large: Mapping[str, int] = NONE,
    enters: bool = True,
    tries_a_day: int | None = None,
    bots_a_person: int | None = None,
    began: datetime | None = None,
    team: Team | None = None,
    now: datetime,
) -> BotVersion:
    """Takes in a version whose bundle is stored, and has it checked for a ladder.

    A version with the files of the bot's last one, and its runtime, is that one: it is only
    entered.

    Args:
        owner: who hands it in: a new bot's owner, or whoever else it is shared with.
        runtime: the name of the one that it asks for; empty for none.
        test_first: the test that it is to pass against the bot's active version before it
            enters, if there is one.
        large: the sizes of the bundle's large files by their digests.
        enters: whether it is to enter the ladder; one that is only tried does not, and is checked
            there once.
        tries_a_day: how many of those a bot's owner may have checked within a day; None for no
            limit.
        bots_a_person: how many bots each person may have; None for any number.
        began: when it began to be handed in, by the clock of the database; by default now.
        team: a team of theirs, whose bot it is to be.

    Raises:
        SubmissionError: the name is no name, or somebody else's or not the team's, the note is too
            long, the ladder takes no bots, it can't be tested so, its runtime is not there or not
            for it, or enough was tried on this day.
        Refusal: it is too late for that ladder.
        Refusal: the ladder takes no more of this person's, or they have enough bots.
    """
    if words := bot_names.refusal(name):
        raise SubmissionError(words)
    note = texts.typed(note, LONGEST_NOTE, refusal=SubmissionError)
    demand_admission(ladder, at_home=False)
    if size > ladder.bundle_bytes:
        raise SubmissionError(
            gettext(
                "the bot has %(size)s bytes, and %(ladder)s takes at most %(most)s",
                size=size,
                ladder=ladder.name,
                most=ladder.bundle_bytes,
            )
        )
    given = _runtime(session, runtime, language) if runtime else None
    if test_first is not None:
        try:
            check_terms(test_first, ladder)
        except StrengthError as error:
            raise SubmissionError(str(error)) from None
    session.add(owner)
    session.flush()
    # Two forms of one person at the same moment wait for each other here, and so does who ends the
    # team, or leaves it.
    quota.lock_people(session, {owner.id, owner.id if team is None else team.id})
    if team is not None:
        try:
            sharing.demand_member(session, team, owner)
        except Refusal as error:
            raise SubmissionError(str(error)) from None
    bot = free_of_refused(session, owner.id, name, now)
    if bot and not sharing.has(session, owner.id, bot):
        called = bot.name if bot.lower_name == name.lower() else name
        raise SubmissionError(
            gettext("there is a bot %(bot)s already, of another owner: choose a name", bot=called)
        )
    if bot and bot.name != name and bot.lower_name == name.lower():
        raise SubmissionError(
            gettext("your bot is called %(bot)s: write it so, or choose another name", bot=bot.name)
        )
    if bot and team is not None and bot.owner_id != team.id:
        raise SubmissionError(
            gettext(
                "the bot %(bot)s is not the team %(team)s's: give it to the team before, or choose "
                "another name",
                bot=bot.name,
                team=team.name,
            )
        )
    if enters:
        demand_in_time(session, ladder, began or now, bot.id if bot else None)
    if bot is None:
        person = session.get_one(User, (team or owner).person_id)
        quota.demand_fewer_bots(session, person, bots_a_person)
        bot = Bot(name=name, owner=team or owner, created=now)
        session.add(bot)
        naming.demand_never(session, bot)
    version = _version(session, bot, digest, size, language, given, note, now)
    for one, its_size in large.items():
        session.merge(LargeFile(bundle=digest, digest=one, size=its_size))
    if not enters:
        _try(session, version, ladder, tries_a_day, now)
        return version
    asked = None
    if test_first is not None:
        active = active_on(session, ladder, bot.id)
        asked = {**test_first.to_json(), AGAINST: active and active.version.real.number}
    demand_not_barred(session, ladder, version)
    ladder_quotas.demand_room(session, ladder, bot.person_id, bot.id, now, version_id=version.id)
    under_way = sa.select(Check).where(is_under_way(version.id), Check.ladder_id == ladder.id)
    # A form that is sent twice asks for one check.
    if all(check.test_first != asked for check in session.scalars(under_way)):
        add_check(session, version, ladder, now, test_first=asked, began=began)
    return version


def is_only_refused() -> sa.ColumnElement[bool]:
    """The condition that no version of a bot ever passed a check, or may by one that goes on."""
    versions = sa.select(BotVersion.id).where(BotVersion.bot_id == Bot.id).correlate(Bot)
    ready = sa.exists().where(BotVersion.bot_id == Bot.id, BotVersion.status == VersionStatus.READY)
    entered = sa.exists().where(Entrant.version_id.in_(versions))
    may_pass = sa.exists().where(
        Check.version_id.in_(versions),
        Check.status.in_((JobStatus.OPEN, JobStatus.ISSUED, JobStatus.SET_ASIDE)),
        Check.cancelled == "",
    )
    checked = sa.exists().where(Check.version_id.in_(versions))
    return sa.and_(Bot.deleted.is_(None), checked, ~ready, ~entered, ~may_pass)


def free_of_refused(session: Session, who: int | None, name: str, now: datetime) -> Bot | None:
    """The bot of a name, for somebody who wants to have one of it; None if they can.

    A bot of somebody else's that is only refused gives its name up: its owner finds it by another,
    and reads there why.

    Args:
        who: the id of who wants it.
    """
    found = session.scalar(sa.select(Bot).where(Bot.named(name)))
    if found is None or sharing.has(session, who, found):
        return found
    is_refused = sa.select(is_only_refused()).where(Bot.id == found.id)
    if not session.scalar(is_refused):
        return found
    lock(session, found)
    if session.scalar(is_refused):
        # A name that nobody can give: it has spaces.
        words = f"refused bot {found.id}"
        audit.note(session, audit.ARENA, "free name", f"bot {found.name}", words, now=now)
        found.name = found.lower_name = words
        naming.forget(session, found)
        session.flush()
        return None
    return found


def _try(
    session: Session, version: BotVersion, ladder: Ladder, most: int | None, now: datetime
) -> None:
    """Has a version checked that is not to enter, unless that was done already."""
    known = sa.select(Check.id).where(
        Check.version_id == version.id,
        Check.ladder_id == ladder.id,
        Check.status != JobStatus.VOID,
        Check.cancelled == "",
    )
    if session.scalar(known.limit(1)) is not None:
        return
    if most is not None and tried_lately(session, version.bot.person_id, now) >= most:
        raise SubmissionError(
            gettext(
                "%(versions)s may be tried within 24 hours, and so many were: hand it in, or come "
                "back later",
                versions=counted(most, "version"),
            )
        )
    add_check(session, version, ladder, now, enters=False)


def tried_lately(session: Session, person_id: int, now: datetime) -> int:
    """How many versions of somebody's bots were tried within the last day."""
    its = sa.select(BotVersion.id).join(BotVersion.bot).where(Bot.is_of(person_id))
    lately = is_lately(Check.created, DAY, now)
    there = count_rows(session, Check, Check.version_id.in_(its), Check.enters.is_(False), lately)
    return there + len(spent_quotas.numbers(session, SpentKind.TRY, person_id, since=now - DAY))


def demand_admission(ladder: Ladder, *, at_home: bool) -> None:
    """Refuses a bot where the ladder takes none, or none that runs where this one does.

    Raises:
        SubmissionError: it does not.
    """
    if not ladder.takes_bots:
        if ladder.state is CompetitionState.CLOSED:
            words = gettext("the ladder %(ladder)s is closed and takes no bots", ladder=ladder.name)
        else:
            words = gettext("the ladder %(ladder)s is frozen and takes no bots", ladder=ladder.name)
        raise SubmissionError(words)
    if at_home and ladder.home is HomeRule.NO:
        raise SubmissionError(
            gettext(
                "the ladder %(ladder)s takes no bots at home: submit the bot with arena submit, "
                "or choose a ladder that takes them (its organiser sets home=beside)",
                ladder=ladder.name,
            )
        )
    if not at_home and ladder.home is HomeRule.ONLY:
        raise SubmissionError(
            gettext(
                "the ladder %(ladder)s takes only bots at home: connect the bot with arena connect",
                ladder=ladder.name,
            )
        )


def is_under_way(version_id: int) -> sa.ColumnElement[bool]:
    """The condition that a check is of a version, and that this is to enter by it soon."""
    return sa.and_(
        Check.version_id == version_id,
        Check.status.in_((JobStatus.OPEN, JobStatus.ISSUED)),
        Check.cancelled == "",
        Check.enters,
    )


def try_passed(session: Session, version: BotVersion, ladder: Ladder) -> Check | None:
    """The check for a ladder that a version passed when it was tried; None if there is none."""
    checks = sa.select(Check).where(
        Check.version_id == version.id, Check.ladder_id == ladder.id, Check.enters.is_(False)
    )
    return next((check for check in session.scalars(checks) if check.passed), None)


def add_check(
    session: Session,
    version: BotVersion,
    ladder: Ladder,
    now: datetime,
    *,
    enters: bool = True,
    test_first: dict[str, Any] | None = None,
    began: datetime | None = None,
) -> Check:
    """Has a version checked for a ladder.

    Args:
        enters, test_first, began: as `Check` has them.
    """
    check = Check(
        version=version,
        ladder=ladder,
        at_home=version.is_at_home,
        status=JobStatus.OPEN,
        created=now,
        findings=[],
        enters=enters,
        test_first=test_first,
        began=began if began != now else None,
    )
    session.add(check)
    session.flush()
    return check


def hand_in(
    session: Session,
    actor: audit.Actor,
    owner: User,
    name: str,
    files: TakenIn,
    ladder: Ladder,
    *,
    note: str,
    test_first: StrengthTerms | None,
    most_stored: int | None = None,
    enters: bool = True,
    commit: Commit | None = None,
    tries_a_day: int | None = None,
    bots_a_person: int | None = None,
    team: Team | None = None,
    now: datetime,
) -> BotVersion:
    """What a person does: `submit`, with a note in the audit log, and the version's note anew.

    Args:
        enters, tries_a_day, bots_a_person, team: as of `submit`.
        commit: the commit that the files are of, if somebody says.
        most_stored: bytes that everybody may have stored who has no quota of their own; None for
            as many as there are.
            With it `owner` must have sent the bot's large files, or be allowed to read them.

    Raises:
        SubmissionError: as `submit`.
        Refusal: there is no room for the files, or large ones were not sent.
    """
    before, began = 0, now
    if most_stored is not None:
        there = free_of_refused(session, owner.id, name, now)
        payer = there.person_id if there else (team or owner).person_id
        quota.lock_people(session, {owner.id, payer, payer if team is None else team.id})
        began = sending.began(session, owner.id, files.large, now)
        sending.use(session, owner.id, files.large, now)
        before = quota.stored_bytes(session, payer)
    version = submit(
        session,
        owner,
        name,
        digest=files.digest,
        size=files.size,
        language=files.language,
        ladder=ladder,
        runtime=files.runtime,
        note=note,
        test_first=test_first,
        large=files.large,
        enters=enters,
        tries_a_day=tries_a_day,
        bots_a_person=bots_a_person,
        began=began,
        team=team,
        now=now,
    )
    version.files_bytes = files.files_bytes
    if commit is not None:
        keep(version, commit)
    if most_stored is not None:
        after = quota.stored_bytes(session, version.bot.person_id)
        most = quota.most_bytes(session, version.bot.person_id, most_stored)
        if after > max(before, most):
            raise Refusal(quota.refusal(before, after - before, most))
    _renote(session, version, note, now, actor)
    words = f"version {version.number} for {ladder.name}, {files.digest[:12]}"
    action = "submit" if enters else "try"
    audit.note(session, actor, action, f"bot {version.bot.name}", words, now=now)
    return version


def _runtime(session: Session, name: str, language: str) -> Runtime:
    """The runtime that a bot asks for.

    Raises:
        SubmissionError: there is none, or it is for another language.
    """
    try:
        found = runtimes.find(session, name)
    except NotThere as error:
        words = gettext("%(refusal)s; /docs/runtimes tells of them", refusal=error)
        raise SubmissionError(words) from None
    if found.language != language:
        raise SubmissionError(
            gettext(
                "the runtime %(runtime)s is for %(language)s, and the bot is %(other)s: leave "
                "out runtime, or take another",
                runtime=name,
                language=found.language,
                other=language,
            )
        )
    return found


def _version(
    session: Session,
    bot: Bot,
    digest: str,
    size: int,
    language: str,
    runtime: Runtime | None,
    note: str,
    now: datetime,
) -> BotVersion:
    last = session.scalar(
        sa.select(BotVersion)
        .where(BotVersion.bot_id == bot.id)
        .order_by(BotVersion.number.desc())
        .limit(1)
    )
    if last is not None and (last.digest, last.runtime) == (digest, runtime):
        return last
    version = BotVersion(
        bot=bot,
        number=last.number + 1 if last else 1,
        digest=digest,
        size=size,
        language=language,
        runtime=runtime,
        note=note,
        status=VersionStatus.CHECKING,
        created=now,
    )
    session.add(version)
    session.flush()
    return version


def _renote(
    session: Session, version: BotVersion, note: str, now: datetime, actor: audit.Actor
) -> None:
    """Gives a version the note with which its files were handed in again; none changes nothing."""
    if note and note != version.note:
        before, version.note = version.note, note
        words = f"version {version.number}: {note!r}, before {before!r}"
        audit.note(session, actor, "change note", f"bot {version.bot.name}", words, now=now)


def enter(session: Session, ladder: Ladder, version: BotVersion, now: datetime) -> Entrant:
    """Enters a version on a ladder; it takes the place of its bot's active one there.

    The new version keeps mu and gets a wider sigma. So does one that was there before and comes
    back, and it has to play like a newcomer before the ladder may rest. One that was only tried
    was not there before.

    Raises:
        Refusal: an organiser has just taken its bot off the ladder.
    """
    # Whoever makes its ratings anew, or records in it, does so before the rating is taken over
    # that this one begins with, or after it has entered. They lock the ladder before entrants, too.
    lock(session, ladder)
    demand_not_barred(session, ladder, version.real)
    bring_back(session, version)
    # Whoever enters another version at the same moment waits, and sees what became of this one.
    find(session, Bot, version.bot.real.id, to_change=True)
    version = masked(session, ladder, version.real, now)
    before = session.scalars(
        sa.select(Entrant)
        .join(Entrant.version)
        .where(Entrant.competition_id == ladder.id, BotVersion.is_of(version.bot.real.id))
        .order_by(Entrant.id)
        .execution_options(populate_existing=True)
    ).all()
    for entrant in before:
        if entrant.state is EntrantState.ACTIVE and entrant.version_id != version.id:
            entrant.state = EntrantState.RETIRED
            entrant.reason = f"version {version.number} took its place"
    last = session.scalar(sa.select(sa.func.max(Match.seq))) or 0
    tried = next((one for one in before if one.is_tried and one.version_id == version.id), None)
    before = [one for one in before if not one.is_tried]
    for entrant in before:
        if entrant.version_id == version.id:
            if entrant.state is not EntrantState.ACTIVE:
                entrant.state, entrant.reason, entrant.returned = EntrantState.ACTIVE, "", now
                entrant.returned_at = [*entrant.returned_at, now.isoformat()]
                rating = Rating(entrant.mu, entrant.sigma).loosened()
                entrant.mu, entrant.sigma = rating.mu, rating.sigma
                # Nothing is played since, where one comes and goes all the time.
                if last not in entrant.returned_after[-1:]:
                    entrant.returned_after = [*entrant.returned_after, last]
                entrant.games_before = entrant.games
            return entrant
    entrant = tried or add_tried(session, ladder, version, now)
    # Of those that came at the same place of the history, the one with the smaller id is first.
    came = (last, entrant.id)
    earlier = [one for one in before if (one.entered_after, one.id) < came]
    predecessor = max(earlier, key=lambda e: e.version.number, default=None)
    rating = Rating(predecessor.mu, predecessor.sigma).loosened() if predecessor else NEW
    entrant.state, entrant.reason = EntrantState.ACTIVE, ""
    entrant.predecessor_id = predecessor.id if predecessor else None
    entrant.entered, entrant.entered_after = now, last
    entrant.mu, entrant.sigma = rating.mu, rating.sigma
    session.flush()
    return entrant


def add_tried(session: Session, ladder: Ladder, version: BotVersion, now: datetime) -> Entrant:
    """Has a version on a ladder on which it does not play, but for matches that are asked for."""
    entrant = Entrant(
        competition=ladder,
        version=masked(session, ladder, version, now),
        state=EntrantState.RETIRED,
        reason=TRIED,
        entered=now,
        entered_after=session.scalar(sa.select(sa.func.max(Match.seq))) or 0,
        mu=NEW.mu,
        sigma=NEW.sigma,
    )
    session.add(entrant)
    session.flush()
    return entrant


def active_on(session: Session, ladder: Ladder, bot_id: int) -> Entrant | None:
    """The entrant by which a bot plays on a ladder, whose version a newer one is tested against."""
    query = (
        sa.select(Entrant)
        .join(Entrant.version)
        .where(
            Entrant.competition_id == ladder.id,
            Entrant.state == EntrantState.ACTIVE,
            BotVersion.is_of(bot_id),
        )
        .options(joinedload(Entrant.version))
    )
    return session.scalar(query)
