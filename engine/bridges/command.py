"""A bridge as a program: ``python -m engine.bridges ugi --option Threads=1 -- ./engine``."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

from engine.bridges import bot
from engine.bridges.foreign import SAYS, BridgeError
from engine.bridges.gtp import Gtp
from engine.bridges.ugi import Ugi
from engine.game import GameError
from engine.translation import ENGLISH, gettext, speaking

OPTIONS = {"gtp": "--first", "ugi": "--option"}
"""The protocols that there are bridges for, each with the option that may be given to it."""


class UsageError(ValueError):
    """Words that make no bridge; one sentence."""


class Bridge(NamedTuple):
    """What is chosen of a bridge, but for the program behind it."""

    protocol: str
    chosen: tuple[str, ...] = ()
    """Commands to be given before the first game (GTP), or options as NAME=VALUE (UGI)."""

    @classmethod
    def read(cls, words: Sequence[str]) -> Bridge:
        """The bridge of words as `words` has them.

        Raises:
            UsageError: they make none.
        """
        if not words or words[0] not in OPTIONS:
            raise UsageError(gettext("a bridge is %(protocols)s", protocols=" or ".join(OPTIONS)))
        protocol, *rest = words
        option = OPTIONS[protocol]
        if len(rest) % 2 or any(word != option for word in rest[::2]):
            raise UsageError(
                gettext(
                    "a bridge of %(protocol)s takes %(option)s and what that is",
                    protocol=protocol,
                    option=option,
                )
            )
        found = cls(protocol, tuple(rest[1::2]))
        found.adapter(())
        return found

    @property
    def words(self) -> list[str]:
        """The words that name it on a command line."""
        option = OPTIONS[self.protocol]
        return [self.protocol, *(word for one in self.chosen for word in (option, one))]

    def adapter(self, command: Sequence[str]) -> bot.Adapter:
        """The bridge before a program.

        Raises:
            UsageError: something that was chosen can't be.
        """
        if self.protocol == "gtp":
            if not all(one.strip() for one in self.chosen):
                raise UsageError(gettext("--first is empty; it takes a GTP command"))
            return Gtp(command, self.chosen)
        options = {}
        for one in self.chosen:
            key, equals, value = one.partition("=")
            if not equals:
                raise UsageError(
                    gettext("%(word)r is no option; an option is written NAME=VALUE", word=one[:40])
                )
            options[key] = value
        return Ugi(command, options)


def play(adapter: bot.Adapter, requests: Iterable[str]) -> None:
    """Plays as a bot; a bridge that can't go on says why on standard error, in English, as it may
    come into a record, and exits.

    However it ends, the program behind it is ended before it.
    """
    for number in (signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit(1))
    try:
        with speaking(ENGLISH):
            bot.run(adapter, requests, lambda line: print(line, flush=True))
    except (BridgeError, GameError, UnicodeError, OSError) as error:
        with suppress(OSError):
            print(f"{SAYS}{error}", file=sys.stderr, flush=True)
        sys.exit(1)


def main() -> None:
    """The command, as a box starts it."""
    words = sys.argv[1:]
    behind = words.index("--") if "--" in words else len(words)
    try:
        adapter = Bridge.read(words[:behind]).adapter(words[behind + 1 :])
    except UsageError as error:
        sys.exit(f"{SAYS}{error}")
    play(adapter, sys.stdin)
