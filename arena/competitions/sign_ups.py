"""Tournaments for which bots sign up: who may, and who waits for a place.

Theory of operation. Sign-ups are rows in the order in which they came; nobody is ever refused for
want of a place. Those who are first have one, all others are the waiting list, and whoever leaves
lets the next one move up by being gone. When the entries close (`arena.competitions.happenings`),
or when an organiser begins the tournament before, the first of those who still meet the conditions,
and have checked in where that is asked for, are the field, with the versions that they have then
(`arena.competitions.drawn_fields`). Until then the tournament is paused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload

from arena import audit
from arena.competitions.dates import find_date, moment_words
from arena.competitions.fields import (
    MOST_ENTRANTS,
    demand_proven,
    proven,
)
from arena.competitions.masks import mask_on, masked
from arena.competitions.players import handed_in
from arena.competitions.tournament_progress import demand_not_too_long
from arena.competitions.visibility import shows_none
from arena.formats.catalogue import settings_for
from arena.formats.settings import Frame
from arena.ground.db import database_time
from arena.ground.locks import lock
from arena.ground.refusals import NotThere, Refusal
from arena.models import (
    AT_HOME,
    Bot,
    BotVersion,
    CompetitionState,
    DateKind,
    Entrant,
    EntrantState,
    Ladder,
    SignUp,
    Topic,
    Tournament,
    VersionStatus,
)
from arena.people.audience import owners
from arena.people.notifications import notify
from arena.sight import who_see
from engine.translation import N_, gettext

SEEDINGS = ("rating", "random", "order")
"""How the field is seeded: by the ratings on the ladder, by lots drawn from the seed, or in the
order in which they signed up."""
LONGEST_CHECK_IN = 7 * 24 * 60
"""Minutes."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions by which bots sign up for a tournament."""

    places: int
    """How many bots play; those that come later wait."""
    games: int = 0
    """How many rated games a bot must have had on the ladder, by all its versions."""
    each: int = 1
    """How many bots of one person may sign up."""
    check_in: int = 0
    """How many minutes before the field is drawn the check-in opens; 0 for none."""
    seeding: str = "order"
    """One of `SEEDINGS`."""
    settings: Mapping[str, int] = field(default_factory=dict)
    """Those of the format that were chosen, and are fitted to the field."""
    told: bool = False
    """Whether it was told that the check-in is open."""

    def to_json(self) -> dict[str, Any]:
        """The conditions as a tournament keeps them."""
        return {**asdict(self), "settings": dict(self.settings)}


@dataclass(frozen=True, slots=True)
class SignedUp:
    """A sign-up as it stands."""

    sign_up: SignUp
    number: int
    """Its place from 1, or behind the places that on the waiting list."""
    waits: bool
    """Whether it is on the waiting list."""
    hindered: str
    """Why it would not be in the field if that were drawn now, in words; empty if it would."""


def conditions_of(tournament: Tournament) -> Conditions:
    """The conditions by which bots sign up for a tournament, or did.

    Raises:
        Refusal: its field was named.
    """
    if tournament.sign_up is None:
        raise Refusal(gettext("nobody signs up for %(name)s", name=tournament.name))
    return Conditions(**tournament.sign_up)


def most_places(
    form: str, frame_of_size: Callable[[int], Frame], settings: Mapping[str, int]
) -> int:
    """The largest field that a format can have with these settings."""
    for size in range(MOST_ENTRANTS, 2, -1):
        try:
            frame = frame_of_size(size)
            demand_not_too_long(form, frame, settings_for(form, frame, settings))
        except Refusal:
            continue
        return size
    return 2


def closes(session: Session, tournament: Tournament) -> datetime | None:
    """When the entries of a tournament close; None if no date says so."""
    date = find_date(session, tournament, DateKind.ENTRIES_CLOSE)
    return None if date is None else date.at


def check_in_opens(conditions: Conditions, until: datetime | None) -> datetime | None:
    """When bots begin to be checked in; None where that is not asked for, or nobody knows yet."""
    if not conditions.check_in or until is None:
        return None
    return until - timedelta(minutes=conditions.check_in)


def sign_ups_of(session: Session, tournament: Tournament) -> Sequence[SignUp]:
    """All of them in their order, with their bots and owners."""
    query = sa.select(SignUp).where(SignUp.competition_id == tournament.id).order_by(SignUp.id)
    bots = joinedload(SignUp.bot).joinedload(Bot.owner)
    return session.scalars(query.options(bots, joinedload(SignUp.version))).all()


