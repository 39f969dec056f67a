"""The running games of `arena play` in the terminal: one board at a time, keys to switch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import copy_context
from itertools import count
from threading import Event, Thread
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from arena.cli.keys import pressed
from arena.cli.progress_bar import ProgressBar
from arena.cli.viewer import Beside, said
from arena.cli.watching import GameNow, RunningGames, SeatNow, Watching
from engine.plurals import counted
from engine.protocol import visible
from engine.translation import N_, gettext, pgettext, translated

LOOK_SECONDS, LOOKS = 0.1, 10
"""How long between two looks at the games and the keys, and after how many the picture is anew."""
HELP = N_("← → other games   + - faster, slower   q leaves; the games go on")
STOPPING = N_("The matches under way are played to their end; Ctrl-C again breaks them off.")
FASTEST, SLOWEST = 1 / 64, 8.0


class TerminalWatch(Watching):
    """Shows a board, and the bar once somebody leaves that.

    Args:
        total: how many games are to be played.
        stopped: whether no more are begun.
    """

    def __init__(
        self, bar: ProgressBar, games: RunningGames, total: int, stopped: Callable[[], bool]
    ) -> None:
        super().__init__(bar, games)
        self._running = games
        self._total, self._stopped = total, stopped
        self._done, self._words, self._is_left, self._over = 0, "", False, Event()
        # In the language of whoever began it.
        self._thread = Thread(target=copy_context().run, args=(self._run,), daemon=True)

    def __enter__(self) -> Self:
        self._running.come()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def advance(self, more: int, words: str) -> None:
        """Shows that so many more are done, and that it stands so."""
        self._done += more
        self._words = words
        if self._is_left:
            self._bar.show(self._done, words=words)

    def _run(self) -> None:
        with pressed() as read, Live(console=Console(), screen=True, auto_refresh=False) as live:
            seen: GameNow | None = None
            for look in count():
                if self._over.is_set() or self._is_left:
                    break
                with self._running.changed:
                    now = self._running.shown
                # Now and then also where nothing is new: the window may have another size.
                if now is not seen or look % LOOKS == 0:
                    live.update(self._picture(now), refresh=True)
                    seen = now
                for key in read(LOOK_SECONDS):
                    self._press(key)
        self._running.leave()
        if self._is_left:
            with self._bar:
                self._over.wait()

    def _press(self, key: str) -> None:
        games = self._running
        if key in ("left", "right"):
            games.choose(1 if key == "right" else -1)
        elif key in ("+", "-"):
            games.pause_seconds *= 0.5 if key == "+" else 2
            games.pause_seconds = min(max(games.pause_seconds, FASTEST), SLOWEST)
        elif key == "q":
            self._bar.show(self._done, words=self._words)
            self._is_left = True

    def _picture(self, now: GameNow | None) -> RenderableType:
        played = gettext(
            "%(done)s of %(games)s played", done=self._done, games=counted(self._total, "game")
        )
        stands = Text(f"{played}; {visible(self._words, but='')}" if self._words else played)
        foot = stands, Text(translated(STOPPING if self._stopped() else HELP), "dim")
        return picture(now, foot) if now else Group(gettext("The bots are started."), "", *foot)


def picture(now: GameNow, foot: Sequence[RenderableType] = ()) -> Beside:
    """A running game: which it is, its board, and who sits at it."""
    words = gettext("%(game)s, ply %(ply)s", game=now.words, ply=len(now.plies))
    where = Text(visible(words, but=""))
    return Beside(now.state, now.last, [where, "", seats_table(now.seats), "", *foot])


def seats_table(seats: Sequence[SeatNow]) -> Table:
    """Who sits at a board, whose turn it is, and what they played last."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    timed = any(seat.left_ms is not None for seat in seats)
    # Names and moves alone have less room where there is little.
    table.add_column("", no_wrap=True)
    table.add_column(gettext("seat"), no_wrap=True)
    table.add_column(gettext("player"))
    if timed:
        table.add_column(pgettext("on a clock", "left"), no_wrap=True)
    table.add_column(gettext("last move"))
    for seat in seats:
        last = said(seat.last) if seat.last else ""
        left = [] if seat.left_ms is None else [f"{seat.left_ms / 1000:.1f} s"]
        cells = ["▶" if seat.is_due else "", translated(seat.name), seat.player, *left, last]
        # What bots say is no markup, and commands no terminal.
        words = (visible(cell, but="") for cell in cells)
        table.add_row(*(Text(word, no_wrap=True, overflow="ellipsis") for word in words))
    return table
