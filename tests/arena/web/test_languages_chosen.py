"""Which language a page is in: the one that was chosen, else the browser's, else English."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.ground.catalogues import languages, name_of, of_environment, territory, translation
from tests.arena.web.conftest import Site

ASKED = [
    # chosen, Accept-Language, what is spoken: best quality first (RFC 9110, 12.5.4), and a longer
    # range such as it-CH is served by the language alone (RFC 4647, 3.4)
    ("", "", "en"),
    ("", "it", "it"),
    ("", "it-CH, en;q=0.5", "it"),
    ("", "IT", "it"),  # in any case (RFC 5646, 2.1.1)
    ("", "It-it", "it"),
    ("", "de, it;q=0.7, en;q=0.3", "it"),
    ("", "en-GB, it;q=0.9", "en"),
    ("", "it;q=0, en", "en"),
    ("", "ja", "en"),
    ("", "*", "en"),
    ("", "no such header;;", "en"),
    ("it", "en", "it"),
    ("en", "it", "en"),
    ("xx", "it", "it"),
    ("../it", "", "en"),
]


@pytest.mark.parametrize(("chosen", "accepted", "spoken"), ASKED)
def test_negotiation(site: Site, chosen: str, accepted: str, spoken: str) -> None:
    """The page says so, in its head and in its element, and by what it was chosen."""
    client = site.client.application.test_client()
    if chosen:
        client.set_cookie("arena-language", chosen)
    answer = client.get("/about", headers={"Accept-Language": accepted})
    assert answer.headers["Content-Language"] == spoken
    assert f'<html lang="{spoken}">' in answer.text
    assert "Accept-Language" in answer.vary


def test_a_language_is_chosen_by_a_link(site: Site) -> None:
    """It leads back to the page of this site that was left, and to no other site's."""
    client = site.client.application.test_client()
    for back, there in [("/rules?x=1", "/rules?x=1"), ("//evil.example/", "/"), (None, "/")]:
        answer = client.get("/language/it", query_string={"back": back} if back else {})
        assert (answer.status_code, answer.headers["Location"]) == (302, there)
    assert client.get("/about").headers["Content-Language"] == "it"
    assert client.get("/language/tlh").status_code == 404
    assert client.get("/language/en").status_code == 302
    assert client.get("/about").headers["Content-Language"] == "en"


def test_who_has_a_page_in_one_language_gets_it_in_another(site: Site) -> None:
    """A page that was kept is asked for again by its ETag, which is of its words."""
    client = site.client.application.test_client()
    first = client.get("/about", headers={"Accept-Language": "en"})
    known = {"If-None-Match": first.headers["ETag"]}
    assert client.get("/about", headers={"Accept-Language": "en"} | known).status_code == 304
    assert client.get("/about", headers={"Accept-Language": "it"} | known).status_code == 200


ENVIRONMENTS = [
    # as GNU gettext reads them: LANGUAGE counts, unless the locale is C
    ({}, "en"),
    ({"LANG": "it_IT.UTF-8"}, "it"),
    ({"LANG": "it"}, "it"),
    ({"LANG": "IT_it.UTF-8"}, "it"),
    ({"LANG": "it_IT@euro"}, "it"),
    ({"LANG": "C.UTF-8", "LANGUAGE": "it"}, "en"),
    ({"LANG": "it_IT.UTF-8", "LC_ALL": "C"}, "en"),
    ({"LANG": "it_IT.UTF-8", "LC_MESSAGES": "en_GB.UTF-8"}, "en"),
    ({"LANG": "en_US.UTF-8", "LANGUAGE": "it:en"}, "it"),
    ({"LANG": "it_IT.UTF-8", "LANGUAGE": "en"}, "en"),
    ({"LANG": "fr_FR.UTF-8", "LANGUAGE": "nl:it"}, "it"),
    ({"LANG": "ja_JP.UTF-8"}, "en"),
    ({"LANG": "POSIX", "LC_ALL": ""}, "en"),
]


@pytest.mark.parametrize(("environment", "language"), ENVIRONMENTS)
def test_what_commands_speak(environment: dict[str, str], language: str) -> None:
    """The variables decide that every program on the machine goes by."""
    assert of_environment(environment) == language


def test_languages_say_what_they_are() -> None:
    """By CLDR: what a language calls itself, and where most of its speakers are."""
    assert languages() == ("en", "it")
    assert [name_of(one) for one in languages()] == ["English", "italiano"]
    assert [territory(one) for one in ("en", "it", "pt", "de-CH")] == [
        "en_US",
        "it_IT",
        "pt_BR",
        "de_CH",
    ]


def test_what_was_read_of_a_catalogue_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is read again where that is damaged, and each time by who has no place for it; what an
    older release kept is removed.
    """
    older = tmp_path / "game-bot-arena/0123/it/LC_MESSAGES/messages.mo"
    older.parent.mkdir(parents=True)
    older.touch()
    for home in (str(tmp_path), str(tmp_path), "/dev/null", ""):
        monkeypatch.setenv("XDG_CACHE_HOME", home)
        monkeypatch.setenv("HOME", home or "nowhere")
        translation.cache_clear()
        assert translation("it").catalogue.gettext("The rules") == "Le regole"
        for file in tmp_path.rglob("*.mo"):
            file.write_bytes(file.read_bytes()[:1000])
    assert len([*tmp_path.rglob("*.mo")]) == 1
    assert len([*tmp_path.rglob("LC_MESSAGES/*")]) == 1
    translation.cache_clear()
