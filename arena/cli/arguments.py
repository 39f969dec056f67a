"""What several commands take: a game with its options, a position, bots."""

from __future__ import annotations

import math
import os
import re
import shlex
import shutil
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile, zip_longest
from pathlib import Path
from typing import Any, get_args

import click
from click.decorators import FC

from arena.cli import InputError, refusing
from arena.cli.options import NamedPath
from arena.ratings.sprt import Model
from arena.strength.sequential import MOST_PLIES
from engine.books import MOST_BYTES, Book, read_book
from engine.bot_options import BotOptionError, read_chosen, told_label
from engine.clock import DEFAULT_MOVE_MS, Charge, TimeControl, own_time, parse_time
from engine.game import GameError, State, Variant
from engine.games import find_variant
from engine.guesses import instead
from engine.jobs import MOST_PROCESSES
from engine.referee import ISOLATION_LEVELS
from engine.translation import gettext, ngettext
from workers.languages import LanguageError

CLOCK = click.option("--time", "clock", metavar="S[+INC]", help="A clock in seconds, as in 10+0.1.")
MOVE = click.option(
    "--move",
    "move_ms",
    metavar="MS",
    type=int,
    help=f"Milliseconds a move; by default {DEFAULT_MOVE_MS}.",
)
WALL = click.option("--wall", "wall_time", is_flag=True, help="Charge wall time, not CPU time.")
"""What `time_control` is made of."""
CONCURRENCY = click.option(
    "--concurrency",
    type=click.IntRange(1, 1024),
    help="Matches at the same time; by default one a core.",
)
BOOK = click.option(
    "--book",
    type=NamedPath(exists=True, dir_okay=False),
    metavar="FILE",
    help="Play openings of this file: EPD, PGN, or moves of one a line.",
)
PLIES = click.option(
    "--plies",
    type=click.IntRange(1, MOST_PLIES),
    help="How many moves a random opening has; by default as many as the game's usually do.",
)
ALPHA = click.option(
    "--alpha", default=0.05, show_default=True, help="Chance to pass if ELO0 is true."
)
BETA = click.option(
    "--beta", default=0.05, show_default=True, help="Chance to fail if ELO1 is true."
)
MODEL = click.option(
    "--model",
    type=click.Choice(get_args(Model)),
    default="normalized",
    show_default=True,
    help="The unit of ELO0 and ELO1.",
)
"""The options of a sequential test beside its hypotheses."""
HYPOTHESES = "0,10"


def minimum_option(default: str) -> Callable[[FC], FC]:
    """The option --minimum of a command that builds boxes."""
    return click.option(
        "--minimum",
        type=click.Choice(ISOLATION_LEVELS[::-1]),
        default=default,
        show_default=True,
        envvar="ARENA_MINIMUM_ISOLATION",
        help="The weakest box to accept.",
    )


PROCESSES = click.option(
    "--processes",
    metavar="N",
    type=click.IntRange(1, MOST_PROCESSES),
    default=1,
    show_default=True,
    help="How many processes each bot may have in its box, as a ladder grants them.",
)
SAMPLES = Path(__file__).parents[2] / "bots"
"""The sample bots, which may be named without a path."""


@dataclass(frozen=True, slots=True)
class GivenBot:
    """A bot as named on the command line."""

    name: str
    path: Path
    """Its file, folder or archive; of a whole command the program that is started."""
    words: tuple[str, ...] = ()
    """A whole command, that is started as it stands."""
    chosen: Mapping[str, str] = field(default_factory=dict)
    """Values of its options, as they are written."""
    own_time: TimeControl | None = None
    """Its time control, if it is not that of all."""


