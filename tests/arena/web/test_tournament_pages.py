"""The pages of tournaments: what stands on them, what they refuse, how much they ask."""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa
from flask import Flask
from flask.testing import FlaskClient

from arena.formats.fixtures import Result
from arena.formats.knockout import Knockout
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import CompetitionState, JobStatus, Match, Tournament
from arena.schedule.matchmaking import new_matches
from arena.schedule.workers import note_alive
from arena.web.app import create_app
from arena.web.brackets import brackets
from engine.plurals import listed
from engine.record import parse_record
from engine.record import replay as prove
from engine.reporting import SignOfLife
from tests.arena.competitions.test_tournament_fields import withdraw
from tests.arena.competitions.tournament_simulation import TournamentSimulation
from tests.arena.simulator import CALM, START
from tests.arena.web.conftest import HOSTILE
from tests.arena.web.signing_in import at_rest
from tests.arena.web.test_pages import read
from tests.furnished import furnished_database


@dataclass(frozen=True, slots=True)
class Cups:
    """The pages of an arena with a tournament of each kind."""

    client: FlaskClient
    statements: list[str]

    def page(self, address: str) -> str:
        answer = self.client.get(address)
        assert answer.status_code == 200, address
        return answer.text

    def count(self, address: str) -> int:
        """How many statements a page takes."""
        self.statements.clear()
        self.page(address)
        return len(self.statements)


def play(database: Database) -> None:
    """Six that are over, one that has just begun with a match set aside, and one of two bots."""
    simulation = TournamentSimulation(database, 1, CALM, "clobber", 7, size="4x3")
    simulation.create("swiss", "swiss", rounds=3)
    simulation.create("cup", "knockout", third_place=1)
    simulation.create("double", "knockout", double=1)
    simulation.create("level", "knockout", extra_legs=0)
    simulation.create("gauntlet", "gauntlet", candidates=2)
    simulation.create("pair", "round-robin", top=2)
    simulation.play_out(5)
    simulation.create("begun", "round-robin", cycles=2)
    with database.begin() as session:
        begun = session.scalars(sa.select(Tournament).where(Tournament.name == "begun")).one()
        begun.title = begun.note = HOSTILE[:120]
        pair = session.scalars(sa.select(Tournament).where(Tournament.name == "pair")).one()
        pair.settings = {**pair.settings, "tie_breaks": []}
    simulation.run(4)
    with database.begin() as session:
        aside = session.scalars(sa.select(Match).where(Match.status == JobStatus.ISSUED)).first()
        assert aside is not None
        aside.status, aside.lease_ends = JobStatus.SET_ASIDE, None
        aside.ticket = aside.worker = None


@pytest.fixture(scope="module")
def cups(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cups]:
    """Their pages."""
    with furnished_database(request, tmp_path_factory.mktemp("cups"), play) as (database, _):
        app = create_app(Settings(database=database.url))
        app.testing = True
        statements: list[str] = []
        engine = at_rest(app)
        sa.event.listen(engine, "before_cursor_execute", lambda *args: statements.append(args[2]))
        yield Cups(app.test_client(), statements)
        app.extensions["arena.database"].close()


PAGES = [
    ("/tournaments", ["swiss", "Knockout", "clobber size=4x3", "over"]),
    (
        "/tournaments/swiss",
        [
            "9 <small",
            "Buchholz",
            "wins, and at last by lots",
            "Sonneborn-Berger",
            "has a bye, for 2 points",
        ],
    ),
    ("/tournaments/cup", ["Bracket", "Semi-final", "Third place", "bye", "Podium"]),
    ("/tournaments/double", ["Winners&#39; round 1", "Losers&#39; round 1", "Final"]),
    ("/tournaments/gauntlet", ["candidates 2", "Crosstable", "Points a game decide", ">A game<"]),
    ("/tournaments/begun", ["A match is set aside", 'hx-trigger="every 5s"', "due", "Running now"]),
    ("/tournaments/pair", ["bot-0 v1", "bot-1 v1", "is put in order by lots drawn from"]),
    ("/tournaments/pair/1/2", ["bot-0 v1", "bot-1 v1", "won", "Players, by seat"]),
    ("/tournaments/begun/1/7", ["They have not met yet."]),
    ("/", ["Tournaments"]),
]
REFUSED = [
    ("/tournaments/none", "There is no tournament none."),
    ("/tournaments/none.json", "There is no tournament none."),
    ("/tournaments/none.csv", "There is no tournament none."),
    ("/tournaments/ladder-0", "There is no tournament ladder-0."),
    ("/tournaments/none/1/2", "There is no tournament none."),
    ("/tournaments/swiss/1/1", "In this tournament 1 and 1 are no two bots."),
    ("/tournaments/swiss/1/8", "In this tournament 1 and 8 are no two bots."),
]