def places_of(session: Session, tournament: Tournament, now: datetime) -> list[SignedUp]:
    """The sign-ups of a tournament in their order, but for bots that the reader does not see."""
    conditions, everybody = conditions_of(tournament), sign_ups_of(session, tournament)
    found = {number: one for number, one in enumerate(everybody, 1) if one.bot is not None}
    if not tournament.signing_up:
        return [SignedUp(one, number, False, one.dropped) for number, one in found.items()]
    open_since = check_in_opens(conditions, closes(session, tournament))
    checking_in = open_since is not None and open_since <= now
    wanted = [(one.bot, one.version) for one in found.values()]
    fitting = fitting_versions(session, tournament, wanted)
    places = []
    for number, one in found.items():
        its = fitting[one.bot_id]
        why = told_of(tournament, one, its) if isinstance(its, str) else ""
        if not why and checking_in and one.checked_in is None:
            why = gettext("it is not checked in")
        waits = number > conditions.places
        places.append(SignedUp(one, number - conditions.places * waits, waits, why))
    return places


def told_of(tournament: Tournament, one: SignUp, why: str) -> str:
    """Why a bot that signed up can't play, as everybody is told it: what hinders the one behind a
    mask would tell which that is."""
    if one.bot.masked_in == tournament.id:
        return gettext("%(bot)s does not meet the conditions", bot=one.bot.name)
    return why


def to_json(session: Session, tournament: Tournament) -> dict[str, Any]:
    """Who signed up for a tournament, and until when that is, as JSON's types."""
    if tournament.sign_up is None:
        return {"ladder": None, "entries_close": None, "check_in_opens": None, "sign_ups": []}
    ladder = tournament.ladder_id and session.get(Ladder, tournament.ladder_id)
    until = closes(session, tournament)
    opens = check_in_opens(conditions_of(tournament), until)
    return {
        "ladder": ladder.name if ladder else None,
        "entries_close": until and until.isoformat(),
        "check_in_opens": opens and opens.isoformat(),
        "sign_ups": [
            {
                "bot": one.sign_up.bot.name,
                "owner": one.sign_up.bot.owner.name,
                "version": one.sign_up.version and one.sign_up.version.number,
                "at": one.sign_up.at.isoformat(),
                "waits": one.waits,
                "place": one.number,
                "checked_in": one.sign_up.checked_in and one.sign_up.checked_in.isoformat(),
                "hindered": one.hindered or None,
            }
            for one in places_of(session, tournament, database_time(session))
        ],
    }


def demand_few(session: Session, tournament: Tournament, person_id: int) -> None:
    """Refuses more bots of a person's than each may sign up.

    Raises:
        Refusal: this one has more there.
    """
    its = sum(one.bot.person_id == person_id for one in sign_ups_of(session, tournament))
    each = conditions_of(tournament).each
    if its > each:
        raise Refusal(
            gettext(
                "each person may sign up so many bots for %(name)s: %(each)s",
                name=tournament.name,
                each=each,
            )
        )


def sign_up(
    session: Session,
    tournament: Tournament,
    bot: Bot,
    version: BotVersion | None,
    now: datetime,
    actor: audit.Actor,
) -> tuple[SignUp, bool]:
    """Signs a bot up for a tournament, or says which version of it is to play.

    Args:
        version: the one that is to play; None for the one that it has when the field is drawn.

    Returns:
        The sign-up, and whether it is on the waiting list.

    Raises:
        Refusal: it is too late, or the bot does not meet the conditions.
    """
    lock(session, tournament)
    conditions = demand_signing_up(session, tournament, now)
    fits = fitting_versions(session, tournament, [(bot, version)])[bot.id]
    if isinstance(fits, str):
        raise Refusal(fits)
    fits = masked(session, tournament, fits, now)
    bot, version = fits.bot, version and fits
    everybody = sign_ups_of(session, tournament)
    found = next((one for one in everybody if one.bot_id == bot.id), None)
    if found is None:
        open_since = check_in_opens(conditions, closes(session, tournament))
        late = open_since is not None and open_since <= now
        found = SignUp(
            competition=tournament,
            bot=bot,
            version=version,
            at=now,
            checked_in=now if late else None,
        )
        session.add(found)
        session.flush()
        demand_few(session, tournament, bot.person_id)
        everybody = [*everybody, found]
    found.version = version
    session.flush()
    label = bot.name if version is None else version.label
    audit.note(session, actor, "sign up", f"tournament {tournament.name}", label, now=now)
    return found, everybody.index(found) >= conditions.places


