"""What tools leave beside a bot's files, and files that were made for other systems."""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from tests.workers.test_archives import BOT, make_folder, make_tar, make_zip
from workers.archives import BundleError, collect
from workers.bundles import pack

Make = Callable[[Path, Mapping[str, bytes]], Path]
AS: Mapping[str, Make] = {
    "folder": lambda path, files: make_folder(path / "mine", files),
    "zip": lambda path, files: make_zip(path / "mine.zip", files),
    "tar.gz": lambda path, files: make_tar(path / "mine.tar.gz", files),
}


@pytest.mark.parametrize("form", AS)
@pytest.mark.parametrize(
    ("names", "left"),
    [
        # bsdtar of macOS writes a file's attributes into another one before it, and so do its
        # disks that have no other place for them (copyfile(3)).
        ("my/._bot.cpp my/bot.cpp", "bot.cpp"),
        ("my/._mybot.py my/mybot.py", "mybot.py"),
        ("._my my/bot.py my/lib/._a.txt my/lib/a.txt", "bot.py lib/a.txt"),
        ("my/.AppleDouble/bot.cpp my/.AppleDouble/.Parent my/bot.cpp", "bot.cpp"),  # netatalk's
        ("my/bot.py my/.DS_Store __MACOSX/my/._bot.py", "bot.py"),
        ("bot.py .git/config .git/hooks/a.py .gitignore .hg/a .svn/a", "bot.py .gitignore"),
        ("bot.py .venv/lib/a.py __pycache__/bot.cpython-311.pyc", "bot.py"),
        # Python's venv leaves this file at the top of what it makes (PEP 405).
        ("bot.py env/pyvenv.cfg env/lib/a.py environment/a.py", "bot.py environment/a.py"),
        ("my/bot.cpp my/cmake-build-debug/CMakeFiles/3.26.4/CompilerIdCXX/a.cpp", "bot.cpp"),
        ("bot.cpp out/CMakeCache.txt out/a/b.cpp out/bot build/a.hpp", "bot.cpp build/a.hpp"),
        ("bot.cpp CMakeCache.txt CMakeFiles/3.26.4/a.cpp Makefile", "bot.cpp Makefile"),
        ("my/bot.cpp my/CMakeCache.txt", "bot.cpp"),  # the bot's own folder is none
        ("my/src/bot.cpp my/src/CMakeCache.txt my/._src", "bot.cpp"),
        ("bot.c builddir/meson-private/sanitycheckc.c", "bot.c"),
        # Cargo marks its folder so, and so do pytest, mypy and ruff.
        ("main.rs target/CACHEDIR.TAG target/debug/build/a/main.rs", "main.rs"),
        ("bot.js node_modules/a/index.js node_modules/.bin/a", "bot.js node_modules/a/index.js"),
    ],
)
def test_what_tools_leave_behind(form: str, names: str, left: str, tmp_path: Path) -> None:
    """It is left out of an archive and of a folder alike."""
    made = AS[form](tmp_path, dict.fromkeys(names.split(), BOT))
    assert {*collect(made).files} == {*left.split()}
    assert pack(made).manifest.main == left.split()[0]


def test_nothing_else_is_said_to_be_there(tmp_path: Path) -> None:
    """Where all of it is left out, that is why there is no bot."""
    with pytest.raises(BundleError, match="holds no files, but for what tools leave behind"):
        pack(make_zip(tmp_path / "a.zip", {"__MACOSX/._bot.py": b"", "._bot.py": b""}))


def test_links_that_are_left_out(tmp_path: Path) -> None:
    """A virtual environment is full of them, and that is no fault of the bot."""
    folder = make_folder(tmp_path, {"bot.py": BOT, "mine/pyvenv.cfg": b"", "mine/bin/a": b""})
    (folder / "mine/bin/python").symlink_to("/usr/bin/python3")
    assert {*collect(folder).files} == {"bot.py"}


@pytest.mark.parametrize(
    "manifest", ["run = 'out/bot --fast'", "main = 'out/bot'", "run = 'python3 out/bot.py'"]
)
def test_a_bot_that_is_left_out(manifest: str, tmp_path: Path) -> None:
    """Its author is told why it isn't found."""
    files = {"out/bot": b"\x7fELF", "out/bot.py": b"", "out/CMakeCache.txt": b"", "a.txt": b""}
    made = make_zip(tmp_path / "a.zip", {**files, "bot.toml": manifest.encode()})
    with pytest.raises(BundleError, match=r"bot.toml: 'out/bot.*' lies in a folder of a tool's"):
        pack(made)


