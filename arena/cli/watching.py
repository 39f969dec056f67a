"""Games that somebody watches while they are played.

Threads play; after each ply they tell how their game stands. One of the running games is shown: it
waits a moment after each of its plies, so that eyes can follow. No clock runs meanwhile, and the
others are not held up.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from threading import Condition, Event
from typing import Self

import click

from arena.cli.listing import say
from arena.cli.progress_bar import ProgressBar
from arena.cli.viewer import move_words, position_text
from engine.game import State
from engine.match import MatchSpec
from engine.protocol import visible
from engine.record import Ply
from engine.referee import Watch
from engine.sitting import clocks_after
from engine.translation import gettext

PAUSE_SECONDS = 0.5
"""How long the shown game waits after a ply."""
LOOK_SECONDS = 0.1
"""How long it waits without a look whether anybody wants it to."""


@dataclass(frozen=True, slots=True)
class SeatNow:
    """Somebody at the board of a running game."""

    name: str
    player: str
    is_due: bool
    left_ms: int | None
    """How much is left on its clock; None where each move has its own time."""
    last: Ply | None
    """Its last move."""


@dataclass(frozen=True, slots=True)
class GameNow:
    """A running game as it stands."""

    match: int
    """The match's number among those of this command, from 1 in the order in which they were
    begun."""
    game: int
    """The game's number in its match, from 0."""
    spec: MatchSpec
    state: State
    plies: tuple[Ply, ...]
    before: State | None
    """What stood before the last ply, from which follows what went where; None after the first that
    was seen."""

    @property
    def words(self) -> str:
        """Which game it is."""
        return gettext(
            "%(variant)s: match %(match)s, game %(number)s of %(games)s",
            variant=self.spec.variant,
            match=self.match,
            number=self.game + 1,
            games=self.spec.games,
        )

    @property
    def last(self) -> str:
        """What led to the position."""
        return self.plies[-1].move

    @property
    def seats(self) -> list[SeatNow]:
        """All seats, in their order."""
        time, variant = self.spec.time, self.spec.variant
        left = clocks_after([time] * variant.seats, self.plies)
        lasts = {ply.seat: ply for ply in self.plies}
        return [
            SeatNow(
                name,
                self.spec.entrants[entrant],
                seat == self.state.to_move,
                left[seat].left_ms if time.move_ms is None else None,
                lasts.get(seat),
            )
            for seat, (name, entrant) in enumerate(
                zip(variant.seat_names, self.spec.seating(self.game), strict=True)
            )
        ]


class RunningGames:
    """The games under way, of which one is shown: the one that was chosen, or the first."""

    def __init__(
        self,
        pause_seconds: float = PAUSE_SECONDS,
        told: Callable[[GameNow], None] = lambda _: None,
    ) -> None:
        """Takes how long the shown game waits after a ply, and what is told of each ply."""
        self.pause_seconds = pause_seconds
        self._told = told
        self.changed = Condition()
        """Is told of every ply; to be held by who looks at what follows."""
        self.version = 0
        """Grows with each ply."""
        self._numbers = itertools.count(1)
        self._running: dict[int, GameNow | None] = {}
        self._chosen: int | None = None
        self._latest: GameNow | None = None
        self._watchers = 0
        self._unwatched = Event()

    @property
    def shown(self) -> GameNow | None:
        """The shown game; the last that was, where none is under way."""
        number = self._shown_number()
        return (number and self._running[number]) or self._latest

    def _shown_number(self) -> int | None:
        return self._chosen if self._chosen in self._running else min(self._running, default=None)

    def choose(self, step: int) -> None:
        """Shows the game of the match that was begun so many after the shown one."""
        with self.changed:
            numbers = sorted(self._running)
            if numbers:
                at = numbers.index(self._shown_number() or numbers[0])
                self._chosen = numbers[(at + step) % len(numbers)]

    def come(self) -> None:
        """Somebody begins to watch; until the first does, the shown game waits for them, too."""
        with self.changed:
            self._watchers += 1
            self._unwatched.clear()

    def leave(self) -> None:
        """Somebody watches no more; after the last no game waits."""
        with self.changed:
            self._watchers -= 1
            if self._watchers <= 0:
                self._unwatched.set()

    def _pause(self, check: Callable[[], None]) -> None:
        """Waits as long as the shown game does, and looks meanwhile whether it is broken off."""
        began = time.monotonic()
        while (left := began + self.pause_seconds - time.monotonic()) > 0:
            if self._unwatched.wait(min(left, LOOK_SECONDS)):
                return
            check()

    @contextmanager
    def match(self, spec: MatchSpec, check: Callable[[], None]) -> Iterator[Callable[[int], Watch]]:
        """A match that is under way in a block, and what watches each of its games.

        Args:
            check: is called after each ply, and while the match waits; it may raise, to break it
                off.
        """
        with self.changed:
            number = next(self._numbers)
            self._running[number] = None

        def watch(game: int) -> Watch:
            before: State | None = None

            def see(state: State, plies: Sequence[Ply]) -> None:
                nonlocal before
                check()
                now = GameNow(number, game, spec, state, tuple(plies), before)
                before = state
                with self.changed:
                    self._running[number] = now
                    is_shown = number == self._shown_number()
                    if is_shown:
                        self._latest = now
                    self.version += 1
                    self.changed.notify_all()
                self._told(now)
                if is_shown:
                    self._pause(check)

            return see

        try:
            yield watch
        finally:
            with self.changed:
                del self._running[number]


class Watching:
    """What is seen of games for as long as a block runs: here, how many are done.

    Args:
        bar: of the games that are played to their end.
        games: those under way, where they are watched.
    """

    def __init__(self, bar: ProgressBar, games: RunningGames | None = None) -> None:
        self._bar, self._games = bar, games

    def __enter__(self) -> Self:
        self._bar.__enter__()
        return self

    def __exit__(self, *ending: object) -> None:
        self._bar.__exit__(*ending)

    def advance(self, more: int, words: str) -> None:
        """Shows that so many more are done, and that it stands so."""
        self._bar.advance(more, words)

    def match(
        self, spec: MatchSpec, check: Callable[..., None]
    ) -> AbstractContextManager[Callable[[int], Watch]]:
        """As `RunningGames.match`."""
        if self._games is None:
            return nullcontext(lambda _: check)
        return self._games.match(spec, check)


def print_game(now: GameNow) -> None:
    """Prints a running game as text, for who has no terminal."""
    click.echo(visible(now.words, but=""))
    move = move_words(now.spec.variant, now.plies[-1])
    click.echo(gettext("ply %(ply)s: %(move)s", ply=len(now.plies), move=move))
    say(f"{position_text(now.state, now.last).plain}\n")
