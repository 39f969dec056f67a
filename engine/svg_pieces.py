"""Pieces as SVG, and what all of a picture is drawn with: lengths, paths and letters."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from itertools import product

from engine.colours import FIGURE, FILL, INK
from engine.glyphs import FIGURES, SIGNS, SOLID_SIGNS
from engine.scene import Body, Piece, Shade

UNIT = 40
"""The side of a square in the picture's own units."""


def at(value: float) -> str:
    """A length in the picture's units, as short as it can be written."""
    return f"{value * UNIT:.2f}".rstrip("0").rstrip(".")


def path(unit_path: str, x: float, y: float) -> str:
    """Attributes that draw a path given in squares around (x, y)."""
    return f'd="{unit_path}" transform="translate({at(x)} {at(y)}) scale({UNIT})"'


def writing(text: str, x: float, y: float, height: float, fill: str, name: str) -> str:
    """A text around (x, y), of a class of this name."""
    # dy instead of dominant-baseline, which not every renderer knows.
    return (
        f'<text class="{name}" x="{at(x)}" y="{at(y)}" dy=".35em" text-anchor="middle" '
        f'font-size="{at(height)}" fill="{fill}">{escape(text)}</text>'
    )


def drawn_piece(
    piece: Piece, places: Mapping[str, tuple[float, float]], colours: Mapping[Shade | str, str]
) -> str:
    """A piece on its squares, whose middles are at ``places``."""
    fill, ink = FILL[piece.paint], INK[piece.paint]
    if piece.body is Body.POLYOMINO:
        return _polyomino(piece, places)
    # What a sign means is told to whoever points at it.
    named = f"<title>{escape(piece.words)}</title>" if piece.sign else ""
    x, y = places[piece.squares[0]]
    if piece.body is Body.FIGURE and piece.sign in FIGURES:
        shape = path(FIGURES[piece.sign], x, y)
        return (
            f'<g class="piece {piece.paint}" data-square="{piece.squares[0]}">{named}'
            f'<path {shape} fill="none" stroke="{ink}" stroke-width=".09" '
            f'stroke-linejoin="round"/><path {shape} fill="{fill}"/></g>'
        )
    if piece.body is not Body.TILE:
        body = f'<circle cx="{at(x)}" cy="{at(y)}" r="{at(0.4)}"'
    else:
        body = (
            f'<rect x="{at(x - 0.38)}" y="{at(y - 0.38)}" width="{at(0.76)}" '
            f'height="{at(0.76)}" rx="{at(0.06)}"'
        )
    parts = [
        f'<g class="piece {piece.paint}" data-square="{piece.squares[0]}">{named}'
        f'{body} fill="{fill}" stroke="{colours["outline"]}" stroke-width="1.5"/>'
    ]
    if piece.sign in SOLID_SIGNS:
        parts.append(f'<path {path(SOLID_SIGNS[piece.sign], x, y)} fill="{ink}"/>')
    elif piece.sign in SIGNS:
        parts.append(
            f'<path {path(SIGNS[piece.sign], x, y)} fill="none" stroke="{ink}" '
            'stroke-width=".1" stroke-linecap="round"/>'
        )
    elif piece.sign:
        parts.append(writing(piece.sign, x, y, 0.5, ink, "sign"))
    return "".join([*parts, "</g>"])


def _polyomino(piece: Piece, places: Mapping[str, tuple[float, float]]) -> str:
    """One filled shape with an outline around it, and its colour's figure on every square."""
    fill, ink = FILL[piece.paint], INK[piece.paint]
    covered = {places[name] for name in piece.squares}
    ground = "".join(f"M{at(x - 0.5)} {at(y - 0.5)}h{UNIT}v{UNIT}h-{UNIT}z" for x, y in covered)
    outline = ""
    for (x, y), (dx, dy) in product(sorted(covered), ((0, 1), (0, -1), (1, 0), (-1, 0))):
        if (x + dx, y + dy) not in covered:
            # The edge towards that neighbour, from corner to corner.
            outline += (
                f"M{at(x + (dx - dy) / 2)} {at(y + (dy + dx) / 2)}"
                f"L{at(x + (dx + dy) / 2)} {at(y + (dy - dx) / 2)}"
            )
    figure = FIGURE.get(piece.paint, "")
    figures = "".join(f"<path {path(figure, x, y)}/>" for x, y in sorted(covered) if figure)
    return (
        f'<g class="piece {piece.paint}" data-square="{" ".join(piece.squares)}">'
        f'<path d="{ground}" fill="{fill}"/>'
        f'<g fill="none" stroke="{ink}" stroke-width=".07" opacity=".75">{figures}</g>'
        f'<path d="{outline}" fill="none" stroke="#1b1c1f" stroke-width="3.5" '
        'stroke-linecap="square"/></g>'
    )
