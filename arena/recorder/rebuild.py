"""Makes ratings and counters anew from the results, and says whether they came out the same.

What is kept beside the results of a competition is a fold over them in the order of completion.
Who voids a match or changes a ladder's draw probability only marks the competition: the recorder
makes it anew, between other things, a part at a time, so that nobody who writes waits for long.
A transaction that changes what a rebuild reads, or writes what it writes, holds the competition's
row; so the last part is of a whole history, with what came in since the first one.

What is made anew is made from the first match on. What the recorder checks it checks from the last
checkpoint on (`arena.recorder.checkpoints`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload

from arena.competitions.kinds import kind_of, names_of
from arena.ground.db import FAILED, Database, is_lately
from arena.ground.locks import lock
from arena.models import (
    BotVersion,
    Competition,
    Entrant,
    GameSeat,
    Meeting,
)
from arena.recorder import checkpoints
from arena.recorder.checkpoints import NONE
from arena.recorder.fold import AT_A_TIME, RATING_COLUMNS, Fold
from arena.recorder.storage import EntrantTally, MeetingTally

log = logging.getLogger("arena.recorder.rebuild")

PART = 1000
"""Matches that are folded at a time while others write."""
ENTRANTS, MEETINGS = 1000, 20_000
"""How many of them are compared at a time while others write."""
KEEP = 1_000_000
"""Games after which a long check stores how far it came."""
FRESH_STARTS = 20
"""How often a rebuild is begun anew because of what others write; then they wait for all of it."""

Advance = Callable[[int], None]
"""Is told now and then how many more games were folded."""
Parts = Generator[None, None, "Rebuilt | None"]
"""Work that is done part by part, and what was found at the end."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What a rebuild of one competition found."""

    competition: str
    games: int
    entrants: int
    differences: tuple[str, ...]
    """One line for each rating and counter that did not come out as it was stored."""

    @property
    def equal(self) -> bool:
        """Whether everything came out as it was stored, ratings to the last bit."""
        return not self.differences


def rebuild(
    session: Session,
    competition: Competition,
    *,
    write: bool,
    advance: Advance = lambda _: None,
) -> Rebuilt:
    """Folds the results of a ladder or a tournament anew, in the order of completion.

    Args:
        write: stores what came out; otherwise nothing is changed.
        advance: is told now and then how many more games were folded.
    """
    if write:
        lock(session, competition)
    return _at_once(_finish(session, competition, Fold.of(competition), advance, write=write))


@contextmanager
def _reading(database: Database, *, beside: bool) -> Iterator[Session]:
    """A transaction that only reads; beside all others by a connection that ends with it."""
    if beside:
        with closing(Database(database.url)) as another, another.read() as session:
            yield session
    else:
        with database.read() as session:
            yield session


def rebuild_in_parts(
    database: Database,
    number: int,
    *,
    write: bool,
    advance: Advance = lambda _: None,
    matches: int = PART,
    from_checkpoint: bool = False,
) -> Parts:
    """Does the same so that others write meanwhile: it yields between its transactions.

    What is only read has a connection of its own, on which a moment stays open over several parts:
    the recorder writes by the one that holds its claims, and a second such one would wait for the
    first (`arena.recorder.claim`).

    Games whose ratings came out differently are stored part by part, all else with the last one.
    Where matches are made void all the time it would never come to an end, so at last it is done
    at once.

    Args:
        number: the competition's.
        matches: how many a part folds.
        from_checkpoint: of a check, whether it begins there, and not with the first match; how far
            it comes is the next one.

    Returns:
        What came out; None if nothing is written, and it is to be made anew first.
    """
    fold: Fold | None = None
    starts, kept, found = 0, 0, None
    while starts <= FRESH_STARTS:
        with _reading(database, beside=not write) as session:
            competition = session.get_one(Competition, number)
            if competition.rebuild_due and not write:
                return None
            if fold is None and from_checkpoint:
                fold = checkpoints.resumed(session, competition)
                kept = fold.total.games if fold else 0
            if fold is None or not fold.holds(session, competition):
                fold, starts, kept = Fold.of(competition), starts + 1, 0
            more = fold.go_on(session, competition, advance, matches)
            if not (write or more):
                found = yield from _finish(session, competition, fold, advance, write=False)
        is_far = fold.total.games - kept >= KEEP
        if from_checkpoint and not fold.differences and (found or is_far):
            kept = fold.total.games
            with database.begin() as session:
                checkpoints.keep(session, session.get_one(Competition, number), fold)
        if found is not None:
            return found
        if write:
            with database.begin() as session:
                competition = session.get_one(Competition, number)
                lock(session, competition)
                if fold.holds(session, competition):
                    if not more:
                        return _at_once(_finish(session, competition, fold, advance, write=True))
                    _store_seats(session, fold)
        yield
    with database.begin() if write else database.read() as session:
        competition = session.get_one(Competition, number)
        if competition.rebuild_due and not write:
            return None
        return rebuild(session, competition, write=write, advance=advance)


