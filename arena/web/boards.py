"""Boards on pages, and what a click on one leads to."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property, lru_cache

from markupsafe import Markup

from engine import clicks, svg
from engine.clicks import Clicks, illustrate
from engine.game import CHANCE, Move, Seat, State
from engine.record import GameRecord, states
from engine.scene import Body, Held, Scene
from engine.translation import N_, Translation, gettext, spoken, translated

SQUARE_PIXELS = 72
"""The side of a square on a large page; boards of many squares shrink to fit."""
PIECE_PIXELS, CELL_PIXELS = 34, 11
"""How large what is held is drawn beside a board, and each square of a polyomino."""
LISTED = 600
"""The most moves that are listed: nobody looks through more."""
MARKED = 16
"""The moves of how many plies are marked at most."""

Address = Callable[[Clicks], str]
"""Gives the address of the page with these clicks."""


class Reached:
    """A position, and what is clicked for its moves."""

    def __init__(self, state: State, path: Sequence[tuple[State, Move, State]] = ()) -> None:
        self.state = state
        self._path = path
        """The last moves, each with what stood before and after it."""

    @cached_property
    def ways(self) -> clicks.Ways:
        """What is clicked for each legal move."""
        return clicks.ways(self.state)

    @cached_property
    def tray(self) -> Sequence[Held]:
        """The hand of whoever has the turn, if pieces of it are chosen there."""
        seat = self.state.to_move
        if seat is None or seat == CHANCE:
            return ()
        hand = clicks.held(self.state, seat)
        clicked = {click for way in self.ways.values() for click in way}
        return hand if any(held.name in clicked for held in hand) else ()

    def seen(self, plies: int) -> Scene:
        """The position with the last so many moves marked."""
        scenes = [
            illustrate(after, last=move, before=before)
            for before, move, after in self._path[-plies:]
        ]
        last = dict.fromkeys(name for scene in scenes for name in scene.last)
        arrows = dict.fromkeys(arrow for scene in scenes for arrow in scene.arrows)
        return replace(illustrate(self.state), last=tuple(last), arrows=tuple(arrows))


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
def _reached(played: _Played, _spoken: Translation) -> Reached:
    path = list(deque(states(played.record), MARKED + 1))
    return Reached(
        path[-1], list(zip(path, played.record.moves[1 - len(path) :], path[1:], strict=False))
    )


def reached(record: GameRecord) -> Reached:
    """The position that a game has reached; kept, for each click asks for it again."""
    return _reached(_Played(record), spoken())


class Availability(StrEnum):
    """How a kind of piece in a tray stands."""

    OPEN = "open"
    """It may be chosen now."""
    CHOSEN = "chosen"
    LATER = "later"
    """It is not what is chosen now."""
    STUCK = "stuck"
    """It fits nowhere."""
    USED = "used"


@dataclass(frozen=True, slots=True)
class Word:
    """Something to choose that no square shows."""

    words: str
    address: str
    move: Move | None
    """What is played with it without asking, if that is all."""
    needs_caution: bool
    """Whether it is all of a move of which something should be known before."""


@dataclass(frozen=True, slots=True)
class TrayPlace:
    """The place of a kind of piece in a tray, which it has as long as the game lasts."""

    held: Held
    availability: Availability
    address: str = ""
    """Where it leads if it is chosen, or, once it is, if it is let go."""
    move: Move | None = None
    """The move that is chosen by it, as by a word."""

    @property
    def words(self) -> str:
        """What it is called, for those who do not see how it stands."""
        name = self.held.called
        if self.availability in WORDS_OF:
            return gettext(WORDS_OF[self.availability], name=name)
        if self.held.is_again or self.held.left == 1:
            return name
        return gettext("%(name)s, %(left)s left", name=name, left=self.held.left)

    @property
    def shape(self) -> str:
        """The squares of a polyomino, as in ``0,0 1,0``; empty for other pieces."""
        is_shape = self.held.body is Body.POLYOMINO
        return " ".join(f"{x},{y}" for x, y in self.held.cells) if is_shape else ""


WORDS_OF = {
    Availability.USED: N_("%(name)s, used up"),
    Availability.STUCK: N_("%(name)s, fits nowhere"),
}


@dataclass(frozen=True, slots=True)
class Clickable:
    """A position in which somebody is choosing a move by clicks."""

    board: Markup
    prompt: str
    """What is to be chosen next, in a sentence; empty when the move is complete."""
    words: list[Word]
    """What may be clicked next beside the board, but for what lies in the tray."""
    tray: list[TrayPlace]
    clicked: Clicks
    before: str
    """The address with one click less; empty if there is none."""
    complete: Move | None
    """The move that the clicks are all of."""
    caution: str
    """What is to be known before that is played."""
    moves: list[Move]
    """The moves that begin with the clicks; none if they are too many."""
    count: int


def clickable(
    found: Reached,
    clicked: Clicks,
    address: Address,
    *,
    seen: Scene,
    at_once: bool = False,
) -> Clickable:
    """The board of the side to move; clicks that begin no move are forgotten.

    Args:
        seen: the position as it is drawn before anything is clicked.
        at_once: whether the last click of a move plays it, if it needs no caution; otherwise it
            leads to an address with all clicks.
    """
    state, ways = found.state, found.ways
    moves = clicks.beginning(ways, clicked)
    if not moves:
        clicked, moves = (), list(ways)
    complete = moves[0] if ways[moves[0]] == clicked else None
    scene = clicks.half_made(state, ways, clicked) if clicked else seen
    chosen = _Choosing(found, clicked, address, at_once)
    names = {square.name for square in scene.squares}
    held = {one.name for one in found.tray}
    return Clickable(
        draw(scene, _links(chosen, scene)),
        "" if complete else clicks.asked(state, ways, clicked),
        [
            Word(
                translated(click),
                address((*clicked, click)),
                chosen.played_by(click),
                bool(move and clicks.caution(state, move)),
            )
            for click, move in chosen.following.items()
            if click not in names and click not in held
        ],
        _tray(chosen, found.tray),
        clicked,
        address(clicked[:-1]) if clicked else "",
        complete,
        clicks.caution(state, complete) if complete else "",
        [] if len(moves) > LISTED else moves,
        len(moves),
    )


class _Choosing:
    """What may be clicked in a position after some clicks."""

    def __init__(self, found: Reached, clicked: Clicks, address: Address, at_once: bool) -> None:
        self.state, self.clicked, self.address = found.state, clicked, address
        self.steps = [
            clicks.following(found.ways, clicked[:many]) for many in range(len(clicked) + 1)
        ]
        """What may be clicked first, second and so on, as far as it came."""
        self.following = self.steps[-1]
        self._at_once = at_once

    def played_by(self, click: str) -> Move | None:
        """The move that is played with a click without asking."""
        move = self.following.get(click)
        return move if move and self._at_once and not clicks.caution(self.state, move) else None

    def instead(self, click: str) -> Clicks | None:
        """The clicks with this one in the place of one that was chosen, the latest if several."""
        for many in reversed(range(len(self.clicked))):
            if click in self.steps[many]:
                return (*self.clicked[:many], click)
        return None


def draw(scene: Scene, links: Mapping[str, svg.Link] | None = None) -> Markup:
    """A scene within a page, with what can be clicked; the stylesheet recolours it in the dark."""
    pixels = round(svg.width_of(scene) * SQUARE_PIXELS)
    return Markup(svg.render(scene, size=pixels, links=links))  # noqa: S704 - escaped in engine.svg


def _links(chosen: _Choosing, scene: Scene) -> dict[str, svg.Link]:
    """Where each square leads: on from the clicks made; or from fewer, for who thinks again."""
    lying = {name: piece.words for piece in scene.pieces for name in piece.squares}
    clicked, address = chosen.clicked, chosen.address
    made: dict[str, svg.Link] = {}

    def add(name: str, way: Clicks, kind: str, does: str, move: Move | None = None) -> None:
        what = f"{name}, {lying[name]}" if name in lying else name
        made.setdefault(name, svg.Link(address(way), f"{what}: {does}", kind, move or ""))

    names = [square.name for square in sorted(scene.squares, key=lambda one: (-one.y, one.x))]
    for name in names:
        if name in chosen.following:
            move = chosen.following[name]
            if move:
                does = gettext("play %(move)s", move=move)
            else:
                does = gettext("go on") if clicked else gettext("begin here")
            kind = "on" if clicked else "first"
            add(name, (*clicked, name), kind, does, chosen.played_by(name))
    for number, name in enumerate(clicked):
        if name in names:
            add(name, clicked[:number], "chosen", gettext("choose again"))
    for name in names:
        if way := chosen.instead(name):
            add(name, way, "other", gettext("choose this instead"))
    return made


def _tray(chosen: _Choosing, hand: Sequence[Held]) -> list[TrayPlace]:
    """The hand of who moves, where each kind leads."""
    due = any(held.name in chosen.following for held in hand)

    def slot(held: Held) -> TrayPlace:
        name = held.name
        if not held.left:
            return TrayPlace(held, Availability.USED)
        if name in chosen.clicked:
            way = chosen.clicked[: chosen.clicked.index(name)]
            return TrayPlace(held, Availability.CHOSEN, chosen.address(way))
        if name in chosen.following:
            there = chosen.address((*chosen.clicked, name))
            return TrayPlace(held, Availability.OPEN, there, chosen.played_by(name))
        if instead := chosen.instead(name):
            return TrayPlace(held, Availability.OPEN, chosen.address(instead))
        return TrayPlace(held, Availability.STUCK if due else Availability.LATER)

    return [slot(held) for held in hand]


def waiting_tray(found: Reached, seat: Seat) -> list[TrayPlace]:
    """What a seat holds while others move, in a game with trays: nothing of it can be chosen."""
    hand = clicks.held(found.state, seat) if found.tray else ()
    return [
        TrayPlace(held, Availability.LATER if held.left else Availability.USED) for held in hand
    ]


def held_drawn(held: Held) -> Markup:
    """One of what is held, as a small picture."""
    pixels = CELL_PIXELS if held.body is Body.POLYOMINO else PIECE_PIXELS
    return Markup(svg.render_held(held, size=pixels))  # noqa: S704 - escaped in engine.svg


def position_drawn(state: State, last: Move | None, before: State | None = None) -> Markup:
    """A position as a picture within a page, with the last move and what stood before it."""
    return draw(illustrate(state, last=last, before=before))


FILTERS = {"held_drawn": held_drawn, "position_drawn": position_drawn}
"""Filters of templates, by their names there."""
