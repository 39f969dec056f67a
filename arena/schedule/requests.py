"""Matches on request: by a ladder's rules, between bots that somebody chose, for no rating."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased, joinedload, selectinload

from arena import audit
from arena.audit import Actor
from arena.competitions.founding import find_named
from arena.competitions.pairings import Pairing
from arena.competitions.players import NamedPlayer, choose, demand_allowed, told
from arena.deeds import LONGEST_NAME, By, Deed, Done, asked
from arena.ground import bot_names
from arena.ground.bot_names import Named
from arena.ground.db import count_rows, is_lately
from arena.ground.guesses import meant
from arena.ground.locks import lock
from arena.ground.refusals import Refusal, WrongField
from arena.models import (
    Bot,
    BotVersion,
    CompetitionState,
    Entrant,
    EntrantState,
    JobStatus,
    Ladder,
    Match,
    Place,
    Scope,
    Topic,
    User,
    owners_of_bots,
)
from arena.people import accounts
from arena.people.notifications import notify
from arena.schedule.matchmaking import make
from engine.game import GameError
from engine.match import entrants_needed
from engine.openings import Opening, played, start_at
from engine.plurals import counted
from engine.shelf import Missing
from engine.translation import N_, gettext

DAY = timedelta(hours=24)
MOST_IN_A_RACE = 8
RESTS = {
    CompetitionState.PAUSED: N_("the ladder %(ladder)s is paused, and plays no matches"),
    CompetitionState.FROZEN: N_("the ladder %(ladder)s is frozen, and plays no matches"),
    CompetitionState.CLOSED: N_("the ladder %(ladder)s is closed, and plays no matches"),
}
MOST_AT_ONCE = 50
"""Matches that are asked for together."""
MOST_SET = 1000
"""Moves of an opening that somebody chooses."""


def request_matches(
    session: Session,
    requester: User,
    ladder: Ladder,
    bots: Sequence[str],
    now: datetime,
    *,
    quota: int | None = None,
    form: str | None = None,
    actor: Actor | None = None,
    opening: Opening | None = None,
    count: int = 1,
) -> list[Match]:
    """Makes unrated matches between chosen bots; workers play them when it is their turn.

    Those that were asked for by the same form already are given again.

    Args:
        bots: names of bots on the ladder in the order of their seats in the first game:
            ``greedy`` for the version that is active there, ``greedy:2`` for any that ever was,
            with options as ``greedy:depth=8`` or ``greedy:2:depth=8``.
        quota: how many matches the requester may ask for within a day; None for no limit.
        form: what the form or request is called that says so, by the requester alone.
        actor: who asks, for the audit log; by default the requester.
        opening: of all of them; by default each has one as the ladder chooses it.
        count: how many matches.

    Raises:
        Refusal: the ladder is not open, a bot is not on it, there are too few or too many
            of them, the opening can't be played, or the requester's matches of the day are used up.
    """
    requests = [_request(requester, form, number) for number in range(count)]
    if form:
        # The same form sent twice at the same moment: the second waits for the first here.
        lock(session, requester)
        its = sa.select(Match).where(Match.request.in_(requests)).order_by(Match.id)
        if known := session.scalars(its).all():
            return list(known)
    if ladder.state is not CompetitionState.OPEN:
        raise Refusal(gettext(RESTS[ladder.state], ladder=ladder.name))
    race = ladder.variant.seats == 1
    needed = 2 if race else entrants_needed(ladder.variant)
    if len(bots) < needed or len(bots) > (MOST_IN_A_RACE if race else needed):
        these = {"ladder": ladder.name, "number": len(bots)}
        if race:
            words = gettext(
                "a match of %(ladder)s is between from 2 to %(most)s bots, not %(number)s",
                **these,
                most=MOST_IN_A_RACE,
            )
        else:
            words = gettext(
                "a match of %(ladder)s is between %(needed)s bots, not %(number)s",
                **these,
                needed=needed,
            )
        raise Refusal(words)
    named = [bot_names.read_player(name) for name in bots]
    entrants = [_entrant(session, requester, ladder, one) for one in named]
    if at_home := next((one for one in entrants if one.version.is_at_home), None):
        raise Refusal(
            gettext(
                "%(bot)s is at home, and plays whom its ladder pairs it with: name bots that were "
                "submitted",
                bot=at_home.version.label,
            )
        )
    players = [
        NamedPlayer(entrant.version, choose(entrant.version, one.options))
        for entrant, one in zip(entrants, named, strict=True)
    ]
    if len({(player.version.id, player.options) for player in players}) < len(players):
        raise Refusal(
            gettext(
                "a bot version sits in a match once: name different ones, or give one other options"
            )
        )
    demand_allowed(ladder, players)
    if quota is not None:
        _check_quota(session, requester, quota, now, count)
    # Requests are made beside the recorder, and each match has a number of its own.
    lock(session, ladder)
    pairing = Pairing(
        tuple(entrant.id for entrant in entrants),
        opening=opening,
        chosen=tuple(told(player.options) for player in players),
    )
    by, what = actor or Actor(requester.id, requester.name, ""), ", ".join(bots)
    made = []
    for request in requests:
        match = make(session, ladder, pairing, now, requester=requester)
        match.request = request
        session.flush()
        audit.note(session, by, "request match", f"match {match.id}", what, now=now)
        made.append(match)
    return made


def _request(requester: User, form: str | None, number: int) -> str | None:
    """What a match is known by among those that somebody asks for by a form."""
    if not form:
        return None
    words = f"{requester.id} {form}" + (f" {number}" if number else "")
    return hashlib.sha256(words.encode()).hexdigest()


@dataclass(frozen=True)
class RequestUnratedMatch(Deed):
    """Ask for unrated matches between bots of a ladder; so many a day are allowed.

    They can begin from a position: every match is played from it once from every seat.
    """

    scope = Scope.SUBMIT
    address = "POST /matches"
    subject = "games"
    answers = Match
    makes = True

    ladder: str = asked("By whose rules it is played", most=LONGEST_NAME)
    bots: tuple[str, ...] = asked(
        "In the order of their seats in the first game, each as greedy, greedy:2 for a version "
        "that is not active any more, or greedy:depth=8 or greedy:2:depth=8 with options",
        most=MOST_IN_A_RACE,
    )
    opening: tuple[str, ...] = asked(
        "The moves that begin it; by default the ladder chooses an opening for each match",
        default=(),
        most=MOST_SET,
    )
    start: Mapping[str, str] = asked(
        "Where lots or a position say how the game begins, these options, as totems or fen",
        default={},
    )
    matches: int = asked("How many matches", default=1, least=1, most=MOST_AT_ONCE)
    key: str | None = asked(
        "Whoever sends the same one again gets the match it made", default=None, most=64
    )

    def do(self, session: Session, by: By) -> Done:
        ladder = find_named(session, Ladder, self.ladder)
        made = request_matches(
            session,
            accounts.person_of(session, by.actor, by.now),
            ladder,
            self.bots,
            by.now,
            quota=by.requests_a_day,
            form=self.key or None,
            actor=by.actor,
            opening=self._opening(ladder),
            count=self.matches,
        )
        if len(made) == 1:
            said = gettext("match %(number)s is played when a worker is free", number=made[0].id)
        else:
            said = gettext(
                "matches %(first)s to %(last)s are played when workers are free",
                first=made[0].id,
                last=made[-1].id,
            )
        return Done(said, made[0])

    def _opening(self, ladder: Ladder) -> Opening | None:
        """The opening that was chosen; None if none was."""
        if not self.opening and not self.start:
            return None
        variant = ladder.variant
        if isinstance(variant, Missing):
            raise Refusal(variant.reason)
        if variant.seats == 1:
            raise WrongField(
                "opening",
                gettext("%(game)s is played alone and has no openings", game=variant.game),
            )
        try:
            start = start_at(variant, self.start)
        except GameError as error:
            raise WrongField("start", str(error)) from None
        if start.drawn(0) != start:
            raise WrongField(
                "start", gettext("%(start)s draws its start by lot: say which it is", start=start)
            )
        try:
            opening, (*_, state) = played(start, self.opening)
        except GameError as error:
            raise WrongField("opening", str(error)) from None
        if state.to_move is None:
            raise WrongField("opening", gettext("it ends the game: leave its last moves out"))
        return opening


def _entrant(session: Session, requester: User, ladder: Ladder, named: Named) -> Entrant:
    """The entrant of a ladder that somebody names; one that was only tried is its owners' alone.
    Who owns a bot may call it by its own name where it plays under another.

    Raises:
        Refusal: there is none.
    """
    query = (
        sa.select(Entrant)
        .join(Entrant.version)
        .join(BotVersion.bot)
        .where(Entrant.competition_id == ladder.id)
    )
    bot = session.scalar(sa.select(Bot).where(Bot.named(named.name)))
    number: Any = BotVersion.number
    if bot is not None and bot.masks_id is None and _owns(session, requester, bot):
        behind = aliased(BotVersion)
        real = sa.select(behind.number).where(behind.id == BotVersion.masks_id)
        number = sa.func.coalesce(real.scalar_subquery(), number)
        query = query.where(BotVersion.is_of(bot.id))
    else:
        query = query.where(Bot.named(named.name))
    if named.version is None:
        found = session.scalar(query.where(Entrant.state == EntrantState.ACTIVE))
    else:
        found = session.scalar(query.where(number == named.version))
    if found is None or (found.is_tried and not _owns(session, requester, found.version.bot)):
        there = sa.select(BotVersion.bot_id).join(Entrant, Entrant.version_id == BotVersion.id)
        active = Entrant.competition_id == ladder.id, Entrant.state == EntrantState.ACTIVE
        guess = meant(session, Bot.name, named.name, Bot.id.in_(there.where(*active)))
        its = {"name": named.name[:60], "ladder": ladder.name, "meant": guess}
        if named.version is None:
            words = gettext(
                "there is no active bot %(name)r on the ladder %(ladder)s%(meant)s", **its
            )
        else:
            words = gettext(
                "there is no version %(version)s of a bot %(name)s on the ladder "
                "%(ladder)s%(meant)s",
                **its,
                version=named.version,
            )
        raise Refusal(words)
    return found


def _owns(session: Session, user: User, bot: Bot) -> bool:
    its = owners_of_bots().subquery()
    query = sa.select(its.c.bot_id).where(its.c.bot_id == bot.real.id, its.c.user_id == user.id)
    return session.scalar(query.limit(1)) is not None


def _check_quota(session: Session, requester: User, quota: int, now: datetime, count: int) -> None:
    # Two requests of one user at the same moment wait for each other here.
    lock(session, requester)
    asked = session.scalars(
        sa.select(Match.created)
        .where(Match.requester_id == requester.id, is_lately(Match.created, DAY, now))
        .order_by(Match.created.desc())
        .limit(quota)
    ).all()
    if len(asked) + count > quota:
        matches = counted(quota, "match", "matches")
        if len(asked) < quota:
            words = gettext(
                "%(matches)s may be asked for within 24 hours, and %(left)s of them are left: ask "
                "for fewer",
                matches=matches,
                left=quota - len(asked),
            )
        elif asked:
            words = gettext(
                "%(matches)s may be asked for within 24 hours: the next is free at %(moment)s UTC",
                matches=matches,
                moment=f"{asked[-1] + DAY:%Y-%m-%d %H:%M}",
            )
        else:
            words = gettext("%(matches)s may be asked for within 24 hours", matches=matches)
        raise Refusal(words)


def asked_lately(session: Session, requester_id: int, now: datetime) -> int:
    """How many matches somebody asked for within the last day."""
    lately = is_lately(Match.created, DAY, now)
    return count_rows(session, Match, Match.requester_id == requester_id, lately)


def matches_of(session: Session, requester_id: int, *, count: int) -> list[Match]:
    """The last matches that somebody asked for, each with its ladder and bots."""
    version = selectinload(Match.places).joinedload(Place.entrant).joinedload(Entrant.version)
    query = (
        sa.select(Match)
        .where(Match.requester_id == requester_id)
        .order_by(Match.id.desc())
        .limit(count)
        .options(joinedload(Match.competition), version.joinedload(BotVersion.bot))
    )
    return list(session.scalars(query))


def tell_requested(session: Session, match: Match, now: datetime) -> None:
    """Tells who asked for a match that it is played, if it was the last of theirs that waited."""
    waiting = Match.status.in_([JobStatus.OPEN, JobStatus.ISSUED])
    others = Match.requester_id == match.requester_id, waiting, Match.id != match.id
    assert match.requester_id is not None
    if not count_rows(session, Match, *others):
        message = N_("The last of your unrated matches is played: match %(number)s")
        address = f"/matches/{match.id}"
        its = {"number": match.id}
        notify(session, [match.requester_id], message, its, address, now, topic=Topic.MATCH)
