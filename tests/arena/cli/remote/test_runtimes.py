"""Runtimes of an arena elsewhere: listed, and fetched for bots at home."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from arena.audit import ARENA
from arena.bots import runtimes
from tests.arena.cli.conftest import assert_refused
from tests.arena.cli.test_runtime import CHECK, write_bot
from tests.arena.conftest import Cli
from tests.arena.web.signing_in import now
from tests.workers.runtimes import packed, write_runtime


@pytest.fixture
def offered(site: SimpleNamespace, tmp_path: Path) -> str:
    """What the site offers: its digest."""
    card = write_runtime(tmp_path / "made")
    files = packed(tmp_path / "made", site.folder / "runtimes")
    with site.database.begin() as session:
        for name, platform in (("small", card.platform), ("far", "vax python9.9")):
            size = Path(files.location).stat().st_size
            told = card.to_json() | {"platform": platform}
            runtimes.add(session, name, files.digest, size, told, "Python", now(), ARENA)
    return files.digest


def test_a_runtime_is_fetched(
    site: SimpleNamespace,
    offered: str,
    cli: Cli,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Who may submit bots fetches it; then a bot has it in the boxes of this machine."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ARENA_DATA", str(tmp_path / "nowhere"))
    monkeypatch.setenv("ARENA_TOKEN", site.tokens["owner"])
    there = ("--server", site.url)
    assert {one["name"] for one in cli("runtime", "list", *there, "--json").json} == {
        "small",
        "far",
    }
    assert cli("runtime", "show", "small", "--lock", *there).out == "pieces==1.0\n"
    assert_refused(cli("runtime", "fetch", "far", *there), "is for vax python9.9, and this machine")
    assert_refused(cli("runtime", "fetch", "none", *there), "there is no runtime 'none' on")
    fetched = cli("runtime", "fetch", "small", *there)
    assert fetched.code == 0, fetched.err
    assert (tmp_path / "home" / "arena" / "runtimes" / offered).is_file()
    bot = write_bot(tmp_path / "mine", "import pieces; assert pieces.NAME == 'of the runtime'")
    checked = cli("check", bot, *CHECK)
    assert checked.code == 0, checked.out + checked.err
    monkeypatch.setenv("ARENA_TOKEN", site.tokens["reader"])
    assert_refused(cli("runtime", "fetch", "small", *there), "submit")
