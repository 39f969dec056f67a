"""Playing against bots through the pages: by clicks, by forms, and only in one's own games."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from html import unescape
from random import Random

import pytest
import sqlalchemy as sa

from arena import sittings
from arena.ground.db import Database
from arena.models import BotVersion, Check, JobStatus, Ladder, Match, Sitting
from engine import sitting
from engine.games import GAMES
from engine.player import CrashError
from engine.plurals import counted
from engine.record import replay
from tests.arena.simulator import give_sign
from tests.arena.test_sittings import SMALL, Table
from tests.arena.web.signing_in import Browser, pages, person, signed_in
from tests.engine.players import Scripted

MAIN = [(game.name, dict(game.offered[0].options)) for game in GAMES.singles.values()]
# One on a board, and one without squares, that has nothing but buttons.
MAIN += [(name, {}) for name in ("openspiel:chess", "openspiel:nim") if name in GAMES]
PUZZLE = ("puzzle", {"task": "tetrominoes"})


class Room(Table):
    """A table with a site before it, and two people at their browsers."""

    def __init__(self, database: Database, variants: list[tuple[str, dict[str, str]]]) -> None:
        super().__init__(database, variants)
        self.app = pages(database)
        person(database, "ada")
        person(database, "eve")
        self.ada, self.eve = signed_in(self.app, "ada"), signed_in(self.app, "eve")

    def start(self, browser: Browser, number: int = 0, **more: str) -> str:
        """Begins a game by the form, and gives the address of its page."""
        address = f"/play/on/ladder-{number}"
        page = browser.get(address).text
        fields = {"form": named(page, "form"), "place": "0"}
        for name in re.findall(r'<select name="(bot\d)"', page):
            fields[name] = str(self.bots[0])
        answer = browser.post(address, {**fields, **more}, page=address)
        assert answer.status_code == 303, answer.text
        return str(answer.location)

    def serve(self, address: str) -> None:
        """Lets a worker make the moves that are due."""
        number = int(address.rsplit("/", 1)[1])
        while self.look(number).status is JobStatus.OPEN:
            self.record(self.answer(self.issue_one()))


def named(page: str, name: str) -> str:
    """The value of a field of a page's form."""
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    assert found, name
    return found[1]


def links(page: str, kind: str) -> list[str]:
    """The addresses behind the squares of a kind."""
    return [unescape(one) for one in re.findall(rf'<a class="click {kind}" href="([^"]+)"', page)]


@pytest.fixture
def room(database: Database) -> Iterator[Room]:
    made = Room(database, [SMALL, PUZZLE])
    yield made
    made.app.extensions["arena.database"].close()


@pytest.mark.parametrize("number", range(len(MAIN)), ids=[name for name, _ in MAIN])
def test_every_game_is_played_by_links_and_forms(sqlite_database: Database, number: int) -> None:
    """Without a script: square after square by links, and the button that they lead to."""
    room = Room(sqlite_database, [MAIN[number]])
    chance = Random(3)
    address = room.start(room.ada)
    for _ in range(3):
        room.serve(address)
        page = room.ada.get(address).text
        if "Your turn" not in page:
            break
        for _ in range(8):
            if found := re.search(r'name="move" value="([^"]+)" id="confirm"', page):
                move = unescape(found[1])
                break
            words = re.findall(r'<li class="open"><a role="button"[^>]* href="([^"]+)"', page)
            words = words or re.findall(r'class="small" href="([^"]+)" data-at>[^U]', page)
            on = links(page, "on") or links(page, "first")
            page = room.ada.get(unescape(chance.choice(on or words))).text
        fields = {"move": move, "ply": named(page, "ply")}
        assert room.ada.post(f"{address}/move", fields, page=address).status_code == 303
    room.serve(address)
    page = room.ada.get(address).text
    if "Give up" in page:
        room.ada.post(f"{address}/resign", {"ply": named(page, "ply")}, page=address)
    page = room.ada.get(address).text
    assert 'id="replay"' in page
    record = sittings.record_of(room.look(int(address.rsplit("/", 1)[1])))
    assert len(record.plies) >= 3
    if record.ranks:
        replay(record)
    for part in ("/0", "/1/board", "/1.svg", ".json"):
        assert room.ada.get(address + part).status_code == 200, part
    assert address in room.ada.get("/play").text
    room.app.extensions["arena.database"].close()


