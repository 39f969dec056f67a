"""Tournaments: how one is made, who meets next, and when all is played.

Theory of operation. Which fixtures are due follows from those that were set and their results;
the opening and the dice of each follow from the tournament's seed and from the fixture alone,
not from when it was set. So a tournament goes on wherever it was interrupted, and comes out the
same in whatever order and by however many workers it is played. A match that was made void
leaves its fixture due again; one that is set aside holds the tournament up until somebody
decides what becomes of it.

Entrants go by their number in the seeding, from 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit
from arena.audit import ARENA
from arena.competitions import members, tournament_fields
from arena.competitions.books import demand_fitting, policy_of
from arena.competitions.fields import demand_field, enter_field
from arena.competitions.founding import (
    add_named,
    demand_name,
    fair_start,
)
from arena.competitions.kind import CompetitionKind, Conclusion, Moment, Placed
from arena.competitions.masks import in_lots
from arena.competitions.pairings import Pairing
from arena.competitions.players import NamedPlayer, demand_allowed
from arena.competitions.results import results
from arena.competitions.tournament_ends import demand_not_over, end_or_reopen, winner_of
from arena.competitions.tournament_notifications import tell_entered
from arena.competitions.tournament_progress import demand_not_too_long, new_frame, progress_of
from arena.competitions.visibility import put_within
from arena.competitions.voids import make_void
from arena.formats.catalogue import FORMATS, settings_for
from arena.formats.standings import TIE_BREAKS
from arena.ground import texts
from arena.ground.locks import lock, locking
from arena.ground.refusals import Refusal
from arena.models import (
    CALLED_OFF,
    USUAL_LIMITS,
    CompetitionLimits,
    CompetitionState,
    DateKind,
    Entrant,
    JobStatus,
    Ladder,
    Match,
    Topic,
    Tournament,
    Visibility,
)
from arena.models.competitions import LONGEST_TITLE
from engine.clock import TimeControl
from engine.game import Variant
from engine.guesses import instead
from engine.translation import N_, gettext, translated

SIGNING_UP_WORDS = N_("Bots sign up for it: its field is drawn when its entries close.")
WEIGHT = 10.0
"""How many times the workers' time of a ladder a tournament gets while workers are scarce."""
TIME_IS_OVER = "its time was over"


@dataclass(frozen=True, slots=True)
class TournamentPlan:
    """What a tournament is to be; its field comes beside it."""

    name: str
    """The name in addresses and commands."""
    variant: Variant
    time: TimeControl
    format: str
    title: str = ""
    """What people see it called; by default the name."""
    settings: Mapping[str, int] = field(default_factory=dict)
    """Those of the format that are not to be by default."""
    tie_breaks: tuple[str, ...] | None = None
    """The tie-breaks in their order; by default the format's."""
    openings: str = "random"
    """Random, empty, or the name of a book."""
    limits: CompetitionLimits = USUAL_LIMITS
    seed: int = 0
    note: str = ""
    allows_options: bool = True
    """Whether bots may be entered with options."""
    paused: bool = False
    """Whether it waits to be opened: until its first match is made its field can change."""
    visibility: Visibility | None = None
    """Who sees it; by default who sees all of its bots."""
    anonymous: bool = False
    """Whether bots play in it by masks until it is over."""
    sign_up: Mapping[str, Any] | None = None
    """The conditions by which bots sign up for it, as `arena.competitions.sign_ups.Conditions` has
    them; None if its field is named now."""
    ladder_id: int | None = None
    """The ladder on which those have to be."""
    tells: bool = True
    """Whether those are told whose bots play in it."""


def create(
    session: Session,
    plan: TournamentPlan,
    players: Sequence[NamedPlayer],
    now: datetime,
    actor: audit.Actor,
) -> Tournament:
    """Makes a tournament of some bots, the strongest by seeding first.

    It is open at once, unless it is to wait, or bots are to sign up for it.

    Raises:
        Refusal: the name is none or is taken, the title is no line, or a version can't
            play this game.
        Refusal: the format does not take these settings or this field.
    """
    demand_name(session, plan.name, "tournament")
    if len(plan.title) > LONGEST_TITLE or not plan.title.isprintable():
        raise Refusal(
            gettext(
                "the title is to be a line of %(most)s printable characters at most",
                most=LONGEST_TITLE,
            )
        )
    demand_field(session, plan.variant, players)
    size = len(players) if plan.sign_up is None else plan.sign_up["places"]
    frame = new_frame(plan.variant, size, plan.seed)
    settings = settings_for(plan.format, frame, plan.settings)
    tie_breaks = FORMATS[plan.format].tie_breaks if plan.tie_breaks is None else plan.tie_breaks
    for name in tie_breaks:
        if name not in TIE_BREAKS:
            raise Refusal(
                gettext(
                    "there is no tie-break %(name)r; %(known)s",
                    name=name,
                    known=instead(name, TIE_BREAKS),
                )
            )
        if tie_breaks.count(name) > 1:
            raise Refusal(gettext("the tie-break %(name)s is named twice", name=name))
    demand_not_too_long(plan.format, frame, settings)
    policy = policy_of(plan.openings)
    demand_fitting(session, policy["book_name"], plan.variant)
    tournament = Tournament(
        name=plan.name,
        title=plan.title or plan.name,
        note=plan.note,
        creator_id=actor.id,
        variant=plan.variant,
        **policy,
        time=plan.time,
        limits=plan.limits,
        state=CompetitionState.PAUSED
        if plan.paused or plan.sign_up is not None
        else CompetitionState.OPEN,
        seed=plan.seed,
        weight=WEIGHT,
        head_start=fair_start(session, WEIGHT),
        created=now,
        allows_options=plan.allows_options,
        anonymous=plan.anonymous,
        format=plan.format,
        settings={**settings, "tie_breaks": list(tie_breaks)},
        sign_up=plan.sign_up,
        signing_up=plan.sign_up is not None,
        ladder_id=plan.ladder_id,
    )
    demand_allowed(tournament, players)
    if plan.anonymous and any(one.version.masks_id is None for one in players):
        players = in_lots(players)  # ranks elsewhere would tell who is who
    add_named(session, tournament)
    if plan.visibility is None:
        ladder = plan.ladder_id and session.get(Ladder, plan.ladder_id)
        versions = [player.version for player in players]
        put_within(session, tournament, versions, now, ladder or None)
    else:
        tournament.visibility = plan.visibility
    members.begin(session, tournament, now)
    enter_field(session, tournament, players, now)
    bots = f"{size} bots" if plan.sign_up is None else f"{size} places to sign up for"
    detail = f"{plan.format}, {plan.variant}, {bots}, seed {plan.seed}"
    audit.note(session, actor, "create tournament", f"tournament {plan.name}", detail, now=now)
    if plan.tells:
        tell_entered(session, tournament, players, actor, now)
    return tournament


