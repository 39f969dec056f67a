"""A person's game in earnest: at the pages and by the API, a real worker, a bot in its box."""

from __future__ import annotations

import json
import re
import urllib.parse
import urllib.request
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from html import unescape
from http.cookiejar import CookieJar
from pathlib import Path
from random import Random
from typing import Any

import pytest
import sqlalchemy as sa

from arena.audit import ARENA
from arena.ground.db import Database
from arena.models import Role, Scope, User
from arena.people.accounts import add_token
from engine.analysis import Tree
from engine.games import GAMES, find_variant
from engine.record import GameRecord, replay
from tests.arena.running import RunningArena, short_folder, until
from tests.arena.test_end_to_end import furnish_small

SEED = 4


class Guest:
    """Somebody at a browser, without an account."""

    def __init__(self, base: str) -> None:
        self.base = base
        cookies = urllib.request.HTTPCookieProcessor(CookieJar())
        self._opener = urllib.request.build_opener(cookies)

    def get(self, path: str, fields: dict[str, str] | None = None) -> tuple[str, str]:
        """The address that a page was found at in the end, and its text; a form if there is one."""
        data = urllib.parse.urlencode(fields).encode() if fields else None
        with self._opener.open(self.base + path, data, timeout=30) as answer:
            return urllib.parse.urlparse(answer.url).path, unescape(answer.read().decode())


def field(page: str, name: str) -> str:
    """The value of a field of a form."""
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    assert found, name
    return found[1]


@pytest.mark.long
@pytest.mark.timeout(240)
def test_a_guest_plays_a_game_to_its_end() -> None:
    """Every move of the bot is a job of its own; the record is proven by the rules."""
    chance = Random(SEED)
    with (
        short_folder() as data,
        closing(Database(f"sqlite:///{data}/arena.db")) as database,
        RunningArena(data, ARENA_PLAY="everybody") as running,
    ):
        oxoxo = GAMES["oxoxo"]
        furnish_small(database, oxoxo, oxoxo.variant(), kept=("random",))
        running.start()
        guest = Guest(f"http://127.0.0.1:{running.port}")

        def bots() -> list[str]:
            _, page = guest.get("/play/on/oxoxo")
            return re.findall(r'<option value="(\d+)">random v1', page)

        until(bots, "a bot that has passed its check", seconds=120, pause=0.5)
        _, page = guest.get("/play/on/oxoxo")
        fields = {name: field(page, name) for name in ("csrf_token", "form")}
        address, page = guest.get("/play/on/oxoxo", {**fields, "place": "1", "bot1": bots()[0]})

        def my_turn() -> bool:
            nonlocal page
            page = guest.get(address)[1]
            return "Your turn" in page or 'id="replay"' in page

        for _ in range(101):  # Oxoxo ends after 200 plies
            until(my_turn, "the bot's move")
            if 'id="replay"' in page:
                break
            moves = re.findall(r"<option>(\w+)</option>", page)
            fields = {name: field(page, name) for name in ("csrf_token", "ply")}
            guest.get(f"{address}/move", {**fields, "move": chance.choice(moves)})
        record = GameRecord.from_json(json.loads(guest.get(f"{address}.json")[1]))
        replay(record)
        assert record.players == ("random v1", "guest")
        assert all((ply.cpu_us is not None) == (ply.seat == 0) for ply in record.plies)
        _play_by_program(f"http://127.0.0.1:{running.port}/api/v1/sittings", _token(data))
        # The supervisor ends with all that it started.
        running.interrupt()
        assert running.wait() == 0


def _token(data: Path) -> str:
    """A token of the administrator, whom the first start made."""
    with closing(Database(f"sqlite:///{data}/arena.db")) as database, database.begin() as session:
        owner = session.scalars(sa.select(User).where(User.role == Role.ADMINISTRATOR)).one()
        return add_token(session, ARENA, owner, "program", [Scope.SUBMIT], datetime.now(UTC))


def _play_by_program(sittings: str, token: str) -> None:
    """The same by the API: the bot answers, and answers what was played."""

    def ask(there: str, **body: object) -> Any:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        sent = json.dumps(body).encode() if body else None
        with urllib.request.urlopen(urllib.request.Request(there, sent, headers)) as answer:
            return json.load(answer)

    game = ask(sittings, ladder="oxoxo", bots=["random"], place=2)
    there = f"{sittings}/{game['number']}"
    for _ in range(2):

        def my_turn() -> bool:
            nonlocal game
            game = ask(there)
            return not game["waits_for_bot"]

        until(my_turn, "the bot's move")
        assert game["to_move"] == 2
        game = ask(f"{there}/move", move=game["legal"][0], ply=game["plies"])
    until(my_turn, "the bot's move")
    assert len(game["played"]) == 5
    _ask_a_bot(ask, sittings.partition("/sittings")[0], game)
    over = ask(f"{there}/resign", ply=5)
    assert [seat["rank"] for seat in over["seats"]] == [1, 2]


def _ask_a_bot(ask: Callable[..., Any], base: str, game: dict[str, Any]) -> None:
    """What a bot would have played at each of the moves: asked in its box, and proved."""
    line = {"game": game["variant"], "moves": " ".join(game["played"])}
    asked = ask(f"{base}/questions", **line, bots=["random"], whole=True, move_ms=100)
    assert (asked["asked"], asked["known"]) == (1, 0)
    there = f"{base}/answers?{urllib.parse.urlencode(line)}"
    until(lambda: len(ask(there)["items"]) == 6, "the bot's answers")
    tree = Tree.begin(find_variant(line["game"].split()[0], line["game"].split()[1:])).reading(
        line["moves"]
    )
    for answer in ask(there)["items"]:
        assert (answer["bot"], answer["fault"]) == ("random", None)
        assert answer["move"] in tree.states[answer["node"]].legal_moves()
        assert answer["cpu_us"] > 0
