"""The page on adding a game, followed to the letter: its files, its commands, its ladder."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from arena.ground.db import Database
from arena.models import Bot, BotVersion, Check, Entrant, JobStatus, Ladder
from tests.arena.running import COMMAND, PATIENCE, RunningArena, environment, short_folder, until

SOURCES = Path(__file__).parents[2]
PAGE = (SOURCES / "docs/adding-a-game.md").read_text()
FILE = re.compile(r"^`([\w./-]+)`(?:, continued)?\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BOTS = ("dropper", "other")
COMMANDS = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
(INSTALL, *LOOK), TRY_OUT, UP, SUBMIT = (block.splitlines() for block in COMMANDS.findall(PAGE))


class Place:
    """An environment with the arena in it, and an empty folder, as whoever reads the page has."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder / "venv", with_pip=False, symlinks=True)
        self.work = folder / "work"
        self.work.mkdir()
        programs = folder / "venv/bin"
        here = next(path for path in sys.path if path.endswith("site-packages"))
        (there,) = (folder / "venv").glob("lib/python*/site-packages")
        # Not this environment's own folder, into which pip would then install.
        (there / "arena.pth").write_text(f"import site; site.addsitedir({here!r})\n{SOURCES}\n")
        for name, words in (("arena", COMMAND[1:]), ("pip", ["-m", "pip"])):
            quoted = " ".join(f"'{word}'" for word in words)
            (programs / name).write_text(f'#!/bin/sh\nexec {programs}/python {quoted} "$@"\n')
            (programs / name).chmod(0o755)
        self.variables = {
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            # Nothing is fetched: what builds the package is installed.
            "PIP_NO_INDEX": "1",
            "PIP_NO_BUILD_ISOLATION": "0",
        }

    def run(self, line: str) -> str:
        """What a line of the page's shell says."""
        done = subprocess.run(
            line,
            shell=True,
            cwd=self.work,
            env=environment(**self.variables),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"
        return done.stdout


class Followed(RunningArena):
    """The arena that the page has started."""

    def __init__(self, place: Place, line: str) -> None:
        self.line = line
        data = place.work / line.rpartition("--data ")[2]
        super().__init__(data, cwd=place.work, **place.variables)
        self._environment["ARENA_PORT"] = str(self.port)

    def command(self) -> list[str]:
        """The page's own line."""
        return ["sh", "-c", f"exec env {self.line}"]


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    """A place with the page's files, whose package is installed."""
    with short_folder() as folder:
        found = Place(folder)
        files: dict[str, str] = {}
        for name, text in FILE.findall(PAGE):
            files[name] = f"{files[name]}\n\n{text}" if name in files else text
        for name, text in files.items():
            file = found.work / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        shutil.copy(SOURCES / "bots/kit/arena_bot.py", found.work / "dropper")
        found.run(INSTALL)
        yield found


@pytest.mark.long
@pytest.mark.timeout(240)
def test_the_page_leads_to_a_game(place: Place) -> None:
    """It is there as the page says, holds its checks, and is played and drawn."""
    said = [place.run(line) for line in LOOK]
    assert re.search(r"connect-four \W+Connect Four \W+connect-four 1\.0", said[0])
    assert "by the rules of connect-four 1.0: 18 of 18 checks hold" in said[1]
    for line in TRY_OUT:
        place.run(line)
    assert "<svg" in (place.work / "position.svg").read_text()


@pytest.mark.long
@pytest.mark.timeout(240)
def test_the_page_leads_to_a_rated_game(place: Place) -> None:
    """Its bots play rated games on its ladder, and its pages are there."""
    with Followed(place, *UP) as running:
        running.start()
        database = Database(f"sqlite:///{running.data}/arena.db")
        with database.begin() as session:
            # The samples think as long as they may, and who was handed in waits for their checks
            # and matches.
            session.execute(sa.update(Ladder).values(move_ms=20))
            waiting = sa.update(Check).where(Check.status == JobStatus.OPEN)
            session.execute(waiting.values(status=JobStatus.VOID))
        for line in SUBMIT:
            place.run(line)
        until(lambda: met(database), "rated games of both bots that were handed in")
        database.close()
        for path in ("/ladders/connect-four-7x6", "/rules/connect-four", "/games/1"):
            status, text = running.page(path)
            assert (status, "Connect Four" in text) == (200, True), path
        running.interrupt()
        assert running.wait() == 0


def met(database: Database) -> bool:
    """Whether both bots of the page have rated games."""
    its = sa.select(Entrant.games).join(BotVersion).join(Bot).where(Bot.name.in_(BOTS))
    with database.read() as session:
        games = session.scalars(its).all()
    return len(games) == len(BOTS) and all(games)
