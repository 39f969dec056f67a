"""The command test: is the candidate stronger than the baseline?"""

from __future__ import annotations

import sys
import time as wall
from contextlib import closing

import click
from click.core import ParameterSource

from arena.cli import InputError
from arena.cli.arguments import (
    ALPHA,
    BETA,
    BOOK,
    CLOCK,
    CONCURRENCY,
    HYPOTHESES,
    MODEL,
    MOVE,
    PLIES,
    PROCESSES,
    WALL,
    find_bots,
    given_book,
    read_hypotheses,
    read_variant,
    time_control,
    time_of_side,
)
from arena.cli.capacity import find_room
from arena.cli.completing import bots_here, choices, games_known
from arena.cli.first_faults import ADVICE, FirstFaults
from arena.cli.gauntlet import run_gauntlet
from arena.cli.interrupts import INTERRUPTED, Trouble, broken_off, stoppable
from arena.cli.listing import say
from arena.cli.report import (
    PRINTED,
    Display,
    Saves,
    aligned,
    check_writable,
    how_ended,
    json_text,
    junit_text,
    leave,
    read_json,
    report,
    verdict_code,
    verdict_line,
)
from arena.cli.runner import MINIMUM, NO_BOX, Launcher, go_on, launch_all, weakest
from arena.cli.versions import version_of
from arena.ratings.sprt import Decision, Model
from arena.strength.forecast import USUAL_DRAWS, curve
from arena.strength.sequential import SequentialTest, StrengthError, StrengthSettings
from arena.strength.terms import StrengthTerms
from arena.strength.words import forecast_lines, result_rows
from engine.translation import gettext, translated

MAX_GAMES = 20_000
OF_SPRT = ("elo", "alpha", "beta", "model", "max_games")
"""Options of the sequential test, which a fixed number of games is not."""


@click.command()
@click.argument("candidate", shell_complete=bots_here)
@click.argument("baseline", shell_complete=bots_here)
@click.argument("options", metavar="[KEY=VALUE]...", nargs=-1, shell_complete=choices)
@click.option(
    "--game",
    required=True,
    multiple=True,
    shell_complete=games_known,
    help="The game; its options follow as KEY=VALUE. Of several each is written with its own, "
    "as in --game 'clobber size=5x6' --game 'clobber size=6x7': they take turns.",
)
@click.option("--elo", metavar="ELO0,ELO1", help="Is it ELO1 rather than ELO0? By default 0,10.")
@ALPHA
@BETA
@MODEL
@CLOCK
@MOVE
@WALL
@click.option("--candidate-time", metavar="S[+INC]", help="The candidate's own clock.")
@click.option("--candidate-move", metavar="MS", type=int, help="Its own milliseconds a move.")
@click.option("--baseline-time", metavar="S[+INC]", help="The baseline's own clock.")
@click.option("--baseline-move", metavar="MS", type=int, help="Its own milliseconds a move.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of openings and dice.")
@BOOK
@PLIES
@CONCURRENCY
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
@click.option("--allow-faults", is_flag=True, help="Decide even if faults ended many of the games.")
@click.option("--against", metavar="BOT,BOT", help="Compare both by games against these bots.")
@NO_BOX
@MINIMUM
@PROCESSES
@click.option("--estimate", is_flag=True, help="Play nothing; tell what the test would take.")
@click.option(
    "--draws",
    type=click.FloatRange(0, 1, max_open=True),
    default=USUAL_DRAWS,
    show_default=True,
    help="Share of draws between equals, for --estimate.",
)
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
    game: tuple[str, ...],
    elo: str | None,
    alpha: float,
    beta: float,
    model: Model,
    clock: str | None,
    move_ms: int | None,
    wall_time: bool,
    candidate_time: str | None,
    candidate_move: int | None,
    baseline_time: str | None,
    baseline_move: int | None,
    seed: int,
    book: str | None,
    plies: int | None,
    concurrency: int | None,
    max_games: int | None,
    games: int | None,
    allow_faults: bool,
    against: str | None,
    no_box: bool,
    minimum: str,
    processes: int,
    estimate: bool,
    draws: float,
    json_file: str | None,
    junit_file: str | None,
    save: str | None,
    resume: str | None,
) -> None:
    """Test whether one bot is stronger than another.

    They play matches, each an opening, random or of a book, from every seating, until a sequential
    test (SPRT) decides between ELO0 and ELO1. The bots run in boxes as in an arena, and not at all
    where this machine can build none, unless --no-box is given. Exit code 0 says that the test
    passed; 1 that it failed, or was not decided at the limit; 3 that faults ended too many of the
    games to tell.
    With --games it passes if the whole interval lies above zero, and is not decided if that holds
    zero. Ctrl-C saves, and --resume goes on.

    \b
    Examples:
      arena test ./new.py ./old.py --game clobber size=6x7 --move 100
      arena test mcts greedy --game blokus mode=duel --elo -10,0 --time 10+0.1
      arena test ./new.py ./old.py --game "clobber size=5x6" --game "clobber size=6x7"
      arena test "arena bridge ugi -- stockfish" "arena bridge ugi -- fairy-stockfish" \
        --game openspiel:chess --book openings.epd --time 10+0.1
    """
    _refuse_contradictions(context)
    opponents = [] if against is None else against.split(",")
    time = time_control(clock, move_ms, wall_time=wall_time)
    each = (candidate_time, candidate_move), (baseline_time, baseline_move)
    bots = find_bots([candidate, baseline, *opponents], [time_of_side(*its, time) for its in each])
    hypotheses = read_hypotheses(HYPOTHESES if elo is None else elo)
    most = None if games is not None else max_games or MAX_GAMES
    variant, *others = [read_variant(one, options) for one in game]
    try:
        settings = StrengthSettings(
            variant,
            version_of(bots[0], no_box=no_box),
            version_of(bots[1], no_box=no_box),
            time,
            seed,
            StrengthTerms(*hypotheses, alpha, beta, model, most, allow_faults, games),
            given_book(book, variant),
            plies,
            others=tuple(others),
        )
        begun = SequentialTest.begin(settings)
        if resume is not None:
            try:
                begun = SequentialTest.from_json(read_json(resume), settings)
            except StrengthError as error:
                raise InputError(f"{resume}: {error}") from None
        saves = Saves(
            resume if save is None else save,
            f"{settings.candidate.name}-{settings.baseline.name}.test",
            may_exist=save in (None, resume),
        )
        for name in (json_file, junit_file):
            check_writable(name)
    except StrengthError as error:
        raise InputError(str(error)) from None
    if estimate:
        _tell_estimate(settings, draws, in_json=json_file == PRINTED)
        return
    launchers = launch_all(
        bots,
        no_box=no_box,
        minimum=minimum,
        processes=processes,
        say=lambda text: click.echo(text, err=True),
    )
    first, second, *field = launchers
    many = find_room(concurrency, settings.variant, launchers)
    if games is not None and field:
        sys.exit(
            run_gauntlet(
                settings,
                (first, second),
                field,
                games=games,
                concurrency=many,
                json_file=json_file,
            )
        )
    started = wall.monotonic()
    run = _Run(begun, saves)
    run.play(first, second, concurrency=many)
    seconds = wall.monotonic() - started
    ended = run.test
    faults = run.first_faults.lines
    is_over = ended.decision is not Decision.CONTINUE
    with broken_off() as unsaved:
        if not is_over:
            saves.keep_unfinished(ended, how_ended(is_wish=run.trouble.is_wish))

    def show() -> None:
        box = gettext("box"), weakest(launchers)
        click.echo(aligned([*result_rows(ended), box]))
        say(verdict_line(ended.verdict, ended.decision, spoilt=ended.is_spoilt))

    leave(
        [
            (json_file, lambda: json_text(report(ended, seconds, weakest(launchers), faults))),
            (junit_file, lambda: junit_text(ended, seconds, faults)),
        ],
        show,
    )
    if ended.is_spoilt:
        click.echo("\n".join([*faults, translated(ADVICE)]), err=True)
    unsaved.tell()
    run.trouble.tell()
    sys.exit(verdict_code(ended.decision, spoilt=ended.is_spoilt) if is_over else INTERRUPTED)


