"""Runtimes: packed, proven and unpacked, shown to bots in boxes of every level, and made."""

from __future__ import annotations

import io
import os
import shutil
import stat
import sys
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from engine.jobs import RuntimeFiles
from tests.requirements import need
from tests.workers.conftest import LIMITS, said
from tests.workers.runtimes import PYTHON, packed, small_runtime, write_runtime
from tests.workers.test_fetching import pages
from tests.workers.test_fetching import said as answered
from workers.files import File
from workers.languages import LanguageError, language_named
from workers.launches import launch_file
from workers.limits import Limits
from workers.manifest import MANIFEST, read_manifest
from workers.program import BoxError
from workers.runtime_files import pack, try_out, unpack
from workers.runtime_making import make, read_wanted
from workers.runtimes import CARD, NoRuntimeError, UnpackedRuntime, platform, platforms_here
from workers.sandbox import Sandbox

PIECES = "import os, pieces; print(pieces.NAME, os.environ['OMP_NUM_THREADS'], flush=True)"
PIECES_JS = """\
import { NAME } from "pieces";
import { createRequire } from "node:module";
console.log(NAME, createRequire(import.meta.url)("pieces").NAME, process.env.OMP_NUM_THREADS);
process.stdin.resume();
"""
BRIDGED = b'bridge = "gtp"\nrun = "python3 bot.py"\nruntime = "some"\n'
IN_BOX = Limits(memory_bytes=256 << 20, threads=16)


def test_the_same_files_are_the_same_runtime(tmp_path: Path) -> None:
    """Whoever's they are, and of whatever time: one file, which is unpacked as it was."""
    for name in ("one", "two"):
        write_runtime(tmp_path / name)
    (tmp_path / "two" / "packages" / "tricks.pth").chmod(0o600)
    os.utime(tmp_path / "two" / CARD, (1, 1))
    files = packed(tmp_path / "one", tmp_path / "kept")
    assert packed(tmp_path / "two", tmp_path / "kept") == files
    cache = tmp_path / "cache"
    cache.mkdir()
    found = unpack(files, cache)
    assert found.card.packages[0].name == "pieces"
    assert packed(found.folder, tmp_path / "again").digest == files.digest
    shutil.rmtree(tmp_path / "kept")
    assert unpack(files, cache) == found  # what is there is not read again


@pytest.mark.parametrize(
    "spoil",
    [
        lambda folder: (folder / "packages" / "pieces" / "__init__.py").write_text("NAME = 1\n"),
        lambda folder: (folder / "packages" / "numpy.py").write_text(""),
        lambda folder: (folder / "packages" / "tricks.pth").unlink(),
        lambda folder: (folder.parent / "stamp").unlink(),
    ],
    ids=["changed", "more", "less", "unfinished"],
)
def test_what_was_changed_is_put_right(tmp_path: Path, spoil: Callable[[Path], object]) -> None:
    """It is at its next use, from the file that it came from."""
    write_runtime(tmp_path / "made")
    files, cache = packed(tmp_path / "made", tmp_path / "kept"), tmp_path / "cache"
    cache.mkdir()
    spoil(unpack(files, cache).folder)
    found = unpack(files, cache)
    assert packed(found.folder, tmp_path / "again").digest == files.digest


