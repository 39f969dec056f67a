"""What the API answers: pages that hold still, tags, problems, and a whole ladder's games."""

from __future__ import annotations

import gzip
import json
import tracemalloc
import zlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import sqlalchemy as sa

from arena.models import Bot, Competition, ListedSeat, Match, PlayedGame, User
from arena.web.api.paging import LARGEST_PAGE
from engine.record import parse_record
from engine.record import replay as prove
from tests.arena.web.conftest import HOSTILE
from tests.arena.web.signing_in import now
from tests.conftest import on_both

API = "/api/v1"


def pages(arena: SimpleNamespace, address: str) -> Iterator[list[Any]]:
    """A list page by page."""
    following: str | None = address
    while following:
        answer = arena.client.get(following)
        assert answer.status_code == 200, answer.text
        yield answer.json["items"]
        following = answer.json["next"]


def listed(arena: SimpleNamespace, address: str) -> list[Any]:
    return [item for items in pages(arena, address) for item in items]


@pytest.mark.long
@on_both("arena")
@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("/ladders", "name"),
        ("/ladders/ladder-0/entrants", "id"),
        ("/bots", "name"),
        ("/bots/bot-0/versions", "version"),
        ("/games", "number"),
        ("/games?competition=ladder-0", "number"),
        ("/matches", "number"),
        ("/matches?status=fixed", "number"),
        ("/tournaments", "tournament"),
        ("/tests", "id"),
    ],
)
def test_pages_of_one_are_the_whole_list(arena: SimpleNamespace, address: str, key: str) -> None:
    """However large the pages are, everything comes once, in the same order."""
    join = "&" if "?" in address else "?"
    whole = listed(arena, f"{API}{address}{join}limit={LARGEST_PAGE}")
    assert whole
    small = listed(arena, f"{API}{address}{join}limit=1")
    assert [one[key] for one in small] == [one[key] for one in whole]


def test_what_comes_in_meanwhile_moves_nothing(arena: SimpleNamespace) -> None:
    """Nobody is shown twice or left out because somebody came in between two pages."""
    before = [bot["name"] for bot in listed(arena, f"{API}/bots?limit=100")]
    found = []
    for number, items in enumerate(pages(arena, f"{API}/bots?limit=1")):
        found += [bot["name"] for bot in items]
        with arena.database.begin() as session:
            owner = session.scalars(sa.select(User).limit(1)).one()
            session.add(Bot(name=f"late-{number}", owner=owner, created=now()))
    assert found == before
    with arena.database.begin() as session:
        session.execute(sa.delete(Bot).where(Bot.name.startswith("late-")))


@on_both("arena")
def test_lists_are_filtered(arena: SimpleNamespace) -> None:
    """Each filter leaves just what it says."""
    (entrant, *_) = listed(arena, f"{API}/ladders/ladder-0/entrants?state=active")
    assert entrant["state"] == "active"
    of_bot = listed(arena, f"{API}/games?entrant={entrant['id']}")
    label = (entrant["bot"], entrant["version"])
    assert of_bot or entrant["games"] == 0
    for game in of_bot:
        assert label in [(seat["bot"], seat["version"]) for seat in game["seats"]]
    for match in listed(arena, f"{API}/matches?competition=ladder-0&status=fixed"):
        assert (match["competition"], match["status"]) == ("ladder-0", "fixed")
    bots = listed(arena, f"{API}/bots")
    owner, team = "somebody", "knights"  # who leads it, and whose its bots are, too
    its = [bot for bot in bots if bot["owner"] == team]
    assert its != bots
    assert listed(arena, f"{API}/bots?owner={team}") == its
    assert listed(arena, f"{API}/bots?owner={owner}") == bots
    assert listed(arena, f"{API}/bots?owner=nobody") == []


@on_both("arena")
def test_an_owner_is_found_in_whatever_letters_size(arena: SimpleNamespace) -> None:
    """As no two names differ in that alone, a person who types another means the same owner."""
    shouted = "SOMEBODY"
    assert listed(arena, f"{API}/bots?owner={shouted}") == listed(arena, f"{API}/bots")
    board = f"{API}/ladders/ladder-0/leaderboard"
    whole = arena.client.get(board).json["bots"]
    assert arena.client.get(f"{board}?owner={shouted}").json["bots"] == whole != []


