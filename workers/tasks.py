"""What workers do: matches are played, bots checked, and moves made in people's games.

A worker acknowledges a job when it takes it: the arena's lease, not the broker, brings a lost one
back. While it plays it says so at least three times in each lease, and once a second if somebody
watches, which renews the lease. Of a match that is over at once only its report is sent, which says
that it was taken up, too; and those of several that came in one message are sent together.
"""

from __future__ import annotations

import ctypes
import gc
import logging
import os
import secrets
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain, repeat
from pathlib import Path
from typing import Any, TypeVar

from celery.exceptions import WorkerLostError
from celery.signals import (
    after_setup_logger,
    celeryd_after_setup,
    task_failure,
    worker_process_init,
    worker_ready,
    worker_shutting_down,
)

from engine import jobs, reporting, sitting
from engine.asking import opinions
from engine.bot_options import read_options
from engine.clock import ALLOWANCES, Allowances
from engine.compliance import Examination
from engine.faulty_rules import fault_of
from engine.games import GAMES
from engine.logs import about, use_json
from engine.match import Players
from engine.process import BotProcess
from engine.program import Program
from engine.timers import Every
from workers import at_home, building, bundles, runtime_files
from workers.app import LoginError, Murmur, app, demand_own_login, queues, say, worker_name
from workers.building import BuildError
from workers.clocked import GAUGE, ClockedQueues, measure_if_idle
from workers.cores import available, claimed_core
from workers.kept_files import GIB, USUAL_BYTES
from workers.languages import LanguageError
from workers.launches import installed_languages
from workers.limits import Limits
from workers.measuring import ClockError
from workers.program import BoxError
from workers.progress import ProgressTeller, Reports, failure
from workers.runtimes import UnpackedRuntime, platforms_here
from workers.sandbox import Sandbox

log = logging.getLogger("workers")

ALIVE_SECONDS = 10.0
SOONEST_SECONDS = 0.5
"""The least time between two signs of life of which the second says something new."""
UNUSED_SECONDS = 30 * 24 * 60 * 60
"""How long a worker keeps a bot's unpacked files that nobody uses."""
TIDY_SECONDS = 24 * 60 * 60
"""How often a worker looks for those; it may run for months."""
LONGEST_PAUSE_SECONDS = 60.0
MAIN_PROCESS = os.getpid()
"""The worker's own process, from which those that play are forked."""
PR_SET_PDEATHSIG = 1


@cache
def sandbox() -> Sandbox:
    """This process's means to start bots; raises BoxError below the operator's minimum."""
    box_folder = os.environ.get("ARENA_BOX_FOLDER")
    return Sandbox(
        os.environ.get("ARENA_MINIMUM_ISOLATION", "good"),
        Path(box_folder) if box_folder else None,
        kept_bytes=kept_bytes(os.environ.get("ARENA_CACHE_GIB", "")),
    )


def kept_bytes(text: str) -> int:
    """How many bytes of large files this worker keeps, by its operator's words in GiB.

    Raises:
        BoxError: they are no such number.
    """
    try:
        size = float(text) * GIB if text else USUAL_BYTES
        if 0 <= size < 2**63:
            return int(size)
    except ValueError:
        pass
    raise BoxError(f"ARENA_CACHE_GIB={text[:40]!r} is no number of GiB, such as 8")


@after_setup_logger.connect
def log_json(logger: logging.Logger, **_: Any) -> None:
    """Writes logs as JSON where the operator wants them so."""
    if os.environ.get("ARENA_LOG") == "json":
        use_json(logger)


_tidying = Every(TIDY_SECONDS)


def tidy_if_due() -> None:
    """Removes once a day what was unpacked or built of bots that were not played for long."""
    if not _tidying.is_due():
        return
    for unpacked in (sandbox().bundles, sandbox().builds, sandbox().runtimes):
        bundles.sweep(unpacked, unused_seconds=UNUSED_SECONDS)
    sandbox().kept.sweep()