def tar_of(*members: tarfile.TarInfo) -> bytes:
    """A tar of members of three bytes."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for member in members:
            member.size = 3 if member.isreg() else 0
            archive.addfile(member, io.BytesIO(b"abc"))
    return file.getvalue()


def member(name: str, kind: bytes = tarfile.REGTYPE) -> tarfile.TarInfo:
    """One of them."""
    found = tarfile.TarInfo(name)
    found.type, found.linkname = kind, "/etc/passwd"
    return found


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "what came is no runtime"),
        (b"no tar", "what came is no runtime"),
        (tar_of(member("x")), "is not the runtime"),
        (tar_of(member("../x")), "'../x' is none of a runtime's files"),
        (tar_of(member("/x")), "'/x' is none of a runtime's files"),
        (tar_of(member("x", tarfile.SYMTYPE)), "'x' is none of a runtime's files"),
        (tar_of(member("x", tarfile.LNKTYPE)), "'x' is none of a runtime's files"),
        (tar_of(member("x", tarfile.CHRTYPE)), "'x' is none of a runtime's files"),
        (tar_of(member("x"), member("x")), "what came is no runtime"),
        (tar_of(member("x"), member("x/y")), "what came is no runtime"),
    ],
)
def test_what_is_no_runtime_is_not_kept(tmp_path: Path, content: bytes, words: str) -> None:
    """A wrong digest, or a tar that would reach beyond its folder: nothing of it stays."""
    (tmp_path / "file").write_bytes(content)
    cache = tmp_path / "cache"
    cache.mkdir()
    with pytest.raises(NoRuntimeError, match=words):
        unpack(RuntimeFiles("0" * 64, str(tmp_path / "file"), ""), cache)
    assert list(cache.iterdir()) == []
    assert not (tmp_path / "x").exists()


def test_a_runtime_comes_by_its_address(tmp_path: Path) -> None:
    """Once more where it was cut short, and no secret is in what is said of it."""
    write_runtime(tmp_path / "made")
    files, cache = packed(tmp_path / "made", tmp_path / "kept"), tmp_path / "cache"
    cache.mkdir()
    content = Path(files.location).read_bytes()
    cut = 200, content[:2000], len(content)
    with pages(cut, answered(503), answered(200, content)) as address:
        found = unpack(replace(files, location=address), cache)
    assert packed(found.folder, tmp_path / "again").digest == files.digest
    with (
        pages(answered(403)) as address,
        pytest.raises(NoRuntimeError, match="the arena does not give") as told,
    ):
        unpack(RuntimeFiles("1" * 64, address, ""), cache)
    assert "hush" not in str(told.value)


def test_a_runtime_has_plain_files_alone(tmp_path: Path) -> None:
    """A link could lead anywhere on the machine that unpacks it."""
    write_runtime(tmp_path / "made")
    (tmp_path / "made" / "packages" / "link").symlink_to("/etc")
    with pytest.raises(NoRuntimeError, match="packages/link is a link"):
        pack(tmp_path / "made", io.BytesIO())


def test_bots_of_python_have_its_packages(
    sandbox: Sandbox, runtime: UnpackedRuntime, bot_folder: Path
) -> None:
    """And as many threads as they say they use; no file of a package runs before them."""
    (bot_folder / "bot.py").write_text(f"{PIECES}\ninput()\n")
    python = language_named("python")
    launch = runtime.given_to(launch_file("bot.py", python, threads=3), python, 3)
    program = sandbox.start(bot_folder, launch, LIMITS)
    try:
        assert said(program) == "of the runtime 3"
    finally:
        program.kill()
    # A bot's own files come first, for itself alone.
    (bot_folder / "pieces.py").write_text("NAME = 'its own'\n")
    program = sandbox.start(bot_folder, launch, LIMITS)
    try:
        assert said(program) == "its own 3"
    finally:
        program.kill()


def test_bots_of_node_have_its_modules(sandbox: Sandbox, bot_folder: Path, tmp_path: Path) -> None:
    """They import and require them, though they lie nowhere above the bot."""
    need(shutil.which("node", path="/usr/local/bin:/usr/bin"), "Node is not installed")
    runtime = small_runtime(tmp_path, sandbox, "node")
    (bot_folder / "bot.mjs").write_text(PIECES_JS)
    node = language_named("javascript")
    launch = runtime.given_to(launch_file("bot.mjs", node), node, 1)
    program = sandbox.start(bot_folder, launch, IN_BOX)
    try:
        assert said(program) == "of the runtime of the runtime 1"
    finally:
        program.kill()
    assert try_out(runtime, sandbox) > 0


def test_what_does_not_work_here_is_no_fault_of_a_bot(
    sandbox_at: Callable[[str], Sandbox], tmp_path: Path
) -> None:
    """It is tried when it is unpacked, and not kept if it fails."""
    sandbox = sandbox_at("good")
    broken = {**PYTHON, "packages/pieces/__init__.py": "import missing_piece\n"}
    write_runtime(tmp_path / "made", files=broken)
    files = packed(tmp_path / "made", tmp_path / "kept")

    def prove(found: UnpackedRuntime) -> None:
        try_out(found, sandbox)

    with pytest.raises(
        BoxError, match=r"can't be imported here: .*No module named 'missing_piece'"
    ):
        unpack(files, sandbox.runtimes, prove)
    assert not (sandbox.runtimes / files.digest).exists()


def test_a_runtime_is_for_one_language(tmp_path: Path) -> None:
    """Nothing in it is for a bot of another one."""
    write_runtime(tmp_path / "made")
    found = UnpackedRuntime.read(tmp_path / "made", "")
    for name, words in (("perl", "is Perl"), ("javascript", "is JavaScript")):
        with pytest.raises(LanguageError, match=f"is for Python, and the bot {words}"):
            found.given_to(launch_file("bot", None), language_named(name), 1)
    with pytest.raises(LanguageError, match="the bot is a program by itself"):
        found.given_to(launch_file("bot", None), None, 1)


def test_an_interpreter_of_its_own_has_no_bridge_before_it(tmp_path: Path) -> None:
    """The variables by which that finds its library would be the bridge's, too."""
    files = {"bot.py": File(b"", False), MANIFEST: File(BRIDGED, False)}
    bot = read_manifest(files)
    card = write_runtime(tmp_path / "made")
    found = UnpackedRuntime(tmp_path / "made", card, "")
    assert "engine.bridges" in bot.launch(found).command
    own = replace(found, card=replace(card, program="python/bin/python3.13"))
    with pytest.raises(LanguageError, match="own interpreter, beside which no bridge is started"):
        bot.launch(own)