def test_answers_agree_with_each_other(arena: SimpleNamespace) -> None:
    """A match has the games that name it, a game the record of its digest."""
    match = arena.client.get(f"{API}/matches/{arena.numbers['played']}").json
    for game in match["games"]:
        assert game == arena.client.get(f"{API}/games/{game['number']}").json
        record = arena.client.get(f"{API}/games/{game['number']}/record").text
        parsed = parse_record(record)
        prove(parsed)
        assert parsed.digest() == game["digest"]
        assert len(parsed.plies) == game["plies"]


def test_a_bot_on_a_ladder_is_as_the_board_has_it(arena: SimpleNamespace) -> None:
    """Its rank, its games, and against whom and from where they were."""
    board = arena.client.get(f"{API}/ladders/ladder-0/leaderboard").json
    for line in board["bots"]:
        found = arena.client.get(f"{API}/bots/{line['bot']}/ladders/ladder-0").json
        assert (found["version"], found["rank"]) == (line["version"], line["rank"])
        assert (found["ranked"], found["games"]) == (board["ranked"], line["games"])
        for key in ("games", "wins", "draws", "losses"):
            assert sum(one[key] for one in found["opponents"]) == line[key]
        assert sum(one["games"] for one in found["seats"]) == line["games"]
        assert found["version"] in {one["version"] for one in found["versions"]}
        own = [after for after in found["history"] if after["version"] == found["version"]]
        assert [after["rating"] for after in own[-1:]] in ([], [line["rating"]])
        (on,) = [
            one
            for one in arena.client.get(f"{API}/bots/{line['bot']}").json["ladders"]
            if (one["competition"], one["version"]) == ("ladder-0", line["version"])
        ]
        assert on == {key: found[key] for key in on}


def test_an_older_version_on_a_ladder_is_asked_for(arena: SimpleNamespace) -> None:
    """It is by its number; what is not there is said."""
    there = f"{API}/bots/bot-0/ladders/ladder-0"
    assert arena.client.get(f"{there}?version=1").json["version"] == 1
    for address, words in (
        (f"{there}?version=9", "The bot bot-0:9 is on no ladder ladder-0."),
        (f"{API}/bots/bot-0/ladders/none", "The bot bot-0 is on no ladder none."),
        (f"{API}/bots/none/ladders/ladder-0", "There is no bot none."),
    ):
        answer = arena.client.get(address)
        assert (answer.status_code, answer.json["detail"]) == (404, words)


def test_ladders_and_matches_say_what_goes_on(arena: SimpleNamespace) -> None:
    """As their pages do: how many run and how far, or why none does."""
    lively = arena.client.get(f"{API}/ladders/ladder-0").json
    board = arena.client.get(f"{API}/ladders/ladder-0/leaderboard").json
    assert (lively["running"], lively["quiet"]) == (board["running"], None)
    assert lively["running"] > 0
    still = arena.client.get(f"{API}/ladders/ladder-1").json
    assert (still["running"], bool(still["quiet"])) == (0, True)
    running = arena.client.get(f"{API}/matches/{arena.numbers['running']}").json["running"]
    assert running["of_match"] == 2
    assert all(move.partition(":")[0] in "12" for move in running["moves"])
    assert arena.client.get(f"{API}/matches/{arena.numbers['played']}").json["running"] is None


@pytest.mark.parametrize(
    "address", ["/games/{trio}/record", "/matches/{played}", "/games/{trio}", "/ladders/ladder-0"]
)
def test_who_has_it_already_is_told_so(arena: SimpleNamespace, address: str) -> None:
    """A strong tag comes with each answer, and with it the same is not sent again."""
    there = API + address.format(**arena.numbers)
    first = arena.client.get(there)
    tag = first.headers["ETag"]
    assert tag.startswith('"')
    again = arena.client.get(there, headers={"If-None-Match": tag})
    assert (again.status_code, again.data) == (304, b"")
    assert again.headers["ETag"] == tag
    other = arena.client.get(there, headers={"If-None-Match": '"other"'})
    assert (other.status_code, other.data) == (200, first.data)


