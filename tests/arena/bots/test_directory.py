"""The directory and the search, on each kind of database."""

from __future__ import annotations

import io

import pytest
import sqlalchemy as sa
from PIL import Image
from sqlalchemy.orm import Session

from arena.audit import ARENA
from arena.bots import directory, pictures
from arena.bots.directory import Narrowing
from arena.bots.profile_deeds import DescribeBot, RenameBot
from arena.ground.db import Database
from arena.ground.refusals import Refusal
from arena.models import Entrant, Visibility
from arena.models.searching import words_of
from arena.people import accounts
from arena.people.profiles import DescribeUser, read_links, read_tags
from arena.sight import EVERYTHING, STRANGER, look
from arena.web.markup import described
from tests.arena.bots.test_entries import NOW, version
from tests.arena.doing import do


def test_what_has_all_words_is_found(database: Database) -> None:
    """Names that begin with a word are found first, in whatever letters; whatever is typed."""
    with database.begin() as session:
        ada, bob = (accounts.add(session, ARENA, name, now=NOW) for name in ("ada", "Bobby"))
        version(session, ada, "GreedyKnight2")
        version(session, ada, "other", "b")
        version(session, bob, "knightly", "c")
        do(session, DescribeBot("other", "Élan of the *knight*.", (), ("c++", "monte-carlo")), NOW)
        do(session, DescribeUser("ada", "I play 象棋."), NOW)

        def found(session: Session, text: str) -> tuple[list[str], list[str]]:
            result = directory.search(session, text)
            names = [one.bot.name for one in result.bots.items]
            return names, [one.user.name for one in result.people.items]

        table: list[tuple[str, list[str], list[str]]] = [
            ("knight", ["knightly", "GreedyKnight2", "other"], []),
            ("KNIGHT elan", ["other"], []),
            ("greedyk", ["GreedyKnight2"], []),
            ("carlo monte", ["other"], []),
            ("ad", [], ["ada"]),
            ("象棋", [], ["ada"]),
            ("bob", [], ["Bobby"]),
            *((text, [], []) for text in HOSTILE),
        ]
        asked = [(text, *found(session, text)) for text, *_ in table]
        assert asked == table
        do(session, RenameBot("other", "Renamed"), NOW)
        do(session, DescribeBot("renamed"), NOW)
        assert found(session, "elan")[0] == found(session, "other")[0] == []
        assert found(session, "rena")[0] == ["Renamed"]


HOSTILE = (
    "", " ", "'", '"', "* OR NOT (", "zz' & | ! <->", "\\", "\0", "\ud800", "%", "_", "-" * 500,
    "zz:*", "NEAR(zz)", "zz" * 5000, "'zz':*", "{}", "\N{PILE OF POO}",
)  # fmt: skip


def test_the_directory_is_narrowed_and_sorted(database: Database) -> None:
    """A person is in it with their first bot there, a bot once it has entered something."""
    with database.begin() as session:
        ada, bob, _ = (accounts.add(session, ARENA, one, now=NOW) for one in ("ada", "bob", "eve"))
        for number, owner in enumerate((ada, ada, bob)):
            version(session, owner, f"bot-{2 - number}", "abc"[number])
        do(session, DescribeBot("bot-1", "", (), ("Fast",)), NOW)
        bots = {
            wish: [one.bot.name for one in directory.bots(session, wish).items]
            for wish in (
                Narrowing(), Narrowing("new"), Narrowing("games"), Narrowing(tag="FAST"),
                Narrowing(owner="BOB"), Narrowing(language="c"), Narrowing(game="clobber"),
                Narrowing(game="chess"), Narrowing(page=2), Narrowing(page=10**9),
            )
        }  # fmt: skip
        assert list(bots.values()) == [
            ["bot-0", "bot-1", "bot-2"], ["bot-0", "bot-1", "bot-2"], ["bot-2", "bot-1", "bot-0"],
            ["bot-1"], ["bot-0"], [], ["bot-0", "bot-1", "bot-2"], [], [], [],
        ]  # fmt: skip
        people = [
            [(one.user.name, one.bots) for one in directory.people(session, wish).items]
            for wish in (Narrowing(), Narrowing("bots"), Narrowing(tag="fast"))
        ]
        assert people == [[("ada", 2), ("bob", 1)], [("ada", 2), ("bob", 1)], [("ada", 2)]]


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("# Head", "<h3>Head</h3>\n"),
        ("<b>x</b>", "<p>&lt;b&gt;x&lt;/b&gt;</p>\n"),
        ("[x](javascript:alert(1))", "<p>[x](javascript:alert(1))</p>\n"),
        ("[x](//evil.example)", "<p>[x](//evil.example)</p>\n"),
        (
            "[x](https://a.example)",
            '<p><a href="https://a.example" rel="nofollow ugc noopener">x</a></p>\n',
        ),
        (
            "![x](https://a.example/p.png)",
            '<p><a href="https://a.example/p.png" rel="nofollow ugc noopener">x</a></p>\n',
        ),
        ("![x](data:image/png;base64,AA)", "<p>![x](data:image/png;base64,AA)</p>\n"),
    ],
)
def test_a_description_harms_nobody(text: str, html: str) -> None:
    assert described(text) == html


