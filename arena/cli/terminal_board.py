"""A scene in letters, for terminals: two columns and a line for each square, as wide as it is high.

White and black pieces are signs, others letters on their colour, so that all can be told apart
where there are no colours, too. The second column has what is drawn on a piece.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.style import Style
from rich.text import Text

from engine.colours import FILL, INK
from engine.protocol import visible
from engine.scene import Body, Paint, Piece, PieceRow, Scene, Shade, Sign, Square
from engine.translation import gettext

HAIR = 1e-6
"""How far from a straight line is still on it, in squares."""
WIDTH = 2
"""Columns of a square; halves of it are where hexagons lie."""
GROUND: Mapping[Shade, str] = {
    Shade.LIGHT: "#94876f",
    Shade.DARK: "#7b6f59",
    Shade.PLAIN: "#857a66",
    Shade.SPECIAL: "#5f7488",
    Shade.POINT: "#8a7346",
    Shade.WALL: "#77726a",
}
"""What squares are painted with: colours between, on which both white and black are seen."""
LAST, COUNTED, EDGE = "#a3386b", "#3d7a52", "#4c4639"
"""The ground of the last move's squares and of rows that count, and what is on free ones."""
FREE: Mapping[Shade, str] = {Shade.SPECIAL: "+"}
BODIES: Mapping[tuple[Body, Paint], str] = {
    (Body.DISC, Paint.WHITE): "○",
    (Body.DISC, Paint.BLACK): "●",
    (Body.TILE, Paint.WHITE): "□",
    (Body.TILE, Paint.BLACK): "■",
}
FIGURES: Mapping[str, tuple[str, str]] = {
    "king": ("♔", "♚"),
    "queen": ("♕", "♛"),
    "rook": ("♖", "♜"),
    "bishop": ("♗", "♝"),
    "knight": ("♘", "♞"),
    "pawn": ("♙", "♟"),
}
"""Chess pieces in outline, and filled."""
SIGNS: Mapping[str, str] = {
    Sign.DOT: "•",
    Sign.CROSS: "×",
    Sign.PLUS: "+",
    Sign.RING: "o",
    Sign.SMALL_RING: "°",
    Sign.CROWN: "♔",
    Sign.STAR: "★",
    Sign.BAR: "=",
    Sign.CHEVRON: "^",
}


def draw(scene: Scene) -> Text:
    """The board of a scene with its coordinates, and its captions beneath; in lines, the last
    without an end.
    """
    return Text("\n").join([draw_board(scene), *captions(scene)])


def draw_board(scene: Scene) -> Text:
    """The board alone."""
    lines = _lines(scene) if scene.squares else [Text(visible(line)) for line in scene.text]
    return Text("\n").join(lines)


def captions(scene: Scene) -> list[Text]:
    """What lies beside it, a line each."""
    rows = []
    if scene.rows:
        counted = ", ".join(map(_row, scene.rows))
        rows = [gettext("Counts together: %(rows)s", rows=counted)]
    beneath = (*scene.captions, *(goal.words for goal in scene.goals), *rows)
    return [Text(visible(caption, but="")) for caption in beneath]


def _row(row: PieceRow) -> str:
    if row.points:
        return gettext(
            "%(start)s to %(end)s for %(points)s",
            start=row.start,
            end=row.end,
            points=row.points,
        )
    return gettext("%(start)s to %(end)s", start=row.start, end=row.end)


def _lines(scene: Scene) -> list[Text]:
    left = min(square.x for square in scene.squares)
    rows: dict[float, dict[int, Square]] = {}
    for square in scene.squares:
        rows.setdefault(square.y, {})[round((square.x - left) * WIDTH)] = square
    pieces = {name: piece for piece in scene.pieces for name in piece.squares}
    grounds = dict.fromkeys(_on_rows(scene), COUNTED) | dict.fromkeys(scene.last, LAST)
    ranks = {y: row[min(row)].name[1:] for y, row in rows.items()}
    margin = max(map(len, ranks.values())) + 1
    lines = []
    for y in sorted(rows, reverse=True):
        line = Text(f"{ranks[y]:>{margin - 1}} ")
        for column, square in sorted(rows[y].items()):
            line.pad_right(margin + column - line.cell_len)
            line.append_text(_cell(square, pieces.get(square.name), grounds.get(square.name, "")))
        lines.append(line)
    if scene.hexagonal:  # each row has its files elsewhere: those of the highest are named
        lines.insert(0, _files(rows[max(rows)], margin))
    else:
        lines.append(_files({at: one for row in rows.values() for at, one in row.items()}, margin))
    return lines


def _files(row: Mapping[int, Square], margin: int) -> Text:
    line = Text()
    for column, square in sorted(row.items()):
        line.pad_right(margin + column - line.cell_len)
        line.append(square.name[0])
    return line


def _on_rows(scene: Scene) -> Iterator[str]:
    """The squares of rows that count: all that lie between two ends, and these."""
    at = {square.name: (square.x, square.y) for square in scene.squares}
    for row in scene.rows:
        (left, bottom), (right, top) = at[row.start], at[row.end]
        for name, (x, y) in at.items():
            across = (x - left) * (top - bottom) - (y - bottom) * (right - left)
            within = (x - left) * (x - right) <= 0 and (y - bottom) * (y - top) <= 0
            if within and abs(across) < HAIR:
                yield name


def _cell(square: Square, piece: Piece | None, mark: str) -> Text:
    """A square with what lies on it.

    Args:
        mark: the ground of one that is marked; empty for its own.
    """
    ground = mark or GROUND[square.shade]
    if piece is None:
        return Text(FREE.get(square.shade, "·").ljust(WIDTH), Style(color=EDGE, bgcolor=ground))
    sign = SIGNS.get(piece.sign, piece.sign[:1])
    if piece.body is Body.FIGURE and piece.sign in FIGURES:
        body, sign = FIGURES[piece.sign][piece.paint is not Paint.WHITE], ""
    else:
        body = BODIES.get((piece.body, piece.paint), piece.paint[0].upper())
    words = f"{body}{sign}".ljust(WIDTH)
    if piece.paint in (Paint.WHITE, Paint.BLACK):
        return Text(words, Style(color=FILL[piece.paint], bgcolor=ground, bold=True))
    # Its own colour hides the ground, so pieces on marked squares are underlined.
    style = Style(color=INK[piece.paint], bgcolor=FILL[piece.paint], underline=bool(mark))
    return Text(words, style)
