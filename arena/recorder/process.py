"""The recorder: the process that takes in what workers say, and makes and issues matches.

It takes the messages of the queue ``results`` in their order (`arena.recorder.tasks`); of several
recorders that are started all but one wait, or each has shards of its own, of which it takes a
queue each (`arena.recorder.claim`). Everything that changes a match or a rating goes through the
one that has its competition, so that ratings need no locks and have an order. What is of no
competition, or of all, is done by the one that has the first shard.

Between messages it ticks by a clock of its own, so that no queue is too long for it: what has a
date happens, what outlived its lease is rolled back, matches are made and issued, alarms are looked
for.
"""

from __future__ import annotations

import gc
import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path

import redis
from sqlalchemy.orm import Session

from arena import sittings
from arena.competitions import drawn_fields, happenings, masks, ranks, rounds
from arena.competitions.notifications import tell_ends
from arena.courses import marking
from arena.courses.reading import Reading
from arena.ground.config import Settings, load
from arena.ground.db import SchemaError
from arena.ground.file_locks import lock_file
from arena.ground.logs import begin_log
from arena.keeping import dictionaries
from arena.lists import branches
from arena.operation import alarms, health, indexes, queues
from arena.operation.cold import ColdRecords
from arena.operation.dumps import DailyDumps
from arena.operation.fetching import Fetches
from arena.operation.replicas import Replica
from arena.operation.retention import forget_answers, forget_logs
from arena.recorder import agenda, rebuild, settling
from arena.recorder.claim import BROKER_SECONDS, ClaimError, claim_broker
from arena.recorder.judging_process import Judging
from arena.recorder.outlooks import SetsAtWork
from arena.recorder.placing import Placing
from arena.recorder.settling import Settling
from arena.recorder.tasks import Tasks
from arena.recorder.writer import PAUSES, ClaimChangedError, ProcessEnding, Writer, utc_now
from arena.schedule import allocation, idle, leases
from arena.signing import arena_id
from engine import jobs, rules_trail
from engine.faulty_rules import break_off_hangs
from engine.games import GAMES
from engine.timers import Every

LOOK_SECONDS = 30.0
"""How often alarms are looked for, ranks that are better than any before, and what was kept for
days and may go."""
INDEXES_SECONDS = 600.0
"""How often it is seen that the database has all its indexes."""
WAIT_SECONDS = 1.0
"""How long a message is waited for at most: then it is seen whether this process is to end."""
REFUSED = 3
"""The exit code of a process that can't do its work here (see `arena.operation.supervisor`)."""

WHOLE_TICKS = 5
"""How many ticks there are to one at which it is seen to what may wait, too; the next one does so
as well if there was more of that than is done at once."""
MASKS_AT_ONCE = 20
"""How many bots are shown under their names in one tick, which must not hold anybody up."""

log = logging.getLogger("arena.recorder")


