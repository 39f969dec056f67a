"""A game as a file of its own: a page that asks nobody for anything, wherever it is opened.

It is made of the site's own templates, styles and scripts. Its policy names the digests of what it
brings along, so that nothing that a stranger's record says can be a script or a style.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from collections.abc import Iterable
from functools import cache
from itertools import chain, repeat, starmap, tee
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from arena.web import boards, charts, dates, template_texts, words
from arena.web.boards import position_drawn
from arena.web.competitions import FILTERS as ADDRESSES_OF
from arena.web.games import shown
from engine.game import State
from engine.record import GameRecord, states_known

HERE = Path(__file__).parent
STYLES = ("vendor/pico-2.1.1.classless.min.css", "arena.css")
POLICY = (
    "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
    "style-src '{style}'; script-src '{script}'"
)


class Packing:
    """Boards with every line of theirs once."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self.parts: list[str] = []
        """The lines."""

    def add(self, board: str) -> list[int]:
        """Takes a board in.

        Returns:
            It as runs of lines: the number of a run's first and how many they are, one after the
            other.
        """
        runs: list[int] = []
        for line in board.split("\n"):
            number = self._numbers.setdefault(line, len(self.parts))
            if number == len(self.parts):
                self.parts.append(line)
            if runs and number == runs[-2] + runs[-1]:
                runs[-1] += 1
            else:
                runs += (number, 1)
        return runs


def pack(drawn: Iterable[str]) -> Markup:
    """Boards as JSON for a page's script, with every line of theirs once.

    Returns:
        ``parts``, the lines; and ``boards``, each as `Packing.add` returns it.
    """
    packing = Packing()
    packed = [packing.add(board) for board in drawn]
    text = json.dumps({"parts": packing.parts, "boards": packed}, separators=(",", ":"))
    # What would end the element, or begin a comment in it, in another spelling of JSON's.
    return Markup(text.replace("</", "<\\/").replace("<!--", "\\u003c!--"))  # noqa: S704


def pack_game(record: GameRecord, states: Iterable[State]) -> Markup:
    """The boards of a game, one more than it has plies, as `pack` has them.

    Args:
        states: its positions, as far as the rules allow; where they end the last one stays.
    """
    known, before = tee(states)
    each = zip(known, chain([None], record.moves), chain([None], before), strict=False)
    drawn = list(starmap(position_drawn, each))
    return pack(chain(drawn, repeat(drawn[-1], len(record.plies) + 1 - len(drawn))))


@cache
def templates() -> Environment:
    """The site's templates, for what is no answer of the site's."""
    made = Environment(loader=FileSystemLoader(HERE / "templates"), autoescape=True)
    made.filters |= ADDRESSES_OF | dates.FILTERS | boards.FILTERS | charts.FILTERS | words.FILTERS
    template_texts.install(made)
    return made


def alone(template: str, script: str, *, policy: str = POLICY, **values: Any) -> str:
    """A page with all that it needs within.

    Args:
        script: its name among the site's.
        policy: with ``{style}`` and ``{script}`` in the places of their digests.
    """
    style = "\n".join(map(_static, STYLES))
    code = "\n".join(map(_static, ("words.js", script)))
    return (
        templates()
        .get_template(template)
        .render(
            style=Markup(style),  # noqa: S704 - the site's own, as the script
            script=Markup(code),  # noqa: S704
            policy=policy.format(style=_digest(style), script=_digest(code)),
            **values,
        )
    )


@cache
def _static(name: str) -> str:
    return (HERE / "static" / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """The digest of a text as a Content-Security-Policy names it."""
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def as_page(record: GameRecord, *, ply: int | None = None, problem: str = "") -> str:
    """A game's replay as HTML that needs no network.

    Args:
        ply: after how many plies it is shown at first; by default at its end.
        problem: what the rules have against it.
    """
    return alone(
        "replay_file.html",
        "replay.js",
        problem=problem,
        boards=pack_game(record, states_known(record)),
        **shown(record, len(record.plies) if ply is None else ply),
    )