def test_a_changed_thing_has_another_tag(arena: SimpleNamespace) -> None:
    """What was kept is not taken for the present state."""
    there = f"{API}/matches/{arena.numbers['running']}"
    tag = arena.client.get(there).headers["ETag"]
    with arena.database.begin() as session:
        session.get_one(Match, arena.numbers["running"]).problem = "something"
    assert arena.client.get(there, headers={"If-None-Match": tag}).status_code == 200


@pytest.mark.parametrize(
    ("method", "address", "status", "words"),
    [
        ("GET", "/nothing", 404, "There is nothing at this address."),
        ("GET", "/ladders/none", 404, "There is no ladder none."),
        ("GET", "/ladders/a%00b", 404, "There is nothing at this address."),
        ("GET", "/games/2147483647", 404, "There is no game 2147483647."),
        ("GET", "/games/2147483648", 404, "There is nothing at this address."),
        ("GET", "/games/01", 404, "There is nothing at this address."),
        ("GET", f"/games/{'9' * 5000}", 404, "There is nothing at this address."),
        ("GET", "/games/-1", 404, "There is nothing at this address."),
        ("GET", "/games?limit=0", 422, "limit: "),
        ("GET", "/games?limit=101", 422, "limit: "),
        ("GET", "/games?limit=x", 422, "limit: "),
        ("GET", "/games?entrant=2147483648", 422, "entrant: "),
        ("GET", "/games?cursor=Z", 422, "cursor: "),
        ("GET", "/games?cursor=ffffffffff", 422, "cursor: "),
        ("GET", "/games?competition=a%00b", 422, "has the character NUL: leave it out"),
        ("GET", "/games?competition=nope", 404, "There is no competition nope."),
        ("GET", "/matches?competition=nope", 404, "There is no competition nope."),
        ("GET", "/games?sort=up", 422, "sort: "),
        ("GET", "/ladders/ladder-0/games.jsonl?after=x", 422, "after: "),
        ("GET", "/ladders/ladder-0/games.jsonl?after=1&after=2", 422, "after: "),
        ("GET", "/ladders/cup/games.jsonl", 404, "There is no ladder cup."),
        ("GET", "/games.jsonl?ending=boredom", 422, "ending: "),
        ("GET", "/games.jsonl?plies=many", 409, "Plies: give a number of plies"),
        ("GET", "/games.csv?bot=nobody", 404, "There is no bot nobody."),
        ("GET", "/games?cursor=1.2.3", 422, "cursor: "),
        ("GET", "/games?competition=none", 404, "There is no competition none."),
        ("GET", "/games/counts?since=2026-02-30", 409, "Since: give a day"),
        ("GET", "/games/counts?worker=one", 403, "for organisers"),
        ("GET", "/games.jsonl?competition=none", 404, "There is no competition none."),
        ("GET", "/account", 401, "sign in and do it again, or send a token"),
        ("DELETE", "/ladders", 405, "in this way"),
    ],
)
def test_refusals_are_problem_documents(
    arena: SimpleNamespace, method: str, address: str, status: int, words: str
) -> None:
    """All of one kind, with a sentence, and none of them a page."""
    answer = arena.client.open(f"{API}{address}", method=method)
    assert answer.status_code == status
    assert answer.mimetype == "application/problem+json"
    assert set(answer.json) == {"type", "title", "status", "detail"}
    assert answer.json["status"] == status
    assert words in answer.json["detail"]
    if status == 401:
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    if status == 405:
        assert "GET" in answer.headers["Allow"]


