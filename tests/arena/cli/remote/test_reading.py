"""What commands read they tell alike of a data folder and of a server."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import pytest
import sqlalchemy as sa

from arena.audit import ARENA
from arena.cli import reading
from arena.cli.client import ServerFault
from arena.cli.progress_bar import ProgressBar
from arena.cli.tournament_progress_bar import TournamentProgressBar
from arena.competitions.tournaments import call_off
from arena.ground.db import Database
from arena.models import (
    SCOPES,
    CompetitionState,
    Entrant,
    EntrantState,
    JobStatus,
    Ladder,
    Match,
    Role,
    TestTally,
    Tournament,
    Worker,
)
from arena.people.accounts import add_token
from tests.arena.cli.remote.conftest import Arena, served
from tests.arena.competitions.tournament_simulation import TournamentSimulation
from tests.arena.simulator import CALM
from tests.arena.web.conftest import add_competitions
from tests.arena.web.signing_in import now, person


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """A server of an arena with some of everything that is listed, and tokens for it."""
    folder = tmp_path_factory.mktemp("site")
    database = Database(f"sqlite:///{folder}/arena.db")
    database.upgrade()
    simulation = TournamentSimulation(database, 1, CALM, "clobber", 5, size="4x3")
    simulation.create("played", "knockout", third_place=1)
    simulation.create("level", "knockout", extra_legs=0)
    simulation.create("shares", "gauntlet")
    simulation.play_out(5)
    simulation.create("rest", "round-robin")
    simulation.create("off", "round-robin")
    people = {
        role: person(database, str(role), role) for role in (Role.ADMINISTRATOR, Role.PARTICIPANT)
    }
    with database.begin() as session:
        numbers = add_competitions(session, simulation.now)
        cup = session.scalars(sa.select(Tournament).where(Tournament.name == "cup")).one()
        rest, off = (
            session.scalars(sa.select(Tournament).where(Tournament.name == name)).one()
            for name in ("rest", "off")
        )
        rest.state = CompetitionState.PAUSED
        call_off(session, off, "too few bots", simulation.now, ARENA)
        states = {1: EntrantState.RETIRED, 2: EntrantState.SUSPENDED, 3: EntrantState.SUSPENDED}
        for entrant in session.scalars(sa.select(Entrant).where(Entrant.competition_id == cup.id)):
            entrant.state, entrant.reason = states[entrant.number], f"it [hangs] {entrant.number}"
        session.add(
            TestTally(
                test_id=numbers["test"], worker="broken", counts=[40, 0, 0, 0, 0],
                wins=0, draws=0, losses=80, candidate_faults={}, baseline_faults={},
            )
        )  # fmt: skip
        ladder = session.scalars(sa.select(Ladder)).one()
        aside = Match(
            competition_id=ladder.id, options=ladder.options, opening=[], seed=1, rated=True,
            status=JobStatus.SET_ASIDE, failures=3, problem="no [space] left", created=now(),
        )  # fmt: skip
        session.add(aside)
        broken = session.get_one(Worker, "two")
        broken.set_aside, broken.problem = simulation.now, "bad disk"
        broken.failed = [{"job": "match 9", "versions": [1]}, {"job": "check 4", "versions": [1]}]
        tokens = {
            role: add_token(session, ARENA, user, "t", SCOPES[role], now())
            for role, user in people.items()
        }
    with served(database, folder) as url:
        yield SimpleNamespace(
            url=url, folder=folder, database=database, tokens=tokens, test=numbers["test"]
        )
    database.close()


READS = [
    ("tournament list", "called off"),
    ("tournament show off --rounds", "called off: too few bots; nobody won it"),
    ("tournament show played --rounds", "Round 3"),
    ("tournament show played --csv", "tie_break"),
    ("tournament show level", "goes on as the better seed"),
    ("tournament show shares", "a game"),
    ("tournament show cup --rounds", "is suspended: it [hangs] 2"),
    ("match list", "bot-0 v1"),
    ("match list --ladder level --last 4", "level"),
    ("match list --status 'set aside'", "no [space] left"),
    ("strength list", "LOS"),
    ("strength show TEST", "broken: its results differ"),
    ("strength without TEST broken", "one of 3 workers is left out by the results"),
    ("gauntlet list", "bot-0 v1 and bot-1 v1 against 1 other"),
    ("gauntlet show gauntlet", "running"),
    ("strength block TEST", "Ptnml"),
    ("strength block TEST --as svg", "</svg>"),
    ("strength estimate --ladder ladder-0 --elo 0,20 --draws 0.5", "rests on 50% draws"),
    ("preset list", "elo1=50 time=1+0.01"),
    ("worker list", "match 9, check 4"),
    ("ladders", "ladder-0"),
    ("leaderboard ladder-0", "placement"),
    ("accuracy ladder-0", "results given away"),
    ("top --once", "bad disk"),
    ("user list", "administrator"),
    ("user log --count 4", "add token"),
    ("user log --name ARENA", "call off"),
]


@pytest.mark.parametrize(("words", "shown"), READS, ids=[words for words, _ in READS])
def test_here_and_there_tell_the_same(
    arena: Arena, site: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, words: str, shown: str
) -> None:
    """So do people and programs, page by page of a server; who is logged in there is meant so."""
    monkeypatch.setattr(reading, "PAGE", 3)
    assert arena("login", site.url, "--token", site.tokens[Role.ADMINISTRATOR])[0] == 0
    said = shlex.split(words.replace("TEST", str(site.test)))
    there, here = arena(*said), arena(*said, "--data", site.folder)
    assert (there[0], shown in there[1]) == (0, True), there
    if said[0] != "top":  # of which some is the moment's, and the broker is another
        assert there == here
    if "--csv" not in said:
        there, here = arena(*said, "--json"), arena(*said, "--json", "--data", site.folder)
        assert there[0] == here[0] == 0
        told = [json.loads(one[1]) for one in (there, here)]
        if said[0] == "top":
            told = [_lasting(one) for one in told]
        assert told[0] == told[1]


def _lasting(overview: dict[str, Any]) -> dict[str, Any]:
    """What of it is the same a second later, whichever broker it is."""
    workers = [{**one, "silent_seconds": 0} for one in overview["workers"]]
    return {**overview, "workers": workers, "broker": "", "tick_seconds": 0, "behind_seconds": 0}


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        ("tournament show none", 2, "There is no tournament none."),
        ("match list --ladder none", 2, "There is no competition none."),
        ("strength show 999", 2, "There is no strength test 999."),
        ("strength without TEST nobody", 2, "This is for organisers"),
        ("gauntlet show none", 2, "There is no gauntlet none."),
        ("top --once", 2, "This is for organisers"),
        ("user list", 2, "This is for administrators"),
        ("tournament show rest --wait", 130, "go on with: arena tournament resume rest"),
        ("tournament show off --wait", 130, "off was called off: too few bots"),
    ],
)
def test_a_server_refuses_in_its_own_words(
    arena: Arena, site: SimpleNamespace, words: str, code: int, error: str
) -> None:
    """They are one line, as of a data folder."""
    assert arena("login", site.url, "--token", site.tokens[Role.PARTICIPANT])[0] == 0
    found, _, errors = arena(*words.replace("TEST", str(site.test)).split())
    assert (found, errors.count("\n")) == (code, 1), errors
    assert error in errors


def test_both_numbers_are_shown_before_a_worker_is_left_out(
    arena: Arena, site: SimpleNamespace
) -> None:
    """And nothing is done unless somebody says so; it can be undone."""
    asked = ("strength", "exclude", site.test, "broken", "--why", "no fan", "--data", site.folder)
    told, shows = "the games of broken in test", ("strength", "show", site.test)
    code, _, shown = arena(*asked)
    assert code != 0
    assert [line.split()[0] for line in shown.splitlines()[:4]] == [
        "with", "without", "verdict", "odds",
    ]  # fmt: skip
    assert "left out" not in arena(*shows, "--data", site.folder)[1]
    code, said, _ = arena(*asked, "--yes")
    assert (code, "80 games of broken are left out" in said) == (0, True)
    assert "its games are left out (no fan)" in arena(*shows, "--data", site.folder)[1]
    assert told in arena(*asked, "--yes")[2]
    assert arena("strength", "include", site.test, "broken", "--data", site.folder)[0] == 0


def test_why_a_worker_failed_is_told_to_organisers_alone(
    arena: Arena, site: SimpleNamespace
) -> None:
    """The others hear that it was set aside."""
    listed = arena("worker", "list", "--server", site.url, "--json")[1]
    assert {
        one["name"]: (one["state"], one["failed"], one["problem"]) for one in json.loads(listed)
    } == {"worker 1": ("gone", None, None), "worker 2": ("set aside", None, None)}
    assert "bad disk" not in arena("worker", "list", "--server", site.url)[1]


def test_a_tournament_elsewhere_is_waited_for(arena: Arena, site: SimpleNamespace) -> None:
    """Until it is over; here a command plays it instead."""
    assert arena("tournament", "show", "played", "--wait", "--server", site.url)[0] == 0
    code, _, error = arena("tournament", "show", "cup", "--wait", "--data", site.folder)
    assert (code, "here it is: arena tournament run cup" in error) == (2, True)
    # Of its three two are suspended, and one is withdrawn: somebody is to decide.
    code, said, error = arena("tournament", "show", "cup", "--wait", "--server", site.url)
    assert (code, "Points against each" in said) == (3, True)
    assert "cup is held up: bot-" in error


def test_a_tournament_is_run_here_whoever_is_logged_in(
    arena: Arena, site: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No server is asked, though the data folder is not named on the command line either."""
    monkeypatch.setenv("ARENA_SERVER", "http://127.0.0.1:9")
    monkeypatch.setenv("ARENA_DATA", str(site.folder))
    code, said, error = arena("tournament", "run", "played")
    assert (code, "Points against each" in said) == (0, True), error
    assert arena("tournament", "show", "played")[0] == 3


def test_who_waits_goes_on_while_the_server_is_away() -> None:
    """And hears of it once; a server that was never there ends it."""
    standing = {"bot": "greedy", "version": 2, "points": 1.5}
    open_ = {
        "state": "open", "held_up": False, "title": "Cup", "standings": [standing],
        "matches": 1, "planned": 2,
    }  # fmt: skip
    script: list[Mapping[str, Any] | Exception] = [
        open_, ServerFault("away"), ServerFault("away"), open_ | {"state": "closed"},
    ]  # fmt: skip

    def look() -> Mapping[str, Any]:
        found = script.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    with ProgressBar("Cup", "match", "matches") as bar:
        said: list[str] = []
        bar.say = said.append  # type: ignore[method-assign]
        TournamentProgressBar(look, bar).follow()
        assert (said, script) == (["away; asking again"], [])
        script.append(ServerFault("can't reach it"))
        with pytest.raises(ServerFault):
            TournamentProgressBar(look, bar).follow()
