"""An arena that follows a repository, and that a bot's CI asks: by the files of docs/ci."""

from __future__ import annotations

import hmac
import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
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
from tests.arena.running import RunningArena, short_folder, until
from tests.arena.test_end_to_end import LADDER, TEN_LINES, furnish_small
from tests.arena.web.signing_in import now, person
from tests.secure import serving

CI = Path(__file__).parents[2] / "docs" / "ci"
BOT = TEN_LINES.format(choice=0)


@pytest.fixture
def forge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A forge with a repository of a bot."""
    Forge.root = tmp_path / "served"
    Forge.root.mkdir()
    root = Forge.root / "mybot.git"
    root.mkdir()
    git(root, "init", "--quiet", "--initial-branch=main")
    commit(root, "begin", bot=BOT)
    with serving(Forge, tmp_path, monkeypatch) as address:
        git(root, "remote", "add", "origin", f"{address}/mybot.git")
        yield address


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


@pytest.mark.long
@pytest.mark.timeout(300)
def test_commits_come_by_the_ci_and_by_pushes(forge: str, tmp_path: Path) -> None:
    """A bot's CI hands it in, and tries and tests a change of it; then the arena follows the
    repository, and a push is handed in soon."""
    root = Forge.root / "mybot.git"
    with short_folder() as folder:
        database = Database(f"sqlite:///{folder}/arena.db")
        database.make_file()
        furnish_small(database)
        ada = person(database, "ada")
        with database.begin() as session:
            # Nothing else is played meanwhile.
            session.execute(sa.update(Ladder).values(state=CompetitionState.PAUSED))
            token = add_token(session, ARENA, ada, "ci", SCOPES[ada.role], now())
        running = RunningArena(
            folder,
            ARENA_INSIDE="localhost",
            SSL_CERT_FILE=str(tmp_path / "certificate.pem"),
        )
        with running:
            running.start()
            server = f"http://127.0.0.1:{running.port}"
            asked = {"server": server, "token": token, "ladder": LADDER, "name": "mybot"}
            asked |= {"bot": "bot.py", "try": "false", "wait-seconds": "60"}
            done = run_action(root, asked)
            assert done.returncode == 0, done.stdout + done.stderr
            assert "mybot v1 passed its check, and is entered" in done.stdout
            assert f"of commit {git(root, 'rev-parse', 'HEAD')[:10]}" in done.stderr
            assert token not in done.stdout + done.stderr
            # A change that is tried, and tested against what plays.
            commit(root, "last move instead", bot=TEN_LINES.format(choice=-1))
            summary = tmp_path / "summary"
            test = {"try": "true", "against": "mybot", "test-options": "--games 4"}
            done = run_action(root, asked | test, GITHUB_STEP_SUMMARY=str(summary))
            assert (root / "arena-test.json").exists(), done.stdout + done.stderr
            found = json.loads((root / "arena-test.json").read_text())
            assert (found["title"], found["games"]) == ("mybot v2 against mybot v1", 4)
            assert done.returncode == (0 if found["verdict"] == "passed" else 1)
            markdown = (root / "arena-test.md").read_text()
            assert markdown.startswith("`mybot v2 against mybot v1`: ")
            assert markdown.endswith(f"[Test {found['id']}]({server}/tests/{found['id']})\n")
            assert summary.read_text() == markdown
            suite = ElementTree.parse(root / "arena-test.xml").getroot()
            assert suite.attrib["tests"] == "1"
            assert int(suite.attrib["errors"]) == 0
            (case,) = suite
            assert case.attrib["name"] == "mybot v2 against mybot v1"
            # One that is no bot fails, and is not tested.
            (root / "bot.py").write_text("print('oops')\n")
            done = run_action(root, asked | test)
            assert done.returncode == 1, done.stdout + done.stderr
            assert "mybot v3 did not pass its check" in done.stdout
            git(root, "checkout", "--quiet", "bot.py")
            # From now on the arena follows it.
            follow = ["bot", "follow", "mybot", f"{forge}/mybot.git", "--ladders", LADDER]
            arena = [sys.executable, "-P", "-c", "from arena.cli import main; main()", *follow]
            own = {**os.environ, "ARENA_SERVER": server, "ARENA_TOKEN": token}
            subprocess.run(arena, env=own, check=True, timeout=60, capture_output=True)

            def problem() -> str:
                with database.read() as session:
                    return session.scalars(sa.select(Repository.problem)).one()

            def has(commit_hash: str) -> bool:
                with database.read() as session:
                    its = sa.select(BotVersion).where(BotVersion.commit_hash == commit_hash)
                    version = session.scalars(its.where(BotVersion.number > 3)).first()
                assert not problem(), problem()
                return version is not None

            its = git(root, "rev-parse", "HEAD")
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
            push = urllib.request.Request(f"{server}/api/push/{code}", body, headers)
            with urllib.request.urlopen(push, timeout=30) as answer:
                assert answer.status == 204
            until(lambda: has(its), "the commit that was pushed")
        database.close()