def test_which_folder_has_too_many(tmp_path: Path) -> None:
    """The largest one is named, since it is seldom the bot's own."""
    files = {f"my/node_modules/a/{number}.js": b"" for number in range(1000)}
    made = make_zip(tmp_path / "a.zip", {"my/bot.js": b"", **files})
    with pytest.raises(BundleError, match="more than 1000 files, 1000 of them in 'node_modules'"):
        pack(made)


def windows_zip(path: Path, names: Sequence[str]) -> Path:
    """A zip as `Compress-Archive` of Windows PowerShell 5.1 writes it (made by: MS-DOS)."""
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            member = zipfile.ZipInfo(name)
            member.create_system = 0
            archive.writestr(member, b"" if name.endswith("\\") else BOT)
    return path


def test_backslashes_of_a_windows_zip(tmp_path: Path) -> None:
    """They stand between names, as `unzip` has it, too."""
    made = windows_zip(tmp_path / "a.zip", ["my\\", "my\\bot.py", "my\\lib\\a.py", "my\\.git\\a"])
    assert {*collect(made).files} == {"bot.py", "lib/a.py"}


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["bot.py", "..\\..\\a"], "leads out of the bot's folder"),
        (["bot.py", "a\\..\\..\\b"], "leads out of the bot's folder"),
        (["bot.py", ".git\\..\\..\\b"], "leads out of the bot's folder"),
        (["bot.py", "..\\"], "leads out of the bot's folder"),
        (["\\bot.py"], "is not relative"),
        (["\\\\host\\share\\bot.py"], "is not relative"),
        (["C:\\bot.py"], "is not relative"),
        (["bot.py", "a\\b", "a/b"], "'a/b' is there twice"),
        (["bot.py", "a\\" * 120 + "b"], "has 241 bytes"),
    ],
)
def test_backslashes_lead_nowhere(names: list[str], words: str, tmp_path: Path) -> None:
    """A name is judged as it is after they were turned."""
    with pytest.raises(BundleError, match=words):
        pack(windows_zip(tmp_path / "a.zip", names))


def test_a_tar_with_large_attributes(tmp_path: Path) -> None:
    """It is told what they are, and how tar leaves them out."""
    with tarfile.open(tmp_path / "a.tar", "w", format=tarfile.PAX_FORMAT) as archive:
        member = tarfile.TarInfo("bot.py")
        member.pax_headers = {"SCHILY.xattr.user.note": "x" * 5000}
        archive.addfile(member, io.BytesIO())
    with pytest.raises(BundleError, match=r"extended attributes: leave them out by --no-xattrs"):
        pack(tmp_path / "a.tar")


MACH_O, FAT, CLASS = "cffaedfe0c000001", "cafebabe00000002", "cafebabe0000003d"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("bot.exe", b"MZ\x90\x00", "'bot.exe' is a program of Windows, and bots run on Linux"),
        ("bot", b"MZ\x90\x00", "'bot' is a program of Windows"),
        ("bot", bytes.fromhex(MACH_O), "'bot' is a program of macOS, and bots run on Linux"),
        ("player", bytes.fromhex(FAT), "'player' is a program of macOS"),
        ("Bot.class", bytes.fromhex(CLASS), "a class of Java that was compiled already"),
        ("bot.jar", b"PK\x03\x04", 'an archive of Java: say run = "java -jar bot.jar"'),
        ("bot.zip", b"PK\x03\x04", "'bot.zip' is an archive itself: hand in the files"),
        ("bot.tar.gz", b"\x1f\x8b", "'bot.tar.gz' is an archive itself"),
        ("bot.7z", b"7z", "'bot.7z' is an archive itself"),
        ("bot.bat", b"@echo off\r\n", "'bot.bat' is a script of Windows"),
        ("bot.ipynb", b"{}", "'bot.ipynb' is a notebook"),
        ("bot", "#!/bin/sh\n".encode("utf-16"), "'bot' is text in UTF-16.*: save it as UTF-8"),
        ("bot", b"\xef\xbb\xbf#!/bin/sh\n", "'bot' is .* a byte order mark: save it as UTF-8"),
        ("bot.py", "import sys\n".encode("utf-16"), "bot.py is text in UTF-16.*: save it as UTF-8"),
        ("bot.cpp", "int main".encode("utf-16-le"), "bot.cpp is text in UTF-16"),
        ("bot.js", "let a".encode("utf-16-be"), "bot.js is text in UTF-16"),
        ("bot.sh", b"\xef\xbb\xbfecho\n", "bot.sh begins with a byte order mark"),
        ("Bot.java", b"\xef\xbb\xbfclass Bot {}", "Bot.java begins with a byte order mark"),
    ],
)
@pytest.mark.parametrize("mode", [0o644, 0o755])
def test_files_of_other_systems(
    name: str, content: bytes, words: str, mode: int, tmp_path: Path
) -> None:
    """Each is told what it is and what to do, as no bot, whatever right it has."""
    made = make_zip(tmp_path / "a.zip", {name: content, "README.md": b""}, mode=mode)
    with pytest.raises(BundleError, match=words):
        pack(made)


