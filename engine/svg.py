"""Draws a Scene as SVG.

Every element carries its colours as attributes, so that a picture stands alone, and a class,
so that a page's stylesheet may recolour it; there is no style element and no script, which
strict pages would refuse. Squares carry ``data-square`` for pages that react to clicks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import product
from math import sqrt
from typing import Literal

from engine.scene import Body, Line, Paint, Piece, Rim, Scene, Shade, Sign, Square

Theme = Literal["light", "dark"]

UNIT = 40
"""The side of a square in the picture's own units."""
MARGIN = 0.75
HEXAGON = tuple(
    (x, y / sqrt(3))
    for x, y in ((0, 1), (0.5, 0.5), (0.5, -0.5), (0, -1), (-0.5, -0.5), (-0.5, 0.5))
)
"""The corners of a hexagon that is a square wide, around its centre."""
CAPTION, COORDINATE = 0.48, 0.42
"""How high letters are at most."""
LETTERS_ACROSS = 20
"""Letters are no higher than such a part of the width, or they would outgrow a small board."""
LINE_SPACING = 1.55

# Blue, yellow, red and green are those of Okabe and Ito (2008), which colour-blind people tell
# apart; each of the four also has a small figure of its own on every square.
FILL: Mapping[Paint, str] = {
    Paint.WHITE: "#fbfaf5",
    Paint.BLACK: "#26282c",
    Paint.BLUE: "#0072b2",
    Paint.YELLOW: "#f0e442",
    Paint.RED: "#d55e00",
    Paint.GREEN: "#009e73",
    Paint.NEUTRAL: "#b9a3d6",
}
INK: Mapping[Paint, str] = {
    Paint.WHITE: "#26282c",
    Paint.BLACK: "#fbfaf5",
    Paint.BLUE: "#ffffff",
    Paint.YELLOW: "#3b3700",
    Paint.RED: "#ffffff",
    Paint.GREEN: "#ffffff",
    Paint.NEUTRAL: "#2c2140",
}
FIGURE: Mapping[Paint, str] = {
    Paint.BLUE: "M-.12 0a.12 .12 0 1 0 .24 0a.12 .12 0 1 0-.24 0",
    Paint.YELLOW: "M-.2 .2L.2-.2",
    Paint.RED: "M-.16-.16L.16 .16M-.16 .16L.16-.16",
    Paint.GREEN: "M-.22-.1H.22M-.22 .1H.22",
}
GROUND: Mapping[Theme, Mapping[Shade | str, str]] = {
    "light": {
        Shade.LIGHT: "#f1e7d3",
        Shade.DARK: "#d5bf98",
        Shade.PLAIN: "#ece7dc",
        Shade.SPECIAL: "#c9d3dc",
        Shade.POINT: "#e6cf9d",
        "page": "#ffffff",
        "text": "#3a3d42",
        "edge": "#8d8672",
        "outline": "#26282c",
        "target": "#5b2da8",
    },
    "dark": {
        Shade.LIGHT: "#6b6455",
        Shade.DARK: "#514b3e",
        Shade.PLAIN: "#55524a",
        Shade.SPECIAL: "#4a5864",
        Shade.POINT: "#6d5c3a",
        "page": "#16181c",
        "text": "#d8dade",
        "edge": "#8f8874",
        "outline": "#a8a294",
        "target": "#cdb4ff",
    },
}
LAST = {"last-edge": ("#ffffff", 5), "last": ("#ad1457", 3)}
"""Colours and widths of the frame around the squares of the last move: a dark line with a light
edge, one of which is seen on each ground and each piece."""
SIGNS: Mapping[str, str] = {
    Sign.CROSS: "M-.22-.22L.22 .22M-.22 .22L.22-.22",
    Sign.PLUS: "M-.26 0H.26M0-.26V.26",
    Sign.RING: "M-.24 0a.24 .24 0 1 0 .48 0a.24 .24 0 1 0-.48 0",
    Sign.SMALL_RING: "M-.1 0a.1 .1 0 1 0 .2 0a.1 .1 0 1 0-.2 0",
}
BASE = "M-.27 .2H.27V.32H-.27z"
FIGURES: Mapping[str, str] = {
    "pawn": "M0-.3a.13 .13 0 1 1-.001 0zM-.1-.08H.1L.17 .2H-.17z" + BASE,
    "rook": "M-.26-.32h.13v.09h.07v-.09h.12v.09h.07v-.09h.13v.2H-.26zM-.17-.16H.17L.2 .2H-.2z"
    + BASE,
    "knight": (
        "M-.17 .2C-.19 .02 .02-.02 .02-.13C-.05-.06-.13-.05-.2 .01L-.3-.07"
        "C-.27-.18-.2-.24-.13-.28L-.12-.37L-.03-.3C.18-.3 .27-.08 .22 .2z" + BASE
    ),
    "bishop": (
        "M0-.38a.055 .055 0 1 1-.001 0zM0-.3C.22-.14 .22 .02 .1 .1H-.1C-.22 .02-.22-.14 0-.3z"
        "M-.12 .08H.12L.17 .2H-.17z" + BASE
    ),
    "queen": (
        "M-.2 .2L-.35-.2L-.16-.02L-.13-.28L0-.04L.13-.28L.16-.02L.35-.2L.2 .2z"
        "M0-.16a.05 .05 0 1 1-.001 0z"
        "M-.13-.36a.045 .045 0 1 1-.001 0zM.13-.36a.045 .045 0 1 1-.001 0z"
        "M-.35-.28a.045 .045 0 1 1-.001 0zM.35-.28a.045 .045 0 1 1-.001 0z" + BASE
    ),
    "king": (
        "M-.035-.4h.07v.07h.07v.07h-.07v.1h-.07v-.1h-.07v-.07h.07z"
        "M0-.1C.1-.28 .36-.22 .33-.02C.31 .1 .23 .12 .2 .2H-.2C-.23 .12-.31 .1-.33-.02"
        "C-.36-.22-.1-.28 0-.1z" + BASE
    ),
}
"""Chess pieces as silhouettes, drawn for this program."""
LETTER_WIDTH, TEXT, TEXT_SPACING = 0.602, 0.5, 1.25
"""Of letters of one width: how wide in parts of their height, how high, and how far apart."""


