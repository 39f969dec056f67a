"""The command ``arena``: each command parses, calls one function, and prints.

Exit codes: 0 fine, 1 the bot or the test failed, 2 wrong usage, 3 nothing is known, mostly by a
fault of our own.
"""

from __future__ import annotations

import copy
import errno
import gc
import gettext as standard
import importlib
import inspect
import os
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click
from click.shell_completion import CompletionItem

from arena.cli import streams
from arena.ground.catalogues import DOMAIN, compiled_folder, of_environment, translation
from arena.ground.texts import unkept
from engine.game import GameError
from engine.guesses import alike, did_you_mean
from engine.player import VoidGameError
from engine.protocol import visible
from engine.translation import ENGLISH, gettext, speak, spoken, translated
from workers.languages import LanguageError

# The module of each command, imported when it is used, and what the list of commands says of it:
# a command for one position must not wait for what a server needs. A group of nothing but what
# deeds say of themselves has no module: its line names "deeds".
GROUPS = {
    "Write a bot": {
        "new": ("new", "Begin a bot: a folder with one that plays."),
        "check": ("box", "Check a bot as an arena does, in the box."),
        "ask": ("ask", "Ask bots what they would play, in a position or a game."),
        "bridge": ("bridge", "Make a bot of a program that speaks another protocol."),
        "games": ("games", "List the games that can be played here."),
        "moves": ("position", "List the legal moves of a position."),
        "draw": ("position", "Draw a position as SVG."),
        "perft": ("position", "Count the leaf nodes of the tree of legal moves."),
        "truth": ("truth", "Say what is certain of positions, and make tables of it."),
        "game": ("game", "Bring a game of your own: begin a package, and check it."),
    },
    "Play and measure": {
        "play": ("play", "Play games between bots."),
        "replay": ("replay", "Replay a record and prove it against the rules."),
        "test": ("test", "Test whether one bot is stronger than another."),
        "tune": ("tune", "Tune the numbers that a bot lets be chosen."),
    },
    "Enter an arena": {
        "login": ("login", "Let commands speak to an arena elsewhere."),
        "logout": ("login", "Forget the login."),
        "submit": ("submit", "Submit a bot to a ladder, here or on a server."),
        "connect": ("connect", "Play on a ladder with a bot that stays on this machine."),
        "status": ("status", "Show how bots stand on a server."),
        "cancel": ("bot", "Cancel the checks of a bot of yours, on a server."),
        "logs": ("logs", "Show what bots wrote in a game or their check, from a server."),
        "team": ("team", "Found teams, join them, and list them."),
    },
    "Look around": {
        "ladders": ("leaderboard", "List the ladders."),
        "leaderboard": ("leaderboard", "Show a ladder's leaderboard."),
        "accuracy": ("leaderboard", "Show how accurate a ladder's bots are."),
        "bots": ("bot", "List the bots, their versions and their checks."),
        "watch": ("watch", "Watch a match while it is played."),
        "export": ("export", "Export games, as records or as tables of Parquet."),
    },
    "Organise": {
        "ladder": ("ladder", "Create ladders, and change what they are."),
        "tournament": ("tournament", "Create and run tournaments, and show how they stand."),
        "date": ("date", "Set when a competition opens, freezes, closes or begins again."),
        "course": ("course", "Have hand-ins marked by bots to beat, and compared."),
        "competition": (
            "competition",
            "Say who sees and belongs to competitions; approve tests.",
        ),
        "match": ("match", "Ask for matches, void them, or try them again."),
        "bot": ("bot", "Put versions of bots on ladders, take them off, or share bots."),
        "strength": ("strength", "Test submitted versions against each other."),
        "tuning": ("tuning", "Tune submitted versions' numbers by games against themselves."),
        "gauntlet": ("gauntlets", "Compare submitted versions against the same others."),
        "preset": ("preset", "Say what strength tests of one kind are asked to be."),
        "book": ("book", "Add books of openings, and list them."),
        "notice": ("notice", "Tell all visitors a line, on every page."),
        "maintenance": ("maintenance", "Have nothing changed for a while, and workers drain."),
        "setting": ("setting", "List settings, and change them while the arena runs."),
    },
    "Run an arena": {
        "up": ("up", "Run the arena: broker, recorder, workers and pages."),
        "run": ("run", "Run one process of an arena on several machines."),
        "top": ("top", "Show workers, matches and queues as they change."),
        "worker": ("worker", "List workers, readmit or forget one."),
        "user": ("user", "Manage accounts."),
        "runtime": ("runtime", "Offer packages to bots, list them, or fetch them."),
        "ratings": ("ratings", "Make ratings anew from the results."),
        "backup": ("backup", "Write a backup of an arena, which may run meanwhile."),
        "restore": ("backup", "Make an arena of a backup, in an empty place."),
        "cold": ("cold", "Move old records beside the database, or bring them back."),
        "acl": ("acl", "Write the users of a broker for workers on other machines."),
        "fake": ("fake", "Fill a new data folder with made-up bots and games."),
    },
    "This machine": {
        "doctor": ("box", "Say which boxes this machine can build for bots."),
        "completion": ("completion", "Have a shell complete commands and names."),
    },
}
"""All commands, by what people want of them."""
COMMANDS = {name: one for group in GROUPS.values() for name, one in group.items()}


COMPLETE = "_ARENA_COMPLETE"
"""The variable by which a shell asks what it may complete."""
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
"""How it is said that there is no room to write."""