def wheel(folder: Path, name: str, module: str = "NAME = 'made'\n", version: str = "1.5") -> None:
    """A package as an index has it (PEP 427)."""
    folder.mkdir(exist_ok=True)
    info = f"{name}-{version}.dist-info"
    about = f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as file:
        file.writestr(f"{name}/__init__.py", module)
        file.writestr(f"{info}/METADATA", f"{about}License-Expression: MIT\n")
        file.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        file.writestr(f"{info}/RECORD", f"{name}/__init__.py,,\n{info}/METADATA,,\n")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that stands for the index of packages."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    wheel(tmp_path / "index", "pieces")
    return tmp_path / "index"


@pytest.fixture
def box(sandbox_at: Callable[[str], Sandbox]) -> Sandbox:
    """Where runtimes are tried."""
    return sandbox_at("good")


@pytest.fixture
def fresh(open_folder: Path) -> Path:
    """An empty folder that bots' users can reach."""
    folder = open_folder / f"made-{os.urandom(4).hex()}"
    folder.mkdir(mode=0o755)
    return folder


@pytest.mark.long
def test_a_runtime_is_made_of_wheels_and_again_of_its_lock(
    index: Path, box: Sandbox, fresh: Path, open_folder: Path
) -> None:
    """What it holds is told; by its lock the very same file is made, and nothing but that."""
    made = make(fresh, box, read_wanted(["pieces"], {}))
    card = made.card
    assert [(one.name, one.version, one.licence) for one in card.packages] == [
        ("pieces", "1.5", "MIT")
    ]
    assert (card.imports, card.platform) == (("pieces",), platform("python"))
    assert card.platform in platforms_here()
    assert card.start_seconds == 10
    assert card.lock.startswith("pieces==1.5 --hash=sha256:")
    assert list((fresh / "packages" / "pieces" / "__pycache__").glob("*.pyc"))
    again = open_folder / f"{fresh.name}-again"
    again.mkdir()
    wheel(index, "pieces", version="1.6")
    remade = make(again, box, read_wanted([], {}), lock=card.lock)
    assert remade.card.packages == card.packages
    wheel(index, "pieces", "NAME = 'another'\n")
    other = open_folder / f"{fresh.name}-other"
    other.mkdir()
    with pytest.raises(NoRuntimeError, match="the packages can't be had"):
        make(other, box, read_wanted([], {}), lock=card.lock)


def simple(folder: Path) -> str:
    """The address of a folder of packages as an index (PEP 503)."""
    for file in folder.glob("*.whl"):
        page = folder / file.name.partition("-")[0] / "index.html"
        page.parent.mkdir(exist_ok=True)
        with page.open("a") as written:
            written.write(f'<a href="../{file.name}">{file.name}</a>\n')
    return folder.as_uri()


