"""Replays in a terminal: a board that keys move, or every position as text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.table import Table
from rich.text import Text

from arena.cli.keys import pressed
from arena.cli.listing import Output, say
from arena.cli.terminal_board import captions, draw, draw_board
from engine.clicks import illustrate
from engine.game import State, Variant
from engine.protocol import visible
from engine.record import GameRecord, Ply, states_known
from engine.translation import N_, gettext, translated

PLAY_SECONDS = 0.7
"""How long a position stands while the replay plays."""
PATIENCE_SECONDS = 60.0
GAP, NARROWEST = 3, 30
"""Columns between a board and the words beside it, and as many as these need."""
HELP = N_("← → step   Home End   Space plays   q leaves")
STEPS: Mapping[str, float] = {"left": -1, "right": 1, "home": -math.inf, "end": math.inf}
"""How many plies a key goes on."""


def position_text(state: State, last: str | None) -> Text:
    """A position as it stands in a terminal, with the move that led to it marked."""
    return draw(illustrate(state, last=last))


@dataclass(frozen=True, slots=True)
class Beside:
    """A position with words about it at its right; beneath it, where the terminal is narrow.

    What lies beside the board comes last, since of a low terminal the end is cut off.
    """

    state: State
    last: str | None
    """The move that led to it."""
    words: Sequence[RenderableType]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        scene = illustrate(self.state, last=self.last)
        board = draw_board(scene)
        beneath = captions(scene)
        rest: list[RenderableType] = ["", *beneath] if beneath else []
        width = max((line.cell_len for line in board.split("\n")), default=0)
        if width + GAP + NARROWEST > options.max_width:
            yield Group(board, *rest, "", *self.words)
            return
        grid = Table.grid(padding=(0, GAP, 0, 0))
        grid.add_column(width=width, no_wrap=True)
        grid.add_column()
        grid.add_row(board, Group(*self.words, *rest))
        yield grid


def move_line(record: GameRecord, ply: int) -> str:
    """What led to the position after so many plies, and what was said of it."""
    if not ply:
        return gettext("the start")
    move = move_words(record.variant, record.plies[ply - 1])
    return gettext("ply %(ply)s: %(move)s", ply=ply, move=move)


def move_words(variant: Variant, move: Ply) -> str:
    """A move with whose it is, its time and what was said of it, in one line."""
    return f"{translated(variant.mover_name(move.seat))} {said(move)}"


def said(move: Ply) -> str:
    """A ply's move, its time and its text, without whose it is."""
    time = "" if move.cpu_us is None else f"  {move.cpu_us / 1000:.1f} ms"
    text = f"  {move.text}" if move.text else ""
    return visible(f"{move.move}{time}{text}", but="")


def texts(record: GameRecord, only: int | None = None) -> Iterator[str]:
    """The positions of a game as text, each with the move that led to it, as far as rules allow.

    Args:
        only: after how many plies it is meant; by default all of them.
    """
    for ply, state in enumerate(states_known(record)):
        if only in (None, ply):
            last = record.plies[ply - 1].move if ply else None
            board = position_text(state, last).plain
            yield "\n".join(
                [
                    move_line(record, ply),
                    *(line.rstrip() for line in board.split("\n")),
                    gettext("position: %(text)s", text=visible(state.text(), but="")),
                    "",
                ]
            )


@dataclass
class _Seen:
    """Which ply is shown, and whether the replay plays."""

    ply: int
    last: int
    plays: bool = False

    def press(self, key: str) -> None:
        if key == " ":
            self.plays = not self.plays
            if self.plays and self.ply == self.last:
                self.ply = 0
        elif key in STEPS:
            self.plays = False
            self.ply = int(min(max(self.ply + STEPS[key], 0), self.last))

    def go_on(self) -> None:
        self.ply += self.plays
        self.plays = self.plays and self.ply < self.last


def view(record: GameRecord, *, ply: int | None, title: str, end: str) -> None:
    """Shows a game's board in the terminal until somebody leaves.

    Args:
        ply: the one that is shown at first; by default the last.
        title: above it.
        end: what stands beneath its last position.
    """
    states = list(states_known(record))
    last = len(states) - 1
    seen = _Seen(last if ply is None else min(ply, last), last)

    def picture() -> Beside:
        at = seen.ply
        if at == seen.last:
            result = visible(end, but="")
        else:
            result = gettext("of %(plies)s", plies=len(record.plies))
        words = Text(visible(title, but="")), "", Text(move_line(record, at)), Text(result), ""
        last = record.plies[at - 1].move if at else None
        return Beside(states[at], last, [*words, Text(translated(HELP), "dim")])

    with (
        pressed() as read,
        Live(console=Output(), screen=True, auto_refresh=False) as live,
    ):
        try:
            while True:
                live.update(picture(), refresh=True)
                keys = read(PLAY_SECONDS if seen.plays else PATIENCE_SECONDS)
                if "q" in keys:
                    return
                for key in keys:
                    seen.press(key)
                if not keys:
                    seen.go_on()
        except KeyboardInterrupt:
            return


def print_texts(record: GameRecord, *, ply: int | None) -> None:
    """Prints the positions of a game, or one of them."""
    for text in texts(record, ply):
        say(text)
