"""Plays matches between bots of this machine, several at a time, told in their own order."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from itertools import islice, takewhile
from pathlib import Path
from typing import TypeVar

import click

import engine
from arena.cli import InputError, refusing
from arena.cli.arguments import GivenBot, minimum_option
from arena.cli.boxed import into_box, pack
from arena.cli.interrupts import UnderWay
from arena.ratings.sprt import Decision
from arena.strength.gauntlet import GauntletTest
from arena.strength.outcomes import outcome, seatings
from arena.strength.sequential import SequentialTest, StrengthSettings
from arena.strength.tuning import Tuning
from engine.bot_options import BotOption, BotOptionError, check_chosen, read_options
from engine.channel import PipeChannel
from engine.clock import ALLOWANCES, Allowances, TimeControl
from engine.match import MatchSpec, play_match
from engine.openings import Opening
from engine.player import BotError, VoidGameError
from engine.process import BotProcess, OpenChannel
from engine.program import PlainProgram, Program
from engine.protocol import visible
from engine.record import GameRecord
from engine.referee import ISOLATION_LEVELS
from engine.seeds import derive
from engine.translation import gettext, speaking, spoken
from workers.archives import BundleError, is_archive
from workers.bubblewrap import complaint
from workers.building import BuildError
from workers.cores import available, claimed_core
from workers.languages import LanguageError, find_language
from workers.launches import Launch, box_python, command_for
from workers.program import BoxError
from workers.sandbox import Sandbox

Job = TypeVar("Job")
Result = TypeVar("Result")


def cores() -> int:
    """How many matches this machine plays at the same time without one slowing another."""
    return len(available())


@dataclass(frozen=True, slots=True)
class Launcher:
    """How a bot is started on this machine."""

    name: str
    start: Callable[[int | None], Program]
    """Starts it, bound to this core of the processor if that can be done."""
    allowances: Allowances = ALLOWANCES
    level: str = "none"
    """The level of its box."""
    options: Mapping[str, BotOption] = field(default_factory=dict)
    """What its manifest declares that can be chosen about it."""
    chosen: Mapping[str, str] = field(default_factory=dict)
    """What is chosen, as it is told."""
    own_time: TimeControl | None = None
    """Its time control, if it is not that of all."""

    def player(
        self, *, core: int | None = None, open_channel: OpenChannel = PipeChannel
    ) -> BotProcess:
        """A fresh process of the bot; why none can be started is told in the language spoken now,
        though a game in which it starts is in English.
        """
        told = spoken()

        def start() -> Program:
            with speaking(told):
                return self.start(core)

        return BotProcess(
            start,
            allowances=self.allowances,
            open_channel=open_channel,
            tells_errors=True,
            declared=self.options,
            chosen=self.chosen,
        )

    def choosing(self, chosen: Mapping[str, str]) -> Launcher:
        """A launcher of the same bot that is told values of its options.

        Raises:
            InputError: it has no such option, none that takes such a value, or does not start.
        """
        if not chosen:
            return self
        learned = self.learning()
        with refusing(BotOptionError):
            told = check_chosen(learned.options, chosen, self.name.partition(":")[0])
        return replace(learned, chosen=told)

    def learning(self) -> Launcher:
        """A launcher of the same bot that knows all its options, for which it is started once.

        Raises:
            InputError: it does not start.
        """
        player = self.player()
        try:
            with refusing(BotError):
                player.start()
            if player.undeclared:
                click.echo(
                    f"{self.name}: {player.undeclared}",
                    err=True,
                )
            return replace(self, options=player.options)
        finally:
            player.close()


def plain(bot: GivenBot) -> Launcher:
    """A bot as a plain process: a file in its own folder, a command where we are.

    What must be built is built first, in a box if there is one.

    Raises:
        LanguageError: it can't be run so, or not be built.
    """
    folder = bot.path.resolve()
    if bot.words:
        return Launcher(bot.name, lambda _: PlainProgram(bot.words))
    language = find_language(bot.path)
    if bot.path.is_file() and not (language and language.build) and not is_archive(bot.path):
        command = command_for(bot.path)
        return Launcher(bot.name, lambda _: PlainProgram(command, cwd=folder.parent))
    try:
        bundle = pack(bot.path)
        manifest = bundle.manifest
        if manifest.is_built or manifest.runtime or not bot.path.is_dir():
            boxed = into_box(bundle, Sandbox("none"))
            return _started_plainly(bot, boxed.ready.launch, boxed.ready.folder)
    except BuildError as error:
        click.echo(visible(error.log.rstrip()), err=True)
        raise LanguageError(
            gettext("%(path)s can't be built: %(error)s", path=bot.path, error=error)
        ) from None
    except (BundleError, BoxError) as error:
        raise LanguageError(str(error)) from None
    return _started_plainly(bot, manifest.launch(), folder)


def _started_plainly(bot: GivenBot, launch: Launch, folder: Path) -> Launcher:
    env = None
    if launch.runtime:
        # By the system's interpreter, which that is made for.
        launch = launch.placed(str(ROOT), str(launch.runtime))
        env = {**os.environ, **launch.environment}
    else:
        with suppress(LanguageError):  # then nothing is started by it
            # That of this program, which has the engine.
            launch = replace(
                launch,
                command=[sys.executable if one == box_python() else one for one in launch.command],
            )
    if launch.processes > 1:
        click.echo(
            gettext(
                "%(name)s is of several processes; in no box the CPU time of the first alone "
                "is charged: play it with --wall",
                name=bot.name,
            ),
            err=True,
        )
    allowances = replace(ALLOWANCES, start_seconds=launch.start_seconds)
    command, its = launch.command, launch.told_by
    return Launcher(
        bot.name,
        lambda _: PlainProgram(command, cwd=folder, env=env, told_by=its),
        allowances,
        options=read_options(launch.options),
    )


NO_BOX = click.option(
    "--no-box", is_flag=True, help="Run the bots as plain processes of this user."
)
ROOT = Path(engine.__file__).parents[1]
"""Where bots in no box find the engine."""
HEARING_SECONDS = 0.5
"""A signal that comes just before Python waits is heard only after that: no wait is endless."""
LEAST_BOX = "reduced"
"""The weakest level that is a box at all: whatever is asked for, less takes --no-box."""
MINIMUM = minimum_option(LEAST_BOX)


def launch_all(
    bots: Sequence[GivenBot],
    *,
    no_box: bool,
    minimum: str = LEAST_BOX,
    processes: int = 1,
    say: Callable[[str], None],
    quiet: bool = False,
) -> list[Launcher]:
    """Makes bots ready, in the strongest box that this machine can build, and says which.

    A whole command runs outside, as it may be anything.

    Args:
        minimum: the weakest box to accept.
        processes: how many each of them may have in its box.
        quiet: nothing is said unless some bot runs in no box.

    Raises:
        LanguageError: one can't be run.
        InputError: one is no bot, or can't be built; or there is no such box.
    """
    box = None if no_box or all(bot.words for bot in bots) else _strongest_box(minimum)
    if box:
        told = [gettext("The bots run in boxes of level %(level)r.", level=box.level)]
    else:
        told = [
            gettext(
                "The bots run as plain processes of this user, in no box: play only those that "
                "you trust."
            )
        ]
    launchers: list[Launcher] = []
    for bot in bots:
        its = _boxed(bot, box, processes) if box and not bot.words else plain(bot)
        launchers.append(replace(its.choosing(bot.chosen), own_time=bot.own_time))
        if box and bot.words:
            told.append(gettext("%(bot)s is a whole command: it runs in no box.", bot=bot.name))
    if not quiet or weakest(launchers) == "none":
        say("\n".join(told))
    return launchers


def _strongest_box(minimum: str) -> Sandbox:
    """The strongest that this machine can build; what was left by runs that were killed is ended.

    Raises:
        InputError: it is weaker than that, or none.
    """
    try:
        box = Sandbox("none" if minimum == LEAST_BOX else minimum)
        if box.box is None:
            why = "; ".join(box.failures)
            raise BoxError(
                gettext(
                    "no box can be built here (%(why)s); `arena doctor` says what helps", why=why
                )
            )
    except BoxError as error:
        raise InputError(
            gettext(
                "%(error)s; without a box bots run only with --no-box (pytest: "
                "--arena-no-box), as plain processes of this user",
                error=error,
            )
        ) from None
    box.end_orphans()
    return box


def _boxed(bot: GivenBot, box: Sandbox, processes: int) -> Launcher:
    try:
        with refusing(BundleError, BoxError):
            boxed = into_box(pack(bot.path), box, processes)
    except BuildError as error:
        click.echo(visible(error.log.rstrip()), err=True)
        raise InputError(
            gettext("%(path)s can't be built: %(error)s", path=bot.path, error=error)
        ) from None
    if words := boxed.refusal:
        raise InputError(f"{bot.path}: {words}")
    options = read_options(boxed.ready.launch.options)
    return Launcher(bot.name, boxed.start, boxed.allowances, box.level, options)


def weakest(bots: Iterable[Launcher]) -> str:
    """The level of the weakest of these bots' boxes."""
    return min((bot.level for bot in bots), key=ISOLATION_LEVELS.index)


