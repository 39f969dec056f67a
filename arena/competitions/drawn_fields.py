"""How the field of a tournament is drawn of those who signed up, and check-ins are opened."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit
from arena.audit import ARENA
from arena.competitions.fields import demand_field, enter_field, seeded_by
from arena.competitions.founding import come_back
from arena.competitions.players import NamedPlayer
from arena.competitions.sign_ups import (
    LONGEST_CHECK_IN,
    Conditions,
    check_in_opens,
    closes,
    conditions_of,
    demand_undrawn,
    fitting_versions,
    sign_ups_of,
    tell_owners,
    told_of,
)
from arena.competitions.tournament_progress import frame_of
from arena.formats.catalogue import FORMATS, settings_for
from arena.ground.db import At, database_time
from arena.ground.locks import lock
from arena.ground.refusals import Refusal
from arena.models import (
    BotVersion,
    CompetitionDate,
    CompetitionState,
    DateKind,
    Ladder,
    SignUp,
    Tournament,
)
from arena.present import maintenance
from engine.seeds import derive
from engine.translation import ENGLISH, N_, gettext, speaking

NO_PLACE = "all places were taken"
NOT_CHECKED_IN = "it was not checked in"


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
        fitting = fitting_versions(session, tournament, [(one.bot, one.version) for one in found])
    chosen: list[tuple[SignUp, BotVersion]] = []
    hindered: dict[int, str] = {}
    for one in found:
        its = fitting[one.bot_id]
        if isinstance(its, str):
            with speaking(ENGLISH):
                one.dropped = told_of(tournament, one, its)
            hindered[one.id] = its
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
            why = hindered.get(one.id, one.dropped)
            tell_owners(session, tournament, one.bot, message, now, reason=why)
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
            tell_owners(session, tournament, one.bot, message, now, reason=why)
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
        tell_owners(session, tournament, one.bot, message, now)
    session.flush()
    return True


def to_check_in(until: At) -> sa.Select[Tournament, datetime]:
    """The tournaments whose sign-up ends by a moment, and when it does."""
    return (
        sa.select(Tournament, CompetitionDate.at)
        .join(CompetitionDate, CompetitionDate.competition_id == Tournament.id)
        .where(
            Tournament.signing_up.is_(True),
            CompetitionDate.what == DateKind.ENTRIES_CLOSE,
            CompetitionDate.happened.is_(None),
            CompetitionDate.at <= until,
        )
    )


def open_check_ins(session: Session) -> None:
    """Tells the owners of all who are signed up when a check-in opens, once; during maintenance,
    when nobody could check in, not yet."""
    if maintenance(session) is not None:
        return
    now = database_time(session)
    query = to_check_in(now + timedelta(minutes=LONGEST_CHECK_IN))
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
                tell_owners(session, tournament, one.bot, message, now, moment=until)


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
