"""Pages in a reader's language: the switch below each, what stays English, and scripts' texts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import arena.web
from arena.ground.catalogues import languages, name_of
from tests.arena.web.conftest import Site

WEB = Path(arena.web.__file__).parent
SCRIPTS = sorted((WEB / "static").glob("*.js"))
TEMPLATES = "".join(file.read_text() for file in (WEB / "templates").glob("*.html"))
SWITCH = re.compile(r'<a href="(/language/[^"]+)" lang="([^"]+)" hreflang="\2"([^>]*)>([^<]+)</a>')


def switch(page: str) -> dict[str, tuple[str, bool, str]]:
    """Where each link leads, whether its language is the page's, and what it is called."""
    found = SWITCH.findall(page)
    return {language: (to, "aria-current" in rest, name) for to, language, rest, name in found}


@pytest.mark.long
@pytest.mark.parametrize(
    ("address", "back"),
    [
        ("/", "/"),
        ("/sign-in", "/sign-in"),
        ("/ladders/ladder-0?sort=faults", "/ladders/ladder-0?sort=faults"),
        ("/analysis?game=clobber&moves=a1a2", "/analysis?game=clobber&moves=a1a2"),
        ("/nowhere?", "/nowhere"),
        ("/bots/no%26bot", "/bots/no&bot"),
    ],
)
def test_a_reader_switches_the_language_of_a_page_and_stays_there(
    site: Site, address: str, back: str
) -> None:
    reader = site.client.application.test_client()
    found = switch(reader.get(address).text)
    assert set(found) == set(languages())
    assert [language for language, (_, spoken, _) in found.items() if spoken] == ["en"]
    for language, (to, _, name) in found.items():
        assert name == name_of(language)
        answer = reader.get(to)
        assert (answer.status_code, answer.location) == (302, back)
        page = reader.get(answer.location).text
        assert f'<html lang="{language}">' in page
        assert [one for one, (_, spoken, _) in switch(page).items() if spoken] == [language]


def test_an_answer_to_a_form_has_no_address_to_come_back_to(site: Site) -> None:
    assert not switch(site.client.post("/sign-in", data={"name": "nobody"}).text)


@pytest.mark.parametrize(
    ("address", "part"),
    [
        ("/docs/", '<li lang="en"><a href="/docs/protocol">'),
        ("/docs/protocol", '<article lang="en">'),
        ("/docs/", '<li lang="it"><a href="/rules/clobber">'),
        ("/rules/clobber", '<article class="rules" lang="it">'),
    ],
)
def test_a_text_of_another_language_than_its_page_says_so(
    site: Site, address: str, part: str
) -> None:
    reader = site.client.application.test_client()
    page = reader.get(address, headers={"Accept-Language": "it"}).text
    assert '<html lang="it">' in page
    assert part in page


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda file: file.name)
def test_what_a_script_says_stands_in_a_page(script: Path) -> None:
    """It has no texts of its own; a name that no template has would be said as nothing."""
    code = script.read_text()
    for name in re.findall(r"(?:\btexts|filled\(\w+\.dataset)\.(\w+)", code):
        word = re.sub(r"[A-Z]", lambda letter: f"-{letter[0].lower()}", name)
        assert f" data-{word}=" in TEMPLATES, name
    assert not re.findall(r'(?:textContent = |"aria-label", )["`](?=\w)', code)
