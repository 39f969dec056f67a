"""The command play: bots against each other on this machine, through the real referee."""

from __future__ import annotations

import json
import sys
import time as wall
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import islice, takewhile, zip_longest
from pathlib import Path
from typing import TextIO

import click
from click.core import ParameterSource

from arena.cli import InputError, writing
from arena.cli.arguments import (
    BOOK,
    CLOCK,
    CONCURRENCY,
    MOVE,
    PROCESSES,
    WALL,
    GivenBot,
    find_bots,
    given_book,
    split_words,
    time_control,
)
from arena.cli.capacity import find_room
from arena.cli.completing import games_known, words_of_game
from arena.cli.interrupts import INTERRUPTED, UnderWay, broken_off, stoppable
from arena.cli.keys import is_terminal
from arena.cli.options import NamedPath, in_english
from arena.cli.progress_bar import ProgressBar
from arena.cli.reproduce import Show, ask_again, check_ply, pick_record, seat_bots
from arena.cli.runner import (
    MINIMUM,
    NO_BOX,
    Launcher,
    in_order,
    launch_all,
    match_spec,
    on_cores,
)
from arena.cli.tally import RunTally
from arena.cli.tally_table import print_tally
from arena.cli.terminal_watch import TerminalWatch
from arena.cli.trace import print_logs, traced_channel
from arena.cli.watching import RunningGames, Watching, print_game
from arena.ground.file_locks import lock_file
from engine.books import Book, book_json
from engine.channel import PipeChannel
from engine.clock import TimeControl
from engine.game import Variant
from engine.match import MatchResult, MatchSpec, entrants_needed, play_match
from engine.openings import openings
from engine.plurals import counted
from engine.process import BotProcess
from engine.record import GameRecord
from engine.translation import gettext, ngettext
from workers.cores import claimed_core

WATCHED = ("terminal", "browser")
"""Where running games can be watched."""
RECORDED = {
    "games",
    "seed",
    "clock",
    "move_ms",
    "wall_time",
    "plies",
    "book",
    "concurrency",
    "records",
    "watch",
}
"""The options that a recorded game was played by, and takes no more."""


