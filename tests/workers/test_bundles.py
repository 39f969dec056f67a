"""Bundles: what is taken in and what is refused, with which words; storing and unpacking."""

from __future__ import annotations

import hashlib
import io
import os
import resource
import stat
import subprocess
import tarfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.workers.test_archives import BOT, FILES, make_folder, make_tar, make_zip
from workers.archives import BundleError
from workers.box_folder import one_at_a_time
from workers.bundles import pack, store, sweep, unpack

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
    bot = make_zip(tmp_path / "mine.zip", {"player": b"\0asm"}, mode=0o755)
    assert pack(bot).manifest.main == "player"


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
    """Only the first of two processes that find a bundle changed throws it away."""
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
