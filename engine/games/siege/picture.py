"""How a position of the Siege of Paris looks: the board, the fortress in its middle, the armies."""

from __future__ import annotations

from collections.abc import Iterator

from engine.games.siege.board import (
    ATTACKERS,
    BITS,
    BLACK,
    CELLS,
    DARK,
    FULL,
    GATES,
    INSIDE,
    LETTERS,
    OFFICERS_TO_SPARE,
    PIECES,
    PITCH,
    SEGMENTS,
    SQUARES,
    WHITE,
    YELLOW,
    Board,
)
from engine.scene import (
    Area,
    Body,
    Goal,
    Line,
    Paint,
    Piece,
    Scene,
    Shade,
    Sign,
    Square,
)
from engine.translation import N_, gettext, translated

Corners = tuple[tuple[float, float], ...]
PAINTS = (Paint.YELLOW, Paint.WHITE, Paint.BLACK)
# The attackers' at the start.
SOLDIERS = FULL["S"] + FULL["s"]
OFFICERS = len(ATTACKERS) - SOLDIERS
SIGNS = {
    "general": Sign.CROWN,
    "colonel": Sign.STAR,
    "captain": Sign.BAR,
    "lieutenant": Sign.CHEVRON,
    "soldier": "",
}


def _box(left: float, low: float, right: float, high: float) -> Corners:
    return ((left, low), (right, low), (right, high), (left, high))


def _houses(*places: tuple[float, float, float]) -> Iterator[Area]:
    """Houses with their roofs, by the lower left corners and their heights."""
    for x, y, high in places:
        yield Area(_box(x, y, x + 0.5, y + high), Shade.LIGHT)
        roof = ((x - 0.08, y + high), (x + 0.58, y + high), (x + 0.25, y + high + 0.35))
        yield Area(roof, Shade.WALL)


def _church(x: float, y: float) -> Iterator[Area]:
    """A church with two towers, around ``x``."""
    yield Area(_box(x - 0.35, y, x + 0.35, y + 0.85), Shade.LIGHT)
    for side in (-1, 1):
        yield Area(_box(x + side * 0.5 - 0.2, y, x + side * 0.5 + 0.2, y + 1.2), Shade.WALL)


def _city() -> Iterator[Area]:
    """The city in the middle: its ground around the cells, houses, the wall, towers and gates."""
    left, right, low, high = 2.5, 8.5, 4.5, 10.5
    # Around the board's outer cells, and by a slit around those in the middle.
    around = ((left, high), (right, high), (right, 8.5), (7.5, 8.5), (7.5, 6.5), (right, 6.5))
    back = ((right, low), (left, low), (left, 6.5), (3.5, 6.5))
    middle = ((4.5, 6.5), (6.5, 6.5), (6.5, 8.5), (4.5, 8.5), (4.5, 6.5))
    yield Area((*around, *back, *middle, (3.5, 6.5), (3.5, 8.5), (left, 8.5)), Shade.PLAIN)
    yield from _church(5.5, 8.75)
    yield from _houses((3.2, 8.8, 0.4), (4.05, 8.8, 0.55), (6.45, 8.8, 0.55), (7.3, 8.8, 0.4))
    yield from _houses(*((3.2 + 0.85 * n, 5.1, 0.4 + n % 2 * 0.15) for n in range(6)))
    for x in (left, right):
        # Ranks 8 and 9 have a gate on either side, of wood between posts of stone.
        for gate in (7, 8):
            yield Area(_box(x - 0.1, gate - 0.28, x + 0.1, gate + 0.28), Shade.DARK)
        yield Area(_box(x - 0.14, 7.28, x + 0.14, 7.72), Shade.WALL)
        for wall, post in (((low, 6.5), (6.5, 6.72)), ((8.5, high), (8.28, 8.5))):
            yield Area(_box(x - 0.08, wall[0], x + 0.08, wall[1]), Shade.WALL)
            yield Area(_box(x - 0.14, post[0], x + 0.14, post[1]), Shade.WALL)
    for y, up in ((low, 1), (high, -1)):
        yield Area(_box(left, y - 0.08, right, y + 0.08), Shade.WALL)
        for x, inner in ((left, 1), (right, -1)):
            tower = (x - inner * 0.1, y - up * 0.1, x + inner * 0.4, y + up * 0.4)
            yield Area(_box(*tower), Shade.WALL)