class _PlayCommand(click.Command):
    """Takes the word behind --watch for its value only where it is one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        whole = [
            f"--watch={WATCHED[0]}" if one == "--watch" and following not in WATCHED else one
            for one, following in zip_longest(args, args[1:])
        ]
        return super().parse_args(ctx, whole)


@click.command(cls=_PlayCommand)
@click.argument("game", metavar="GAME", required=False, shell_complete=games_known)
@click.argument(
    "words", metavar="[KEY=VALUE]... BOT BOT [BOT BOT]", nargs=-1, shell_complete=words_of_game
)
@click.option("--games", type=click.IntRange(1), help="How many; by default one match.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of openings and dice.")
@CLOCK
@MOVE
@WALL
@click.option(
    "--opening",
    "plies",
    metavar="N",
    type=click.IntRange(0, 100),
    help="Random plies before the bots begin; by default as many as suit the game.",
)
@BOOK
@CONCURRENCY
@click.option("--records", type=NamedPath(dir_okay=False), help="Write the games, one a line.")
@NO_BOX
@MINIMUM
@PROCESSES
@click.option("--trace", is_flag=True, help="Show the lines that pass, as they pass.")
@click.option("--log", "show_logs", is_flag=True, help="Show what the bots log, with stderr.")
@click.option(
    "--replay",
    "recorded",
    metavar="RECORD",
    help="Ask the bots again in a recorded game; all arguments are bots then.",
)
@click.option("--game", "number", metavar="N", type=click.IntRange(1), help="Which game of RECORD.")
@click.option(
    "--seat",
    "seats",
    metavar="S",
    type=click.IntRange(1),
    multiple=True,
    help="A bot's seat there.",
)
@click.option(
    "--ply",
    "only",
    metavar="P",
    type=click.IntRange(0),
    help="Ask only in the position after so many plies of it.",
)
@click.option(
    "--watch",
    type=click.Choice(WATCHED),
    is_flag=False,
    flag_value=WATCHED[0],
    help="Show a running game, move by move.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print the summary as JSON.", callback=in_english
)
def play(
    game: str | None,
    words: tuple[str, ...],
    games: int | None,
    seed: int,
    clock: str | None,
    move_ms: int | None,
    wall_time: bool,
    plies: int | None,
    book: str | None,
    concurrency: int | None,
    records: str | None,
    no_box: bool,
    minimum: str,
    processes: int,
    trace: bool,
    show_logs: bool,
    recorded: str | None,
    number: int | None,
    seats: tuple[int, ...],
    only: int | None,
    watch: str | None,
    as_json: bool,
) -> None:
    """Play games between bots.

    A BOT is the path of a program, a folder, the name of a sample bot, or a whole command in
    quotes; mcts is the sample, and ./mcts a folder of yours. The bots run in boxes as in an arena,
    and not at all where this machine can build none, unless --no-box is given. Each match is one
    opening, random or of a book, played once from every rotation of the seats. The same seed gives
    the same games with any concurrency, if the bots are deterministic.

    With --replay a bot is asked again in the situations of a recorded game: whether it plays
    now what it played then. It takes the seat of its name, or those of --seat. With --ply it is
    asked in one position alone, as it was then, without a move before.

    With --watch one of the running games is shown in the terminal, and waits half a second after
    each move; keys choose another or hurry it. --watch browser shows it on a page of this machine.

    \b
    Examples:
      arena play clobber random greedy --games 100
      arena play blokus corners=fixed ./mybot.py greedy random random --time 10+0.1
      arena play --replay games.jsonl --game 3 ./mybot.py --seat 2 --trace
    """
    if recorded is None and (number or seats or only is not None):
        raise InputError(gettext("--game, --seat and --ply belong to --replay"))
    if game is None:
        if recorded is not None:
            raise InputError(gettext("name the bot that is to be asked again, or several"))
        raise click.MissingParameter(
            ctx=click.get_current_context(), param_hint="'GAME'", param_type="argument"
        )
    launch = partial(
        launch_all,
        no_box=no_box,
        minimum=minimum,
        processes=processes,
        say=_say,
        quiet=as_json,
    )
    if recorded is not None:
        _refuse_settled(click.get_current_context())
        record = pick_record(recorded, number)
        bots = find_bots([game, *words])
        seating = seat_bots(record, bots, seats)
        if only is not None:
            check_ply(record, seating, only)
        launchers = launch(bots)
        show = Show(trace=trace, logs=show_logs, in_json=as_json)
        with claimed_core() as core:
            sys.exit(ask_again(record, seating, bots, launchers, show, core, only))
    if watch == "terminal" and (trace or show_logs or as_json):
        raise InputError(gettext("--watch takes the terminal: leave out --trace, --log and --json"))
    variant, names = split_words(game, words)
    bots = find_bots(names)
    _check_count(variant, bots)
    if plies and variant.seats == 1:
        raise InputError(
            gettext("%(game)s has no openings: leave out --opening", game=variant.game)
        )
    if plies is not None and book is not None:
        raise InputError(
            gettext("give --opening or --book, not both: a book has its openings' length")
        )
    control = time_control(clock, move_ms, wall_time=wall_time)
    chosen = given_book(book, variant)
    specs = _matches(variant, bots, control, games, seed, plies, chosen)
    with _kept(records) as keep:
        launchers = launch(bots)
        told = tuple(bot.chosen for bot in launchers)
        specs = [(replace(spec, chosen=told), games) for spec, games in specs]
        tally = RunTally(variant, [bot.name for bot in bots])
        started = wall.monotonic()
        # Lines of several matches at once would be nobody's help.
        is_plain = watch == "terminal" and not is_terminal()
        many = find_room(1 if trace or is_plain else concurrency, variant, launchers)
        with broken_off() as trouble, stoppable() as stopped:
            steps = _play_all(
                specs, bots, launchers, many, tally, trace=trace, watch=watch, stopped=stopped
            )
            with closing(steps) as results:
                for result in results:
                    for record, logs in zip(result.games, result.logs, strict=True):
                        keep(record)
                        if show_logs:
                            print_logs(record.players, logs)
        tally.seconds = wall.monotonic() - started
    asked = sum(games for _, games in specs)
    if as_json:
        click.echo(json.dumps(tally.to_json() | book_json(chosen)))
    elif tally.games:
        print_tally(tally)
        if chosen:
            click.echo(gettext("openings of the book %(book)s", book=chosen))
        if tally.faults and not show_logs:
            click.echo(
                gettext("--log shows what the bots wrote, --trace the lines that passed."), err=True
            )
    if tally.games < asked:
        done, whole = tally.games, counted(asked, "game")
        if trouble.is_wish:
            how = gettext("interrupted after %(done)s of %(games)s", done=done, games=whole)
        else:
            how = gettext("broken off after %(done)s of %(games)s", done=done, games=whole)
        click.echo(how, err=True)
    trouble.tell()
    if tally.games < asked:
        sys.exit(INTERRUPTED)
    sys.exit(1 if tally.faults else 0)


def _refuse_settled(context: click.Context) -> None:
    """Refuses options that could change nothing about a recorded game.

    Raises:
        InputError: one was given.
    """
    for option in context.command.params:
        given = context.get_parameter_source(option.name or "")
        if option.name in RECORDED and given is not ParameterSource.DEFAULT:
            raise InputError(
                gettext(
                    "%(option)s does not go with --replay: that game was played already",
                    option=option.opts[0],
                )
            )


def _say(text: str) -> None:
    click.echo(text, err=True)


def _check_count(variant: Variant, bots: Sequence[GivenBot]) -> None:
    needed = entrants_needed(variant)
    if variant.seats == 1:
        if not bots:
            raise InputError(
                gettext("%(variant)s takes one bot or more; none is given", variant=variant)
            )
    elif len(bots) != needed:
        raise InputError(_wrong_count(variant, needed, len(bots)))


def _wrong_count(variant: Variant, needed: int, given: int) -> str:
    if needed == variant.seats:
        return ngettext(
            "%(variant)s takes %(needed)s bots; %(given)s is given",
            "%(variant)s takes %(needed)s bots; %(given)s are given",
            given,
            variant=variant,
            needed=needed,
            given=given,
        )
    return ngettext(
        "%(variant)s takes %(needed)s bots, each for all seats of a side; %(given)s is given",
        "%(variant)s takes %(needed)s bots, each for all seats of a side; %(given)s are given",
        given,
        variant=variant,
        needed=needed,
        given=given,
    )


def _matches(
    variant: Variant,
    bots: Sequence[GivenBot],
    control: TimeControl,
    games: int | None,
    seed: int,
    plies: int | None,
    book: Book | None,
) -> list[tuple[MatchSpec, int]]:
    """The matches to play, each with the number of its games; the last may be cut short."""
    size = len(bots)
    games = games or size
    count = -(-games // size)
    if book:
        found = [book.opening(seed, number) for number in range(count)]
        if count > len(book.openings):
            many = len(book.openings)
            _say(
                ngettext(
                    "after %(number)s match the book's openings come again, in another order",
                    "after %(number)s matches the book's openings come again, in another order",
                    many,
                    number=many,
                )
            )
    else:
        found = list(islice(openings(variant, seed, plies=plies), count))
    specs = []
    for number in range(count):
        # When a small board has no more openings, they begin again with other dice.
        opening = found[number % len(found)]
        spec = match_spec(opening, [bot.name for bot in bots], control, seed, number)
        specs.append((spec, min(size, games - number * size)))
    return specs


def _play_all(
    specs: Sequence[tuple[MatchSpec, int]],
    bots: Sequence[GivenBot],
    launchers: Sequence[Launcher],
    concurrency: int,
    tally: RunTally,
    *,
    trace: bool,
    watch: str | None,
    stopped: Callable[[], bool],
) -> Generator[MatchResult]:
    """Plays the matches, some at a time, and yields their results in the order of the specs.

    Args:
        watch: where a running game is shown.
        stopped: once it says so, no match is begun; those under way are played to their end.
    """
    under_way = UnderWay()
    shown = _watching(watch, sum(games for _, games in specs), stopped)

    def play_one(job: tuple[MatchSpec, int], core: int | None) -> MatchResult:
        def start(entrant: int) -> BotProcess:
            under_way.check()
            traced = traced_channel(bots[entrant].name) if trace else PipeChannel
            return launchers[entrant].player(core=core, open_channel=under_way.channel(traced))

        with shown.match(job[0], under_way.check) as watch_game:
            return play_match(job[0], start, games=job[1], watch=watch_game)

    with shown:
        for (spec, _), result in in_order(
            takewhile(lambda _: not stopped(), specs),
            under_way.patiently(on_cores(play_one)),
            concurrency=concurrency,
            ending=under_way.abandon,
        ):
            tally.add(spec, result)
            shown.advance(len(result.games), tally.words)
            yield result


def _watching(watch: str | None, total: int, stopped: Callable[[], bool]) -> Watching:
    """What shows the games while they are played."""
    bar = ProgressBar(gettext("playing"), "game", total=total)
    if watch is None:
        return Watching(bar)
    if watch == "browser":
        from arena.cli.browser_watch import BrowserWatch  # takes longer to import than a game

        return BrowserWatch(bar, RunningGames())
    if is_terminal():
        return TerminalWatch(bar, RunningGames(), total, stopped)
    return Watching(bar, RunningGames(pause_seconds=0, told=print_game))


@contextmanager
def _kept(name: str | None) -> Iterator[Callable[[GameRecord], None]]:
    """What writes a game into the file of this name, or nowhere if there is none.

    Raises:
        InputError: it can't be written.
    """
    if name is None:
        yield lambda _: None
        return
    with writing(name):
        # Before the first game, so that a wrong name costs no games; and a game at a time, so that
        # what was played is there whatever ends the command.
        file = Path(name).open("a", encoding="utf-8", buffering=1)  # noqa: SIM115
        _claim(file, name)
    # What was there stays until there is something to put in its place.
    is_old, failed = Path(name).is_file(), False

    def keep(record: GameRecord) -> None:
        nonlocal is_old, failed
        failed = True
        with writing(name):
            if is_old:
                file.truncate(0)
                is_old = False
            file.write(json.dumps(record.to_json()) + "\n")
        failed = False

    try:
        yield keep
    finally:
        # What failed once fails again here, and was told.
        with suppress(OSError) if failed else writing(name):
            file.close()


def _claim(file: TextIO, name: str) -> None:
    """Locks a file of records.

    Raises:
        InputError: another command writes it. Lines of both would go through each other.
    """
    with suppress(OSError):  # a file system without locks
        if not lock_file(file.fileno()):
            file.close()
            raise InputError(
                gettext("another command writes %(name)s: name another file", name=name)
            )
