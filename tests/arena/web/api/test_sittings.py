"""Games against bots, played by programs: as on the pages, and within the same limits."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
import sqlalchemy as sa

from arena.models import Sitting
from engine.games import GAMES
from tests.arena.web.api.test_writing import send

CLOBBER = GAMES["clobber"].variant(size="4x3")
BODY = {"ladder": "ladder-0", "bots": ["bot-1"], "place": 1}


@pytest.fixture(autouse=True)
def nobody_plays(arena: SimpleNamespace) -> None:
    """Ends what other tests began: only so many games may be open."""
    with arena.database.begin() as session:
        over = {"finished": sa.func.now(), "status": "fixed"}
        session.execute(sa.update(Sitting).where(Sitting.finished.is_(None)).values(**over))


def test_a_game_is_begun_seen_played_and_given_up(arena: SimpleNamespace) -> None:
    """The answers say what may be played, and the engine's rules agree."""
    made = send(arena, "POST", "/sittings", "other", json=BODY)
    assert made.status_code == 201, made.text
    start, there = CLOBBER.initial(), f"/sittings/{made.json['number']}"
    assert made.json["legal"] == list(start.legal_moves())
    assert (made.json["position"], made.json["played"]) == (start.text(), [])
    assert (made.json["to_move"], made.json["waits_for_bot"]) == (1, False)
    assert [seat["bot"] for seat in made.json["seats"]] == [None, "bot-1"]
    assert send(arena, "GET", there, "anonymous").json == made.json
    move = made.json["legal"][0]
    after = send(arena, "POST", f"{there}/move", "other", json={"move": f" {move} ", "ply": 0})
    assert after.status_code == 200, after.text
    assert after.json["legal"] == list(start.play(move).legal_moves())
    assert (after.json["played"], after.json["to_move"]) == ([move], 2)
    assert after.json["waits_for_bot"] is True
    over = send(arena, "POST", f"{there}/resign", "other", json={"ply": 1}).json
    assert (over["to_move"], over["waits_for_bot"], over["legal"]) == (None, False, [])
    assert [seat["rank"] for seat in over["seats"]] == [2, 1]


def test_a_game_goes_on_from_a_line(arena: SimpleNamespace) -> None:
    """The moves are no one's of the game: it begins behind them, with either seat."""
    first = CLOBBER.initial().legal_moves()[0]
    after = CLOBBER.initial().play(first)
    second = after.legal_moves()[0]
    for place, to_move in ((1, 1), (2, 1)):
        body = {**BODY, "moves": [first, second], "place": place}
        made = send(arena, "POST", "/sittings", "other", json=body)
        assert made.status_code == 201, made.text
        assert made.json["played"] == [first, second]
        assert made.json["position"] == after.play(second).text()
        assert (made.json["to_move"], made.json["waits_for_bot"]) == (to_move, place == 2)
        record = send(arena, "GET", f"/sittings/{made.json['number']}/record", "other").json
        assert record["opening"] == 2


def test_nobody_waits_for_a_move_that_is_set_aside(arena: SimpleNamespace) -> None:
    """A program that looks again while a bot thinks must learn that nothing more comes."""
    made = send(arena, "POST", "/sittings", "other", json={**BODY, "place": 2}).json
    assert (made["waits_for_bot"], made["problem"]) == (True, "")
    there = f"/sittings/{made['number']}"
    with arena.database.begin() as session:
        aside = {"status": "set aside", "problem": "its lease ran out", "failures": 3}
        session.execute(sa.update(Sitting).where(Sitting.id == made["number"]).values(**aside))
    found = send(arena, "GET", there, "anonymous").json
    assert (found["waits_for_bot"], found["problem"]) == (False, "its lease ran out")
    over = send(arena, "POST", f"{there}/resign", "other", json={"ply": 0}).json
    assert (over["waits_for_bot"], over["problem"]) == (False, "")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"bots": ["nobody"]}, "No bot 'nobody' plays clobber on a ladder here."),
        ({"bots": ["bot-1:9"]}, "No bot 'bot-1:9' plays clobber"),
        ({"bots": ["bot-1:x"]}, "'bot-1:x' names no bot"),
        ({"bots": []}, "is played against 1 bot."),
        ({"bots": ["bot-1", "bot-3"]}, "is played against 1 bot."),
        ({"place": 3}, "Choose one of the seats: "),
        ({"moves": ["z9"]}, "'z9' is not legal here"),
        ({"moves": ["a2a1"], "opening": "random"}, "Give moves and a start, or a random opening"),
        ({"start": {"fen": "x"}}, "clobber has no option 'fen'"),
        ({"start": {"size": "5x6"}}, "size"),
    ],
)
def test_what_cannot_be_played_is_refused(
    arena: SimpleNamespace, change: dict[str, object], words: str
) -> None:
    """With a sentence; and nothing is begun."""
    refused = send(arena, "POST", "/sittings", "other", json={**BODY, **change})
    assert refused.status_code == 409, refused.text
    assert words in refused.json["detail"]


