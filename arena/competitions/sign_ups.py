"""Tournaments for which bots sign up: who may, who waits for a place, and how the field is drawn.

Theory of operation. Sign-ups are rows in the order in which they came; nobody is ever refused for
want of a place. Those who are first have one, all others are the waiting list, and whoever leaves
lets the next one move up by being gone. When the entries close (`arena.competitions.happenings`),
or when an organiser begins the tournament before, the first of those who still meet the conditions,
and have checked in where that is asked for, are the field, with the versions that they have then.
Until then the tournament is paused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload

from arena import audit
from arena.audit import ARENA
from arena.competitions.dates import find_date, moment_words
from arena.competitions.fields import (
    MOST_ENTRANTS,
    demand_field,
    demand_proven,
    enter_field,
    proven,
    seeded_by,
)
from arena.competitions.founding import come_back
from arena.competitions.players import NamedPlayer
from arena.competitions.tournament_courses import demand_not_too_long, frame_of
from arena.formats.catalogue import FORMATS, settings_for
from arena.formats.settings import Frame
from arena.ground.db import present
from arena.ground.locks import lock
from arena.ground.refusals import NotThere, Refusal
from arena.models import (
    AT_HOME,
    Bot,
    BotVersion,
    CompetitionDate,
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
from arena.people.following import owners
from arena.people.notifications import notify
from arena.sight import who_see
from engine.seeds import derive
from engine.translation import ENGLISH, N_, gettext, speaking

SEEDINGS = ("rating", "random", "order")
"""How the field is seeded: by the ratings on the ladder, by lots drawn from the seed, or in the
order in which they signed up."""
NO_PLACE = "all places were taken"
NOT_CHECKED_IN = "it was not checked in"
LONGEST_CHECK_IN = 7 * 24 * 60
"""Minutes."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """By what bots sign up for a tournament."""

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
        """As a tournament keeps them."""
        return {**asdict(self), "settings": dict(self.settings)}


@dataclass(frozen=True, slots=True)
class SignedUp:
    """A sign-up as it stands."""

    sign_up: SignUp
    number: int
    """From 1: its place, or behind the places its place on the waiting list."""
    waits: bool
    """Whether it is on the waiting list."""
    hindered: str
    """Why it would not be in the field if that were drawn now, in words; empty if it would."""


def conditions_of(tournament: Tournament) -> Conditions:
    """By what bots sign up for a tournament, or did.

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
    """From when on bots are checked in; None where that is not asked for, or nobody knows yet."""
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
    fitting = _fitting(session, tournament, wanted)
    places = []
    for number, one in found.items():
        its = fitting[one.bot_id]
        why = its if isinstance(its, str) else ""
        if not why and checking_in and one.checked_in is None:
            why = gettext("it is not checked in")
        waits = number > conditions.places
        places.append(SignedUp(one, number - conditions.places * waits, waits, why))
    return places


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
            for one in places_of(session, tournament, present(session))
        ],
    }


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
    if words := why_not(session, tournament, bot, version):
        raise Refusal(words)
    everybody = sign_ups_of(session, tournament)
    found = next((one for one in everybody if one.bot_id == bot.id), None)
    if found is None:
        its = sum(one.bot.person_id == bot.person_id for one in everybody)
        if its >= conditions.each:
            raise Refusal(
                gettext(
                    "each person may sign up so many bots for %(name)s: %(each)s",
                    name=tournament.name,
                    each=conditions.each,
                )
            )
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
        _tell(session, tournament, moved, message, now)


def check_in(
    session: Session, tournament: Tournament, bot: Bot, now: datetime, actor: audit.Actor
) -> SignUp:
    """Confirms that a bot is to play; one on the waiting list, if it gets a place.

    Raises:
        Refusal: it is not signed up, or there is no check-in, or not now.
    """
    lock(session, tournament)
    conditions = demand_signing_up(session, tournament, now)
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