def _at_once(parts: Parts) -> Rebuilt:
    """What is found in parts, without a pause between them."""
    while True:
        try:
            next(parts)
        except StopIteration as end:
            found = _found(end)
            assert found is not None
            return found


def rebuild_beside(database: Database, number: int, advance: Advance) -> Rebuilt:
    """Makes a competition anew while others write.

    Args:
        number: the competition's.
        advance: is told now and then how many more games were folded.
    """
    return _at_once(rebuild_in_parts(database, number, write=True, advance=advance))


def _found(end: StopIteration) -> Rebuilt | None:
    found: Rebuilt | None = end.value
    return found


def _finish(
    session: Session, competition: Competition, fold: Fold, advance: Advance, *, write: bool
) -> Parts:
    """Folds the rest, and compares what came out with what is stored.

    It yields now and then within its transaction, if nothing is written.
    """
    fold.go_on(session, competition, advance)
    entrants = (
        sa.select(Entrant)
        .where(Entrant.competition_id == competition.id)
        .order_by(Entrant.entered_after, Entrant.id)
        .options(joinedload(Entrant.version).joinedload(BotVersion.bot))
        .execution_options(populate_existing=write, yield_per=ENTRANTS)
    )
    total, kind = fold.total, kind_of(competition)
    made: dict[str, Any] = {
        "games": total.games,
        "neighbours": total.neighbours,
        "ties": total.ties,
        "last_game": fold.last_game,
    }
    fold.compare(competition, made, competition.name, write=write)
    number = 0
    for number, entrant in enumerate(session.scalars(entrants), 1):
        made = asdict(total.entrants.get(entrant.id, EntrantTally()))
        made["last_game"] = fold.last_games.get(entrant.id)
        if kind.rated:
            rating = fold.book[entrant.id]
            made |= {"mu": rating.mu, "sigma": rating.sigma, "trend": fold.trends[entrant.id]}
            made["games_before"] = fold.games_before.get(entrant.id, 0)
        fold.compare(entrant, made, entrant.version.label, write=write)
        if not (write or number % ENTRANTS):
            yield
    yield from _compare_meetings(session, competition, fold, write=write)
    fold.differences += kind.recount(session, competition, write=write)
    if write:
        _store_seats(session, fold)
        competition.rebuild_due, competition.alarm = False, ""
        session.flush()
        checkpoints.keep(session, competition, fold)
    return Rebuilt(competition.name, total.games, number, tuple(fold.differences))


def _compare_meetings(
    session: Session, competition: Competition, fold: Fold, *, write: bool
) -> Generator[None]:
    """Compares who met whom, a row at a time, since there may be millions.

    Of a fold that goes on from a checkpoint it is known what came since, and the sum of all that
    was: what is wrong with it a fold of the whole history says.
    """
    since, is_whole, was, now = fold.total.meetings, not fold.met, 0, 0
    wrong = dict[tuple[int, int], MeetingTally]()

    def look(pair: tuple[int, int], stored: Any, made: MeetingTally) -> None:
        before = len(fold.differences)
        label = "the meeting of entrants {} and {}".format(*pair)
        fold.compare(stored, asdict(made), label, write=False)
        if len(fold.differences) > before:
            wrong[pair] = made

    columns = (Meeting.matches, Meeting.games, Meeting.wins, Meeting.draws)
    query = sa.select(Meeting.first_id, Meeting.second_id, *columns)
    query = query.where(Meeting.competition_id == competition.id)
    query = query.execution_options(yield_per=AT_A_TIME)
    for count, row in enumerate(session.execute(query), 1):
        pair, stored = (row.first_id, row.second_id), MeetingTally(*row[2:])
        made = since.pop(pair, NONE)
        if is_whole:
            look(pair, stored, made)
            now += checkpoints.number_of(pair, made)
        else:
            number = checkpoints.number_of(pair, stored)
            now += number
            is_old = made is NONE  # as most are
            was += number if is_old else checkpoints.number_of(pair, stored.without(made))
        if not (write or count % MEETINGS):
            yield
    if was % checkpoints.MODULUS != fold.met:
        fold.differences.append(
            f"{competition.name}: who met whom is not what it was when it was last checked, with "
            "what was played since"
        )
    for pair, made in sorted(since.items()):
        look(pair, NONE, made)
        now += checkpoints.number_of(pair, made)
    if write and wrong:
        _store_meetings(session, competition, wrong)
    fold.met = now % checkpoints.MODULUS
    since.clear()


def _store_meetings(
    session: Session, competition: Competition, made: dict[tuple[int, int], MeetingTally]
) -> None:
    connection = session.connection()
    its = Meeting.first_id == sa.bindparam("first"), Meeting.second_id == sa.bindparam("second")
    pairs = [{"first": first, "second": second} for first, second in made]
    connection.execute(sa.delete(Meeting).where(*its), pairs)
    rows = [
        {"first_id": first, "second_id": second, "competition_id": competition.id, **asdict(both)}
        for (first, second), both in made.items()
    ]
    connection.execute(sa.insert(Meeting), rows)