def test_a_repeated_request_plays_nothing_twice(arena: SimpleNamespace) -> None:
    """The same key is the same game, and a move belongs to its ply."""
    made, again = (
        send(arena, "POST", "/sittings", "other", json={**BODY, "key": "once"}) for _ in range(2)
    )
    assert made.json["number"] == again.json["number"]
    there = f"/sittings/{made.json['number']}/move"
    first, *_ = made.json["legal"]
    body = {"move": first, "ply": 0}
    assert send(arena, "POST", there, "other", json={**body, "move": "a1z9"}).status_code == 409
    assert send(arena, "POST", there, "other", json=body).status_code == 200
    repeated = send(arena, "POST", there, "other", json=body)
    assert (repeated.status_code, "went on meanwhile" in repeated.json["detail"]) == (409, True)


def test_a_game_is_its_players_own(arena: SimpleNamespace) -> None:
    """Others look on; nobody moves for them."""
    made = send(arena, "POST", "/sittings", "other", json=BODY).json
    body = {"move": made["legal"][0], "ply": 0}
    for action in ("move", "resign", "back"):
        sent = {key: body[key] for key in (("move", "ply") if action == "move" else ("ply",))}
        there = f"/sittings/{made['number']}/{action}"
        assert send(arena, "POST", there, "administrator", json=sent).status_code == 403
        assert send(arena, "POST", there, "anonymous", json=sent).status_code == 401
    assert send(arena, "GET", f"/sittings/{made['number']}", "administrator").json["played"] == []
    assert send(arena, "POST", "/sittings/999999/move", "other", json=body).status_code == 404


def test_only_what_is_played_alone_is_taken_back(arena: SimpleNamespace) -> None:
    """Against a bot a move stands; a game played alone is in `arena/web/test_sittings.py`."""
    made = send(arena, "POST", "/sittings", "other", json=BODY).json
    there = f"/sittings/{made['number']}"
    body = {"move": made["legal"][0], "ply": 0}
    assert send(arena, "POST", f"{there}/move", "other", json=body).status_code == 200
    refused = send(arena, "POST", f"{there}/back", "other", json={"ply": 1})
    assert (refused.status_code, "that you play alone" in refused.json["detail"]) == (409, True)


def test_so_many_games_may_be_open_as_on_the_pages(arena: SimpleNamespace) -> None:
    """And none where playing is switched off."""
    known = arena.app.extensions["arena.settings"]
    for _ in range(known.open_games):
        assert send(arena, "POST", "/sittings", "other", json=BODY).status_code == 201
    refused = send(arena, "POST", "/sittings", "other", json=BODY)
    assert (refused.status_code, "not over" in refused.json["detail"]) == (409, True)
    arena.app.extensions["arena.settings"] = replace(known, play="nobody")
    try:
        refused = send(arena, "POST", "/sittings", "organiser", json=BODY)
    finally:
        arena.app.extensions["arena.settings"] = known
    assert (refused.status_code, "switched it off" in refused.json["detail"]) == (403, True)


def test_a_puzzle_is_played_alone(arena: SimpleNamespace) -> None:
    """Its ladder has one place, and nobody to name."""
    made = send(arena, "POST", "/sittings", "organiser", json={"ladder": "ladder-2"})
    assert made.status_code == 201, made.text
    assert [seat["bot"] for seat in made.json["seats"]] == [None]