@dataclass(frozen=True, slots=True)
class Link:
    """What a click on a square leads to."""

    address: str
    words: str
    """A description for those who hear it."""
    kind: str
    """A class, for the stylesheet."""
    move: str = ""
    """The move that is complete with the click."""


def render(
    scene: Scene,
    *,
    theme: Theme = "light",
    size: int | None = None,
    coordinates: bool = True,
    links: Mapping[str, Link] | None = None,
) -> str:
    """The scene as an SVG document.

    Args:
        theme: the ground it will stand on.
        size: width in pixels; without one the picture fills what holds it.
        coordinates: whether files and ranks are named along the edges.
        links: for squares that can be clicked, what that does; in their order.
    """
    colours = GROUND[theme]
    margin = MARGIN if coordinates else 0.1
    left, bottom, width, board_height = _extent(scene, margin)
    # Letters are about 0.6 of their height wide; long captions shrink rather than overflow.
    longest = max(map(len, scene.captions), default=0)
    highest = width / LETTERS_ACROSS
    letters = min(CAPTION, highest, (width - 0.4) / (0.6 * longest or 1))
    spacing = letters * LINE_SPACING
    height = board_height + spacing * len(scene.captions)
    top = bottom + board_height
    places = {square.name: (square.x - left, top - square.y) for square in scene.squares}

    parts = [
        _opening(width, height, size, "group" if links else "img"),
        f"<title>{escape(scene.title)}</title>",
        f"<desc>{escape(_spoken(scene.pieces))}</desc>",
        f'<rect class="page" width="{_n(width)}" height="{_n(height)}" fill="{colours["page"]}"/>',
    ]
    cell = _hexagon if scene.hexagonal else _square
    parts += (cell(square, places, colours) for square in scene.squares)
    parts += (_rim(rim, left, top, colours) for rim in scene.rims)
    parts += _typed(scene.text, margin, colours)
    parts += (_line(line, places, colours) for line in scene.lines)
    if coordinates and scene.squares:
        names = min(COORDINATE, highest)
        if scene.hexagonal:
            parts += _hexagonal_coordinates(scene.squares, places, names, colours)
        else:
            parts += _coordinates(scene.squares, left, top, width, board_height, names, colours)
    parts += (_piece(piece, places, colours) for piece in scene.pieces)
    parts += (_last(name, places) for name in scene.last)
    parts += (_target(name, places, colours) for name in scene.targets)
    high = 0.86 if scene.hexagonal else 0.94
    parts += (_link(name, link, places, high) for name, link in (links or {}).items())
    for row, caption in enumerate(scene.captions):
        y = board_height + spacing * (row + 0.45)
        parts.append(_text(caption, width / 2, y, letters, colours["text"], "caption"))
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def width_of(scene: Scene) -> float:
    """How wide a scene is, in squares, its margins included."""
    return _extent(scene, MARGIN)[2]


