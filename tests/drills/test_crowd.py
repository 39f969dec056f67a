"""What the crowd looks at afterwards can fail, and what it wishes is a matter of the seed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
import sqlalchemy as sa

from arena.audit import ARENA
from arena.competitions import strength_tests, tournaments
from arena.competitions.players import NamedPlayer
from arena.competitions.strength_plans import StrengthPlan
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import Bot, BotVersion, Competition, CompetitionState, Ladder
from arena.operation.backup import write_backup
from arena.operation.restoring import restore_backup
from arena.signing import arena_id
from tests.arena.simulator import CALM, START, Simulation
from tests.drills import wholeness
from tests.drills.drill import Clock
from tests.drills.wishes import NONSENSE, Known, Page, Wishes, shape

DIGEST = "0" * 64
"""The digest of the simulation's bots."""
SPOILS = {
    "UPDATE competition SET rebuild_due = true WHERE id = 1": "everything comes to its end",
    "UPDATE match SET status = 'open', seq = NULL, fixed = NULL WHERE seq ="
    " (SELECT max(seq) FROM match)": "everything comes to its end",
    "UPDATE match SET status = 'set aside', seq = NULL WHERE seq ="
    " (SELECT max(seq) FROM match)": "nothing was set aside",
    "UPDATE competition SET alarm = 'some' WHERE id = 1": "no alarm",
    "UPDATE bot_version SET bot_id = 1, number = 2 WHERE id = 2": (
        "one version of a bot plays on a ladder"
    ),
    "UPDATE match SET seq = seq + 1000 WHERE seq = (SELECT max(seq) FROM match)": (
        "every match is fixed exactly once"
    ),
    "DELETE FROM game_seat WHERE game_id = 1; DELETE FROM listed_seat WHERE game_id = 1;"
    " DELETE FROM game_line WHERE game_id = 1; DELETE FROM judged_seat WHERE game_id = 1;"
    " DELETE FROM game_day WHERE 1 IN (first_id, last_id); DELETE FROM game WHERE id = 1": (
        "every match has all its games"
    ),
    "UPDATE competition SET matches_made = matches_made + 1": (
        "every match was counted when it was made"
    ),
    "UPDATE bot_version SET digest = 'other' WHERE id = 3": "every bot's files are there",
    "UPDATE entrant SET mu = mu + 0.1 WHERE id = 1": "ratings and counters equal a rebuild",
    "UPDATE meeting SET draws = draws + 1": "ratings and counters equal a rebuild",
}