def call_off(
    session: Session, tournament: Tournament, note: str, now: datetime, actor: audit.Actor
) -> int:
    """Calls a tournament off: its results stay to be read, and nobody wins it.

    What waits, is being played or was set aside is void; what a worker still says of it is stale.

    Args:
        note: why, for everybody.

    Returns:
        How many matches that were.

    Raises:
        Refusal: it is over, or a word on why is missing.
    """
    why = texts.typed(note)
    if not why:
        raise Refusal(gettext("say why the tournament is called off"))
    # What the recorder makes before the tournament is locked is called off by its next tick (see
    # arena.schedule.leases).
    unplayed = sa.select(Match).where(
        Match.competition_id == tournament.id,
        Match.status.in_([JobStatus.OPEN, JobStatus.ISSUED, JobStatus.SET_ASIDE]),
    )
    matches = session.scalars(locking(unplayed, Match)).all()
    lock(session, tournament)
    demand_not_over(tournament)
    tournament.state, tournament.finished, tournament.reason = CompetitionState.CLOSED, now, why
    for match in matches:
        make_void(session, match, f"the tournament was {CALLED_OFF}: {why}")
    audit.note(session, actor, "call off tournament", f"tournament {tournament.name}", why, now=now)
    return len(matches)


class Tournaments(CompetitionKind[Tournament]):
    """A field that meets by a format until there is a winner."""

    model, word = Tournament, N_("tournament")
    topic = Topic.TOURNAMENT
    dates = (DateKind.OPENS, DateKind.ENTRIES_CLOSE, DateKind.CLOSES)
    paused = N_("The tournament is paused: no matches are made for now.")

    def next_pairing(self, competition: Tournament, moment: Moment) -> Pairing | None:
        progress = progress_of(moment.session, competition)
        made = {one.result.fixture for one in progress.made}
        for fixture in progress.due:
            ids = tuple(progress.ids[number] for number in fixture.entrants)
            waits = fixture in made or progress.suspended.intersection(fixture.entrants)
            if not waits and moment.can_meet(competition, ids):
                return Pairing(
                    ids,
                    fixture.round,
                    fixture.leg,
                    key=("round", fixture.round, *fixture.entrants, "leg", fixture.leg),
                )
        return None

    def why_idle(
        self, session: Session, competition: Tournament, now: datetime, trickle_seconds: float
    ) -> str | None:
        if competition.signing_up:
            return translated(SIGNING_UP_WORDS)
        if competition.state is not CompetitionState.OPEN:
            return super().why_idle(session, competition, now, trickle_seconds)
        found = results(session, competition)
        if not found.is_held_up:
            return None
        names = ", ".join(one.label for one in found.suspended)
        if names:
            return gettext(
                "Nothing else can be played before %(names)s can play again, or is withdrawn.",
                names=names,
            )
        return gettext("Nothing else can be played before those matches that were set aside.")

    def end_or_reopen(self, session: Session, competition: Tournament, now: datetime) -> None:
        end_or_reopen(session, competition, now)

    def close(self, session: Session, competition: Tournament, now: datetime) -> None:
        call_off(session, competition, TIME_IS_OVER, now, ARENA)

    def final_places(self, session: Session, competition: Tournament) -> Mapping[int, Placed]:
        found = results(session, competition)
        return {
            found.entrants[line.number].id: Placed(line.place, points=line.points)
            for line in found.standings
        }

    def keep_winner(self, session: Session, competition: Tournament) -> None:
        if competition.winner is None and competition.finished and not competition.is_called_off:
            competition.winner = winner_of(session, competition)

    def withdraw(
        self, session: Session, competition: Tournament, entrant: Entrant, why: str, now: datetime
    ) -> None:
        tournament_fields.withdraw(session, competition, entrant, why, now, ARENA)

    def stands(self, session: Session, competition: Tournament) -> Mapping[str, str]:
        found = results(session, competition)
        return {
            found.label(line.number): f"{line.place or '-'}, {line.points:g} of {line.games}"
            for line in found.standings
        }

    def play_no_more(self) -> sa.Select[int]:
        return sa.select(Tournament.id).where(Tournament.reason.is_not(None))

    def conclusion(self, session: Session, competition: Tournament) -> Conclusion:
        places = {"title": competition.title}
        if competition.is_called_off:
            message = N_("The tournament %(title)s was called off")
        elif competition.winner:
            message = N_("The tournament %(title)s is over: %(winner)s won it")
            places["winner"] = competition.winner
        else:
            message = N_("The tournament %(title)s is over")
        return Conclusion(message, places, competition.reason or "")
