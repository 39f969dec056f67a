"""The command tune: better numbers for a bot's options, and the proof that they are better."""

from __future__ import annotations

import sys
import time as wall
from contextlib import closing
from dataclasses import replace

import click

from arena.cli import InputError, refusing
from arena.cli.arguments import (
    BOOK,
    CLOCK,
    CONCURRENCY,
    MOVE,
    PROCESSES,
    WALL,
    find_bots,
    given_book,
    read_hypotheses,
    read_variant,
    time_control,
)
from arena.cli.capacity import find_room
from arena.cli.completing import bots_here, choices, games_known
from arena.cli.first_faults import ADVICE, FirstFaults
from arena.cli.interrupts import INTERRUPTED, Trouble, broken_off, stoppable
from arena.cli.progress_bar import ProgressBar
from arena.cli.report import (
    NOTHING_KNOWN,
    Display,
    Saves,
    aligned,
    check_writable,
    how_ended,
    json_text,
    leave,
    read_json,
    verdict_code,
)
from arena.cli.runner import MINIMUM, NO_BOX, Launcher, go_on, launch_all, tune_on, weakest
from arena.cli.versions import version_of
from arena.ratings.sprt import Decision
from arena.strength.bayes import NotInstalledError, demand_installed
from arena.strength.parameters import manifest_of, read_parameter
from arena.strength.sequential import SequentialTest, StrengthError, StrengthSettings, Version
from arena.strength.terms import StrengthTerms
from arena.strength.tuning import BATCH, TRIALS, Method, Tuning, TuningSettings, default_batch
from arena.strength.words import result_rows
from engine.bot_options import BotOptionError, chosen_words
from engine.plurals import counted
from engine.seeds import derive
from engine.translation import ENGLISH, N_, gettext, ngettext, speaking, translated

GAMES = 10_000
TEST_GAMES = 20_000
TEST_HYPOTHESES = "0,5"
UNDECIDED = 1
"""The exit code of what can't come to its end."""