class Recorder:
    """Handles messages, and ticks."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.writer = Writer(settings)
        self.tasks = Tasks(self.writer)
        self._ticks = 0
        self._has_more = False
        """Whether there was more of what may wait than was done at once."""
        self._taken_off: Mapping[str, str] = {}
        """The games of which no matches can be made, with the reasons, as was told last."""
        self._looking = Every(LOOK_SECONDS)
        self._claiming_broker = Every(BROKER_SECONDS / 6)
        self._looking_for_indexes = Every(INDEXES_SECONDS)
        self._sets = SetsAtWork()
        self._settling = Settling()
        self._upkeep = rebuild.Upkeep(settings.check_seconds)
        self._replica: Replica | None = None
        self._dumps = DailyDumps(settings)
        self._cold = ColdRecords(settings)
        self._fetches = Fetches(settings)
        self._judging = Judging(settings.environment(), settings.truth)
        self._placing = Placing(settings.environment())
        self._reading = Reading(settings)

    def tick(self, *, whole: bool = True) -> None:
        """Rolls back, makes and issues matches, looks after ratings; harmless if it runs twice.

        Args:
            whole: whether it sees to what may wait for some ticks, as what has a date, and what
                goes on part by part; if there is anything of it.
        """
        self.writer.claim()
        self.go_by_claims()
        self.writer.look()
        settings, transact, now = self.writer.settings, self.writer.transact, utc_now()
        shards = self.writer.shards
        looking = whole and self._looking.is_due()
        if whole and not looking:
            whole = self._is_at_work or transact(agenda.is_any)
        if whole or self._claiming_broker.is_due():
            self._claim_broker()
        if shards.is_first and whole:
            self._has_more = False
            self._begin_what_is_due(now)
        self.tasks.look(now)
        heard = self.tasks.heard(now)
        happened = dict(self.writer.counted)
        self.writer.counted.clear()
        transact(lambda session: health.note_tick(session, now, heard, happened, shards.held))
        if shards.is_first and whole:
            self._look_around(settings, now, looking=looking)
        if shards.is_first and self.writer.claims.are_several:
            transact(self._settling.look)
        if heard is not None and not shards.is_first:
            # Signs are said to the first alone.
            first = transact(health.heard)
            heard = first and min(first, heard)
        if heard is not None:
            self._roll_back(settings, heard, now, sweep=looking)
        issue, rosters = allocation.schedule if whole else allocation.fill, self.writer.rosters
        self.writer.send(transact(lambda session: issue(session, settings, now, rosters, shards)))
        if shards.is_first and whole:
            self._go_on(now)

    @property
    def _is_at_work(self) -> bool:
        """Whether something was begun that is not at its end, or is to be told."""
        return (
            self._has_more
            or self._taken_off != GAMES.faults
            or self._sets.is_looking
            or self._upkeep.is_at_work
            or self._placing.is_at_work
            or self._fetches.is_at_work
            or self._reading.is_at_work
        )

    def _begin_what_is_due(self, now: datetime) -> None:
        transact = self.writer.transact
        while transact(rounds.rise_and_fall):  # before the next ones begin
            pass
        while transact(happenings.happen_next):
            pass
        transact(drawn_fields.open_check_ins)
        for _ in range(MASKS_AT_ONCE):
            if not transact(lambda session: masks.unmask_next(session, now)):
                break
        else:
            self._has_more = True
        while transact(marking.begin_due):
            pass

    def _look_around(self, settings: Settings, now: datetime, *, looking: bool) -> None:
        transact = self.writer.transact
        transact(idle.note_taken_off)
        self._taken_off = dict(GAMES.faults)
        if looking:
            self.tasks.gather_strays()
            broker = queues.look(settings.broker)
            words = broker.problem or broker.risk
            transact(lambda session: health.note(session, health.BROKER_MARK, words))
            undumped = self._dumps.look(now)
            transact(lambda session: health.note(session, health.DUMP_MARK, undumped))
            unread = self._replica.unread if self._replica else ""
            unread = unread and f"the replica is not read from: {unread}"
            transact(lambda session: health.note(session, health.REPLICA_MARK, unread))
            wrong = transact(lambda session: self._cold.look(session, settings.cold_days, now))
            transact(lambda session: health.note(session, health.COLD_MARK, wrong))
            transact(lambda session: dictionaries.make_next(session, now))
            transact(lambda session: alarms.write_to_log(session, settings, now))
            transact(lambda session: ranks.note_best(session, now))
            transact(self._judging.look)
        if self._looking_for_indexes.is_due():
            transact(_note_lost_indexes)
        transact(lambda session: tell_ends(session, now))
        transact(lambda session: sittings.give_up_abandoned(session, settings, now))
        forgotten = transact(lambda session: forget_logs(session, settings, now))
        forgotten += transact(lambda session: forget_answers(session, settings, now))
        self._has_more |= bool(forgotten)

    def _go_on(self, now: datetime) -> None:
        """The next parts of what takes long."""
        transact = self.writer.transact
        transact(self._placing.look)
        transact(self._reading.look)
        self._has_more |= transact(branches.add_next)
        is_carrying_out = transact(lambda _: self._sets.go_on(self.writer.database, now))
        transact(lambda session: self._fetches.look(session, now))
        # Last, since with many games they take longer than what was just issued may wait.
        # It opens sessions of its own; a database that goes away meanwhile is waited for, too.
        if not is_carrying_out:  # which would have it begun anew again and again
            ended = transact(lambda _: self._upkeep.go_on(self.writer.database, now))
            self._has_more |= ended is not None or self._upkeep.is_at_work
        self._has_more |= is_carrying_out or self._sets.is_looking

    def _roll_back(
        self, settings: Settings, heard: datetime, now: datetime, *, sweep: bool
    ) -> None:
        """Rolls back what is overdue, and takes what does not count any more out of the queue."""
        transact, shards = self.writer.transact, self.writer.shards
        withdrawn: set[jobs.Attempt] | None = set()
        overdue = transact(lambda session: leases.overdue(session, settings, heard, now, shards))
        if sweep or overdue.untaken:
            standing = transact(lambda session: leases.standing(session, heard))
            withdrawn = self.writer.queue.withdraw(standing, shards.held)
        if not overdue.any:
            return
        self.writer.counted.update(
            transact(
                lambda session: leases.roll_back_overdue(
                    session, settings, heard, now, withdrawn, shards
                )
            )
        )

    def go_by_claims(self) -> None:
        """Goes by the shards that it has now. Not while there is something in hand."""
        if self.writer.go_by_claims() and not self.writer.shards.is_first:
            self._end_started()  # which another one starts now
        self.tasks.listen()

    @cached_property
    def _arena(self) -> str:
        """The arena's id, which stays."""
        return self.writer.transact(arena_id)

    def _claim_broker(self) -> None:
        """Keeps other arenas off the broker; one that is away is claimed when it is there again.

        Raises:
            ClaimError: another has it.
        """
        if self._settings.broker:
            with suppress(redis.RedisError), queues.connect(self._settings.broker) as client:
                claim_broker(client, self._arena)

    def take_over(self) -> None:
        """Waits until this is the one recorder, before it reads a message of another's.

        Raises:
            SchemaError: the database is not of this release.
            ClaimError: another arena is at work on the broker.
        """
        self.writer.transact(lambda session: session.connection())
        self.writer.database.demand_schema()
        if self._settings.database_read:
            # It has connections of its own: each of the writer's claims the database, and a second
            # one would take the claim from the first.
            self._replica = Replica(self._settings.database_url, self._settings.database_read)
            self._replica.look()
            self._replica.watch()
        self._claim_broker()
        several = self.writer.claims.are_several
        self.writer.transact(lambda session: settling.begin(session, are_several=several))
        self.tasks.begin()
        self.go_by_claims()

    def record_on(self) -> None:
        """Handles messages and ticks until this process is to end."""
        ticking = Every(self._settings.tick_seconds)
        while not self.writer.is_to_end:
            self.writer.pulse.beat()
            self.go_by_claims()
            guarded(self.writer.look)
            if ticking.is_due():
                whole = self._has_more or self._ticks % WHOLE_TICKS == 0
                self._ticks += 1
                guarded(partial(self.tick, whole=whole))
            is_busy = guarded(self.tasks.turn)
            if self.writer.may_issue_more:
                guarded(self.writer.fill)
            elif not is_busy:
                rest = min(WAIT_SECONDS, ticking.remaining(), self.tasks.remaining())
                self.tasks.wait(max(0.0, rest))

    def close(self) -> None:
        """Ends its connections, and what it has started."""
        self._end_started()
        if self._replica:
            self._replica.close()
        self.tasks.close()
        if "database" in vars(self.writer):
            self.writer.database.close()

    def _end_started(self) -> None:
        """Ends the processes that do one thing each; it is gone on with later."""
        self._dumps.end()
        self._cold.end()
        self._fetches.end()
        self._judging.close()
        self._placing.close()
        self._reading.close()


