"""Whose turn it is: the next match of all competitions.

The workers' time is shared: next is the one for which they have played the least, by its weight,
with what is under way counted in. Among the competitions of a kind the more urgent ones go first,
as ladders do that have bots in placement; whichever is first then shares with those of the other
kinds. What is to be played is for a competition's kind to say (`arena.competitions.kind`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.competitions.kind import HasRoom, Matchmaker, Moment
from arena.competitions.kinds import KINDS, kind_of
from arena.competitions.pairings import DueMatch, Pairing, due_matches, under_way
from arena.competitions.players import told
from arena.competitions.rosters import Rosters
from arena.ground.locks import locking
from arena.models import (
    Competition,
    CompetitionState,
    Entrant,
    JobStatus,
    Match,
    OpeningPolicy,
    Place,
    User,
)
from engine.games import GAMES
from engine.openings import Opening, opening
from engine.rules_trail import at
from engine.seeds import derive
from engine.shelf import Missing

NO_PLATFORMS = frozenset[str]()
NOBODY: Mapping[int, str] = {}


def new_matches(
    session: Session,
    now: datetime,
    has_room: HasRoom = lambda *_: True,
    *,
    only: str = "",
    reserved: bool = False,
    trickle_seconds: float = 0.0,
    free_at_home: Mapping[int, int] | None = None,
    made_for: Mapping[int, str] = NOBODY,
    rosters: Rosters | None = None,
) -> Iterator[Match]:
    """New matches of the competitions whose turn it is, one after the other while any can be made.

    What is there is read once, and kept up with what is made; all of it in one transaction, to
    which alone it is left meanwhile to make matches of open competitions.

    Args:
        has_room: as `Moment` has it.
        only: the name of the one competition whose turn it may be.
        reserved: whether it may be the turn of those alone that have a reserve of the workers.
        trickle_seconds: how long a settled ladder rests after each match.
        free_at_home: as `Moment` has it, of which the caller keeps count.
        made_for, rosters: as `Moment` has them; by default no roster is kept.
    """
    # Of a thousand ladders that rest not one is read.
    rest = (kind.at_rest(now, trickle_seconds) for kind in KINDS.values())
    query = sa.select(Competition).where(
        Competition.state == CompetitionState.OPEN, ~sa.or_(sa.false(), *rest)
    )
    if only:
        query = query.where(Competition.named(only))
    if reserved:
        query = query.where(Competition.reserve.is_not(None))
    # Requests are made beside the recorder, and each match has a number of its own. Who has one
    # locked may wait for another in which something was just recorded: its turn is the next time.
    found = session.scalars(locking(query, Competition, anew=True, free=True)).all()
    competitions = [
        one
        for one in found
        if has_room(one, NO_PLATFORMS)
        and (free_at_home is None or kind_of(one).takes_home)
        and not isinstance(one.variant, Missing)
    ]
    due = due_matches(session)
    kept = rosters or Rosters()
    moment = Moment(session, now, due, trickle_seconds, has_room, made_for, free_at_home, kept)
    turns = _Turns(competitions, moment)
    while next_one := turns.next():
        competition, pairing, maker = next_one
        with at(competition.game, f"making a match of {competition.name}"):
            match = make(session, competition, pairing, now)
        competition.last_match = now
        made = DueMatch(pairing.entrants, match.rated)
        due.setdefault(competition.id, []).append(made)
        maker.made(competition, made)
        yield match


class _Turns:
    """Whose turn it is, by what was there at the beginning and was made since."""

    def __init__(self, competitions: Sequence[Competition], moment: Moment) -> None:
        self._moment = moment
        self._groups: list[tuple[Matchmaker[Any], list[Competition]]] = []
        for kind in KINDS.values():
            its = [one for one in competitions if kind_of(one) is kind]
            if its:
                self._groups.append((kind.matchmaker(its, moment), its))

    def next(self) -> tuple[Competition, Pairing, Matchmaker[Any]] | None:
        """The competition whose turn it is, and who meets there; None if nobody can."""
        firsts: list[tuple[Competition, Pairing, Matchmaker[Any]]] = []
        for maker, competitions in self._groups:
            order = sorted(competitions, key=lambda one: (maker.urgency(one), self._share(one)))
            for competition in order:
                if not self._moment.has_room(competition, NO_PLATFORMS):
                    continue
                with at(competition.game, f"pairing in {competition.name}"):
                    pairing = maker.next_pairing(competition)
                if pairing and self._moment.can_meet(competition, pairing.entrants):
                    firsts.append((competition, pairing, maker))
                    break
        return min(firsts, key=lambda first: self._share(first[0]), default=None)

    def _share(self, competition: Competition) -> tuple[float, float]:
        """The workers' time for a competition by its weight, and since when it has waited.

        What is under way counts by the mean so far.
        """
        matches = under_way(self._moment.due_of(competition))
        to_come = matches * competition.match_seconds(matches)
        seconds = competition.head_start + competition.worker_seconds + to_come
        last = competition.last_match
        return seconds / competition.weight, last.timestamp() if last else 0.0


def make(
    session: Session,
    competition: Competition,
    pairing: Pairing,
    now: datetime,
    *,
    requester: User | None = None,
) -> Match:
    """A match of this pairing, by the rules of its competition, which is locked.

    Args:
        requester: who asked for it; such a match counts for nothing.
    """
    key = pairing.key or (competition.matches_made,)
    seed = derive(competition.seed, "match", *key)
    start = pairing.opening or _opening(session, competition, pairing, key, seed)
    match = Match(
        competition=competition,
        status=JobStatus.OPEN,
        attempt=0,
        round=pairing.round,
        leg=pairing.leg,
        rated=kind_of(competition).rated and requester is None,
        at_home=pairing.at_home,
        requester_id=requester and requester.id,
        options=dict(start.variant.options),
        opening=list(start.moves),
        seed=seed,
        chosen=_chosen(session, competition, pairing),
        created=now,
        places=[Place(number=n, entrant_id=entrant) for n, entrant in enumerate(pairing.entrants)],
    )
    competition.matches_made += 1
    session.add(match)
    return match


def _chosen(
    session: Session, competition: Competition, pairing: Pairing
) -> list[dict[str, str]] | None:
    """The options that each of a pairing is told; None if nobody is told any."""
    chosen: list[dict[str, str]] = list(map(dict, pairing.chosen))
    # On a ladder all play as they are, and most matches are made there.
    if not chosen and not kind_of(competition).rated:
        its = sa.select(Entrant.id, Entrant.options).where(
            Entrant.id.in_(pairing.entrants), Entrant.options != ""
        )
        options = {row.id: told(row.options) for row in session.execute(its)}
        chosen = [dict(options.get(entrant, {})) for entrant in pairing.entrants]
    return chosen if any(chosen) else None


def _opening(
    session: Session,
    competition: Competition,
    pairing: Pairing,
    key: tuple[str | int, ...],
    seed: int,
) -> Opening:
    """The opening of a match of which its kind chooses none.

    Args:
        seed: the match's own.
    """
    draw = derive(competition.seed, "opening", *key)
    if competition.openings is OpeningPolicy.RANDOM:
        return opening(competition.variant, draw)
    if competition.book is None:
        return Opening(competition.variant.drawn(draw), ())
    number = competition.matches_made
    if pairing.key:
        # A fixture that is due again is played by the opening that it had, and takes no other's.
        its = sa.select(Match).where(Match.competition_id == competition.id)
        if before := session.scalars(its.where(Match.seed == seed).limit(1)).first():
            return Opening(GAMES.find(competition.game, before.options), tuple(before.opening))
        fixtures = its.with_only_columns(sa.func.count(Match.seed.distinct()))
        number = session.scalars(fixtures).one()
    return competition.book.opening(competition.seed, number)