@pytest.mark.parametrize(
    "link",
    [
        "javascript:alert(1)", "data:text/html,x", "//a.example", "/bots", "https:", "https://",
        "ftp://a.example", "https://a@b.example", "https://a.example/ x", "https://[", "mailto:x",
        "https://a.example/\N{RIGHT-TO-LEFT OVERRIDE}x", "https://a.example/" + "x" * 200,
    ],
)  # fmt: skip
def test_what_is_no_link(link: str) -> None:
    with pytest.raises(Refusal, match="is no link"):
        read_links([link])


def test_tags_are_words() -> None:
    """They are kept in small letters, each once."""
    assert read_tags(["C++", "c++", "monte-carlo", "Élan"]) == ["c++", "monte-carlo", "élan"]
    for wrong in ("", "a b", "-a", "x" * 31, "<b>"):
        with pytest.raises(Refusal, match="is no tag"):
            read_tags([wrong])


def test_pictures_are_drawn_anew() -> None:
    """Small, without what else was in the file; what is none, or too large, is refused."""
    for kind in ("PNG", "JPEG", "WEBP", "GIF"):
        file = io.BytesIO()
        Image.effect_noise((900, 300), 90).convert("RGB").save(file, kind, comment=b"a secret")
        drawn = pictures.drawn_anew(file.getvalue())
        assert len(drawn) <= pictures.MOST_KEPT
        assert b"a secret" not in drawn
        with Image.open(io.BytesIO(drawn)) as image:
            assert (image.format, image.size) == ("WEBP", (160, 53))
    huge = io.BytesIO()
    Image.new("1", (20_000, 20_000)).save(huge, "PNG")
    for wrong in (b"", b"no picture", b"<svg/>", file.getvalue()[:100], huge.getvalue()):
        with pytest.raises(Refusal):
            pictures.drawn_anew(wrong)


def test_words_are_taken_apart() -> None:
    """Those that are written together, as names are."""
    assert words_of("GreedyKnight2 É_x") == ["greedyknight2", "greedy", "knight", "2", "e", "x"]
    assert words_of("GreedyKnight2", parts=False) == ["greedyknight2"]


def test_what_is_private_is_not_found(database: Database) -> None:
    """Neither a competition nor the bots and people that are known by it alone; nor counted."""
    with database.begin() as session:
        ada = accounts.add(session, ARENA, "ada", now=NOW)
        made = version(session, ada, "hidden-bot")
        (entrant,) = session.scalars(sa.select(Entrant).where(Entrant.version_id == made.id)).all()
        entrant.competition.visibility = Visibility.PRIVATE
        title = entrant.competition.title
    for reader, seen in ((STRANGER, 0), (EVERYTHING, 1)):
        with database.read() as session:
            look(session, reader)
            found = directory.search(session, title)
            assert (len(found.competitions.items), found.competitions.found) == (seen, seen)
            assert directory.search(session, "hidden").bots.found == seen
            assert directory.search(session, "ada").people.found == seen
            assert directory.bots(session, Narrowing()).found == seen
            people = directory.people(session, Narrowing())
            assert (people.found, len(people.items)) == (seen, seen)