def on_cores(play: Callable[[Job, int | None], Result]) -> Callable[[Job], Result]:
    """Claims a core for each job (see `workers.cores`), and gives it back at the job's end.

    All bots of a match are on one core, as in an arena: only one of them runs at any time.
    """

    def play_on_one(job: Job) -> Result:
        with claimed_core() as core:
            return play(job, core)

    return play_on_one


def in_order(
    jobs: Iterable[Job],
    play: Callable[[Job], Result],
    *,
    concurrency: int,
    ending: Callable[[], None] = lambda: None,
) -> Generator[tuple[Job, Result]]:
    """Plays jobs in threads, and yields each with its result in the order of the jobs.

    The threads speak what is spoken here. A job is taken when a thread is free for it. At the end,
    however it comes, jobs that were begun are waited for.

    Args:
        ending: called before jobs are waited for at the end; it may break them off.

    Raises:
        VoidGameError: no thread can be started.
    """
    waiting = enumerate(jobs)
    running: dict[Future[Result], tuple[int, Job]] = {}
    done: dict[int, tuple[Job, Result]] = {}
    due = 0
    pool = ThreadPoolExecutor(concurrency)
    try:
        while True:
            for number, job in islice(waiting, concurrency - len(running)):
                try:
                    running[pool.submit(copy_context().run, play, job)] = number, job
                except RuntimeError as error:
                    raise VoidGameError(
                        gettext("no match can be begun: %(error)s", error=complaint(str(error)))
                    ) from error
            if not running:
                return
            for future in wait(running, HEARING_SECONDS, FIRST_COMPLETED).done:
                number, job = running.pop(future)
                done[number] = job, future.result()
            while due in done:
                yield done.pop(due)
                due += 1
    finally:
        ending()
        pool.shutdown(wait=True, cancel_futures=True)


