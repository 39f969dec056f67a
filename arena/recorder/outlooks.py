"""What a set of matches would change, found before anything is done and without writing.

For what is rated that is the fold of a rebuild, over all results but those of the set. What is not
rated stands by its results alone: there the set is made void, it is read how everybody stands, and
all of that is rolled back.

Both compare with what is stored at the same moment, which the results bear: a competition that is
to be made anew first is waited for. A set of few matches is looked at when it is chosen, and one of
many part by part, by the recorder.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from time import monotonic
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload

from arena.competitions.happenings import FAULTY
from arena.competitions.kinds import kind_of
from arena.competitions.ranks import games_to_be_ranked
from arena.ground import locks
from arena.ground.db import FAILED, Database, count_rows
from arena.models import (
    BotVersion,
    Competition,
    Entrant,
    EntrantState,
    JobStatus,
    Match,
    MatchOfSet,
    MatchSet,
    MemberState,
    PlayedGame,
    SetState,
    SetVerdict,
)
from arena.present import maintenance
from arena.recorder.fold import Fold
from arena.recorder.storage import EntrantTally
from arena.schedule.match_sets import BATCH, carry_out, leave_next, waiting

FEW = 1000
"""Matches of which all are folded when a set of them is chosen, at once."""
PART = 500
"""Matches that are folded at a time beside other work."""
SECONDS_A_TICK = 0.5
"""How long sets are seen to in one tick of the recorder."""
KEPT = timedelta(days=7)
"""How long a set is kept that nobody decides on."""
MOST_SHOWN = 1000
"""Changes of one competition that are kept."""

log = logging.getLogger("arena.recorder.sets")


@dataclass(frozen=True, slots=True)
class Stand:
    """Where somebody stands in a competition."""

    rank: int | None = None
    """Its rank on the board of a ladder; None without a place there."""
    mu: float | None = None
    sigma: float | None = None
    games: int | None = None
    words: str = ""
    """How they stand in what is not rated."""


@dataclass(frozen=True, slots=True)
class StandChange:
    """What becomes of one of those in a competition."""

    label: str
    before: Stand
    after: Stand


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a set changes in one competition."""

    competition: str
    title: str
    kind: str
    matches: int
    """How many matches something is done to."""
    games: int
    left: int
    """Matches of the set that stay as they are."""
    why: str
    """Why the first of those does."""
    last: int | None
    """The `Match.seq` of the last match that was counted; None where nothing was."""
    changed: int
    """How many entrants something changes for."""
    changes: tuple[StandChange, ...]
    """What changes for these, in the order in which they stand."""

    def as_json(self) -> dict[str, Any]:
        """Tells it as JSON's types."""
        return asdict(self)


def _competitions(session: Session, number: int) -> list[Competition]:
    its = sa.select(Match.competition_id).join(MatchOfSet, MatchOfSet.match_id == Match.id)
    ids = its.where(MatchOfSet.set_id == number)
    query = sa.select(Competition).where(Competition.id.in_(ids)).order_by(Competition.id)
    return list(session.scalars(query))


def _is_folded(verdict: SetVerdict, competition: Competition) -> bool:
    return verdict is not SetVerdict.REQUEUE and kind_of(competition).rated


def is_small(session: Session, made: MatchSet) -> bool:
    """Whether what a set changes can be found at once."""
    rated = [one for one in _competitions(session, made.id) if _is_folded(made.verdict, one)]
    if any(one.rebuild_due for one in rated):
        return False
    fixed = Match.competition_id.in_([one.id for one in rated]), Match.status == JobStatus.FIXED
    ids = sa.select(Match.id).where(*fixed).limit(FEW + 1).subquery()
    return (session.scalar(sa.select(sa.func.count()).select_from(ids)) or 0) <= FEW


def look_at_once(session: Session, made: MatchSet) -> None:
    """Finds what a small set changes, in the transaction of the caller."""
    found = [
        _outlook(session, made, one, _fold_all(session, made, one))
        for one in _competitions(session, made.id)
    ]
    _keep(made, found)


def _fold_all(session: Session, made: MatchSet, competition: Competition) -> Fold | None:
    if not _is_folded(made.verdict, competition):
        return None
    fold = Fold.of(competition, without=made.id)
    fold.go_on(session, competition, lambda _: None)
    return fold


def _keep(made: MatchSet, found: Sequence[Outlook]) -> None:
    made.changes = [one.as_json() for one in found]
    made.state = SetState.READY