def draw(
    session: Session,
    tournament: Tournament,
    moment: datetime,
    now: datetime,
    actor: audit.Actor = ARENA,
) -> bool:
    """Draws the field of a tournament, which is locked, and begins it.

    With fewer than a match takes, or else too few for its format, it is called off.

    Args:
        moment: as of which it is drawn, however late somebody came to do it.

    Returns:
        Whether it begins.
    """
    conditions, found = demand_undrawn(tournament), sign_ups_of(session, tournament)
    opens = check_in_opens(conditions, closes(session, tournament))
    asked = opens is not None and opens <= moment
    with speaking(ENGLISH):  # it is kept
        fitting = _fitting(session, tournament, [(one.bot, one.version) for one in found])
    chosen: list[tuple[SignUp, BotVersion]] = []
    for one in found:
        its = fitting[one.bot_id]
        if isinstance(its, str):
            one.dropped = its
        elif asked and one.checked_in is None:
            one.dropped = NOT_CHECKED_IN
        elif len(chosen) == conditions.places:
            one.dropped = NO_PLACE
        else:
            chosen.append((one, its))
    tournament.signing_up = False
    subject = f"tournament {tournament.name}"
    labels = ", ".join(version.label for _, version in chosen) or "nobody"
    audit.note(session, actor, "draw field", subject, labels, now=now)
    for one in found:
        if one.dropped:
            message = N_("%(bot)s does not play in the tournament %(tournament)s: %(reason)s")
            _tell(session, tournament, one.bot, message, now, reason=one.dropped)
    players = _seeded(session, tournament, conditions, [version for _, version in chosen])
    try:
        with speaking(ENGLISH):
            demand_field(session, tournament.variant, players)
            settings = _fitted(tournament, conditions, len(players))
    except Refusal as error:
        why = str(error)
        tournament.state, tournament.finished = CompetitionState.CLOSED, now
        tournament.reason = why
        audit.note(session, actor, "call off tournament", subject, why, now=now)
        for one, _ in chosen:
            message = N_("the tournament %(tournament)s was called off: %(reason)s")
            _tell(session, tournament, one.bot, message, now, reason=why)
        return False
    tournament.settings = {**settings, "tie_breaks": tournament.settings["tie_breaks"]}
    enter_field(session, tournament, players, now)
    tournament.state = CompetitionState.OPEN
    come_back(session, tournament)
    first = {one.id for one in found[: conditions.places]}
    for one, _ in chosen:
        message = (
            N_("the tournament %(tournament)s begins, and %(bot)s plays in it")
            if one.id in first
            else N_("%(bot)s got a place in the tournament %(tournament)s, which begins")
        )
        _tell(session, tournament, one.bot, message, now)
    session.flush()
    return True