class InputError(click.ClickException):
    """Wrong input; one line that says what is wrong and what to do."""

    exit_code = 2


@contextmanager
def refusing(*kinds: type[Exception]) -> Iterator[None]:
    """Has errors of these kinds told as wrong input.

    Raises:
        InputError: one came.
    """
    try:
        yield
    except kinds as error:
        raise InputError(str(error)) from None


@contextmanager
def writing(name: object) -> Iterator[None]:
    """Has it told if a file can't be written.

    Raises:
        InputError: it can't.
    """
    try:
        yield
    except OSError as error:
        raise InputError(
            gettext("can't write %(name)s: %(reason)s", name=name, reason=error.strerror)
        ) from None


def _spoken(command: click.Command) -> click.Command:
    """A command whose help is in the language of whoever asks: as it is in English, else a copy."""
    if spoken() == ENGLISH:
        return command
    command = copy.copy(command)
    command.help = command.help and translated(inspect.cleandoc(command.help))
    command.short_help = command.short_help and translated(command.short_help)
    command.params = [copy.copy(param) for param in command.params]
    for param in command.params:
        if isinstance(param, click.Option):
            param.help = param.help and translated(param.help)
            if isinstance(param.show_default, str):
                param.show_default = translated(param.show_default)
    if isinstance(command, click.Group):
        command.commands = {name: _spoken(one) for name, one in command.commands.items()}
    return command


class _Lazy(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        name, words = COMMANDS[cmd_name]
        # All that is imported stays: to look through it for garbage takes a tenth of the start.
        gc.disable()
        try:
            module = importlib.import_module(f"arena.cli.{name}")
        finally:
            gc.enable()
        if name == "deeds":
            return _spoken(module.add_commands(click.Group(cmd_name, help=words)))
        return _spoken(getattr(module, cmd_name))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            near = alike(name, COMMANDS)
            words = gettext("there is no command %(name)r", name=name)
            raise click.UsageError(f"{words}; {did_you_mean(near)}" if near else words, ctx)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        # Of their names and words alone: to import all of them takes seconds.
        found = click.Command.shell_complete(self, ctx, incomplete)
        items = [
            CompletionItem(name, help=translated(words)) for name, (_, words) in COMMANDS.items()
        ]
        return found + [item for item in items if item.value.startswith(incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        widest = max(map(len, COMMANDS))  # so that all groups have one margin
        for heading, commands in GROUPS.items():
            with formatter.section(translated(heading)):
                rows = [
                    (name.ljust(widest), translated(words)) for name, (_, words) in commands.items()
                ]
                formatter.write_dl(rows)


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="game-bot-arena", prog_name="arena")
def cli() -> None:
    """An arena for game-playing bots.

    Example: arena play clobber random greedy --games 10
    """


def main() -> None:
    """Runs the command line; every expected failure is one line on standard error."""
    streams.set_up()
    _speak(os.environ)
    if COMPLETE in os.environ:
        importlib.import_module("arena.cli.completion")  # which reads what bash asks
    sys.exit(run(sys.argv[1:]))


def _speak(environment: Mapping[str, str]) -> None:
    """Speaks the language that the environment asks for."""
    language = of_environment(environment)
    speak(translation(language))
    if language != ENGLISH.language and (kept := compiled_folder(language)):
        # Click asks the standard library for its own texts, which reads what was kept for it.
        standard.bindtextdomain(DOMAIN, kept)


def run(arguments: list[str]) -> int:
    """Runs one command line and returns its exit code."""
    try:
        code = _spoken(cli).main(arguments, prog_name="arena", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return 2
    except click.Abort:
        _complain(gettext("interrupted"))
        return 130
    except click.ClickException as error:
        where = getattr(error, "ctx", None)
        hint = where and gettext("(see %(command)s --help)", command=where.command_path)
        # Click lists choices on lines of their own.
        words = error.format_message().replace("\n\t", " ")
        _complain(f"{words} {hint}" if hint else words)
        return error.exit_code
    except (GameError, LanguageError) as error:
        _complain(str(error))
        return 2
    except VoidGameError as error:
        _complain(
            gettext("a game could not be played, through no bot's fault: %(error)s", error=error)
        )
        return 3
    except streams.OutputError as error:
        _complain(gettext("can't write the output: %(reason)s", reason=error.strerror))
        _give_up_output()
        return 2
    except Exception as error:
        if isinstance(error, OSError) and error.errno in FULL and error.filename:
            _complain(
                gettext(
                    "can't write %(name)s: %(reason)s", name=error.filename, reason=error.strerror
                )
            )
            return 2
        unreadable = [word for word in arguments if unkept(word)]
        if isinstance(error, UnicodeEncodeError) and unreadable:
            _complain(
                gettext("%(word)s is no UTF-8, and nothing here is called so", word=unreadable[0])
            )
            return 2
        if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG and error.filename:
            _complain(
                gettext(
                    "%(name)r... is too long to be the name of a file",
                    name=str(error.filename)[:60],
                )
            )
            return 2
        if os.environ.get("ARENA_DEBUG"):
            traceback.print_exc()
        _complain(
            gettext(
                "this should not have happened: %(kind)s: %(error)s (ARENA_DEBUG=1 shows where)",
                kind=type(error).__name__,
                error=error,
            )
        )
        return 3


def _complain(text: str) -> None:
    """Says what is wrong, on one line whatever is in it."""
    click.echo(f"arena: {visible(text, but='')}", err=True)


def _give_up_output() -> None:
    """Lets what is left to print vanish, so that there is no complaint at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
