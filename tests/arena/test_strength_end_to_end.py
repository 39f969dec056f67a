"""Strength tests and tunings of a whole arena: commands, real workers in real boxes, the page."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest
import sqlalchemy as sa

from arena.bots.furnish import ladder_name
from arena.cli.arguments import SAMPLES
from arena.ground.db import Database
from arena.models import (
    Bot,
    BotVersion,
    CompetitionState,
    Entrant,
    EntrantState,
    Ladder,
    StrengthTest,
)
from engine.games import GAMES
from tests.arena.conftest import Cli
from tests.arena.running import arena, short_folder, until
from tests.arena.test_end_to_end import TEN_LINES, Watched, furnish_small

GAME = GAMES["oxono"]
"""Which the sample wins nineteen times in twenty against whoever plays the first legal move (38 of
40 by `arena play`): on a small board of Clobber it takes three times as many games."""
LADDER = ladder_name(GAME, GAME.variant())
GOOD = (SAMPLES / "greedy.py").read_text()
POOR = TEN_LINES.format(choice="0")
AIMER = """
print("# option aim int -10 10 -1")
aim = -1
while words := input().split():
    verb, *words = words
    if verb == "quit":
        break
    if verb == "hello":
        print("ready aimer want=legal", flush=True)
    elif verb == "set":
        aim = int(words[1])
    elif verb == "newgame":
        turns = 0
        print("ok", flush=True)
    elif verb == "legal":
        legal = words
    elif verb == "go":
        turns += 1
        print("move", "resign" if aim < 0 and turns > 1 else legal[0], flush=True)
"""
"""Resigns at its second turn as long as it aims below zero."""


@pytest.fixture(scope="module")
def running() -> Iterator[Watched]:
    """An arena with one ladder, which is paused; in the end it is as if all was computed anew."""
    with short_folder() as folder:
        data = folder / "data"
        data.mkdir()
        database = Database(f"sqlite:///{data}/arena.db")
        furnish_small(database, GAME, GAME.variant())
        with database.begin() as session:
            session.execute(sa.update(Ladder).values(state=CompetitionState.PAUSED))
        with Watched(data, database) as found:
            found.start()
            yield found
            found.interrupt()
            assert found.wait() == 0
        assert "equal" in arena("ratings", "rebuild", "--check", "--data", str(data)).stdout
        database.close()


@pytest.fixture
def said(cli: Cli, running: Watched) -> Callable[..., str]:
    """What a command says of the arena."""

    def call(*words: str, code: int = 0) -> str:
        done = cli(*words, "--data", running.data)
        assert done.code == code, done.out + done.err
        return done.out + done.err

    return call


@pytest.fixture
def submit(said: Callable[..., str], running: Watched) -> Callable[..., None]:
    """Hands a version of a bot in."""

    def call(name: str, text: str, *words: str) -> None:
        path = running.data.parent / f"{name}_{running.mark}.py"
        path.write_text(text)
        what = ("submit", str(path), "--ladder", LADDER, "--name", name)
        assert "was taken in" in said(*what, *words)

    return call


def active(database: Database, name: str) -> list[int]:
    """Which versions of a bot are on the ladder."""
    query = (
        sa.select(BotVersion.number)
        .join(BotVersion.bot)
        .join(Entrant, Entrant.version_id == BotVersion.id)
        .join(Ladder, Ladder.id == Entrant.competition_id)
        .where(Bot.name == name, Entrant.state == EntrantState.ACTIVE)
    )
    with database.read() as session:
        return list(session.scalars(query))


def verdicts(database: Database) -> list[str]:
    """Those of all tests, in their order."""
    with database.read() as session:
        query = sa.select(StrengthTest.verdict).order_by(StrengthTest.id)
        return [str(verdict) for verdict in session.scalars(query)]


@pytest.mark.long
@pytest.mark.timeout(300)
def test_new_versions_are_tested_before_they_enter(
    running: Watched, said: Callable[..., str], submit: Callable[..., None]
) -> None:
    """A version that is worse stays out; any two versions can be tested by a command."""
    database, before = running.database, len(verdicts(running.database))

    def decided(*wanted: str) -> bool:
        return verdicts(database)[before:] == list(wanted)

    submit("bot", GOOD)
    until(lambda: active(database, "bot") == [1], "the first version", seconds=120)
    submit("bot", POOR, "--test-first", "--elo", "0,190")
    until(lambda: decided("failed"), "the verdict", seconds=120)
    number = json.loads(said("strength", "list", "--json"))[0]["id"]
    assert active(database, "bot") == [1]
    found = json.loads(said("strength", "show", f"test-{number}", "--json"))
    assert found["losses"] > found["wins"]
    assert found["games"] == 2 * sum(found["counts"])
    assert found["faults"] == [{}, {}]
    # The other way round it passes.
    said("strength", "create", "bot:1", "bot:2", "--ladder", LADDER, "--elo", "0,190")
    until(lambda: decided("failed", "passed"), "the other verdict", seconds=120)
    assert "is decided" in said("strength", "extend", str(number), "--max-games", "999", code=2)
    status, page = running.page(f"/tests/{number}")
    assert status == 200
    assert "bot v2 against bot v1: strength test" in page
    assert "verdict-failed" in page


@pytest.mark.long
@pytest.mark.timeout(300)
def test_what_a_tuning_finds_is_proven(
    running: Watched, said: Callable[..., str], submit: Callable[..., None]
) -> None:
    """By a test of what it has chosen against what it began with."""
    database, before = running.database, len(verdicts(running.database))
    submit("aimer", AIMER)
    until(lambda: active(database, "aimer") == [1], "the bot with a number", seconds=120)
    tuned = ("aimer", "--parameters", "aim=-1:-10:10:3:1", "--games", "8", "--batch", "2")
    said("tuning", "create", *tuned, "--ladder", LADDER, "--elo1", "190")
    until(lambda: verdicts(database)[before:] == ["passed"], "the proof", seconds=120)
    (tuning,) = json.loads(said("tuning", "list", "--json"))
    assert int(tuning["chosen"]["aim"]) >= 0
    assert (tuning["state"], tuning["games"], tuning["faults"]) == ("over", 8, {})
    assert f"tested against the start in test {tuning['proof']}" in tuning["outcome"]