class Seconds(click.FloatRange):
    """A finite number of seconds within a range; of nan any comparison says that it is."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        seconds = float(super().convert(value, param, ctx))
        if not math.isfinite(seconds):
            self.fail(gettext("%(value)s is no number of seconds.", value=value), param, ctx)
        return seconds


def read_position(
    variant: Variant, after: str, *, position: str | None = None, seed: int = 0
) -> State:
    """The position after some moves, from the start or from a position text.

    Raises:
        GameError: the text or a move is wrong; it says which.
    """
    state: State = variant.initial(seed) if position is None else variant.read(position)
    for number, move in enumerate(after.split()):
        try:
            state = state.play(move)
        except GameError as error:
            raise GameError(
                gettext("move %(number)s of --after: %(error)s", number=number + 1, error=error)
            ) from None
    return state


def read_variant(game: str, options: Sequence[str] = ()) -> Variant:
    """The variant of ``clobber`` or ``clobber size=5x6``, and of options given apart.

    Raises:
        OptionError: as for `find_variant`.
    """
    name, *more = game.split() or [""]
    return find_variant(name, [*more, *options])


def given_book(name: str | None, variant: Variant) -> Book | None:
    """The book of ``--book``, if one is given; what is left out of it is told.

    Raises:
        BookError: it is none of this variant.
        InputError: it can't be read.
    """
    if name is None:
        return None
    try:
        with open(name, "rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(
            gettext("can't read %(name)s: %(reason)s", name=name, reason=error.strerror)
        ) from None
    book = read_book(data, variant, name)
    if book.repeated:
        click.echo(
            ngettext(
                "%(name)s: left out: %(number)s opening leads where one before leads, too",
                "%(name)s: left out: %(number)s openings lead where one before leads, too",
                book.repeated,
                name=name,
                number=book.repeated,
            ),
            err=True,
        )
    return replace(book, name=os.path.basename(name))


def is_option(word: str) -> bool:
    """Whether a word behind the game is an option of it.

    What is chosen about a bot, a file's name or a command may have '=' too.
    """
    key, equals, _ = word.partition("=")
    return bool(equals) and not re.search("[ :]", key) and not os.path.exists(word)


def split_words(game: str, words: Sequence[str]) -> tuple[Variant, list[str]]:
    """The variant, and the words that are no options of it."""
    variant = find_variant(game, [word for word in words if is_option(word)])
    return variant, [word for word in words if not is_option(word)]


def find_bots(words: Sequence[str], own_times: Sequence[TimeControl | None] = ()) -> list[GivenBot]:
    """The bots of these paths, samples' names or commands; each gets a name of its own.

    A word with a space that is no path is a command with its arguments. Behind the others may
    stand what is chosen about them, which is a part of their names: ``mybot:depth=8,style=solid``.
    So is a time of their own: ``mybot (move=50)``.

    Args:
        own_times: of the first of them, those that do not have the time of all.

    Raises:
        LanguageError: one can't be found.
        InputError: what is chosen can't be read.
    """
    found = []
    for word, own in zip_longest(words, own_times):
        command = _command(word)
        bare, said = (word, "") if command else _split_chosen(word)
        path = find_path(command[0] if command else bare)
        name = _name(bare, path, command)
        with refusing(BotOptionError):
            chosen = read_chosen(said) if said else {}
        found.append(GivenBot(told_label(name, said), path, command, chosen, own))
    bots: list[GivenBot] = []
    for bot in found:
        its_time = f" ({bot.own_time.words})" if bot.own_time else ""
        base = name = _distinct_name(bot, found) + its_time
        number = 1
        while name in {other.name for other in bots}:
            number += 1
            name = f"{base}#{number}"
        bots.append(replace(bot, name=name))
    return bots


def _split_chosen(word: str) -> tuple[str, str]:
    """A bot's name or path, and what is chosen about it."""
    bare, colon, said = word.rpartition(":")
    if not colon or "=" not in said or os.path.exists(word):
        return word, ""
    return bare, said


def _distinct_name(bot: GivenBot, bots: Sequence[GivenBot]) -> str:
    """A bot's name, with what tells its command from others that would be called the same."""
    alike = {other.words for other in bots if other.words and other.name == bot.name}
    if not bot.words or len(alike) == 1:
        return bot.name
    begin = _same_at_the_front(alike)
    end = _same_at_the_front([words[begin:][::-1] for words in alike])
    own = bot.words[begin : len(bot.words) - end]
    named = own and Path(own[0]).name == bot.name
    return " ".join(own if named else (bot.name, *own))


def _same_at_the_front(commands: Iterable[Sequence[str]]) -> int:
    """How many words, from the first on, are the same in all commands."""
    return len([*takewhile(lambda words: len({*words}) == 1, zip(*commands, strict=False))])