@pytest.mark.long
@pytest.mark.parametrize(("address", "words"), PAGES, ids=[address for address, _ in PAGES])
def test_pages_say_what_they_are_for(cups: Cups, address: str, words: list[str]) -> None:
    """Each page has the words that people come for, and breaks no rule that all pages keep."""
    text = cups.page(address)
    for word in words:
        assert word in text
    assert read(text).verdict() == []
    assert "<script>alert" not in text


@pytest.mark.parametrize(("address", "words"), REFUSED, ids=[address for address, _ in REFUSED])
def test_what_is_not_there_is_said_plainly(cups: Cups, address: str, words: str) -> None:
    """An address of nothing is a 404 that names what is missing."""
    answer = cups.client.get(address)
    assert answer.status_code == 404
    assert words in answer.text


def test_the_list_says_who_has_won(cups: Cups) -> None:
    """Those on the first place, by name; nobody of what is not over."""
    page = cups.page("/tournaments")
    winners = 0
    for name in re.findall(r'href="/tournaments/([^"/]+)"', page):
        found = json.loads(cups.page(f"/tournaments/{name}.json"))
        first = [
            f"{line['bot']} v{line['version']}"
            for line in found["standings"]
            if line["place"] == 1 and found["finished"] and found["called_off"] is None
        ]
        assert found["winner"] == (listed(first) or None)
        winners += len(first)
        assert f'<strong class="won"><bdi>{listed(first)}</bdi>' in page or not first
    assert winners


def test_links_lead_somewhere(cups: Cups) -> None:
    """Every link of a tournament's page is alive."""
    client = cups.client.application.test_client()  # for whom a link chooses a language, too
    for link in set(read(cups.page("/tournaments/pair")).links):
        if link.startswith("/"):
            # To hand in a bot is for who has signed in.
            assert client.get(link).status_code in (200, 302), link


def test_who_goes_on_from_a_level_tie_is_said(cups: Cups) -> None:
    """It stands at each such tie of the bracket, since its score does not show it."""
    ties = json.loads(cups.page("/tournaments/level.json"))["bracket"]
    level = [tie for tie in ties if tie["winner"] and tie["score"][0] == tie["score"][1] > 0]
    assert level
    assert cups.page("/tournaments/level").count(">better seed</small>") == len(level)


def test_crosstable_and_standings_agree(cups: Cups) -> None:
    """Both axes have the order of the standings, and a row's cells add up to the points."""
    found = json.loads(cups.page("/tournaments/gauntlet.json"))
    for place, row in enumerate(found["standings"]):
        cells = [cell for cell in found["crosstable"][place] if cell]
        assert found["crosstable"][place][place] is None
        assert sum(cell["wins"] + cell["draws"] / 2 for cell in cells) == row["points"]
        assert sum(sum(cell.values()) for cell in cells) == row["games"]
        for other, cell in enumerate(found["crosstable"][place]):
            mirrored = found["crosstable"][other][place]
            assert (cell is None) == (mirrored is None)
            assert cell is None or cell["wins"] == mirrored["losses"]
    text = cups.page("/tournaments/gauntlet")
    table = text[text.index('<table class="cross">') :]
    names = re.findall(r'<th scope="row"><bdi>([^<]+)</bdi>', table)
    heads = re.findall(r'<th class="number" title="([^"]+)">', table)
    assert names == heads == [f"{row['bot']} v1" for row in found["standings"]]


def test_what_only_the_lot_decided_is_said(cups: Cups) -> None:
    """Once all is played, of those who are level in points and tie-breaks; not in a bracket."""
    said = {}
    for name in ("swiss", "gauntlet", "pair", "begun", "cup"):
        rows = json.loads(cups.page(f"/tournaments/{name}.json"))["standings"]
        level: dict[tuple[float, ...], list[str]] = {}
        for row in rows:
            row["tie_breaks"].pop("lot")
            points = row["points"] / (row["games"] if name == "gauntlet" else 1)
            key = (points, *row["tie_breaks"].values())
            level.setdefault(key, []).append(f"{row['bot']} v{row['version']}")
        tied = [listed(names) for names in level.values() if len(names) > 1]
        said[name] = re.findall(
            r"<p><bdi>([^<]+)</bdi> are level", cups.page(f"/tournaments/{name}")
        )
        assert said[name] == ([] if name in ("begun", "cup") else tied)
    assert any(said.values())


