"""Draws a Scene as SVG.

Every element carries its colours as attributes, so that a picture stands alone, and a class,
so that a page's stylesheet may recolour it; there is no style element and no script, which
strict pages would refuse. Squares carry ``data-square`` for pages that react to clicks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import hypot, sqrt
from textwrap import wrap

from engine.colours import FILL, GROUND, INK, LAST, WON, Strokes, Theme
from engine.scene import Area, Goal, Held, Line, Piece, PieceRow, Rim, Scene, Shade, Square
from engine.svg_pieces import UNIT, at, drawn_piece, path, writing

MARGIN, BARE_MARGIN = 0.75, 0.1
"""The width of what is around a board with its coordinates, and without them, in squares."""
HEXAGON = tuple(
    (x, y / sqrt(3))
    for x, y in ((0, 1), (0.5, 0.5), (0.5, -0.5), (0, -1), (-0.5, -0.5), (-0.5, 0.5))
)
"""The corners of a hexagon that is a square wide, around its centre."""
COORDINATE = 0.5
"""How high letters beside a board are at most."""
LETTERS_ACROSS, LETTERS_DOWN, MOST_LARGER = 28, 34, 1.25
"""Letters are so high a part of the width, on small boards as on large ones: eleven pixels in
a picture of 300, and 21 in one of 600. Higher boards are drawn narrower, and have larger ones."""
LETTER = 0.56
"""How wide letters are, about, in parts of their height; a long line goes on in the next."""
LINE_SPACING = 1.55
BAR = 0.6
"""The height of a goal's bar, in that of a letter."""

FRAME = 0.475
"""How far the frame of a move is from the middle of its square: it cuts no round piece."""
ROW, ROW_CORNER = 0.48, 0.2
"""How far the line around a row is from its middle line, and how round its corners are."""
HATCHING = "M-.5-.25L-.25-.5M-.5 .25L.25-.5M-.25 .5L.5-.25M.25 .5L.5 .25"
LETTER_WIDTH, TEXT, TEXT_SPACING = 0.602, 0.5, 1.25
"""The measures of letters of one width: how wide in parts of their height, how high, and how far
apart."""


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
    beneath: bool = True,
    view: Sequence[float] | None = None,
) -> str:
    """The scene as an SVG document.

    Args:
        theme: the ground it will stand on.
        size: width in pixels; without one the picture fills what holds it.
        coordinates: whether files and ranks are named along the edges.
        links: for squares that can be clicked, what that does; in their order.
        beneath: whether the captions and goals stand beneath the board.
        view: the part that is seen, as a ``viewBox``; all of it by default.
    """
    colours = GROUND[theme]
    margin = _margin(coordinates)
    left, bottom, width, board_height = _extent(scene, margin)
    letters = _letters(width, board_height)
    words, words_height = (
        _words(scene, width, board_height, letters, colours) if beneath else ([], 0.0)
    )
    height = board_height + words_height
    top = bottom + board_height
    places = {square.name: (square.x - left, top - square.y) for square in scene.squares}

    parts = [
        _opening(view or (0, 0, width * UNIT, height * UNIT), size, "group" if links else "img"),
        f"<title>{escape(scene.title)}</title>",
        f"<desc>{escape(_spoken(scene))}</desc>",
        f'<rect class="page" width="{at(width)}" height="{at(height)}" fill="{colours["page"]}"/>',
    ]
    cell = _hexagon if scene.hexagonal else _square
    parts += (cell(square, places, colours) for square in scene.squares)
    parts += (_area(area, left, top, colours) for area in scene.areas)
    parts += (_rim(rim, left, top, colours) for rim in scene.rims)
    parts += _typed(scene.text, margin, colours)
    parts += (_line(line, places, colours) for line in scene.lines)
    if coordinates and scene.squares:
        names = min(COORDINATE, letters)
        if scene.hexagonal:
            parts += _hexagonal_coordinates(scene.squares, places, names, colours)
        else:
            parts += _coordinates(scene.squares, left, top, width, board_height, names, colours)
    # Beneath the pieces: no corner of theirs is lost under it where a row is on the slant.
    rows = (row for row in scene.rows if not row.points)
    parts += (_stroke(_around(row, places), "row-edge", WON[0]) for row in rows)
    parts += (drawn_piece(piece, places, colours) for piece in scene.pieces)
    parts += (_dead(name, places, colours) for name in scene.dead)
    parts += (_last(name, places) for name in scene.last)
    parts += (_row(row, places) for row in scene.rows)
    taken = {name for piece in scene.pieces for name in piece.squares}
    parts += (_arrow(*ends, places, taken) for ends in scene.arrows)
    parts += (_target(name, places, colours) for name in scene.targets)
    high = 0.86 if scene.hexagonal else 0.94
    parts += (_link(name, link, places, high) for name, link in (links or {}).items())
    parts += words
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def render_held(held: Held, *, size: int) -> str:
    """One of what is held beside the board as an SVG element within a page.

    Args:
        size: the side of a square in pixels.
    """
    left, low = (min(cell[axis] for cell in held.cells) for axis in (0, 1))
    width, height = (
        1 + max(cell[axis] for cell in held.cells) - start for axis, start in ((0, left), (1, low))
    )
    places = {f"{x}.{y}": (x - left + 0.5, height - (y - low) - 0.5) for x, y in held.cells}
    piece = Piece(tuple(places), held.body, held.paint, held.called, held.sign)
    rim = 2
    box = " ".join(map(str, (-rim, -rim, UNIT * width + 2 * rim, UNIT * height + 2 * rim)))
    return (
        f'<svg viewBox="{box}" width="{size * width}" height="{size * height}" aria-hidden="true">'
        f"{drawn_piece(piece, places, GROUND['light'])}</svg>"
    )