def match_spec(
    opening: Opening, names: Sequence[str], time: TimeControl, seed: int, number: int
) -> MatchSpec:
    """A match of a run, whose dice follow from the run's seed and the number of the match."""
    dice = derive(seed, "match", number)
    return MatchSpec(opening.variant, tuple(names), time, opening.moves, dice)


def _play(
    pair: tuple[Launcher, Launcher],
    job: tuple[int, Opening],
    time: TimeControl,
    seed: int,
    under_way: UnderWay,
    core: int | None,
) -> tuple[GameRecord, ...]:
    """A match of a strength test, in the order of its seatings.

    Raises:
        AbandonedError: it was broken off.
    """
    number, opening = job
    spec = match_spec(opening, [bot.name for bot in pair], time, seed, number)
    chosen = tuple(bot.chosen for bot in pair)
    times = tuple(bot.own_time or time for bot in pair)
    spec = replace(spec, seatings=seatings(spec.variant), chosen=chosen, times=times)

    def start(entrant: int) -> BotProcess:
        under_way.check()
        return pair[entrant].player(core=core, open_channel=under_way.channel())

    return play_match(spec, start, watch=lambda _: under_way.check).games


def go_on(
    test: SequentialTest,
    candidate: Launcher,
    baseline: Launcher,
    *,
    concurrency: int,
    stopped: Callable[[], bool] = lambda: False,
) -> Generator[tuple[SequentialTest, tuple[GameRecord, ...]]]:
    """Plays a test from where it stands, and yields it after each match, with its games.

    Matches are folded in the order of their openings, whichever ends first, so the test is the
    same with any concurrency; what was begun beyond the deciding match is broken off.

    Args:
        stopped: once it says so, no match is begun; those under way are played to their end,
            so that none is to be played twice.
    """
    settings = test.settings
    under_way = UnderWay()

    def play(job: tuple[int, Opening], core: int | None) -> tuple[GameRecord, ...]:
        pair = candidate, baseline
        return _play(pair, job, settings.time, settings.seed, under_way, core)

    if test.decision is not Decision.CONTINUE:
        return
    series = islice(enumerate(settings.openings()), test.matches, settings.most_matches)
    with _played(series, play, under_way, concurrency, stopped) as results:
        for records in results:
            board = settings.boards[test.matches % len(settings.boards)]
            test = test.add(outcome(board, records))
            yield test, records
            if test.decision is not Decision.CONTINUE:
                return
        if not stopped():
            yield test.end_of_openings(), ()


