"""The commands of tournaments, on an arena in which nothing runs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa

from arena.cli import run
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import Competition, JobStatus
from arena.operation.supervisor import is_running
from arena.schedule.matchmaking import new_matches
from engine.translation import speaking
from tests.arena.competitions.tournament_simulation import TournamentSimulation
from tests.arena.simulator import CALM, START
from tests.marked import MARKED, unmarked

DOCS = Path(__file__).parents[3] / "docs"
Cli = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of an arena of five bots that has played two knockouts."""
    data = tmp_path_factory.mktemp("data")
    database = Database(f"sqlite:///{data}/arena.db")
    database.upgrade()
    simulation = TournamentSimulation(database, 1, CALM, "clobber", 5, size="4x3")
    simulation.create("played", "knockout", third_place=1)
    simulation.create("level", "knockout", extra_legs=0)
    simulation.play_out(5)
    database.close()
    return data


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], played: Path) -> Cli:
    """Runs a command of tournaments on that folder: its exit code, output and errors."""

    def call(*words: object) -> tuple[int, str, str]:
        try:
            code = run(["tournament", *map(str, words), "--data", str(played)])
        except SystemExit as exit_:
            code = int(exit_.code or 0)
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


CREATED = [
    (["--ladder", "ladder-0"], 10, ["bot-0", "bot-1", "bot-2", "bot-3", "bot-4"]),
    (["--ladder", "ladder-0", "--top", "3", "--cycles", "2"], 6, ["bot-0", "bot-1", "bot-2"]),
    (
        ["--game", "clobber size=4x3", "--bots", "bot-3,bot-1:1", "--move", "50"],
        1,
        ["bot-3", "bot-1"],
    ),
    (
        ["--ladder", "ladder-0", "--bots", "bot-4,bot-2", "--as-given", "--time", "10+0.1"],
        1,
        ["bot-4", "bot-2"],
    ),
]


@pytest.mark.long
@pytest.mark.parametrize(("words", "matches", "bots"), CREATED, ids=["all", "top", "bots", "given"])
def test_a_tournament_is_made(cli: Cli, words: list[str], matches: int, bots: list[str]) -> None:
    """It is made from a ladder, its first bots, or named ones; it is shown and listed then."""
    name = f"made-{len(words)}-{matches}"
    code, out, _ = cli("create", name, "--format", "round-robin", *words, "--json")
    assert code == 0
    made = json.loads(out)
    assert (made["state"], made["planned"], made["matches"]) == ("open", matches, 0)
    assert [row["bot"] for row in sorted(made["standings"], key=lambda row: row["seeding"])] == bots
    if "--time" in words:
        assert made["time"] == "time=10000 inc=100"
    listed = json.loads(cli("list", "--json")[1])
    assert name in [one["tournament"] for one in listed]
    shown = json.loads(cli("show", name, "--json")[1])
    assert {key: shown[key] for key in made} == made


REFUSED = [
    (["create", "cup", "--format", "swiss"], "say what is played and by whom"),
    (
        ["create", "cup", "--format", "swiss", "--ladder", "ladder-0", "--game", "clobber"],
        "give --ladder or --game, not both",
    ),
    (
        ["create", "cup", "--format", "swiss", "--ladder", "ladder-0", "--as-given"],
        "--as-given is for those of --bots",
    ),
    (["create", "cup", "--format", "swiss", "--ladder", "nowhere"], "there is no ladder 'nowhere'"),
    (
        ["create", "cup", "--format", "swiss", "--ladder", "ladder-0", "--rounds", "9"],
        "rounds is 9",
    ),
    (["create", "played", "--format", "swiss", "--ladder", "ladder-0"], "choose another name"),
    (
        ["create", "cup", "--format", "swiss", "--ladder", "ladder-0", "--bots", "nope,bot-1"],
        "there is no bot 'nope' that is ready",
    ),
    (
        [
            *("create", "cup", "--format", "swiss", "--ladder", "ladder-0"),
            *("--bots", "bot-0:7,bot-1", "--as-given"),
        ],
        "there is no version 7 of a bot 'bot-0'",
    ),
    (
        ["create", "cup", "--format", "swiss", "--ladder", "ladder-0", "--bots", "bot-0,"],
        "a match takes 2 bots, and the field has 1",
    ),
    (
        ["create", "cup", "--format", "swiss", "--game", "clobber size=4x3", "--bots", ""],
        "a match takes 2 bots, and the field has 0",
    ),
    (
        ["create", "cup", "--format", "swiss", "--ladder", "ladder-0", "--title", "a\nb"],
        "the title is to be a line",
    ),
    (["show", "nothing"], "there is no tournament 'nothing'; there are: played"),
    (["show", "played", "--csv", "--json"], "--csv is of the standings alone; choose it"),
    (["show", "played", "--csv", "--rounds"], "--csv is of the standings alone; choose it"),
    (["pause", "played"], "the tournament played is over"),
    (["resume", "played"], "the tournament played is over"),
]


