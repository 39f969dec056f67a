"""The pages of strength tests: what they show to whom, and what people can do there."""

from __future__ import annotations

import html
import io
import json
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
import sqlalchemy as sa
from flask import Flask
from PIL import Image

from arena.bots.submissions import enter, submit
from arena.competitions import strength_tests
from arena.competitions.founding import RUNNING_ALLOWED
from arena.competitions.strength_reports import reports
from arena.ground.db import Database
from arena.models import (
    Bot,
    BotVersion,
    CompetitionState,
    Ladder,
    Match,
    Role,
    StrengthTest,
    TestTally,
    TestVerdict,
    User,
    VersionStatus,
)
from arena.ratings.elo import TOO_FEW
from tests.arena.competitions.strength_simulation import StrengthSimulation
from tests.arena.simulator import CALM
from tests.arena.web.signing_in import Browser, at_rest, complaints, deeds, pages, person, signed_in
from tests.arena.web.test_pages import read


class Arena(StrengthSimulation):
    """An arena with accounts: somebody, whose bots and tests they are, and eve, who has nothing."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, CALM, "clobber", size="4x4")
        person(database, "somebody")
        person(database, "eve")


@pytest.fixture
def arena(sqlite_database: Database) -> Arena:
    return Arena(sqlite_database)


@pytest.fixture
def app(arena: Arena, tmp_path: Path) -> Iterator[Flask]:
    app = pages(arena.database, data=tmp_path)
    yield app
    app.extensions["arena.database"].close()


def count(arena: Arena, number: int, worker: str, counts: list[int], **more: object) -> None:
    """Results of a worker, as they would have been counted."""
    wins = counts[3] + 2 * counts[4] + counts[2]
    games = 2 * sum(counts)
    with arena.database.begin() as session:
        tally = TestTally(
            test_id=number,
            worker=worker,
            counts=counts,
            wins=wins,
            draws=0,
            losses=games - wins,
            candidate_faults={},
            baseline_faults={},
        )
        for key, value in more.items():
            setattr(tally, key, value)
        session.add(tally)


def end(arena: Arena, number: int, verdict: TestVerdict) -> None:
    with arena.database.begin() as session:
        strength_tests.end(session, arena.test(session, number), verdict, "", arena.now)


@pytest.mark.parametrize(
    ("verdict", "counts", "colour"),
    [
        (TestVerdict.RUNNING, [1, 2, 9, 2, 1], "running"),
        (TestVerdict.PASSED, [1, 2, 9, 7, 9], "passed"),
        (TestVerdict.FAILED, [9, 7, 9, 2, 1], "failed"),
        (TestVerdict.FAILED, [8, 2, 90, 8, 12], "close"),
        (TestVerdict.UNDECIDED, [1, 2, 9, 2, 1], "open"),
    ],
)
def test_a_test_shows_how_it_stands(
    arena: Arena, app: Flask, verdict: TestVerdict, counts: list[int], colour: str
) -> None:
    """It shows it in words, numbers and colour; while it runs the page renews itself."""
    number = arena.create(note="<b>quicker</b>")
    count(arena, number, "w", counts, candidate_faults={"timeout": 3, "crash": 2})
    if verdict is not TestVerdict.RUNNING:
        end(arena, number, verdict)
    page = Browser(app).get_renewed(f"/tests/{number}")
    assert page.status_code == 200
    for words in (
        "<title>bot-0 v1 against bot-1 v1: strength test",
        f"verdict-{colour}",
        "LLR",
        "between -2.94 and 2.94",
        " ".join(map(str, counts)),
        "&lt;b&gt;quicker",
        '<td class="number">2</td><td class="number">3</td>',
        "by <bdi>somebody</bdi>",
    ):
        assert words in page.text, words
    assert ('hx-trigger="every 3s"' in page.text) == (verdict is TestVerdict.RUNNING)
    listing = Browser(app).get("/tests").text
    assert f"verdict-{colour}" in listing
    assert re.search(r"[+-]\d+ <small[^>]*>[+-]\d+ to [+-]\d+</small>", listing)
    found = json.loads(Browser(app).get(f"/tests/{number}.json").text)
    assert (found["verdict"], found["counts"]) == (str(verdict), counts)
    assert json.loads(Browser(app).get("/tests.json").text) == [found]


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ([0, 0, 1, 0, 0], TOO_FEW),
        ([9, 0, 0, 0, 0], TOO_FEW),
        # 1 - 0.025 ** (1 / 20) = 0.168 may be other than what was seen.
        ([0, 0, 0, 0, 20], "above +277"),
        ([20, 0, 0, 0, 0], "below -277"),
    ],
)
def test_little_is_told_of_few_games_and_of_nothing_but_wins(
    arena: Arena, app: Flask, counts: list[int], words: str
) -> None:
    """The page, the list, what commands print and the block to paste tell as little."""
    number = arena.create()
    count(arena, number, "w", counts)
    told = dict(json.loads(Browser(app).get(f"/tests/{number}.json").text)["told"])
    assert told["Elo"].split(",")[0] == words
    page = Browser(app).get(f"/tests/{number}").text
    assert f"Elo   | {words}" in page
    assert page.count(words) >= 3  # the tile, the text, the block
    assert words in Browser(app).get("/tests").text
    assert ("bars-of-scores" in page, "axis" in page) == (True, words != TOO_FEW)


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("", ["third", "second", "first"]),
        ("?verdict=running", ["third", "second"]),
        ("?verdict=passed", ["first"]),
        ("?bot=bot-2", ["third"]),
        ("?bot=BOT-2", ["third"]),
        ("?bot=bot", []),
        ("?creator=somebody", ["second", "first"]),
        ("?creator=Somebody", ["second", "first"]),
        ("?creator=nobody", []),
        ("?verdict=running&creator=somebody&bot=bot-1", ["second"]),
    ],
)
def test_tests_are_filtered(arena: Arena, app: Flask, query: str, wanted: list[str]) -> None:
    """They are by what became of them, a bot, and who made them: page, JSON and API."""
    with arena.database.begin() as session:
        user = session.scalars(sa.select(User).where(User.name == "somebody")).one()
        ladder = session.scalars(sa.select(Ladder)).one()
        about = {"digest": "2" * 64, "size": 1, "language": "C", "ladder": ladder}
        version = submit(session, user, "bot-2", **about, now=arena.now)
        version.status = VersionStatus.READY
        enter(session, ladder, version, arena.now)
    pairs = {"first": (0, 1), "second": (0, 1), "third": (0, 2)}
    numbers = {note: arena.create(*pair, note=note) for note, pair in pairs.items()}
    with arena.database.begin() as session:
        arena.test(session, numbers["third"]).creator_id = None
    end(arena, numbers["first"], TestVerdict.PASSED)
    browser = Browser(app)
    found = json.loads(browser.get(f"/tests.json{query}").text)
    assert [one["note"] for one in found] == wanted
    page = browser.get(f"/tests{query}").text
    assert read(page).verdict() == []
    assert [int(number) for number in re.findall('number"><a href="/tests/([0-9]+)"', page)] == [
        numbers[note] for note in wanted
    ]
    items = browser.get(f"/api/v1/tests{query}").json["items"]
    assert {one["note"] for one in items} == set(wanted)


def test_a_match_leads_to_its_test(arena: Arena, app: Flask) -> None:
    """The page of a match that was played for one does."""
    number = arena.create()
    arena.alive()
    arena.tick()
    arena.run(6)
    with arena.database.read() as session:
        match = session.scalars(sa.select(Match.id).where(Match.seq == 1)).one()
    page = Browser(app).get(f"/matches/{match}").text
    assert f'<a href="/tests/{number}"><bdi>bot-0 v1 against bot-1 v1</bdi></a>' in page
    assert Browser(app).get("/").status_code == 200


def test_what_is_not_there_is_said(app: Flask) -> None:
    """Also for a number that no database has."""
    for address in ("/tests/77", "/tests/77.json", "/tests/77/live", f"/tests/{10**30}"):
        assert Browser(app).get(address).status_code == 404


def test_an_odd_worker_is_marked_and_still_counts(arena: Arena, app: Flask) -> None:
    """With and without it, both are shown."""
    number = arena.create()
    count(arena, number, "sound", [60, 80, 120, 80, 60])
    count(arena, number, "queer", [10, 20, 60, 110, 200])
    with arena.database.read() as session:
        found = reports(session, [arena.test(session, number)])[0]
    assert set(found.odd) == {"queer"}
    assert (found.standing.matches, found.without.matches) == (800, 400)
    page = Browser(app).get(f"/tests/{number}").text
    assert "differs" in page
    assert "Every match counts. Without" in page
    assert "without_odd_workers" in json.loads(Browser(app).get(f"/tests/{number}.json").text)


def test_a_person_tests_own_versions(arena: Arena, app: Flask) -> None:
    """And nobody else's, unless they are open; what is wrong comes back in the form."""
    fields = {
        "candidate": "bot-0:1", "baseline": "bot-1:1", "ladder": "ladder-0",
        "elo0": "0", "elo1": "50",
        "max_games": "400", "weight": "9", "note": "quicker", "allow_faults": "y",
    }  # fmt: skip
    assert Browser(app).post("/tests/new", fields).status_code in (302, 401)
    somebody = signed_in(app, "somebody")
    page = somebody.post("/tests/new", fields | {"baseline": "bot-0:1"}, page="/tests/new")
    assert page.status_code == 422
    assert "against itself" in complaints(page)[0]
    page = somebody.post("/tests/new", fields | {"elo1": "x"}, page="/tests/new")
    assert page.status_code == 422
    made = somebody.post("/tests/new", fields, page="/tests/new")
    assert made.status_code == 302
    with arena.database.begin() as session:
        test = session.scalars(sa.select(StrengthTest)).one()
        assert (test.elo1, test.max_games, test.note) == (50, 400, "quicker")
        assert test.allow_faults
        # Who is no organiser gets no more than a ladder has.
        assert test.weight == 1
        assert made.location == f"/tests/{test.id}"
    eve = signed_in(app, "eve")
    page = eve.post("/tests/new", fields, page="/tests/new")
    assert page.status_code == 422
    with arena.database.begin() as session:
        session.execute(sa.update(Bot).values(open_source=True))
    assert eve.post("/tests/new", fields, page="/tests/new").status_code == 302