def test_the_board_says_what_may_be_clicked(room: Room) -> None:
    """Clobber on 4x3: a2 is White's; clicked, its neighbours light up, and it can be let go."""
    address = room.start(room.ada)
    page = room.ada.get(address).text
    assert "Your turn" in page
    assert f"{address}?at=a2" in links(page, "first")
    page = room.ada.get(f"{address}?at=a2").text
    assert sorted(links(page, "on")) == [f"{address}?at=a2&at={end}" for end in ("a1", "a3", "b2")]
    assert links(page, "chosen") == [address]
    assert page.count('class="target"') == 3
    assert 'aria-label="a1, black stone: play a2a1"' in page
    assert f"{address}?at=b1" in links(page, "other")
    page = room.ada.get(f"{address}?at=a2&at=a1").text
    assert 'value="a2a1" id="confirm"' in page
    assert f'id="undo" href="{address}?at=a2"' in page
    # The move is drawn before it is played: the white stone stands on a1.
    assert "white stone: a1" in page
    assert room.look(1).plies == 0
    # What begins no move is forgotten.
    assert links(room.ada.get(f"{address}?at=zz").text, "first") == links(
        room.ada.get(address).text, "first"
    )


def test_what_pieces_of_a_puzzle_may_do(room: Room) -> None:
    """The moves of one piece, for the script that holds it over the board."""
    address = room.start(room.ada, 1)
    page = room.ada.get(address).text
    assert page.count('class="piece-button"') == 4 * 5  # five tetrominoes of each colour
    found = room.ada.get(f"{address}/moves?at=blue O4").json
    assert len(found) == 7 * 9  # a square of 2x2 on 8 files and 10 ranks
    assert found["blue:a1,a2,b1,b2"] == ["a1", "a2", "b1", "b2"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("fields", "status", "words"),
    [
        ({"move": "a1a1", "ply": "0"}, 422, "is not legal here: a move takes one of your stones"),
        ({"move": "<b>" + "x" * 300, "ply": "0"}, 422, "is not legal here"),
        ({"move": "", "ply": "0"}, 422, "is not legal here"),
        ({"move": "a2a1", "ply": "7"}, 409, "The game went on meanwhile, so nothing was done."),
        ({"move": "a2a1"}, 409, "The game went on meanwhile"),
        ({"move": "a2a1", "ply": "-1"}, 409, "The game went on meanwhile"),
    ],
)
def test_moves_that_are_refused(
    room: Room, fields: dict[str, str], status: int, words: str
) -> None:
    """They come back with a reason, and the game stands as it stood."""
    address = room.start(room.ada)
    answer = room.ada.post(f"{address}/move", fields, page=address)
    assert answer.status_code == status
    assert words in unescape(answer.text)
    assert "<b>" not in answer.text
    assert room.look(1).plies == 0


def test_a_form_that_is_sent_twice(room: Room) -> None:
    """The second of two moves of one ply is refused, and one form begins one game."""
    address = room.start(room.ada, form="one")
    assert room.start(room.ada, form="one") == address
    fields = {"move": "a2a1", "ply": "0"}
    assert room.ada.post(f"{address}/move", fields, page=address).status_code == 303
    assert room.ada.post(f"{address}/move", fields, page=address).status_code == 409
    assert room.look(1).plies == 1


def test_nobody_moves_for_another(room: Room) -> None:
    """Others may look on; forms of theirs, and those from elsewhere, are refused."""
    address = room.start(room.ada)
    stranger = Browser(room.app)
    for looks in (room.eve, stranger):
        page = looks.get(address)
        assert page.status_code == 200
        assert 'class="click' not in page.text
        assert "Give up" not in page.text
    fields = {"move": "a2a1", "ply": "0"}
    for deed in ("move", "resign"):
        assert room.eve.post(f"{address}/{deed}", fields, page="/account").status_code == 403
        assert stranger.post(f"{address}/{deed}", fields).status_code == 401
        assert room.ada.client.post(f"{address}/{deed}", data=fields).status_code == 400
        assert room.ada.post(f"/play/999/{deed}", fields, page=address).status_code == 404
    assert room.look(1).plies == 0
    assert address not in room.eve.get("/play").text