CITY = tuple(_city())

WORDS = {
    (YELLOW, "general"): N_("yellow general"),
    (YELLOW, "colonel"): N_("yellow colonel"),
    (YELLOW, "soldier"): N_("yellow soldier"),
    (WHITE, "general"): N_("white general"),
    (WHITE, "colonel"): N_("white colonel"),
    (WHITE, "captain"): N_("white captain"),
    (WHITE, "lieutenant"): N_("white lieutenant"),
    (WHITE, "soldier"): N_("white soldier"),
    (BLACK, "general"): N_("black general"),
    (BLACK, "colonel"): N_("black colonel"),
    (BLACK, "captain"): N_("black captain"),
    (BLACK, "lieutenant"): N_("black lieutenant"),
    (BLACK, "soldier"): N_("black soldier"),
}
"""What each piece is called."""


def draw(board: Board, news: str, soldiers_needed: int) -> Scene:
    """The board, with ``news`` beneath it and what either side has reached of its goal."""
    soldiers, officers = _counts(board, board.attackers)
    soldiers_in, officers_in = _counts(board, board.attackers & INSIDE)
    taken, officers_taken = SOLDIERS - soldiers, OFFICERS - officers
    officers_needed = OFFICERS - OFFICERS_TO_SPARE
    return Scene(
        title=f"{gettext('The Siege of Paris')}: {news}",
        squares=(
            *(
                _place(name, Shade.DARK if DARK >> BITS[name] & 1 else Shade.LIGHT)
                for name in SQUARES
            ),
            *(_place(name, Shade.SPECIAL) for name in CELLS),
        ),
        pieces=tuple(_piece(name, letter) for name, letter in board.pieces().items()),
        lines=(
            *(Line(pair[:2], pair[2:]) for pair in SEGMENTS.split()),
            *(Line(pair[:2], pair[2:], broken=True) for pair in GATES.split()),
        ),
        areas=CITY,
        captions=(news,),
        goals=(
            Goal(
                gettext(
                    "Taken: soldiers %(soldiers)s of %(all_soldiers)s, officers %(officers)s of "
                    "%(needed)s",
                    soldiers=taken,
                    all_soldiers=SOLDIERS,
                    officers=officers_taken,
                    needed=officers_needed,
                ),
                ((taken, SOLDIERS), (officers_taken, officers_needed)),
                Paint.YELLOW,
            ),
            Goal(
                gettext(
                    "Inside: soldiers %(soldiers)s of %(needed)s, officers %(officers)s of 1",
                    soldiers=soldiers_in,
                    needed=soldiers_needed,
                    officers=officers_in,
                ),
                ((soldiers_in, soldiers_needed), (officers_in, 1)),
                Paint.NEUTRAL,
            ),
        ),
    )


def _counts(board: Board, places: int) -> tuple[int, int]:
    """How many soldiers and officers stand there."""
    soldiers = (places & board.soldiers).bit_count()
    return soldiers, places.bit_count() - soldiers


def _place(name: str, shade: Shade) -> Square:
    rank, file = divmod(BITS[name], PITCH)
    return Square(name, file, rank, shade)


def _piece(name: str, letter: str) -> Piece:
    army, kind = PIECES[letter]
    words = translated(WORDS[army, kind.name])
    return Piece((name,), Body.DISC, PAINTS[army], words, SIGNS[kind.name])


LOOKS = tuple(_piece("", letter).look for letter in LETTERS)
"""How all kinds of pieces look."""
