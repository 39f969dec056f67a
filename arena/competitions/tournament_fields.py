"""Who plays in a tournament: changed freely until it begins, and then only by who is withdrawn."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit
from arena.competitions.fields import demand_field, enter_field, entrants_of
from arena.competitions.players import NamedPlayer, choose, demand_allowed, player_of
from arena.competitions.tournament_ends import demand_not_over, end_or_reopen
from arena.competitions.tournament_notifications import tell_entered
from arena.competitions.tournament_progress import demand_not_too_long, frame_of, progress_of
from arena.competitions.voids import make_void
from arena.formats.catalogue import FORMATS, settings_for
from arena.ground import bot_names, texts
from arena.ground.locks import lock, locking
from arena.ground.refusals import Refusal
from arena.models import Bot, Entrant, EntrantState, JobStatus, Match, Place, Tournament
from engine.bot_options import told_label
from engine.translation import gettext

WITHDRAW = "withdraw from tournament"
"""The deed, as the audit log has it."""


def has_begun(tournament: Tournament) -> bool:
    """Whether a match was made: from then on its field and its schedule stand."""
    return tournament.matches_made > 0


def find_entrant(session: Session, tournament: Tournament, name: str) -> Entrant:
    """The entrant that a name such as ``greedy`` or ``greedy:2`` stands for.

    Raises:
        Refusal: there is none, or there are several.
    """
    named = bot_names.read_player(name)
    bot = session.scalar(sa.select(Bot.id).where(Bot.named(named.name)))
    found = [
        one
        for one in entrants_of(session, tournament)
        if one.version.bot_id == bot
        and named.version in (None, one.version.number)
        and (not named.options or choose(one.version, named.options) == one.options)
    ]
    # One without options is named by its version alone.
    found = [one for one in found if not one.options] or found if named.version else found
    if not found:
        raise Refusal(
            gettext(
                "%(name)r is not in the tournament %(tournament)s",
                name=name.strip()[:60],
                tournament=tournament.name,
            )
        )
    if len(found) > 1:
        its = found[0].version.bot.name
        names = " or ".join(told_label(f"{its}:{one.version.number}", one.options) for one in found)
        raise Refusal(
            gettext(
                "%(name)s is in the field more than once: say which, %(names)s",
                name=its,
                names=names,
            )
        )
    return found[0]


def enter(
    session: Session,
    tournament: Tournament,
    players: Sequence[NamedPlayer],
    now: datetime,
    actor: audit.Actor,
) -> None:
    """Enters players in a tournament that has not begun; they come last in the seeding.

    Raises:
        Refusal: it has begun, or a version can't play in it.
        Refusal: its settings don't fit the new field.
    """
    lock(session, tournament)  # the recorder may just be making its first match
    demand_not_over(tournament)
    if tournament.signing_up:
        raise Refusal(
            gettext(
                "bots sign up for %(name)s: arena tournament sign-up %(name)s BOT",
                name=tournament.name,
            )
        )
    if has_begun(tournament):
        raise Refusal(
            gettext(
                "the tournament %(name)s has begun, and nobody can enter it any more",
                name=tournament.name,
            )
        )
    demand_allowed(tournament, players)
    field = entrants_of(session, tournament)
    there = [player_of(one)._replace(version=one.version.real) for one in field]
    demand_field(session, tournament.variant, [*there, *players])
    _fit(tournament, len(field), len(field) + len(players))
    enter_field(session, tournament, players, now, first=len(field) + 1)
    subject = f"tournament {tournament.name}"
    for player in players:
        audit.note(session, actor, "enter tournament", subject, player.label, now=now)
    tell_entered(session, tournament, players, actor, now)


def withdraw(
    session: Session,
    tournament: Tournament,
    entrant: Entrant,
    note: str,
    now: datetime,
    actor: audit.Actor,
) -> bool:
    """Takes an entrant out of a tournament.

    Before it has begun it is as if it had never been in it. After that its results stand, those
    of matches under way, too, and what it has not begun is given to whoever was to meet it.

    Args:
        note: why, for everybody; needed once the tournament has begun.

    Returns:
        Whether it had begun.

    Raises:
        Refusal: it is over, the entrant was withdrawn already, or a word on why is
            missing.
        Refusal: without it the field is too small.
    """
    # What no worker ever had, or none could play; then what was made of it meanwhile.
    not_begun = (
        sa.select(Match)
        .join(Place, Place.match_id == Match.id)
        .where(
            Place.entrant_id == entrant.id,
            sa.or_(
                sa.and_(Match.status == JobStatus.OPEN, Match.attempt == 0),
                Match.status == JobStatus.SET_ASIDE,
            ),
        )
    )
    session.scalars(locking(not_begun, Match)).all()
    lock(session, tournament)
    demand_not_over(tournament)
    label, why = entrant.label, texts.typed(note)
    subject = f"tournament {tournament.name}"
    detail = f"{label}: {why}" if why else label
    everybody = entrants_of(session, tournament)
    if entrant not in everybody:  # somebody else may just have taken it out
        raise Refusal(
            gettext(
                "%(label)s is not in the tournament %(name)s", label=label, name=tournament.name
            )
        )
    if not has_begun(tournament):
        field = [one for one in everybody if one is not entrant]
        changed = _fit(tournament, len(everybody), len(field))
        session.delete(entrant)
        for number, one in enumerate(field, 1):
            one.number = number
        audit.note(session, actor, WITHDRAW, subject, detail + changed, now=now)
        return False
    session.refresh(entrant)  # somebody else may just have withdrawn it
    if entrant.state is EntrantState.RETIRED:
        raise Refusal(
            gettext(
                "%(label)s was withdrawn already: %(reason)s", label=label, reason=entrant.reason
            )
        )
    if not why:
        raise Refusal(gettext("say why %(label)s is withdrawn", label=label))
    # What was made meanwhile and is being issued already is played.
    for match in session.scalars(locking(not_begun, Match, free=True)).all():
        make_void(session, match, f"{label} was withdrawn: {why}")
    rounds = sa.select(sa.func.max(Match.round)).where(Match.competition_id == tournament.id)
    entrant.last_paired = begun = session.scalar(rounds) or 0
    entrant.last_round = progress_of(session, tournament).last_round_of(entrant.number, begun)
    entrant.state, entrant.reason = EntrantState.RETIRED, why
    audit.note(session, actor, WITHDRAW, subject, detail, now=now)
    session.flush()
    end_or_reopen(session, tournament, now)
    return True


def _fit(tournament: Tournament, before: int, after: int) -> str:
    """Works the settings out anew for another field; those that were chosen stay.

    What a smaller field can't have any more is as near to it as can be: it keeps nobody in.

    Returns:
        What was chosen and is different now, in words.

    Raises:
        Refusal: they don't fit it.
    """
    old, new = frame_of(tournament, before), frame_of(tournament, after)
    kept = dict(tournament.settings)
    tie_breaks = kept.pop("tie_breaks")
    kinds = FORMATS[tournament.format].settings
    chosen = {key: value for key, value in kept.items() if value != kinds[key].default_for(old)}
    fitting = {key: kinds[key].nearest(value, new) for key, value in chosen.items()}
    settings = settings_for(tournament.format, new, fitting)
    demand_not_too_long(tournament.format, new, settings)
    tournament.settings = {**settings, "tie_breaks": tie_breaks}
    changed = [key for key, value in fitting.items() if value != chosen[key]]
    return "".join(f"; {key} is {fitting[key]} now" for key in changed)
