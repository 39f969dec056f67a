"""What is asked of an arena elsewhere, and what can't be."""

from __future__ import annotations

import json
import threading
import zlib
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest
import sqlalchemy as sa

from arena.models import Bot, Entrant, PlayedGame
from arena.operation.notice import GiveNotice
from tests.arena.cli.remote.conftest import Arena
from tests.arena.doing import do
from tests.arena.web.signing_in import now


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (["submit", "BOT", "--ladder", "none"], 2, "There is no ladder none."),
        (["submit", "BOT", "--ladder", "ladder-0", "--name", "bot-0", "--token=eve"], 2, "owner"),
        (["submit", "BOT", "--ladder", "ladder-0", "--owner", "x"], 2, "goes by the token"),
        (["submit", "BOT", "--ladder", "ladder-0", "--team", "x"], 2, "There is no team 'x'"),
        (["submit", "BOT", "--ladder", "ladder-0", "--token=reader"], 2, "no scope submit"),
        (["submit", "/none.py", "--ladder", "ladder-0"], 2, "/none.py"),
        (["status", "nobody"], 2, "There is no bot nobody."),
        (["logs"], 2, "give the number of a game, or --check BOT"),
        (["logs", "abc"], 2, "'abc' is no number of a game; give one, or --check BOT"),
        (["logs", "GAME", "--token=eve"], 2, "there is no such log for you"),
        (["logs", "GAME", "--seat", "1", "--token=eve"], 2, "its owner's alone"),
        (["logs", "--check", "bot-0", "--token=eve"], 2, "is not yours"),
        (["leaderboard", "none"], 2, "There is no ladder none."),
        (["accuracy", "none"], 2, "There is no ladder none."),
        (["export", "none"], 2, "There is no competition none."),
        (["export", "--where", "bot=nobody"], 2, "There is no bot nobody."),
        (["export", "--where", "plies=many"], 2, "Plies: give a number of plies"),
        (["export", "--where", "ending=boredom"], 2, "ending: "),
        (["export", "--where", "size=3"], 2, "size: "),
        (["export", "--where", "after=3"], 2, "write WORD=TEXT"),
        (["export", "--where", "bot"], 2, "write WORD=TEXT"),
        (["export", "ladder-0", "--where", "competition=x"], 2, "competition is said twice"),
        (["export", "ladder-0", "-o", "/none/games"], 2, "can't write /none/games"),
        (["export", "ladder-0", "-o", "x" * 5000], 2, "File name too long"),
        (["export", "ladder-0", "-o", "."], 2, "can't write .: Is a directory"),
        (["export", "--licence", "CC0-1.0"], 2, "--licence is for --parquet"),
        (["export", "--parquet"], 2, "name the folder to write, with -o"),
        (["export", "--parquet", "-o", "dump", "--after", "3"], 2, "a dump goes on by itself"),
        pytest.param(
            ["export", "--parquet", "-o", "/dev/null/dump"],
            2,
            "can't write /dev/null/dump",
            marks=pytest.mark.extras,
        ),
        pytest.param(
            ["export", "none", "--parquet", "-o", "/none/dump"],
            2,
            "There is no competition none.",
            marks=pytest.mark.extras,
        ),
        (["submit", "x" * 5000, "--ladder", "ladder-0"], 2, "is too long to be the name of a file"),
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
            do(session, GiveNotice(text), now())
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
    """The owner has them by seat."""
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
    some = ("--where", "bot=bot-0", "--where", "seat=1", "--where", "result=won")
    code, found, _ = owner("export", "ladder-0", *some)
    assert code == 0
    # Of the games of two random players some are so, and others are not.
    assert set(found.splitlines()) < set(lines)
    for line in map(json.loads, found.splitlines()):
        assert line["players"][0].startswith("bot-0")
        assert line["ranks"] == [1, 2]
    by_number = owner("replay", middle, "--json")
    assert by_number[0] == 0
    assert json.loads(by_number[1])["valid"] is True
    for page in ("", "/3", ".json"):
        assert owner("replay", f"{site.url}/games/{middle}{page}", "--json") == by_number


def test_a_download_that_breaks_off_empties_no_file(arena: Arena, tmp_path: Path) -> None:
    """The file is replaced once all is there; what came lies beside it."""
    games = b'{"number": 1}\n{"number": 2}\n'

    class Broken(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("X-Total-Count", "1000")
            self.send_header("Content-Encoding", "gzip")
            self.end_headers()
            packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
            self.wfile.write(packer.compress(games) + packer.flush(zlib.Z_SYNC_FLUSH))

        def log_message(self, *_: object) -> None: ...

    file, link = tmp_path / "games.jsonl", tmp_path / "link"
    file.write_text("those of before")
    link.symlink_to(file)
    with HTTPServer(("127.0.0.1", 0), Broken) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}"
        code, _, errors = arena("export", "ladder-0", "-o", link, "--server", url)
        thread.join()
    part = tmp_path / "games.jsonl.part"
    assert (code, file.read_text(), part.read_bytes()) == (3, "those of before", games)
    assert "broke off: Compressed file ended" in errors
    assert errors.endswith(f"; 2 games that came are in {part}\n")


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
    """It may be another program's, a proxy's whose arena is away, or cut short."""

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


@pytest.mark.parametrize(
    ("answers", "code", "words"),
    [
        ([(200, b"[]")], 3, "does not say what was done: is that an arena?"),
        ([(405, b'{"detail": "No."}')], 2, "or the arena is of another release"),
        ([(200, b'{"said": "one"}'), (409, b'{"detail": "Not so."}')], 2, "arena: Not so."),
        ([(200, b'{"said": "one"}'), (500, b"")], 3, "can't do it: status 500"),
        ([(301, b"")], 2, "sends its visitors to http://elsewhere.invalid/: log in there instead"),
    ],
)
def test_what_was_done_is_told_though_more_can_not_be(
    arena: Arena, answers: list[tuple[int, bytes]], code: int, words: str
) -> None:
    """An arena of another release says so, and one that refuses the second of two."""
    waiting = list(answers)

    class Other(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            status, said = waiting.pop(0)
            self.send_response(status)
            if status == 301:
                self.send_header("Location", "http://elsewhere.invalid/")
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Other) as server:
        thread = threading.Thread(target=lambda: [server.handle_request() for _ in answers])
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}"
        found, said, errors = arena("match", "requeue", "1", "2", "--server", url)
        thread.join()
    *before, last = errors.splitlines()
    assert (found, said) == (code, "")
    assert before == [f"1 of 2 done before that, the last at {url}: one"] * (len(answers) - 1)
    assert last.endswith(words)


@pytest.mark.parametrize("answer", [{}, {"items": [{}], "next": None}], ids=["one", "a list"])
@pytest.mark.parametrize(
    "words",
    [
        "status bot-0",
        "leaderboard x",
        "ladders",
        "match list",
        "tournament list",
        "tournament show x",
        "strength list",
        "strength show 1",
        "user list",
        "top --once",
        "logs 1",
        "logs --check x",
        "cancel x",
    ],
)
def test_a_server_that_does_not_tell_what_is_asked_for_is_older(
    arena: Arena, words: str, answer: dict[str, object]
) -> None:
    """As one is that is upgraded after the commands: in one line, whatever it lacks."""

    class Older(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            said = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Older) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}"
        code, _, errors = arena(*words.split(), "--server", url)
        server.shutdown()
        thread.join()
    assert (code, errors.count("\n")) == (3, 1), errors
    assert "the server does not tell " in errors
    assert ": it is older than this program, or no arena;" in errors
