"""One commit of a repository elsewhere: asked for over HTTPS, and unpacked by git in a box."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.bots import git_protocol
from arena.bots.git_protocol import Remote, RepositoryError, Tip
from arena.ground.outside import OutsideError, connected, read_address
from tests.arena.bots.forge import BOT, TOKEN, Forge, commit, git, repository
from tests.requirements import need
from tests.secure import serving
from workers.box_folder import default_folder
from workers.checkouts import Checkout, CheckoutError, check_out
from workers.program import BoxError
from workers.sandbox import Sandbox


@pytest.fixture(scope="module")
def box() -> Sandbox:
    try:
        return Sandbox(box_folder=Path(os.environ.get("ARENA_BOX_FOLDER") or default_folder()))
    except BoxError as error:
        need(False, str(error))
        raise


@pytest.fixture
def forge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A forge's address, with a repository ``bot.git`` and the same one below ``private``."""
    (tmp_path / "served").mkdir()
    Forge.root = tmp_path / "served"
    Forge.asked.clear()
    repository(Forge.root / "bot.git")
    (Forge.root / "private").symlink_to(Forge.root)
    with serving(Forge, tmp_path, monkeypatch) as address:
        yield address


def fetch(
    address: str,
    pack: Path,
    revision: str = "main",
    token: str = "",
    *,
    seconds: float = 5.0,
) -> Tip:
    """Puts the pack of a revision into a file."""
    place = read_address(address)
    with connected(place, seconds=seconds, inside={"localhost"}) as connection:
        remote = Remote(connection, place, token)
        tip = remote.find(revision)
        with pack.open("wb") as file:
            remote.fetch(tip, file)
    return tip


def taken(
    address: str, box: Sandbox, folder: Path, revision: str = "main", below: str = ""
) -> Checkout:
    """What comes out of a repository."""
    tip = fetch(address, folder / "pack", revision)
    return check_out(box, folder / "pack", tip.object, tip.object_format, below)


def test_revisions(forge: str, box: Sandbox, tmp_path: Path, subtests: pytest.Subtests) -> None:
    """A branch, a tag of each kind, a name in full, or what the repository begins with."""
    root = Forge.root / "bot.git"
    git(root, "branch", "side/way", "v1")
    repository(Forge.root / "new.git", "--object-format=sha256")
    both = {"bot.py", "other/main.py"}
    rows = {
        ("bot.git", "main", ""): ("two", BOT * 2, both),
        ("bot.git", "", ""): ("two", BOT * 2, both),
        ("bot.git", "side/way", ""): ("one", BOT, both),
        ("bot.git", "v1", ""): ("one", BOT, both),
        ("bot.git", "release-1", ""): ("one", BOT, both),
        ("bot.git", "tags/v1", ""): ("one", BOT, both),
        ("bot.git", "refs/heads/main", ""): ("two", BOT * 2, both),
        ("bot.git/", "main", "other"): ("two", "", {"main.py"}),
        ("new.git", "main", ""): ("two", BOT * 2, both),
    }
    for (name, revision, below), (subject, text, names) in rows.items():
        with subtests.test((name, revision, below)):
            found = taken(f"{forge}/{name}", box, tmp_path, revision, below)
            its = git(Forge.root / name, "rev-parse", f"{revision or 'main'}^{{commit}}")
            assert (found.commit, found.subject) == (its, subject)
            assert found.files.keys() == names
            if text:
                assert found.files["bot.py"].content.decode() == text


def test_a_token(forge: str, tmp_path: Path) -> None:
    """It opens what is private, by itself or with a user, and stands in no message."""
    for token in (TOKEN, f"deploy:{TOKEN}"):
        assert fetch(f"{forge}/private/bot.git", tmp_path / "pack", token=token)
    for token, words in {"": "give a token that may read it", "else": "the token does not"}.items():
        with pytest.raises(RepositoryError, match=words) as refused:
            fetch(f"{forge}/private/bot.git", tmp_path / "pack", token=token)
        assert "else" not in str(refused.value)


