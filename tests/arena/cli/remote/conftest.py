"""An arena elsewhere: over real HTTP, with tokens."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
import sqlalchemy as sa
from werkzeug.serving import make_server

from arena.audit import ARENA
from arena.cli import run
from arena.cli.bundle_intake import BundleIntake
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import Bot, GameSeat, PlayedGame, Scope, User
from arena.people.accounts import add_token
from arena.web.app import create_app
from tests.arena.simulator import CALM, Simulation
from tests.arena.web.signing_in import now, person

BOT = "import sys\nfor line in sys.stdin:\n    print('ready', flush=True)\n"
Arena = Callable[..., tuple[int, str, str]]


@contextmanager
def served(database: Database, folder: Path) -> Iterator[str]:
    """The address at which an arena's pages and its API are, meanwhile."""
    settings = Settings(data=folder, database=database.url)
    app = create_app(settings, BundleIntake(settings.bundles))
    server = make_server("127.0.0.1", 0, app, threaded=True)
    # It looks so often whether it is to end; by itself twice a second, for which a test would wait.
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        app.extensions["arena.database"].close()


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
    with served(database, folder) as url:
        yield SimpleNamespace(
            url=url,
            tokens=tokens,
            database=database,
            game=game,
            folder=folder,
            ladder="ladder-0",
        )
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
