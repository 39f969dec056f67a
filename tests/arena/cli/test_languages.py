"""The command line in another language: a catalogue of a few texts stands for a whole one."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import threading
from contextlib import closing, suppress
from gettext import NullTranslations
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

from arena.cli import listing
from arena.cli.client import RemoteArena
from arena.cli.interrupts import UnderWay
from arena.cli.listing import show
from arena.cli.runner import Launcher, in_order
from arena.ground.catalogues import FOLDER, languages
from engine.player import BotError, VoidGameError
from engine.program import PlainProgram, Program
from engine.translation import ENGLISH, Translation, gettext, speaking
from tests.arena.conftest import Cli
from tests.arena.running import arena, environment

TEXTS = {
    "An arena for game-playing bots.\n\nExample: arena play clobber random greedy --games 10": (
        "Un'arena per bot."
    ),
    "Show the version and exit.": "Mostra la versione.",
    "List the games that can be played here.": "Elenca i giochi.",
    "Look around": "Guardarsi intorno",
    "List the tournaments, the first made first.\n\nExample: arena tournament list": (
        "Elenca i tornei."
    ),
    "Print JSON.": "Stampa JSON.",
    "Missing argument": "Manca l'argomento",
    "there is no command %(name)r": "il comando %(name)r non esiste",
    "(see %(command)s --help)": "(vedi %(command)s --help)",
    "give --time or --move, not both": "dai --time o --move, non entrambi",
    "game": "gioco",
    "status": "stato",
    "state": "stato",
    "passed of a strength test": "superato",
    "passed": "passato",
    "no room": "pieno",
    "a match that could not be played is tried again: %(error)s": "ritentato: %(error)s",
}


class _Few(NullTranslations):
    def gettext(self, message: str) -> str:
        return TEXTS.get(message, message)

    def pgettext(self, context: str, message: str) -> str:
        return TEXTS.get(f"{message} of {context}", message)


ITALIAN = Translation("it", _Few())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--help", "Un'arena per bot|Mostra la versione|Guardarsi intorno:|Elenca i giochi"),
        ("tournament list --help", "Elenca i tornei|Stampa JSON"),
        ("games", "gioco"),
    ],
)
def test_what_is_printed_is_in_the_language_that_is_spoken(cli: Cli, words: str, said: str) -> None:
    """And in English again where that is spoken: nothing remembers what another reader was told."""
    english = cli(*words.split())
    with speaking(ITALIAN):
        told = cli(*words.split())
    assert told.code == 0
    for text in said.split("|"):
        assert text in told.out
        assert text not in english.out
    assert cli(*words.split()).out == english.out


def test_a_refusal_is_in_the_language_that_is_spoken(cli: Cli) -> None:
    """Still one line."""
    with speaking(ITALIAN):
        told = cli("play", "clobber", "random", "random", "--time", "1+1", "--move", "5")
    assert (told.code, told.out) == (2, "")
    assert told.err == "arena: dai --time o --move, non entrambi\n"


def test_a_table_is_in_the_language_and_its_json_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    """Two columns may be called alike there; a state is said in the word that goes with it."""
    rows = [{"bot": "mybot", "status": "passed", "state": "50%"}]
    with speaking(ITALIAN):
        kinds = {"status": "a strength test", "state": "a bot"}
        show(rows, list(rows[0]), in_json=False, kinds=kinds)
        words = re.findall(r"\w+", capsys.readouterr().out)
        show(rows, list(rows[0]), in_json=True)
    assert words == ["bot", "stato", "stato", "mybot", "superato", "50"]
    assert json.loads(capsys.readouterr().out) == rows


def kinds_named() -> set[str]:
    """What commands say that a state is of."""
    found: set[str] = set()
    for file in Path(listing.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_bytes())):
            match node:
                case ast.keyword(arg="kinds", value=ast.Dict(values=kinds)):
                    found.update(one.value for one in kinds if isinstance(one, ast.Constant))
                case ast.Call(func=ast.Name(id="state_of"), args=[ast.Constant(value=kind), *_]):
                    found.add(kind)
    return found


@pytest.mark.long
@pytest.mark.parametrize("language", languages()[1:])
def test_each_kind_of_state_is_in_each_catalogue(language: str) -> None:
    """A state is looked for by its kind, and one that no catalogue knows stays in English."""
    with (FOLDER / f"{language}.po").open("rb") as file:
        known = {one.context or "" for one in read_po(file)}
    assert kinds_named() >= {"a strength test", "a match", "a check", ""}
    assert kinds_named() <= known


SPOKEN = """
import sys
from pathlib import Path
from arena.ground import catalogues
catalogues.FOLDER = Path(sys.argv.pop(1))
from arena.cli import main
main()
"""


@pytest.mark.parametrize(
    ("asked", "words", "said"),
    [
        ("LANG=it_IT.UTF-8", "moves", "Manca l'argomento 'GAME'. (vedi arena moves --help)"),
        ("LANG=it_IT.UTF-8", "frob", "il comando 'frob' non esiste (vedi arena --help)"),
        ("LANG=de_DE.UTF-8 LANGUAGE=de:it", "moves", "Manca l'argomento 'GAME'."),
        ("LANG=it_IT.UTF-8 LC_ALL=C", "moves", "Missing argument 'GAME'. (see arena moves --help)"),
        ("LANG=de_DE.UTF-8", "frob", "there is no command 'frob' (see arena --help)"),
    ],
)
def test_the_environment_says_which_language(
    tmp_path: Path, asked: str, words: str, said: str
) -> None:
    """What the library of the command line says goes by it, too."""
    texts = (f"msgid {json.dumps(one)}\nmsgstr {json.dumps(its)}\n" for one, its in TEXTS.items())
    head = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n'
    (tmp_path / "it.po").write_text("\n".join([head, *texts]), encoding="utf-8")
    variables = dict.fromkeys(("LANGUAGE", "LC_ALL", "LC_MESSAGES"), "")
    variables |= dict(one.split("=") for one in asked.split())
    done = subprocess.run(
        [sys.executable, "-P", "-c", SPOKEN, str(tmp_path), *words.split()],
        env=environment(XDG_CACHE_HOME=str(tmp_path), **variables),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"arena: {said}")


@pytest.mark.long
def test_what_runs_on_speaks_english(tmp_path: Path) -> None:
    """A process of an arena does not speak as whoever started it: its log is for everybody."""
    file = tmp_path / "arena.db"
    file.write_text("no database\n" * 10)
    done = arena("run", "prepare", LANG="it_IT.UTF-8", ARENA_DATABASE=f"sqlite:///{file}")
    assert done.stderr.startswith(f"{file} is no database, or a damaged one: choose another")


def test_a_server_is_asked_in_the_language_that_is_spoken() -> None:
    """The header says it that its pages go by."""

    class Echo(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(self.headers["Accept-Language"]).encode())

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Echo) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        there = RemoteArena(f"http://127.0.0.1:{server.server_port}", None)
        with speaking(ITALIAN):
            told = there.get("/account")
        assert (told, there.get("/account")) == ("it", "en")
        server.shutdown()


def test_threads_of_matches_tell_it_in_the_language_of_their_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Though what they record is in English: of a box that can't be built, too."""

    def start(_: int | None) -> Program:
        if failures:
            raise VoidGameError(gettext(failures.pop()))
        return PlainProgram(["true"])

    def play(_: None) -> None:
        player = Launcher("bot", start).player()
        with speaking(ENGLISH), closing(player), suppress(BotError):
            player.start()

    failures = ["no room"]
    with speaking(ITALIAN):
        list(in_order([None], UnderWay().patiently(play), concurrency=1))
    assert capsys.readouterr().err == "ritentato: pieno\n"
