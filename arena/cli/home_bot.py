"""A bot that plays at home: its processes, started and spoken to as an arena elsewhere says.

Each place that the bot has in a game is a process of its own, as in an arena. What the arena says
is written to it, what it writes to standard output is said to the arena, and what it writes to
standard error stays here.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress

from arena.cli.runner import Launcher
from engine.links import Message
from engine.player import CrashError, VoidGameError
from engine.protocol import visible
from engine.translation import gettext, speaking, spoken

READ_BYTES = 16_384
LONGEST_LINE = 60_000
"""Bytes without the end of a line that are sent on: a referee takes no line that is so long."""
LAST_SECONDS = 0.5
"""What a process may take to end that has closed its output, or was told to quit."""
END_SECONDS = 5.0
"""What all of it may take that ends a process."""
EMPTIED_BYTES = 1 << 20
"""How much of standard error a file keeps that was shown already."""

Event = Callable[[str, str], None]
"""Is told what happens, in a word, and the words for it."""


class HomeBot:
    """All processes of the bot."""

    def __init__(self, launcher: Launcher, say: Callable[[Message], None], tell: Event) -> None:
        """Takes how it is started, and who is told what it says, and what happens."""
        self._launcher = launcher
        self.say, self.tell = say, tell
        self._running: dict[int, Running] = {}

    @property
    def is_idle(self) -> bool:
        """Whether no process runs."""
        return not self._running

    def take(self, message: Message) -> None:
        """Does what the arena says; what is of no process of ours is nothing to us."""
        kind, number = message.get("is"), message.get("program")
        if not isinstance(number, int):
            return
        running = self._running.get(number)
        if kind == "open" and running is None:
            self._running[number] = Running(self, self._launcher, number)
        elif kind == "tell" and running:
            running.tell(str(message.get("text", "")))
        elif kind == "close" and running:
            del self._running[number]
            running.end()

    def end_all(self, *, wait: bool = False) -> None:
        """Ends every process: their games are no more.

        Args:
            wait: until they have ended.
        """
        ending = [*self._running.values()]
        self._running.clear()
        for running in ending:
            running.end()
        for running in ending if wait else ():
            running.thread.join(END_SECONDS)


class Running:
    """A process, with a thread that writes to it and ends it, and one that reads."""

    def __init__(self, bot: HomeBot, launcher: Launcher, number: int) -> None:
        self._bot, self._launcher, self._number = bot, launcher, number
        self._texts: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._is_closed = False
        """Whether the arena wants to hear no more of it."""
        self._is_told_to_quit = False
        self._seat = ""
        self._spoken = spoken()
        """The language of whoever is told of it; the arena hears English, as the thread speaks by
        itself."""
        self.thread = threading.Thread(target=self._run, name=f"program {number}", daemon=True)
        self.thread.start()

    def tell(self, text: str) -> None:
        """Gives it lines of the arena, each ended; they wait until it is ready."""
        self._texts.put(text)

    def end(self) -> None:
        """Ends it; what waits for it is written before."""
        self._is_closed = True
        self._texts.put(None)

    def _run(self) -> None:
        try:
            program = self._launcher.start(None)
        except (CrashError, VoidGameError) as error:
            self._end_by_itself(str(error))
            return
        # Its own: those of the program are closed at its end, and their numbers are another's then.
        output, errors = os.dup(program.stdout), os.dup(program.stderr)
        reader = threading.Thread(target=self._read, args=(output, errors), daemon=True)
        reader.start()
        while (text := self._texts.get()) is not None:
            for line in text.splitlines():
                self._look_at(line)
            with suppress(OSError):  # it closed its input; its output tells whether it ended
                _write_all(program.stdin, text.encode("ascii", "replace"))
        program.wait(LAST_SECONDS)
        how = program.kill()
        if not self._is_closed:
            self._end_by_itself(how)

    def _end_by_itself(self, how: str) -> None:
        self._bot.say({"is": "ended", "program": self._number, "how": how})
        if not self._is_told_to_quit:
            with speaking(self._spoken):
                words = gettext(
                    "program %(number)s ended by itself: %(how)s", number=self._number, how=how
                )
            self._bot.tell("ended", words)

    def _read(self, output: int, errors: int) -> None:
        waiting, shown = b"", 0
        while data := os.read(output, READ_BYTES):
            waiting += data
            whole, end, rest = waiting.rpartition(b"\n")
            if not end and len(waiting) > LONGEST_LINE:
                whole, rest = waiting, b""
            if whole or end:
                text = (whole + end).decode("utf-8", "surrogateescape")
                self._bot.say({"is": "said", "program": self._number, "text": text})
            waiting = rest
            shown = self._show(errors, shown)
        if waiting:
            text = waiting.decode("utf-8", "surrogateescape")
            self._bot.say({"is": "said", "program": self._number, "text": text})
        self._show(errors, shown)
        os.close(output)
        os.close(errors)
        self._texts.put(None)

    def _show(self, errors: int, shown: int) -> int:
        """Shows what it wrote to standard error; returns how much of that file was shown."""
        size = os.fstat(errors).st_size
        if size > shown:
            text = os.pread(errors, size - shown, shown).decode("utf-8", "replace")
            lines = visible(text).splitlines(keepends=False)
            sys.stderr.write("".join(f"[{self._number}] {line}\n" for line in lines))
            shown = size
        if shown > EMPTIED_BYTES:
            os.ftruncate(errors, 0)
            return 0
        return shown

    def _look_at(self, line: str) -> None:
        """Tells of a line from the arena that begins or ends a game, and minds the last one."""
        verb, _, rest = line.partition(" ")
        words = dict(word.split("=", 1) for word in rest.split() if "=" in word)
        if verb == "newgame":
            self._seat = words.get("you", "")
            with speaking(self._spoken):
                begun = gettext(
                    "program %(number)s begins: %(game)s", number=self._number, game=rest
                )
            self._bot.tell("begun", begun)
        elif verb == "end":
            with speaking(self._spoken):
                ended = _outcome(self._number, words, self._seat)
            self._bot.tell("ended", ended)
        elif verb == "quit":
            self._is_told_to_quit = True


def _outcome(number: int, end: Mapping[str, str], seat: str) -> str:
    """How a program's game ended for a seat, in words."""
    ranks = end.get("ranks", "").split(",")
    places = {"number": number, "cause": end.get("cause", "")}
    try:
        mine = ranks[int(seat) - 1]
    except (ValueError, IndexError):
        return gettext("program %(number)s ended its game (%(cause)s)", **places)
    if len(ranks) == 1:
        return gettext(
            "program %(number)s ended its game with %(points)s points (%(cause)s)",
            points=end.get("scores", ""),
            **places,
        )
    if len(set(ranks)) == 1:
        return gettext("program %(number)s drew (%(cause)s)", **places)
    if len(ranks) == 2 and mine == "1":
        return gettext("program %(number)s won (%(cause)s)", **places)
    if len(ranks) == 2:
        return gettext("program %(number)s lost (%(cause)s)", **places)
    return gettext(
        "program %(number)s took rank %(rank)s of %(all)s (%(cause)s)",
        rank=mine,
        all=len(ranks),
        **places,
    )


def _write_all(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]