def width_of(scene: Scene) -> float:
    """How wide a scene is, in squares, its margins included."""
    return _extent(scene, MARGIN)[2]


def size_of(scene: Scene, *, coordinates: bool) -> tuple[float, float]:
    """The width and the height of a board in a picture's units, without words beneath it."""
    _, _, width, height = _extent(scene, _margin(coordinates))
    return width * UNIT, height * UNIT


def places_of(scene: Scene, *, coordinates: bool) -> dict[str, tuple[float, float]]:
    """The middle of each square in a picture's units, from its left and upper edge."""
    left, bottom, _, height = _extent(scene, _margin(coordinates))
    return {
        square.name: ((square.x - left) * UNIT, (bottom + height - square.y) * UNIT)
        for square in scene.squares
    }


def _letters(width: float, height: float) -> float:
    """How high letters are beside a board, and beneath it."""
    usual = width / LETTERS_ACROSS
    return min(max(usual, height / LETTERS_DOWN), MOST_LARGER * usual)


def _margin(coordinates: bool) -> float:
    return MARGIN if coordinates else BARE_MARGIN


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


def _opening(view: Sequence[float], size: int | None, role: str) -> str:
    pixels = f' width="{size}" height="{round(size * view[3] / view[2])}"' if size else ""
    box = " ".join(f"{edge:.6f}".rstrip("0").rstrip(".") for edge in view)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="{role}"{pixels} '
        f'viewBox="{box}" font-family="system-ui, sans-serif">'
    )


def _spoken(scene: Scene) -> str:
    """Every kind of piece with its squares, e.g. "white stone: a2, b1", and what is marked."""
    kinds: dict[str, list[str]] = {}
    for piece in scene.pieces:
        kinds.setdefault(piece.words, []).append(" ".join(piece.squares))
    for row in scene.rows:
        worth = f" worth {row.points}" if row.points else ""
        whose = f"{row.paint} " if row.paint else ""
        kinds.setdefault(f"{whose}row{worth}", []).append(f"{row.start} to {row.end}")
    if scene.dead:
        kinds["dead"] = list(scene.dead)
    return "; ".join(f"{words}: {', '.join(squares)}" for words, squares in kinds.items())


def _words(
    scene: Scene,
    width: float,
    top: float,
    letters: float,
    colours: Mapping[Shade | str, str],
) -> tuple[list[str], float]:
    """The captions and goals beneath a board, and how high they are together."""
    parts: list[str] = []
    y, spacing = top, letters * LINE_SPACING
    most = int((width - 0.4) / (LETTER * letters))

    def write(words: str) -> None:
        nonlocal y
        # An empty caption is a distance.
        for line in wrap(words, most) or [words]:
            middle = y + 0.45 * spacing
            parts.append(writing(line, width / 2, middle, letters, colours["text"], "caption"))
            y += spacing

    for caption in scene.captions:
        write(caption)
    for goal in scene.goals:
        write(goal.words)
        parts.append(_bar(goal, width, y, letters * BAR, colours))
        y += letters * (BAR + 0.5)
    return parts, y - top


def _bar(
    goal: Goal, width: float, y: float, height: float, colours: Mapping[Shade | str, str]
) -> str:
    """A bar with a part for each thing that is needed, each filled from its left."""
    whole = sum(needed for _, needed in goal.parts)
    long, gap = min(width * 0.7, width - 0.4), height / 2
    unit = (long - gap * (len(goal.parts) - 1)) / whole
    x = (width - long) / 2
    drawn = []
    for there, needed in goal.parts:
        rect = f'x="{at(x)}" y="{at(y)}" height="{at(height)}"'
        drawn.append(
            f'<rect class="goal {goal.paint}" {rect} width="{at(unit * min(there, needed))}" '
            f'fill="{FILL[goal.paint]}"/>'
            f'<rect class="goal-edge" {rect} width="{at(unit * needed)}" fill="none" '
            f'stroke="{colours["outline"]}" stroke-width="1"/>'
        )
        x += unit * needed + gap
    return "".join(drawn)