def sign_off(
    session: Session, tournament: Tournament, bot: Bot, now: datetime, actor: audit.Actor
) -> None:
    """Takes a sign-up back; the first of the waiting list moves up.

    Raises:
        Refusal: the bot is not signed up, or the field is drawn.
    """
    lock(session, tournament)
    conditions = demand_undrawn(tournament)
    bot = mask_on(session, tournament, bot)
    before = sign_ups_of(session, tournament)
    gone = _of_bot(tournament, before, bot)
    place = before.index(gone)
    session.delete(gone)
    session.flush()
    subject = f"tournament {tournament.name}"
    audit.note(session, actor, "sign off", subject, bot.name, now=now)
    if place < conditions.places < len(before):
        moved = before[conditions.places].bot
        message = N_("%(bot)s has a place in the tournament %(tournament)s now")
        tell_owners(session, tournament, moved, message, now)


def check_in(
    session: Session, tournament: Tournament, bot: Bot, now: datetime, actor: audit.Actor
) -> SignUp:
    """Confirms that a bot is to play; one on the waiting list, if it gets a place.

    Raises:
        Refusal: it is not signed up, or there is no check-in, or not now.
    """
    lock(session, tournament)
    conditions = demand_signing_up(session, tournament, now)
    bot = mask_on(session, tournament, bot)
    found = _of_bot(tournament, sign_ups_of(session, tournament), bot)
    if not conditions.check_in:
        raise Refusal(gettext("%(name)s has no check-in", name=tournament.name))
    opens = check_in_opens(conditions, closes(session, tournament))
    if opens is None or now < opens:
        moment = gettext("once it is known when") if opens is None else moment_words(opens)
        raise Refusal(
            gettext(
                "the check-in of %(name)s opens later: %(moment)s",
                name=tournament.name,
                moment=moment,
            )
        )
    if found.checked_in is None:
        found.checked_in = now
        audit.note(session, actor, "check in", f"tournament {tournament.name}", bot.name, now=now)
    return found


def demand_undrawn(tournament: Tournament) -> Conditions:
    """The conditions of a tournament for which bots sign up still.

    Raises:
        Refusal: nobody ever did, or its field is drawn.
    """
    conditions = conditions_of(tournament)
    if not tournament.signing_up or tournament.state is CompetitionState.CLOSED:
        raise Refusal(
            gettext(
                "the field of %(name)s is drawn, and nobody signs up any more", name=tournament.name
            )
        )
    return conditions


def demand_signing_up(session: Session, tournament: Tournament, now: datetime) -> Conditions:
    """The conditions of a tournament for which bots sign up still.

    Its entries may be closed by their date, though nobody came to draw the field.

    Raises:
        Refusal: they are closed, or nobody signs up for it.
    """
    conditions = demand_undrawn(tournament)
    until = closes(session, tournament)
    if until is not None and until <= now:
        raise Refusal(
            gettext(
                "nobody signs up for %(name)s since %(moment)s",
                name=tournament.name,
                moment=moment_words(until),
            )
        )
    return conditions


def why_not(
    session: Session, tournament: Tournament, bot: Bot, version: BotVersion | None = None
) -> str:
    """Why a bot can't be signed up for a tournament as it is now, in words; empty if it can."""
    its = fitting_versions(session, tournament, [(bot, version)])[bot.id]
    return its if isinstance(its, str) else ""


def why_not_each(session: Session, tournament: Tournament, bots: Sequence[Bot]) -> dict[int, str]:
    """Why bots can't be signed up for a tournament, as `why_not` says it, by their ids."""
    its = fitting_versions(session, tournament, [(bot, None) for bot in bots])
    return {bot: found if isinstance(found, str) else "" for bot, found in its.items()}


