"""The command connect: a bot of this machine plays on a ladder elsewhere."""

from __future__ import annotations

import json
import signal
import threading
from contextvars import copy_context
from functools import partial
from types import FrameType

import click

from arena.cli import InputError
from arena.cli.arguments import GivenBot, find_bots
from arena.cli.client import RemoteArena, need_server, on_server
from arena.cli.completing import bots_here, named
from arena.cli.home_bot import HomeBot
from arena.cli.home_link import HomeLink, OverError
from arena.cli.home_name import own_name
from arena.cli.options import as_json
from arena.cli.runner import plain
from engine.links import Message
from engine.protocol import visible
from engine.reporting import MOST_GAMES_AT_HOME
from engine.translation import gettext

LOOK_SECONDS = 0.1
INTERRUPTED = 130


@click.command()
@click.argument("bot", shell_complete=bots_here)
@click.option(
    "--ladder",
    metavar="NAME",
    required=True,
    shell_complete=named("ladders"),
    help="The ladder that it plays on.",
)
@click.option("--name", help="What the bot is called there; by default as its file.")
@click.option(
    "--games",
    type=click.IntRange(1, MOST_GAMES_AT_HOME),
    default=1,
    show_default=True,
    help="How many matches it plays at once, each with a process of its own.",
)
@click.option(
    "--new-version",
    metavar="WORDS",
    help="It is another program than before: a new version, of which these words tell.",
)
@click.option("--poll", "polls", is_flag=True, help="Ask again and again: use no WebSocket.")
@on_server
@as_json
def connect(
    bot: str,
    ladder: str,
    name: str | None,
    games: int,
    new_version: str | None,
    polls: bool,
    server: str | None,
    in_json: bool,
) -> None:
    """Play on a ladder with a bot that stays on this machine.

    The bot is a file, a folder, or a whole command with its arguments, and runs as a plain process
    of this user with all that this machine has. Only an outgoing connection is needed, which is
    made again whenever it is lost. The token needs the scope connect. What the bot writes to
    standard error stays here.

    Ctrl-C ends it when the games under way are over; once more ends it at once, and they are lost.

    \b
    Examples:
      arena connect mybot.py --ladder clobber-8x8
      arena connect "./engine --cuda" --name giant --ladder clobber-8x8 --games 4
      arena connect "arena bridge ugi -- ./engine" --name foreign --ladder clobber-8x8
    """
    there, (given,) = need_server(server), find_bots([bot])
    raise SystemExit(_Connected(there, given, games, in_json).run(ladder, name, new_version, polls))


class _Connected:
    """A bot as it is connected."""

    def __init__(self, server: RemoteArena, given: GivenBot, games: int, in_json: bool) -> None:
        self._server, self._given, self._games = server, given, games
        self._in_json = in_json
        self._interrupts = 0
        self._over = ""
        self._lock = threading.Lock()

    def run(self, ladder: str, name: str | None, new_version: str | None, polls: bool) -> int:
        """Connects, and plays until it is interrupted; returns the exit code."""
        launcher = plain(self._given)
        asked = {"name": name or self._given.name, "ladder": ladder, "new_version": new_version}
        body = {key: value for key, value in asked.items() if value is not None}
        made = self._server.send("POST", "/home", body)
        self._tell("admitted", made["said"])
        self._bot = HomeBot(launcher, self._say, self._tell)
        with own_name(self._server.address, made["version"]) as client:
            self._link = HomeLink(
                self._server,
                made["version"],
                client=client,
                heard=self._bot.take,
                came=self._came,
                lost=self._lost,
                polls=polls,
            )
            signal.signal(signal.SIGINT, self._interrupt)
            signal.signal(signal.SIGTERM, self._interrupt)
            # What it hears is told in the language that is spoken here.
            hear = partial(copy_context().run, self._hear)
            hearing = threading.Thread(target=hear, name="link", daemon=True)
            hearing.start()
            return self._wait(hearing)

    def _say(self, message: Message) -> None:
        self._link.say(message)

    def _hear(self) -> None:
        try:
            self._link.run()
        except OverError as error:
            self._over = str(error)

    def _wait(self, hearing: threading.Thread) -> int:
        """Waits for the end: of the link, or of the games under way once it was interrupted."""
        is_leaving = False
        while hearing.is_alive() and self._interrupts < 2:
            hearing.join(LOOK_SECONDS)
            if self._interrupts and not is_leaving:
                is_leaving = True
                self._link.say({"is": "games", "games": 0})
                words = gettext(
                    "no more games; those under way are played to their end "
                    "(Ctrl-C again ends at once, and loses them)"
                )
                self._tell("leaving", words)
            if is_leaving and self._bot.is_idle and self._link.all_taken():
                break
        self._link.close()
        self._bot.end_all(wait=True)
        if self._over:
            raise InputError(self._over)
        return INTERRUPTED if self._interrupts > 1 else 0

    def _interrupt(self, _number: int, _frame: FrameType | None) -> None:
        self._interrupts += 1

    def _came(self, is_new: bool, kind: str) -> None:
        """There is a connection; with a new session the games before are no more."""
        if is_new:
            self._bot.end_all()
            self._link.say({"is": "games", "games": 0 if self._interrupts else self._games})
        words = gettext(
            "connected to %(server)s by %(kind)s", server=self._server.address, kind=kind
        )
        self._tell("connected", words)

    def _lost(self, words: str, seconds: float) -> None:
        again = gettext("trying again in %(seconds)s s", seconds=f"{seconds:.1f}")
        self._tell("lost", f"{words}; {again}")

    def _tell(self, event: str, words: str) -> None:
        """Says what happened, in a line."""
        words = visible(words, but="")
        with self._lock:
            click.echo(json.dumps({"event": event, "words": words}) if self._in_json else words)