def test_while_a_bot_thinks_the_page_waits(room: Room) -> None:
    """It renews itself, has nothing to click, and tells of a bot that fails."""
    address = room.start(room.ada, place="1")
    page = room.ada.get(address).text
    assert 'hx-trigger="every 700ms"' in page
    assert 'class="click' not in page
    job = room.issue_one()
    assert room.record(room.answer(job, Scripted(CrashError("exit status 1"))))
    page = unescape(room.ada.get(address).text)
    assert "White's bot (bot-0 v1) left before the first ply: crash, exit status 1" in page
    assert "hx-trigger" not in page


def test_what_bots_did_is_heard(room: Room) -> None:
    """Their answers since one's own move stand beside the board while the next one is chosen."""
    address = room.start(room.ada)
    room.ada.post(f"{address}/move", {"move": "a2a1", "ply": "0"}, page=address)
    room.serve(address)
    played = sittings.record_of(room.look(1)).plies[-1].move
    for clicks in ("", "?at=b1"):
        assert f"Black played <code>{played}</code>." in room.ada.get(address + clicks).text


def test_a_puzzle_is_taken_back(room: Room) -> None:
    """Move by move, as far as the opening; also after the game was stopped, but not given up."""
    address = room.start(room.ada, 1)

    def do(deed: str, **fields: str) -> int:
        ply = str(room.look(1).plies)
        sent = {"ply": ply, **fields}
        return room.ada.post(f"{address}/{deed}", sent, page=address).status_code

    assert do("back") == 409
    assert do("move", move="red:a1,a2,a3,b1") == 303
    assert 'title="Take red:a1,a2,a3,b1 back"' in room.ada.get(address).text
    assert do("back", ply="0") == 409
    assert do("move", move="stop") == 303
    assert room.look(1).finished is not None
    assert "Take the last move back" in room.ada.get(address).text
    assert [do("back"), room.look(1).finished, room.look(1).plies] == [303, None, 1]
    assert [do("back"), room.look(1).plies] == [303, 0]
    assert do("move", move="red:a1,a2,a3,b1") == 303
    # To give up keeps nothing, which is said before.
    assert "It then ends so: <bdi>Solver (ada) resigned after ply 1. 0 points." in unescape(
        room.ada.get(address).text
    )
    assert do("resign") == 303
    assert do("back") == 409
    against = room.start(room.ada)
    room.ada.post(f"{against}/move", {"move": "a2a1", "ply": "0"}, page=against)
    assert room.ada.post(f"{against}/back", {"ply": "1"}, page=against).status_code == 409


def test_what_can_be_taken_back_is_not_kept(room: Room) -> None:
    """Another move may come in the place of one that was looked at, also after the end."""
    address, boards = room.start(room.ada, 1), []
    for move in ("red:a1,a2,a3,b1", "stop"):
        room.ada.post(f"{address}/move", {"move": move, "ply": "0"}, page=address)
        for what in ("/0/board", "/1/board", "/1.svg"):
            answer = room.ada.get(address + what)
            assert "max-age" not in answer.headers["Cache-Control"]
        boards.append(room.ada.get(f"{address}/1/board").text)
        room.ada.post(f"{address}/back", {"ply": "1"}, page=address)
    assert boards[0] != boards[1]


@pytest.mark.long
def test_no_more_games_go_on_by_taking_back(room: Room) -> None:
    """Whoever has as many as may be ends one first."""
    ended = room.start(room.ada, 1, form="0")
    for move in ("red:a1,a2,a3,b1", "stop"):
        fields = {"move": move, "ply": str(room.look(1).plies)}
        room.ada.post(f"{ended}/move", fields, page=ended)
    for number in range(1, 6):
        room.start(room.ada, 1, form=str(number))
    answer = room.ada.post(f"{ended}/back", {"ply": "2"}, page=ended)
    assert answer.status_code == 409
    assert "You have 5 games that are not over" in answer.text
    assert room.look(1).finished is not None


