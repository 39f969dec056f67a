"""What the command line says of itself."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys

import click
import pytest

from arena.cli import COMMANDS
from tests.arena.conftest import Cli


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(cli: Cli, name: str) -> None:
    """Its help has an example, which begins with the command itself; so has a group's commands'."""
    command = getattr(importlib.import_module(f"arena.cli.{COMMANDS[name][0]}"), name)
    group = command.commands if isinstance(command, click.Group) else None
    for words in [[name, inner] for inner in group] if group else [[name]]:
        said = cli(*words, "--help")
        assert said.code == 0
        assert re.search(rf"Examples?:\s+arena {' '.join(words)}\b", said.out)
        one = group[words[-1]] if group else command
        options = [option for option in one.params if isinstance(option, click.Option)]
        assert [option.name for option in options if not option.help] == []


def test_the_help_lists_every_command(cli: Cli) -> None:
    """Without a command too, which is wrong usage."""
    helped, bare = cli("--help"), cli()
    assert (helped.code, bare.code) == (0, 2)
    for name, (_, words) in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(words)}$", helped.out, re.MULTILINE)


def test_the_list_of_commands_imports_none_of_them() -> None:
    """It comes at once, although some commands need much."""
    code = "import sys; from arena.cli import run; run(['--help']); print(*sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(said.stdout.splitlines()[-1].split())
    assert "arena.cli" in loaded
    assert not loaded & {"flask", "sqlalchemy", "celery", "arena.cli.play", "rich"}


def test_the_doctor_reports(cli: Cli) -> None:
    """Its verdict is its exit code, for people and for programs."""
    told = cli("doctor", "--json", "--minimum", "none")
    assert told.code == 0
    assert told.json["suffices"] is True
    assert "bots can be run here" in cli("doctor", "--minimum", "none").out