def test_a_preview_tells_what_it_would_take_and_makes_nothing(arena: Arena, app: Flask) -> None:
    """With what was filled in; what can't be so comes back as when it is sent. The API says the
    same.
    """
    fields = {
        "candidate": "bot-0:1", "baseline": "bot-1:1", "ladder": "ladder-0",
        "elo0": "0", "elo1": "50", "model": "logistic", "draws": "30", "preview": "yes",
    }  # fmt: skip
    somebody = signed_in(app, "somebody")
    page = somebody.post("/tests/new", fields, page="/tests/new")
    assert page.status_code == 200
    for words in ("What it would take", "30 % draws", 'value="50"', "Chance to pass, in per"):
        assert words in page.text, words
    assert read(page.text).verdict() == []
    query = "ladder=ladder-0&elo1=50&model=logistic&draws=0.3"
    said = json.loads(Browser(app).get(f"/api/v1/tests/estimate?{query}").text)
    middle = said["expected"][12]
    assert (middle["elo"], said["draws"]) == (25.0, 0.3)
    assert middle["passes"] == pytest.approx(0.5, abs=0.02)
    assert f"{middle['games']:,.0f}" in page.text
    for wrong, words in (
        ({"draws": "100"}, "from 0 to 99"),
        ({"elo0": "60"}, "elo0 must be less"),
        ({"preset": "odd"}, "There is no preset"),
    ):
        page = somebody.post("/tests/new", fields | wrong, page="/tests/new")
        assert page.status_code == 422
        assert words.casefold() in complaints(page)[0].casefold()
    with arena.database.read() as session:
        assert session.scalar(sa.select(StrengthTest.id)) is None