def _note_lost_indexes(session: Session) -> None:
    missing = indexes.words(indexes.lost(session.connection()))
    health.note(session, health.LOST_MARK, missing)


def guarded(do: Callable[[], bool | None]) -> bool | None:
    """Does something, and writes down what was not foreseen, so that all else goes on."""
    try:
        return do()
    except ClaimChangedError:
        return None
    except (ProcessEnding, ClaimError):
        raise
    except Exception:
        log.exception("this should not have happened")
        time.sleep(PAUSES[0])
        return None


def own_trail(settings: Settings) -> Path:
    """Where this recorder keeps which game's rules it is busy with: the first file of those of a
    machine's recorders that none of them has."""
    for place in settings.rules_trails:
        with suppress(OSError):
            file = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            if lock_file(file):
                return place  # which is let go of by the end of this process
            os.close(file)
    return settings.rules_trails[0]


def main() -> int:
    """Records until SIGTERM; what keeps it from that is one line."""
    gc.enable()  # all is imported, for which it was off; and there may be long to wait
    settings = load()
    recorder = Recorder(settings)

    def stop(_number: int, _frame: object) -> None:
        recorder.writer.is_to_end = True

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, stop)
    begin_log(settings)
    try:
        recorder.take_over()
        # What is there now stays: to go through it for garbage again and again would be a tenth of
        # the work of recording.
        gc.freeze()
        break_off_hangs(GAMES)
        rules_trail.follow(own_trail(settings), GAMES.take_off, whose=GAMES.whose)
        log.info("the recorder is ready")
        recorder.writer.pulse.ready()
        recorder.record_on()
    except (SchemaError, ClaimError) as error:
        print(f"this recorder records nothing: {error}", file=sys.stderr, flush=True)
        return REFUSED
    except ProcessEnding:
        log.warning("the recorder ends; what it has not written down stays in the queue")
    finally:
        recorder.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
