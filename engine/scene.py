"""A position as a drawing: what lies where, without a page, a colour table or a file format.

A game says what there is to see (`State.scene`); `engine.svg` draws it. Places are square
names; a square's centre is at ``(x, y)`` in units of one square, x to the right, y upwards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum

from engine.translation import translated


class Shade(StrEnum):
    """The ground of a square."""

    LIGHT = "light"
    DARK = "dark"
    PLAIN = "plain"
    SPECIAL = "special"
    POINT = "point"
    """A crossing of lines, without edges of its own."""
    WALL = "wall"
    """Where nothing ever stands."""


class Body(StrEnum):
    """The form of a piece."""

    DISC = "disc"
    TILE = "tile"
    POLYOMINO = "polyomino"
    FIGURE = "figure"
    """A chess piece, which its ``sign`` names, as in "knight"; a disc, if it names none."""


class Paint(StrEnum):
    """The colour of a piece; a renderer gives each a hue and, where it needs one, a pattern."""

    WHITE = "white"
    BLACK = "black"
    BLUE = "blue"
    YELLOW = "yellow"
    RED = "red"
    GREEN = "green"
    NEUTRAL = "neutral"


class Sign(StrEnum):
    """A drawn sign on a piece; any other text of a piece's ``sign`` is written as letters."""

    DOT = "dot"
    CROSS = "cross"
    PLUS = "plus"
    RING = "ring"
    SMALL_RING = "small ring"
    CROWN = "crown"
    STAR = "star"
    BAR = "bar"
    CHEVRON = "chevron"


@dataclass(frozen=True, slots=True)
class Square:
    """A place that can hold a piece."""

    name: str
    x: float
    y: float
    shade: Shade = Shade.PLAIN


Look = tuple[Body, Paint, str]
"""What tells two kinds of pieces apart where they lie: body, paint and sign."""


@dataclass(frozen=True, slots=True)
class Piece:
    """What lies on one square, or on several for a polyomino."""

    squares: tuple[str, ...]
    body: Body
    paint: Paint
    words: str
    """What it is called, e.g. "white stone"."""
    sign: str = ""

    @property
    def look(self) -> Look:
        """Its body, paint and sign."""
        return self.body, self.paint, self.sign


@dataclass(frozen=True, slots=True)
class Held:
    """A kind of piece that a seat holds beside the board."""

    name: str
    """The name as `State.clicks` has it, where the kind is clicked; else what it is called."""
    left: int
    """How many are held; of a kind that is used up none."""
    body: Body
    paint: Paint
    sign: str = ""
    cells: tuple[tuple[int, int], ...] = ((0, 0),)
    """The squares that one covers, by file and rank: the same way round at any time."""
    is_again: bool = False
    """Whether these are the pieces of the kind before, with another side up."""
    tell: Callable[[], str] | None = field(default=None, compare=False)
    """Says what it is called in the language that is spoken, if the name is no text to look up."""

    @property
    def called(self) -> str:
        """What it is called, in the language that is spoken."""
        return self.tell() if self.tell else translated(self.name)


@dataclass(frozen=True, slots=True)
class Line:
    """A straight connection between two squares, drawn beneath the pieces."""

    start: str
    end: str
    broken: bool = False
    thin: bool = False


@dataclass(frozen=True, slots=True)
class Area:
    """A filled shape on the board, from corner to corner, beneath lines and pieces."""

    corners: tuple[tuple[float, float], ...]
    shade: Shade


@dataclass(frozen=True, slots=True)
class PieceRow:
    """Pieces in a straight line that count together, such as four that win."""

    start: str
    end: str
    """Its two ends; no piece of another row lies further out in its direction."""
    paint: Paint | None = None
    """Whose it is, where several have some."""
    points: str = ""
    """What it is worth, where that differs."""


@dataclass(frozen=True, slots=True)
class Goal:
    """How near a side is to what wins, in words and as a bar."""

    words: str
    parts: tuple[tuple[int, int], ...]
    """How many there are of each thing that is needed, and how many it takes; more are no harm."""
    paint: Paint


@dataclass(frozen=True, slots=True)
class Rim:
    """A coloured line along the edge of a board, from corner to corner."""

    corners: tuple[tuple[float, float], ...]
    paint: Paint


@dataclass(frozen=True, slots=True)
class Scene:
    """A drawing of one position."""

    title: str
    """The position in a few words, for those who hear it."""
    squares: tuple[Square, ...]
    pieces: tuple[Piece, ...]
    lines: tuple[Line, ...] = ()
    captions: tuple[str, ...] = ()
    """Lines of text beneath the board, for what lies beside it (pieces in hand)."""
    goals: tuple[Goal, ...] = ()
    """What wins, beneath the captions."""
    areas: tuple[Area, ...] = ()
    rows: tuple[PieceRow, ...] = ()
    dead: tuple[str, ...] = ()
    """Squares with pieces that will neither move nor be taken any more."""
    last: tuple[str, ...] = ()
    """The squares of the last move."""
    arrows: tuple[tuple[str, str], ...] = ()
    """The squares from which and to which pieces went with the last move."""
    targets: tuple[str, ...] = ()
    """Squares where the chosen piece may go."""
    rims: tuple[Rim, ...] = ()
    hexagonal: bool = False
    """Whether squares are drawn as hexagons, a corner up."""
    text: tuple[str, ...] = ()
    """Lines in letters of one width: the board, where there are no squares."""

    def carried(self, start: str, end: str) -> Scene:
        """The drawing with what lies on one square on another, where it takes what lay there."""
        moved = [piece for piece in self.pieces if piece.squares == (start,)]
        if not moved or start == end:
            return self
        others = (piece for piece in self.pieces if piece.squares not in ((start,), (end,)))
        return replace(self, pieces=(*others, *(replace(one, squares=(end,)) for one in moved)))