@celeryd_after_setup.connect
def probe(instance: Any, **_: Any) -> None:
    """Finds the box, with a log and before the pool is forked, or refuses to work at all.

    Which jobs it takes depends on that.
    """
    try:
        demand_own_login()
        log.info("bots run in boxes of level %s", sandbox().level)
        tidy_if_due()
        sandbox().end_orphans()
        GAUGE.slots = instance.concurrency
        with claimed_core() as core:
            GAUGE.take(sandbox(), core)
        for queue in queues(several=True) if sandbox().has_several else ():
            instance.app.amqp.queues.select_add(queue)
    except (BoxError, LoginError) as error:
        print(f"this worker plays nothing: {error}", file=sys.stderr, flush=True)
        raise SystemExit(3) from None
    # What is there now stays, and is shared with the processes that play as long as nobody goes
    # through it for garbage.
    gc.collect()
    gc.freeze()


@worker_process_init.connect
def end_with_worker(**_: Any) -> None:
    """A process that plays ends with its worker, in the middle of a match too, bots and all."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != MAIN_PROCESS:
        os._exit(1)
    # The process in whose place this one is may have been killed.
    sandbox().end_orphans()


_stopping = threading.Event()


@worker_shutting_down.connect
def stop(**_: Any) -> None:
    """This worker was told to end, which it does when its last matches are played."""
    _stopping.set()
    tell_soon()


_sooner = threading.Event()


def tell_soon() -> None:
    """Gives the next sign of life before its time, since it says something new."""
    _sooner.set()


@worker_ready.connect
def live(sender: Any, **_: Any) -> None:
    """Says every few seconds that this worker lives, from its main process; tidies once a day.

    One that is to end says at once that it has no slots, so that nobody takes it for lost.
    """
    sign = reporting.SignOfLife(
        worker_name(),
        sender.controller.concurrency,
        sandbox().level,
        tuple(installed_languages()),
        games=tuple(map(str, GAMES.editions())),
        platforms=platforms_here(),
    )

    murmur = Murmur(secrets.token_hex(16), 2 * ALIVE_SECONDS)
    # The first goes before any report, which is refused of a worker that nobody knows.
    ways: Iterator[Callable[[str, dict[str, Any]], object]] = chain([say], repeat(murmur.say))
    clocked = ClockedQueues(sender)

    def beat() -> None:
        while True:
            is_to_end = _stopping.is_set()
            try:
                if not is_to_end and at_home.here() is None:
                    measure_if_idle(sandbox())
                    clocked.take_if_fit(several=sandbox().has_several)
                slots = 0 if is_to_end else sign.slots
                told = replace(sign, slots=slots, clock=time.time())
                told = replace(told, measure=GAUGE.last, cores=len(available()))
                if home := at_home.here():
                    told = replace(told, at_home={} if is_to_end else home.connected())
                next(ways)(jobs.WORKER_ALIVE, told.to_json())
                tidy_if_due()
            except Exception:
                log.exception("could not give a sign of life, or tidy")
            wait = time.sleep if is_to_end else _stopping.wait
            wait(SOONEST_SECONDS)
            (wait if is_to_end else _sooner.wait)(ALIVE_SECONDS - SOONEST_SECONDS)
            _sooner.clear()

    threading.Thread(target=beat, name="alive", daemon=True).start()


@app.task(name=jobs.PLAY_MATCH)
def play(*matches: dict[str, Any]) -> None:
    """Plays a match, or several short ones."""
    with claimed_core() as core, closing(_Table(core)) as table:
        if GAUGE.last is not None and GAUGE.is_due and at_home.here() is None:
            # Before the first match, and at no bot's expense.
            GAUGE.take(sandbox(), core)
        reports = Reports()
        try:
            for data in matches:
                _do(data, jobs.Job.from_json, table.play, reports)
        finally:
            reports.send()


@app.task(name=jobs.CHECK_BOT)
def check(data: dict[str, Any]) -> None:
    """Checks a bot: every clause of the protocol, and a whole game against itself."""
    _do(data, jobs.Job.from_json, _check, Reports())


@app.task(name=jobs.PLAY_MOVE)
def move(data: dict[str, Any]) -> None:
    """Makes one move in a person's game."""
    _do(data, jobs.MoveJob.from_json, _move, Reports())