REFUSED = {
    ("/bot.git", "v7"): "the repository has no branch or tag 'v7'",
    ("/bot.git", "--upload-pack=id"): "the repository has no branch or tag '--upload-pack=id'",
    ("/bot.git", "two"): "has a branch and a tag 'two': write heads/two or tags/two",
    ("/empty.git", ""): "the repository is empty",
    ("/empty.git", "main"): "the repository has no branch or tag 'main'",
    ("/nowhere.git", "main"): "there is no repository localhost:.*/nowhere.git; if it is private",
    ("/inward/x.git", "main"): "has moved to https://127.0.0.1:1/secret.git: follow it there",
    ("/broken/x.git", "main"): "answers 502, and is asked again later",
    ("/busy/x.git", "main"): "was asked too often",
    ("/page/x.git", "main"): "is no address that git can fetch from",
    ("/old/x.git", "main"): "does not speak version 2 of git's protocol",
    ("/garbage/x.git", "main"): "is not git's protocol",
    ("/curses/x.git", "main"): r"server says: .*go away\S*now$",
    ("/hangs/x.git", "main"): "did not answer within 1 s",
    ("/bomb/x.git", "main"): "the commit has more than 1 MiB",
    ("/crowd/x.git", "main"): "lists more than 4 MiB of branches and tags",
}
"""What is asked of which repository, and the one line that is said of it."""


def test_what_can_not_be_fetched(
    forge: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    """Each in one line, and soon."""
    monkeypatch.setattr(git_protocol, "MAX_PACK_BYTES", 1 << 20)
    root = Forge.root / "bot.git"
    git(root, "branch", "two", "v1")
    git(root, "tag", "two", "main")
    (Forge.root / "empty.git").mkdir()
    git(Forge.root / "empty.git", "init", "--quiet", "--bare", "--initial-branch=main")
    for (path, revision), words in REFUSED.items():
        began = time.monotonic()
        with subtests.test(path + revision):
            with pytest.raises(OutsideError, match=words) as refused:
                fetch(f"{forge}{path}", tmp_path / "pack", revision, seconds=1)
            assert str(refused.value).isprintable()
        assert time.monotonic() - began < 3
    assert not any("secret" in path for path in Forge.asked)


def test_what_can_not_be_taken(
    forge: str, box: Sandbox, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """What a commit may not have, each in one line; nothing of the repository is run."""
    root = Forge.root / "bot.git"
    marks = tmp_path / "ran"

    def branch(name: str) -> None:
        git(root, "checkout", "--quiet", "-B", name, "main")

    branch("link")
    (root / "away").symlink_to("/etc")
    commit(root, "a link")
    branch("module")
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
    git(root, "commit", "--quiet", "-m", "a submodule")
    branch("lfs")
    commit(root, "lfs", **{"net.bin": "version https://git-lfs.github.com/spec/v1\noid x\n"})
    branch("backslash")
    commit(root, "a name", **{"a\\b.py": BOT})
    branch("many")
    for number in range(1001):
        (root / f"file-{number}").write_text("x")
    commit(root, "many")
    branch("large")
    with (root / "zeros").open("wb") as file:
        file.truncate(70 << 20)
    commit(root, "large")
    (root / "zeros").unlink()
    rows = {
        ("link", ""): "'away' is a link: put the file itself there",
        ("module", ""): "it has a submodule, which is not fetched",
        ("lfs", ""): "'net.bin' is kept in Git LFS",
        ("backslash", ""): "is not relative with '/' between its parts",
        ("many", ""): "there are more than 1000 files",
        ("large", ""): "can't unpack it",
        ("main", "nowhere"): "the repository has no folder 'nowhere'",
        ("main", "bot.py"): "the repository has no folder 'bot.py'",
        ("main", "--help"): "the repository has no folder '--help'",
    }
    for (revision, below), words in rows.items():
        with subtests.test(revision + below), pytest.raises(CheckoutError, match=words):
            taken(f"{forge}/bot.git", box, tmp_path, revision, below)
    # What a repository may say of filters and modules is read by nobody.
    branch("sly")
    commit(
        root,
        "sly\x1b[31m",
        **{
            ".gitattributes": "*.py filter=evil ident diff=evil\n",
            ".gitmodules": f'[submodule "x"]\n\tpath = x\n\tupdate = !touch {marks}\n',
            ".lfsconfig": "[lfs]\n",
            "config": f'[filter "evil"]\n\tsmudge = touch {marks}\n',
        },
    )
    found = taken(f"{forge}/bot.git", box, tmp_path, "sly")
    assert found.files["bot.py"].content.decode() == BOT * 2
    assert found.subject.isprintable()
    assert not marks.exists()
    # A pack that is none, or broken, ends in a line, too.
    (tmp_path / "pack").write_bytes(b"PACK\0\0\0\2\0\0\0\1" + b"\xff" * 100)
    with pytest.raises(CheckoutError, match="git can't unpack it"):
        check_out(box, tmp_path / "pack", "1" * 40, "sha1", "")
