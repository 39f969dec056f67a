"""The board of the Siege of Paris: its places, the set-up, and what stands where.

A place is a bit: ``rank * PITCH + file``, both counted from 0. A rank has one bit more than it
has squares, so that a step over the rim ends on a bit that is no place. The eight cells of the
fortress have the bits of the squares that they are named by.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import permutations
from typing import NamedTuple

from engine.board import FREE, bits_of, read_ranks, square_bits, square_names, write_ranks
from engine.game import PositionError
from engine.translation import N_, gettext

FILES, RANKS = 12, 16

# The published pictures of the set-up and of the fortress's segments are not to be had: this
# table is a reconstruction that fits every sentence of the rules. Whoever has the original
# corrects it here, and nowhere else. Black's pieces mirror White's: rank r becomes 17 - r.
WHITE_SETUP: Mapping[str, str] = {
    "L": "b1 l1",
    "K": "d1 j1",
    "G": "f1",
    "C": "h1",
    "S": "a2 c2 e2 g2 i2 k2 b3 d3 f3 h3 j3 l3",
}
HOLE_FILES, HOLE_RANKS = "defghi", range(6, 12)
CELLS = ("d9", "f9", "g9", "i9", "d8", "f8", "g8", "i8")
SEGMENTS = "d9f9 f9g9 g9i9 d8f8 f8g8 g8i8 d8d9 f8f9 g8g9 i8i9"
GATES = "c9d9 c8d8 i9j9 i8j8"
"""Each segment and each gate as its two ends, the one with the lower bit first."""

PITCH = FILES + 1
NAMES = square_names(PITCH, RANKS)
"""The name of each bit."""
BITS: Mapping[str, int] = square_bits(PITCH, RANKS)
SQUARES = tuple(
    name
    for name in square_names(FILES, RANKS)
    if not (name[0] in HOLE_FILES and int(name[1:]) in HOLE_RANKS)
)


def mask(names: Iterable[str]) -> int:
    """The places of these names."""
    return sum(1 << BITS[name] for name in names)


OUTSIDE, INSIDE = mask(SQUARES), mask(CELLS)
PLACES = OUTSIDE | INSIDE
# A square is dark when file number plus rank number is even; both are one more than here.
DARK = mask(name for name in SQUARES if sum(divmod(BITS[name], PITCH)) % 2 == 0)
LIGHT = OUTSIDE ^ DARK

Links = Mapping[int, int]
"""Pairs of joined places: the lower places, by the distance to the upper one in bits."""


def _links(joined: str) -> Links:
    links: dict[int, int] = {}
    for pair in joined.split():
        low, high = BITS[pair[:2]], BITS[pair[2:]]
        links[high - low] = links.get(high - low, 0) | 1 << low
    return links


SEGMENT_LINKS, GATE_LINKS, LINKS = _links(SEGMENTS), _links(GATES), _links(f"{SEGMENTS} {GATES}")

YELLOW, WHITE, BLACK = 0, 1, 2
ARMIES = (N_("Yellow"), N_("White"), N_("Black"))


class Kind(NamedTuple):
    """A kind of piece: its letter in each army, and how it goes about."""

    name: str
    letters: str
    orthogonal: bool = False
    diagonal: bool = False
    far: bool = False


KINDS = (
    Kind(N_("general"), "YGg", orthogonal=True, diagonal=True, far=True),
    Kind(N_("colonel"), "ZCc", orthogonal=True, far=True),
    Kind(N_("captain"), " Kk", orthogonal=True),
    Kind(N_("lieutenant"), " Ll", diagonal=True, far=True),
    Kind(N_("soldier"), "ySs", diagonal=True),
)
PIECES = {
    letter: (army, kind)
    for kind in KINDS
    for army, letter in enumerate(kind.letters)
    if letter != " "
}
"""Army and kind of each letter of a position text."""
LETTERS = "".join(PIECES)


class Board(NamedTuple):
    """What stands where: a set of places for each army, and for each way of going about.

    The last three tell the kinds apart (see `KINDS`); ``far`` are those that White and Black
    may move more than one square.
    """

    yellow: int = 0
    white: int = 0
    black: int = 0
    orthogonal: int = 0
    diagonal: int = 0
    far: int = 0

    @property
    def attackers(self) -> int:
        """White's and Black's pieces."""
        return self.white | self.black

    @property
    def generals(self) -> int:
        return self.orthogonal & self.diagonal

    @property
    def soldiers(self) -> int:
        return self.diagonal & ~self.far

    def moved(self, army: int, step: int) -> Board:
        """The board after a piece of ``army`` went along ``step``, the mask of its two ends.

        What stood at the end of the step is taken.
        """
        yellow, white, black, orthogonal, diagonal, far = self
        start = self[army] & step
        end = start ^ step
        kept = ~step
        return Board(
            yellow ^ step if army == YELLOW else yellow,
            white ^ step if army == WHITE else white & kept,
            black ^ step if army == BLACK else black & kept,
            orthogonal & kept | end if orthogonal & start else orthogonal & kept,
            diagonal & kept | end if diagonal & start else diagonal & kept,
            far & kept | end if far & start else far & kept,
        )

    def pieces(self) -> dict[str, str]:
        """The letter of each place that is taken, by its name."""
        found = {}
        for bit in bits_of(self.yellow | self.white | self.black):
            _, white, black, *ways = (places >> bit & 1 for places in self)
            kind = next(kind for kind in KINDS if [*kind[2:]] == ways)
            found[NAMES[bit]] = kind.letters[WHITE * white + BLACK * black]
        return found


def board_of(pieces: Mapping[str, str]) -> Board:
    """The board with these letters at these places."""
    masks = [0] * 6
    for name, letter in pieces.items():
        army, kind = PIECES[letter]
        bit = 1 << BITS[name]
        masks[army] |= bit
        for way, goes in enumerate((kind.orthogonal, kind.diagonal, kind.far), len(ARMIES)):
            masks[way] |= bit * goes
    return Board(*masks)


WHITE_PIECES = {name: letter for letter, names in WHITE_SETUP.items() for name in names.split()}
ATTACKERS = WHITE_PIECES | {
    f"{name[0]}{RANKS + 1 - int(name[1:])}": letter.lower() for name, letter in WHITE_PIECES.items()
}
"""The attackers' pieces at the start."""
OFFICERS_TO_SPARE = 6
"""Yellow wins when the attackers have no soldiers and no more officers than this: 12 less 6."""
GARRISON = Counter("YZyyyyyy")
FULL = Counter(ATTACKERS.values()) + GARRISON
"""How many pieces of each letter the set-up has."""

