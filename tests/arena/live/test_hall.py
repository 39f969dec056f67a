"""Whoever watches a match is told each ply once, whatever becomes of the processes between."""

from __future__ import annotations

import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import groupby

import pytest

from engine.game import State
from engine.match import MatchResult
from tests.arena.cli.conftest import assert_refused
from tests.arena.conftest import Cli
from tests.arena.live.house import House, Watcher, house
from tests.arena.running import PATIENCE, until


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with house(tmp_path_factory.mktemp("live"), size="4x3") as made:
        yield made


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that nobody waits long for the worker's question whether anybody listens."""
    monkeypatch.setattr("workers.live.ASK_SECONDS", 0.1)
    monkeypatch.setattr("workers.live.WHOLE_SECONDS", 1.0)


def boards(result: MatchResult, first: int = 0) -> list[tuple[int, int, int]]:
    """Every position of a match from a game on, as `Watcher.plies` tells it."""
    return [
        (game, 0, number)
        for game, record in enumerate(result.games)
        for number in range(len(record.plies) + 1)
        if game >= first
    ]


def seen_by(*watchers: Watcher) -> Callable[[int, State, int], None]:
    """What waits after the first ply that is told until all have seen it."""
    is_first = iter([True])

    def after_ply(_game: int, _state: State, ply: int) -> None:
        if next(is_first, False):
            until(lambda: all((0, 0, ply) in one.plies() for one in watchers), "a ply is seen")
        time.sleep(0.02)

    return after_ply


def test_each_ply_comes_once(arena: House) -> None:
    """It comes by a stream, and by asking again and again; and then that it is over."""
    job = arena.issue()
    watchers = [Watcher(arena, job.lease.job, polls=polls) for polls in (False, True)]
    until(lambda: all(one.events for one in watchers), "the first words")
    result = arena.play(job, seen_by(*watchers))
    arena.report(job, result)
    for one in watchers:
        one.wait()
        assert one.plies() == boards(result)
        said = [data for kind, _, data in one.events if kind != "plies"]
        words = [word for word, _ in groupby(said)]  # an answer always has some
        assert words == ["A worker has begun.", "", "Finished."]
        assert set(one.statuses) == {200}
    stream, poll = (one.heads[0] for one in watchers)
    assert stream["Content-Type"] == "text/event-stream"
    assert poll["Content-Type"] == "application/json"
    for head in (stream, poll):
        assert head["Cache-Control"] == "no-store"
        assert head["X-Accel-Buffering"] == "no"  # for nginx, which would keep it back


@pytest.mark.long
def test_a_killed_process_costs_no_ply(arena: House) -> None:
    """Browsers come back to the next one with the id of their last event."""
    job = arena.issue()
    watcher = Watcher(arena, job.lease.job)
    until(lambda: watcher.events, "the first words")

    is_soon, seen = iter([False, True]), seen_by(watcher)

    def after_ply(game: int, state: State, ply: int) -> None:
        seen(game, state, ply)
        if next(is_soon, False):
            arena.kill_live()
            arena.start_live()

    result = arena.play(job, after_ply)
    until(lambda: len(watcher.statuses) > 1, "it came back")
    arena.report(job, result)
    watcher.wait()
    assert watcher.plies() == boards(result)


@pytest.mark.long
def test_many_come_at_once_as_it_begins(arena: House) -> None:
    """They come to several matches: of each its viewers are told."""
    arena.kill_live()
    jobs = [arena.issue() for _ in range(4)]
    watchers = [Watcher(arena, job.lease.job) for job in jobs]
    time.sleep(0.5)  # in which all have come to the door
    arena.start_live()
    until(lambda: all(one.events for one in watchers), "the first words")
    for job, watcher in zip(jobs, watchers, strict=True):
        arena.report(job, arena.play(job, seen_by(watcher)))
        watcher.wait()


def test_what_is_told_without_the_ticket_is_not_shown(arena: House) -> None:
    """It must be that attempt's: whoever holds a worker's login may tell of any match."""
    job = arena.issue()
    watcher = Watcher(arena, job.lease.job)
    until(lambda: watcher.events, "the first words")
    for lease in (
        replace(job.lease, ticket="guessed"),
        replace(job.lease, attempt=job.lease.attempt + 1),
        replace(job.lease, kind="check"),
    ):
        arena.play(job, lambda *_: time.sleep(0.03), lease=lease)
    assert watcher.plies() == []
    result = arena.play(job)
    arena.report(job, result)
    watcher.wait()
    assert watcher.plies()[-1] == boards(result)[-1]


def test_a_match_that_is_over_is_told_whole(arena: House) -> None:
    """It is told to who clicked on it while it ran, and comes when it has ended."""
    job = arena.issue()
    result = arena.play(job)
    arena.report(job, result)
    watcher = Watcher(arena, job.lease.job)
    watcher.wait()
    assert watcher.plies() == boards(result, first=len(result.games) - 1)


def test_a_command_watches_here_and_elsewhere(arena: House, cli: Cli) -> None:
    """Every ply of the game with its board, and how the match ended."""
    job = arena.issue()
    result = arena.play(job)
    elsewhere = "--server", f"http://127.0.0.1:{arena.port}"
    arena.report(job, result)
    number, last = job.lease.job, result.games[-1]
    told = [cli("watch", number, *where) for where in (elsewhere, ("--data", arena.folder))]
    assert [one.code for one in told] == [0, 0]
    # Before that it may have been told how the match stood.
    (out,) = {f"game 2{one.out.partition(f'match {number}, game 2')[2]}" for one in told}
    plies = re.findall(r"^ply (\d+): (?:White|Black) (\w+)", out, re.MULTILINE)
    assert plies == [(str(ply), one.move) for ply, one in enumerate(last.plies, 1)]
    assert out.count("  a b c d") == len(last.plies)
    assert out.endswith(f"match {number}: Finished.\n")
    assert_refused(cli("watch", "--best", *elsewhere), "no match is being played just now")
    assert_refused(cli("watch", 999999, *elsewhere), "There is no match 999999")
    assert_refused(cli("watch", 999999, "--data", arena.folder), "there is no match 999999")
    assert_refused(cli("watch", *elsewhere), "give the number of a match, or --best")


@pytest.mark.parametrize("path", ["/matches/999999/stream", "/matches/x/stream"])
def test_there_is_no_stream_of_nothing(arena: House, path: str) -> None:
    """The pages say so, and hand nothing over."""
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(f"http://127.0.0.1:{arena.port}{path}", timeout=PATIENCE)
