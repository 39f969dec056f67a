"""The commands of organisers: what they do, and one clear line for each mistake."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from arena.cli import run
from arena.ground.db import Database
from arena.models import (
    AuditEntry,
    BotVersion,
    Check,
    CompetitionState,
    Entrant,
    EntrantState,
    JobStatus,
    Ladder,
    Match,
    Worker,
)
from engine import jobs
from tests.arena.simulator import CALM, START, Simulation
from tests.furnished import furnished_database

Arena = Callable[..., tuple[int, str, str]]


def play(database: Database) -> None:
    """Has some matches played on a ladder."""
    simulation = Simulation(database, 3, CALM)
    simulation.furnish([("clobber", {"size": "4x3"})], bots=3)
    simulation.play(3)


@pytest.fixture(params=["sqlite"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """An arena's data folder, with such a ladder."""
    with furnished_database(request, tmp_path, play) as (database, _):
        yield database


@pytest.fixture
def arena(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Arena:
    """Runs a command on that data folder: its exit code, what it prints, its errors."""

    def call(*words: str) -> tuple[int, str, str]:
        code = run([*words, "--data", str(tmp_path)])
        return code, *capsys.readouterr()

    return call


def test_the_commands_of_organisers(database: Database, arena: Arena) -> None:
    """A ladder's life, a match's, a bot's and a worker's, as an organiser goes through them."""
    assert arena("ladder", "create", "blitz", "--game", "clobber size=5x6", "--time", "5+0.05") == (
        0,
        "the ladder blitz is open: clobber size=5x6, time=5000 inc=50; it plays as soon as two "
        "bots have entered\n",
        "",
    )
    assert arena("ladder", "change", "blitz", "state=paused", "draws=0.01")[:2] == (
        0,
        "state: open → paused; draws: 0.05 → 0.01\n",
    )
    assert "nothing is different" in arena("ladder", "change", "blitz", "state=paused")[1]
    assert arena("match", "void", "1", "--note", "power cut") == (0, "match 1 is void\n", "")
    assert arena("ladder", "change", "ladder-0", "state=open")[0] == 0
    code, said, _ = arena("match", "void", "2", "--note", "again", "--replay")
    assert (code, said[:43]) == (0, "match 2 is void; it is replayed as match " + said[41:43])
    code, said, _ = arena("match", "request", "ladder-0", "bot-0", "bot-1:1")
    assert (code, "is played when a worker is free" in said) == (0, True)
    with database.begin() as session:
        match = session.scalars(sa.select(Match).where(Match.rated.is_(False))).one()
        match.status, match.problem = JobStatus.SET_ASIDE, "no [space] left"
        session.add(
            Worker(
                name="w", last_seen=START, slots=1, isolation="good", languages=[],
                format=jobs.FORMAT, set_aside=START, problem="bad disk",
                failed=[{"job": "match 9", "versions": [1]}],
            )
        )  # fmt: skip
    listed = json.loads(arena("match", "list", "--status", "set aside", "--json")[1])
    assert [(row["bots"], row["problem"]) for row in listed] == [
        (["bot-0 v1", "bot-1 v1"], "no [space] left")
    ]
    assert "no [space] left" in arena("match", "list", "--last", "5")[1]
    assert arena("match", "requeue", "--all")[1] == "1 match is to be tried again\n"
    listed = json.loads(arena("worker", "list", "--json")[1])
    assert {row["name"]: row["state"] for row in listed} == {
        "one": "gone", "two": "gone", "w": "set aside",
    }  # fmt: skip
    assert arena("worker", "readmit", "w")[1] == "the worker w gets jobs again\n"
    assert arena("worker", "forget", "w")[1] == "the worker w is forgotten\n"
    assert len(json.loads(arena("worker", "list", "--json")[1])) == 2
    assert arena("notice", "back at [noon]")[1] == "all visitors are told, on every page\n"
    assert arena("notice")[1] == "back at [noon]\n"
    assert arena("notice", "--clear")[1] == "the notice is cleared\n"
    assert arena("notice")[1] == "there is no notice\n"
    assert arena("bot", "retire", "bot-2", "--ladder", "ladder-0")[0] == 0
    with database.begin() as session:
        entrant = session.scalars(sa.select(Entrant).where(Entrant.version_id == 3)).one()
        assert entrant.state is EntrantState.RETIRED
        entrant.version.status = "ready"
    assert arena("bot", "activate", "bot-2:1", "--ladder", "ladder-0")[1] == (
        "the bot bot-2 v1 is active on ladder-0, with the rating that it had, held less firmly\n"
    )
    with database.read() as session:
        actions = session.scalars(sa.select(AuditEntry.action).order_by(AuditEntry.id)).all()
        assert actions == [
            "create ladder", "change ladder", "void match", "change ladder", "void match",
            "request match", "requeue match", "readmit", "forget",
                "give notice", "clear notice", "retire", "enter",
        ]  # fmt: skip
        ladder = session.scalars(sa.select(Ladder).where(Ladder.name == "blitz")).one()
        assert ladder.state is CompetitionState.PAUSED


@pytest.mark.parametrize(
    ("words", "bots"),
    [
        (["bot-0"], ["bot-0"]),
        (["bot-0:1", "bot-1", "bot-0"], ["bot-0", "bot-1"]),
        (["--all"], ["bot-0", "bot-1", "bot-2"]),
    ],
    ids=["one", "some", "all"],
)
def test_checks_are_tried_again(
    database: Database, arena: Arena, words: list[str], bots: list[str]
) -> None:
    """Those that are set aside, of the bots that are named; each is in the log."""
    with database.begin() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        for version in session.scalars(sa.select(BotVersion)):
            for status in (JobStatus.SET_ASIDE, JobStatus.FIXED):
                session.add(
                    Check(
                        version=version, ladder=ladder, status=status, failures=3,
                        problem="no lamp", created=START, findings=[],
                    )
                )  # fmt: skip
    what = "1 check is" if len(bots) == 1 else f"{len(bots)} checks are"
    assert arena("bot", "recheck", *words) == (0, f"{what} to be tried again\n", "")
    with database.read() as session:
        again = session.scalars(sa.select(Check).where(Check.status == JobStatus.OPEN)).all()
        assert sorted(check.version.bot.name for check in again) == bots
        assert {check.failures for check in again} == {0}
        noted = session.execute(sa.select(AuditEntry.action, AuditEntry.detail)).all()
        assert noted == [("requeue check", "no lamp")] * len(bots)


def test_matches_from_a_line(database: Database, arena: Arena) -> None:
    """Several at once, each from the moves that are given, with the first bot in the first seat."""
    assert arena("ladder", "change", "ladder-0", "state=open")[0] == 0
    request = ("match", "request", "ladder-0", "bot-1", "bot-0", "--opening", " a2a1  a3b3 ")
    code, said, _ = arena(*request, "--matches", "3")
    assert (code, "are played when workers are free" in said) == (0, True)
    with database.read() as session:
        made = session.scalars(sa.select(Match).where(Match.rated.is_(False))).all()
        assert len({match.seed for match in made}) == 3
        for match in made:
            assert match.opening == ["a2a1", "a3b3"]
            bots = [place.entrant.version.bot.name for place in match.places]
            assert bots == ["bot-1", "bot-0"]
    # The same, of a position where a game begins at none.
    code, _, error = arena(*request[:5], "--start", "fen=x")
    assert (code, "no option 'fen'" in error) == (2, True)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["match", "request", "ladder-0", "a", "b", "--start", "x"], "'x' is no option"),
        (["match", "request", "ladder-0", "a", "b", "--matches", "51"], "from 1 to 50"),
        (["match", "request", "ladder-0", "a", "b", "--opening", "z9"], "'z9' is not legal here"),
        (["ladder", "create", "Blitz", "--game", "clobber"], "is no name for a ladder"),
        (["ladder", "create", "blitz", "--game", "chess"], "there is no game 'chess'"),
        (["ladder", "create", "blitz", "--game", "clobber", "--move", "x"], "move=x can't be"),
        (["ladder", "change", "ladder-0", "paused"], "'paused' is no change: write KEY=VALUE"),
        (["ladder", "change", "ladder-9", "state=open"], "there is no ladder 'ladder-9'; did"),
        (["ladder", "change", "ladder-0", "move=50"], "has matches by its move, which therefore"),
        (["match", "void", "1", "--note", ""], "note: this is needed"),
        (["match", "void", "99999", "--note", "x"], "there is no match 99999"),
        (["match", "list", "--ladder", "nope"], "there is no ladder or tournament 'nope'"),
        (["match", "requeue", "1"], "match 1 is fixed, and not set aside"),
        (["match", "requeue"], "give the numbers of matches, or --all"),
        (["match", "request", "ladder-0", "bot-0", "bot-1"], "is paused, and plays no matches"),
        (["match", "request", "ladder-0", "a", "b", "--user", "eve"], "there is no user 'eve'"),
        (["bot", "recheck"], "give the names of bots, or --all"),
        (["bot", "recheck", "bot-1"], "no check of bot-1 is set aside"),
        (["bot", "recheck", "bot-1:999999999"], "no check of bot-1:999999999 is set aside"),
        (["worker", "readmit", "three"], "there is no worker 'three'; there are: one, two"),
        (["notice", ""], "the text is empty; --clear takes the last one away"),
        (["notice", "x", "--clear"], "give a text or --clear, not both"),
        (["notice", "x" * 301], "a notice has at most 300 characters, and this has 301"),
        (["worker", "forget", "three"], "there is no worker 'three'; there are: one, two"),
        (["bot", "activate", "bot-9", "--ladder", "ladder-0"], "there is no bot 'bot-9'"),
        (["bot", "share", "b\udcff", "eve"], "name: leave out half of a surrogate pair"),
        (["bot", "retire", "bot-9", "--ladder", "ladder-0"], "there is no bot 'bot-9'"),
    ],
)
def test_mistakes_are_told_in_one_line(
    database: Database, arena: Arena, words: list[str], error: str
) -> None:
    """Exit code 2, and nothing is changed."""
    code, out, err = arena(*words)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert error in err