def open_check_ins(session: Session) -> None:
    """Tells the owners of all who are signed up when a check-in opens, once."""
    now = present(session)
    query = (
        sa.select(Tournament, CompetitionDate.at)
        .join(CompetitionDate, CompetitionDate.competition_id == Tournament.id)
        .where(
            Tournament.signing_up.is_(True),
            CompetitionDate.what == DateKind.ENTRIES_CLOSE,
            CompetitionDate.happened.is_(None),
            CompetitionDate.at <= now + timedelta(minutes=LONGEST_CHECK_IN),
        )
    )
    for tournament, until in session.execute(query).all():
        opens = check_in_opens(conditions_of(tournament), until)
        if opens is None or opens > now or conditions_of(tournament).told:
            continue
        lock(session, tournament)
        conditions = conditions_of(tournament)
        if not tournament.signing_up or conditions.told:
            continue
        tournament.sign_up = {**conditions.to_json(), "told": True}
        message = N_(
            "the check-in of the tournament %(tournament)s is open until %(moment)s: check in "
            "%(bot)s, or it does not play"
        )
        for one in sign_ups_of(session, tournament):
            if one.checked_in is None:
                _tell(session, tournament, one.bot, message, now, moment=until)


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
    """The same, if its entries are not closed by their date, though nobody came to draw the field.

    Raises:
        Refusal: they are.
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
    its = _fitting(session, tournament, [(bot, version)])[bot.id]
    return its if isinstance(its, str) else ""


def why_not_each(session: Session, tournament: Tournament, bots: Sequence[Bot]) -> dict[int, str]:
    """The same of several bots, by their ids."""
    its = _fitting(session, tournament, [(bot, None) for bot in bots])
    return {bot: found if isinstance(found, str) else "" for bot, found in its.items()}


Wish = tuple[Bot, BotVersion | None]
"""A bot that is to play, and the version that was chosen for that."""


def _fitting(
    session: Session, tournament: Tournament, wanted: Sequence[Wish]
) -> dict[int, BotVersion | str]:
    """The version of each bot that would play now, or why none can, by the bots' ids."""
    conditions, ladder_id = conditions_of(tournament), tournament.ladder_id
    bots = [bot.id for bot, _ in wanted]
    ladder = None if ladder_id is None else session.get(Ladder, ladder_id)
    fielded: dict[int, BotVersion] = {}
    games = Counter[int]()
    if ladder is None:
        newest = sa.select(BotVersion).where(
            BotVersion.bot_id.in_(bots),
            BotVersion.status == VersionStatus.READY,
            BotVersion.language != AT_HOME,
        )
        for version in session.scalars(newest.order_by(BotVersion.number)):
            fielded[version.bot_id] = version
    else:
        its = sa.select(Entrant).join(Entrant.version).where(BotVersion.bot_id.in_(bots))
        its = its.where(Entrant.competition_id == ladder.id).options(joinedload(Entrant.version))
        for entrant in session.scalars(its):
            games[entrant.version.bot_id] += entrant.games
            if entrant.state is EntrantState.ACTIVE:
                fielded[entrant.version.bot_id] = entrant.version
    versions = {bot.id: chosen or fielded.get(bot.id) for bot, chosen in wanted}
    able = proven(session, tournament.game, [one for one in versions.values() if one])

    def found(bot: Bot) -> BotVersion | str:
        its = {"bot": bot.name, "ladder": ladder and ladder.name}
        version = versions[bot.id]
        if bot.id not in fielded or version is None:
            if ladder is None:
                return gettext("no version of %(bot)s has passed its check", **its)
            return gettext("%(bot)s is not active on the ladder %(ladder)s", **its)
        if games[bot.id] < conditions.games and ladder is not None:
            return gettext(
                "%(bot)s has had %(games)s rated games on the ladder %(ladder)s, and needs "
                "%(needed)s",
                **its,
                games=games[bot.id],
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


def _fitted(tournament: Tournament, conditions: Conditions, size: int) -> dict[str, int]:
    """The settings of the format for a field of this size: those that were chosen as near as can
    be, all others by default.

    Raises:
        Refusal: no settings fit it.
    """
    frame = frame_of(tournament, size)
    if size < max(2, frame.seats):
        needed = max(2, frame.seats)
        raise Refusal(
            gettext("it takes %(needed)s bots, and %(size)s could play", needed=needed, size=size)
        )
    kinds = FORMATS[tournament.format].settings
    chosen = {key: kinds[key].nearest(value, frame) for key, value in conditions.settings.items()}
    return settings_for(tournament.format, frame, chosen)


def _seeded(
    session: Session, tournament: Tournament, conditions: Conditions, versions: list[BotVersion]
) -> list[NamedPlayer]:
    """The field in the order of the seeding."""
    players = [NamedPlayer(version) for version in versions]
    if conditions.seeding == "random":
        Random(derive(tournament.seed, "seeding")).shuffle(players)
    elif conditions.seeding == "rating" and tournament.ladder_id is not None:
        return seeded_by(session, session.get_one(Ladder, tournament.ladder_id), players)
    return players


def _of_bot(tournament: Tournament, sign_ups: Sequence[SignUp], bot: Bot) -> SignUp:
    found = next((one for one in sign_ups if one.bot_id == bot.id), None)
    if found is None:
        raise NotThere(
            gettext("%(bot)s is not signed up for %(name)s", bot=bot.name, name=tournament.name)
        )
    return found


def _tell(
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
