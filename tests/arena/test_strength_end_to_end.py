"""Strength tests and tunings of a whole arena: commands, real workers in real boxes, the page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sqlalchemy as sa

from arena.bots.furnish import ladder_name
from arena.cli import run
from arena.cli.arguments import SAMPLES
from arena.ground.db import Database
from arena.models import BotVersion, CompetitionState, Entrant, EntrantState, Ladder, StrengthTest
from engine.games import GAMES
from tests.arena.running import RunningArena, short_folder, until
from tests.arena.test_end_to_end import TEN_LINES, furnish_small

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


@pytest.mark.long
@pytest.mark.timeout(300)
def test_new_versions_are_tested_before_they_enter(capsys: pytest.CaptureFixture[str]) -> None:
    """A version that is worse stays out; any two versions can be tested by a command."""

    def said(data: Path, *words: str, code: int = 0) -> str:
        """What a command says."""
        capsys.readouterr()
        try:
            returned = run([*words, "--data", str(data)])
        except SystemExit as ended:
            returned = int(ended.code or 0)
        out, err = capsys.readouterr()
        assert returned == code, out + err
        return out + err

    with short_folder() as folder:
        data = folder / "data"
        data.mkdir()
        database = Database(f"sqlite:///{data}/arena.db")
        furnish_small(database, GAME, GAME.variant())
        with database.begin() as session:
            session.execute(sa.update(Ladder).values(state=CompetitionState.PAUSED))
        with RunningArena(data) as running:
            running.start()

            def submit(text: str, *words: str) -> None:
                path = folder / f"bot_{running.mark}.py"
                path.write_text(text)
                what = ("submit", str(path), "--ladder", LADDER, "--name", "bot")
                assert "was taken in" in said(data, *what, *words)

            def active() -> list[int]:
                with database.read() as session:
                    query = (
                        sa.select(BotVersion.number)
                        .join(Entrant, Entrant.version_id == BotVersion.id)
                        .join(Ladder, Ladder.id == Entrant.competition_id)
                        .where(Entrant.state == EntrantState.ACTIVE)
                    )
                    return list(session.scalars(query))

            def verdicts() -> list[str]:
                with database.read() as session:
                    query = sa.select(StrengthTest.verdict).order_by(StrengthTest.id)
                    return [str(verdict) for verdict in session.scalars(query)]

            submit(GOOD)
            until(lambda: active() == [1], "the first version", seconds=120)
            submit(POOR, "--test-first", "--elo", "0,190")
            until(lambda: verdicts() == ["failed"], "the verdict", seconds=120)
            number = json.loads(said(data, "strength", "list", "--json"))[0]["id"]
            assert active() == [1]
            found = json.loads(said(data, "strength", "show", f"test-{number}", "--json"))
            assert found["losses"] > found["wins"]
            assert found["games"] == 2 * sum(found["counts"])
            assert found["faults"] == [{}, {}]
            # The other way round it passes.
            versions = ("bot:1", "bot:2", "--ladder", LADDER)
            said(data, "strength", "create", *versions, "--elo", "0,190")
            until(lambda: verdicts() == ["failed", "passed"], "the other verdict", seconds=120)
            assert "is decided" in said(
                data, "strength", "extend", str(number), "--max-games", "999", code=2
            )
            status, page = running.page(f"/tests/{number}")
            assert status == 200
            assert "bot v2 against bot v1: strength test" in page
            assert "verdict-failed" in page
            aimer = folder / "aimer.py"
            aimer.write_text(AIMER)
            said(data, "submit", str(aimer), "--ladder", LADDER, "--name", "aimer")
            until(lambda: active() == [1, 1], "the bot with a number", seconds=120)
            tuned = ("aimer", "--parameters", "aim=-1:-10:10:3:1", "--games", "8", "--batch", "2")
            said(data, "tuning", "create", *tuned, "--ladder", LADDER, "--elo1", "190")
            until(lambda: verdicts()[2:] == ["passed"], "the proof", seconds=120)
            (tuning,) = json.loads(said(data, "tuning", "list", "--json"))
            assert int(tuning["chosen"]["aim"]) >= 0
            assert (tuning["state"], tuning["games"], tuning["faults"]) == ("over", 8, {})
            assert f"tested against the start in test {tuning['proof']}" in tuning["outcome"]
            running.interrupt()
            assert running.wait() == 0
        checked = said(data, "ratings", "rebuild", "--check")
        assert "equal" in checked
        database.close()
