"""Whether a scene can be drawn: it may be a stranger's, and is drawn on pages where others look.

What is drawn of it stands in attributes and text of XML, which holds no letter that can't be seen,
and in pages that have to stay pages.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain

from engine.options import fault_of_line
from engine.scene import Body, Goal, Held, Paint, Piece, Scene, Shade, Square

NAME = re.compile(r"[\w.:-]{1,20}", re.ASCII)
"""What a square may be called."""
SHADES, BODIES, PAINTS = frozenset(Shade), frozenset(Body), frozenset(Paint)
MOST_SQUARES, MOST_PIECES, MOST_LINES = 2000, 4000, 200
MOST_HELD, MOST_CELLS = 200, 40
COUNTED = range(10_000)
"""What parts of a goal may be."""
FARTHEST = 1000
"""How far from the middle anything may be, in squares."""
LONGEST_LINE, MOST_LETTERS, MOST_PARTS = 500, 6, 10
"""Letters of a title, a caption, or what a piece is called; of what a row is worth; and the most
parts of a goal.
"""


def undrawable(scene: Scene) -> str:
    """Why a scene can't be drawn; empty if it can."""
    names = {square.name for square in scene.squares}
    if not names and not scene.text:
        return "its scene has no squares and no text"
    shapes = [rim.corners for rim in scene.rims] + [area.corners for area in scene.areas]
    if (
        max(map(len, (scene.squares, scene.lines, scene.rows))) > MOST_SQUARES
        or sum(1 + len(corners) for corners in shapes) > MOST_SQUARES
        or len(scene.pieces) > MOST_PIECES
        or len(scene.captions) + len(scene.goals) + len(scene.text) > MOST_LINES
    ):
        return "its scene has more squares, pieces or lines than can be drawn"
    if wrong := fault_of_line(scene.title, LONGEST_LINE):
        return f"the title of its scene {wrong}"
    for text in (*scene.captions, *scene.text):
        # An empty line is a distance.
        if text.strip() and (wrong := fault_of_line(text, LONGEST_LINE)):
            return f"a line of its scene {wrong}"
    faults = (
        *map(_fault_of_square, scene.squares),
        *map(_fault_of_piece, scene.pieces),
        *map(_fault_of_goal, scene.goals),
    )
    if wrong := next(filter(None, faults), ""):
        return wrong
    astray = [piece.words for piece in scene.pieces if not names.issuperset(piece.squares)]
    if astray:
        return f"a {astray[0]} lies nowhere"
    if not PAINTS.issuperset(rim.paint for rim in scene.rims):
        return "a rim has no colour"
    if not (PAINTS | {None}).issuperset(row.paint for row in scene.rows):
        return "a row has no colour"
    if not SHADES.issuperset(area.shade for area in scene.areas):
        return "an area has no shade"
    if not all(_is_near(x, y) for corners in shapes for x, y in corners):
        return "a rim or an area has no place"
    if any(row.points and fault_of_line(row.points, MOST_LETTERS) for row in scene.rows):
        return f"what a row is worth is no word of up to {MOST_LETTERS} letters"
    ends = [(line.start, line.end) for line in scene.lines]
    ends += [(row.start, row.end) for row in scene.rows]
    if not names.issuperset(chain(*ends, *scene.arrows)):
        return "a line leads nowhere"
    marked = (*scene.dead, *scene.last, *scene.targets)
    return "" if names.issuperset(marked) else "a square is marked that is none"


def fault_of_hand(hand: Sequence[Held]) -> str:
    """Why a hand can't be drawn; empty if it can."""
    if not isinstance(hand, Sequence) or len(hand) > MOST_HELD:
        return f"a hand is no sequence of up to {MOST_HELD} kinds of pieces"
    for held in hand:
        piece = Piece((), held.body, held.paint, held.name, held.sign)
        if wrong := _fault_of_piece(piece):
            return wrong
        if not isinstance(held.left, int) or held.left < 0:
            return f"of {held.name} no number is held"
        places = {abs(place) for cell in held.cells for place in cell}
        if not 1 <= len(held.cells) <= MOST_CELLS or max(places) >= MOST_CELLS:
            return f"{held.name} covers no squares, or too many"
    return ""


def _is_near(x: float, y: float) -> bool:
    """Whether a place is on a board that can be a picture."""
    return abs(x) <= FARTHEST and abs(y) <= FARTHEST


def _fault_of_square(square: Square) -> str:
    if not NAME.fullmatch(square.name):
        return "a name of a square is no word of up to 20 letters and digits"
    if square.shade not in SHADES or not _is_near(square.x, square.y):
        return f"the square {square.name} has no shade, or no place"
    return ""


def _fault_of_piece(piece: Piece) -> str:
    if piece.body not in BODIES or piece.paint not in PAINTS:
        return "a piece has no body, or no colour"
    if wrong := fault_of_line(piece.words, LONGEST_LINE):
        return f"what a piece is called {wrong}"
    wrong = fault_of_line(piece.sign, LONGEST_LINE) if piece.sign else ""
    return f"the sign of a piece {wrong}" if wrong else ""


def _fault_of_goal(goal: Goal) -> str:
    if wrong := fault_of_line(goal.words, LONGEST_LINE):
        return f"a goal {wrong}"
    if goal.paint not in PAINTS:
        return "a goal has no colour"
    fine = 0 < len(goal.parts) <= MOST_PARTS and all(
        there in COUNTED and needed in COUNTED[1:] for there, needed in goal.parts
    )
    return "" if fine else f"the parts of a goal are not numbers up to {COUNTED[-1]}"
