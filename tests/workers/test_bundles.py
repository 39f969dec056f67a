"""Bundles: what is taken in and what is refused, with which words; storing and unpacking."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import os
import stat
import subprocess
import tarfile
import threading
import time
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workers.archives import MAX_BYTES, MAX_FILES, BundleError
from workers.bundles import launch, pack, store, sweep, unpack
from workers.languages import box_python

BOT = b'print("ready a")\n'
FILES = {"bot.py": BOT, "lib/deep/own.py": b"GAME = 1\n", "data.bin": bytes(range(256))}


def make_folder(folder: Path, files: Mapping[str, bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def make_zip(path: Path, files: Mapping[str, bytes], *, mode: int = 0o644) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            member = zipfile.ZipInfo(name)
            member.external_attr = mode << 16
            archive.writestr(member, content, zipfile.ZIP_DEFLATED)
    return path


def make_tar(path: Path, files: Mapping[str, bytes], *, format: int = tarfile.PAX_FORMAT) -> Path:
    with tarfile.open(
        path, "w:gz" if path.suffix in (".gz", ".tgz") else "w", format=format
    ) as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.mtime, member.uid, member.uname = len(content), 5e8, 7, "me"
            tar.addfile(member, io.BytesIO(content))
    return path


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
    ("files", "main"),
    [
        ({"bot.py": b"", "other.py": b""}, "bot.py"),
        ({"main.js": b"", "other.js": b""}, "main.js"),
        ({"player.py": b"", "README.md": b"", "weights/a.py": b""}, "player.py"),
        ({"src/bot.py": b"", "other.py": b""}, "other.py"),
        ({"src/bot.py": b""}, "bot.py"),
    ],
)
def test_file_to_start(files: Mapping[str, bytes], main: str, tmp_path: Path) -> None:
    """Without a manifest it is the only one that can be meant."""
    assert pack(make_zip(tmp_path / "mine.zip", files)).manifest.main == main


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


def test_manifest_of_a_bot_in_full(tmp_path: Path) -> None:
    """Its other keys are kept for whoever asks."""
    manifest = b'name = "Greedy Gus"\ngames = ["clobber", "oxono"]\nthreads = 2\n'
    bundle = pack(make_folder(tmp_path / "mine", {"bot.js": b"", "bot.toml": manifest}))
    assert bundle.name == "Greedy Gus"
    assert bundle.manifest.games == ("clobber", "oxono")
    assert bundle.manifest.threads == 2


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        ("name = ", "bot.toml: Invalid value"),
        (b"name = '\xff'", "bot.toml: .*decode"),
        ("colour = 1", "there is no key 'colour'; name, main, language, run, games, threads are"),
        ("name = 1", "name takes a text in quotes"),
        ("threads = true", "threads takes a whole number"),
        ("threads = 0", "threads is a number from 1 to 64"),
        ("games = 'clobber'", "games takes a list of texts"),
        ("games = [1]", "games takes a list of texts"),
        ('name = ""', "name is one line"),
        ('name = "a\\nb"', "name is one line"),
        ("main = 'missing.py'", "main is 'missing.py', and there is no such file"),
        ("main = '../bot.py'", "main is '../bot.py', and there is no such file"),
        ("language = 'cobol'", "the language 'cobol' is not known; Python, "),
        ("main = 'notes.txt'", "how is 'notes.txt' run"),
        ("run = 'bot.py'\nmain = 'bot.py'", "run stands for main and language"),
        ("run = ''", "run starts '', which is none of the bot's files"),
        ("run = '/bin/sh -c env'", "run starts '/bin/sh', which is none of the bot's files"),
        ('run = "sh \'open"', "run can't be read: No closing quotation"),
    ],
)
def test_manifest_refused(manifest: str | bytes, words: str, tmp_path: Path) -> None:
    """Each with one line that says what is wrong."""
    content = manifest if isinstance(manifest, bytes) else manifest.encode()
    folder = make_folder(tmp_path, {"bot.py": BOT, "notes.txt": b"", "bot.toml": content})
    with pytest.raises(BundleError, match=words) as caught:
        pack(folder)
    assert "\n" not in str(caught.value)


def tar_with(path: Path, **changes: object) -> Path:
    """A tar of one bot, and a member beside it with these attributes."""
    with tarfile.open(path, "w") as archive:
        for name, attributes in (("bot.py", {}), ("odd", changes)):
            member = tarfile.TarInfo(name)
            for key, value in attributes.items():
                setattr(member, key, value)
            archive.addfile(member, io.BytesIO(b"") if member.isreg() else None)
    return path


REFUSED: Mapping[str, tuple[Callable[[Path], object], str]] = {
    "nothing": (lambda p: p / "missing.py", "missing.py can't be read: No such file"),
    "empty folder": (lambda p: make_folder(p, {}), "holds no files"),
    "empty zip": (lambda p: make_zip(p / "a.zip", {}), "a.zip holds no files"),
    "empty tar": (lambda p: make_tar(p / "a.tar", {}), "a.tar holds no files"),
    "empty file in name only": (
        lambda p: make_folder(p, {"a.zip": b""}) / "a.zip",
        "the archive is no whole zip file",
    ),
    "no bot": (lambda p: make_zip(p / "a.zip", {"README.md": b""}), "how is 'README.md' run"),
    "only below": (
        lambda p: make_zip(p / "a.zip", {"a/x.py": b"", "b/y.py": b""}),
        "there is no bot at the top",
    ),
    "two bots": (
        lambda p: make_zip(p / "a.zip", {"x.py": b"", "y.py": b""}),
        'which of x.py, y.py is the bot. Call it bot, or say main = "x.py" in bot.toml',
    ),
    "up in a zip": (
        lambda p: make_zip(p / "a.zip", {"bot.py": b"", "../x": b""}),
        "'../x' leads out of the bot's folder",
    ),
    "up within a tar": (
        lambda p: make_tar(p / "a.tar", {"bot.py": b"", "a/../../x": b""}),
        "leads out of the bot's folder",
    ),
    "up as a folder": (
        lambda p: tar_with(p / "a.tar", name="../x", type=tarfile.DIRTYPE),
        "leads out of the bot's folder",
    ),
    "absolute": (lambda p: make_tar(p / "a.tar", {"/bot.py": b""}), "'/bot.py' is not relative"),
    "drive": (lambda p: make_zip(p / "a.zip", {"C:bot.py": b""}), "is not relative"),
    "backslash": (lambda p: make_zip(p / "a.zip", {"a\\bot.py": b""}), "with '/' between"),
    "control characters": (
        lambda p: make_tar(p / "a.tar", {"bot\x1b[2J.py": b""}),
        "characters that can't be printed",
    ),
    "no text": (
        lambda p: make_tar(p / "a.tar", {"bot\udcff.py": b""}, format=tarfile.GNU_FORMAT),
        "characters that can't be printed",
    ),
    "long name": (lambda p: make_zip(p / "a.zip", {"x" * 201: b""}), "empty or too long"),
    "twice": (
        lambda p: tar_with(p / "a.tar", name="./bot.py"),
        "the name 'bot.py' is there twice",
    ),
    "file and folder": (
        lambda p: make_tar(p / "a.tar", {"a/b": b"", "a": b""}),
        "the name 'a' is there twice",
    ),
    "folder and file": (
        lambda p: make_tar(p / "a.tar", {"a": b"", "a/b": b""}),
        "the name 'a/b' is there twice",
    ),
    "symbolic link": (
        lambda p: tar_with(p / "a.tar", type=tarfile.SYMTYPE, linkname="/etc/passwd"),
        "'odd' is a link: put the file itself there",
    ),
    "hard link": (
        lambda p: tar_with(p / "a.tar", type=tarfile.LNKTYPE, linkname="bot.py"),
        "'odd' is a link",
    ),
    "device": (lambda p: tar_with(p / "a.tar", type=tarfile.CHRTYPE), "'odd' is no plain file"),
    "fifo": (lambda p: tar_with(p / "a.tar", type=tarfile.FIFOTYPE), "'odd' is no plain file"),
    "link in a zip": (
        lambda p: make_zip(p / "a.zip", {"bot.py": b"/etc/passwd"}, mode=stat.S_IFLNK | 0o777),
        "'bot.py' is a link",
    ),
    "device in a zip": (
        lambda p: make_zip(p / "a.zip", {"bot.py": b""}, mode=stat.S_IFCHR | 0o666),
        "'bot.py' is no plain file",
    ),
    "too many files": (
        lambda p: make_zip(p / "a.zip", {f"{n}.py": b"" for n in range(MAX_FILES + 1)}),
        "more than 1000 files",
    ),
    "zip bomb": (
        lambda p: make_zip(p / "a.zip", {"bot.py": bytes(MAX_BYTES + 1)}),
        "more than 16 MiB unpacked",
    ),
    "zip bomb in parts": (
        lambda p: make_zip(p / "a.zip", {f"{n}.py": bytes(MAX_BYTES // 4) for n in range(5)}),
        "more than 16 MiB unpacked",
    ),
    "gzip bomb": (
        lambda p: (p / "a.tgz", (p / "a.tgz").write_bytes(gzip.compress(bytes(64 << 20), 1)))[0],
        "more than 16 MiB unpacked",
    ),
    "large file": (
        lambda p: make_folder(p, {"bot.py": bytes(MAX_BYTES + 1)}) / "bot.py",
        "bot.py has more than 16 MiB",
    ),
    "large folder": (
        lambda p: make_folder(p, {"bot.py": b"", "x": bytes(MAX_BYTES + 1)}),
        "more than 16 MiB",
    ),
    "other archive": (
        lambda p: make_folder(p, {"a.tar.xz": b"x"}) / "a.tar.xz",
        "a.tar.xz can't be read: give a zip, tar or tar.gz archive",
    ),
    "half a gzip": (
        lambda p: make_folder(p, {"a.tgz": gzip.compress(bytes(9999))[:-9]}) / "a.tgz",
        "no whole gzip file",
    ),
    "no tar": (lambda p: make_folder(p, {"a.tar": b"x" * 999}) / "a.tar", "no whole tar file"),
}


@pytest.mark.parametrize(("make", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_refused(make: Callable[[Path], Path], words: str, tmp_path: Path) -> None:
    """Each threat and each mistake gets one clear line."""
    with pytest.raises(BundleError, match=words) as caught:
        pack(make(tmp_path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", ["link", "folder link", "fifo"])
def test_folder_with_odd_things(kind: str, tmp_path: Path) -> None:
    """A folder of the author's own is judged as an archive is; a link is never followed."""
    make_folder(tmp_path, FILES)
    if kind == "fifo":
        os.mkfifo(tmp_path / "odd")
    else:
        (tmp_path / "odd").symlink_to("/etc/passwd" if kind == "link" else "/etc")
    with pytest.raises(BundleError, match=r"'odd' is (a link|no plain file)"):
        pack(tmp_path)


