"""Judges games that are recorded: what their moves gave away, where that is certain.

Theory of operation. It takes time that the recorder has not, and nothing waits for it. So the
recorder looks now and then whether there is something to judge, and starts a process for it
(`arena.recorder.judging_process`), which gives way to all others and ends once it is through, or
has had its time. That writes what it found (`arena.models.JudgedSeat`), and how far it came, in
transactions of a few games; none is open while it searches. What it ends at is judged again; a
game that can't be judged is passed over, and said in the log. Void games are judged, too: whoever
counts leaves them out.

First it judges what was recorded since. Then, where tables say more of a variant than those by
which its games were judged, it judges these again, the newest first, as many of each competition
as accuracy is told of.
"""

from __future__ import annotations

import gc
import json
import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.ground.config import Settings, load
from arena.ground.db import FAILED, Database
from arena.ground.logs import begin_log
from arena.keeping.reading import text_of
from arena.lists.accuracy import MOST_GAMES
from arena.lists.settled import settled
from arena.models import Competition, JudgedSeat, Mark, PlayedGame
from engine.game import Variant
from engine.games import GAMES
from engine.plurals import counted
from engine.record import GameRecord, states_known
from engine.truth import GAME_STEPS, Judgement, Truth, judge
from engine.truth_tables import TableError, find_truth, look_of

JUDGED_MARK = "the last game that was judged"
AGAIN_MARK = "games that are judged again"
ASIDE_MARK = "games that can't be judged"
AT_A_TIME = 5
"""Games that are written down together."""
RUN_SECONDS = 25.0
"""How long the process runs; the recorder starts another one, if there is more to judge."""
GAME_SECONDS = 120
"""The most of a core's time that one game may take: a package's rules may go on for ever, and by
the clock a process that gives way to all others may take long for little."""
NOT_JUDGED = "game %s can't be judged"

log = logging.getLogger("arena.judging")


class Unjudged(NamedTuple):
    """A game that is to be judged."""

    number: int
    record: bytes | None
    """What is certain as JSON; None if nothing can be said of it."""


@dataclass(frozen=True, slots=True)
class Again:
    """How far games are judged again."""

    look: str = ""
    """What the folder of tables looks like for which that is done."""
    known: dict[str, list[str]] = field(default_factory=dict)
    """The digests of the tables by which a variant's games were judged, by its key."""
    competition: int | None = None
    """The least number of a competition whose games are to be judged still; None if all is done."""
    before: int | None = None
    """Those of it with lower numbers; None if all are."""

    @classmethod
    def read(cls, session: Session) -> Again:
        """How far it is, as the database has it."""
        mark = session.get(Mark, AGAIN_MARK)
        return cls(**json.loads(mark.value)) if mark else cls()

    def write(self, session: Session) -> None:
        """Has the database keep how far it is."""
        session.merge(Mark(key=AGAIN_MARK, value=json.dumps(asdict(self))))