PLACINGS = tuple(
    "=" + "".join({general: "G", colonel: "C"}.get(cell, "S") for cell in CELLS)
    for general, colonel in permutations(CELLS, 2)
)
PLACING_CODES = {placing: code for code, placing in enumerate(PLACINGS)}
FIXED_PLACING = "=GSSSSSSC"


def first_board(placing: str | None = None) -> Board:
    """The board at the start, and with a placing Yellow in the fortress as it says."""
    if placing is None:
        return board_of(ATTACKERS)
    garrison = placing[1:].translate(str.maketrans("GCS", "YZy"))
    return board_of(ATTACKERS | dict(zip(CELLS, garrison, strict=True)))


def write_pieces(board: Board) -> str:
    """The first two words of a position text: the ranks from the top, and the cells."""
    squares = dict.fromkeys(square_names(FILES, RANKS), FREE)
    inside = dict.fromkeys(CELLS, FREE)
    for name, letter in board.pieces().items():
        (inside if name in inside else squares)[name] = letter
    return f"{write_ranks(list(squares.values()), FILES)} {''.join(inside.values())}"


def read_pieces(ranks: str, inside: str) -> Board:
    """The board that `write_pieces` wrote.

    Raises:
        PositionError: wrong sizes or letters, a piece where there is no square, or more pieces
            than the set-up has.
    """
    cells = zip(square_names(FILES, RANKS), read_ranks(ranks, FILES, RANKS, LETTERS), strict=True)
    pieces = {name: letter for name, letter in cells if letter != FREE}
    if lost := [name for name in pieces if not OUTSIDE >> BITS[name] & 1]:
        raise PositionError(
            gettext(
                "%(place)s is in the place of the fortress and no square; pieces in the "
                "fortress stand in the second field",
                place=lost[0],
            )
        )
    if len(inside) != len(CELLS) or inside.strip(LETTERS + FREE):
        raise PositionError(
            gettext(
                "the fortress is %(inside)r; it takes %(cells)s letters, %(letters)s or "
                "%(free)s for a free cell",
                inside=inside[:20],
                cells=len(CELLS),
                letters=" ".join(LETTERS),
                free=FREE,
            )
        )
    pieces |= {name: letter for name, letter in zip(CELLS, inside, strict=True) if letter != FREE}
    for letter, count in Counter(pieces.values()).items():
        if count > FULL[letter]:
            raise PositionError(
                gettext(
                    "%(count)s pieces %(letter)s are more than the set-up's %(most)s",
                    count=count,
                    letter=letter,
                    most=FULL[letter],
                )
            )
    return board_of(pieces)