def test_zip_that_lies_about_its_sizes(tmp_path: Path) -> None:
    """What it says of itself is not believed: reading is bounded by what really comes."""
    data = make_zip(tmp_path / "a.zip", {"bot.py": bytes(MAX_BYTES + 1)}).read_bytes()
    honest = (MAX_BYTES + 1).to_bytes(4, "little")
    (tmp_path / "a.zip").write_bytes(data.replace(honest, (10).to_bytes(4, "little")))
    with pytest.raises(BundleError):
        pack(tmp_path / "a.zip")


def test_zip_with_a_password(tmp_path: Path) -> None:
    """It is named as such; the flag is bit 0 of each entry (APPNOTE 4.4.4)."""
    data = bytearray(make_zip(tmp_path / "a.zip", {"bot.py": BOT}).read_bytes())
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "a.zip").write_bytes(data)
    with pytest.raises(BundleError, match="has a password"):
        pack(tmp_path / "a.zip")


SEEDS = {
    "a.zip": lambda folder: make_zip(folder / "a.zip", FILES),
    "a.tar": lambda folder: make_tar(folder / "a.tar", FILES),
    "a.tgz": lambda folder: make_tar(folder / "a.tgz", FILES),
}


@pytest.mark.parametrize("name", SEEDS)
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_damaged_archives(name: str, data: st.DataObject, tmp_path: Path) -> None:
    """A damaged archive is a bundle or a BundleError, never anything else."""
    archive = bytearray(SEEDS[name](tmp_path).read_bytes())
    places = st.integers(0, len(archive) - 1)
    for place in data.draw(st.lists(places, min_size=1, max_size=6)):
        archive[place] = data.draw(st.integers(0, 255))
    del archive[len(archive) - data.draw(st.integers(0, 40)) :]
    (tmp_path / name).write_bytes(archive)
    with contextlib.suppress(BundleError):
        pack(tmp_path / name)


def test_store_and_unpack(tmp_path: Path) -> None:
    """A stored bundle is a file named by its digest; unpacked it is what was packed."""
    bundle = pack(make_folder(tmp_path / "mine", FILES))
    stored = store(tmp_path / "store", bundle)
    assert stored == tmp_path / "store" / bundle.digest
    assert hashlib.sha256(stored.read_bytes()).hexdigest() == stored.name
    assert store(tmp_path / "store", bundle) == stored
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
