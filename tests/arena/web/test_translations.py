"""Pages in several languages: no address answers in one with what it said in another.

All texts of the second language are the English ones with marks, so that nothing that is left in
the wrong one, from a cache or a form that is made once, goes unseen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from jinja2 import Environment

from arena.ground import catalogues
from arena.models import VersionStatus
from arena.web import docs, template_texts, translations
from arena.web.films import animate
from arena.web.forms import later
from arena.web.words import (
    ENDINGS,
    ago,
    checked,
    ending,
    opposed,
    outcome,
    own_result,
    tie_break,
    time_control,
)
from engine.clock import TimeControl
from engine.game import Termination, page_beside
from engine.plurals import either, grouped
from engine.record import parse_record
from engine.translation import ENGLISH, speaking
from tests.arena.web.conftest import Site
from tests.arena.web.signing_in import Browser
from tests.arena.web.test_access import ROUTES, opened, unchanged
from tests.marked import MARK, MARKED


@pytest.fixture
def marked(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Italian has marks."""
    italian = replace(MARKED, language="it")
    monkeypatch.setattr(translations, "translation", {"it": italian, "en": ENGLISH}.__getitem__)
    docs.guides_in.cache_clear()
    yield
    docs.guides_in.cache_clear()


@pytest.fixture(scope="module")
def door(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """The site, with one of each kind of person at a browser."""
    with unchanged(site.database):
        found = opened(site, tmp_path_factory.mktemp("data"))
        yield found
        found.app.extensions["arena.database"].close()


DATA = ("text/csv", "application/x-chess-pgn")
"""The types of what is the same in every language."""
NO_TEXTS = ("image/png", "image/gif", "application/x-tar", "application/zip")
FOR_PROGRAMS = {"metrics.scrape", "api.openapi", "games.game_json", "robots", "static"}


@pytest.mark.long
@pytest.mark.usefixtures("marked")
def test_no_address_says_in_one_language_what_it_said_in_another(door: SimpleNamespace) -> None:
    """Asked in the other one first, by who sees nearly all; and data has no language."""
    client, mixed, without = door.browsers["administrator"].client, [], []
    for (method, endpoint), (pattern, _) in ROUTES.items():
        if method != "GET" or endpoint == "translations.choose":  # which chooses one for all
            continue
        address = pattern.format(**door.numbers)
        for language in ("it", "en"):
            with client.get(address, headers={"Accept-Language": language}) as answer:
                is_data = answer.mimetype in DATA or endpoint in FOR_PROGRAMS
                has_marks = answer.mimetype not in NO_TEXTS and MARK.encode() in answer.data
                said = answer.headers.get("Content-Language")
                if has_marks and (language == "en" or is_data):
                    mixed.append(endpoint)
                is_page = answer.mimetype == "text/html" and answer.status_code != 302
                tells = said == language and "Accept-Language" in answer.vary
                if (has_marks or is_page) and not tells:
                    without.append(endpoint)
    assert (mixed, without) == ([], [])


@pytest.mark.usefixtures("marked")
@pytest.mark.parametrize("what", ["/games/{trio}/3/board", "/rules/clobber/1.svg"])
def test_what_is_kept_is_in_the_language_of_its_address(site: Site, what: str) -> None:
    """Whoever asks for it; and by another address it has another ETag."""
    address = site.address(what)
    plain = site.client.get(address, headers={"Accept-Language": "it"})
    named = site.client.get(f"{address}?lang=it", headers={"Accept-Language": "en"})
    assert "max-age" in plain.headers["Cache-Control"]
    assert site.client.get(f"{address}?lang=tlh").text == plain.text
    known = {"If-None-Match": plain.headers["ETag"]}
    assert site.client.get(address, headers=known).status_code == 304
    if named.text != plain.text:
        assert site.client.get(f"{address}?lang=it", headers=known).status_code == 200


@pytest.mark.usefixtures("marked")
@pytest.mark.parametrize("what", ["/games/{trio}/999.svg", "/rules/clobber/999.svg", "/static/no"])
def test_what_goes_wrong_is_said_to_whoever_asks(site: Site, what: str) -> None:
    """Even where what was asked for speaks alike to all."""
    for accepted, title in [("en", "<h1>Not Found"), ("it", f"<h1>{MARK}Not Found")]:
        answer = site.client.get(site.address(what), headers={"Accept-Language": accepted})
        assert (answer.status_code, answer.headers["Content-Language"]) == (404, accepted)
        assert title in answer.text


@pytest.mark.long
@pytest.mark.usefixtures("marked")
def test_pages_name_the_language_of_what_is_drawn_for_them(site: Site) -> None:
    """As their own; in English nothing has to be named."""
    page = site.client.get("/rules/clobber", headers={"Accept-Language": "it"}).text
    assert "/rules/clobber/1.svg?lang=it" in page
    assert "lang=it" not in site.client.get("/rules/clobber").text.partition("<main")[2]


@pytest.mark.usefixtures("marked")
def test_a_form_speaks_as_its_reader_does(door: SimpleNamespace) -> None:
    """Its labels, and what is wrong in it, though it is made once for all."""
    for accepted, label, problem in [
        ("en", ">Password", "This is needed."),
        ("it", f">{MARK}Password", f"{MARK}This is needed."),
        ("en", ">Password", "This is needed."),
    ]:
        browser = Browser(door.app)
        browser.client.environ_base["HTTP_ACCEPT_LANGUAGE"] = accepted
        assert label in browser.get("/sign-in").text
        assert problem in browser.post("/sign-in", {"name": "ada"}).text


def test_a_text_of_a_form_is_no_html() -> None:
    """Whatever a translation has in it."""
    catalogue = SimpleNamespace(gettext=lambda text: f'"<{text}>"')
    with speaking(replace(ENGLISH, catalogue=catalogue)):  # type: ignore[arg-type]
        assert str(later("a & b")) == '"<a & b>"'
        assert later("a & b").__html__() == "&#34;&lt;a &amp; b&gt;&#34;"


@pytest.mark.usefixtures("marked")
def test_the_api_says_what_is_wrong_in_the_language_that_is_asked_for(site: Site) -> None:
    """As of people's pages, and the status in words, too (RFC 9457, 3.1.3)."""
    for accepted, title, detail in [
        ("en", "Not Found", "There is no match 9."),
        ("it", f"{MARK}Not Found〛", f"{MARK}There is no match 9.〛"),
    ]:
        headers = {"Accept-Language": accepted}
        answer = site.client.get("/api/v1/matches/999999", headers=headers)
        assert answer.json["detail"] == detail.replace("9.", "999999.")
        assert answer.json["title"] == title
        assert answer.headers["Content-Language"] == accepted


@pytest.mark.parametrize("number", [7, 1234, 20_000, 1_234_567])
def test_thousands_are_set_apart(number: int) -> None:
    """A comma does it in English, a narrow space that does not break elsewhere (ISO 80000-1)."""
    assert grouped(number) == f"{number:,}"
    with speaking(MARKED):
        assert grouped(number) == f"{number:,}".replace(",", "\u202f")


SAID = [
    (lambda: ending(Termination.TIMEOUT), "〚out of time〛"),
    (lambda: checked(VersionStatus.READY), "〚ready〛"),
    (lambda: str(ago(None)), "〚never〛"),
    (lambda: opposed(["a", "b"]), "〚a against b〛"),
    (lambda: opposed(["a", "b", "c"]), "〚a, b and c〛"),
    (lambda: either(["a", "b", "c"]), "〚a, b or c〛"),
    (lambda: tie_break("head-to-head"), "〚head to head〛"),
    (lambda: own_result((1, 2), (0, 1), 1), "〚You lost.〛"),
    (lambda: own_result((1, 2, 3), (0, 1, 2), 1), "〚You came second of 3.〛"),
    (
        lambda: time_control(TimeControl(move_ms=100)),
        "〚100 ms of 〚CPU time〛 a move〛",
    ),
    (
        lambda: time_control(TimeControl(time_ms=60_000, inc_ms=500, charge="wall")),
        "〚60 s of 〚wall time〛 a game, and 500 ms more a move〛",
    ),
]


@pytest.mark.parametrize(("say", "words"), SAID)
def test_words_are_whole_messages(say, words: str) -> None:
    """A translation may put their parts in another order."""
    with speaking(MARKED):
        assert say() == words
    assert say() == words.replace("〚", "").replace("〛", "")


def test_a_film_is_in_english_whoever_asks_for_it_first(site: Site) -> None:
    """It is kept for all others."""
    record = parse_record(site.page("/games/{trio}.json"))
    english = animate(record, most=2)
    with speaking(MARKED):
        assert MARK in outcome(record)
        assert animate(record, most=2) == english


def test_rules_are_read_in_the_language_that_is_spoken(tmp_path: Path) -> None:
    """If they lie beside the English ones, which all others read."""
    (tmp_path / "rules.md").write_text("# One\n\nA game.\n")
    page = page_beside(str(tmp_path / "one.py"))
    assert _shown(page) == ("# One\n\nA game.\n", "en")
    with speaking(replace(MARKED, language="it")):
        assert _shown(page) == ("# One\n\nA game.\n", "en")
        (tmp_path / "rules.it.md").write_text("# Uno\n\nUn gioco.\n")
        assert _shown(page) == ("# Uno\n\nUn gioco.\n", "it")
    assert _shown(page) == ("# One\n\nA game.\n", "en")


def _shown(page) -> tuple[str, str]:
    return page(), docs.language_of(page, page())


def test_every_ending_has_its_words() -> None:
    """Or a game that ended so would have no page."""
    assert set(ENDINGS) == set(Termination)


@pytest.mark.parametrize(("number", "words"), [(1, "1 partita"), (0.5, "0.5 partite")])
def test_templates_say_numbers_of_things(number: float, words: str) -> None:
    """Also those that are no whole ones, of which catalogues know nothing."""
    templates = Environment(autoescape=True)
    template_texts.install(templates)
    text = (
        "{% trans number=number %}{{ number }} game{% pluralize %}{{ number }} games{% endtrans %}"
    )
    with speaking(catalogues.translation("it")):
        assert templates.from_string(text).render(number=number) == words