def _tell_estimate(settings: StrengthSettings, draws: float, *, in_json: bool) -> None:
    """Prints what a test would take, and its chance to pass, by the true difference."""
    points = curve(settings.terms, settings.games_a_match, draws=draws)
    if in_json:
        click.echo(json_text({"draws": draws, "expected": [one.to_json() for one in points]}))
        return
    told = points[::4]
    click.echo("\n".join(forecast_lines(told, [None] * len(told))))


def _refuse_contradictions(context: click.Context) -> None:
    """Refuses options that do not go together."""
    given = context.params
    for option in OF_SPRT if given["games"] is not None else ():
        if context.get_parameter_source(option) is not ParameterSource.DEFAULT:
            word = option.replace("_", "-")
            raise InputError(
                gettext("--games plays a fixed number: leave out %(option)s", option=f"--{word}")
            )
    kept = given["save"] or given["resume"] or given["junit_file"]
    if given["against"] is not None and (given["games"] is None or kept):
        raise InputError(
            gettext("--against takes --games, and goes without --save, --resume and --junit")
        )
    if len(given["game"]) > 1 and (given["options"] or given["against"] is not None):
        # Whose they would be is not said; and a field is met on one board.
        if given["options"]:
            words = gettext("several games go without options: write each game's with it")
        else:
            words = gettext("several games go without --against: give one --game")
        raise InputError(words)
    if given["estimate"] and (kept or given["json_file"] not in (None, PRINTED)):
        raise InputError(
            gettext("--estimate plays nothing: leave out files to write (--json - prints)")
        )
    if given["json_file"] == given["junit_file"] == PRINTED:
        raise InputError(
            gettext("--json and --junit can't both be printed: give one of them a file")
        )


class _Run:
    """A test as it is played on."""

    def __init__(self, begun: SequentialTest, saves: Saves) -> None:
        self.test = begun
        self.first_faults = FirstFaults()
        self._saves = saves
        self.trouble = Trouble()
        """What broke it off."""

    def play(self, candidate: Launcher, baseline: Launcher, *, concurrency: int) -> None:
        """Plays until it is decided, somebody stops it or it can't go on."""
        with (
            broken_off() as self.trouble,
            stoppable(lambda: self._saves.keep_at_once(self.test)) as stopped,
            Display(self.test) as display,
        ):
            steps = go_on(self.test, candidate, baseline, concurrency=concurrency, stopped=stopped)
            with closing(steps):
                for test, records in steps:
                    self.test = test
                    self.first_faults.note(records)
                    display.show(test, stopping=stopped())
                    self._saves.try_now(test)
            self._saves.offer(self.test, last=True)