def test_the_block_to_paste_is_text_and_picture(arena: Arena, app: Flask) -> None:
    """The same on the page, by the API and as SVG, whatever bots are called; PNG has its size."""
    number = arena.create()
    browser = Browser(app)
    assert "To paste elsewhere" not in browser.get(f"/tests/{number}").text
    count(arena, number, "w", [1, 2, 9, 7, 9])
    found = browser.get(f"/api/v1/tests/{number}/block").json
    assert "Ptnml | [1, 2, 9, 7, 9]" in found["text"].splitlines()
    assert html.escape(found["text"]) in browser.get(f"/tests/{number}").text
    assert found["text"] in found["markdown"]
    in_italian = {"Accept-Language": "it"}
    assert browser.get(f"/api/v1/tests/{number}/block", headers=in_italian).json == found
    drawn = browser.get(f"/tests/{number}.svg")
    assert (drawn.mimetype, drawn.text) == ("image/svg+xml", found["svg"])
    texts = ElementTree.fromstring(drawn.text).iter("{http://www.w3.org/2000/svg}text")
    lines = [one.text for one in texts]
    assert "bot-0 v1 against bot-1 v1: running" in lines
    assert {line.partition("| ")[2] for line in found["text"].splitlines()} <= set(lines)
    png = Image.open(io.BytesIO(browser.get(f"/tests/{number}.png").data))
    assert (png.format, png.height) == ("PNG", 24 + 21 * (1 + len(found["text"].splitlines())))
    # Something is drawn: letters are neither ground nor stripe.
    assert len(png.getcolors(1 << 16) or []) > 10


