"""What a shell completes."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import click
import pytest
from click.shell_completion import get_completion_class

from arena.cli import COMMANDS, COMPLETE, cli, completing
from arena.cli.client import Name
from arena.cli.completion import SHELLS
from arena.ground.db import Database
from tests.arena.cli.remote.conftest import served
from tests.arena.conftest import Cli
from tests.arena.running import environment
from tests.arena.simulator import CALM, Simulation

NAMES = {"ladder", "ladder_name", "bots", "candidate", "baseline"}
"""What is always the name of something that is listed somewhere."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """A server of a ladder with three bots."""
    folder = tmp_path_factory.mktemp("site")
    database = Database(f"sqlite:///{folder}/arena.db")
    database.upgrade()
    Simulation(database, 3, CALM).furnish([("clobber", {"size": "4x3"})], bots=3)
    with served(database, folder) as url:
        yield SimpleNamespace(url=url, folder=folder)
    database.close()


def completed(monkeypatch: pytest.MonkeyPatch, line: str) -> list[str]:
    """What bash is told behind these words, of which the last has only begun.

    A word is broken as bash breaks it.
    """
    words = [part for word in line.split(" ") for part in broken(word)]
    monkeypatch.setenv("COMP_WORDS", "\n".join(words))
    monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
    kind = get_completion_class("bash")
    assert kind is not None
    return kind(cli, {}, "arena", COMPLETE).complete().splitlines()


def broken(word: str) -> list[str]:
    """It as bash takes it, with ``=`` and ``:`` as words of their own."""
    parts = word.replace("=", " = ").replace(":", " : ").split(" ")
    return [part for part in parts if part] or [""]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("arena p", ["plain,perft", "plain,play", "plain,preset"]),
        ("arena --v", ["plain,--version"]),
        ("arena play Clob", ["plain,clobber"]),
        ("arena play clobber size=5", ["plain,5x6"]),
        ("arena play clobber size=5x6 gre", ["plain,greedy"]),
        ("arena play clobber ./my", ["file,./my"]),
        ("arena ask mijn", ["plain,mijnlieff", "plain,mijnlieff-expert"]),
        ("arena ask ./mine.py", ["file,./mine.py"]),
        ("arena test a b --game=six", []),
        ("arena test a b --game=sieg", ["plain,siege"]),
        ("arena moves nothing size=", []),
        ("arena completion z", ["plain,zsh"]),
        ("arena nothing x", []),
    ],
)
def test_what_is_here(monkeypatch: pytest.MonkeyPatch, line: str, found: list[str]) -> None:
    """Commands, options, games with their options, sample bots, files."""
    assert completed(monkeypatch, line) == found


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("leaderboard lad", ["ladder-0"]),
        ("submit --ladder L", ["ladder-0"]),
        ("status bot-", ["bot-0", "bot-1", "bot-2"]),
        ("match request ladder-0 bot-0 bot-2", ["bot-2"]),
        ("tournament create cup --bots bot-0,bot-1", ["bot-0,bot-1"]),
        ("tournament show c", []),
        ("bot withdraw bot-1", ["bot-1"]),
        ("user role per", []),
    ],
)
def test_names_of_an_arena(
    site: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, line: str, found: list[str]
) -> None:
    """A data folder and a server complete them alike, whose address bash breaks into words, too."""
    command, *rest = line.split(" ")
    group = (
        [command, rest.pop(0)] if command in ("match", "tournament", "bot", "user") else [command]
    )
    for arena in (f"--data {site.folder}", f"--server {site.url}"):
        if line.startswith("status") and "--data" in arena:
            continue  # it is about servers alone
        told = completed(monkeypatch, " ".join(["arena", *group, arena, *rest]))
        assert told == [f"plain,{name}" for name in found]


def test_an_arena_that_is_away_is_no_fault(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is offered, nothing is said, and nobody waits for long."""
    monkeypatch.setattr(completing, "WAIT_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        for arena in (f"--server http://127.0.0.1:{port}", "--server no:thing", "--data nowhere"):
            assert completed(monkeypatch, f"arena leaderboard {arena} x") == []
    assert capsys.readouterr() == ("", "")


def all_commands() -> Iterator[tuple[str, click.Command]]:
    """Each with its words."""
    context = click.Context(cli)
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from ((f"{name} {inner}", one) for inner, one in command.commands.items())
        else:
            yield name, command


def test_whatever_takes_such_a_name_completes_it() -> None:
    """Ladders, bots and games, as far as they are called so."""
    plain = [
        f"{words} {param.name}"
        for words, command in all_commands()
        for param in command.params
        if (param.name in NAMES and not isinstance(param.type, click.IntRange))
        or (param.name == "game" and param.type is click.STRING)
        if param._custom_shell_complete is None and not isinstance(param.type, Name)
    ]
    assert plain == []


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_for_its_shell(cli: Cli, shell: str) -> None:
    """It asks this program in the way of that shell."""
    said = cli("completion", shell)
    assert said.code == 0
    assert f"{COMPLETE}={shell}_complete" in said.out


def test_bash_completes() -> None:
    """A real one, by the script."""
    line = (
        'eval "$(arena completion bash)"; COMP_WORDS=(arena play clobber size = 8); COMP_CWORD=5; '
        '_arena_completion arena; echo "${COMPREPLY[@]}"'
    )
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    told = environment(PATH=path)
    said = subprocess.run(
        ["bash", "-c", line], capture_output=True, text=True, env=told, check=True
    )
    assert (said.stdout, said.stderr) == ("8x8\n", "")