class Judge:
    """Judges games, with what it knows of each variant."""

    def __init__(
        self, tables: Path, steps: int = GAME_STEPS, tell: Callable[[int], object] = lambda _: None
    ) -> None:
        """Begins with nothing known of games.

        Args:
            tables: the folder of tables.
            steps: that each game may take.
            tell: is told the number of each game before it is judged, and 0 after it.
        """
        self._tables, self._steps, self._tell = tables, steps, tell
        self._look = look_of(tables)
        self._truths: dict[Variant, Truth | None] = {}
        self._changed: list[int] | None = None
        """The competitions of whose variants tables say more now."""

    def go_on(self, database: Database) -> int:
        """Judges the next few games; returns how many there were."""
        with database.read() as session:
            games = self._loaded(
                session,
                sa.select(PlayedGame.id)
                .where(PlayedGame.id > last_judged(session), PlayedGame.id <= settled(session))
                .order_by(PlayedGame.id),
            )
        if games:
            found = self._judged(games)
            with database.begin() as session:
                _replace(session, found)
                session.merge(Mark(key=JUDGED_MARK, value=str(games[-1].number)))
        return len(games)

    def go_on_again(self, database: Database) -> int:
        """Judges a few games by tables that are new; returns how many, 0 if all is done."""
        with database.read() as session:
            again = Again.read(session)
            if again.look != self._look:
                again = Again(self._look, again.known, 0)
            if again.competition is None:
                return 0
            if self._changed is None:
                self._changed = self._find_changed(session, again.known)
            games: Sequence[Unjudged] = ()
            for one in self._changed:
                if one >= again.competition:
                    before = again.before if one == again.competition else None
                    games = self._older(session, one, before)
                    if games:
                        again = replace(again, competition=one, before=games[-1].number)
                        break
        found = self._judged(games)
        if not games:
            tabled = {str(one): list(its.tables) for one, its in self._truths.items() if its}
            known = {one: tables for one, tables in tabled.items() if tables}
            again = Again(self._look, {**again.known, **known})
        with database.begin() as session:
            _replace(session, found)
            again.write(session)
        return len(games)

    def _find_changed(self, session: Session, known: dict[str, list[str]]) -> list[int]:
        found = []
        for one in session.scalars(sa.select(Competition).order_by(Competition.id)):
            truth = self.truth(one.variant)
            if truth and truth.tables and list(truth.tables) != known.get(str(one.variant)):
                found.append(one.id)
        return found

    def _older(self, session: Session, competition: int, before: int | None) -> list[Unjudged]:
        """The next games of a competition that are judged again, the newest first."""
        its = sa.select(PlayedGame.id).where(PlayedGame.competition_id == competition)
        its = its.where(PlayedGame.id <= last_judged(session)).order_by(PlayedGame.id.desc())
        oldest = session.scalar(its.offset(MOST_GAMES).limit(1)) or 0
        wanted = its.where(PlayedGame.id > oldest)
        if before is not None:
            wanted = wanted.where(PlayedGame.id < before)
        return self._loaded(session, wanted)

    def _loaded(self, session: Session, wanted: sa.Select[Any]) -> list[Unjudged]:
        """The first few of some games, with the records of those of which something is known."""
        aside, games = set_aside(session), list[Unjudged]()
        for number in session.scalars(wanted.limit(AT_A_TIME)).all():
            competition = session.scalars(
                sa.select(Competition)
                .join(PlayedGame, PlayedGame.competition_id == Competition.id)
                .where(PlayedGame.id == number)
            ).one()
            record = None
            self._tell(number)
            if number not in aside and self.truth(competition.variant):
                one = PlayedGame.id == number
                stored = session.scalars(sa.select(PlayedGame.record).where(one)).one()
                try:
                    record = text_of(session, number, stored)
                except Exception:
                    log.exception(NOT_JUDGED, number)
            games.append(Unjudged(number, record))
        self._tell(0)
        return games

    def _judged(self, games: Sequence[Unjudged]) -> dict[int, list[JudgedSeat]]:
        """What is certain of some games, without those that can't be judged."""
        found = {}
        for game in games:
            if game.record is not None:
                self._tell(game.number)
                signal.setitimer(signal.ITIMER_PROF, GAME_SECONDS)
                try:
                    record = GameRecord.from_json(json.loads(game.record))
                    truth = self.truth(record.variant)
                    if truth is not None:
                        its = judged(truth, record, self._steps)
                        found[game.number] = rows_of(game.number, its)
                except Exception:
                    log.exception(NOT_JUDGED, game.number)
                finally:
                    signal.setitimer(signal.ITIMER_PROF, 0)
                    self._tell(0)
        return found

    def truth(self, variant: Variant) -> Truth | None:
        """What is known of a variant."""
        if variant not in self._truths:
            try:
                self._truths[variant] = find_truth(variant, self._tables)
            except (TableError, OSError) as error:
                log.error("the table of %s is left out: %s", variant, error)
                self._truths[variant] = variant.truth()
        return self._truths[variant]


