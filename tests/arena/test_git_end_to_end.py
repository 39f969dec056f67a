"""An arena that follows a repository, and that a bot's CI asks: by the files of docs/ci."""

from __future__ import annotations

import hmac
import json
import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import sqlalchemy as sa
import yaml

from arena.audit import ARENA
from arena.bots.repositories import LEAST_PAUSE
from arena.ground.db import Database
from arena.models import SCOPES, BotVersion, CompetitionState, Ladder, Repository
from arena.people.accounts import add_token
from arena.signing import push_secret
from tests.arena.bots.forge import Forge, commit, git
from tests.arena.running import COMMAND, short_folder, until
from tests.arena.test_end_to_end import LADDER, TEN_LINES, Watched, furnish_small
from tests.arena.web.signing_in import now, person
from tests.secure import serving

CI = Path(__file__).parents[2] / "docs" / "ci"
BOT = TEN_LINES.format(choice=0)


@dataclass
class Site:
    """An arena, and a repository of a bot at a forge whose CI hands it in there."""

    running: Watched
    root: Path
    """The repository's folder, which is the forge's and the author's in one."""
    remote: str
    server: str
    token: str

    @cached_property
    def handed_in(self) -> subprocess.CompletedProcess[str]:
        """What the CI says as it hands in the first version."""
        return self.run_action({})

    def run_action(self, inputs: dict[str, str], **more: str) -> subprocess.CompletedProcess[str]:
        """Runs the CI in the repository as it is now."""
        asked = {"server": self.server, "token": self.token, "ladder": LADDER, "name": "mybot"}
        asked |= {"bot": "bot.py", "try": "false", "wait-seconds": "60"}
        return run_action(self.root, {**asked, **inputs}, **more)


@pytest.fixture(scope="module")
def forge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """A forge with a repository of a bot, and the certificate that it shows."""
    folder = tmp_path_factory.mktemp("forge")
    Forge.root = folder / "served"
    Forge.root.mkdir()
    root = Forge.root / "mybot.git"
    root.mkdir()
    git(root, "init", "--quiet", "--initial-branch=main")
    commit(root, "begin", bot=BOT)
    with pytest.MonkeyPatch.context() as patch, serving(Forge, folder, patch) as address:
        git(root, "remote", "add", "origin", f"{address}/mybot.git")
        yield address, folder / "certificate.pem"


@pytest.fixture(scope="module")
def site(forge: tuple[str, Path]) -> Iterator[Site]:
    """An arena in which nothing else is played."""
    address, certificate = forge
    with short_folder() as folder, closing(Database(f"sqlite:///{folder}/arena.db")) as database:
        database.make_file()
        furnish_small(database)
        ada = person(database, "ada")
        with database.begin() as session:
            session.execute(sa.update(Ladder).values(state=CompetitionState.PAUSED))
            token = add_token(session, ARENA, ada, "ci", SCOPES[ada.role], now())
        variables = {"ARENA_INSIDE": "localhost", "SSL_CERT_FILE": str(certificate)}
        with Watched(folder, database, **variables) as running:
            running.start()
            server = f"http://127.0.0.1:{running.port}"
            root = Forge.root / "mybot.git"
            yield Site(running, root, f"{address}/mybot.git", server, token)


def run_action(
    folder: Path, inputs: dict[str, str], **more: str
) -> subprocess.CompletedProcess[str]:
    """Runs the steps of the action as a runner does, in a folder, until one fails; but for the one
    that writes a comment elsewhere."""
    action = yaml.safe_load((CI / "action.yml").read_text())
    given = {name: str(its.get("default", "")) for name, its in action["inputs"].items()} | inputs
    tools = folder.parent / "tools"
    tools.mkdir(exist_ok=True)
    words = f'exec {sys.executable} -P -c "from arena.cli import main; main()" "$@"'
    (tools / "arena").write_text(f"#!/bin/sh\n{words}\n")
    (tools / "arena").chmod(0o755)
    own = {key: value for key, value in os.environ.items() if not key.startswith("ARENA_")}
    common = {**own, "PATH": f"{tools}:{os.environ['PATH']}", "GITHUB_ACTION_PATH": str(CI), **more}
    done: Any = None
    for step in action["runs"]["steps"]:
        if step["name"] == "Comment":
            continue
        told = {
            name: given[value.removeprefix("${{ inputs.").removesuffix(" }}")]
            for name, value in step.get("env", {}).items()
        }
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=folder,
            env={**common, **told},
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
        )
        if done.returncode:
            break
    assert isinstance(done, subprocess.CompletedProcess)
    return done