@app.task(name=jobs.ASK_BOT)
def ask(data: dict[str, Any]) -> None:
    """Asks a bot what it would play in positions of a game."""
    _do(data, jobs.AskJob.from_json, _ask, Reports())


Message = tuple[str, dict[str, Any]]
"""A task of the recorder, and what it is told."""


Work = TypeVar("Work", jobs.Job, jobs.MoveJob, jobs.AskJob)


def pause_seconds(failures: int) -> float:
    """How long a process rests that failed at so many jobs one after the other.

    One that fails at everything would otherwise be the quickest of all, and take every job from
    those that could do it. The first failure may be the job's.
    """
    return 0.0 if failures < 2 else min(2.0 ** min(failures - 2, 10), LONGEST_PAUSE_SECONDS)


class _Luck:
    """How many jobs this process failed at since it last did one."""

    failures = 0


def _do(
    data: dict[str, Any],
    read: Callable[[dict[str, Any]], Work],
    work: Callable[[Work, ProgressTeller], Message],
    reports: Reports,
) -> None:
    """Does a job, and reports what came of it; of a match with the others of its message."""
    try:
        job = read(data)
    except (jobs.JobError, KeyError, TypeError, ValueError) as error:
        # Most likely the arena is of another release: the job waits for a worker that knows it,
        # and this one is in no hurry to meet it again.
        log.error("a job was not understood: %s", error)
        if "lease" in data:
            problem = f"{worker_name()} did not understand it: {error}"[:2000]
            say(jobs.RECORD_VOID, {"lease": data["lease"], "problem": problem, "failed": False})
        _rest()
        return
    log.info("%s %s begins", job.lease.kind, job.lease.job, extra=about(job.lease))
    progress = ProgressTeller(job.lease, reports, job.lease_seconds / 3)
    if job.lease.kind != "match":
        progress.take_up()
    try:
        with progress:
            task, report = work(job, progress)
    except (at_home.AwayError, ClockError) as error:
        say(jobs.RECORD_VOID, failure(job.lease, error, is_its_own=False))
        return
    except Exception as error:
        # What plays was checked before: if it can't be built or run now, that is our affair. So is
        # a mistake in this program, of which else nobody would hear before the lease ends.
        words = "%s %s could not be done"
        log.exception(words, job.lease.kind, job.lease.job, extra=about(job.lease))
        reports.send()  # those of the matches before do not wait for the rest
        say(jobs.RECORD_VOID, progress.failure(fault_of(error) or error))
        _rest()
        return
    _Luck.failures = 0
    if task == jobs.RECORD_MATCH:
        reports.add(report)
    else:
        say(task, report)
    log.info("%s %s is done", job.lease.kind, job.lease.job, extra=about(job.lease))


@task_failure.connect
def tell_of_a_lost_process(args: Sequence[Any], exception: BaseException, **_: Any) -> None:
    """Says at once that a job failed whose process was killed, rather than when its lease ends.

    Of several matches nobody knows which was played; each is played again in a message of its own.
    """
    if isinstance(exception, WorkerLostError):
        leases = [jobs.Lease.from_json(data["lease"]) for data in args]
        for lease in leases:
            say(jobs.RECORD_VOID, failure(lease, exception, is_its_own=len(leases) == 1))


def _rest() -> None:
    """A failure more, and a pause after it."""
    _Luck.failures += 1
    time.sleep(pause_seconds(_Luck.failures))