def _name(word: str, path: Path, command: Sequence[str]) -> str:
    """What a bot is called: a sample as it is, others by their file; a bridge by what is behind.

    Where that is the name of a sample, it is told from this by its path.
    """
    samples = {entry["name"] for entry in listed_samples()}
    if command:
        behind = command.index("--") + 1 if "--" in command[:-1] else 0
        name = Path(command[behind]).name
        return name if name not in samples else shutil.which(command[behind]) or command[behind]
    if word in samples:
        return word
    # "." and ".." have no name of their own.
    name = path.name if path.name not in ("", "..") else path.resolve().name
    if name in samples:
        named = word.rstrip("/")
        # Not "mcts/" either: without its slash it would be the sample.
        return named if Path(named).name == name != named else str(path.resolve())
    return name


def _command(word: str) -> tuple[str, ...]:
    """The words of a whole command, its program by its full path; none if it is no command."""
    if " " not in word or not word.strip() or os.path.exists(word):
        return ()
    try:
        program, *arguments = shlex.split(word)
    except ValueError as error:
        raise LanguageError(
            gettext("the command %(words)r can't be read: %(error)s", words=word, error=error)
        ) from None
    found = shutil.which(program)
    if found is None:
        raise LanguageError(
            gettext(
                "there is no program %(program)r for the command %(words)r",
                program=program,
                words=word,
            )
        )
    return (str(Path(found).absolute()), *arguments)


def read_hypotheses(text: str) -> tuple[float, float]:
    """Reads the two hypotheses of ``--elo``.

    Raises:
        InputError: they are no two numbers.
    """
    try:
        elo0, elo1 = map(float, text.split(","))
    except ValueError:
        raise InputError(
            gettext(
                "--elo takes two numbers, as in %(example)s, not %(text)r",
                example=HYPOTHESES,
                text=text,
            )
        ) from None
    return elo0, elo1


def time_control(clock: str | None, move_ms: int | None, *, wall_time: bool = False) -> TimeControl:
    """The time control of ``--time`` or ``--move``; without either, DEFAULT_MOVE_MS a move.

    Raises:
        InputError: both are given.
        GameError: the text is no time control.
    """
    if clock is not None and move_ms is not None:
        raise InputError(gettext("give --time or --move, not both"))
    charge: Charge = "wall" if wall_time else "cpu"
    if clock is not None:
        parsed = parse_time(clock)
        return TimeControl(time_ms=parsed.time_ms, inc_ms=parsed.inc_ms, charge=charge)
    return TimeControl(move_ms=DEFAULT_MOVE_MS if move_ms is None else move_ms, charge=charge)


def time_of_side(clock: str | None, move_ms: int | None, usual: TimeControl) -> TimeControl | None:
    """The time control of one side's own ``...-time`` or ``...-move``; None if it has the usual.

    Raises:
        GameError: as for `own_time`, of an empty clock too.
    """
    if clock is not None:
        parse_time(clock)
    its = own_time(clock or "", move_ms, usual)
    return None if its == usual else its


def clock_words(clock: str | None, move_ms: int | None) -> str:
    """What ``--time`` says to a deed, for which an empty text is that nothing was said.

    Raises:
        InputError, GameError: as `time_control` does, of an empty one too.
    """
    if clock is None:
        return ""
    time_control(clock, move_ms)
    return clock


def find_path(word: str) -> Path:
    """The path of a bot; a sample bot may be named without one.

    A bare word that is a sample's name is the sample, whatever lies in this folder.

    Raises:
        LanguageError: there is no such file and no such sample.
    """
    if not word.strip():
        # As a path it would be the current folder.
        raise LanguageError(
            gettext("an empty word names no bot: give the path of a program, or a sample")
        )
    path = Path(word)
    samples: dict[str, Path] = {
        entry["name"]: SAMPLES / entry["file"] for entry in listed_samples()
    }
    if word in samples:
        if os.path.lexists(word):
            words = (
                gettext(
                    "%(name)s is the sample of that name; the folder that lies here is ./%(name)s",
                    name=word,
                )
                if path.is_dir()
                else gettext(
                    "%(name)s is the sample of that name; the file that lies here is ./%(name)s",
                    name=word,
                )
            )
            click.echo(words, err=True)
        return samples[word]
    if path.exists():
        return path
    words = gettext(
        "there is no bot %(name)s: give the path of a program, or the name of a sample", name=word
    )
    raise LanguageError(f"{words}; {instead(word, samples)}")


def listed_samples() -> list[dict[str, Any]]:
    """The entries of the sample bots' table."""
    listed = tomllib.loads((SAMPLES / "samples.toml").read_text(encoding="utf-8"))
    return list(listed["bot"])