def _store_seats(session: Session, fold: Fold) -> None:
    statement = (
        sa.update(GameSeat)
        .where(
            GameSeat.game_id == sa.bindparam("its_game"),
            GameSeat.seat == sa.bindparam("its_seat"),
        )
        .values({name: sa.bindparam(name) for name in RATING_COLUMNS})
    )
    for start in range(0, len(fold.seats), AT_A_TIME):
        session.connection().execute(statement, fold.seats[start : start + AT_A_TIME])
    fold.seats.clear()


DUE = sa.select(Competition.id).where(Competition.rebuild_due)
"""The competitions that are to be made anew."""


class Upkeep:
    """What the recorder makes anew because it is due, and what it checks now and then.

    One competition at a time, and of it a part: the recorder has other things to do. A check of
    many games waits while another competition is made anew. One that can't be read, as its game
    is of another release, keeps nobody else waiting.
    """

    def __init__(self, check_seconds: float, *, matches: int = PART) -> None:
        """Begins with nothing under way.

        Args:
            check_seconds: how often each competition is checked.
            matches: how many a part folds.
        """
        self._check, self._matches = timedelta(seconds=check_seconds), matches
        self._making: Parts | None = None
        self._checking: Parts | None = None
        self._failed: dict[int, datetime] = {}
        """When a competition failed; it is left alone for as long as between checks."""

    def go_on(self, database: Database, now: datetime) -> Rebuilt | None:
        """Does the next part of what is due; if it was the last one, says what was found."""
        parts = self._making = self._making or self._begin_to_make(database, now)
        if parts is None:
            parts = self._checking = self._checking or self._begin_to_check(database, now)
        if parts is None:
            return None
        try:
            next(parts)
        except StopIteration as end:
            self._end(parts)
            return _found(end)
        except FAILED:
            self._end(parts)  # it is begun anew
            raise
        return None

    @property
    def is_at_work(self) -> bool:
        """Whether something was begun that is not at its end."""
        return self._making is not None or self._checking is not None

    def _end(self, parts: Parts) -> None:
        if parts is self._making:
            self._making = None
        else:
            self._checking = None

    def _begin_to_make(self, database: Database, now: datetime) -> Parts | None:
        due = DUE.order_by(Competition.id)
        return self._begin(database, due, now, lambda number: self._make(database, number))

    def _begin_to_check(self, database: Database, now: datetime) -> Parts | None:
        before = now - self._check
        unchecked = (
            sa.select(Competition.id)
            .where(
                sa.or_(
                    Competition.checked.is_(None), ~is_lately(Competition.checked, self._check, now)
                ),
                Competition.created < before,
                Competition.kind.in_(names_of(lambda kind: kind.checked)),
            )
            .order_by(Competition.checked.is_not(None), Competition.checked, Competition.id)
        )
        return self._begin(
            database, unchecked, now, lambda number: self._look_at(database, number, now)
        )

    def _begin(
        self,
        database: Database,
        query: sa.Select[int],
        now: datetime,
        work: Callable[[int], Parts],
    ) -> Parts | None:
        """Work on the first competition that did not fail of late."""
        alone = [number for number, then in self._failed.items() if now - then < self._check]
        with database.read() as session:
            number = session.scalar(query.where(Competition.id.not_in(alone)).limit(1))
        return self._guard(work(number), database, number, now) if number else None

    def _guard(self, parts: Parts, database: Database, number: int, now: datetime) -> Parts:
        """Work on a competition, which if it fails is an alarm."""
        try:
            return (yield from parts)
        except FAILED:
            raise
        except Exception as error:
            log.exception("the ratings of competition %s can't be made anew", number)
            self._failed[number] = now
            alarm = f"its ratings can't be made anew, see the recorder's log: {error!r}"
            with database.begin() as session:
                session.execute(
                    sa.update(Competition).where(Competition.id == number).values(alarm=alarm)
                )
            return None

    def _make(self, database: Database, number: int) -> Parts:
        made = yield from rebuild_in_parts(database, number, write=True, matches=self._matches)
        assert made is not None
        log.info("%s was made anew: %s differences", made.competition, len(made.differences))
        return made

    def _look_at(self, database: Database, number: int, now: datetime) -> Parts:
        """Checks a competition: what does not come out the same is its alarm, and in the log.

        It is then checked from its first match on: at once, if what was found is not in what is
        new, else the next time.
        """
        found = yield from rebuild_in_parts(
            database, number, write=False, matches=self._matches, from_checkpoint=True
        )
        if found is None:
            return None
        if found.equal:
            alarm = changed = yield from checkpoints.read_again(database, number)
            if changed:
                found = replace(found, differences=(changed,))
        else:
            changed = ""
            alarm = (
                f"{len(found.differences)} ratings and counters differ from the results, the "
                f"first: {found.differences[0]}"
            )
        if alarm:
            log.error("%s: %s", found.competition, alarm)
        with database.begin() as session:
            competition = session.get_one(Competition, number)
            lock(session, competition)
            competition.alarm = alarm
            if alarm:
                checkpoints.forget(session, number)
            if not changed:  # else it is due still
                competition.checked = now
        return found