def test_a_source_beside_the_main_file_in_utf_16(tmp_path: Path) -> None:
    """A module is read by the same language; a text of other kinds is the bot's own affair."""
    module, data = "a = 1\n".encode("utf-16"), "notes".encode("utf-16")
    assert pack(make_zip(tmp_path / "a.zip", {"bot.py": BOT, "notes.txt": data}))
    with pytest.raises(BundleError, match=r"lib/a\.py is text in UTF-16"):
        pack(make_zip(tmp_path / "b.zip", {"bot.py": BOT, "lib/a.py": module}))


@pytest.mark.parametrize(
    ("name", "content", "main"),
    [
        ("bot.py", b"\xef\xbb\xbfprint()\r\n", "bot.py"),  # PEP 263
        ("bot.pyz", b"PK\x03\x04", "bot.pyz"),  # zipapp's ending; python3 runs it
        ("mybot.py", BOT, "mybot.py"),
    ],
)
def test_taken_from_a_disk_of_windows(name: str, content: bytes, main: str, tmp_path: Path) -> None:
    """There each file has the right to be executed, which makes none of them the bot."""
    made = make_zip(tmp_path / "a.zip", {name: content, "README.md": b""}, mode=0o777)
    assert pack(made).manifest.main == main


def test_a_script_that_a_shell_runs(tmp_path: Path) -> None:
    """It is of no known kind, but called bot: a box hands such to sh, as execvp(3) has it."""
    files = {"bot": b"read line\n", "helper.py": BOT, "LICENSE": b""}
    assert pack(make_zip(tmp_path / "a.zip", files, mode=0o777)).manifest.main == "bot"


@pytest.mark.parametrize("name", ["Bot.toml", "BOT.TOML", "bot.toml.txt"])
def test_a_manifest_of_another_name(name: str, tmp_path: Path) -> None:
    """It would not be read, so it is refused; beside a right one it is any file."""
    with pytest.raises(BundleError, match=f"^{name} is not read under that name: call it bot.toml"):
        pack(make_zip(tmp_path / "a.zip", {"bot.py": BOT, name: b"threads = 2"}))
    beside = {"bot.py": BOT, name: b"", "bot.toml": b"threads = 3"}
    assert pack(make_zip(tmp_path / "b.zip", beside)).manifest.threads == 3


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32", "utf-32-be"])
def test_a_manifest_with_zero_bytes(encoding: str, tmp_path: Path) -> None:
    """UTF-16 without its mark, and UTF-32, are nothing that anybody reads by guess."""
    said = "threads = 3\n".encode(encoding)
    with pytest.raises(BundleError, match=r"^bot\.toml has zero bytes.*: save it as UTF-8"):
        pack(make_zip(tmp_path / "a.zip", {"bot.py": BOT, "bot.toml": said}))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_manifest_in_what_windows_writes(encoding: str, tmp_path: Path) -> None:
    """Notepad puts a mark before a text, PowerShell's ``>`` writes UTF-16 with one."""
    said = "name = 'Zoë'\r\nthreads = 3\r\n".encode(encoding)
    bundle = pack(make_zip(tmp_path / "a.zip", {"bot.py": BOT, "bot.toml": said}))
    assert (bundle.name, bundle.manifest.threads) == ("Zoë", 3)


@pytest.mark.parametrize(
    ("build", "marked"),
    [
        ("./build.sh", ["build.sh", "tools/make"]),
        ("cd tools && ./make", ["build.sh", "tools/make"]),
        ("sh -e ./plain;./other", ["build.sh", "other", "plain", "tools/make"]),
    ],
)
def test_scripts_of_a_build_may_be_executed(
    build: str, marked: Sequence[str], tmp_path: Path
) -> None:
    """Also if the archive lost that: what begins as a program does, or is named by the build."""
    script = b"#!/bin/sh\n"
    files = {"build.sh": script, "tools/make": script, "plain": b"", "other": b"", "bot.c": b""}
    said = f'build = "{build}"\nrun = "./bot"\n'.encode()
    bundle = pack(make_zip(tmp_path / "a.zip", {**files, "bot.toml": said}))
    with tarfile.open(fileobj=io.BytesIO(bundle.archive)) as archive:
        assert sorted(one.name for one in archive if one.mode & 0o100) == marked


def test_a_folder_is_not_looked_into(tmp_path: Path) -> None:
    """What is left out by its name costs nothing, and may be what nobody can read."""
    folder = make_folder(tmp_path, {"bot.py": BOT, ".git/objects/a": b""})
    os.mkfifo(folder / ".git" / "pipe")
    assert collect(folder).left_out == []
