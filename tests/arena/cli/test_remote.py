"""The commands on an arena elsewhere: over real HTTP, with a token, to the exit codes of a CI."""

from __future__ import annotations

import json
import stat
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import sqlalchemy as sa
from werkzeug.serving import make_server

from arena.audit import ARENA
from arena.cli import run
from arena.cli.client import Login, login_file, store_login
from arena.cli.serve import BundleIntake
from arena.config import Settings
from arena.db import Database
from arena.models import Bot, Check, Entrant, GameSeat, JobStatus, PlayedGame, Scope, User
from arena.notice import give_notice
from arena.people import add_token
from arena.web.app import create_app
from tests.arena.simulator import CALM, Simulation
from tests.arena.web.signing_in import now, person

BOT = "import sys\nfor line in sys.stdin:\n    print('ready', flush=True)\n"
Arena = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """A server with a ladder on which some games were played, and a token of its bots' owner."""
    folder = tmp_path_factory.mktemp("site")
    database = Database(f"sqlite:///{folder}/arena.db")
    database.upgrade()
    simulation = Simulation(database, 3, CALM)
    simulation.furnish([("clobber", {"size": "4x3"})], bots=3)
    simulation.play(3)
    with database.begin() as session:
        owner = session.scalars(sa.select(User).join(Bot, Bot.owner_id == User.id).limit(1)).one()
        tokens = {
            "owner": add_token(session, ARENA, owner, "ci", [Scope.READ, Scope.SUBMIT], now()),
            "reader": add_token(session, ARENA, owner, "r", [Scope.READ], now()),
        }
        game = session.scalars(sa.select(sa.func.max(PlayedGame.id))).one()
        for seat in session.scalars(sa.select(GameSeat).where(GameSeat.game_id == game)):
            seat.log = f"seat {seat.seat + 1} wrote this\n"
    other = person(database, "eve")
    with database.begin() as session:
        tokens["eve"] = add_token(session, ARENA, other, "e", [Scope.READ, Scope.SUBMIT], now())
    settings = Settings(data=folder, database=database.url)
    app = create_app(settings, BundleIntake(settings.bundles))
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield SimpleNamespace(
        url=f"http://127.0.0.1:{server.port}",
        tokens=tokens,
        database=database,
        game=game,
        folder=folder,
        ladder="ladder-0",
    )
    server.shutdown()
    thread.join()
    server.server_close()
    app.extensions["arena.database"].close()
    database.close()