def _replace(session: Session, found: Mapping[int, Sequence[JudgedSeat]]) -> None:
    """Writes down what is certain of games, instead of what was."""
    session.execute(sa.delete(JudgedSeat).where(JudgedSeat.game_id.in_(found)))
    for rows in found.values():
        session.add_all(rows)


def judged(truth: Truth, record: GameRecord, steps: int = GAME_STEPS) -> list[Judgement]:
    """What is certain of the moves of a record, but for those of its opening, which are set."""
    states = list(states_known(record))
    moves = record.moves[: len(states) - 1]
    return [one for one in judge(truth, states, moves, steps) if one.ply >= record.opening]


def rows_of(game: int, judgements: Sequence[Judgement]) -> list[JudgedSeat]:
    """A row for each seat that had something to lose."""
    by_seat: dict[int, list[Judgement]] = {}
    for one in judgements:
        by_seat.setdefault(one.seat, []).append(one)
    return [
        JudgedSeat(
            game_id=game,
            seat=seat,
            judged=len(its),
            kept=sum(one.lost == 0 for one in its),
            results=sum(one.gave_result for one in its),
            lost=sum(one.lost for one in its),
            marks=[[one.ply, one.best, one.value, list(one.better)] for one in its if one.lost],
        )
        for seat, its in by_seat.items()
    ]


def last_judged(session: Session) -> int:
    """The number of the last game that was judged; 0 if none was."""
    mark = session.get(Mark, JUDGED_MARK)
    return int(mark.value) if mark else 0


def is_due(session: Session, tables: Path) -> bool:
    """Whether there are games to be judged, or to be judged again by tables in a folder."""
    last = min(session.scalar(sa.select(sa.func.max(PlayedGame.id))) or 0, settled(session))
    again = Again.read(session)
    return (
        last > last_judged(session)
        or again.competition is not None
        or again.look != look_of(tables)
    )


class UnjudgedGame(NamedTuple):
    """Why a game is not judged."""

    game: str
    rules: str
    """The edition of the rules by which it can't be."""
    words: str


def set_aside(session: Session) -> dict[int, UnjudgedGame]:
    """The games that can't be judged by the rules of now, by their numbers."""
    mark = session.get(Mark, ASIDE_MARK)
    found = {
        int(number): UnjudgedGame(*its)
        for number, its in json.loads(mark.value if mark else "{}").items()
    }
    return {number: one for number, one in found.items() if one.rules == GAMES.rules(one.game)}


def _break_off(_number: int, _frame: object) -> None:
    raise TimeoutError(f"it took more than {GAME_SECONDS} s of a core")


def main(settings: Settings | None = None) -> int:
    """Judges until all is judged, its time is over, or the recorder that started it is gone.

    The numbers of the games that it is at go to standard output, a line each.
    """
    settings = settings or load()
    parent, began = os.getppid(), time.monotonic()
    os.nice(19)
    signal.signal(signal.SIGPROF, _break_off)
    gc.disable()  # nothing here refers in circles, and large tables take long to look through
    begin_log(settings)
    database, games = Database(settings.database_url, cold=settings.cold_store), 0
    told = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever a game's rules print
    judge_ = Judge(settings.truth, tell=lambda number: os.write(told, b"%d\n" % number))
    try:
        while time.monotonic() - began < RUN_SECONDS and os.getppid() == parent:
            more = judge_.go_on(database) or judge_.go_on_again(database)
            games += more
            if not more:
                break
    except BrokenPipeError:
        return 0  # the recorder is gone
    except FAILED as error:
        log.warning("judging waits for the database: %s", str(error).splitlines()[0])
    finally:
        database.close()
    log.info("%s judged", counted(games, "game"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
