"""Logging in to an arena elsewhere, and where its token goes."""

from __future__ import annotations

import json
import stat
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest

from arena.cli.client import Login, login_file, store_login
from tests.arena.cli.remote.conftest import Arena


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
        (f"http://{'x' * 64}.org", "x", 2, "is no address of an arena"),
        ("http://example.org:99999", "x", 2, "is no address of an arena"),
        ("http://127.0.0.1:9", "x", 3, "can't reach http://127.0.0.1:9"),
        ("{url}/docs", "x", 2, "status 404"),
    ],
)
def test_a_login_that_can_be_none_is_refused(
    arena: Arena, site: SimpleNamespace, url: str, token: str, code: int, words: str
) -> None:
    """It is told in one line, and nothing is kept."""
    found, _, errors = arena("login", url.format(url=site.url), "--token", token)
    assert (found, errors.count("\n"), words in errors) == (code, 1, True), errors
    assert not login_file().exists()


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
    assert errors.count("\n") == 1  # what is wrong, or how much is stored


def test_nobody_logged_in_names_a_server(
    arena: Arena, site: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An option or the environment names it; a data folder comes before the latter."""
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
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
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