TEST = {"try": "true", "against": "mybot", "test-options": "--games 4"}
"""What the CI is asked for a change: that it is tried, and tested against what plays."""


@pytest.mark.long
@pytest.mark.timeout(300)
def test_the_ci_hands_in_what_is_a_bot(site: Site) -> None:
    """What is none fails, and is not tested."""
    done = site.handed_in
    assert done.returncode == 0, done.stdout + done.stderr
    assert "mybot v1 passed its check, and is entered" in done.stdout
    assert f"of commit {git(site.root, 'rev-list', '--max-parents=0', 'HEAD')[:10]}" in done.stderr
    assert site.token not in done.stdout + done.stderr
    (site.root / "bot.py").write_text("print('oops')\n")
    (site.root / "arena-test.json").unlink(missing_ok=True)
    done = site.run_action(TEST)
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(r"mybot v\d+ did not pass its check", done.stdout)
    assert not (site.root / "arena-test.json").exists()
    git(site.root, "checkout", "--quiet", "bot.py")


@pytest.mark.long
@pytest.mark.timeout(300)
def test_the_ci_tests_a_change(site: Site, tmp_path: Path) -> None:
    """It tells what came of the test in each of the ways in which that is read."""
    root, summary = site.root, tmp_path / "summary"
    assert site.handed_in.returncode == 0
    commit(root, "last move instead", bot=TEN_LINES.format(choice=-1))
    done = site.run_action(TEST, GITHUB_STEP_SUMMARY=str(summary))
    assert (root / "arena-test.json").exists(), done.stdout + done.stderr
    found = json.loads((root / "arena-test.json").read_text())
    tried = json.loads((root / "arena-check.json").read_text())["version"]
    assert (found["title"], found["games"]) == (f"mybot v{tried} against mybot v1", 4)
    assert done.returncode == (0 if found["verdict"] == "passed" else 1)
    markdown = (root / "arena-test.md").read_text()
    assert markdown.startswith(f"`mybot v{tried} against mybot v1`: ")
    assert markdown.endswith(f"[Test {found['id']}]({site.server}/tests/{found['id']})\n")
    assert summary.read_text() == markdown
    suite = ElementTree.parse(root / "arena-test.xml").getroot()
    assert suite.attrib["tests"] == "1"
    assert int(suite.attrib["errors"]) == 0
    (case,) = suite
    assert case.attrib["name"] == f"mybot v{tried} against mybot v1"


@pytest.mark.long
@pytest.mark.timeout(300)
def test_commits_come_by_themselves_and_by_pushes(site: Site) -> None:
    """The arena follows the repository, and what is pushed is handed in soon."""
    root, database = site.root, site.running.database
    assert site.handed_in.returncode == 0
    its = commit(root, "to be followed", bot=f"# followed\n{BOT}")
    follow = ["bot", "follow", "mybot", site.remote, "--ladders", LADDER]
    own = {**os.environ, "ARENA_SERVER": site.server, "ARENA_TOKEN": site.token}
    subprocess.run([*COMMAND, *follow], env=own, check=True, timeout=60, capture_output=True)

    def problem() -> str:
        with database.read() as session:
            return session.scalars(sa.select(Repository.problem)).one()

    def has(commit_hash: str) -> bool:
        with database.read() as session:
            found = sa.select(BotVersion).where(BotVersion.commit_hash == commit_hash)
            version = session.scalars(found).first()
        assert not problem(), problem()
        return version is not None

    until(lambda: has(its), "the commit that is there")
    its = commit(root, "and now by a push", bot=f"# new\n{BOT}")
    with database.begin() as session:
        # It was asked just now, and is not asked at every word.
        session.execute(sa.update(Repository).values(fetched=now() - LEAST_PAUSE))
        code = session.scalars(sa.select(Repository.code)).one()
        secret = push_secret(session, code)
    body = b'{"ref": "refs/heads/main"}'
    signature = hmac.digest(secret.encode(), body, "sha256").hex()
    headers = {"Content-Type": "application/json"}
    headers["X-Hub-Signature-256"] = f"sha256={signature}"
    push = urllib.request.Request(f"{site.server}/api/push/{code}", body, headers)
    with urllib.request.urlopen(push, timeout=30) as answer:
        assert answer.status == 204
    until(lambda: has(its), "the commit that was pushed")