def test_moves_are_confirmed_unless_one_wants_otherwise(room: Room) -> None:
    """It is remembered for the browser, in all games; to stop a puzzle is asked about anyway."""
    address = room.start(room.ada)
    for at_once in ("yes", ""):
        fields = {"at_once": at_once}
        assert room.ada.post(f"{address}/asking", fields, page=address).status_code == 303
        page = room.ada.get(f"{address}?at=a2").text
        assert page.count('data-move="a2') == (3 if at_once else 0)
        assert ("data-at-once" in page) == bool(at_once)
        puzzle = room.ada.get(room.start(room.ada, 1, form="p")).text
        assert ("data-at-once" in puzzle, "data-move=" in puzzle) == (bool(at_once), False)


def test_the_last_moves_of_all_opponents_are_marked(database: Database) -> None:
    """In Blokus three colours play between two moves of one's own; all are seen and named."""
    room = Room(database, [("blokus", {"mode": "classic", "corners": "fixed"})])
    address = room.start(room.ada)
    for _ in range(2):
        record = sittings.record_of(room.look(1))
        move = sitting.position(record).legal_moves()[0]
        fields = {"move": move, "ply": str(len(record.plies))}
        room.ada.post(f"{address}/move", fields, page=address)
        room.serve(address)
    page, played = room.ada.get(address).text, sittings.record_of(room.look(1)).plies[-3:]
    for ply, name in zip(played, ("Yellow", "Red", "Green"), strict=True):
        assert f"{name} played <code>{ply.move}</code>." in page
    squares = sum(len(ply.move.split(",")) for ply in played)
    assert page.count('class="last"') == squares
    room.app.extensions["arena.database"].close()


def test_what_a_bots_move_waits_for_is_told(room: Room) -> None:
    """The matches that the workers play meanwhile; while there is none, it is begun at once."""

    with room.database.begin() as session:
        session.execute(sa.update(Ladder).values(state="open"))
    assert room.issue()
    address = room.start(room.ada, place="1")

    def told() -> str:
        page = re.sub(r"<[^>]+>", "", room.ada.get(address).text)
        return " ".join(unescape(page).split())

    assert "White bot-0 v1 is to move, and no worker is there to start it." in told()
    with room.database.begin() as session:
        give_sign(session, "one", datetime.now(UTC), slots=2)
    assert "White bot-0 v1 is being started." in told()
    with room.database.begin() as session:
        session.execute(sa.update(Match).where(Match.status == "issued").values(worker="one"))
        match = session.scalars(sa.select(Match).order_by(Match.id.desc())).first()
        assert match is not None
        words = f"match {match.id}, {match.competition.title}"
        many = len(
            session.scalars(
                sa.select(Match).where(Match.worker == "one", Match.status == "issued")
            ).all()
        )
    busy = "The workers are busy with " + counted(many, "match", "matches")
    assert "White bot-0 v1 waits for a free worker. Undo Confirm" in told()  # which stay in place
    assert f"{busy}. Now is played: {words}" in told()
    with room.database.begin() as session:
        version = session.scalars(sa.select(BotVersion)).first()
        ladder = session.scalars(sa.select(Ladder)).first()
        at = datetime.now(UTC)
        its = {"status": JobStatus.ISSUED, "worker": "one", "created": at}
        its |= {"lease_ends": at, "ticket": "check"}
        session.add(Check(version=version, ladder=ladder, findings=[], **its))
    assert f"{busy} and 1 check. Now is played: {words}" in told()
    with room.database.begin() as session:
        session.execute(sa.update(Match).values(worker=None))
    assert "The workers are busy with 1 check." in told()


def test_a_person_has_no_cpu_time(room: Room) -> None:
    """Only that of bots is drawn when the game is over."""
    address = room.start(room.ada)
    room.ada.post(f"{address}/move", {"move": "a2a1", "ply": "0"}, page=address)
    room.serve(address)
    room.ada.post(f"{address}/resign", {"ply": "2"}, page=address)
    page = room.ada.get(address).text
    assert "CPU time of Black" in page
    assert "CPU time of White" not in page


