"""The pictures of rules pages as this site shows them: read once, drawn when asked for."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import islice

from flask import render_template
from markdown_it.token import Token

from engine import svg
from engine.colours import Theme
from engine.games import GAMES
from engine.rules_pictures import INFO, MOST, RulesPicture, read_picture
from engine.scene import Scene
from engine.translation import Translation, spoken

log = logging.getLogger("arena.web")

SIZE = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')
KEPT = 1000
"""Pictures that a process remembers."""


@dataclass(frozen=True)
class DrawnPicture:
    """A picture, and how it looks."""

    of: RulesPicture

    def svg(self, theme: Theme, *, bare: bool = False) -> str:
        """Draws it as an SVG document.

        Args:
            bare: the board alone.
        """
        scene = self._scene
        if bare:
            scene = replace(scene, captions=(), goals=())
        return svg.render(scene, theme=theme, coordinates=not bare)

    @cached_property
    def _scene(self) -> Scene:
        return self.of.scene

    @cached_property
    def size(self) -> tuple[int, int]:
        """Its width and height, in units of its own."""
        found = SIZE.search(self.svg("light"))
        return (round(float(found[1])), round(float(found[2]))) if found else (1, 1)

    @property
    def title(self) -> str:
        """What is seen, in a few words."""
        return self._scene.title


def is_picture(token: Token) -> bool:
    """Whether a part of a page is a block of a picture."""
    return token.type == "fence" and token.info.split()[:1] == [INFO]


def picture_of(game: str, token: Token) -> DrawnPicture | None:
    """The picture of a block; None if it is none, which the log says."""
    return _read(game, GAMES.rules(game), token.info, token.content, spoken())


@lru_cache(KEPT)
def _read(
    game: str, _rules: str, info: str, text: str, _spoken: Translation
) -> DrawnPicture | None:
    try:
        drawn = DrawnPicture(read_picture(GAMES[game], info, text))
        assert drawn.size
    except Exception as error:  # a stranger's rules, whatever they do: other games are shown beside
        log.warning(
            "a picture of the rules of %s is not shown: %s: %s", game, type(error).__name__, error
        )
        return None
    return drawn


def pictures_of(game: str, page: Sequence[Token]) -> Iterator[DrawnPicture | None]:
    """The pictures of a page, each read as it is asked for."""
    return (picture_of(game, token) for token in islice(filter(is_picture, page), MOST))


def figure(game: str, page: Sequence[Token], index: int) -> str:
    """A part of a page that is a picture as HTML; empty if it can't be drawn."""
    number = sum(map(is_picture, page[: index + 1]))
    picture = picture_of(game, page[index]) if number <= MOST else None
    if picture is None:
        return ""
    return render_template("_rules_picture.html", game=game, number=number, picture=picture)
