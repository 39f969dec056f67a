"""Whose turn it is: the next match of all competitions.

The workers' time is shared: next is the one for which they have played the least, by its weight,
with what is under way counted in. Among the competitions of a kind the more urgent ones go first,
as ladders do that have bots in placement; whichever is first then shares with those of the other
kinds. What is to be played is for a competition's kind to say (`arena.competitions.kind`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

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
from arena.schedule.needs import needs_of
from arena.schedule.shards import Elsewhere, Right, Shards
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
    shards: Shards | None = None,
    elsewhere: Callable[[], Iterable[Elsewhere]] = tuple,
) -> NewMatches:
    """New matches of the competitions whose turn it is.

    Args:
        has_room: as `Moment` has it.
        only: the name of the one competition whose turn it may be.
        reserved: whether it may be the turn of those alone that have a reserve of the workers.
        trickle_seconds: how long a converged ladder rests after each match.
        free_at_home: as `Moment` has it, of which the caller keeps count.
        made_for, rosters: as `Moment` has them; by default no roster is kept.
        shards: whose competitions; by default all.
        elsewhere: what there is to be made at this moment by the recorders of other shards, to
            which a turn may have to be left.
    """
    # Of a thousand ladders that rest not one is read.
    rest = (kind.at_rest(now, trickle_seconds) for kind in KINDS.values())
    query = sa.select(Competition).where(
        Competition.state == CompetitionState.OPEN,
        ~sa.or_(sa.false(), *rest),
        (shards or Shards()).having(Competition.id),
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
    return NewMatches(moment, due, competitions, elsewhere)


class NewMatches(Iterator[Match]):
    """New matches, one after the other while any can be made.

    What is there is read once, and kept up with what is made; all of it in one transaction, to
    which alone it is left meanwhile to make matches of open competitions.
    """

    def __init__(
        self,
        moment: Moment,
        due: dict[int, list[DueMatch]],
        competitions: Sequence[Competition],
        elsewhere: Callable[[], Iterable[Elsewhere]],
    ) -> None:
        self._moment, self._due, self._elsewhere = moment, due, elsewhere
        self._turns = _Turns(competitions, moment)
        self.left_to: int | None = None
        """The shard whose turn it was when no more were made."""

    def __next__(self) -> Match:
        if self.left_to is not None:
            raise StopIteration
        turns = self._turns.firsts()
        rights = {kind: turn.right for kind, turn in turns.items()}
        whose: dict[str, int | None] = dict.fromkeys(rights)
        if not rights:
            raise StopIteration
        for shard, kind, right in self._elsewhere():
            if kind not in rights or right.place < rights[kind].place:
                rights[kind], whose[kind] = right, shard
        kind = min(rights, key=lambda one: rights[one].share)
        self.left_to = whose[kind]
        if self.left_to is not None:
            raise StopIteration
        return self._make(turns[kind])

    @property
    def rights(self) -> dict[str, Right]:
        """The right of each kind's competition whose turn is next, if it can have a match."""
        return {kind: turn.right for kind, turn in self._turns.firsts().items()}

    def _make(self, turn: _Turn) -> Match:
        session, now, competition = self._moment.session, self._moment.now, turn.competition
        with at(competition.game, f"making a match of {competition.name}"):
            match = make(session, competition, turn.pairing, now)
        competition.last_match = now
        made = DueMatch(turn.pairing.entrants, match.rated)
        self._due.setdefault(competition.id, []).append(made)
        turn.maker.made(competition, made)
        return match


class _Turn(NamedTuple):
    """A competition whose turn it is, and who meets there."""

    right: Right
    competition: Competition
    pairing: Pairing
    maker: Matchmaker[Any]


class _Turns:
    """Whose turn it is, by what was there at the beginning and was made since."""

    def __init__(self, competitions: Sequence[Competition], moment: Moment) -> None:
        self._moment = moment
        self._groups: list[tuple[str, Matchmaker[Any], list[Competition]]] = []
        for kind in KINDS.values():
            its = [one for one in competitions if kind_of(one) is kind]
            if its:
                self._groups.append((kind.name, kind.matchmaker(its, moment), its))

    def firsts(self) -> dict[str, _Turn]:
        """The competition of each kind whose turn it is, where somebody can meet."""
        firsts = {}
        for kind, maker, competitions in self._groups:
            order = [(self._right(maker, one), one) for one in competitions]
            for right, competition in sorted(order, key=lambda one: one[0].place):
                if not self._moment.has_room(competition, NO_PLATFORMS):
                    continue
                with at(competition.game, f"pairing in {competition.name}"):
                    pairing = maker.next_pairing(competition)
                if pairing and self._moment.can_meet(competition, pairing.entrants):
                    firsts[kind] = _Turn(right, competition, pairing, maker)
                    break
        return firsts

    def _right(self, maker: Matchmaker[Any], competition: Competition) -> Right:
        """How urgent it is, the workers' time for it by its weight, and since when it has waited.

        What is under way counts by the mean so far.
        """
        matches = under_way(self._moment.due_of(competition))
        to_come = matches * competition.match_seconds(matches)
        seconds = competition.head_start + competition.worker_seconds + to_come
        last = competition.last_match
        return Right(
            maker.urgency(competition),
            seconds / competition.weight,
            last.timestamp() if last else 0.0,
            needs_of(competition).words,
            competition.match_seconds(matches) / competition.weight,
        )


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