class _Table:
    """Where the matches of a message are played, one after the other.

    If the next match is of the same bots, they keep their processes: most of all in a strength
    test of short games, where to start bots would take longer than to play.
    """

    def __init__(self, core: int | None = None) -> None:
        """Takes the core of all its bots: only one runs at any time, so none disturbs another."""
        self._held = ExitStack()
        """Their files, which stay."""
        self._core = core
        self._ready: dict[tuple[jobs.Grant, jobs.BotFiles], _Bot] = {}
        self._who: object = None
        self._players = Players(self._start)
        self._bots: list[_Bot] = []
        self._chosen: Sequence[Mapping[str, str]] = ()
        self._log_bytes = 0

    def play(self, job: jobs.Job, progress: ProgressTeller) -> Message:
        """Plays a job's match."""
        began = time.monotonic()
        spec = job.spec
        if spec.time.reference:
            GAUGE.demand_fit()
        # The same limits, and not another board either: no check has seen a bot change that.
        bots = tuple((bot.digest, bot.threads) for bot in job.bots)
        who = spec.variant, spec.entrants, spec.chosen, bots, job.grant
        if who != self._who:
            self._send_away()
            self._bots = [self._bot(job.grant, files, progress) for files in job.bots]
            self._chosen = spec.chosen or ({},) * len(job.bots)
            self._log_bytes = job.grant.log_bytes
            self._who = who
        watch = partial(progress.watch, logs=self._players.logs)
        result = self._players.play(spec, watch=watch, speeds=self._speeds())
        report = reporting.MatchReport(
            job.lease,
            worker_name(),
            result.games,
            result.logs,
            seconds=round(time.monotonic() - began, 6),
        )
        return jobs.RECORD_MATCH, report.to_json()

    def _speeds(self) -> list[float]:
        """How fast this machine is for each bot; nothing if that is not known of all."""
        last = GAUGE.last
        if last is None:
            return []
        speeds = [last.speed(interpreted=bot.interpreted) for bot in self._bots if bot.is_here]
        return speeds if len(speeds) == len(self._bots) else []

    def close(self) -> None:
        """Sends the bots away, for good."""
        self._send_away()
        self._held.close()

    def _send_away(self) -> None:
        self._who = None
        self._players.close()

    def _bot(self, grant: jobs.Grant, files: jobs.BotFiles, progress: ProgressTeller) -> _Bot:
        # A bot that plays in several of the matches is proven to be whole only once.
        if (grant, files) not in self._ready:
            self._ready[grant, files] = _Bot.ready(
                grant, files, progress, self._held, core=self._core
            )
        return self._ready[grant, files]

    def _start(self, entrant: int) -> BotProcess:
        bot = self._bots[entrant]
        return bot.player(
            bot.start,
            allowances=bot.allowances,
            log_bytes=self._log_bytes,
            keeps_lines=True,
            declared=read_options(bot.options),
            chosen=self._chosen[entrant],
        )


def _check(job: jobs.Job, progress: ProgressTeller) -> Message:
    """Checks a job's bot."""
    with claimed_core() as core, ExitStack() as held:
        return _check_on(core, job, progress, held)


def _check_on(
    core: int | None, job: jobs.Job, progress: ProgressTeller, held: ExitStack
) -> Message:
    findings = progress.findings
    try:
        bot = _Bot.ready(job.grant, job.bots[0], progress, held, core=core)
    except LanguageError as error:
        # What can't be run here is no fault of the machine while it is only being checked.
        finding = reporting.Finding(False, str(error), "language")
        return _checked(job, [finding], "")
    except BuildError as error:
        finding = reporting.Finding(False, str(error), "build")
        return _checked(job, [finding], _build_log(error.log))
    if bot.built:
        findings.append(reporting.Finding(True, "it was built from its sources", "build"))
    spec = job.spec
    if job.bots[0].at_home is not None:
        spec = replace(spec, time=replace(spec.time, charge="wall"))
    tested = Examination(
        bot.start,
        spec,
        allowances=bot.allowances,
        log_bytes=job.grant.log_bytes,
        tells_errors=True,  # a check is for the bot's owners
        watch=progress.watch,
        declared=bot.options,
    )
    for finding in tested.findings():
        findings.append(finding)
    return _checked(job, findings, _build_log(bot.build_log) + tested.log, tested.options)


def _checked(
    job: jobs.Job,
    findings: Sequence[reporting.Finding],
    log: str,
    options: tuple[str, ...] | None = None,
) -> Message:
    report = reporting.CheckReport(job.lease, worker_name(), tuple(findings), log, options)
    return jobs.RECORD_CHECK, report.to_json()


