"""What workers say, taken in: what each message is for, and what becomes of it.

A message stays in the queue until it is handled: one that was under way when the recorder died is
handled again, and changes nothing the second time. One that raises is logged and dropped, and
counted against who sent it.

Reports of matches come often, and where several wait they are taken in by one transaction: so a
recorder that falls behind gets faster. If that fails each is taken in alone, so that one message
can't spoil another. Signs, which count only until they are said anew, are noted in the same way, by
a transaction of their own between those of reports. What can't be read is counted against who sent
it once for all that were read together.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from math import inf
from typing import Any, TypeVar

import redis
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import sittings
from arena.analyses import asking
from arena.ground.db import FAILED, is_id
from arena.ground.texts import cut
from arena.models import Match, Worker
from arena.recorder import noting, recording
from arena.recorder.dispatch import WAKE
from arena.recorder.inbox import GLANCE_SECONDS, TOGETHER, Inbox, Said
from arena.recorder.signs import Signs
from arena.recorder.writer import ProcessEnding, Writer, utc_now
from arena.schedule import allocation, workers
from arena.schedule.leases import Fate
from engine import jobs, reporting
from engine.logs import about
from engine.protocol import visible
from engine.record import RecordError
from engine.reporting import SIGNS, Sign

T = TypeVar("T")
R = TypeVar(
    "R",
    reporting.MatchReport,
    reporting.CheckReport,
    reporting.MoveReport,
    reporting.AnswersReport,
)

OFTEN = {jobs.RECORD_MATCH, *SIGNS}
"""The tasks that can be done together."""
CHANGING = Fate.FIXED, Fate.REFUSED, Fate.ROLLED_BACK
"""The fates after which there may be room for other jobs."""

log = logging.getLogger("arena.recorder")


class Tasks:
    """Handles the messages of the queue of results in their order."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self.inbox = self._inbox_of(0)
        """The one from which messages are in hand."""
        self._inboxes = {0: self.inbox}
        """The inboxes by the shards whose queues they are."""
        self.signs: Signs | None = self._make_signs()
        """None while another recorder has the first shard."""
        self._handlers: Mapping[str, Callable[..., None]] = {
            jobs.RECORD_MATCH: self.record_match,
            jobs.RECORD_CHECK: self.record_check,
            jobs.RECORD_MOVE: self.record_move,
            jobs.RECORD_ANSWERS: self.record_answers,
            jobs.RECORD_VOID: self.record_void,
            jobs.BOT_BUILT: self.record_build,
            # A person waits for a bot's move: it is issued now rather than at the next tick.
            WAKE: writer.fill,
            # The beat of a release before may still be there.
            "arena.tick": lambda: None,
        }
        """What a message may be for."""
        self._falsehoods: dict[tuple[str, str], str] = {}
        """The last message that can't be read of a worker and a task, until it is written down."""

    def listen(self) -> None:
        """Reads what is said to the shards that this recorder has now, and to no others."""
        held = self._writer.shards.held
        for shard in self._inboxes.keys() - held:
            self._inboxes.pop(shard).close()
        for shard in sorted(held - self._inboxes.keys()):
            self._inboxes[shard] = self._inbox_of(shard)
        if self.signs is not None and 0 not in held:
            self.signs.close()
            self.signs = None
        elif self.signs is None and 0 in held:
            self.signs = self._make_signs()

    def _inbox_of(self, shard: int) -> Inbox:
        broker, counted = self._writer.own_settings.broker, self._writer.counted
        return Inbox(broker, jobs.results_of(shard), OFTEN, counted)

    def _make_signs(self) -> Signs:
        broker, counted = self._writer.own_settings.broker, self._writer.counted
        return Signs(broker, jobs.SIGNS, counted, self.inbox.refuse)

    def begin(self) -> None:
        """Forgets what the recorder of another release left in hand."""
        self.inbox.begin()

    def gather_strays(self) -> None:
        """Moves what was said to shards that are no more to the first, which passes it on."""
        if 0 in self._inboxes:
            self._inboxes[0].take_strays(self._writer.shards.count)

    def look(self, now: datetime) -> None:
        """Notes how much waits. Not while there is something in hand."""
        for inbox in self._inboxes.values():
            inbox.look(now)

    def heard(self, now: datetime) -> datetime | None:
        """The last moment up to which all that was said here is handled, whichever way it was said;
        None if that is before the first look."""
        ways = [inbox.backlog.heard(now) for inbox in self._inboxes.values()]
        if self.signs is not None:
            ways.append(self.signs.heard(now))
        return min((one for one in ways if one), default=None) if all(ways) else None

    def remaining(self) -> float:
        """The seconds until there is something to do though no message comes."""
        return self.signs.remaining() if self.signs is not None else inf

    def wait(self, seconds: float) -> None:
        """Waits until there is a message, or so long; by several queues a moment."""
        several = len(self._inboxes) > 1
        next(iter(self._inboxes.values())).wait(
            min(seconds, GLANCE_SECONDS) if several else seconds
        )

    def close(self) -> None:
        """Ends the connections."""
        for inbox in self._inboxes.values():
            inbox.close()
        if self.signs is not None:
            self.signs.close()

    def turn(self) -> bool:
        """Handles what waits, as much as is handled together; False if no message did.

        Raises:
            ProcessEnding: this process is to end, and what is not handled stays in the broker.
        """
        found = False
        for inbox in self._inboxes.values():
            self.inbox = inbox
            found |= self._turn()
        if (signs := self.signs) is not None and (waiting := signs.take(utc_now())):
            self._note(waiting)
            signs.done()
            self._write_falsehoods()
        return found

    def _turn(self) -> bool:
        """Handles what waits in one queue."""
        together: list[tuple[Said, Sequence[reporting.MatchReport]]] = []
        try:
            waiting = self.inbox.gather(TOGETHER)
            # Workers of a release before say there, too, what counts only until it is said anew.
            if signs := [said for said in waiting if said.task in SIGNS]:
                self._note(signs)
                self.inbox.acknowledge(*signs)
            for said in self._ours([said for said in waiting if said.task not in SIGNS]):
                if told := _reports(said):
                    together.append((said, told))
                    continue
                self._take_in(together)
                together = []
                self._handle(said)
            self._take_in(together)
            self._write_falsehoods()
        finally:
            self.inbox.let_go()
        return bool(waiting)

    def _ours(self, waiting: Sequence[Said]) -> Sequence[Said]:
        """What is of the shards that this recorder has; it passes on what is of others.

        A worker of a release before says all to the first, and how the arena is divided may have
        changed since a job was given out. What is passed on twice counts once.
        """
        shards = self._writer.shards
        if shards.is_all or not waiting:
            return waiting
        matches = {number for said in waiting for number in map(_match_of, said.args) if number}
        its = sa.select(Match.id, Match.competition_id).where(Match.id.in_(matches))
        rows = self._writer.transact(lambda session: session.execute(its).all())
        whose = {number: shards.of(competition) for number, competition in rows}
        ours = []
        for said in waiting:
            by: dict[int, list[Any]] = {}
            for one in said.args:
                # What is of no match, or of none that is known, is the first one's.
                by.setdefault(whose.get(_match_of(one) or 0, 0), []).append(one)
            if all(shard in shards.held for shard in by):
                ours.append(said)
                continue
            try:
                for shard, its_args in by.items():
                    self.inbox.pass_on(shard, said.task, its_args)
            except redis.RedisError as error:
                log.warning("what is of another recorder can't be passed on yet: %.200s", error)
                break
            self.inbox.acknowledge(said)
        return ours

    def _note(self, signs: Sequence[Said]) -> None:
        """Notes signs by one transaction, or each alone if that fails."""
        told: list[Sign] = []
        for said in signs:
            try:
                if said.task not in SIGNS:
                    raise jobs.JobError(f"the task {said.task!r} is said in a queue")
                told += _read(said, SIGNS[said.task])
            except Exception as error:
                self._drop(said, error)
        try:
            self._note_together(told)
        except ProcessEnding:
            raise
        except Exception:
            for one in told:
                self._note_alone(one)

    def _note_together(self, told: Sequence[Sign]) -> None:
        if not told:
            return
        settings, now = self._writer.settings, utc_now()
        for fate in self._writer.transact(lambda s: noting.note(s, told, settings, now)):
            if fate is not Fate.STALE:  # as the last one of most jobs is, which are over by then
                self._count(fate)

    def _note_alone(self, told: Sign) -> None:
        try:
            self._note_together([told])
        except ProcessEnding:
            raise
        except Exception:
            log.exception("what a worker said could not be noted")

    def _take_in(self, messages: Sequence[tuple[Said, Sequence[reporting.MatchReport]]]) -> None:
        """Handles messages by one transaction, or each alone if that fails.

        Matches for workers that reported one are issued in it, too.
        """
        if not messages:
            return
        told = [one for _, its in messages for one in its]
        settings, now = self._writer.settings, utc_now()

        def do(session: Session) -> tuple[list[Fate], list[jobs.Batch]]:
            fates = recording.take_in(session, told, settings, now)
            rosters = self._writer.rosters
            shards = self._writer.shards
            if not shards.is_all:
                # What others wait for, who record meanwhile, is not held longer than it must be.
                return fates, []
            return fates, allocation.fill(session, settings, now, rosters, shards)

        try:
            fates, issued = self._writer.transact(do)
        except ProcessEnding:
            raise
        except Exception:
            for said, _ in messages:
                self._handle(said)
            return
        self.inbox.acknowledge(*(said for said, _ in messages))
        for one, fate in zip(told, fates, strict=True):
            self._say(one, fate)
        if self._writer.shards.is_all:
            self._writer.send(issued)
        else:
            self._writer.fill()

    def _handle(self, said: Said) -> None:
        """Handles a message alone; one that raises is dropped."""
        try:
            if said.task not in self._handlers:
                raise jobs.JobError(f"there is no task {said.task!r}")
            if len(said.args) > jobs.MOST_MATCHES:
                raise jobs.JobError(f"it tells of {len(said.args)} jobs at once")
            self._handlers[said.task](*said.args, **said.named)
        except ProcessEnding:
            raise
        except FAILED as error:
            # It took long to play, maybe; but a message that is tried for ever stops all others.
            problem = str(error).splitlines()[0]
            words = "the database fails a message for %s, which is dropped: %s"
            log.error(words, said.task, problem)
        except Exception as error:
            self._drop(said, error)
        self.inbox.acknowledge(said)

    def _drop(self, said: Said, error: Exception) -> None:
        """Drops a message that no worker of ours says, to be held against whom it names."""
        self.inbox.refuse(error)
        first = said.args[0] if said.args else None
        name = first.get("worker") if isinstance(first, dict) else None
        if isinstance(name, str) and name:
            words = f"said what can't be read of {said.task}: {_line(str(error))}"
            self._falsehoods[name[: reporting.LONGEST_NAME], said.task] = words

    def _write_falsehoods(self) -> None:
        """Holds what was dropped against the workers that it names."""
        falsehoods, now = self._falsehoods, utc_now()

        def do(session: Session) -> None:
            for (name, task), problem in falsehoods.items():
                workers.note_falsehood(session, name, f"message {task}", problem, now)

        if falsehoods:
            self._writer.transact(do)
            falsehoods.clear()

    def record_match(self, *data: dict[str, Any]) -> None:
        """A worker played a match, or several short ones."""
        for one in data:
            self._record(one, reporting.MatchReport.from_json, self._keep_match)

    def _keep_match(self, session: Session, report: reporting.MatchReport, now: datetime) -> Fate:
        (fate,) = recording.take_in(session, [report], self._writer.settings, now)
        return fate

    def record_check(self, data: dict[str, Any]) -> None:
        """A worker checked a bot."""
        self._record(data, reporting.CheckReport.from_json, recording.record_check)

    def record_move(self, data: dict[str, Any]) -> None:
        """A worker made a bot's move against a person."""
        self._record(data, reporting.MoveReport.from_json, sittings.record_move)

    def record_answers(self, data: dict[str, Any]) -> None:
        """A worker asked a bot what it would play."""
        self._record(data, reporting.AnswersReport.from_json, asking.record_answers)

    def record_build(self, data: dict[str, Any]) -> None:
        """A worker built a bot."""
        built = reporting.Built.from_json(data)
        self._count(
            self._writer.transact(lambda session: recording.record_build(session, built, utc_now()))
        )

    def _record(
        self,
        data: dict[str, Any],
        read: Callable[[dict[str, Any]], R],
        keep: Callable[[Session, R, datetime], Fate],
    ) -> None:
        try:
            report = read(data)
            fate = self._writer.transact(lambda session: _keep_known(session, report, keep))
        except (*FAILED, ProcessEnding):
            raise
        except (jobs.JobError, RecordError) as error:
            self._refuse(data, str(error))
        except Exception as error:
            # The message is gone for good, so that it can't trip up the recorder again and again.
            # What it was about is played again, and after some failures the operator is shown why.
            log.exception("a report could not be recorded")
            self._refuse(data, f"it could not be recorded: {error!r}")
        else:
            self._say(report, fate)
            self._go_on_after(fate)

    def record_void(self, data: dict[str, Any]) -> None:
        """A worker could not do a job, through no bot's fault."""
        # Workers of the release before say "understood".
        failed = data.get("failed", data.get("understood")) is not False
        seconds = reporting.seconds_of(data)
        worker = reporting.worker_of(data)
        problem = str(data.get("problem", ""))
        self._refuse(data, problem, worker, failed=failed, seconds=seconds)

    def _refuse(
        self,
        data: Any,
        problem: str,
        worker: str | None = None,
        *,
        failed: bool = True,
        seconds: float = 0.0,
    ) -> None:
        """Rolls back what a message is about.

        Raises:
            JobError: it does not say so.
        """
        lease = jobs.Lease.from_json(data.get("lease") if isinstance(data, dict) else data)
        fate = self._writer.transact(
            lambda session: recording.record_void(
                session,
                lease,
                problem,
                self._writer.settings,
                utc_now(),
                worker=worker,
                failed=failed,
                seconds=seconds,
            )
        )
        self._count(fate)
        words = "%s %s, attempt %s: %s: %s"
        told = (_line(lease.kind), lease.job, lease.attempt, fate, _line(problem))
        log.warning(words, *told, extra=about(lease))
        self._go_on_after(fate)

    def _go_on_after(self, fate: Fate) -> None:
        if fate in CHANGING:
            self._writer.fill()

    def _say(self, report: R, fate: Fate) -> None:
        """Tells what became of a report."""
        self._count(fate)
        lease, worker = report.lease, report.worker
        log.log(
            logging.WARNING if fate in (Fate.REFUSED, Fate.FORGED) else logging.INFO,
            "%s %s, attempt %s of %s: %s",
            *(_line(lease.kind), lease.job, lease.attempt, _line(worker), fate),
            extra={**about(lease), "worker": worker},
        )

    def _count(self, fate: Fate) -> None:
        self._writer.counted[fate.partition(",")[0]] += 1


