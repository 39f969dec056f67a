"""The docs as pages: every file is one, every link between them leads somewhere."""

from __future__ import annotations

from urllib.parse import urljoin

import pytest

from arena.web.docs import FOLDER, guides, guides_in, read, render
from engine.games import GAMES
from tests.arena.web.conftest import Site
from tests.arena.web.test_pages import read as look
from tests.packages import Installer

NAMES = sorted(
    [
        *(file.relative_to(FOLDER).with_suffix("").as_posix() for file in FOLDER.rglob("*.md")),
        *(f"games/{name}" for name in GAMES),
    ]
)


def address_of(name: str) -> str:
    """Where a guide is shown: the rules of a game on its page."""
    return f"/docs/{name}".replace("/docs/games/", "/rules/")


def test_every_file_is_listed(site: Site) -> None:
    """With its title; the games stand by themselves."""
    text = site.page("/docs/")
    assert sorted(guides()) == NAMES
    assert len(NAMES) > 10
    for name in NAMES:
        assert f'href="{address_of(name)}"' in text


@pytest.mark.parametrize(
    "page", ["1 / 0", "None", "''", r"' \n'", "'# ' + 'x' * 200_000"], ids=range(5)
)
def test_a_game_whose_page_is_none_spoils_no_other(packages: Installer, page: str) -> None:
    """Whatever its function does."""
    code = f"import dataclasses\nONE = dataclasses.replace(game('one'), rules=lambda: {page})"
    packages.install("games-x", code, "one = games_x:ONE")
    guides_in.cache_clear()
    try:
        assert GAMES["one"].name == "one"
        assert sorted(guides()) == NAMES
    finally:
        guides_in.cache_clear()


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_every_guide_is_a_page(site: Site, name: str) -> None:
    """Well made, without what the policy refuses, and with links whose anchors are there."""
    page = address_of(name)
    reader = look(site.page(page))
    assert reader.verdict() == []
    assert reader.ids["main"] == 1
    for link in reader.links:
        address, _, anchor = urljoin(page, link).partition("#")
        if address.startswith(("/docs/", "/rules/")) and anchor and "?" not in address:
            assert look(site.page(address)).ids[anchor] == 1, link


@pytest.mark.parametrize(
    "name", ["nowhere", "../pyproject", "..%2f..%2fpyproject", "%00", "protocol.md"]
)
def test_only_guides_are_shown(site: Site, name: str) -> None:
    """No file beside them can be had."""
    answer = site.client.get(f"/docs/{name}")
    assert answer.status_code == 404


MARKDOWN = """# A *title* with `code`

The first sentence is J. P. Grossman's. The second one not.

## A part

[one](protocol.md#a-part) [two](../README.md) [three](#a-part) [four](https://example.org/x)
[five](games/clobber.md) [six](games)

| a | b |
|---|--:|
| <b>x</b> | 1 |

```sh
arena play <this> & that
```

## A part
"""


def test_markdown_becomes_what_pages_may_have(site: Site) -> None:
    """Links within the folder lead to pages, styles are classes, and HTML is text."""
    guide = read("made-up", MARKDOWN)
    assert guide.title == "A title with code"
    assert guide.summary == "The first sentence is J. P. Grossman's."
    assert [section.anchor for section in guide.sections] == ["a-part", "a-part-1"]
    with site.client.application.test_request_context("/"):
        html = render(guide)
        assert render(guide) == html
    for link, words in {
        "/docs/protocol#a-part": "one",
        "/docs/": "two",
        "#a-part": "three",
        "https://example.org/x": "four",
        "/rules/clobber": "five",
    }.items():
        assert f'<a href="{link}">{words}</a>' in html
    assert "style=" not in html
    assert '<td class="number">1</td>' in html
    assert "&lt;b&gt;x&lt;/b&gt;" in html
    assert "arena play &lt;this&gt; &amp; that" in html
    assert '<div class="scroll" role="region" aria-label="A part" tabindex="0"><table>' in html
