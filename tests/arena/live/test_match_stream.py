"""A match under way as the command watch follows it."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import replace

import pytest
from rich.console import Console

from arena.cli import match_stream
from arena.cli.client import ServerFault
from arena.cli.match_stream import FollowedMatch, StreamEvent
from arena.cli.watch import (
    FAR,
    NEAR,
    QUICKEST_SECONDS,
    REST_SECONDS,
    SLOWEST_SECONDS,
    Watched,
    _print,
)
from arena.live.shows import NOTHING, LiveEvent
from engine.record import states
from tests.arena.live.test_shows import SPECS, Match


def follow(told: Iterable[LiveEvent]) -> FollowedMatch:
    """What a command knows that is told so much, by what travels."""
    match = FollowedMatch()
    for kind, _, data in told:
        match.take(StreamEvent(kind, json.loads(json.dumps(data))))
    return match


@pytest.mark.parametrize("name", SPECS)
def test_all_positions_come_from_the_moves(name: str) -> None:
    """The rules at hand make them; each ply comes once, though some are told again."""
    played = Match(*SPECS[name])
    show, seen, match = played.show(), NOTHING, FollowedMatch()
    for number, record in enumerate(played.records):
        for first in range(0, len(record.plies), 3):
            show.take(played.told(number, first, first + 3))
            events, seen = show.since(seen)
            for event in [*events, *events]:
                match.take(StreamEvent(event.kind, event.data))
    assert len(match.games) == len(played.records)
    for game, record in zip(match.games, played.records, strict=True):
        assert game.states == list(states(record))
        assert [ply[:3] for ply in game.plies] == [ply[:3] for ply in record.plies]
        names = [player for _, player in game.players]
        assert names == list(record.players)
        assert game.result


@pytest.mark.parametrize(
    ("change", "positions"),
    [
        ({"variant": "chess960 size=9x9"}, 0),  # no such game
        ({"variant": "clobber size=3x3"}, 0),  # of which it is no position
        ({"moves": [[0, "a1z9", None, ""]]}, 1),  # by other rules, it seems
    ],
    ids=["game", "position", "move"],
)
def test_what_the_rules_at_hand_do_not_know_is_told_in_moves(
    change: dict[str, object], positions: int
) -> None:
    """So far they go with it, and no further."""
    played = Match(*SPECS["two seats"])
    show = played.show()
    show.take(played.told(0, 0))
    (event, *_), _ = show.since(NOTHING)
    assert isinstance(event.data, dict)
    match = follow([event._replace(data=event.data | change)])
    (game,) = match.games
    assert len(game.states) == positions
    assert len(game.plies) == len(change.get("moves", played.records[0].plies))  # type: ignore[arg-type]
    watched = Watched("match 7")
    watched.match = match
    watched.press("end")
    assert watched.picture()


def test_what_a_server_says_commands_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever part of an event it is in, and whether it is shown on a screen or line by line."""
    escape = "no\x1b[2J"
    played = Match(*SPECS["two seats"])
    show = played.show()
    show.take(played.told(0, 0))
    (event, *_), _ = show.since(NOTHING)
    assert isinstance(event.data, dict)
    words = {"variant": escape, "result": escape, "players": [[escape, escape]] * 2}
    data = event.data | words | {"moves": [[0, escape, None, escape]]}
    told = [StreamEvent("words", escape), StreamEvent("plies", data), StreamEvent("over", escape)]
    _print(iter(told), "match 7", stays=True)
    watched = Watched("match 7")
    screen = Console(width=200)
    with screen.capture() as captured:
        for one in told:
            watched.match.take(one)
            watched.press("end")
            screen.print(watched.picture())
    for shown in (capsys.readouterr().out, captured.get()):
        assert "no\\x1b[2J is not installed here" in shown
        assert "\x1b" not in shown


def test_how_a_stream_broke_off_commands_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a fault has the server's own first line in it."""
    monkeypatch.setattr(match_stream, "COME_BACK_SECONDS", 0)

    def stream(_: str) -> AbstractContextManager[http.client.HTTPResponse]:
        raise http.client.BadStatusLine("no\x1b[2J")

    with pytest.raises(ServerFault, match=r"broke off: no\\x1b\[2J$"):
        list(match_stream.events(stream))


def test_a_ply_stands_and_what_is_behind_is_caught_up_with() -> None:
    """Keys hold it; End follows again, and the next game comes by itself."""
    played = Match(*SPECS["two seats"])
    show = played.show()
    watched = Watched("match 7")
    watched.go_on(0)
    watched.press("left")
    assert watched.game is None

    show.take(played.told(0, 0, 1))
    events, seen = show.since(NOTHING)
    for event in events:
        watched.match.take(StreamEvent(event.kind, event.data))
    watched.go_on(0)
    assert watched.ply == 1
    show.take(played.told(0, 1, 3))
    events, seen = show.since(seen)
    for event in events:
        watched.match.take(StreamEvent(event.kind, event.data))
    watched.go_on(SLOWEST_SECONDS / 2)
    assert watched.ply == 1
    watched.go_on(SLOWEST_SECONDS)
    assert watched.ply == 2
    watched.press("home")
    watched.go_on(100)
    assert (watched.ply, watched.follows) == (0, False)
    watched.press("right")
    assert watched.ply == 1

    show.take(played.told(0, 3))
    show.take(played.told(1, 0))
    for event in show.since(seen)[0]:
        watched.match.take(StreamEvent(event.kind, event.data))
    first, second = watched.match.games
    watched.press("end")
    assert watched.game is second
    watched.match.take(StreamEvent("over", "Finished."))
    assert watched.is_at_end
    watched.press("left")
    assert not watched.is_at_end

    watched = Watched("match 7")
    far = replace(first, plies=list(first.plies) * (1 + (FAR + 1) // len(first.plies)))
    watched.match.games = [far]
    watched.go_on(0)
    assert len(far.plies) - watched.ply == NEAR
    watched.go_on(QUICKEST_SECONDS)
    assert len(far.plies) - watched.ply == NEAR - 1

    watched = Watched("match 7")
    watched.match.games = [first, second]
    watched.ply = len(first.plies)
    for now, seen in ((0, (second, 0)), (REST_SECONDS / 2, (second, 1))):
        watched.go_on(now)
        assert (watched.game, watched.ply) == seen