def _extent(scene: Scene, margin: float) -> tuple[float, float, float, float]:
    """Where a board is: its left and lower edge, its width and its height."""
    if not scene.squares:
        across = max((len(line) for line in scene.text), default=0)
        width = max(across * LETTER_WIDTH * TEXT, 8.0)
        height = len(scene.text) * TEXT * TEXT_SPACING
        return 0.0, 0.0, width + 2 * margin, height + 2 * margin
    xs = [square.x for square in scene.squares]
    ys = [square.y for square in scene.squares]
    left, bottom = min(xs) - 0.5 - margin, min(ys) - 0.5 - margin
    return left, bottom, max(xs) - min(xs) + 1 + 2 * margin, max(ys) - min(ys) + 1 + 2 * margin


def _n(value: float) -> str:
    """A length in the picture's units, as short as it can be written."""
    return f"{value * UNIT:.2f}".rstrip("0").rstrip(".")


def _path(unit_path: str, x: float, y: float) -> str:
    """Attributes that draw a path given in squares around (x, y)."""
    return f'd="{unit_path}" transform="translate({_n(x)} {_n(y)}) scale({UNIT})"'


def _opening(width: float, height: float, size: int | None, role: str) -> str:
    pixels = f' width="{size}" height="{round(size * height / width)}"' if size else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="{role}"{pixels} '
        f'viewBox="0 0 {_n(width)} {_n(height)}" font-family="system-ui, sans-serif">'
    )


def _spoken(pieces: Iterable[Piece]) -> str:
    """Every kind of piece with its squares, e.g. "white stone: a2, b1"."""
    kinds: dict[str, list[str]] = {}
    for piece in pieces:
        kinds.setdefault(piece.words, []).append(" ".join(piece.squares))
    return "; ".join(f"{words}: {', '.join(squares)}" for words, squares in kinds.items())


def _square(
    square: Square, places: Mapping[str, tuple[float, float]], colours: Mapping[Shade | str, str]
) -> str:
    x, y = places[square.name]
    edge = colours[square.shade if square.shade is Shade.POINT else "edge"]
    return (
        f'<rect class="square {square.shade}" data-square="{square.name}" '
        f'x="{_n(x - 0.5)}" y="{_n(y - 0.5)}" width="{UNIT}" height="{UNIT}" '
        f'fill="{colours[square.shade]}" stroke="{edge}" stroke-width="1"/>'
    )


def _hexagon(
    square: Square, places: Mapping[str, tuple[float, float]], colours: Mapping[Shade | str, str]
) -> str:
    x, y = places[square.name]
    corners = " ".join(f"{_n(x + dx)},{_n(y + dy)}" for dx, dy in HEXAGON)
    return (
        f'<polygon class="square {square.shade}" data-square="{square.name}" points="{corners}" '
        f'fill="{colours[square.shade]}" stroke="{colours["edge"]}" stroke-width="1"/>'
    )


