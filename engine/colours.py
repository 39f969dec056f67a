"""The colours of drawings, on a light ground and on a dark one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from engine.scene import Paint, Shade

Theme = Literal["light", "dark"]

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
        Shade.WALL: "#968e80",
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
        Shade.WALL: "#77726a",
        "page": "#16181c",
        "text": "#d8dade",
        "edge": "#8f8874",
        "outline": "#a8a294",
        "target": "#cdb4ff",
    },
}
Strokes = tuple[tuple[str, float], tuple[str, float]]
"""Colours and widths of a line's edge, and of the line."""
LAST: Strokes = (("#ffffff", 4.5), ("#ad1457", 2.5))
"""The strokes around the squares of the last move, and from where to where it went: one of the two
colours is seen on each ground and each piece."""
WON: Strokes = (("#ffffff", 5), ("#5b2da8", 3))
"""The strokes around a row that has won."""
