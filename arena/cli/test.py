"""The command test: is the candidate stronger than the baseline?"""

from __future__ import annotations

import os
import sys
import time as wall
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import NoReturn

import click
from click.core import ParameterSource

from arena.cli import Usage
from arena.cli.arguments import (
    ALPHA,
    BETA,
    CLOCK,
    HYPOTHESES,
    MODEL,
    MOVE,
    WALL,
    Bot,
    find_bots,
    read_hypotheses,
    read_variant,
    time_control,
)
from arena.cli.gauntlet import run_gauntlet
from arena.cli.report import (
    Display,
    Saves,
    check_writable,
    junit,
    read_json,
    report,
    write_json,
)
from arena.cli.running import (
    INTERRUPTED,
    MINIMUM,
    NO_BOX,
    Launcher,
    cores,
    go_on,
    launch_all,
    stoppable,
    weakest,
)
from arena.ratings.sprt import Decision, Model
from arena.strength import Settings, StrengthError, StrengthTest, Version
from arena.strength_words import result_rows
from engine.counting import counted
from workers import bundles
from workers.archives import BundleError
from workers.languages import LanguageError

MAX_GAMES = 20_000
OF_SPRT = ("elo", "alpha", "beta", "model", "max_games")
"""Options of the sequential test, which a fixed number of games is not."""


@click.command()
@click.argument("candidate")
@click.argument("baseline")
@click.argument("options", metavar="[KEY=VALUE]...", nargs=-1)
@click.option("--game", required=True, help="The game; its options follow as KEY=VALUE.")
@click.option("--elo", metavar="ELO0,ELO1", help="Is it ELO1 rather than ELO0? By default 0,10.")
@ALPHA
@BETA
@MODEL
@CLOCK
@MOVE
@WALL
@click.option("--seed", type=int, default=0, show_default=True, help="Of openings and dice.")
@click.option(
    "--concurrency",
    type=click.IntRange(1, 1024),
    help="Matches at the same time; by default one a core.",
)
@click.option(
    "--max-games",
    type=click.IntRange(1),
    help=f"Undecided after so many; by default {MAX_GAMES}.",
)
@click.option(
    "--games",
    type=click.IntRange(1),
    help="Play just so many, rounded up to whole matches, and give the interval.",
)
@click.option("--against", metavar="BOT,BOT", help="Compare both by games against these bots.")
@NO_BOX
@MINIMUM
@click.option("--json", "json_file", metavar="FILE", help="Write the result; - prints it.")
@click.option(
    "--junit", "junit_file", metavar="FILE", help="Write it as a JUnit report; - prints it."
)
@click.option("--save", metavar="FILE", help="Keep what was played in this file, to go on from.")
@click.option("--resume", metavar="FILE", help="Go on with a saved test.")
@click.pass_context
def test(
    context: click.Context,
    candidate: str,
    baseline: str,
    options: tuple[str, ...],
    game: str,
    elo: str | None,
    alpha: float,
    beta: float,
    model: Model,
    clock: str | None,
    move_ms: int | None,
    wall_time: bool,
    seed: int,
    concurrency: int | None,
    max_games: int | None,
    games: int | None,
    against: str | None,
    no_box: bool,
    minimum: str,
    json_file: str | None,
    junit_file: str | None,
    save: str | None,
    resume: str | None,
) -> None:
    """Test whether one bot is stronger than another.

    They play matches, each a random opening from every seating, until a sequential test (SPRT)
    decides between ELO0 and ELO1. The bots run in boxes as in an arena, and not at all where this
    machine can build none, unless --no-box is given. Exit code 0 says that the test passed; 1 that
    it failed, or was not decided at the limit. With --games it passes if the whole interval lies
    above zero, and is not decided if that holds zero. Ctrl-C saves, and --resume goes on.

    \b
    Examples:
      arena test ./new.py ./old.py --game clobber size=6x7 --move 100
      arena test mcts greedy --game blokus mode=duel --elo -10,0 --time 10+0.1
    """
    _refuse_contradictions(context)
    opponents = [] if against is None else against.split(",")
    bots = find_bots([candidate, baseline, *opponents])
    elo0, elo1 = read_hypotheses(HYPOTHESES if elo is None else elo)
    try:
        settings = Settings(
            read_variant(game, options),
            version_of(bots[0]),
            version_of(bots[1]),
            time_control(clock, move_ms, wall_time=wall_time),
            seed=seed,
            elo0=elo0,
            elo1=elo1,
            alpha=alpha,
            beta=beta,
            model=model,
            max_games=None if games is not None else max_games or MAX_GAMES,
            games=games,
        )
        begun = StrengthTest.begin(settings)
        if resume is not None:
            try:
                begun = StrengthTest.from_json(read_json(resume), settings)
            except StrengthError as error:
                raise Usage(f"{resume}: {error}") from None
        saves = Saves(resume if save is None else save, may_exist=save in (None, resume))
        for name in (json_file, junit_file):
            check_writable(name)
    except StrengthError as error:
        raise Usage(str(error)) from None
    launchers = launch_all(
        bots, no_box=no_box, minimum=minimum, say=lambda text: click.echo(text, err=True)
    )
    first, second, *field = launchers
    if games is not None and field:
        with stoppable() as stopped:
            said = run_gauntlet(
                settings,
                (first, second),
                field,
                games=games,
                concurrency=concurrency or cores(),
                json_file=json_file,
                stopped=stopped,
            )
        sys.exit(INTERRUPTED if stopped() else 0 if said is Decision.ACCEPT else 1)
    started = wall.monotonic()
    ended, interrupted = _run(begun, first, second, concurrency or cores(), saves)
    seconds = wall.monotonic() - started
    if interrupted:
        _leave(ended, saves)
    # Shown first: should a file turn out not to be writable, the games were not played for nothing.
    if "-" not in (json_file, junit_file):
        for name, text in result_rows(ended):
            click.echo(f"{name:<8} {text}")
        click.echo(f"box      {weakest(launchers)}")
        click.echo(ended.verdict)
    if json_file:
        write_json(json_file, report(ended, seconds, weakest(launchers)))
    if junit_file:
        junit(junit_file, ended, seconds)
    sys.exit(0 if ended.decision is Decision.ACCEPT else 1)