def _outlook(
    session: Session, made: MatchSet, competition: Competition, fold: Fold | None
) -> Outlook:
    """What a set changes in a competition, of which all that is rated was folded without it."""
    of_it = (Match.competition_id == competition.id, waiting(made.id))
    matches = count_rows(session, Match, *of_it)
    games = session.scalars(
        sa.select(sa.func.count())
        .select_from(PlayedGame)
        .join(Match, Match.id == PlayedGame.match_id)
        .where(*of_it)
    ).one()
    left = (
        sa.select(MatchOfSet.why)
        .join(Match, Match.id == MatchOfSet.match_id)
        .where(
            Match.competition_id == competition.id,
            MatchOfSet.set_id == made.id,
            MatchOfSet.state == MemberState.LEFT,
        )
    )
    stay = session.scalars(left.order_by(MatchOfSet.match_id).limit(1)).first()
    number = session.scalar(left.with_only_columns(sa.func.count())) or 0
    if not matches or made.verdict is SetVerdict.REQUEUE:
        changes: list[StandChange] = []
    elif fold is not None:
        changes = _of_board(session, competition, fold)
    else:
        changes = _of_results(session, made, competition)
    return Outlook(
        competition.name,
        competition.title,
        str(competition.kind),
        matches,
        games,
        number,
        stay or "",
        fold.last if fold else None,
        len(changes),
        tuple(changes[:MOST_SHOWN]),
    )


def _of_board(session: Session, competition: Competition, fold: Fold) -> list[StandChange]:
    """What becomes of everybody on a ladder."""
    query = sa.select(Entrant).where(Entrant.competition_id == competition.id)
    query = query.options(joinedload(Entrant.version).joinedload(BotVersion.bot))
    entrants = session.scalars(query.execution_options(populate_existing=True)).all()
    before, after = {}, {}
    for one in entrants:
        rating = fold.book[one.id]
        games = fold.total.entrants.get(one.id, EntrantTally()).games
        before[one.id] = Stand(None, one.mu, one.sigma, one.games)
        after[one.id] = Stand(None, rating.mu, rating.sigma, games)
    ranks = [_ranks(competition, entrants, stands) for stands in (before, after)]
    found = [
        StandChange(
            one.version.label,
            _ranked(before[one.id], ranks[0].get(one.id)),
            _ranked(after[one.id], ranks[1].get(one.id)),
        )
        for one in entrants
    ]
    changed = [one for one in found if one.before != one.after]
    return sorted(changed, key=lambda one: (one.before.rank is None, one.before.rank, one.label))


def _ranked(stand: Stand, rank: int | None) -> Stand:
    return Stand(rank, stand.mu, stand.sigma, stand.games)


def _ranks(
    competition: Competition, entrants: Sequence[Entrant], stands: Mapping[int, Stand]
) -> dict[int, int]:
    """The ranks on a board, as `arena.competitions.ranks` has them."""
    active = [one for one in entrants if one.state is EntrantState.ACTIVE]
    needed = games_to_be_ranked(competition, len(active))

    def place(one: Entrant) -> tuple[float, int]:
        stand = stands[one.id]
        assert stand.mu is not None
        assert stand.sigma is not None
        return -(stand.mu - 3 * stand.sigma), one.id

    placed = sorted((one for one in active if (stands[one.id].games or 0) >= needed), key=place)
    return {one.id: rank for rank, one in enumerate(placed, 1)}


def _of_results(session: Session, made: MatchSet, competition: Competition) -> list[StandChange]:
    """What becomes of everybody where results alone say how they stand."""
    kind = kind_of(competition)
    before = kind.stands(session, competition)
    trial = session.begin_nested()
    try:
        void = sa.update(Match).where(Match.competition_id == competition.id, waiting(made.id))
        # What a session holds of them is not to be believed while this is so.
        session.execute(
            void.values(status=JobStatus.VOID), execution_options={"synchronize_session": False}
        )
        after = kind.stands(session, competition)
    finally:
        trial.rollback()
    return [
        StandChange(label, Stand(words=words), Stand(words=after.get(label, "")))
        for label, words in before.items()
        if after.get(label, "") != words
    ]


# Beside other work.