def _rim(rim: Rim, left: float, top: float, colours: Mapping[Shade | str, str]) -> str:
    corners = " ".join(f"{_n(x - left)},{_n(top - y)}" for x, y in rim.corners)
    return "".join(
        f'<polyline class="{kind}" points="{corners}" fill="none" stroke="{colour}" '
        f'stroke-width="{width}" stroke-linejoin="round" stroke-linecap="round"/>'
        for kind, colour, width in (
            ("rim-edge", colours["outline"], 8),
            (f"rim {rim.paint}", FILL[rim.paint], 5),
        )
    )


def _typed(
    lines: Sequence[str], margin: float, colours: Mapping[Shade | str, str]
) -> Iterable[str]:
    """Lines in letters of one width, whose spaces count."""
    for row, line in enumerate(lines):
        if line.strip():
            y = margin + TEXT * TEXT_SPACING * (row + 0.5)
            yield (
                f'<text class="typed" x="{_n(margin)}" y="{_n(y)}" dy=".35em" '
                f'font-family="ui-monospace, DejaVu Sans Mono, monospace" font-size="{_n(TEXT)}" '
                f'fill="{colours["text"]}" xml:space="preserve">{escape(line)}</text>'
            )


def _line(
    line: Line, places: Mapping[str, tuple[float, float]], colours: Mapping[Shade | str, str]
) -> str:
    (x1, y1), (x2, y2) = places[line.start], places[line.end]
    dashes = ' stroke-dasharray="6 5"' if line.broken else ""
    thickness = 1.5 if line.thin else 5
    return (
        f'<line class="line" x1="{_n(x1)}" y1="{_n(y1)}" x2="{_n(x2)}" y2="{_n(y2)}" '
        f'stroke="{colours["edge"]}" stroke-width="{thickness}"{dashes}/>'
    )


def _coordinates(
    squares: Iterable[Square],
    left: float,
    top: float,
    width: float,
    height: float,
    letters: float,
    colours: Mapping[Shade | str, str],
) -> list[str]:
    files = {square.x: square.name[0] for square in squares}
    ranks = {square.y: square.name[1:] for square in squares}
    parts = []
    for x, name in files.items():
        for y in (MARGIN / 2, height - MARGIN / 2):
            parts.append(_text(name, x - left, y, letters, colours["text"], "coordinate"))
    for y, name in ranks.items():
        for x in (MARGIN / 2, width - MARGIN / 2):
            parts.append(_text(name, x, top - y, letters, colours["text"], "coordinate"))
    return parts


def _hexagonal_coordinates(
    squares: Sequence[Square],
    places: Mapping[str, tuple[float, float]],
    letters: float,
    colours: Mapping[Shade | str, str],
) -> list[str]:
    """Files above the highest rank, and ranks before their first square."""
    highest = max(square.y for square in squares)
    firsts = {square.y: square.name for square in reversed(squares)}
    named = [(one.name, one.name[0], -0.28, -0.85) for one in squares if one.y == highest]
    named += [(name, name[1:], -0.85, 0) for name in firsts.values()]
    return [
        _text(
            label,
            places[name][0] + dx,
            places[name][1] + dy,
            letters,
            colours["text"],
            "coordinate",
        )
        for name, label, dx, dy in named
    ]


def _text(text: str, x: float, y: float, height: float, fill: str, name: str) -> str:
    # dy instead of dominant-baseline, which not every renderer knows.
    return (
        f'<text class="{name}" x="{_n(x)}" y="{_n(y)}" dy=".35em" text-anchor="middle" '
        f'font-size="{_n(height)}" fill="{fill}">{escape(text)}</text>'
    )


