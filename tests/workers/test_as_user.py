"""The boxes once more as an ordinary user, where the tests themselves run as root."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.requirements import need
from workers.box_folder import closed_to_others
from workers.languages import LanguageError
from workers.launches import box_python

ROOT = Path(__file__).parents[2]
FILES = {
    "bots": ("test_hostile.py",),
    "boxes": ("test_sandbox.py", "test_orphans.py", "test_building.py", "test_runtimes.py"),
    "builds": ("test_hostile_builds.py",),
}
USER = 60790
"""A number that nobody has, and no bot either (see workers.users.BOT_USERS)."""


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("level", ["good", "reduced"])
@pytest.mark.parametrize("of", FILES)
def test_boxes_of_an_ordinary_user(of: str, level: str) -> None:
    """Every test of the boxes passes as well for a worker that is not root."""
    if os.geteuid() != 0:
        return  # then all the other tests here are this one
    packages = Path(sysconfig.get_paths()["purelib"])
    for path in (ROOT, packages):
        need(closed_to_others(path) is None, f"other users can't read {path}")
    python = _system_python()
    home = Path(f"/tmp/arena-test-user-{os.getpid()}-{of}-{level}")
    home.mkdir()
    os.chown(home, USER, USER)
    try:
        done = subprocess.run(
            [
                # Should a wall against those that fork fail, the machine must not.
                *("/usr/bin/prlimit", "--nproc=1000", "--"),
                *(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "pytest_timeout"),
                *("-o", "addopts=", "--import-mode=importlib", "-rs", "-k", level),
                # This user can't keep what would be rewritten of the tests' assertions.
                "--assert=plain",
                *(str(Path(__file__).with_name(file)) for file in FILES[of]),
            ],
            cwd=ROOT,
            env={
                "PATH": "/usr/bin:/bin",
                "HOME": str(home),
                "TMPDIR": str(home),
                "PYTHONPATH": f"{ROOT}:{packages}",
                "PYTHONDONTWRITEBYTECODE": "1",
                # Others' plugins may want packages that only another patch version gets.
                "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
                "CI": os.environ.get("CI", ""),
            },
            user=USER,
            group=USER,
            extra_groups=[],
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        subprocess.run(["/bin/rm", "-rf", str(home)], check=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert " passed" in done.stdout


def _system_python() -> str:
    """The system's Python, if it can run these tests from this environment's packages."""
    try:
        python = box_python()
    except LanguageError as error:
        need(False, str(error))
        raise
    code = "import sys; print(sys.version_info[:2] == tuple(map(int, sys.argv[1:])))"
    version = [str(number) for number in sys.version_info[:2]]
    done = subprocess.run(
        [python, "-I", "-c", code, *version], capture_output=True, text=True, check=True
    )
    need(done.stdout.strip() == "True", f"{python} is of another version than {sys.executable}")
    return python