@pytest.fixture(scope="module")
def whole(sqlite_like: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database of an arena in which matches were played, and all is over."""
    file = shutil.copy(sqlite_like, tmp_path_factory.mktemp("whole") / "arena.db")
    with closing(Database(f"sqlite:///{file}")) as database:
        simulation = Simulation(database, 1, CALM)
        simulation.furnish([("clobber", {"size": "4x3"})], bots=3)
        simulation.play(20)
    return Path(file)


@pytest.fixture
def played(whole: Path, tmp_path: Path) -> Iterator[Database]:
    """A copy of it."""
    file = shutil.copy(whole, tmp_path / "arena.db")
    with closing(Database(f"sqlite:///{file}")) as database:
        yield database


def fails(database: Database, bundles: Path) -> list[str]:
    """What does not hold, by all that is looked at in a database."""
    with database.read() as session:
        found = [wholeness.none("everything comes to its end", wholeness.left(session))]
        found += wholeness.looked_at(session, bundles)
    return [check.what for check in found if not check.holds]


@pytest.mark.long
@pytest.mark.parametrize(("spoil", "what"), SPOILS.items(), ids=range(len(SPOILS)))
def test_what_is_not_whole_is_seen(played: Database, tmp_path: Path, spoil: str, what: str) -> None:
    """Each check holds for an arena that is whole; a row that is spoiled fails the check of it."""
    (tmp_path / DIGEST).touch()
    assert fails(played, tmp_path) == []
    with played.begin() as session:
        for statement in spoil.split(";"):
            session.execute(sa.text(statement))
    assert what in fails(played, tmp_path)


def test_a_backup_restored_is_held_against_it(played: Database, tmp_path: Path) -> None:
    """Row by row, but for what makes it another arena."""
    one, other, there = tmp_path / "one.tar", tmp_path / "other.tar", tmp_path / "there"
    with played.begin() as session:
        arena_id(session)
    write_backup(played, Settings(data=tmp_path), one, str)
    restore_backup(one, Settings(data=there), str)
    with closing(Database(Settings(data=there).database_url)) as restored:
        write_backup(restored, Settings(data=there), other, str)
        assert wholeness.unlike(one, other) == []
        with restored.begin() as session:
            session.execute(sa.update(Bot).values(description="another"))
        write_backup(restored, Settings(data=there), there / "changed.tar", str)
    assert wholeness.unlike(one, there / "changed.tar") == ["bot"]


def test_what_goes_on_for_ever_is_ended(played: Database) -> None:
    """Ladders rest, strength tests are stopped; a tournament that waits for somebody is opened,
    and goes on until it is played."""
    with played.begin() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        ladder.state = CompetitionState.OPEN
        versions = session.scalars(sa.select(BotVersion).order_by(BotVersion.id)).all()
        players = [*map(NamedPlayer, versions)]
        plan = tournaments.TournamentPlan(
            "cup", ladder.variant, ladder.time, "round-robin", paused=True
        )
        tournaments.create(session, plan, players, START, ARENA)
        test = strength_tests.create(session, StrengthPlan.on(ladder), *players[:2], START, ARENA)
        name = test.name
    with played.read() as session:
        assert wholeness.left(session) == ["cup", name]
    wholeness.wind_up(played)
    with played.read() as session:
        states = dict(session.execute(sa.select(Competition.name, Competition.state)).all())
        assert wholeness.left(session) == ["cup"]
    assert [str(states[one]) for one in ("ladder-0", "cup", name)] == ["paused", "open", "closed"]


def test_all_is_over_at_once_where_nothing_goes_on(played: Database) -> None:
    """Without a wait."""
    assert wholeness.ended(played, Clock()).holds


@pytest.mark.parametrize(
    ("line", "holds"),
    [
        ("[INFO/MainProcess] match 2, attempt 1 of one: fixed", True),
        ("[INFO/MainProcess] the bot terror-1 was entered", True),
        ("Traceback (most recent call last):", False),
        ("2026-11-24 00:35:57 UTC [1] ERROR: deadlock detected", False),
        ("file.py:1: ResourceWarning: unclosed socket", False),
    ],
)
def test_a_log_that_tells_of_a_fault(line: str, holds: bool) -> None:
    """Nothing else has its words in it."""
    found = wholeness.quiet({"web": f"a line\n{line}\n"})
    assert (found.holds, line in found.found) == (holds, not holds)


PAGE = """
<a href="/bots/greedy?tab=1#top">greedy</a> <a href="https://example.org">elsewhere</a>
<form action="/search"><input name="q"></form>
<form method="post" action="/submit"><input type="hidden" name="csrf_token" value="mine">
  <input type="text" name="name" value="any"><input type="file" name="file">
  <select name="ladder"><option value="one">1</option><option value="two">2</option></select>
  <input type="checkbox" name="test_first"><button name="go" value="now">Submit</button></form>
<form method="post"><input type="hidden" name="csrf_token" value="mine"></form>
"""


def test_a_page_is_read_as_a_browser_does() -> None:
    """Its links to this arena, and the forms that change something."""
    page = Page("/here", PAGE)
    assert page.links == ["/bots/greedy?tab=1"]
    assert [form.action for form in page.forms] == ["/submit", "/here"]
    wishes = Wishes(Known(), Random(1), "ada")
    sent = [wishes.form(page.forms[0], "own") for _ in range(40)]
    assert all(file for _, file in sent)
    for name, values in {
        "csrf_token": {"own"},
        "ladder": {"one", "two"},
        "test_first": {"y"},
        "go": {"now"},
    }.items():
        assert {value for fields, _ in sent for key, value in fields if key == name} == values


def test_wishes_are_a_matter_of_the_seed() -> None:
    """And of what is known: names that were seen are named again, other ones seldom."""
    known = Known()
    known.note("/ladders/clobber-4x4", "/ladders/clobber-4x4/settings", "/ladders")
    assert shape("/ladders/clobber-4x4/settings?tab=1") == "ladders/settings"

    def wished(seed: int) -> list[object]:
        wishes = Wishes(known, Random(seed), "ada")
        keys = ("ladder", "settings", "bots", "name") * 50
        return [*map(wishes.fitting, keys), wishes.program()]

    assert wished(1) == wished(1) != wished(2)
    ladders = wished(1)[:-1:4]
    assert set(ladders) <= {"clobber-4x4", *NONSENSE}
    assert ladders.count("clobber-4x4") > 40
