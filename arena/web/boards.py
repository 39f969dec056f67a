"""Boards on pages, and what a click on one leads to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from markupsafe import Markup

from engine import clicks, svg
from engine.clicks import Clicks, illustrate
from engine.game import Move, State
from engine.record import GameRecord
from engine.scene import Scene
from engine.sitting import position

SQUARE_PIXELS = 72
"""The side of a square on a large page; boards of many squares shrink to fit."""
LISTED = 600
"""More moves than these are not listed: nobody looks through them."""

Address = Callable[[Clicks], str]
"""Gives the address of the page with these clicks."""


class Reached:
    """A position, and what is clicked for its moves."""

    def __init__(self, state: State) -> None:
        self.state = state

    @cached_property
    def ways(self) -> clicks.Ways:
        """What is clicked for each legal move."""
        return clicks.ways(self.state)


@dataclass(frozen=True, slots=True)
class _Played:
    """What a position follows from, to be looked up by."""

    record: GameRecord

    def _key(self) -> tuple[object, ...]:
        game = self.record
        return (game.variant, game.seed, game.moves, game.faults)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Played) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


@lru_cache(maxsize=64)
def _reached(played: _Played) -> Reached:
    return Reached(position(played.record))


def reached(record: GameRecord) -> Reached:
    """The position that a game has reached; kept, for each click asks for it again."""
    return _reached(_Played(record))


@dataclass(frozen=True, slots=True)
class Word:
    """Something to choose that no square shows."""

    words: str
    address: str
    move: Move | None
    """What is played with it, if that is all."""
    shape: str
    """For a polyomino the squares of one of its placements, from its lower left: ``0,0 1,0``."""
    paint: str


@dataclass(frozen=True, slots=True)
class Clickable:
    """A position in which somebody is choosing a move by clicks."""

    board: Markup
    words: list[Word]
    """What may be clicked next beside the board."""
    clicked: Clicks
    complete: Move | None
    """The move that the clicks are all of."""
    asks: bool
    """Whether one click on the board can be all of a move, which is asked about once more."""
    moves: list[Move]
    """The moves that begin with the clicks; none if they are too many."""
    count: int


def clickable(
    found: Reached,
    clicked: Clicks,
    address: Address,
    *,
    last: Move | None,
    before: State | None = None,
) -> Clickable:
    """The board of the side to move; clicks that begin no move are forgotten.

    Args:
        before: what stood before the last move, if that is known.
    """
    moves = clicks.beginning(found.ways, clicked)
    if not moves:
        clicked, moves = (), list(found.ways)
    complete = moves[0] if found.ways[moves[0]] == clicked else None
    scene = illustrate(found.state, last=last, before=before)
    names = {square.name for square in scene.squares}
    following = clicks.following(found.ways, clicked)
    if clicked:
        scene = replace(scene, targets=tuple(name for name in following if name in names))
    many = len(moves) > LISTED
    return Clickable(
        draw(scene, _links(found, clicked, address, scene)),
        [
            _word(found, scene, clicked, click, move, address)
            for click, move in following.items()
            if click not in names
        ],
        clicked,
        complete,
        not clicked and any(move for click, move in following.items() if click in names),
        [] if many else moves,
        len(moves),
    )


def draw(scene: Scene, links: Mapping[str, svg.Link] | None = None) -> Markup:
    """A scene within a page, with what can be clicked; the stylesheet recolours it in the dark."""
    pixels = round(svg.width_of(scene) * SQUARE_PIXELS)
    return Markup(svg.render(scene, size=pixels, links=links))  # noqa: S704 - escaped in engine.svg


def _links(found: Reached, clicked: Clicks, address: Address, scene: Scene) -> dict[str, svg.Link]:
    """Where each square leads: on from the clicks made; or from fewer, for who thinks again."""
    lying = {name: piece.words for piece in scene.pieces for name in piece.squares}
    made: dict[str, svg.Link] = {}

    def add(name: str, way: Clicks, kind: str, does: str, move: Move | None = None) -> None:
        what = f"{name}, {lying[name]}" if name in lying else name
        made.setdefault(name, svg.Link(address(way), f"{what}: {does}", kind, move or ""))

    names = [square.name for square in sorted(scene.squares, key=lambda one: (-one.y, one.x))]
    on = clicks.following(found.ways, clicked)
    for name in names:
        if name in on:
            # A move of a single click is asked about once more: it is easily clicked by mistake.
            move = on[name] if clicked else None
            does = f"play {on[name]}" if on[name] else "go on" if clicked else "begin here"
            add(name, (*clicked, name), "on" if clicked else "first", does, move)
    for number, name in enumerate(clicked):
        if name in names:
            add(name, clicked[:number], "chosen", "choose again")
    for many in reversed(range(len(clicked))):
        other = clicks.following(found.ways, clicked[:many])
        for name in names:
            if name in other:
                add(name, (*clicked[:many], name), "other", "choose this instead")
    return made


def _word(
    found: Reached, scene: Scene, clicked: Clicks, click: str, move: Move | None, address: Address
) -> Word:
    way = (*clicked, click)
    first = next(iter(clicks.beginning(found.ways, way)))
    covered = found.ways[first][len(way) :]
    shape = paint = ""
    if move is None:
        at = {square.name: (square.x, square.y) for square in scene.squares}
        cells = [at[name] for name in covered]
        left, low = min(x for x, _ in cells), min(y for _, y in cells)
        shape = " ".join(f"{x - left:g},{y - low:g}" for x, y in cells)
        paint = click.partition(" ")[0]
    return Word(click, address(way), move, shape, paint)


def shape(word: Word) -> Markup:
    """A polyomino as a small picture, in its own colour."""
    cells = [tuple(map(float, cell.split(","))) for cell in word.shape.split()]
    width, height = max(x for x, _ in cells) + 1, max(y for _, y in cells) + 1
    squares = Markup("").join(
        Markup('<rect x="{:g}" y="{:g}" width="1" height="1"/>').format(x, height - 1 - y)
        for x, y in cells
    )
    return Markup(
        '<svg class="polyomino of-{}" viewBox="-0.1 -0.1 {:g} {:g}" width="{:g}" height="{:g}" '
        'aria-hidden="true">{}</svg>'
    ).format(word.paint, width + 0.2, height + 0.2, 12 * width, 12 * height, squares)


def position_drawn(state: State, last: Move | None) -> Markup:
    """A position as a picture within a page."""
    return draw(illustrate(state, last=last))


FILTERS = {"shape": shape, "position_drawn": position_drawn}
"""Filters of templates, by their names there."""
