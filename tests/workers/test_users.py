"""Bots' users: how their numbers are claimed, and which files are theirs alone to read."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.requirements import need
from workers import users
from workers.box_folder import BoxFolder
from workers.users import BOT_USERS, BotUser, BoxUserError, sweep_lent

STRANGER = 60791
"""A number that nobody has, and no bot either."""
CLAIM = """
import sys
from workers.users import BotUser
print(BotUser(map(int, sys.argv[1:])).number)
"""


@pytest.fixture(autouse=True)
def numbers() -> Sequence[int]:
    """Some that no other process of these tests tries meanwhile."""
    need(os.geteuid() == 0, "only a root worker's bots are other users")
    first = 200 + 3 * (os.getpid() % 60)
    return BOT_USERS[first : first + 3]


def test_numbers_are_not_shared(numbers: Sequence[int]) -> None:
    """Nobody gets a number that is held, in this process or another, until it is given back."""
    first, second = BotUser(numbers), BotUser(numbers)
    try:
        command = [sys.executable, "-c", CLAIM, *map(str, numbers)]
        other = subprocess.check_output(command, text=True)
        assert {first.number, second.number, int(other)} == set(numbers)
        third = BotUser(numbers)
        with pytest.raises(BoxUserError, match="is taken"):
            BotUser(numbers)
        third.release()
        again = BotUser(numbers)
        assert again.number == third.number
        again.release()
    finally:
        first.release()
        second.release()


def test_a_number_is_not_given_out_while_its_process_lives(numbers: Sequence[int]) -> None:
    """The bot of a worker that was killed may still be on its way out when the claim is free."""
    sleeper = subprocess.Popen(["/bin/sleep", "1000"], user=numbers[0], group=numbers[0])
    try:
        user = BotUser(numbers)
        assert user.number == numbers[1]
        user.release()
        sleeper.kill()
        os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)
        user = BotUser(numbers)  # where nobody asks for the end of orphans, they stay so for ever
        assert user.number == numbers[0]
        user.release()
    finally:
        sleeper.kill()
        sleeper.wait()


def test_no_stranger_can_claim_a_number(numbers: Sequence[int]) -> None:
    """Not by names of sockets, which everybody can take, nor in the folder of the claims."""
    script = (
        "import os, socket, sys\n"
        "for number in map(int, sys.argv[2:]):\n"
        "    socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).bind(f'\\0arena-bot-user-{number}')\n"
        "    try: os.open(f'{sys.argv[1]}/{number}', os.O_RDONLY)\n"
        "    except PermissionError: continue\n"
        "    sys.exit('opened')\n"
        "print('refused', flush=True)\n"
        "input()\n"
    )
    BotUser(numbers).release()
    with subprocess.Popen(
        ["/usr/bin/python3", "-c", script, str(users.CLAIMS), *map(str, numbers)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        user=STRANGER,
        group=STRANGER,
        extra_groups=[],
    ) as stranger:
        assert stranger.stdout
        assert stranger.stdout.readline() == b"refused\n"
        user = BotUser(numbers)
        user.release()
        stranger.communicate(b"\n")


def test_a_folder_for_claims_that_others_can_write_to_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, numbers: Sequence[int]
) -> None:
    """What lies there may be a stranger's."""
    claims = tmp_path / "claims"
    monkeypatch.setattr(users, "CLAIMS", claims)
    claims.mkdir()
    claims.chmod(0o777)
    with pytest.raises(BoxUserError, match="root alone can write to: remove it"):
        BotUser(numbers)
    claims.chmod(0o755)
    os.chown(claims, STRANGER, STRANGER)
    with pytest.raises(BoxUserError, match="root alone can write to: remove it"):
        BotUser(numbers)


def read_as(number: int, path: Path) -> bool:
    """Whether a user can read a file."""
    return not subprocess.run(
        ["/bin/cat", str(path)], user=number, group=number, extra_groups=[], capture_output=True
    ).returncode


def test_a_closed_folder_is_lent_to_one_user(open_folder: Path, numbers: Sequence[int]) -> None:
    """It reads all files, nobody else does, and nothing is left of that at the end."""
    box_folder = BoxFolder(open_folder / "lending")
    bundle = box_folder.closed("bundles") / "a bundle"
    (bundle / "deep").mkdir(parents=True)
    for name in ("bot.py", "deep/own.py"):
        (bundle / name).write_text("secret")
        (bundle / name).chmod(0o644)
    users_of_two = BotUser(numbers), BotUser(numbers)
    first, second = (user.lend(bundle, box_folder.folder) for user in users_of_two)
    for name in ("bot.py", "deep/own.py"):
        for number in (*(user.number for user in users_of_two), STRANGER):
            seen = [read_as(number, folder / name) for folder in (bundle, first, second)]
            assert seen == [False, *(number == user.number for user in users_of_two)]
    assert (first / "bot.py").stat().st_ino == (bundle / "bot.py").stat().st_ino
    for user in users_of_two:
        user.release()
    assert not list((box_folder.folder / "lent").iterdir())
    assert (bundle / "deep" / "own.py").read_text() == "secret"


def test_what_a_killed_worker_lent_is_taken_back(open_folder: Path, numbers: Sequence[int]) -> None:
    """The next holder of a number sees nothing of what was lent to the last."""
    box_folder = BoxFolder(open_folder / "lending")
    for name in ("one", "two"):
        (box_folder.closed("bundles") / name).mkdir(exist_ok=True)
        (box_folder.folder / "bundles" / name / f"{name}.py").write_text("")
    user = BotUser(numbers)
    user.lend(box_folder.folder / "bundles" / "one", box_folder.folder)
    user._lent = None  # as if it were never given back
    user.release()
    user = BotUser(numbers)
    lent = user.lend(box_folder.folder / "bundles" / "two", box_folder.folder)
    assert [path.name for path in lent.parent.rglob("*.py")] == ["two.py"]
    # Of a number that nobody takes again a starting worker's sweep removes it.
    sweep_lent(box_folder.folder)
    assert lent.exists()
    user._lent = None
    user.release()
    sweep_lent(box_folder.folder)
    assert not list((box_folder.folder / "lent").iterdir())


def test_an_open_folder_is_shown_as_it_is(numbers: Sequence[int]) -> None:
    """The probe of a box looks at the system's own files."""
    need(stat.S_IMODE(os.stat("/usr").st_mode) & 0o005 == 0o005, "/usr is closed here")
    user = BotUser(numbers)
    assert user.lend(Path("/usr"), Path("/nonexistent")) == Path("/usr")
    user.release()
