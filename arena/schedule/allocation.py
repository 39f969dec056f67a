"""Which job is issued next: how the free turns of workers are shared out.

Nothing here sends anything: functions return the jobs that were issued (`arena.schedule.leases`),
and the caller sends them once its transaction is committed (`arena.recorder.dispatch`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import cached_property
from itertools import islice
from math import ceil, inf

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.competitions.kind import HasRoom
from arena.competitions.platforms import platforms_in_use, platforms_of_entrants
from arena.competitions.rosters import Rosters
from arena.ground.config import Settings
from arena.models import (
    Check,
    Competition,
    CompetitionState,
    JobStatus,
    Match,
    Question,
    Sitting,
)
from arena.present import maintenance
from arena.schedule import workers
from arena.schedule.jobs import Leased, is_made, jobs_of, read_places
from arena.schedule.leases import call_off, forfeit, issue
from arena.schedule.load import (
    ASKED,
    Load,
    Reach,
    open_at_home,
    open_checks,
    open_matches,
    open_moves,
    open_questions,
    open_requests,
)
from arena.schedule.matchmaking import NewMatches, new_matches
from arena.schedule.needs import Needs, in_use, needs_of, needs_told
from arena.schedule.presence import Room, versions_at_home
from arena.schedule.shards import ALL, Bid, Elsewhere, Shards
from engine import jobs
from engine.faulty_rules import take_off_if_raised
from engine.games import GAMES
from engine.record import GameRecord, other_rules

MOST_AT_ONCE = 100
"""Matches that are made in one transaction, and of those with bots at home so many more, so that
none is long: whoever sends what it issues goes on at once where it may have been too few."""
AHEAD = 2
"""Turns of workers for each slot of a living one: one under way, one waiting."""
LEAD = 0.25
"""How far a competition may be ahead of those of other recorders: so much of what each has."""


def schedule(
    session: Session,
    settings: Settings,
    now: datetime,
    rosters: Rosters | None = None,
    shards: Shards = ALL,
) -> list[jobs.Batch]:
    """Issues open jobs, and new matches while slots are free.

    What is under way on a ladder that no longer plays is called off, as with a tournament that was,
    and nobody waits for what can't be played of those who were withdrawn.

    Returns:
        The jobs issued; to be sent once the transaction is committed.
    """
    call_off(session, shards)
    forfeit(session, now, shards)
    return fill(session, settings, now, rosters, shards)


def fill(
    session: Session,
    settings: Settings,
    now: datetime,
    rosters: Rosters | None = None,
    shards: Shards = ALL,
) -> list[jobs.Batch]:
    """Issues jobs until every living worker has enough; what can't be made here waits.

    A job is a worker's turn, and matches that are short share one: they are issued together.

    Bots' moves against people come first, in half of the slots at most, and are short; then what
    bots are asked, in a quarter of the slots at most. A competition with a reserve of the workers
    then goes before all else until it has its share. While
    somebody plays one slot is kept free for them, where there are two, and no match waits.
    Checks get half of the room at most while there are matches to play, so that a heap of
    uploads does not stop the ladders, and the other way round. So do matches on request.

    During maintenance nothing is.

    Beside all that, bots at home are given as much as they take: it needs no slot.

    While nobody waits for any of these, matches are made several at a time, as soon as there
    is less than one waiting for every other slot: much of what that takes is done only once.

    Where several recorders do so each issues what is of its shards, and leaves to the others what
    they have more right to.

    Args:
        rosters: those of ladders that are kept; by default none is.
        shards: those that this recorder has; by default all.

    Returns:
        The jobs issued; to be sent once the transaction is committed.
    """
    if maintenance(session) is not None:
        return []  # workers drain: what they have is played to its end
    issuing = _Issuing(session, settings, now, rosters, shards)
    try:
        issuing.take_home()
        is_full_enough = issuing.is_full_enough
        if not is_full_enough:
            issuing.take_moves()
            issuing.take_questions()
            issuing.take_reserved()
            issuing.take_checks(max(1, issuing.enough // 2))
            issuing.take_matches()
            issuing.take_requests(max(1, (issuing.enough - issuing.load.checks) // 2))
            issuing.take_new_matches()
            issuing.take_requests()
            issuing.take_checks()
        issuing.bid(anew=not is_full_enough)
    except Exception as error:
        # Nothing of this transaction stays; the next one goes on with the other games.
        take_off_if_raised(GAMES, error)
        raise
    return _batches(jobs_of(session, issuing.issued, settings, now), issuing.turns)


class _Issuing:
    """Jobs as they are issued in one transaction, and how much is under way by then."""

    def __init__(
        self,
        session: Session,
        settings: Settings,
        now: datetime,
        rosters: Rosters | None,
        shards: Shards,
    ) -> None:
        self._session, self._settings, self._now = session, settings, now
        self._rosters, self._shards = rosters, shards
        self._bids = shards.others(session, now)
        self._new: NewMatches | None = None
        self._reserved: NewMatches | None = None
        self._looks_ahead = False
        """Whether it is asked what could be played if the workers had less."""
        self._hands = workers.Hands.of(session, settings.minimum_isolation, now)
        self.slots = self._hands.slots
        self.load = Load.read(session, now)
        somebody_plays = self.slots and self.load.somebody_plays
        self.enough = max(1, self.slots - 1) if somebody_plays else AHEAD * self.slots
        """Turns that are under way when all have enough, people's moves not counted."""
        self.issued: list[Leased] = []
        self.turns: list[float] = []
        """What part of a turn each of those takes."""

    @property
    def is_full_enough(self) -> bool:
        """Whether nobody waits, and there is still a turn waiting for every other slot."""
        load = self.load
        asked = load.open_questions
        nobody_waits = not (load.open_moves or load.open_checks or load.open_requests or asked)
        nobody_waits = nobody_waits or not self._shards.is_first and not load.open_requests
        return nobody_waits and self._taken > self.slots + (self.enough - self.slots - 1) // 2

    @property
    def _taken(self) -> float:
        return self.load.matches + self.load.checks + self.load.questions

    @property
    def _room(self) -> float:
        """How many more turns there are for matches and checks."""
        return self.enough - self._taken

    @cached_property
    def _used(self) -> set[Needs]:
        return in_use(self._session)

    @cached_property
    def _met(self) -> set[Needs] | None:
        """The needs in use that somebody meets; None if that is all of them."""
        return _narrowed(self._used, lambda needs: needs.words in self._hands.by_needs)

    @cached_property
    def _free(self) -> set[Needs] | None:
        """Those of which more matches could be played now."""
        return _narrowed(self._used, lambda needs: self._has_room(needs.words))

    @cached_property
    def _platforms(self) -> set[str] | None:
        """The platforms of runtimes for which there is a worker; None if that is all in use."""
        kept = self._hands.platforms
        return None if platforms_in_use(self._session) <= kept else kept

    @cached_property
    def _free_platforms(self) -> set[str] | None:
        """Those for which the workers have not enough yet."""
        if not self.load.by_platforms:
            return self._platforms
        kept = self._hands.platforms if self._platforms is None else self._platforms
        taken: Counter[str] = Counter()
        for (_, platforms), turns in self.load.by_platforms.items():
            for one in platforms:
                taken[one] += ceil(turns)
        return {one for one in kept if taken[one] < AHEAD * self._hands.slots_keeping(one)}

    def has_room(self, competition: Competition, platforms: frozenset[str] = frozenset()) -> bool:
        """Whether the workers that can play for a competition have not enough yet.

        Args:
            platforms: what the runtimes are made for that they have to keep besides.
        """
        if not self._has_room(words := needs_of(competition).words):
            return False
        if not platforms:
            return True
        their = 0.0 if self._looks_ahead else self.load.by_platforms[words, platforms]
        return their < AHEAD * self._hands.slots_for(words, platforms)

    def _has_room(self, words: str) -> bool:
        """Whether the workers for all competitions that need so much have not enough yet."""
        their = 0.0 if self._looks_ahead else self.load.by_needs[words]
        return their < AHEAD * self._hands.by_needs.get(words, 0)

    def take_moves(self) -> None:
        load = self.load
        if not (self._shards.is_first and load.open_moves):
            return
        most = min(load.open_moves, max(1, self.slots // 2) - load.moves, self.slots)
        waiting = open_moves(self._session, most, Reach(self._met, self._platforms))
        self._take([sitting for sitting in waiting if not self._ended_by_rules(sitting)])

    def take_questions(self) -> None:
        """Issues questions to bots, in a quarter of the slots at most: they can wait."""
        load = self.load
        if not (self._shards.is_first and load.open_questions):
            return
        most = min(load.open_questions, max(1, self.slots // 4) - load.questions, self.slots)
        waiting = open_questions(self._session, most, Reach(self._met, self._platforms))
        self._take([one for one in waiting if not self._is_of_other_rules(one)])

    def _is_of_other_rules(self, question: Question) -> bool:
        """Calls a question off if it was asked by other rules than there are now."""
        if problem := other_rules(GameRecord.from_json(question.game)):
            question.end_lease(JobStatus.VOID, problem)
        return bool(problem)

    def _ended_by_rules(self, sitting: Sitting) -> bool:
        """Ends a game against a person if it was begun by other rules than there are now."""
        if not (problem := other_rules(GameRecord.from_json(sitting.game))):
            return False
        sitting.break_off(problem, self._now)
        return True

    def take_checks(self, most: float = inf) -> None:
        """Issues checks.

        Args:
            most: how many may be under way.
        """
        self._take(self._open_checks(ceil(min(most - self.load.checks, self._room))))

    def _open_checks(self, most: int) -> Sequence[Check]:
        if not (self._shards.is_first and self.load.open_checks):
            return []
        budget = self._settings.build_seconds_an_hour
        reach = Reach(self._met, self._platforms)
        room = min(self.load.open_checks, most)
        return open_checks(self._session, room, reach, budget, self._now)

    @cached_property
    def _made_for(self) -> dict[int, str]:
        return platforms_of_entrants(self._session)

    def _platforms_for(self, job: Leased) -> frozenset[str]:
        """What the runtimes are made for of those who meet in a match."""
        places = job.places if isinstance(job, Match) and self._made_for else ()
        its = (self._made_for.get(place.entrant_id) for place in places)
        return frozenset(one for one in its if one is not None)

    @cached_property
    def _playable(self) -> Reach:
        """The matches for which there is room."""
        return Reach(self._free, self._free_platforms)

    def take_matches(self) -> None:
        """Issues matches that were rolled back."""
        if not (room := ceil(min(self.load.open_matches, self._room))):
            return
        waiting = open_matches(self._session, room, ~ASKED & self._ours, self._playable)
        self._take(waiting, count=room)

    @property
    def _ours(self) -> sa.ColumnElement[bool]:
        """The condition that a match is of the shards that this recorder has."""
        return self._shards.having(Match.competition_id)

    def take_requests(self, most: float = inf) -> None:
        """Issues matches on request.

        Args:
            most: how many turns of them may be under way.
        """
        if not self.load.open_requests:
            return
        room = ceil(min(self.load.open_requests, most - self.load.requests, self._room))
        waiting = open_requests(self._session, room, self._ours, self._playable, self._now)
        self._take(waiting, count=room)

    def take_new_matches(self) -> None:
        if (room := self._room - sum(one.turns for one in self._bids.values())) > 0:
            self._new = self._take_new(self.has_room, room)
        left = {shard for shard, one in self._bids.items() if one.turns and self._room > 0}
        if self._new is not None and self._new.left_to is not None:
            left.add(self._new.left_to)
        self._shards.to_wake |= left

    def take_reserved(self) -> None:
        """Makes matches of competitions with a reserve of the workers, until each has its share."""
        some = sa.exists().where(
            Competition.state == CompetitionState.OPEN,
            Competition.reserve.is_not(None),
            self._shards.having(Competition.id),
        )
        if self._room > 0 and self._session.scalar(sa.select(some)):
            self._reserved = self._take_new(self._has_reserve, self._room, reserved=True)

    def _has_reserve(
        self, competition: Competition, platforms: frozenset[str] = frozenset()
    ) -> bool:
        share = (competition.reserve or 0.0) * self.enough
        is_left = self.load.by_competition[competition.id] < share
        return is_left and self.has_room(competition, platforms)

    def _take_new(self, has_room: HasRoom, room: float, *, reserved: bool = False) -> NewMatches:
        new = self._read_new(has_room, reserved=reserved)
        self._take(new, room, count=MOST_AT_ONCE)
        return new

    def _read_new(self, has_room: HasRoom, *, reserved: bool = False) -> NewMatches:
        # Others are told of those, too, for which there is no room yet.
        self._looks_ahead = not self._shards.is_all
        new = new_matches(
            self._session,
            self._now,
            has_room,
            only=self._settings.only,
            trickle_seconds=self._settings.trickle_seconds,
            made_for=self._made_for,
            reserved=reserved,
            rosters=self._rosters,
            shards=self._shards,
            elsewhere=tuple if reserved else self._elsewhere,
        )
        self._looks_ahead = False
        return new

    def _elsewhere(self) -> Iterator[Elsewhere]:
        """What others bid for of which there is room, as if they had their lead by then."""
        for shard, bid in self._bids.items():
            for kind, right in bid.firsts.items():
                if self._has_room(right.needs):
                    yield Elsewhere(shard, kind, right.after(self._lead))

    @cached_property
    def _lead(self) -> float:
        """How many matches a competition may be ahead of those of other recorders: a part of what
        each has under way where all have as much."""
        count = sum(1 for turns in self.load.by_competition.values() if turns)
        return max(1.0, LEAD * self.enough / max(1, count))

    def bid(self, *, anew: bool) -> None:
        """Says to the recorders of other shards what this one would do if there were room.

        Args:
            anew: whether something was issued; else it is said now and then.
        """
        if self._shards.is_all or not (anew or self._shards.is_due(self._now)):
            return
        new = self._new or self._read_new(self.has_room)
        self._looks_ahead = True
        turns = self._turns_that_wait() if self._room <= 0 else 0
        self._shards.say(self._session, Bid(turns, new.rights), self._now)

    def _turns_that_wait(self) -> int:
        """How many turns there are of what goes before new matches, and could be given out."""
        reach, most = Reach(self._met, self._platforms), ceil(self.enough)
        checks = self._open_checks(max(1, most // 2) - self.load.checks)
        matches = open_matches(self._session, most, ~ASKED & self._ours, reach)
        left = ceil(max(1, (self.enough - self.load.checks) // 2) - self.load.requests)
        requests = open_requests(self._session, left, self._ours, reach, self._now)
        waiting: list[Leased] = [*checks, *islice(matches, most)]
        waiting += islice(requests, max(0, left))
        is_reserved = self._reserved is not None and bool(self._reserved.rights)
        return sum(map(is_made, waiting)) + is_reserved

    def take_home(self) -> None:
        """Issues what the bots at home that are connected can play now."""
        room = Room.read(
            self._session,
            self._settings.minimum_isolation,
            self._now,
            locks=not self._shards.is_all,
        )
        if room is None:
            return
        for job in open_at_home(self._session, room.free.keys(), self._ours):
            if isinstance(job, Match) or self._shards.is_first:
                self._take_at_home(job, room)
        new = new_matches(
            self._session,
            self._now,
            room.has_room,
            only=self._settings.only,
            trickle_seconds=self._settings.trickle_seconds,
            free_at_home=room.free,
            made_for=self._made_for,
            rosters=self._rosters,
            shards=self._shards,
        )
        for match in islice(new, MOST_AT_ONCE):
            self._take_at_home(match, room)

    def _take_at_home(self, job: Match | Check, room: Room) -> None:
        """Issues a job of bots at home, if all of them are there; it has a message of its own."""
        competition = job.competition if isinstance(job, Match) else job.ladder
        if not is_made(job):
            return
        if isinstance(job, Match):
            self._session.flush()
            read_places(self._session, [job])
        has_room = room.has_room(competition, self._platforms_for(job))
        if has_room and room.take(versions_at_home(job)):
            issue(job, self._settings, self._now)
            self.issued.append(job)
            self.turns.append(1.0)

    def _take(self, waiting: Iterable[Leased], room: float = inf, *, count: float = inf) -> None:
        """Issues what waits until so many turns are taken, or so many jobs."""
        each = iter(waiting)
        while room > 0 and count > 0 and (job := next(each, None)) is not None:
            platforms = self._platforms_for(job)
            if isinstance(job, Match) and not self.has_room(job.competition, platforms):
                continue
            if not is_made(job):
                continue
            issue(job, self._settings, self._now)
            turn = self.load.add(job, platforms)
            self.issued.append(job)
            self.turns.append(turn)
            room -= turn
            count -= 1


def _narrowed(needs: set[Needs], which: Callable[[Needs], bool]) -> set[Needs] | None:
    """Those of some needs for which something holds; None if it holds for all."""
    found = {one for one in needs if which(one)}
    return None if found == needs else found


def _batches(issued: Sequence[jobs.AnyJob], turns: Sequence[float]) -> list[jobs.Batch]:
    """Jobs that follow each other and take a turn together, for workers of one kind that report
    them to one recorder."""
    found: list[list[jobs.AnyJob]] = []
    taken, last = inf, ("", frozenset[str](), 0)
    for job, turn in zip(issued, turns, strict=True):
        whose = needs_told(job).words, jobs.platforms_of(job), job.lease.shard
        if taken + turn > 1 or whose != last:
            found.append([])
            taken, last = 0.0, whose
        found[-1].append(job)
        taken += turn
    return list(found)