def _build_log(text: str) -> str:
    """What a build wrote, as a part of the log of a check."""
    return f"=== while building\n{text.rstrip()}\n" if text.strip() else ""


def _move(job: jobs.MoveJob, progress: ProgressTeller) -> Message:
    """Starts a job's bot for one move; somebody waits, so it is not asked to leave in order."""
    with claimed_core() as core, ExitStack() as held:
        bot = _Bot.ready(job.grant, job.bot, progress, held, core=core)
        player = BotProcess(bot.start, allowances=bot.allowances, log_bytes=job.grant.log_bytes)
        try:
            game = sitting.ask(job.game, player)
        finally:
            player.close(kill=True)
    return jobs.RECORD_MOVE, reporting.MoveReport(job.lease, worker_name(), game).to_json()


def _ask(job: jobs.AskJob, progress: ProgressTeller) -> Message:
    """Starts a job's bot once for all its positions."""
    with claimed_core() as core, ExitStack() as held:
        bot = _Bot.ready(job.grant, job.bot, progress, held, core=core)
        player = BotProcess(bot.start, allowances=bot.allowances, log_bytes=job.grant.log_bytes)
        try:
            # Somebody waits, and a whole game may take minutes: each is told soon.
            progress.answers.extend(opinions(job.game, job.plies, player))
        finally:
            player.close(kill=True)
    report = reporting.AnswersReport(job.lease, worker_name(), tuple(progress.answers))
    return jobs.RECORD_ANSWERS, report.to_json()


def _try_out(box: Sandbox, runtime: UnpackedRuntime) -> None:
    runtime_files.try_out(runtime, box)


@dataclass(frozen=True, slots=True)
class _Bot:
    """A bot of a job, ready to be started."""

    start: Callable[[], Program]
    allowances: Allowances
    built: bool = False
    build_log: str = ""
    player: Callable[..., BotProcess] = BotProcess
    """What it is in a match."""
    options: tuple[str, ...] = ()
    """What its manifest declares that can be chosen about it."""
    is_here: bool = True
    """Whether it runs on this machine."""
    interpreted: bool = False
    """Whether it is run by the Python of this machine."""

    @classmethod
    def ready(
        cls,
        grant: jobs.Grant,
        files: jobs.BotFiles,
        progress: ProgressTeller,
        held: ExitStack,
        *,
        core: int | None,
    ) -> _Bot:
        """Fetches a bot, and builds it if it must be.

        Args:
            progress: of the job that it is for; it is told how long a build took.
            held: for how long its files stay, whatever else is wanted here.
            core: where it runs and is built.

        Raises:
            BundleError: what was fetched is not the bundle.
            RoomError: its large files have no room here.
            NoRuntimeError: or not its runtime.
            LanguageError: it can't be run here, or not with what it is granted.
            BuildError: it can't be built.
            BoxError: no box can be built for that.
        """
        if files.at_home is not None:
            starter = at_home.Starter(files.at_home)
            return cls(starter, at_home.ALLOWANCES, player=at_home.HomePlayer, is_here=False)
        box = sandbox()
        folder = bundles.unpack(files.location, files.digest, box.bundles, box.kept, held=held)
        runtime = None
        if files.runtime:
            runtime = runtime_files.unpack(files.runtime, box.runtimes, partial(_try_out, box))
        try:
            found = building.prepare(box, folder, files.digest, core=core, runtime=runtime)
        except BuildError as error:
            progress.tell_of_build(files.digest, error.seconds)
            raise
        if found.build_seconds:
            progress.tell_of_build(files.digest, found.build_seconds)
        limits = Limits(grant.memory_bytes, files.threads or grant.threads, grant.processes)
        if words := box.refusal(found.launch, limits):
            raise LanguageError(f"it can't be run here: {words}")
        start = partial(box.start, found.folder, found.launch, limits, core=core)
        allowances = replace(ALLOWANCES, start_seconds=found.launch.start_seconds)
        player, options = at_home.boxed_player(), found.launch.options
        return cls(
            start,
            allowances,
            found.built,
            found.log,
            player,
            options,
            interpreted=found.launch.is_python,
        )
