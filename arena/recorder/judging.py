"""Judges games that are recorded: what their moves gave away, where that is certain.

Theory of operation. It takes time that the recorder has not, and nothing waits for it. So the
recorder looks now and then whether there are games after the last that was judged, and starts a
process for them, which gives way to all others and ends once it is through, or has had its time.
That writes what it found (`arena.models.JudgedSeat`), and how far it came, in transactions of a
few games. What it dies at is judged again; a game that can't be judged is passed over, and said in
the log. Void games are judged, too: whoever counts leaves them out.
"""

from __future__ import annotations

import gc
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload

from arena.ground.config import Settings, load
from arena.ground.db import FAILED, Database
from arena.models import JudgedSeat, Mark, PlayedGame
from arena.recorder.storage import unpack
from engine.game import Variant
from engine.plurals import counted
from engine.record import GameRecord, states_known
from engine.truth import GAME_STEPS, Judgement, Truth, judge
from engine.truth_tables import TableError, find_truth

JUDGED_MARK = "the last game that was judged"
AT_A_TIME = 5
"""Games that are written down together."""
RUN_SECONDS = 25.0
"""After so long the process ends; the recorder starts another one, if there is more to judge."""
GAME_SECONDS = 120
"""That one game may take: a package's rules may go on for ever."""
MODULE = "arena.recorder.judging"

log = logging.getLogger("arena.judging")


class Judge:
    """Judges games, with what it knows of each variant."""

    def __init__(self, tables: Path, steps: int = GAME_STEPS) -> None:
        """Knows nothing yet.

        Args:
            tables: the folder of tables.
            steps: that each game may take.
        """
        self._tables, self._steps = tables, steps
        self._truths: dict[Variant, Truth | None] = {}

    def go_on(self, database: Database) -> int:
        """Judges the next few games; returns how many there were."""
        with database.read() as session:
            last = last_judged(session)
            query = (
                sa.select(PlayedGame)
                .where(PlayedGame.id > last)
                .order_by(PlayedGame.id)
                .limit(AT_A_TIME)
                .options(joinedload(PlayedGame.competition))
            )
            games = session.scalars(query).all()
            found = [row for game in games for row in self._rows(game, session)]
        if games:
            with database.begin() as session:
                session.execute(
                    sa.delete(JudgedSeat).where(
                        JudgedSeat.game_id.between(games[0].id, games[-1].id)
                    )
                )
                session.add_all(found)
                session.merge(Mark(key=JUDGED_MARK, value=str(games[-1].id)))
        return len(games)

    def _rows(self, game: PlayedGame, session: Session) -> list[JudgedSeat]:
        """What is certain of a game; nothing if that fails, which keeps no other game waiting."""
        if self.truth(game.competition.variant) is None:
            return []
        try:
            stored = session.scalar(sa.select(PlayedGame.record).where(PlayedGame.id == game.id))
            assert stored is not None
            record = unpack(stored)
            truth = self.truth(record.variant)
            if truth is None:
                return []
            signal.alarm(GAME_SECONDS)
            try:
                return rows_of(game.id, judged(truth, record, self._steps))
            finally:
                signal.alarm(0)
        except FAILED:
            raise
        except Exception:
            log.exception("game %s can't be judged", game.id)
            return []

    def truth(self, variant: Variant) -> Truth | None:
        """What is known of a variant."""
        if variant not in self._truths:
            try:
                self._truths[variant] = find_truth(variant, self._tables)
            except (TableError, OSError) as error:
                log.error("the table of %s is left out: %s", variant, error)
                self._truths[variant] = variant.truth()
        return self._truths[variant]


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


def is_due(session: Session) -> bool:
    """Whether there are games to be judged."""
    last = session.scalar(sa.select(sa.func.max(PlayedGame.id))) or 0
    return last > last_judged(session)


class Judging:
    """The process that judges, as the recorder starts it."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None

    def look(self, session: Session) -> None:
        """Starts it if there is something to judge, and none runs."""
        if (self._process is None or self._process.poll() is not None) and is_due(session):
            words = [sys.executable, "-P", "-m", MODULE]
            environment = {**os.environ, **self._environment}
            self._process = subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL)

    def close(self) -> None:
        """Ends it, if it runs; what it was at is judged later."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait()


def _break_off(_number: int, _frame: object) -> None:
    raise TimeoutError(f"it took longer than {GAME_SECONDS} s")


def main(settings: Settings | None = None) -> int:
    """Judges until all is judged, its time is over, or the recorder that started it is gone."""
    settings = settings or load()
    parent, began = os.getppid(), time.monotonic()
    os.nice(19)
    signal.signal(signal.SIGALRM, _break_off)
    gc.disable()  # nothing here refers in circles, and large tables take long to look through
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    database, judge_, games = Database(settings.database_url), Judge(settings.truth), 0
    try:
        while time.monotonic() - began < RUN_SECONDS and os.getppid() == parent:
            more = judge_.go_on(database)
            games += more
            if not more:
                break
    except FAILED as error:
        log.warning("judging waits for the database: %s", str(error).splitlines()[0])
    finally:
        database.close()
    log.info("%s judged", counted(games, "game"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
