"""Bundles: what is taken in and what is refused, with which words; storing and unpacking."""

from __future__ import annotations

import hashlib
import io
import os
import resource
import shutil
import stat
import subprocess
import tarfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.requirements import need
from tests.workers.test_archives import BOT, FILES, make_folder, make_tar, make_zip
from workers.archives import MAX_BYTES, BundleError
from workers.bundles import launch, one_at_a_time, pack, store, sweep, unpack
from workers.launches import BOX_PATH, box_python

MAKERS: Mapping[str, Callable[[Path, Mapping[str, bytes]], Path]] = {
    "folder": lambda folder, files: make_folder(folder / "mine", files),
    "zip": lambda folder, files: make_zip(folder / "mine.zip", files),
    "tar": lambda folder, files: make_tar(folder / "mine.tar", files),
    "tar.gz": lambda folder, files: make_tar(folder / "mine.tar.gz", files),
    "tgz, old format": lambda folder, files: make_tar(
        folder / "mine.tgz", files, format=tarfile.USTAR_FORMAT
    ),
    "zip of one folder": lambda folder, files: make_zip(
        folder / "mine.zip", {f"repo-main/{name}": content for name, content in files.items()}
    ),
    "tar with dots": lambda folder, files: make_tar(
        folder / "mine.tar", {f"./{name}": content for name, content in files.items()}
    ),
    "folder with rubbish": lambda folder, files: make_folder(
        folder / "mine", {**files, ".DS_Store": b"x", "lib/.git": b"gitdir: elsewhere"}
    ),
    "tar with rubbish": lambda folder, files: make_tar(
        folder / "mine.tar",
        {**files, "__pycache__/bot.pyc": b"x", ".git/config": b"x", "lib/.DS_Store": b"x"},
    ),
}


@pytest.mark.parametrize("maker", MAKERS.values(), ids=MAKERS.keys())
def test_same_files_are_the_same_bundle(
    maker: Callable[[Path, Mapping[str, bytes]], Path], tmp_path: Path
) -> None:
    """However the files come, the bundle is the same, and its tar is one that tar reads."""
    expected = pack(make_folder(tmp_path / "expected", FILES))
    (tmp_path / "other").mkdir()
    bundle = pack(maker(tmp_path / "other", FILES))
    assert bundle.digest == expected.digest == hashlib.sha256(bundle.archive).hexdigest()
    with tarfile.open(fileobj=io.BytesIO(bundle.archive)) as archive:
        members = archive.getmembers()
    assert [member.name for member in members] == sorted(FILES)
    assert {(m.uid, m.gid, m.uname, m.mtime, m.mode) for m in members} == {(0, 0, "", 0, 0o644)}


def test_digest_is_for_good(tmp_path: Path) -> None:
    """The tar of one known file, as GNU tar makes it with these options, has this digest."""
    (tmp_path / "bot.py").write_bytes(BOT)
    command = "tar --format=gnu --owner=:0 --group=:0 --numeric-owner --mtime=@0 --mode=0644 -cf -"
    made = subprocess.run(
        [*command.split(), "bot.py"], cwd=tmp_path, capture_output=True, check=True
    ).stdout
    assert pack(tmp_path / "bot.py").digest == hashlib.sha256(made).hexdigest()


@pytest.mark.parametrize(
    ("name", "content", "language"),
    [
        ("fast.py", BOT, "Python"),
        ("fast.js", b"", "JavaScript"),
        ("fast.mjs", b"", "JavaScript"),
        ("fast.sh", b"", "shell"),
        ("fast", b"#!/usr/bin/env python3\n", "Python"),
        ("fast", b"#!/usr/bin/python3.12 -u\n", "Python"),
        ("fast", b"#!/usr/bin/env -S node --foo\n", "JavaScript"),
        ("fast", b"#! /bin/bash\n", "shell"),
        ("fast", b"#!/usr/bin/guile\n", "program"),
        ("fast", b"\x7fELF\x02\x01", "program"),
    ],
)
def test_single_file(name: str, content: bytes, language: str, tmp_path: Path) -> None:
    """A file is a bot by its ending, its first line, or by being a program."""
    (tmp_path / name).write_bytes(content)
    bundle = pack(tmp_path / name)
    assert (bundle.name, bundle.language, bundle.manifest.main) == ("fast", language, name)
    folder = unpack(store(tmp_path / "store", bundle), bundle.digest, tmp_path / "cache")
    assert (folder / name).read_bytes() == content
    runs_itself = bool((folder / name).stat().st_mode & stat.S_IXUSR)
    assert runs_itself == (language == "program")