def test_only_positions_that_can_not_change_are_kept(room: Room) -> None:
    """Whoever leaves a game changes its last position, and what stands below the board."""
    address = room.start(room.ada)
    room.ada.post(f"{address}/move", {"move": "a2a1", "ply": "0"}, page=address)

    def kept(what: str) -> bool:
        return "max-age" in room.ada.get(address + what).headers["Cache-Control"]

    assert [kept(what) for what in ("/0/board", "/0.svg")] == [True, True]
    assert [kept(what) for what in ("/1/board", "/1.svg")] == [False, False]
    assert ">Black to move<" in room.ada.get(f"{address}/1/board").text
    room.ada.post(f"{address}/resign", {"ply": "1"}, page=address)
    assert ">White left the game<" in room.ada.get(f"{address}/1/board").text
    assert [kept(what) for what in ("/1/board", "/1.svg")] == [True, True]


def test_what_people_did_is_told_of_people(room: Room) -> None:
    """Not of their bots."""
    address = room.start(room.ada)
    assert "<title>Your turn: " in room.ada.get(address).text
    room.ada.post(f"{address}/resign", {"ply": "0"}, page=address)
    page = unescape(room.ada.get(address).text)
    assert "<title>Over: " in page
    assert "<bdi>You lost. White (ada) resigned before the first ply. Black wins." in page
    assert "<bdi>White (ada) resigned" in unescape(room.eve.get(address).text)
    assert '<span class="lost">lost</span>' in room.ada.get("/play").text


def test_forms_of_a_new_game_that_are_refused(room: Room) -> None:
    """A seat or a bot that is not there; one's own choices are kept."""
    for wrong in ({"place": "9"}, {"bot1": "999999"}, {"bot1": "x"}):
        fields = {"form": "f", "place": "0", "bot1": str(room.bots[0]), **wrong}
        answer = room.ada.post("/play/on/ladder-0", fields, page="/account")
        assert answer.status_code == 422, wrong
        assert 'role="alert">Choose' in answer.text
    assert room.ada.get("/play/on/nowhere").status_code == 404
    with room.database.begin() as session:
        session.execute(sa.update(Ladder).values(state="closed"))
    closed = room.ada.post("/play/on/ladder-0", fields, page="/account")
    assert closed.status_code == 422
    assert "is closed" in closed.text


def test_the_bot_that_one_comes_from_is_chosen(room: Room) -> None:
    """Whatever letters the address has it in."""
    with room.database.read() as session:
        name = session.get_one(BotVersion, room.bots[1]).bot.name
    page = room.ada.get(f"/play/on/ladder-0?bot={name.swapcase()}").text
    assert re.findall(r'<option value="(\d+)" selected>', page) == [str(room.bots[1])]


@pytest.mark.parametrize(
    ("play", "begin", "guest"),
    [("everybody", 200, True), ("people", 302, False), ("nobody", 403, False)],
)
def test_who_may_play(room: Room, play: str, begin: int, guest: bool) -> None:
    """The setting decides; a guest's games are the browser's in which they began."""
    app = pages(room.database, play=play)
    browser = Browser(app)
    assert browser.get("/play").status_code == 200
    assert browser.get("/play/on/ladder-0").status_code == begin
    if guest:
        address = room.start(browser)
        assert 'class="click' in browser.get(address).text
        assert 'class="click' not in Browser(app).get(address).text
        fields = {"move": "a2a1", "ply": "0"}
        assert Browser(app).post(f"{address}/move", fields).status_code == 403
        assert browser.post(f"{address}/move", fields, page=address).status_code == 303
        with room.database.read() as session:
            kept = session.scalars(sa.select(Sitting)).one()
            assert kept.user_id is None
            assert (
                sitting.position(sittings.record_of(sittings.find(session, kept.id))).to_move == 1
            )  # type: ignore[arg-type]
    app.extensions["arena.database"].close()