@contextmanager
def _played(
    series: Iterable[Job],
    play: Callable[[Job, int | None], Result],
    under_way: UnderWay,
    concurrency: int,
    stopped: Callable[[], bool],
) -> Iterator[Iterator[Result]]:
    """The results of a series in its order; what is under way at the end is broken off."""
    results = in_order(
        takewhile(lambda _: not stopped(), series),
        under_way.patiently(on_cores(play)),
        concurrency=concurrency,
        ending=under_way.abandon,
    )
    with closing(results):
        yield (result for _, result in results)


def tune_on(
    tuning: Tuning,
    bot: Launcher,
    *,
    concurrency: int,
    stopped: Callable[[], bool] = lambda: False,
) -> Generator[tuple[Tuning, tuple[GameRecord, ...]]]:
    """Plays a tuning from where it stands, and yields it after each match, with its games.

    It ends early if there are no more openings, or once it is `stopped`.
    """
    settings = tuning.settings
    openings = islice(enumerate(settings.openings()), tuning.played, None)
    while not tuning.is_over and not stopped():
        under_way, at_hand = UnderWay(), tuning

        def play(
            job: tuple[int, Opening],
            core: int | None,
            under_way: UnderWay = under_way,
            at_hand: Tuning = at_hand,
        ) -> tuple[GameRecord, ...]:
            moved, against = ({**bot.chosen, **its} for its in at_hand.sides(job[0]))
            pair = replace(bot, chosen=moved), replace(bot, chosen=against)
            return _play(pair, job, settings.time, settings.seed, under_way, core)

        series = islice(openings, len(at_hand.batch))
        with _played(series, play, under_way, concurrency, stopped) as results:
            for records in results:
                tuning = tuning.add(outcome(settings.variant, records))
                yield tuning, records
        if tuning.played == at_hand.played:
            return


def play_rounds(
    gauntlet: GauntletTest,
    candidate: Launcher,
    baseline: Launcher,
    field: Sequence[Launcher],
    settings: StrengthSettings,
    *,
    concurrency: int,
    stopped: Callable[[], bool] = lambda: False,
) -> Generator[tuple[GauntletTest, tuple[GameRecord, ...]]]:
    """Plays a gauntlet, and yields it after each round, in their order, with its games.

    It ends early if there are no more openings, once faults have spoilt it, or once it is
    `stopped`.
    """
    under_way = UnderWay()

    def play(job: tuple[int, Opening], core: int | None) -> list[tuple[GameRecord, ...]]:
        opponent = field[job[0] % len(field)]
        return [
            _play((bot, opponent), job, settings.time, settings.seed, under_way, core)
            for bot in (candidate, baseline)
        ]

    series = islice(enumerate(settings.openings()), gauntlet.rounds)
    with _played(series, play, under_way, concurrency, stopped) as results:
        for mine, theirs in results:
            gauntlet = gauntlet.add(
                outcome(gauntlet.variant, mine), outcome(gauntlet.variant, theirs)
            )
            yield gauntlet, mine + theirs
            if gauntlet.decision is not Decision.CONTINUE:
                return