def _piece(
    piece: Piece, places: Mapping[str, tuple[float, float]], colours: Mapping[Shade | str, str]
) -> str:
    fill, ink = FILL[piece.paint], INK[piece.paint]
    if piece.body is Body.POLYOMINO:
        return _polyomino(piece, places)
    x, y = places[piece.squares[0]]
    if piece.body is Body.FIGURE and piece.sign in FIGURES:
        shape = _path(FIGURES[piece.sign], x, y)
        return (
            f'<g class="piece {piece.paint}" data-square="{piece.squares[0]}">'
            f'<path {shape} fill="none" stroke="{ink}" stroke-width=".09" '
            f'stroke-linejoin="round"/><path {shape} fill="{fill}"/></g>'
        )
    if piece.body is not Body.TILE:
        body = f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(0.4)}"'
    else:
        body = (
            f'<rect x="{_n(x - 0.38)}" y="{_n(y - 0.38)}" width="{_n(0.76)}" '
            f'height="{_n(0.76)}" rx="{_n(0.06)}"'
        )
    parts = [
        f'<g class="piece {piece.paint}" data-square="{piece.squares[0]}">'
        f'{body} fill="{fill}" stroke="{colours["outline"]}" stroke-width="1.5"/>'
    ]
    if piece.sign == Sign.DOT:
        parts.append(f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(0.15)}" fill="{ink}"/>')
    elif piece.sign in SIGNS:
        parts.append(
            f'<path {_path(SIGNS[piece.sign], x, y)} fill="none" stroke="{ink}" '
            'stroke-width=".1" stroke-linecap="round"/>'
        )
    elif piece.sign:
        parts.append(_text(piece.sign, x, y, 0.5, ink, "sign"))
    return "".join([*parts, "</g>"])


def _polyomino(piece: Piece, places: Mapping[str, tuple[float, float]]) -> str:
    """One filled shape with an outline around it, and its colour's figure on every square."""
    fill, ink = FILL[piece.paint], INK[piece.paint]
    covered = {places[name] for name in piece.squares}
    ground = "".join(f"M{_n(x - 0.5)} {_n(y - 0.5)}h{UNIT}v{UNIT}h-{UNIT}z" for x, y in covered)
    outline = ""
    for (x, y), (dx, dy) in product(sorted(covered), ((0, 1), (0, -1), (1, 0), (-1, 0))):
        if (x + dx, y + dy) not in covered:
            # The edge towards that neighbour, from corner to corner.
            outline += (
                f"M{_n(x + (dx - dy) / 2)} {_n(y + (dy + dx) / 2)}"
                f"L{_n(x + (dx + dy) / 2)} {_n(y + (dy - dx) / 2)}"
            )
    figure = FIGURE.get(piece.paint, "")
    figures = "".join(f"<path {_path(figure, x, y)}/>" for x, y in sorted(covered) if figure)
    return (
        f'<g class="piece {piece.paint}" data-square="{" ".join(piece.squares)}">'
        f'<path d="{ground}" fill="{fill}"/>'
        f'<g fill="none" stroke="{ink}" stroke-width=".07" opacity=".75">{figures}</g>'
        f'<path d="{outline}" fill="none" stroke="#1b1c1f" stroke-width="3.5" '
        'stroke-linecap="square"/></g>'
    )


def _last(name: str, places: Mapping[str, tuple[float, float]]) -> str:
    x, y = places[name]
    return "".join(
        f'<rect class="{kind}" x="{_n(x - 0.46)}" y="{_n(y - 0.46)}" width="{_n(0.92)}" '
        f'height="{_n(0.92)}" fill="none" stroke="{colour}" stroke-width="{width}"/>'
        for kind, (colour, width) in LAST.items()
    )


def _target(
    name: str, places: Mapping[str, tuple[float, float]], colours: Mapping[Shade | str, str]
) -> str:
    x, y = places[name]
    return (
        f'<circle class="target" cx="{_n(x)}" cy="{_n(y)}" r="{_n(0.2)}" '
        f'fill="{colours["target"]}" fill-opacity=".75" stroke="#ffffff" stroke-width="1"/>'
    )


def _link(name: str, link: Link, places: Mapping[str, tuple[float, float]], high: float) -> str:
    """What can be clicked: most of a square, and of a hexagon what no other row reaches into."""
    x, y = places[name]
    move = f' data-move="{escape(link.move)}"' if link.move else ""
    return (
        f'<a class="click {link.kind}" href="{escape(link.address)}" data-click="{name}"{move} '
        f'aria-label="{escape(link.words)}"><rect x="{_n(x - 0.47)}" y="{_n(y - high / 2)}" '
        f'width="{_n(0.94)}" height="{_n(high)}" fill="transparent"/></a>'
    )