@pytest.mark.long
def test_a_package_comes_from_the_index_that_is_named_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, box: Sandbox, fresh: Path
) -> None:
    """Though the usual ones have a newer one; the others come from these. The lock names it."""
    usual, own, beside = (tmp_path / name for name in ("usual", "own", "beside"))
    wheel(usual, "pieces", "NAME = 'for a graphics card'\n", version="2.0")
    wheel(usual, "others")
    wheel(own, "pieces", version="1.5+cpu")
    wheel(own, "others", version="0.1")
    wheel(beside, "pieces", "NAME = 'newest'\n", version="3.0")
    monkeypatch.setenv("PIP_INDEX_URL", simple(usual))
    monkeypatch.setenv("PIP_FIND_LINKS", str(beside))
    wanted = read_wanted(["pieces --index cpu", "others"], {"cpu": simple(own)})
    made = make(fresh, box, wanted)
    found = {one.name: one.version for one in made.card.packages}
    assert found == {"pieces": "1.5+cpu", "others": "1.5"}
    assert made.card.lock.startswith(f"--extra-index-url {own.as_uri()}\nothers==1.5 --hash=")


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (["nothing-of-the-kind"], "can't be had: No matching distribution found for nothing"),
        (["sources"], "can't be had: No matching distribution found for sources"),
        (["./pieces"], "'./pieces' is no package"),
        (["pieces @ https://example.org/x.whl"], "is no package"),
        (["-r"], "'-r' is no package"),
        (["--index-url x"], "'--index-url x' is no package"),
        (["pieces --index gpu"], "there is no index called 'gpu' \\(cpu by name\\)"),
    ],
)
def test_what_is_no_package_is_refused(
    index: Path, box: Sandbox, fresh: Path, words: list[str], refusal: str
) -> None:
    """It is one line; what would have to be built, by whoever's script, is none."""
    with tarfile.open(index / "sources-1.0.tar.gz", "w:gz") as file:
        file.addfile(tarfile.TarInfo("sources-1.0/setup.py"))
    with pytest.raises(NoRuntimeError, match=refusal):
        make(fresh, box, read_wanted(words, {"cpu": "https://example.org/cpu"}))


def test_a_package_that_can_t_be_imported_makes_no_runtime(
    index: Path, box: Sandbox, fresh: Path
) -> None:
    """As one that asks for what a box has not; and it is only there that it runs."""
    wheel(index, "curious", f"open({str(fresh / 'ran')!r}, 'w')\n")
    with pytest.raises(BoxError, match=r"can't be imported here: .*Error"):
        make(fresh, box, read_wanted(["curious"], {}))
    assert not (fresh / "ran").exists()


def test_an_index_that_can_t_be_reached_is_one_line(
    box: Sandbox, fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there is no network nothing else of the arena needs it."""
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "")
    monkeypatch.setenv("PIP_RETRIES", "0")
    with pytest.raises(NoRuntimeError, match="the index of packages can't be reached"):
        make(fresh, box, read_wanted(["pieces"], {}))


def test_indexes_have_names() -> None:
    """Or addresses."""
    named = {"cpu": "https://example.org/cpu"}
    wanted = read_wanted(["torch --index cpu", "numpy", "x --index=https://example.net/x"], named)
    assert wanted.packages == ("torch", "numpy", "x")
    assert list(wanted.indexes.values()) == ["https://example.org/cpu", "https://example.net/x"]


@pytest.mark.deep
def test_a_runtime_may_have_a_python_of_its_own(
    index: Path, box: Sandbox, fresh: Path, bot_folder: Path
) -> None:
    """With its own library, wherever that came from: nothing of this machine's is needed."""
    own = Path(sys.executable)
    made = make(fresh, box, read_wanted(["pieces"], {}), python=own)
    assert made.card.platform == os.uname().machine
    assert stat.S_IMODE((made.folder / made.card.program).stat().st_mode) == 0o755
    code = "import sys, json, pieces; print(sys.prefix, json.__file__, flush=True); input()"
    (bot_folder / "bot.py").write_text(code)
    python = language_named("python")
    launch = made.given_to(launch_file("bot.py", python), python, 1)
    program = box.start(bot_folder, launch, IN_BOX)
    try:
        prefix, file = said(program).split()
    finally:
        program.kill()
    assert prefix == "/runtime/python"
    assert file.startswith(prefix)