@pytest.mark.parametrize(
    ("holder", "files", "name"),
    [
        ("gus.py", {}, "gus"),
        ("bot.py", {}, "bot"),
        ("gus.zip", {"bot.py": BOT}, "gus"),
        ("gus.zip", {"bot.py": BOT, "other.py": BOT}, "gus"),
        ("gus.zip", {"gambler.py": BOT}, "gambler"),
        ("gus.tar.gz", {"bot.py": BOT, "other.py": BOT}, "gus"),
        ("gus-1.2.tar.gz", {"main.py": BOT}, "gus-1.2"),
        ("gus", {"bot.py": BOT}, "gus"),
        ("gus", {"Bot.java": b""}, "gus"),
        ("gus.v2", {"bot.py": BOT, "other.py": BOT}, "gus.v2"),
    ],
)
def test_name_of_a_bot_that_says_none(
    holder: str, files: Mapping[str, bytes], name: str, tmp_path: Path
) -> None:
    """It is that of its only file, unless every bot's is called so, or of what holds its files."""
    path = tmp_path / holder
    if holder.endswith(".py"):
        path.write_bytes(BOT)
    else:
        makers: Mapping[str, Callable[[Path, Mapping[str, bytes]], Path]]
        makers = {".zip": make_zip, ".gz": make_tar}
        makers.get(path.suffix, make_folder)(path, files)
    assert pack(path).name == name


def test_name_of_the_folder_one_is_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dot is no name."""
    monkeypatch.chdir(make_folder(tmp_path / "gus", {"bot.py": BOT}))
    assert pack(Path(".")).name == "gus"


@pytest.mark.parametrize(
    ("files", "main"),
    [
        ({"bot.py": b"", "other.py": b""}, "bot.py"),
        ({"main.js": b"", "other.js": b""}, "main.js"),
        ({"Main.java": b"", "Other.java": b""}, "Main.java"),
        ({"player.py": b"", "README.md": b"", "weights/a.py": b""}, "player.py"),
        ({"src/bot.py": b"", "other.py": b""}, "other.py"),
        ({"gambler.py": b"", "arena_bot.py": b""}, "gambler.py"),
        ({"arena_bot.py": b""}, "arena_bot.py"),
        ({"arena_bot.py": b"", "README.md": b""}, "arena_bot.py"),
        ({"src/bot.py": b""}, "bot.py"),
    ],
)
def test_file_to_start(files: Mapping[str, bytes], main: str, tmp_path: Path) -> None:
    """Without a manifest it is the only one that can be meant."""
    assert pack(make_zip(tmp_path / "mine.zip", files)).manifest.main == main


def test_a_file_that_may_be_run_is_a_program(tmp_path: Path) -> None:
    """Whatever it holds; the kernel knows more kinds than those of ELF and scripts."""
    bot = make_zip(tmp_path / "mine.zip", {"player": b"MZ"}, mode=0o755)
    assert pack(bot).manifest.main == "player"


PYTHON = ("{python}", "-u", "-s")


@pytest.mark.parametrize(
    ("manifest", "command", "threads"),
    [
        ("", (*PYTHON, "./bot.py"), 1),
        ('main = "src/other.py"', (*PYTHON, "./src/other.py"), 1),
        ('main = "plain"\nlanguage = "python"\nthreads = 3', (*PYTHON, "./plain"), 3),
        ('run = "python3 bot.py --depth 4"', (*PYTHON, "./bot.py", "--depth", "4"), 1),
        ("run = \"./tool 'two words'\"", ("./tool", "two words"), 1),
        ('run = "sh plain"', ("/usr/bin/sh", "./plain"), 1),
        ('\ufeffmain = "plain"\r\nlanguage = "python"\r\n', (*PYTHON, "./plain"), 1),
    ],
)
def test_manifest_says_how_it_is_run(
    manifest: str, command: tuple[str, ...], threads: int, tmp_path: Path
) -> None:
    """From bot.toml through storing and unpacking to the command in the box."""
    files = {"bot.py": BOT, "src/other.py": BOT, "plain": BOT, "tool": b"#!/bin/own\n"}
    folder = make_folder(tmp_path / "mine", {**files, "bot.toml": manifest.encode()})
    bundle = pack(folder)
    found = launch(unpack(store(tmp_path / "store", bundle), bundle.digest, tmp_path / "cache"))
    expected = tuple(word.format(python=box_python()) for word in command)
    assert (tuple(found.command), found.threads) == (expected, threads)


@pytest.mark.parametrize(
    ("source", "name"),
    [
        (b"class Bot {}", "Bot"),
        (b"package my;\nclass Bot {}", "my.Bot"),
        (b"// package a;\r\n/* package\nb; */ package my.bots ;", "my.bots.Bot"),
        (b"class Bot { } // package my;", "Bot"),
        (b"/* package my;", "Bot"),
    ],
)
def test_java_starts_a_class_by_its_whole_name(source: bytes, name: str, tmp_path: Path) -> None:
    """Where javac -d puts it: the language specification, 7.4, and the compiler's manual."""
    need(shutil.which("java", path=BOX_PATH), "Java is not installed")
    manifest = b"main = 'src/Bot.java'"
    files = {"src/Bot.java": source, "src/Other.java": b"", "bot.toml": manifest}
    assert pack(make_folder(tmp_path, files)).manifest.launch().command[-1] == name


