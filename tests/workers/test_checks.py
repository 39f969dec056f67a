"""The check of a bot in boxes of every level: the box breaks no clause by itself."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from engine.clock import ALLOWANCES, TimeControl
from engine.compliance import Examination
from engine.games import find_variant
from engine.match import MatchSpec
from tests.workers.conftest import LIMITS, python_launch
from workers.sandbox import Sandbox

BOTS = Path(__file__).parents[1] / "bots"
SPEC = MatchSpec(find_variant("clobber", ["size=3x3"]), ("bot",) * 2, TimeControl(move_ms=5000))


@pytest.mark.long
@pytest.mark.parametrize(
    ("script", "broken"),
    [
        pytest.param([], [], id="honest"),
        pytest.param(["end=say('bye\\n')"], ["end", "unknown keys", "CRLF", "seed"], id="talks"),
        pytest.param(["quit=time.sleep(9)"], ["quit", "unknown keys", "CRLF"], id="stays"),
        pytest.param(["start=os.posix_spawn('/bin/true', ['x'], {})"], ["hello"], id="forks"),
    ],
)
def test_a_bot_is_checked_in_its_box(
    sandbox: Sandbox, bot_folder: Path, script: list[str], broken: list[str]
) -> None:
    """What is found is that of the bot; who forks there fails by itself."""
    shutil.copy(BOTS / "scripted.py", bot_folder / "bot.py")
    (bot_folder / "bot.py").chmod(0o644)
    launch = python_launch(*script)
    # Who stays is waited for each time; who goes may be slow on a busy machine.
    seconds = 0.1 if any(word.startswith("quit=") for word in script) else 1.0
    allowances = replace(ALLOWANCES, quit_seconds=seconds)
    tested = Examination(
        lambda: sandbox.start(bot_folder, launch, LIMITS), SPEC, allowances=allowances
    )
    findings = list(tested.findings())
    told = {finding.clause: finding.words for finding in findings if not finding.kept}
    assert list(told) == broken, told