@click.command()
@click.argument("bot", shell_complete=bots_here)
@click.argument("options", metavar="[KEY=VALUE]...", nargs=-1, shell_complete=choices)
@click.option(
    "--game",
    required=True,
    shell_complete=games_known,
    help="The game; its options follow as KEY=VALUE.",
)
@click.option(
    "--option",
    "parameters",
    metavar="NAME[=START:LEAST:MOST[:STEP[:RATE]]]",
    multiple=True,
    required=True,
    help="An option to tune; what is left out is as the bot declares it.",
)
@click.option(
    "--games",
    type=click.IntRange(1),
    default=GAMES,
    show_default=True,
    help="To tune by, rounded up to whole matches.",
)
@click.option(
    "--method",
    type=click.Choice([str(one) for one in Method]),
    default=str(Method.SPSA),
    show_default=True,
    help="bayes is for up to five numbers or so and few games.",
)
@click.option(
    "--batch",
    type=click.IntRange(1, 4096),
    help=f"Matches from the same values: {BATCH}, and of bayes at least one in {TRIALS} of all.",
)
@click.option(
    "--test/--no-test",
    "proves",
    default=True,
    help="Whether what came out is then tested against the start.",
)
@click.option("--elo", metavar="ELO0,ELO1", help=f"Of that test; by default {TEST_HYPOTHESES}.")
@click.option(
    "--max-games",
    type=click.IntRange(1),
    default=TEST_GAMES,
    show_default=True,
    help="Of that test, at most.",
)
@CLOCK
@MOVE
@WALL
@click.option("--seed", type=int, default=0, show_default=True, help="Of openings, dice and lots.")
@BOOK
@CONCURRENCY
@NO_BOX
@MINIMUM
@PROCESSES
@click.option("--json", "json_file", metavar="FILE", help="Write the result; - prints it.")
@click.option("--save", metavar="FILE", help="Keep what was played in this file, to go on from.")
@click.option("--resume", metavar="FILE", help="Go on with a saved tuning.")
def tune(
    bot: str,
    options: tuple[str, ...],
    game: str,
    parameters: tuple[str, ...],
    games: int,
    method: str,
    batch: int | None,
    proves: bool,
    elo: str | None,
    max_games: int,
    clock: str | None,
    move_ms: int | None,
    wall_time: bool,
    seed: int,
    book: str | None,
    concurrency: int | None,
    no_box: bool,
    minimum: str,
    processes: int,
    json_file: str | None,
    save: str | None,
    resume: str | None,
) -> None:
    """Tune the numbers that a bot lets be chosen, by games against itself.

    By SPSA in every match all of them are moved a step up or down by lot, against a side for which
    they are moved the other way, and then a little towards the side that won. STEP is the step of
    the last match, by default a twentieth of the range; RATE the part of it by which they then
    move. By Bayesian optimisation (--method bayes) each batch tries other values against the start.
    At the end what came out is tested against the start by other openings, which alone counts as
    a proof: exit code 0 says that this test passed, 1 that it did not, 3 that faults ended too
    many of the games to tell. Ctrl-C saves, and --resume goes on.

    \b
    Examples:
      arena tune mybot.py --game clobber --option depth_weight --option width=0.8:0:2:0.1
      arena tune mybot.py --game clobber --option width --games 2000 --no-test --json -
    """
    if method == Method.BAYES:
        with refusing(NotInstalledError):
            demand_installed()
    given = find_bots([bot])
    variant = read_variant(game, options)
    hypotheses = read_hypotheses(TEST_HYPOTHESES if elo is None else elo)
    (launcher,) = launch_all(
        given,
        no_box=no_box,
        minimum=minimum,
        processes=processes,
        say=lambda text: click.echo(text, err=True),
    )
    launcher = launcher.learning()
    version = version_of(given[0], no_box=no_box)
    with refusing(StrengthError, BotOptionError):
        tuned = tuple(
            read_parameter(launcher.options, launcher.name, words) for words in parameters
        )
        settings = TuningSettings(
            variant,
            version,
            tuple(tuned),
            time_control(clock, move_ms, wall_time=wall_time),
            1,
            seed,
            book=given_book(book, variant),
            method=Method(method),
        )
        matches = -(-games // settings.games_a_match)
        settings = replace(
            settings, matches=matches, batch=batch or default_batch(settings.method, matches)
        )
        # Refused at once, and not after the games.
        terms = StrengthTerms(*hypotheses, max_games=max_games)
        begin = _proof(settings, Tuning.begin(settings), terms)
    begun = Tuning.begin(settings)
    if resume is not None:
        try:
            begun = Tuning.from_json(read_json(resume), settings)
        except StrengthError as error:
            raise InputError(f"{resume}: {error}") from None
    saves = Saves(
        resume if save is None else save, f"{version.name}.tuning", may_exist=save in (None, resume)
    )
    check_writable(json_file)
    many = find_room(concurrency, variant, [launcher, launcher])
    run = _Run(begun, saves)
    started = wall.monotonic()
    run.play(launcher, many)
    ended = run.tuning
    if not ended.is_over and not ended.is_spoilt:
        sys.exit(run.stop())
    proof = None
    if proves and not ended.is_spoilt and ended.chosen != ended.chosen_at_start:
        proof = run.prove(launcher, many, replace(begin, candidate=_named(version, ended.chosen)))
    seconds = wall.monotonic() - started
    with speaking(ENGLISH):
        report = _report(ended, proof, seconds, weakest([launcher]))
    leave([(json_file, lambda: json_text(report))], lambda: _show(ended, proof))
    if ended.is_spoilt:
        click.echo("\n".join([*run.first_faults.lines, translated(ADVICE)]), err=True)
        sys.exit(NOTHING_KNOWN)
    run.trouble.tell()
    if proof is None:
        sys.exit(0 if not proves else 1)
    if proof.decision is Decision.CONTINUE:
        sys.exit(INTERRUPTED)
    sys.exit(verdict_code(proof.decision, spoilt=proof.is_spoilt))


def _named(version: Version, chosen: dict[str, str]) -> Version:
    return Version(f"{version.name.partition(':')[0]}:{chosen_words(chosen)}", version.digest)


def _proof(settings: TuningSettings, tuning: Tuning, terms: StrengthTerms) -> StrengthSettings:
    """The test of what came out against the start, by other openings and dice.

    Raises:
        StrengthError: there is no such test.
    """
    return StrengthSettings(
        settings.variant,
        _named(settings.bot, tuning.chosen),
        _named(settings.bot, tuning.chosen_at_start),
        settings.time,
        derive(settings.seed, "proof"),
        terms,
        book=settings.book,
    )


class _Run:
    """A tuning as it is played on."""

    def __init__(self, begun: Tuning, saves: Saves) -> None:
        self.tuning = begun
        self.first_faults = FirstFaults()
        self.trouble = Trouble()
        """What broke it off."""
        self.is_out = False
        """Whether nobody stopped it, and there was no more to be played."""
        self._saves = saves

    def play(self, bot: Launcher, concurrency: int) -> None:
        """Plays until it is over, somebody stops it or it can't go on."""
        total = self.tuning.settings.matches
        with (
            broken_off() as self.trouble,
            stoppable(lambda: self._saves.keep_at_once(self.tuning)) as stopped,
            ProgressBar(gettext("tuning"), "match", "matches", total=total) as bar,
        ):
            bar.show(self.tuning.played, words=chosen_words(self.tuning.chosen))
            steps = tune_on(self.tuning, bot, concurrency=concurrency, stopped=stopped)
            with closing(steps):
                for tuning, records in steps:
                    self.tuning = tuning
                    self.first_faults.note(records)
                    bar.show(tuning.played, words=chosen_words(tuning.chosen))
                    self._saves.try_now(tuning)
                    if tuning.is_spoilt:
                        break
            self.is_out = not stopped()
            self._saves.offer(self.tuning, last=True)

    def stop(self) -> int:
        """Saves a tuning that is not over, says how to go on with it, and gives the exit code.

        Raises:
            InputError: it can't be saved.
        """
        if self.is_out:
            click.echo(gettext("there are no more different openings"), err=True)
        how = how_ended(is_wish=self.trouble.is_wish)
        if self.is_out:
            how = N_("ended after %(games)s")
        self._saves.keep_unfinished(self.tuning, how)
        self.trouble.tell()
        return UNDECIDED if self.is_out else INTERRUPTED

    def prove(self, bot: Launcher, concurrency: int, settings: StrengthSettings) -> SequentialTest:
        """Tests what came out against the start, as far as it is not broken off."""
        test = SequentialTest.begin(settings)
        pair = [
            replace(bot, name=version.name, chosen={**bot.chosen, **chosen})
            for version, chosen in (
                (settings.candidate, self.tuning.chosen),
                (settings.baseline, self.tuning.chosen_at_start),
            )
        ]
        words = gettext(
            "tuned; now %(candidate)s is tested against %(baseline)s",
            candidate=settings.candidate.name,
            baseline=settings.baseline.name,
        )
        click.echo(words, err=True)
        with broken_off() as self.trouble, stoppable() as stopped, Display(test) as display:
            steps = go_on(test, *pair, concurrency=concurrency, stopped=stopped)
            with closing(steps):
                for test, records in steps:
                    self.first_faults.note(records)
                    display.show(test, stopping=stopped())
        return test


def _report(
    tuning: Tuning, proof: SequentialTest | None, seconds: float, level: str
) -> dict[str, object]:
    """The result as JSON's types, in English; what it takes to go on is in it too."""
    found: dict[str, object] = {
        "chosen": tuning.chosen,
        "games": tuning.games,
        "gain": tuning.gain,
        "gain_95": [tuning.gain - tuning.gain_margin, tuning.gain + tuning.gain_margin],
        "seconds": round(seconds, 3),
        "isolation": level,
        "spoilt": tuning.is_spoilt,
        "proof": None,
    }
    if proof is not None:
        found["proof"] = proof.to_json() | {
            "decision": str(proof.decision),
            "verdict": proof.verdict,
            **proof.estimate.to_json(),
        }
    return tuning.to_json() | {"result": found}


def _show(tuning: Tuning, proof: SequentialTest | None) -> None:
    if tuning.is_spoilt:
        faults = sum(tuning.faults.values())
        click.echo(
            ngettext(
                "%(number)s fault in %(games)s is too many to tune by",
                "%(number)s faults in %(games)s are too many to tune by",
                faults,
                number=faults,
                games=counted(tuning.games, "game"),
            )
        )
        return
    click.echo(
        gettext(
            "tuned by %(games)s, %(gain)s:",
            games=counted(tuning.games, "game"),
            gain=tuning.gain_words,
        )
    )
    for one in tuning.settings.parameters:
        name = one.option.name
        click.echo(f"  {name}: {tuning.chosen_at_start[name]} -> {tuning.chosen[name]}")
    click.echo(gettext("as bot.toml has it, the new values being the defaults:") + "\n")
    click.echo(manifest_of(tuning.settings.parameters, tuning.chosen))
    if proof is None:
        if tuning.chosen == tuning.chosen_at_start:
            click.echo(gettext("nothing has changed, so there is nothing to test"))
        return
    click.echo(aligned(result_rows(proof)))
    click.echo(proof.verdict)