@pytest.mark.parametrize(("words", "line"), REFUSED, ids=[line for _, line in REFUSED])
def test_wrong_usage_is_one_line(cli: Cli, words: list[str], line: str) -> None:
    """The exit code is 2, and the line says what is wrong."""
    code, out, err = cli(*words)
    assert (code, out) == (2, "")
    assert line in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["round-robin", "--top", "2"], ": round robin of 2 bots, 1 match;"),
        (["round-robin", "--top", "3"], ": round robin of 3 bots, 3 matches;"),
        (["knockout", "--top", "4"], ": knockout of 4 bots, at least 3 matches;"),
    ],
)
def test_what_was_made_is_said(cli: Cli, words: list[str], said: str) -> None:
    """With the number of its matches, and where that is known how long they take."""
    made = cli("create", f"few-{words[-1]}", "--ladder", "ladder-0", "--format", *words)
    assert said in made[1]


def test_the_lot_alone_may_decide_ties(cli: Cli) -> None:
    """Where no tie-breaks are wished for; an empty field is no field."""
    words = ["--ladder", "ladder-0", "--format", "round-robin"]
    assert cli("create", "by-lot", *words, "--tie-breaks", "", "--json")[0] == 0
    assert json.loads(cli("show", "by-lot", "--json")[1])["tie_breaks"] == []
    code, _, problem = cli("create", "nobody", *words, "--bots", "")
    assert (code, "2" in problem) == (2, True)


def test_points_a_game_are_shown_where_they_decide(cli: Cli) -> None:
    """A gauntlet shows them, and no round robin, where everybody has as many games."""
    for format_, shown in (("gauntlet", True), ("round-robin", False)):
        cli("create", f"shown-{format_}", "--ladder", "ladder-0", "--format", format_)
        assert ("a game" in cli("show", f"shown-{format_}")[1]) is shown


def test_the_usual_time_is_told(cli: Cli) -> None:
    """The one of a game without a ladder, by the help and by the docs."""
    words = ["--game", "clobber size=4x3", "--bots", "bot-0,bot-1", "--format", "swiss"]
    assert json.loads(cli("create", "usual", *words, "--json")[1])["time"] == "move=1000"
    assert "1000" in cli("create", "--help")[1]
    assert "1000 ms" in (DOCS / "tournaments.md").read_text(encoding="utf-8")


def test_a_finished_tournament_is_shown(cli: Cli) -> None:
    """Tables for people with the bracket and the rounds, CSV and JSON for programs."""
    code, out, _ = cli("show", "played", "--rounds")
    assert code == 0
    for words in ("closed", "Points against each", "semi-final", "third place", "final", "Round 3"):
        assert words in out
    found = json.loads(cli("show", "played", "--json")[1])
    final = next(tie for tie in found["bracket"] if tie["stage"] == "final")
    lines = list(csv.DictReader(io.StringIO(cli("show", "played", "--csv")[1])))
    assert [line["place"] for line in lines][:4] == ["1", "2", "3", "4"]
    assert f"{lines[0]['bot']} v{lines[0]['version']}" == final["winner"]
    assert [line["bot"] for line in lines] == [row["bot"] for row in found["standings"]]
    assert len(found["digest"]) == 64


def test_who_goes_on_from_a_level_tie_is_said(cli: Cli) -> None:
    """The score does not show it: the better seed stands first."""
    ties = json.loads(cli("show", "level", "--json")[1])["bracket"]
    level = [tie for tie in ties if tie["winner"] and tie["score"] == [1, 1]]
    _, out, _ = cli("show", "level")
    assert level
    for tie in level:
        first, second = tie["bots"]
        line = f"{tie['stage']}: {first} - {second} 1-1, {first} goes on as the better seed"
        assert line in out.splitlines()


@pytest.mark.parametrize("name", ["played", "level"])
def test_what_is_shown_is_translated(cli: Cli, name: str) -> None:
    """All of it but names, and what programs read."""
    english = [cli("show", name, option)[1] for option in ("--json", "--csv")]
    with speaking(MARKED):
        code, out, _ = cli("show", name, "--rounds")
        marked = [cli("show", name, option)[1] for option in ("--json", "--csv")]
    assert code == 0
    assert unmarked(out) <= {"played", "level", "clobber", "size", "bot", "move"}
    assert marked == english


def test_to_run_what_is_over_shows_it(cli: Cli) -> None:
    """No arena is started for it."""
    code, out, _ = cli("run", "played", "--json")
    assert code == 0
    assert json.loads(out)["state"] == "closed"


def test_a_paused_one_is_not_run(cli: Cli) -> None:
    """It says how to go on."""
    cli("create", "waits", "--format", "swiss", "--ladder", "ladder-0")
    assert cli("pause", "waits")[0] == 0
    code, _, err = cli("run", "waits")
    assert code == 2
    assert "waits is paused; go on with: arena tournament resume waits" in err