@pytest.mark.parametrize("begun", [b"/*", b"//", b"/**/", b"//\n", b" ", b"package "])
def test_a_package_is_looked_for_once(begun: bytes, tmp_path: Path) -> None:
    """A file made to be slow to read is read as quickly as others."""
    content = begun * (MAX_BYTES // len(begun) - 1)
    (tmp_path / "Bot.java").write_bytes(content)
    began = time.process_time()
    assert pack(tmp_path / "Bot.java").manifest.package == ""
    assert time.process_time() - began < 3


@pytest.mark.parametrize(
    ("name", "first"),
    [("bot.sh", b""), ("bot", b"#!/bin/sh\r\n"), ("bot", b"#!/usr/bin/awk -f\r\n")],
)
def test_a_script_with_lines_of_windows_is_refused(name: str, first: bytes, tmp_path: Path) -> None:
    """A CR is no blank to a shell (POSIX 2.3): all that it would say is ': not found'.

    Nor is it to the kernel in a program's first line (execve(2)).
    """
    (tmp_path / name).write_bytes(first + b"while read line; do\r\n  echo ok\r\ndone\r\n")
    with pytest.raises(BundleError, match=f"^{name} has line ends of Windows, .*save it with"):
        pack(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("bot.py", b"#!/usr/bin/env python3\r\nprint()\r\n"),
        ("bot", b"#!/usr/bin/python3\r\nprint()\r\n"),
        ("bot.c", b"int main(void) {}\r\n"),
        ("bot", b"\x7fELF\r\n"),
    ],
)
def test_other_languages_may_have_them(name: str, content: bytes, tmp_path: Path) -> None:
    """Interpreters, which the box starts itself, and compilers read them as the other kind."""
    (tmp_path / name).write_bytes(content)
    assert pack(tmp_path / name).manifest.main == name


def test_manifest_of_a_bot_in_full(tmp_path: Path) -> None:
    """Its other keys are kept for whoever asks."""
    manifest = b'name = "Greedy Gus"\ngames = ["clobber", "oxono"]\nthreads = 2\n'
    bundle = pack(make_folder(tmp_path / "mine", {"bot.js": b"", "bot.toml": manifest}))
    assert bundle.name == "Greedy Gus"
    assert bundle.manifest.games == ("clobber", "oxono")
    assert bundle.manifest.threads == 2


