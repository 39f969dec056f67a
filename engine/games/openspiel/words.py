"""The rules page of a game that has none written by hand: what holds of all of OpenSpiel's."""

from __future__ import annotations

from collections.abc import Mapping

from engine.options import Option

# ruff: noqa: E501  a paragraph of Markdown is a line
PAGE = """# {title} (`openspiel:{name}`)

The rules are OpenSpiel's, of its game [`{name}`]({site}); it holds them, and this page only says how it is played here.

## Notation

A move is OpenSpiel's action string, with `_` where that has spaces. There are no other spellings. `arena moves openspiel:{name}` lists those of a position.

## End and result

Where two seats win, draw or lose, the scores are 1, 0.5 and 0; elsewhere they are OpenSpiel's utilities. A game that reaches OpenSpiel's greatest length is drawn. Who leaves a game ends it: that seat is last, and the others share the first place.

## Options

{options}

## Position text

The moves so far, separated by single spaces; `start` before the first.
"""
SITE = "https://github.com/google-deepmind/open_spiel/blob/master/docs/games.md"


def rules_page(name: str, title: str, options: Mapping[str, Option]) -> str:
    """The rules page of a game, in Markdown."""
    rows = [f"| `{key}` | {one.allowed}; default `{one.default}` |" for key, one in options.items()]
    table = (
        "\n".join(["| option | values |", "| --- | --- |", *rows]) if rows else "There are none."
    )
    return PAGE.format(title=title, name=name, site=SITE, options=table)