def test_what_holds_a_tournament_up_is_said(cli: Cli, played: Path) -> None:
    """With all that is left set aside, run ends at once, and says what can be done."""
    cli("create", "held", "--format", "round-robin", "--ladder", "ladder-0", "--top", "2")
    database = Database(f"sqlite:///{played}/arena.db")
    with database.begin() as session:
        made = next(new_matches(session, START, only="held"), None)
        assert made is not None
        made.status = JobStatus.SET_ASIDE
    number = made.id
    database.close()
    code, _, err = cli("run", "held")
    assert code == 3
    assert "held is held up: matches failed too often" in err
    assert f"try them again with: arena match requeue {number}" in err


def test_one_that_was_called_off_is_shown_and_not_run(cli: Cli) -> None:
    """It takes a word on why; every listing has its state, and the standings no winner."""
    cli("create", "off", "--format", "swiss", "--ladder", "ladder-0")
    code, _, err = cli("call-off", "off")
    assert (code, "Missing option '--note'" in err) == (2, True)
    assert cli("call-off", "off", "--note", "too few bots")[1] == (
        "the tournament off is called off\n"
    )
    shown = cli("show", "off", "--rounds")[1]
    assert "called off, 0 of 6 matches, 0 games" in shown
    assert "called off: too few bots; nobody won it" in shown
    assert "not played" in shown
    assert {
        line["place"] for line in csv.DictReader(io.StringIO(cli("show", "off", "--csv")[1]))
    } == {""}
    listed = {one["tournament"]: one["state"] for one in json.loads(cli("list", "--json")[1])}
    assert (listed["off"], listed["played"]) == ("called off", "closed")
    for words in ("run", "resume"):
        code, _, err = cli(words, "off")
        assert (code, "off was called off" in err) == (2, True)


def test_a_field_is_changed(cli: Cli, played: Path) -> None:
    """Before it begins; after that somebody is withdrawn, with a word on why."""
    made = cli(
        "create", "open", "--format", "swiss", "--ladder", "ladder-0", "--top", "3", "--paused"
    )
    assert made[1].endswith("begin with: arena tournament resume open\n")
    assert (
        cli("enter", "open", "bot-4", "bot-3:1")[1]
        == "in the tournament open, of 5 bots now: bot-4 v1, bot-3 v1\n"
    )
    assert cli("withdraw", "open", "bot-0")[1] == (
        "the bot bot-0 v1 is no more in the tournament open\n"
    )
    assert "'bot-0' is not in the tournament open" in cli("withdraw", "open", "bot-0")[2]
    database = Database(f"sqlite:///{played}/arena.db")
    with database.begin() as session:
        session.execute(
            sa.update(Competition).where(Competition.name == "open").values(state="open")
        )
        assert next(new_matches(session, START, only="open"))
    database.close()
    assert "say why bot-1 v1 is withdrawn" in cli("withdraw", "open", "bot-1")[2]
    assert (
        cli("withdraw", "open", "bot-1", "--note", "it hangs")[1]
        == "the bot bot-1 v1 is withdrawn from the tournament open\n"
    )
    shown = cli("show", "open", "--rounds")[1]
    assert "bot-1 v1 was withdrawn: it hangs" in shown
    assert "walkover" in shown


def test_whether_an_arena_runs_is_seen_by_its_lock(played: Path) -> None:
    """A folder of which nobody holds the lock is free; a broker elsewhere means an arena."""
    assert not is_running(Settings(data=played))
    assert is_running(Settings(data=played, broker="redis://somewhere"))


def test_bots_sign_up_by_command(cli: Cli) -> None:
    """Who signed up is shown, with who waits; there are no standings before the field is drawn."""
    made = "create", "later", "--ladder", "ladder-0", "--format", "swiss", "--sign-up"
    until = "--dates", "entries-close=2100-12-24T18:00Z"
    code, said, errors = cli(*made, *until, "--places", 2, "--each-person", 5, "--check-in", 30)
    assert code == 0, errors
    assert said.startswith("bots sign up for the tournament later until 2100-12-24 18:00 UTC; see:")
    assert cli("show", "later")[1].endswith("nobody has signed up\n")
    for bot in ("bot-0", "bot-1:1", "bot-2"):
        assert cli("sign-up", "later", bot)[0] == 0
    _, said, _ = cli("show", "later")
    assert "signing up until 2100-12-24 18:00 UTC, for 2 places\n" in said
    assert [line for line in said.splitlines() if "bot-1 v1" in line]
    told = json.loads(cli("show", "later", "--json")[1])
    assert [(one["bot"], one["waits"]) for one in told["sign_ups"]] == [
        ("bot-0", False),
        ("bot-1", False),
        ("bot-2", True),
    ]
    code, _, errors = cli("show", "later", "--csv")
    assert (code, "later has no standings yet" in errors) == (2, True)
    code, _, errors = cli("check-in", "later", "bot-0")
    assert (code, "opens later: 2100-12-24 17:30 UTC" in errors) == (2, True)
    assert cli("sign-off", "later", "bot-0")[0] == 0
    assert cli("call-off", "later", "--note", "rain")[0] == 0
    assert "called off: rain\n" in cli("show", "later")[1]