class SetsAtWork:
    """What the recorder does for sets of matches, a part at a time."""

    def __init__(self, *, part: int = PART, few_seconds: float = SECONDS_A_TICK) -> None:
        """Begins with no set under way.

        Args:
            part: how many matches are folded in one go.
            few_seconds: how long one call of `go_on` takes, about.
        """
        self._part, self._seconds = part, few_seconds
        self._looking: tuple[int, Iterator[bool]] | None = None
        """The set that is looked at, and how far it is."""

    @property
    def is_looking(self) -> bool:
        """Whether it is being found what a set would change."""
        return self._looking is not None

    def go_on(self, database: Database, now: datetime) -> bool:
        """Does the next parts of what waits; during maintenance no set is carried out.

        Returns:
            Whether a set is being carried out: then nothing is made anew meanwhile.
        """
        end = monotonic() + self._seconds
        with database.read() as session:
            is_held = maintenance(session) is not None
        while not is_held and (number := _first(database, SetState.DECIDED)) is not None:
            _carry_out_next(database, number, now)
            if monotonic() >= end:
                return True
        while monotonic() < end:
            if self._looking is None:
                number = _first(database, SetState.LOOKING)
                if number is None:
                    forget_undecided(database, now)
                    break
                self._looking = number, self._look(database, number)
            try:
                is_further = next(self._looking[1], None)
            except FAILED:
                self._looking = None  # it is begun anew
                raise
            except Exception:
                log.exception("what match set %s would change", self._looking[0])
                _give_up(database, self._looking[0])
                is_further = None
            if is_further is None:
                self._looking = None
            elif not is_further:
                break
        return False

    def _look(self, database: Database, number: int) -> Iterator[bool]:
        """Finds what a set changes; between its parts others write.

        Yields:
            Whether it got any further, and did not wait for what is to be made anew first.
        """
        with database.read() as session:
            made = session.get(MatchSet, number)
            if made is None:
                return
            competitions = _competitions(session, number)
            folded = [one.id for one in competitions if _is_folded(made.verdict, one)]
            games = count_rows(session, PlayedGame, PlayedGame.competition_id.in_(folded))
        _note_progress(database, number, 0, games)
        looked, found = 0, list[Outlook]()
        for competition in competitions:
            folded_games = 0
            for told in self._of(database, number, competition.id):
                if isinstance(told, Outlook):
                    found.append(told)
                elif told is not None:
                    folded_games = told
                    _note_progress(database, number, looked + told, games)
                yield told is not None
            looked += folded_games
        with database.begin() as session:
            made = locks.find(session, MatchSet, number, to_change=True)
            if made is not None and made.state is SetState.LOOKING:
                _keep(made, found)
                made.looked = games

    def _of(
        self, database: Database, number: int, competition_id: int
    ) -> Iterator[Outlook | int | None]:
        """What a set changes in a competition, at last.

        Yields:
            How many games were folded so far; None while it is to be made anew first.
        """
        fold: Fold | None = None
        found: Outlook | None = None
        while found is None:
            with database.read() as session:
                competition = session.get_one(Competition, competition_id)
                made = session.get_one(MatchSet, number)
                if not _is_folded(made.verdict, competition):
                    break
                more = competition.rebuild_due
                if not more:
                    if fold is None or not fold.holds(session, competition):
                        fold = Fold.of(competition, without=number)
                    more = fold.go_on(session, competition, lambda _: None, self._part)
                    # Which ratings came out differently nobody asks here.
                    fold.differences.clear()
                    fold.seats.clear()
                    if not more:
                        found = _outlook(session, made, competition, fold)
            if found is None:
                yield None if competition.rebuild_due or fold is None else fold.total.games
        if found is None:
            with database.begin() as session:
                competition = session.get_one(Competition, competition_id)
                found = _outlook(session, session.get_one(MatchSet, number), competition, None)
        yield found  # when no transaction is open any more


AT_WORK = sa.select(MatchSet.id).where(MatchSet.state.in_([SetState.DECIDED, SetState.LOOKING]))
"""The sets that are to be carried out, or looked at."""


def _first(database: Database, state: SetState) -> int | None:
    with database.read() as session:
        query = sa.select(MatchSet.id).where(MatchSet.state == state)
        return session.scalars(query.order_by(MatchSet.id).limit(1)).first()


def _note_progress(database: Database, number: int, looked: int, of: int) -> None:
    values = {"looked": looked, "to_look": of}
    with database.begin() as session:
        session.execute(sa.update(MatchSet).where(MatchSet.id == number).values(values))


def _carry_out_next(database: Database, number: int, now: datetime) -> None:
    """Does the next batch of a set. If something is wrong with it, each of its matches is done
    alone, and those with which it is stay as they are, with the reason."""
    try:
        with database.begin() as session:
            carry_out(session, number, now)
        return
    except FAILED:
        raise
    except Exception:
        log.exception("a batch of match set %s", number)
    for _ in range(BATCH):
        try:
            with database.begin() as session:
                if not carry_out(session, number, now, 1):
                    return
        except FAILED:
            raise
        except Exception:
            log.exception("a match of match set %s", number)
            with database.begin() as session:
                leave_next(session, number, now, FAULTY)


def _give_up(database: Database, number: int) -> None:
    """Has all matches of a set stay as they are, since it can't be said what it would change."""
    with database.begin() as session:
        made = locks.find(session, MatchSet, number, to_change=True)
        if made is not None and made.state is SetState.LOOKING:
            its = sa.update(MatchOfSet).where(
                MatchOfSet.set_id == number, MatchOfSet.state == MemberState.WAITS
            )
            session.execute(its.values(state=MemberState.LEFT, why=FAULTY))
            its_competitions = _competitions(session, number)
            _keep(made, [_outlook(session, made, one, None) for one in its_competitions])


def forget_undecided(database: Database, now: datetime) -> None:
    """Forgets a set that nobody has decided on for long."""
    with database.read() as session:
        old = sa.select(MatchSet.id).where(
            MatchSet.state == SetState.READY, MatchSet.made < now - KEPT
        )
        number = session.scalars(old.limit(1)).first()
    if number is not None:
        with database.begin() as session:
            made = locks.find(session, MatchSet, number, to_change=True)
            if made is not None and made.state is SetState.READY:
                session.execute(sa.delete(MatchOfSet).where(MatchOfSet.set_id == number))
                session.delete(made)