def test_the_most_that_a_manifest_may_say(tmp_path: Path) -> None:
    """Each limit is what is still taken: 60 characters, 64 threads, 8 KiB in all."""
    said = f"name = '{'x' * 60}'\nthreads = 64\n"
    folder = make_folder(tmp_path, {"bot.py": BOT, "bot.toml": f"{said:#<8192}".encode()})
    manifest = pack(folder).manifest
    assert (len(manifest.name), manifest.threads) == (60, 64)


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        ("name = Gambler", "bot.toml: Invalid value .*; texts stand in quotes"),
        (b"name = '\xff'", "bot.toml: .*decode"),
        (
            "colour = 1",
            "there is no key 'colour'; name, main, language, run, build, games, threads are",
        ),
        ("name = 1", "name takes a text in quotes"),
        ("threads = true", "threads takes a whole number"),
        ("threads = 0", "threads is a number from 1 to 64"),
        ("threads = 65", "threads is a number from 1 to 64"),
        ("games = 'clobber'", "games takes a list of texts"),
        ("games = [1]", "games takes a list of texts"),
        ('name = ""', "name is one line"),
        (f"name = '{'x' * 61}'", "name is one line of 1 to 60 characters"),
        ('name = "a\\nb"', "name is one line"),
        ("main = 'missing.py'", "main is 'missing.py', and there is no such file"),
        ("main = '../bot.py'", "main is '../bot.py', and there is no such file"),
        ("language = 'cobol'", "the language 'cobol' is not known; Python, "),
        ("main = 'notes.txt'", "how is 'notes.txt' run"),
        ("run = 'bot.py'\nmain = 'bot.py'", "run stands for main and language"),
        ("run = ''", "run starts '', which is none of the bot's files"),
        ("run = 'sh missing.sh'", "run starts 'missing.sh', which is none of the bot's files"),
        ("run = '/bin/sh -c env'", "run starts '/bin/sh', which is none of the bot's files"),
        ('run = "sh \'open"', "run can't be read: No closing quotation"),
        ('run = "bot.py \\u0000"', "run has a zero byte"),
        ('build = "true \\u0000"', "build has a zero byte"),
        (f"games = {'[' * 5000}", "bot.toml: maximum recursion depth"),
        (f"threads = {'9' * 5000}", "bot.toml: Exceeds the limit"),
        (f"# {'x' * 8192}", "bot.toml has more than 8 KiB"),
    ],
)
def test_manifest_refused(manifest: str | bytes, words: str, tmp_path: Path) -> None:
    """Each with one line that says what is wrong."""
    content = manifest if isinstance(manifest, bytes) else manifest.encode()
    folder = make_folder(tmp_path, {"bot.py": BOT, "notes.txt": b"", "bot.toml": content})
    with pytest.raises(BundleError, match=words) as caught:
        pack(folder)
    assert "\n" not in str(caught.value)


def test_store_and_unpack(tmp_path: Path) -> None:
    """A stored bundle is a file named by its digest; unpacked it is what was packed."""
    bundle = pack(make_folder(tmp_path / "mine", FILES))
    stored = store(tmp_path / "store", bundle)
    assert stored == tmp_path / "store" / bundle.digest
    assert hashlib.sha256(stored.read_bytes()).hexdigest() == stored.name
    for damage in (b"", stored.read_bytes()[:-1] + b"x"):
        stored.write_bytes(damage)
        assert store(tmp_path / "store", bundle) == stored
        assert stored.read_bytes() == bundle.archive
    old_mask = os.umask(0o077)
    try:
        folder = unpack(stored, bundle.digest, tmp_path / "cache")
    finally:
        os.umask(old_mask)
    found = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
    assert found == FILES
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.rglob("*"))}
    assert modes == {0o755, 0o644}
    assert [path.name for path in (tmp_path / "cache").iterdir()] == [bundle.digest]


def test_wrong_bundle_is_not_unpacked(tmp_path: Path) -> None:
    """What is not of the digest leaves nothing behind."""
    bundle = pack(make_folder(tmp_path / "mine", FILES))
    stored = store(tmp_path / "store", bundle)
    stored.write_bytes(bundle.archive.replace(b"GAME = 1", b"GAME = 2"))
    with pytest.raises(
        BundleError, match=f"is not the bundle {bundle.digest[:12]}: store it again"
    ):
        unpack(stored, bundle.digest, tmp_path / "cache")
    assert not (tmp_path / "cache").exists()
    with pytest.raises(BundleError, match="is no digest"):
        unpack(stored, "../../etc", tmp_path / "cache")