def _area(area: Area, left: float, top: float, colours: Mapping[Shade | str, str]) -> str:
    corners = " ".join(f"{at(x - left)},{at(top - y)}" for x, y in area.corners)
    return (
        f'<polygon class="area {area.shade}" points="{corners}" fill="{colours[area.shade]}" '
        f'stroke="{colours["edge"]}" stroke-width="1" stroke-linejoin="round"/>'
    )


def _square(
    square: Square, places: Mapping[str, tuple[float, float]], colours: Mapping[Shade | str, str]
) -> str:
    x, y = places[square.name]
    edge = colours[square.shade if square.shade is Shade.POINT else "edge"]
    return (
        f'<rect class="square {square.shade}" data-square="{square.name}" '
        f'x="{at(x - 0.5)}" y="{at(y - 0.5)}" width="{UNIT}" height="{UNIT}" '
        f'fill="{colours[square.shade]}" stroke="{edge}" stroke-width="1"/>'
    )


def _hexagon(
    square: Square, places: Mapping[str, tuple[float, float]], colours: Mapping[Shade | str, str]
) -> str:
    x, y = places[square.name]
    corners = " ".join(f"{at(x + dx)},{at(y + dy)}" for dx, dy in HEXAGON)
    return (
        f'<polygon class="square {square.shade}" data-square="{square.name}" points="{corners}" '
        f'fill="{colours[square.shade]}" stroke="{colours["edge"]}" stroke-width="1"/>'
    )


def _rim(rim: Rim, left: float, top: float, colours: Mapping[Shade | str, str]) -> str:
    corners = " ".join(f"{at(x - left)},{at(top - y)}" for x, y in rim.corners)
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
                f'<text class="typed" x="{at(margin)}" y="{at(y)}" dy=".35em" '
                f'font-family="ui-monospace, DejaVu Sans Mono, monospace" font-size="{at(TEXT)}" '
                f'fill="{colours["text"]}" xml:space="preserve">{escape(line)}</text>'
            )


def _line(
    line: Line, places: Mapping[str, tuple[float, float]], colours: Mapping[Shade | str, str]
) -> str:
    (x1, y1), (x2, y2) = places[line.start], places[line.end]
    dashes = ' stroke-dasharray="6 5"' if line.broken else ""
    thickness = 1.5 if line.thin else 5
    return (
        f'<line class="line" x1="{at(x1)}" y1="{at(y1)}" x2="{at(x2)}" y2="{at(y2)}" '
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
            parts.append(writing(name, x - left, y, letters, colours["text"], "coordinate"))
    for y, name in ranks.items():
        for x in (MARGIN / 2, width - MARGIN / 2):
            parts.append(writing(name, x, top - y, letters, colours["text"], "coordinate"))
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
        writing(
            label,
            places[name][0] + dx,
            places[name][1] + dy,
            letters,
            colours["text"],
            "coordinate",
        )
        for name, label, dx, dy in named
    ]


def _last(name: str, places: Mapping[str, tuple[float, float]]) -> str:
    x, y = places[name]
    side = at(2 * FRAME)
    return _twice(f"M{at(x - FRAME)} {at(y - FRAME)}h{side}v{side}h-{side}z", "last", LAST)


def _dead(
    name: str, places: Mapping[str, tuple[float, float]], colours: Mapping[Shade | str, str]
) -> str:
    """A veil over a square and its piece, with lines across, which are seen without colours."""
    x, y = places[name]
    return (
        f'<g class="dead"><rect x="{at(x - 0.5)}" y="{at(y - 0.5)}" width="{UNIT}" '
        f'height="{UNIT}" fill="{colours["page"]}" fill-opacity=".55"/>'
        f'<path {path(HATCHING, x, y)} fill="none" stroke="{colours["edge"]}" '
        'stroke-width=".035"/></g>'
    )