def _refuse_contradictions(context: click.Context) -> None:
    """Refuses options that do not go together."""
    given = context.params
    for option in OF_SPRT if given["games"] is not None else ():
        if context.get_parameter_source(option) is not ParameterSource.DEFAULT:
            word = option.replace("_", "-")
            raise Usage(f"--games plays a fixed number: leave out --{word}")
    kept = given["save"] or given["resume"] or given["junit_file"]
    if given["against"] is not None and (given["games"] is None or kept):
        raise Usage("--against takes --games, and goes without --save, --resume and --junit")
    if given["json_file"] == given["junit_file"] == "-":
        raise Usage("--json and --junit can't both be printed: give one of them a file")


def _leave(test: StrengthTest, saves: Saves) -> NoReturn:
    """Ends with a test that somebody interrupted, and says how to go on with it."""
    click.echo(f"interrupted after {counted(test.games, 'game')}", err=True)
    if test.matches:
        kept = saves.keep(test)
        click.echo(f"saved; go on with the same command and --resume {kept}", err=True)
    sys.exit(INTERRUPTED)


def version_of(bot: Bot) -> Version:
    """The bot as its file or folder is now."""
    if bot.path.is_dir():
        try:
            return Version(bot.name, bundles.pack(bot.path).digest)
        except BundleError as error:
            raise LanguageError(str(error)) from None
    words = bot.words[1:]
    digest = sha256(bot.path.read_bytes() + "\0".join(words).encode())
    # The program of a command may be an interpreter, and the bot a file among its arguments.
    for path in filter(os.path.isfile, words):
        digest.update(Path(path).read_bytes())
    return Version(bot.name, digest.hexdigest())


def _run(
    test: StrengthTest, candidate: Launcher, baseline: Launcher, concurrency: int, saves: Saves
) -> tuple[StrengthTest, bool]:
    """Plays on; returns the test as it stands then, and whether somebody stopped it."""
    with stoppable() as stopped, Display(test) as display:
        steps = go_on(test, candidate, baseline, concurrency=concurrency, stopped=stopped)
        try:
            with closing(steps):
                for test, _ in steps:
                    display.show(test, stopping=stopped())
                    saves.offer(test)
        except KeyboardInterrupt:
            return test, True
        saves.offer(test, last=True)
    return test, test.decision is Decision.CONTINUE