@pytest.fixture
def arena(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Arena:
    """Runs a command: its exit code, what it prints, its errors. Nobody is logged in."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("ARENA_SERVER", raising=False)
    monkeypatch.delenv("ARENA_TOKEN", raising=False)

    def command(*words: object) -> tuple[int, str, str]:
        capsys.readouterr()
        try:
            code = run([str(word) for word in words])
        except SystemExit as end:
            code = int(end.code or 0)
        said = capsys.readouterr()
        return code, said.out, said.err

    return command


@pytest.fixture
def owner(arena: Arena, site: SimpleNamespace) -> Arena:
    """The same, logged in with the owner's token."""
    code, _, errors = arena("login", site.url, "--token", site.tokens["owner"])
    assert code == 0, errors
    return arena


@pytest.fixture
def bot(tmp_path: Path) -> Path:
    file = tmp_path / "mine.py"
    file.write_text(BOT)
    return file


class Checker(threading.Thread):
    """Ends the checks of a database, as workers and the recorder do, a finding at a time."""

    def __init__(self, database: Database, *, kept: bool, status: JobStatus) -> None:
        super().__init__()
        self._database, self._kept, self._status = database, kept, status

    def run(self) -> None:
        ends = time.monotonic() + 20
        while time.monotonic() < ends:
            with self._database.begin() as session:
                query = sa.select(Check).where(Check.status == JobStatus.OPEN)
                check = session.scalars(query.order_by(Check.id.desc())).first()
                if check is not None:
                    if self._status is JobStatus.FIXED:
                        check.findings = [
                            {"kept": True, "words": "said hello", "clause": "", "lines": []},
                            {
                                "kept": self._kept,
                                "words": "moved",
                                "clause": "move",
                                "lines": ["> go", "< oops"],
                            },
                        ]
                        check.log = "IndexError: no such move\n"
                    check.status, check.problem = self._status, "the machine burnt down"
                    return
            time.sleep(0.1)


def test_a_login_is_kept_for_this_user_alone(arena: Arena, site: SimpleNamespace) -> None:
    """Nobody else may read the file; after logout there is none."""
    code, said, _ = arena("login", f"{site.url}/", "--token", site.tokens["owner"])
    assert (code, "(scopes: read, submit)" in said) == (0, True)
    assert stat.S_IMODE(login_file().stat().st_mode) == 0o600
    kept = json.loads(login_file().read_text())
    assert kept == {"server": site.url, "token": site.tokens["owner"]}
    assert site.tokens["owner"] not in said
    assert arena("logout")[:2] == (0, "forgotten\n")
    assert not login_file().exists()
    assert arena("logout")[:2] == (0, "nobody was logged in\n")


def test_a_token_comes_from_a_pipe(
    arena: Arena, site: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that it stands in no list of processes."""
    file = tmp_path / "token"
    file.write_text(f"{site.tokens['owner']}\n")
    with file.open() as pipe:
        monkeypatch.setattr("sys.stdin", pipe)
        assert arena("login", site.url)[0] == 0


@pytest.mark.parametrize(
    ("url", "token", "code", "words"),
    [
        ("{url}", "made-up", 2, "wants a token that it knows"),
        ("{url}", "", 2, "this is no token"),
        ("{url}", "a\nb", 2, "this is no token"),
        ("ftp://example.org", "x", 2, "is no address of an arena"),
        ("http://[example", "x", 2, "is no address of an arena"),
        ("http://127.0.0.1:9", "x", 3, "can't reach http://127.0.0.1:9"),
        ("{url}/docs", "x", 2, "status 404"),
    ],
)
def test_a_login_that_can_be_none_is_refused(
    arena: Arena, site: SimpleNamespace, url: str, token: str, code: int, words: str
) -> None:
    """In one line, and nothing is kept."""
    found, _, errors = arena("login", url.format(url=site.url), "--token", token)
    assert (found, errors.count("\n"), words in errors) == (code, 1, True), errors
    assert not login_file().exists()


@pytest.mark.parametrize(
    ("kept", "status", "code", "words"),
    [
        (True, JobStatus.FIXED, 0, "passed its check"),
        (False, JobStatus.FIXED, 1, "did not pass its check"),
        (True, JobStatus.SET_ASIDE, 3, "through no fault of it: the machine burnt down"),
    ],
    ids=["passed", "failed", "set aside"],
)
def test_submit_waits_for_the_check(
    owner: Arena,
    site: SimpleNamespace,
    bot: Path,
    kept: bool,
    status: JobStatus,
    code: int,
    words: str,
) -> None:
    """The exit code is what a CI goes by, and the findings say why."""
    checker = Checker(site.database, kept=kept, status=status)
    checker.start()
    name = f"mine-{kept}-{status.value[:3]}"
    found, said, errors = owner(
        "submit", bot, "--name", name, "--ladder", site.ladder, "--wait", "--note", "new"
    )
    checker.join()
    assert found == code, errors
    assert words in said + errors
    if status is JobStatus.FIXED:
        assert "  ok   said hello\n" in said
        assert ("  FAIL move: moved\n       > go\n       < oops\n" in said) is not kept
        assert ("--- what it wrote\nIndexError: no such move\n" in said) is not kept
        again, said, _ = owner("logs", "--check", name)
        assert again == code
        assert "moved" in said


def test_submit_waits_no_longer_than_is_said(
    owner: Arena, site: SimpleNamespace, bot: Path
) -> None:
    """A server without workers is nobody's bot's fault."""
    words = ["submit", bot, "--name", "slow", "--ladder", site.ladder]
    code, said, _ = owner(*words)
    assert (code, "See: arena logs --check slow" in said) == (0, True)
    code, _, errors = owner(*words, "--wait", "--wait-seconds", 1)
    assert (code, "has not ended after 1 second;" in errors) == (3, True)
    with site.database.begin() as session:
        session.execute(
            sa.update(Check).where(Check.status == JobStatus.OPEN).values(status=JobStatus.VOID)
        )


def test_submit_waits_for_a_server_that_is_away(
    arena: Arena, bot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What began goes on there while the server is started anew; each failure is told once."""
    check = {"number": 7, "bot": "mine", "version": 1, "ladder": "x", "status": "issued"}
    check |= {"passed": None, "findings": [], "log": "", "problem": ""}
    answers = [(201, check), *[(503, {"detail": "not now"})] * 3, (502, {}), (200, check)]
    answers.append((200, {**check, "passed": True}))

    class Restarting(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.do_GET()

        def do_GET(self) -> None:
            status, answer = answers.pop(0)
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    monkeypatch.setattr("arena.cli.remote.LOOK_SECONDS", 0.01)
    with HTTPServer(("127.0.0.1", 0), Restarting) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        where = f"http://127.0.0.1:{server.server_port}"
        words = ["submit", bot, "--ladder", "x", "--server", where, "--wait"]
        code, said, errors = arena(*words)
        server.shutdown()
        thread.join()
    assert (code, "mine v1 passed its check" in said) == (0, True), errors
    assert errors.count("can't do it: not now; asking again\n") == 1
    assert errors.count("can't do it: status 502; asking again\n") == 1


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (["submit", "BOT", "--ladder", "none"], 2, "There is no ladder none."),
        (["submit", "BOT", "--ladder", "ladder-0", "--name", "bot-0", "--token=eve"], 2, "owner"),
        (["submit", "BOT", "--ladder", "ladder-0", "--owner", "x"], 2, "goes by the token"),
        (["submit", "BOT", "--ladder", "ladder-0", "--token=reader"], 2, "no scope submit"),
        (["submit", "/none.py", "--ladder", "ladder-0"], 2, "/none.py"),
        (["status", "nobody"], 2, "There is no bot nobody."),
        (["logs"], 2, "give the number of a game, or --check BOT"),
        (["logs", "abc"], 2, "'abc' is no number of a game; give one, or --check BOT"),
        (["logs", "GAME", "--token=eve"], 2, "there is no such log for you"),
        (["logs", "GAME", "--seat", "1", "--token=eve"], 2, "its owner's alone"),
        (["logs", "--check", "bot-0", "--token=eve"], 2, "is not yours"),
        (["leaderboard", "none"], 2, "There is no ladder none."),
        (["export", "none"], 2, "There is no competition none."),
        (["export", "ladder-0", "-o", "/none/games"], 2, "can't write /none/games"),
        (["replay", "99999"], 2, "There is no game 99999."),
        (["status", "--server", "nowhere.invalid"], 3, "can't reach https://nowhere.invalid"),
    ],
)
def test_what_can_not_be_is_said_in_one_line(
    owner: Arena,
    site: SimpleNamespace,
    bot: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    code: int,
    error: str,
) -> None:
    """With the server's own words where it is the server that refuses."""
    given = {"BOT": str(bot), "GAME": str(site.game)}
    for word in words:
        if word.startswith("--token="):
            monkeypatch.setenv("ARENA_TOKEN", site.tokens[word.removeprefix("--token=")])
    words = [given.get(word, word) for word in words if not word.startswith("--token=")]
    found, _, errors = owner(*words)
    assert (found, errors.count("\n")) == (code, 1), errors
    assert error in errors


def test_nobody_logged_in_names_a_server(
    arena: Arena, site: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By an option or the environment; a data folder comes before the latter."""
    code, _, errors = arena("status", "bot-0")
    assert (code, "log in with arena login URL" in errors) == (2, True)
    assert arena("status", "bot-0", "--server", site.url)[0] == 0
    monkeypatch.setenv("ARENA_SERVER", site.url)
    assert arena("status", "bot-0")[0] == 0
    assert arena("status")[0] == 2
    monkeypatch.setenv("ARENA_TOKEN", site.tokens["owner"])
    assert arena("status")[0] == 0
    monkeypatch.setenv("ARENA_SERVER", "http://127.0.0.1:9")
    assert arena("leaderboard", "ladder-0", "--data", site.folder)[0] == 0
    code, _, errors = arena("leaderboard", "ladder-0", "--data", site.folder, "--server", site.url)
    assert (code, "give --server or --data, not both" in errors) == (2, True)


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("{token}\n", 0, "bot-0"),
        (" {token} ", 0, "bot-0"),
        ("{token}\nx", 2, "is no token: make one on your account's page"),
        ("{token}\N{WHITE SMILING FACE}", 2, "is no token: make one on your account's page"),
        ("{token}\x7f", 2, "is no token: make one on your account's page"),
    ],
    ids=ascii,
)
@pytest.mark.parametrize("kept", [False, True], ids=["in the environment", "in the login"])
def test_a_token_is_read_without_what_is_around_it(
    arena: Arena,
    site: SimpleNamespace,
    monkeypatch: pytest.MonkeyPatch,
    kept: bool,
    text: str,
    code: int,
    words: str,
) -> None:
    """A line's end comes with many files; what no token has in it is refused, and not shown."""
    token = text.format(token=site.tokens["owner"])
    if kept:
        store_login(Login(site.url, token))
    else:
        monkeypatch.setenv("ARENA_TOKEN", token)
    found, said, errors = arena("status", "--server", site.url)
    assert (found, words in said + errors) == (code, True), errors
    assert site.tokens["owner"] not in errors
    assert errors.count("\n") == (code != 0)


def test_here_and_there_show_the_same(owner: Arena, site: SimpleNamespace) -> None:
    """A ladder's board is the same by the API as from the data folder."""
    _, there, _ = owner("leaderboard", "ladder-0", "--json")
    _, here, _ = owner("leaderboard", "ladder-0", "--json", "--data", site.folder)

    def essence(text: str) -> list[tuple[Any, ...]]:
        keys = ("rank", "bot", "version", "rating", "games", "wins", "draws", "losses")
        return [tuple(line[key] for key in keys) for line in json.loads(text)["bots"]]

    assert essence(there) == essence(here) != []
    assert "bot-0" in owner("leaderboard", "ladder-0")[1]


def test_status_says_how_bots_stand(owner: Arena, site: SimpleNamespace) -> None:
    """One's own, or any by its name."""
    with site.database.begin() as session:
        session.execute(sa.update(Entrant).values(best_rank=2, best_rank_at=sa.func.now()))
    rows = json.loads(owner("status", "bot-0", "--json")[1])
    with site.database.read() as session:
        games = session.scalars(
            sa.select(Entrant.games)
            .join(Entrant.version)
            .join(Bot, Bot.name == "bot-0")
            .where(Bot.id == sa.literal_column("bot_version.bot_id"))
        ).all()
    assert [row["games"] for row in rows] == games
    assert {row["rank"] for row in rows} == {"placement"}
    assert {row["best rank"] for row in rows} == {2}
    assert {"bot-0", "bot-1", "bot-2"} <= {
        row["bot"] for row in json.loads(owner("status", "--json")[1])
    }


def test_status_tells_the_notice(owner: Arena, site: SimpleNamespace) -> None:
    """Beside the listing, which programs read, and for no longer than it holds."""
    said = []
    for text in ("Maintenance on Saturday", ""):
        with site.database.begin() as session:
            give_notice(session, ARENA, text, now())
        code, listing, errors = owner("status", "bot-0", "--json")
        said.append((code, errors, {row["bot"] for row in json.loads(listing)}))
    assert said == [
        (0, "the arena's notice: Maintenance on Saturday\n", {"bot-0"}),
        (0, "", {"bot-0"}),
    ]


@pytest.mark.parametrize("name", ["", "bot-0/checks"])
@pytest.mark.parametrize("command", ["status", "logs --check", "export", "leaderboard"])
def test_a_name_is_one_part_of_an_address(owner: Arena, command: str, name: str) -> None:
    """No other one is asked for, and an empty name is not all that there is."""
    code, said, errors = owner(*command.split(), name)
    assert (code, said) == (2, "")
    assert f"{name!r} is no name" in errors
    assert errors.count("\n") == 1


def test_logs_of_a_game_are_shown(owner: Arena, site: SimpleNamespace) -> None:
    """By seat, to the owner."""
    code, said, _ = owner("logs", site.game)
    assert (code, "seat 1 wrote this" in said, "seat 2 wrote this" in said) == (0, True, True)
    one = json.loads(owner("logs", site.game, "--seat", 2, "--json")[1])
    assert [entry["log"] for entry in one] == ["seat 2 wrote this\n"]


def test_exported_games_are_replayed(owner: Arena, site: SimpleNamespace, tmp_path: Path) -> None:
    """All of them, or from where it broke off; one game also by its number or its page."""
    file = tmp_path / "games.jsonl"
    assert owner("export", "ladder-0", "-o", file)[0] == 0
    lines = file.read_text().splitlines()
    with site.database.read() as session:
        assert len(lines) == session.scalar(sa.select(sa.func.count()).select_from(PlayedGame))
    assert owner("replay", file)[0] == 0
    middle = json.loads(lines[1])["number"]
    assert owner("export", "ladder-0", "--after", middle, "-o", file)[0] == 0
    assert file.read_text().splitlines() == lines[2:]
    by_number = owner("replay", middle, "--json")
    assert by_number[0] == 0
    assert json.loads(by_number[1])["valid"] is True
    for page in ("", "/3", ".json"):
        assert owner("replay", f"{site.url}/games/{middle}{page}", "--json") == by_number


def test_a_token_goes_nowhere_else(
    owner: Arena, site: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not to another server that is named, and not where one redirects to."""
    seen: list[str | None] = []

    class Thief(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.headers["Authorization"])
            if "/bots/" in self.path:
                self.send_response(302)
                self.send_header("Location", f"{site.url}/api/v1/bots/bot-0")
            else:
                self.send_response(404)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Thief) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}"
        try:
            assert owner("replay", f"{url}/games/1")[0] == 2
            assert owner("leaderboard", "ladder-0", "--server", url)[0] == 2
            code, _, errors = owner("status", "bot-0", "--server", url)
            assert (code, "sends its visitors to" in errors) == (2, True)
        finally:
            server.shutdown()
            thread.join()
    assert seen == [None, None, None]


@pytest.mark.parametrize(
    ("status", "length", "code", "words"),
    [
        (404, 2, 2, "answers by status 404: is that the address of an arena?"),
        (502, 2, 3, "can't do it: status 502"),
        (200, 2, 3, "the server answers no JSON: is that the address of an arena?"),
        (200, 100, 3, "broke off: IncompleteRead(2 bytes read, 98 more expected)"),
    ],
)
def test_an_answer_that_is_no_arenas_is_told(
    arena: Arena, status: int, length: int, code: int, words: str
) -> None:
    """Of another program, of a proxy whose arena is away, and one that is cut short."""

    class Other(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(length))
            self.end_headers()
            self.wfile.write(b"no")

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Other) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}"
        found, _, errors = arena("status", "bot-0", "--server", url)
        thread.join()
    assert (found, errors.count("\n")) == (code, 1), errors
    assert f"{words}\n" in errors