def _around(row: PieceRow, places: Mapping[str, tuple[float, float]]) -> str:
    """The path around the pieces of a row."""
    (x1, y1), (x2, y2) = places[row.start], places[row.end]
    dx, dy = _towards(x1, y1, x2, y2)

    def corner(x: float, y: float, on: float, aside: float) -> str:
        return f"{at(x + on * dx + aside * dy)} {at(y + on * dy - aside * dx)}"

    straight, arc = ROW - ROW_CORNER, f"A{at(ROW_CORNER)} {at(ROW_CORNER)} 0 0 1 "
    return (
        f"M{corner(x1, y1, -straight, ROW)}L{corner(x2, y2, straight, ROW)}"
        f"{arc}{corner(x2, y2, ROW, straight)}L{corner(x2, y2, ROW, -straight)}"
        f"{arc}{corner(x2, y2, straight, -ROW)}L{corner(x1, y1, -straight, -ROW)}"
        f"{arc}{corner(x1, y1, -ROW, -straight)}L{corner(x1, y1, -ROW, straight)}"
        f"{arc}{corner(x1, y1, -straight, ROW)}z"
    )


def _row(row: PieceRow, places: Mapping[str, tuple[float, float]]) -> str:
    """A line around the pieces of a row; or from each to the next, and at its end its worth."""
    (x1, y1), (x2, y2) = places[row.start], places[row.end]
    dx, dy = _towards(x1, y1, x2, y2)
    if not row.points:
        return _stroke(_around(row, places), "row", WON[1])
    fill, ink = (FILL[row.paint], INK[row.paint]) if row.paint else (WON[1][0], WON[0][0])
    x, y = x2 + 0.36 * dx, y2 + 0.36 * dy
    # No sign is crossed out: rows of several kinds of pieces are read by these.
    steps = max(1, round(max(abs(x2 - x1), abs(y2 - y1))))
    between = "".join(
        f"M{at(x1 + (x2 - x1) * (step + 0.3) / steps)} {at(y1 + (y2 - y1) * (step + 0.3) / steps)}"
        f"L{at(x1 + (x2 - x1) * (step + 0.7) / steps)} {at(y1 + (y2 - y1) * (step + 0.7) / steps)}"
        for step in range(steps)
    )
    return (
        f'{_twice(between, "row", ((ink, 6), (fill, 3.5)))}<circle class="worth" cx="{at(x)}" '
        f'cy="{at(y)}" r="{at(0.16)}" fill="{fill}" stroke="{ink}" stroke-width="1.5"/>'
        f"{writing(row.points, x, y, 0.26, ink, 'points')}"
    )


def _arrow(
    start: str, end: str, places: Mapping[str, tuple[float, float]], taken: Collection[str]
) -> str:
    """Draws an arrow from one square up to the piece on another, over no piece where it begins."""
    (x1, y1), (x2, y2) = places[start], places[end]
    dx, dy = _towards(x1, y1, x2, y2)
    x2, y2 = x2 - 0.42 * dx, y2 - 0.42 * dy
    if start in taken:
        x1, y1 = x1 + 0.42 * dx, y1 + 0.42 * dy
    head = "".join(
        f"M{at(x2)} {at(y2)}L{at(x2 - 0.2 * dx + side * dy)} {at(y2 - 0.2 * dy - side * dx)}"
        for side in (0.16, -0.16)
    )
    return _twice(f"M{at(x1)} {at(y1)}L{at(x2)} {at(y2)}{head}", "arrow", LAST)


def _towards(x1: float, y1: float, x2: float, y2: float) -> tuple[float, float]:
    """A step of one square's side from one place to another."""
    long = hypot(x2 - x1, y2 - y1) or 1.0
    return (x2 - x1) / long, (y2 - y1) / long


def _twice(path: str, name: str, strokes: Strokes) -> str:
    """A path as a line with an edge of another colour."""
    edge, line = strokes
    return _stroke(path, f"{name}-edge", edge) + _stroke(path, name, line)


def _stroke(path: str, name: str, stroke: tuple[str, float]) -> str:
    colour, width = stroke
    return (
        f'<path class="{name}" d="{path}" fill="none" stroke="{colour}" stroke-width="{width}" '
        'stroke-linecap="round" stroke-linejoin="round"/>'
    )


def _target(
    name: str, places: Mapping[str, tuple[float, float]], colours: Mapping[Shade | str, str]
) -> str:
    x, y = places[name]
    return (
        f'<circle class="target" cx="{at(x)}" cy="{at(y)}" r="{at(0.2)}" '
        f'fill="{colours["target"]}" fill-opacity=".75" stroke="#ffffff" stroke-width="1"/>'
    )


def _link(name: str, link: Link, places: Mapping[str, tuple[float, float]], high: float) -> str:
    """What can be clicked: most of a square, and of a hexagon what no other row reaches into."""
    x, y = places[name]
    move = f' data-move="{escape(link.move)}"' if link.move else ""
    return (
        f'<a class="click {link.kind}" href="{escape(link.address)}" data-click="{name}"{move} '
        f'aria-label="{escape(link.words)}"><rect x="{at(x - 0.47)}" y="{at(y - high / 2)}" '
        f'width="{at(0.94)}" height="{at(high)}" fill="transparent"/></a>'
    )