def test_stop_extend_and_clone_are_for_its_maker(arena: Arena, app: Flask) -> None:
    """And for organisers; each is noted."""
    number = arena.create(max_games=40)
    eve, somebody = signed_in(app, "eve"), signed_in(app, "somebody")
    for deed, status in (("stop", 403), ("extend", 403), ("clone", 403)):
        answer = eve.post(f"/tests/{number}/{deed}", {"max_games": "80"}, page="/account")
        assert answer.status_code == status, deed
    assert "Stop" not in eve.get(f"/tests/{number}").text
    page = f"/tests/{number}"
    assert somebody.client.post(f"{page}/stop").status_code == 400  # without the form's secret
    assert somebody.post(f"{page}/stop", page=page).status_code == 302
    assert somebody.post(f"{page}/stop", page=page).status_code == 409
    assert somebody.post(f"{page}/extend", {"max_games": "no"}, page=page).status_code == 422
    assert somebody.post(f"{page}/extend", {"max_games": "80"}, page=page).status_code == 302
    cloned = somebody.post(f"{page}/clone", page=page)
    assert cloned.location == f"/tests/{number + 1}"
    with arena.database.read() as session:
        assert arena.test(session, number).state is CompetitionState.OPEN
        assert arena.test(session, number).max_games == 80
    person(arena.database, "olga", Role.ORGANISER)
    assert signed_in(app, "olga").post(f"{page}/stop", page=page).status_code == 302
    said = [deed for deed in deeds(arena.database) if "test" in deed]
    assert said[1:] == [
        "arena: end test",
        "somebody: stop test",
        "somebody: extend test",
        "somebody: create test",
        "arena: end test",
        "olga: stop test",
    ]


def bundle(folder: Path, version: BotVersion, digest: str, files: dict[str, bytes]) -> None:
    """Stores the files of a version."""
    version.digest = digest
    folder.mkdir(exist_ok=True)
    with tarfile.open(folder / digest, "w") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


def test_the_difference_is_for_who_may_see_both(arena: Arena, app: Flask, tmp_path: Path) -> None:
    """A unified diff of texts; other files are only said to differ."""
    number = arena.create()
    with arena.database.begin() as session:
        new, old = session.scalars(sa.select(BotVersion).order_by(BotVersion.id))
        same = {"lib.py": b"x = 1\n"}
        long_old, long_new = ({"z.py": word * 6000} for word in (b"a\n", b"b\n"))
        folder = tmp_path / "bundles"
        bundle(
            folder,
            old,
            "a" * 64,
            {"bot.py": b"depth = 3\nend\n", "w.bin": b"\0", **same, **long_old},
        )
        bundle(
            folder,
            new,
            "b" * 64,
            {"bot.py": b"depth = 4\nend\n", "w.bin": b"\0\0", **same, **long_new},
        )
    somebody = signed_in(app, "somebody")
    page = somebody.get(f"/tests/{number}").text
    for words in (
        '<span class="gone">-depth = 3</span>',
        '<span class="come">+depth = 4</span>',
        "--- bot-1 v1/bot.py",
        "w.bin: 1 and 2 bytes, no text to show",
        "z.py: 6000 and 6000 lines, too many to compare",
    ):
        assert words in page, words
    assert "lib.py" not in page
    for reader in (Browser(app), signed_in(app, "eve")):
        assert "depth" not in reader.get(f"/tests/{number}").text


def test_the_number_of_statements_is_fixed(arena: Arena, app: Flask) -> None:
    """The list takes as many for five tests as for one."""
    counts = []
    statements: list[str] = []
    engine = at_rest(app)
    sa.event.listen(engine, "before_cursor_execute", lambda *args: statements.append(args[2]))
    for _ in range(RUNNING_ALLOWED):
        number = arena.create()
        count(arena, number, "one", [1, 2, 3, 2, 1])
        count(arena, number, "two", [1, 2, 3, 2, 1])
        for address in ("/tests", f"/tests/{number}"):
            statements.clear()
            assert Browser(app).get(address).status_code == 200
            counts.append(len(statements))
    assert len(set(counts[::2])) == 1
    assert len(set(counts[1::2])) == 1
