"""Signs and figures on pieces, as paths around a square's centre in parts of its side.

No font is asked for any of them, so that each is the same on every screen and in every file.
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.scene import Sign

SIGNS: Mapping[str, str] = {
    Sign.CROSS: "M-.22-.22L.22 .22M-.22 .22L.22-.22",
    Sign.PLUS: "M-.26 0H.26M0-.26V.26",
    Sign.RING: "M-.24 0a.24 .24 0 1 0 .48 0a.24 .24 0 1 0-.48 0",
    Sign.SMALL_RING: "M-.1 0a.1 .1 0 1 0 .2 0a.1 .1 0 1 0-.2 0",
    Sign.CHEVRON: "M-.2 .13L0-.11L.2 .13",
}
"""Signs that are lines."""
SOLID_SIGNS: Mapping[str, str] = {
    Sign.DOT: "M-.15 0a.15 .15 0 1 0 .3 0a.15 .15 0 1 0-.3 0",
    Sign.CROWN: "M-.25 .18V-.15L-.12-.02L0-.23L.12-.02L.25-.15V.18z",
    Sign.STAR: (
        "M0-.28L.066-.091L.266-.087L.107 .035L.165 .227"
        "L0 .113L-.165 .227L-.107 .035L-.266-.087L-.066-.091z"
    ),
    Sign.BAR: "M-.24-.07H.24V.07H-.24z",
}
"""Signs that are filled. The star's inner corners lie 0.4 times as far out as its outer ones."""
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
