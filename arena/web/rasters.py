"""Drawings as pixels, with letters from a font that comes along with the program."""

from __future__ import annotations

import io
from math import ceil
from pathlib import Path

import resvg_py
from PIL import Image

from engine import svg
from engine.colours import GROUND
from engine.scene import Scene
from engine.svg_pieces import UNIT

FONT = Path(__file__).parent / "static/vendor/dejavu-2.35-sans-mono.ttf"
FAMILY = "DejaVu Sans Mono"

Box = tuple[int, int, int, int]
"""Left, top, right and bottom, in pixels; those on the right and at the bottom are outside."""


class Raster:
    """A scene that is to be pixels: the board alone, without coordinates and words."""

    def __init__(self, scene: Scene, *, widest: int, highest: int) -> None:
        """
        Args:
            widest, highest: how many pixels it may have; it has as many as fit.
        """
        self.scene = scene
        width, height = (edge / UNIT for edge in svg.size_of(scene, coordinates=False))
        # Lines between squares are in the middle of a pixel: then a part of the picture is the
        # same, pixel by pixel, as that part of the whole.
        side = min((widest - 5) / width, (highest - 5) / height)
        side = int(side) or side
        edge = max(2, ceil(svg.BARE_MARGIN * side))
        self.scale = side / UNIT
        """Pixels of one of the drawing's units."""
        self._start = svg.BARE_MARGIN * UNIT - (edge + 0.5) / self.scale
        """Where the first pixel begins, in these units, in either direction."""
        across, down = (round((each - 2 * svg.BARE_MARGIN) * side) for each in (width, height))
        self.size = across + 2 * edge + 1, down + 2 * edge + 1

    def pixels(self, box: Box | None = None) -> Image.Image:
        """The picture of all of it, or of what is in a box."""
        left, top, right, bottom = box or (0, 0, *self.size)
        start, scale = self._start, self.scale
        view = (
            start + left / scale,
            start + top / scale,
            (right - left) / scale,
            (bottom - top) / scale,
        )
        wide = right - left
        drawn = svg.render(self.scene, size=wide, coordinates=False, beneath=False, view=view)
        # Squares without soft edges look the same, and take half the time.
        drawn = drawn.replace('class="square', 'shape-rendering="crispEdges" class="square')
        fonts = [str(FONT)] if "<text" in drawn else []
        png = resvg_py.svg_to_bytes(
            svg_string=drawn,
            background=GROUND["light"]["page"],
            skip_system_fonts=True,
            font_files=fonts,
            sans_serif_family=FAMILY,
            monospace_family=FAMILY,
        )
        return Image.open(io.BytesIO(png)).convert("RGB")

    def box_of(self, names: set[str]) -> Box:
        """What is drawn on and around some squares."""
        places = svg.places_of(self.scene, coordinates=False)
        xs, ys = zip(*(places[name] for name in names), strict=True)
        width, height = self.size
        low, high = self._start + AROUND, self._start - AROUND
        return (
            max(0, int((min(xs) - low) * self.scale)),
            max(0, int((min(ys) - low) * self.scale)),
            min(width, int((max(xs) - high) * self.scale) + 1),
            min(height, int((max(ys) - high) * self.scale) + 1),
        )


AROUND = 0.75 * UNIT
"""How far from its middle anything is drawn of a square, in the drawing's units."""
