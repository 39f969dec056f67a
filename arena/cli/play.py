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
from rich.markup import escape

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
from arena.cli.listing import BAD, print_table, say
from arena.cli.options import NamedPath
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
from engine.places import TWO, mean_place, results_head, results_words
from engine.plurals import counted
from engine.process import BotProcess
from engine.protocol import visible
from engine.record import GameRecord
from workers.cores import claimed_core

WATCHED = ("terminal", "browser")
"""Where running games can be watched."""
SETTLED = {
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
"""The options that a recorded game has settled."""


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
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
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
        raise InputError("--game, --seat and --ply belong to --replay")
    if game is None:
        if recorded is not None:
            raise InputError("name the bot that is to be asked again, or several")
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
        raise InputError("--watch takes the terminal: leave out --trace, --log and --json")
    variant, names = split_words(game, words)
    bots = find_bots(names)
    _check_count(variant, bots)
    if plies and variant.seats == 1:
        raise InputError(f"{variant.game} has no openings: leave out --opening")
    if plies is not None and book is not None:
        raise InputError("give --opening or --book, not both: a book has its openings' length")
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
        _print(tally)
        if chosen:
            click.echo(f"openings of the book {chosen}")
        if tally.faults and not show_logs:
            click.echo("--log shows what the bots wrote, --trace the lines that passed.", err=True)
    if tally.games < asked:
        how = "interrupted" if trouble.is_wish else "broken off"
        click.echo(f"{how} after {tally.games} of {counted(asked, 'game')}", err=True)
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
        if option.name in SETTLED and given is not ParameterSource.DEFAULT:
            raise InputError(
                f"{option.opts[0]} does not go with --replay: that game was played already"
            )


def _say(text: str) -> None:
    click.echo(text, err=True)


def _check_count(variant: Variant, bots: Sequence[GivenBot]) -> None:
    needed = entrants_needed(variant)
    if variant.seats == 1:
        if not bots:
            raise InputError(f"{variant} takes one bot or more; none is given")
    elif len(bots) != needed:
        sides = "" if needed == variant.seats else ", each for all seats of a side"
        given = f"{len(bots)} {'is' if len(bots) == 1 else 'are'} given"
        raise InputError(f"{variant} takes {needed} bots{sides}; {given}")


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
            many = counted(len(book.openings), "match", "matches")
            _say(f"after {many} the book's openings come again, in another order")
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
    bar = ProgressBar("playing", "game", total=total)
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
            raise InputError(f"another command writes {name}: name another file")


def _row(tally: RunTally, number: int) -> dict[str, str]:
    """What the table tells of a bot, by its headings."""
    line = tally.lines[number]
    sides = len(set(tally.variant.side_of))
    results = results_words(line.wins, line.draws, line.losses, line.places)
    row = {"games": str(line.games), results_head(sides): results}
    if sides > TWO:
        row["mean place"] = f"{mean_place(line.score, sides):.2f}"
    else:
        row["score"] = f"{line.score:.1%}"
    if tally.elo and tally.elo[number].tells:
        row["Elo"] = tally.elo[number].measured
    if tally.variant.seats == 1:
        # Who plays alone wants to know how far it came, too.
        row["points a game"] = f"{line.scored / max(1, line.games):.1f}"
    faults = line.faults.total()
    row["faults"] = f"[{BAD}]{faults}[/]" if faults else "0"
    return row | {"ms a move": f"{line.mean_ms:.1f}", "longest": f"{line.longest_us / 1000:.1f}"}


def _print(tally: RunTally) -> None:
    """The table at the end."""
    rows = [_row(tally, number) for number in range(len(tally.lines))]
    headings = {"bot": False, **dict.fromkeys(rows[0], True)}
    cells = [
        [escape(line.name), *row.values()] for line, row in zip(tally.lines, rows, strict=True)
    ]
    print_table(headings, cells, title=str(tally.variant))
    if tally.elo and not tally.elo[0].tells:
        click.echo(f"Elo: {tally.elo[0].words}")
    for line in tally.lines:
        for detail in line.fault_details:
            say((visible(f"{line.name}: {detail}"), BAD))
        for error in line.errors:
            say(f"    {visible(error)}")
    say(
        f"{counted(tally.games, 'game')} in {tally.seconds:.1f} s, "
        f"{tally.games / tally.seconds:.1f} games a second"
    )
    say(f"digest {tally.digest()}")
