"""A match is told to whoever listens, at a real broker: every ply, and all to who comes late."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import redis

from engine.clock import TimeControl
from engine.game import State
from engine.games import GAMES
from engine.jobs import Lease
from engine.live import LivePlies, channel_of
from engine.match import MatchSpec, play_match
from engine.player import LogSoFar, VoidGameError
from engine.record import Ply
from tests.arena.running import broker, until
from tests.arena.simulator import LotPlayer
from workers import live

SPEC = MatchSpec(GAMES["clobber"].variant(size="4x3"), ("one", "two"), TimeControl(60_000), seed=5)
VARIANT = SPEC.variant


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with broker() as embedded:
        yield embedded.url


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that nothing takes long; the order of these times stays."""
    monkeypatch.setattr(live, "ASK_SECONDS", 0.05)
    monkeypatch.setattr(live, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(live, "WHOLE_SECONDS", 0.3)


class Listener:
    """Somebody who hears what is told of a match, and puts its games together."""

    def __init__(self, address: str, match: int) -> None:
        self.client = redis.Redis.from_url(address.replace("redis+socket:", "unix:"))
        self.ear = self.client.pubsub()
        self.ear.subscribe(channel_of(match))
        self.games: dict[tuple[int, int], list[Ply]] = {}

    def hear(self) -> None:
        """Takes in what was told by now."""
        while message := self.ear.get_message(timeout=0.05):
            if message["type"] != "message":
                continue
            told = LivePlies.from_json(message["data"])
            its = self.games.setdefault((told.game, told.again), [])
            if told.first <= len(its):  # or all of it follows at once
                its[told.first : told.first + len(told.plies)] = told.plies

    def close(self) -> None:
        self.ear.close()
        self.client.close()


def test_every_ply_of_every_game_is_told(address: str, often: None) -> None:
    """Who listened from the first is told, and who came in the second game; the last plies, too."""
    early = Listener(address, 1)
    late: list[Listener] = []
    match = live.LiveMatch(Lease("match", 1, 1, "ticket"), address)
    match.begin()

    def slowly(_state: State, plies: Sequence[Ply]) -> None:
        time.sleep(0.02)
        if len(plies) == 2:
            late.append(Listener(address, 1))

    result = play_match(SPEC, lambda _: LotPlayer(), watch=lambda game: match.also(game, slowly))
    match.end()
    wanted = {(game, 0): list(record.plies) for game, record in enumerate(result.games)}
    for listener in (early, *late):
        until(lambda it=listener: it.hear() or it.games == wanted, "all plies", seconds=10)  # type: ignore[misc]
        listener.close()


def test_a_game_that_was_void_is_told_again(address: str, often: None) -> None:
    """As another play of it, so that nobody takes its plies for those of the first."""
    listener = Listener(address, 2)
    match = live.LiveMatch(Lease("match", 2, 1, "ticket"), address)
    match.begin()
    fails = iter([True])

    class Voider(LotPlayer):
        def choose(self, turn: Any) -> Any:
            if turn.ply >= 4 and next(fails, False):
                raise VoidGameError("our fault")
            return super().choose(turn)

    result = play_match(
        SPEC,
        lambda _: Voider(),
        watch=lambda game: match.also(game, lambda *_: time.sleep(0.02)),
    )
    match.end()
    until(lambda: listener.hear() or (1, 0) in listener.games, "the second game", seconds=10)
    until(lambda: listener.hear() or listener.games[1, 0] == list(result.games[1].plies), "its end")
    assert listener.games[0, 1] == list(result.games[0].plies)
    assert len(listener.games[0, 0]) == 4
    listener.close()


def test_where_nobody_listens_nothing_is_told(address: str, often: None) -> None:
    """It is only asked again and again, in a few bytes; who has heard enough is told no more."""
    plies: list[Ply] = [Ply(0, "x" * 50, 1, 1)] * 1000
    match = live.LiveMatch(Lease("match", 3, 1, "ticket"), address)
    after_ply = match.also(0, lambda *_: None)
    after_ply(VARIANT.initial(0), plies)
    now = time.monotonic() + 1
    for _ in range(3):
        (told,) = match.news(now)
        assert told.plies == ()
        match.heard(0, now)
        assert list(match.news(now)) == []
        now += 1
    list(match.news(now))
    match.heard(1, now)
    assert sum(len(told.plies) for told in match.news(now)) == 1000
    match.heard(0, now)
    assert list(match.news(now)) == []


class Logs:
    """The logs of one seat, put together when it is asked; and how often they were looked into."""

    def __init__(self) -> None:
        self.text = self.lines = ""
        self.looks = 0

    def __call__(self) -> list[LogSoFar]:
        self.looks += 1
        text = f"{self.text}--- lines exchanged ---\n{self.lines}"
        return [lambda: text]


def test_logs_are_told_while_somebody_reads_them() -> None:
    """Looked into for nobody else; each change once, all of it now and then; then forgotten."""
    lease = Lease("match", 9, 1, "ticket")
    match, logs, now = live.LiveMatch(lease, ""), Logs(), time.monotonic()
    plies: list[Ply] = []
    after_ply = match.also(0, lambda *_: None, logs)

    def told(listeners: int) -> list[dict[int, str]]:
        """What is told of the logs after another ply, at which the bot wrote."""
        nonlocal now
        logs.text += f"ply {len(plies)}: {len(plies)}\n"
        logs.lines += f"{len(plies)} < 1.00 ms: move a1\n"
        plies.append(Ply(0, "a1"))
        after_ply(VARIANT.initial(0), plies)
        now += live.LOG_SECONDS
        found = match.log_news(now)
        assert [(one.lease, one.game, one.again, one.seat) for one in found] == [(lease, 0, 0, 0)]
        assert match.log_news(now) == []
        match.log_heard(listeners, now)
        assert [set(one.exchanged) for one in found] == [set(one.texts) for one in found]
        return [dict(one.texts) for one in found]

    assert told(0) == told(0) == [{}]
    assert logs.looks == 0
    assert told(1) == [{}]  # only now it hears of them
    assert told(1) == [{number: f"{number}\n" for number in range(4)}]
    assert [told(1) for _ in range(2)] == [[{4: "4\n"}], [{5: "5\n"}]]
    now += live.WHOLE_SECONDS
    assert len(told(1)[0]) == 7
    looks = logs.looks
    assert told(0) == [{7: "7\n"}]
    assert told(0) == told(0) == [{}]
    assert logs.looks == looks + 1
    # Nor when those who read them left with all others who watch, between two questions.
    assert told(1) == [{}]
    match.heard(1, now)
    match.heard(0, now)
    assert told(0) == [{}]
    assert logs.looks == looks + 1


@pytest.mark.parametrize("address", ["redis://127.0.0.1:1/0", ""], ids=["away", "none"])
def test_a_broker_that_is_away_disturbs_no_match(address: str, often: None) -> None:
    """Matches are played all the same, as quickly."""
    match = live.LiveMatch(Lease("match", 4, 1, "ticket"), address)
    match.begin()
    play_match(SPEC, lambda _: LotPlayer(), watch=lambda game: match.also(game, lambda *_: None))
    match.end()