def _keep_known(session: Session, report: R, keep: Callable[[Session, R, datetime], Fate]) -> Fate:
    """Keeps a report of a worker that gave a sign of life at least once.

    Raises:
        JobError: nobody knows it.
    """
    if session.get(Worker, report.worker) is None:
        raise jobs.JobError(f"there is no worker {report.worker!r}")
    return keep(session, report, utc_now())


def _read(said: Said, read: Callable[[Any], T]) -> list[T]:
    """What a message says of each of its jobs.

    Raises:
        JobError: it tells of more than are given out at once; or whatever reading raises.
    """
    if len(said.args) > jobs.MOST_MATCHES:
        raise jobs.JobError(f"it tells of {len(said.args)} jobs at once")
    if not said.args:
        raise jobs.JobError("it tells of nothing")
    return [read(one) for one in said.args]


def _reports(said: Said) -> list[reporting.MatchReport]:
    """The reports of a message that can be handled with others; none if it can't be."""
    if said.task == jobs.RECORD_MATCH:
        with suppress(Exception):
            return _read(said, reporting.MatchReport.from_json)
    return []


def _match_of(said: Any) -> int | None:
    """The number of the match that something is said of; None if it is of none."""
    lease = said.get("lease") if isinstance(said, dict) else None
    number = lease.get("job") if isinstance(lease, dict) and lease.get("kind") == "match" else None
    return number if isinstance(number, int) and is_id(number) else None


def _line(text: str) -> str:
    """Words of a worker's, who may be anybody, as a part of one line of the log."""
    return visible(cut(text), but="")