def test_a_fault_of_ours_is_a_problem_too(arena: SimpleNamespace) -> None:
    """Without a word of what went wrong inside."""
    arena.app.testing, arena.app.config["PROPAGATE_EXCEPTIONS"] = False, False
    try:
        with arena.database.begin() as session:
            session.execute(
                sa.update(PlayedGame)
                .where(PlayedGame.id == arena.numbers["solo"])
                .values(record=b"no record")
            )
        answer = arena.client.get(f"{API}/games/{arena.numbers['solo']}/record")
    finally:
        arena.app.testing, arena.app.config["PROPAGATE_EXCEPTIONS"] = True, None
    assert (answer.status_code, answer.mimetype) == (500, "application/problem+json")
    assert "zlib" not in answer.text


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize(
    "there", ["/ladders/ladder-0/games.jsonl?", "/games.jsonl?competition=ladder-0&"]
)
def test_a_ladders_games_are_exported(arena: SimpleNamespace, there: str, packed: bool) -> None:
    """Every game is a line that proves itself; who was interrupted goes on where it ended."""
    headers = {"Accept-Encoding": "gzip"} if packed else {}
    answer = arena.client.get(f"{API}{there}", headers=headers)
    assert answer.mimetype == "application/x-ndjson"
    text = gzip.decompress(answer.data).decode() if packed else answer.text
    lines = [json.loads(line) for line in text.splitlines()]
    numbers = [line["number"] for line in lines]
    games = listed(arena, f"{API}/games?competition=ladder-0")
    assert numbers == sorted(game["number"] for game in games)
    assert answer.headers["X-Total-Count"] == str(len(games))
    for text_line, game in zip(text.splitlines(), reversed(games), strict=True):
        assert parse_record(text_line).digest() == game["digest"]
    rest = arena.client.get(f"{API}{there}after={numbers[2]}")
    assert [json.loads(line)["number"] for line in rest.text.splitlines()] == numbers[3:]
    assert rest.headers["X-Total-Count"] == str(len(numbers) - 3)


def test_games_of_a_strength_test_are_exported(arena: SimpleNamespace) -> None:
    """Those, and no others."""
    name = f"test-{arena.numbers['test']}"
    there = f"{API}/games.jsonl?competition={name}"
    nothing = arena.client.get(there)
    assert (nothing.status_code, nothing.text, nothing.headers["X-Total-Count"]) == (200, "", "0")
    number = arena.numbers["trio"]
    with arena.database.begin() as session:
        game = session.get_one(PlayedGame, number)
        ladder = game.competition_id
        of_name = sa.select(Competition.id).where(Competition.name == name)
        game.competition_id = session.scalars(of_name).one()
        listed_seat = sa.update(ListedSeat).where(ListedSeat.game_id == number)
        session.execute(listed_seat.values(competition_id=game.competition_id))
    try:
        lines = arena.client.get(there).text.splitlines()
        assert [json.loads(line)["number"] for line in lines] == [number]
    finally:
        with arena.database.begin() as session:
            session.get_one(PlayedGame, number).competition_id = ladder
            session.execute(listed_seat.values(competition_id=ladder))


@pytest.mark.long
def test_an_export_is_sent_as_it_is_made(arena: SimpleNamespace) -> None:
    """The memory that it takes does not grow with the games."""
    copies, size = 3000, 20_000
    with arena.database.begin() as session:
        game = session.get_one(PlayedGame, arena.numbers["trio"])
        about = {
            column.key: getattr(game, column.key)
            for column in sa.inspect(PlayedGame).columns
            if column.key not in ("id", "number", "record")
        }
        filler = (HOSTILE * size)[:size].encode()
        stored = zlib.compress(json.dumps({"record": 1, "x": filler.decode()}).encode(), 1)
        rows = [{**about, "number": 10 + n, "record": stored} for n in range(copies)]
        made = session.scalars(sa.insert(PlayedGame).returning(PlayedGame.id), rows).all()
        seat = session.get_one(ListedSeat, (game.id, 0))
        its = {column.key: getattr(seat, column.key) for column in sa.inspect(ListedSeat).columns}
        session.execute(sa.insert(ListedSeat), [its | {"game_id": number} for number in made])
        name = game.competition.name
    tracemalloc.start()
    try:
        answer = arena.client.get(f"{API}/ladders/{name}/games.jsonl", buffered=False)
        sent = sum(len(part) for part in answer.response)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        answer.close()
        with arena.database.begin() as session:
            session.execute(sa.delete(ListedSeat).where(ListedSeat.game_id.in_(made)))
            session.execute(sa.delete(PlayedGame).where(PlayedGame.number >= 10))
    assert sent > copies * size
    assert peak < sent / 4