def test_meetings_are_told_from_the_side_of_the_first(cups: Cups) -> None:
    """As the crosstable has them, with all games of the two and no other, the last one first."""
    found = json.loads(cups.page("/tournaments/gauntlet.json"))
    order = [row["seeding"] for row in found["standings"]]
    name = {row["seeding"]: f"{row['bot']} v{row['version']}" for row in found["standings"]}
    uneven = 0
    for one, other in itertools.permutations(order, 2):
        cell = found["crosstable"][order.index(one)][order.index(other)]
        if cell is None:
            continue
        page = cups.page(f"/tournaments/gauntlet/{one}/{other}")
        told = f": {cell['wins']} won, {cell['draws']} drawn, {cell['losses']} lost."
        assert told in page
        uneven += cell["wins"] != cell["losses"]
        games = [int(number) for number in re.findall(r'<a href="/games/(\d+)">\1</a>', page)]
        assert games == sorted(games, reverse=True)
        assert len(games) == sum(cell.values())
        met = {name[one], name[other]}
        its = [match for each in found["rounds"] for match in each["matches"]]
        assert set(map(int, re.findall(r'<a href="/matches/(\d+)">', page))) == {
            match["match"] for match in its if set(match["bots"]) == met
        }
    assert uneven


@pytest.mark.parametrize(("name", "decides"), [("swiss", "points"), ("gauntlet", "points_a_game")])
def test_who_stands_before_whom(cups: Cups, name: str, decides: str) -> None:
    """As docs/tournaments.md says: who has more of what decides, then by the tie-breaks."""
    rows = json.loads(cups.page(f"/tournaments/{name}.json"))["standings"]
    order = [(row[decides], *row["tie_breaks"].values()) for row in rows]
    assert order == sorted(order, reverse=True)


@pytest.mark.parametrize("name", ["swiss", "begun"])
def test_the_round_that_is_played_is_open(cups: Cups, name: str) -> None:
    """The first of which a match is left, and once all is played the last."""
    rounds = json.loads(cups.page(f"/tournaments/{name}.json"))["rounds"]
    left = [
        each["round"]
        for each in rounds
        if any(match["status"] != "fixed" for match in each["matches"])
    ]
    expected = (left or [rounds[-1]["round"]])[0]
    page = cups.page(f"/tournaments/{name}")
    assert re.findall(r'<details open id="round-(\d+)"', page) == [str(expected)]


def test_csv_is_the_standings(cups: Cups) -> None:
    """The lines of the JSON, each tie-break a column of its own."""
    lines = list(csv.DictReader(io.StringIO(cups.page("/tournaments/swiss.csv"))))
    found = json.loads(cups.page("/tournaments/swiss.json"))["standings"]
    for line, row in zip(lines, found, strict=True):
        for name, value in row.pop("tie_breaks").items():
            assert line.pop(f"tie_break {name}") == str(value)
        assert row.pop("places") == []
        assert line == {key: "" if value is None else str(value) for key, value in row.items()}


def test_all_games_are_a_link_away(cups: Cups) -> None:
    """Each proves itself, and of two players a game they are half of what the standings count."""
    links = set(read(cups.page("/tournaments/gauntlet")).links)
    (link,) = [link for link in links if "games.jsonl" in link]
    lines = cups.page(link).splitlines()
    rows = json.loads(cups.page("/tournaments/gauntlet.json"))["standings"]
    assert 2 * len(lines) == sum(row["games"] for row in rows) > 0
    for line in lines:
        prove(parse_record(line))


def test_the_chart_has_a_line_for_each_of_the_first(cups: Cups) -> None:
    """As many points as rounds and one before the first; the last ones are those of the table."""
    text = cups.page("/tournaments/swiss")
    lines = re.findall(r'<polyline class="line" points="([^"]+)"', text)
    assert len(lines) == 7
    assert {len(line.split()) for line in lines} == {4}
    # Higher on the page is a lower number, so the ends go down the table.
    ends = [float(line.rpartition(",")[2]) for line in lines]
    assert ends == sorted(ends)
    assert "Points after each round" not in cups.page("/tournaments/cup")


def test_names_of_the_chart_stand_in_the_order_of_their_lines(cups: Cups) -> None:
    """Also where points a game decide, and who has most points is not the first."""
    series = re.findall(
        r'<g class="series[^>]*><polyline class="line" points="([^"]+)"[^>]*/>'
        r'<text x="[^"]+" y="([^"]+)"',
        cups.page("/tournaments/gauntlet"),
    )
    places = [(float(points.split(",")[-1]), float(name)) for points, name in series]
    assert len({end for end, _ in places}) > 2
    assert [end for end, _ in sorted(places)] == [
        end for end, _ in sorted(places, key=lambda place: place[1])
    ]


