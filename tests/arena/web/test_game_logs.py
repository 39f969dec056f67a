"""What bots wrote and were told, beside the board: who sees it, and at which ply."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
import sqlalchemy as sa

from arena.ground.config import Settings
from arena.models import Bot, CoOwner, GameSeat, PlayedGame, Role, User
from arena.web.app import create_app
from tests.arena.web.conftest import furnish
from tests.arena.web.debugged import play_lost_game
from tests.arena.web.signing_in import Browser, person, signed_in
from tests.furnished import furnished_database

PEOPLE = {
    "ada": Role.PARTICIPANT,
    "mate": Role.PARTICIPANT,
    "rival": Role.PARTICIPANT,
    "other": Role.PARTICIPANT,
    "organiser": Role.ORGANISER,
    "administrator": Role.ADMINISTRATOR,
}
OURS = {"looked at 2 moves", "ValueError: bad hash", "go 6 clocks="}
THEIRS = {"secret plan", "go 5 clocks="}
ALL = OURS | THEIRS
PAGES = ("", "/6?tab=log", "/6?tab=protocol", "/6/log", "/logs/1", "/logs/2", "/logs/1?ply=6")
OF_THE_API = ("", "/record", "/logs/1", "/logs/2")
EVERYWHERE = [f"/games/{{0}}{one}" for one in PAGES] + [
    f"/api/v1/games/{{0}}{one}" for one in OF_THE_API
]


@pytest.fixture(scope="module")
def lost(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SimpleNamespace]:
    """A lost game of a bot of ada's and her mate's against a bot of a rival's."""
    folder = tmp_path_factory.mktemp("lost")
    with furnished_database(request, folder, furnish) as (database, _):
        number, record = play_lost_game(database)
        for name, role in PEOPLE.items():
            person(database, name, role)
        with database.begin() as session:
            people = {user.name: user.id for user in session.scalars(sa.select(User))}
            seats = session.get_one(PlayedGame, number).seats
            bots = [seat.entrant.version.bot for seat in seats]
            for bot, owner in zip(bots, ("ada", "rival"), strict=True):
                bot.owner_id = people[owner]
            session.add(CoOwner(bot_id=bots[0].id, user_id=people["mate"]))
            ours = bots[0].id
        app = create_app(Settings(database=database.url))
        app.testing = True
        browsers = {name: signed_in(app, name) for name in PEOPLE} | {"nobody": Browser(app)}
        yield SimpleNamespace(
            database=database, number=number, record=record, browsers=browsers, ours=ours
        )
        app.extensions["arena.database"].close()


@pytest.mark.parametrize("opened", [True, False], ids=["opened", "closed"])
def test_who_sees_what_a_bot_wrote_and_was_told(lost: SimpleNamespace, opened: bool) -> None:
    """Its owner and co-owners, on each page and by the API, and of their bot alone; all, if it is
    opened to all; and nobody else.
    """
    with lost.database.begin() as session:
        session.get_one(Bot, lost.ours).open_source = opened
    seen: dict[str, set[str]] = {}
    for name, browser in lost.browsers.items():
        answers = [browser.get(where.format(lost.number)) for where in EVERYWHERE]
        seen[name] = {one for one in ALL for answer in answers if one in answer.text}
        for answer in answers:
            shows = any(one in answer.text for one in ALL)
            assert answer.cache_control.no_store or not shows, answer.request.path
    with lost.database.begin() as session:
        session.get_one(Bot, lost.ours).open_source = False
    public = OURS if opened else set()
    assert seen == {
        name: {"ada": OURS, "mate": OURS, "rival": THEIRS}.get(name, set()) | public
        for name in lost.browsers
    }


def test_a_crash_stands_among_the_moves(lost: SimpleNamespace) -> None:
    """With its last line for who may read it; for others it is the kind of fault alone."""
    for name, words in [("mate", "White crash: ValueError: bad hash"), ("rival", "White crash")]:
        page = lost.browsers[name].get(f"/games/{lost.number}").text
        (item,) = re.findall(r'<li class="left" value="7">(.*?)</li>', page, re.DOTALL)
        assert " ".join(re.sub("<[^>]*>", "", item).split()) == words
        assert f'href="/games/{lost.number}/6" data-ply="6"' in item


@pytest.mark.parametrize(
    ("ply", "there", "elsewhere"),
    [
        (0, ["newgame clobber"], ["looked at", "Back to"]),
        (1, ["looked at 17 moves", "go 0 clocks=", "# depth 1", "move a2a1", "--ply 0 "], ["go 2"]),
        (2, ["Back to ply 1", "On to ply 3"], ["looked at", "go 1 ", "--ply"]),
        (6, ["ValueError: bad hash", "1:a2a1 2:a3b3", "Crash", "exit 1", "--ply 6 "], ["On to"]),
    ],
)
def test_each_position_has_its_own(
    lost: SimpleNamespace, ply: int, there: list[str], elsewhere: list[str]
) -> None:
    """What led there, whole; where the bot had no turn, the way to its nearest."""
    part = lost.browsers["ada"].get(f"/games/{lost.number}/{ply}/log").text
    assert [one for one in there if one not in part] == []
    assert [one for one in elsewhere if one in part] == []
    alone = lost.browsers["ada"].get(f"/games/{lost.number}/logs/1?ply={ply}").text
    assert [one for one in there[:2] if " to ply " not in one and one not in alone] == []
    assert lost.browsers["ada"].get(f"/games/{lost.number}/7/log").status_code == 404


def test_a_log_that_was_forgotten(lost: SimpleNamespace) -> None:
    """Then there is nothing to see, and that is said."""
    with lost.database.begin() as session:
        seat = session.get_one(GameSeat, (lost.number, 1))
        kept, seat.log = seat.log, ""
    page = lost.browsers["rival"].get(f"/games/{lost.number}/2?tab=log").text
    assert "or it was kept long enough, for 90 days" in page
    assert "The whole log" not in page
    with lost.database.begin() as session:
        session.get_one(GameSeat, (lost.number, 1)).log = kept