@pytest.mark.parametrize("damage", ["changed", "added", "removed", "link", "executable"])
def test_damaged_cache_is_unpacked_again(damage: str, tmp_path: Path) -> None:
    """Also what lies in the cache is proven before it is used."""
    bundle = pack(make_folder(tmp_path / "mine", FILES))
    stored = store(tmp_path / "store", bundle)
    folder = unpack(stored, bundle.digest, tmp_path / "cache")
    before = folder.stat().st_ino
    assert unpack(stored, bundle.digest, tmp_path / "cache").stat().st_ino == before
    if damage == "changed":
        (folder / "bot.py").write_bytes(b"changed")
    elif damage == "added":
        (folder / "__pycache__").mkdir()
        (folder / "__pycache__" / "bot.pyc").write_bytes(b"")
    elif damage == "removed":
        (folder / "data.bin").unlink()
    elif damage == "link":
        (folder / "data.bin").unlink()
        (folder / "data.bin").symlink_to(tmp_path / "mine" / "data.bin")
    else:
        (folder / "bot.py").chmod(0o755)
    unpack(stored, bundle.digest, tmp_path / "cache")
    assert pack(folder).digest == bundle.digest
    assert not (folder / "__pycache__").exists()
    assert not (folder / "data.bin").is_symlink()


def test_a_shortage_is_no_damage(tmp_path: Path) -> None:
    """A cached bundle that can't be read just now stays for those that play from it."""
    bundle = pack(make_folder(tmp_path / "mine", FILES))
    stored = store(tmp_path / "store", bundle)
    folder = unpack(stored, bundle.digest, tmp_path / "cache")
    before = folder.stat().st_ino
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, limit[1]))
    try:
        with pytest.raises(OSError, match="Too many open files"):
            unpack(stored, bundle.digest, tmp_path / "cache")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limit)
    assert folder.stat().st_ino == before
    assert unpack(stored, bundle.digest, tmp_path / "cache").stat().st_ino == before


def test_what_another_put_right_stays(tmp_path: Path) -> None:
    """Of two processes that find a bundle changed only the first one throws it away."""
    bundle = pack(make_folder(tmp_path / "mine", FILES))
    stored = store(tmp_path / "store", bundle)
    cache = tmp_path / "cache"
    folder = unpack(stored, bundle.digest, cache)
    (folder / "data.bin").unlink()
    found: list[int] = []
    with one_at_a_time(cache):
        second = threading.Thread(
            target=lambda: found.append(unpack(stored, bundle.digest, cache).stat().st_ino)
        )
        second.start()
        second.join(0.2)  # it has found the damage, and waits
        (folder / "data.bin").write_bytes(FILES["data.bin"])
        before = folder.stat().st_ino
    second.join()
    assert found == [before]


def test_many_unpack_at_once(tmp_path: Path) -> None:
    """All get the same whole folder, and nothing is left of the race."""
    bundle = pack(make_folder(tmp_path / "mine", FILES))
    stored = store(tmp_path / "store", bundle)
    found: list[str] = []

    def work() -> None:
        folder = unpack(stored, bundle.digest, tmp_path / "cache")
        found.append(pack(folder).digest)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [bundle.digest] * 8
    assert [path.name for path in (tmp_path / "cache").iterdir()] == [bundle.digest]


def test_unused_bundles_are_swept(tmp_path: Path) -> None:
    """What was not asked for in a while goes; the rest, and what is no bundle, stays."""
    cache = tmp_path / "cache"
    folders = []
    for number in range(2):
        bundle = pack(make_folder(tmp_path / f"mine{number}", {"bot.py": b"%d" % number}))
        folders.append(unpack(store(tmp_path / "store", bundle), bundle.digest, cache))
    (cache / "notes").mkdir()
    hour_ago = time.time() - 3600
    for path in (folders[0], cache / "notes"):
        os.utime(path, (hour_ago, hour_ago))
    sweep(cache, unused_seconds=1800)
    assert sorted(cache.iterdir()) == sorted([folders[1], cache / "notes"])