def test_a_bracket_leaves_out_where_nobody_can_be() -> None:
    """A second final that need not be played is gone when the first is; losers stand apart."""
    knockout, field, results = Knockout(double=True), [1, 2, 3], list[Result]()
    before = ["winners' round 1", "winners' round 2", "final", "second final"]
    assert [stage.name for stage in brackets(knockout.ties(field, []))[0]] == before
    while due := knockout.fixtures(field, results):
        # The better seed wins.
        results += [
            Result(fixture, (tuple(float(e == min(fixture.entrants)) for e in fixture.entrants),))
            for fixture in due
        ]
    shown = brackets(knockout.ties(field, results))
    # Of three in a bracket of four, who loses the one first tie goes on in the losers' first
    # round without an opponent.
    assert [[stage.name for stage in part] for part in shown] == [
        ["winners' round 1", "winners' round 2", "final"],
        ["losers' round 1", "losers' round 2"],
    ]


@pytest.mark.parametrize(
    ("many", "few"),
    [
        ("/tournaments/gauntlet", "/tournaments/pair"),
        ("/tournaments/gauntlet.json", "/tournaments/pair.json"),
        ("/tournaments/gauntlet/1/3", "/tournaments/pair/1/2"),
    ],
)
def test_the_number_of_statements_is_fixed(cups: Cups, many: str, few: str) -> None:
    """A tournament of seven takes no more of them than one of two."""
    assert cups.count(many) == cups.count(few) <= 13


def test_why_nothing_is_played_is_said(tmp_path: Path) -> None:
    """No worker is there, they are busy elsewhere, something else is played alone, all that is left
    was set aside, or it waits."""
    database = Database(f"sqlite:///{tmp_path}/arena.db")
    database.upgrade()
    simulation = TournamentSimulation(database, 1, CALM, "clobber", 2, size="4x3")
    simulation.create("cup", "round-robin")
    app = create_app(Settings(database=database.url))
    other = create_app(Settings(database=database.url, only="clobber"))

    def said(app: Flask) -> str:
        """What is said by the page, its JSON and the API alike."""
        client = app.test_client()
        page = client.get("/tournaments/cup").text
        words = client.get("/api/v1/tournaments/cup").json["quiet"]
        assert words in page
        assert client.get("/tournaments/cup.json").json["quiet"] == words
        return words

    assert said(app) == "No worker is there to play."
    with database.begin() as session:
        note_alive(session, SignOfLife("one", 1, "full"), datetime.now(UTC))
    assert said(app) == "The workers play elsewhere; its turn will come."
    assert said(other) == "This arena plays clobber alone."
    with database.begin() as session:
        match = next(new_matches(session, datetime.now(UTC)))
        match.status = JobStatus.SET_ASIDE
    assert said(app) == "Nothing else can be played before those matches that were set aside."
    with database.begin() as session:
        session.scalars(sa.select(Tournament)).one().state = CompetitionState.PAUSED
    assert said(app) == "The tournament is paused: no matches are made for now."
    for one in (app, other):
        one.extensions["arena.database"].close()
    database.close()


def test_points_a_game_and_the_lot_are_told_to_programs_too(cups: Cups) -> None:
    """As the page has them: whoever the lot put in order there is marked."""
    told = False
    for name in ("swiss", "gauntlet", "pair"):
        drawn = "".join(
            re.findall(r"<p><bdi>([^<]+)</bdi> are level", cups.page(f"/tournaments/{name}"))
        )
        lines = list(csv.DictReader(io.StringIO(cups.page(f"/tournaments/{name}.csv"))))
        rows = json.loads(cups.page(f"/tournaments/{name}.json"))["standings"]
        for line, row in zip(lines, rows, strict=True):
            assert row["points_a_game"] == pytest.approx(
                row["points"] / (row["games"] + row["unplayed"])
            )
            assert float(line["points_a_game"]) == row["points_a_game"]
            assert row["by_lot"] == (f"{row['bot']} v{row['version']}" in drawn)
            assert line["by_lot"] == str(row["by_lot"])
            told = told or row["by_lot"]
    assert told


def test_what_is_not_played_stands_where_every_window_shows_it(tmp_path: Path) -> None:
    """With the points a game that it counts for, which no narrow window leaves out."""
    database = Database(f"sqlite:///{tmp_path}/arena.db")
    database.upgrade()
    simulation = TournamentSimulation(database, 1, CALM, "clobber", 4, size="4x3")
    simulation.create("cup", "gauntlet")
    with database.begin() as session:
        next(new_matches(session, START))
        withdraw(session, "bot-3")
    app = create_app(Settings(database=database.url))
    page = app.test_client().get("/tournaments/cup").text
    cells = re.findall(r'<td class="([^"]*)">[^<]*<small class="[^"]*">([^<]*) not played<', page)
    assert cells == [("number", "2")] * 2
    app.extensions["arena.database"].close()
    database.close()
