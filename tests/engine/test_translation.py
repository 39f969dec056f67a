"""Texts in another language: by the tables of a catalogue made here, and the rules of gettext."""

from __future__ import annotations

import io
import threading
from gettext import GNUTranslations

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo

from engine.plurals import counted, either, listed, time_span
from engine.translation import (
    ENGLISH,
    Translation,
    gettext,
    ngettext,
    pgettext,
    speaking,
    spoken,
    translated,
)

POLISH = {
    ("%(number)s game", "%(number)s games"): (
        "%(number)s partia",
        "%(number)s partie",
        "%(number)s partii",
    ),
    "%(most)s and %(last)s": "%(most)s i %(last)s",
    "%(name)s beat %(other)s": "%(other)s uległ %(name)s",
    "50 %% of them": "50 %% z nich",
    "Play a game": "Zagraj partię",
}
"""A language of three plurals: 1; 2 to 4 but for 12 to 14; all others."""


@pytest.fixture(scope="module")
def polish() -> Translation:
    """A translation into Polish, as a compiled catalogue is read."""
    catalog, written = Catalog(locale="pl"), io.BytesIO()
    for message, text in POLISH.items():
        catalog.add(message, text)
    catalog.add("Games", "Gry", context="a kind of game")
    catalog.add("Games", "Partie", context="games that were played")
    write_mo(written, catalog)
    written.seek(0)
    return Translation("pl", GNUTranslations(written))


SAID = [
    (lambda: counted(1, "game"), "1 game", "1 partia"),
    (lambda: counted(3, "game"), "3 games", "3 partie"),
    (lambda: counted(12, "game"), "12 games", "12 partii"),
    (lambda: counted(22, "game"), "22 games", "22 partie"),
    (lambda: counted(0, "game"), "0 games", "0 partii"),
    (lambda: counted(1.5, "game"), "1.5 games", "1.5 partie"),
    (lambda: counted(float("inf"), "game"), "inf games", "inf partie"),
    (lambda: listed(["a", "b", "c"]), "a, b and c", "a, b i c"),
    (lambda: either(["a", "b", "c"]), "a, b or c", "a, b or c"),
    (
        lambda: gettext("%(name)s beat %(other)s", name="%s", other="%(x)s"),
        "%s beat %(x)s",
        "%(x)s uległ %s",
    ),
    (lambda: gettext("50 %% of them"), "50 % of them", "50 % z nich"),
    (lambda: gettext("unknown to it"), "unknown to it", "unknown to it"),
    (lambda: translated("Play a game"), "Play a game", "Zagraj partię"),
    (lambda: translated("100 %"), "100 %", "100 %"),
    (lambda: translated(""), "", ""),
    (lambda: pgettext("a kind of game", "Games"), "Games", "Gry"),
    (lambda: pgettext("games that were played", "Games"), "Games", "Partie"),
    (lambda: ngettext("one %(x)s", "many %(x)s", 2, x="y"), "many y", "many y"),
    (lambda: time_span(3 * 86400), "3 days", "3 days"),
]


@pytest.mark.parametrize(("say", "english", "other"), SAID)
def test_what_is_said_in_two_languages(say, english: str, other: str, polish: Translation) -> None:  # type: ignore[no-untyped-def]
    """Places come where the language has them, and what stands there is no place itself."""
    assert say() == english
    with speaking(polish):
        assert say() == other
    assert say() == english


def test_another_thread_speaks_english(polish: Translation) -> None:
    """What works beside whoever serves a reader keeps what it says for everybody."""
    found: list[Translation] = []
    with speaking(polish):
        thread = threading.Thread(target=lambda: found.append(spoken()))
        thread.start()
        thread.join()
        assert spoken().language == "pl"
    assert found == [ENGLISH]
    assert spoken() == ENGLISH