def fitting_versions(
    session: Session, tournament: Tournament, wanted: Sequence[tuple[Bot, BotVersion | None]]
) -> dict[int, BotVersion | str]:
    """The version of each bot that would play now, or why none can, by the bots' ids.

    Args:
        wanted: bots that are to play, each with the version that was chosen for that, if one was.
    """
    conditions, ladder_id = conditions_of(tournament), tournament.ladder_id
    # What it has shown is the bot's behind its mask.
    behind = {
        bot.id: bot.real.id if bot.masked_in == tournament.id else bot.id for bot, _ in wanted
    }
    bots = set(behind.values())
    ladder = None if ladder_id is None else session.get(Ladder, ladder_id)
    fielded: dict[int, BotVersion] = {}
    games = Counter[int]()
    if ladder is None:
        newest = sa.select(BotVersion).where(
            BotVersion.bot_id.in_(bots),
            BotVersion.status == VersionStatus.READY,
            BotVersion.language != AT_HOME,
            handed_in(),
        )
        there = session.scalars(newest.order_by(BotVersion.number)).all()
        for version in shows_none(session, tournament, there):
            fielded[version.bot_id] = version
    else:
        its = sa.select(Entrant).join(Entrant.version).where(BotVersion.bot_id.in_(bots))
        its = its.where(Entrant.competition_id == ladder.id).options(joinedload(Entrant.version))
        for entrant in session.scalars(its):
            games[entrant.version.bot_id] += entrant.games
            if entrant.state is EntrantState.ACTIVE:
                fielded[entrant.version.bot_id] = entrant.version
    suspended = _suspended(session, tournament.game, bots) if ladder is None else set[int]()
    versions = {
        bot.id: fielded.get(behind[bot.id])
        if chosen is None
        else chosen.real
        if behind[bot.id] != bot.id
        else chosen
        for bot, chosen in wanted
    }
    able = proven(session, tournament.game, [one for one in versions.values() if one])

    def found(bot: Bot) -> BotVersion | str:
        its = {"bot": bot.name, "ladder": ladder and ladder.name}
        version = versions[bot.id]
        is_named = ladder is None and version is not None and not version.is_at_home
        if version is None or not (behind[bot.id] in fielded or is_named):
            if ladder is None:
                return gettext("no version of %(bot)s has passed its check", **its)
            return gettext("%(bot)s is not active on the ladder %(ladder)s", **its)
        if behind[bot.id] in suspended:
            return gettext(
                "%(bot)s is suspended for its faults: bring it back on a ladder first", **its
            )
        if games[behind[bot.id]] < conditions.games and ladder is not None:
            return gettext(
                "%(bot)s has had %(games)s rated games on the ladder %(ladder)s, and needs "
                "%(needed)s",
                **its,
                games=games[behind[bot.id]],
                needed=conditions.games,
            )
        if version.id not in able or version.status is not VersionStatus.READY:
            try:
                demand_proven(session, tournament.game, [version])
            except Refusal as error:
                return str(error)
        elif version.is_at_home:
            return gettext("bots at home play on ladders alone")
        return version

    return {bot.id: found(bot) for bot, _ in wanted}


def _suspended(session: Session, game: str, bots: Collection[int]) -> set[int]:
    """Those of some bots that are suspended wherever they are on a ladder of a game."""
    its = (
        sa.select(BotVersion.bot_id, Entrant.state)
        .join(Entrant, Entrant.version_id == BotVersion.id)
        .join(Ladder, Ladder.id == Entrant.competition_id)
        .where(
            BotVersion.bot_id.in_(bots),
            Ladder.game == game,
            Ladder.state != CompetitionState.CLOSED,
        )
    )
    states: dict[int, set[EntrantState]] = {}
    for bot, state in session.execute(its):
        states.setdefault(bot, set()).add(state)
    return {
        bot
        for bot, found in states.items()
        if EntrantState.SUSPENDED in found and EntrantState.ACTIVE not in found
    }


def _of_bot(tournament: Tournament, sign_ups: Sequence[SignUp], bot: Bot) -> SignUp:
    found = next((one for one in sign_ups if one.bot_id == bot.id), None)
    if found is None:
        raise NotThere(
            gettext("%(bot)s is not signed up for %(name)s", bot=bot.name, name=tournament.name)
        )
    return found


def tell_owners(
    session: Session,
    tournament: Tournament,
    bot: Bot,
    message: str,
    now: datetime,
    **places: Any,
) -> None:
    """Tells a bot's owners something about a tournament."""
    people = who_see(session, tournament, owners(session, [bot.id]))
    places = {"bot": bot.name, "tournament": tournament.title, **places}
    address = f"/tournaments/{tournament.name}"
    notify(session, people, message, places, address, now, topic=Topic.TOURNAMENT)
