"""A rules page in another language tells the same rules as the English one beside it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import engine.games
from engine.games import GAMES
from engine.rules_pictures import pictures_in

FOLDER = Path(engine.games.__file__).parent
PAGES = sorted(FOLDER.glob("*/rules.*.md"))
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
CAPTION = re.compile(r"^caption: .*$", re.MULTILINE)


def blocks(page: str) -> list[str]:
    """The pictures but for their captions, and all else that stands between fences."""
    return [CAPTION.sub("", block) for block in FENCED.findall(page)]


def headings(page: str) -> list[str]:
    """Their levels, one after the other."""
    return re.findall(r"^#+(?= )", FENCED.sub("", page), re.MULTILINE)


def lines(page: str) -> list[tuple[str, int]]:
    """What each line begins with (of a table, a list or a paragraph), and its columns if any."""
    found = (re.match(r"\||- |\d+\. |(?=.)", line) for line in FENCED.sub("", page).splitlines())
    return [(start[0], start.string.count(" |")) for start in found if start]


def codes(page: str) -> list[str]:
    """The words in letters of one width, and where links lead."""
    text = FENCED.sub("", page)
    return sorted(re.findall(r"`[^`]+`|\]\([^)]+\)", text))


def test_every_game_of_these_has_its_rules_in_italian() -> None:
    ours = {file.parent.name for file in FOLDER.glob("*/rules.md")}
    assert {page.parent.name for page in PAGES if page.name == "rules.it.md"} == ours


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name} {page.suffixes[0]}")
@pytest.mark.parametrize("part", [blocks, headings, lines, codes], ids=lambda part: part.__name__)
def test_a_translated_page_has_the_same(part: Callable[[str], object], page: Path) -> None:
    assert part(page.read_text()) == part(page.with_name("rules.md").read_text())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name} {page.suffixes[0]}")
def test_a_translated_page_has_captions_of_its_own(page: Path) -> None:
    game = GAMES[page.parent.name]
    own = [picture.caption for picture in pictures_in(game, page.read_text())]
    english = [picture.caption for picture in pictures_in(game, game.rules())]
    assert len(own) == len(english)
    assert not set(own) & set(english)
