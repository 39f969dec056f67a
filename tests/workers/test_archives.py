"""Archives and folders that are refused: each threat and each mistake, with which words."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import stat
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workers.archives import MAX_BYTES, MAX_MEMBERS, BundleError, collect
from workers.bundles import pack
from workers.files import MAX_FILES

BOT = b'print("ready a")\n'
FILES = {"bot.py": BOT, "lib/deep/own.py": b"GAME = 1\n", "data.bin": bytes(range(256))}


def make_folder(folder: Path, files: Mapping[str, bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def make_zip(
    path: Path,
    files: Mapping[str, bytes],
    *,
    mode: int = 0o644,
    method: int = zipfile.ZIP_DEFLATED,
) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            member = zipfile.ZipInfo(name)
            member.external_attr = mode << 16
            archive.writestr(member, content, method)
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


def tar_with(path: Path, **changes: object) -> Path:
    """A tar of one bot, and a member beside it with these attributes."""
    with tarfile.open(path, "w") as archive:
        for name, attributes in (("bot.py", {}), ("odd", changes)):
            member = tarfile.TarInfo(name)
            for key, value in attributes.items():
                setattr(member, key, value)
            archive.addfile(member, io.BytesIO(b"") if member.isreg() else None)
    return path


def tar_of_words(path: Path, *, words: bytes, times: int) -> Path:
    """A tar that says something in pax headers, again and again, before it comes to a file."""
    member = tarfile.TarInfo("words")
    member.type, member.size = tarfile.XHDTYPE, len(words)
    header = member.tobuf(tarfile.USTAR_FORMAT) + words + bytes(-len(words) % 512)
    bot = tarfile.TarInfo("bot.py").tobuf()
    path.write_bytes(header * times + bot + bytes(1024))
    return path


def tar_with_a_damaged_header(path: Path) -> Path:
    """A tar in which a second file is described, but for one bit."""
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as archive:
        for name in ("bot.py", "more.py"):
            archive.addfile(tarfile.TarInfo(name))
    data = bytearray(path.read_bytes())
    data[512] ^= 1
    path.write_bytes(data)
    return path


def tar_of_one(path: Path, size: int) -> Path:
    """A tar with a file of so many bytes."""
    with tarfile.open(path, "w") as archive:
        member = tarfile.TarInfo("bot.py")
        member.size = size
        archive.addfile(member, io.BytesIO(bytes(size)))
    return path


def tar_of_holes(path: Path) -> Path:
    """A tar of a sparse file that lists its holes without end, which takes Python seconds."""
    words = {"major": "1", "minor": "0", "realsize": "5", "name": "bot.py"}
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
        member = tarfile.TarInfo("bot.py")
        member.pax_headers = {f"GNU.sparse.{key}": value for key, value in words.items()}
        holes = b"9999999\n" + b"0\n" * 500_000
        member.size = len(holes)
        archive.addfile(member, io.BytesIO(holes))
    return path


def tar_that_goes_back(path: Path, steps: int) -> Path:
    """A tar whose last member has a size below zero, so many blocks, by its pax header."""
    words = f"{len(f'00 size={-512 * steps}') + 1} size={-512 * steps}\n".encode()
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as archive:
        for name in (".git/a", ".git/b", ".git/c"):
            archive.addfile(tarfile.TarInfo(name))
        member = tarfile.TarInfo("words")
        member.type, member.size = tarfile.XHDTYPE, len(words)
        archive.addfile(member, io.BytesIO(words))
        archive.addfile(tarfile.TarInfo(".git/d"))
    return path


def zip_with_a_far_file(path: Path) -> Path:
    """A zip whose file begins at the last byte that 64 bits count to (APPNOTE 4.5.3)."""
    data = make_zip(path, {"bot.py": BOT}).read_bytes()
    entry = bytearray(data[data.index(b"PK\x01\x02") : data.index(b"PK\x05\x06")])
    entry[30:32], entry[42:46] = (12).to_bytes(2, "little"), b"\xff" * 4
    entry += b"\x01\x00\x08\x00" + b"\xff" * 8
    end = bytearray(data[data.index(b"PK\x05\x06") :])
    end[12:16] = len(entry).to_bytes(4, "little")
    path.write_bytes(data[: data.index(b"PK\x01\x02")] + entry + end)
    return path


@pytest.mark.parametrize(
    ("name", "maker", "found"),
    [
        ("eröffnung.txt".encode(), 3, "eröffnung.txt"),  # Info-ZIP, and the Finder of a Mac
        ("eröffnung.txt".encode("cp437"), 3, "eröffnung.txt"),
        ("eröffnung.txt".encode("cp437"), 0, "eröffnung.txt"),  # the DOS of old
        ("ö".encode(), 0, "├╢"),
    ],
)
def test_names_of_a_zip_that_does_not_say_utf_8(
    name: bytes, maker: int, found: str, tmp_path: Path
) -> None:
    """They are what their author called them, if that can be told (APPNOTE 4.4.4, D.1)."""
    path = make_zip(tmp_path / "a.zip", {"bot.py": BOT, "x" * len(name): b"1"})
    data = path.read_bytes().replace(b"x" * len(name), name)
    entry = data.rindex(b"PK\x01\x02")
    path.write_bytes(data[: entry + 5] + bytes([maker]) + data[entry + 6 :])
    assert found in collect(path).files


REFUSED: Mapping[str, tuple[Callable[[Path], object], str]] = {
    "nothing": (lambda p: p / "missing.py", "missing.py can't be read: No such file"),
    "empty folder": (lambda p: make_folder(p, {}), "holds no files"),
    "empty zip": (lambda p: make_zip(p / "a.zip", {}), "a.zip holds no files"),
    "empty tar": (lambda p: make_tar(p / "a.tar", {}), "a.tar holds no files"),
    "empty file in name only": (
        lambda p: make_folder(p, {"a.zip": b""}) / "a.zip",
        "the archive is no zip file, whatever its name",
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
    "long name": (
        lambda p: make_zip(p / "a.zip", {"x" * 201: b""}),
        "201 bytes: shorten it to 200",
    ),
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
    "too many members of a zip": (
        lambda p: make_zip(p / "a.zip", {f".git/{n}": b"" for n in range(MAX_MEMBERS + 1)}),
        "names more than 20000 files and folders",
    ),
    "too many members of a tar": (
        lambda p: (
            make_folder(p, {"a.tar": tarfile.TarInfo(".git/x").tobuf() * (MAX_MEMBERS + 1)})
            / "a.tar"
        ),
        "names more than 20000 files and folders",
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
    **{
        f"other archive{ending}": (
            lambda p, name=f"a{ending}": make_folder(p, {name: b"x"}) / name,  # type: ignore[misc]
            f"a{ending} can't be read: give a zip, tar or tar.gz archive",
        )
        for ending in (".tar.xz", ".tar.lz", ".LZ4", ".7z", ".dmg")
    },
    "holes": (lambda p: tar_of_holes(p / "a.tar"), "says too much of one of its files"),
    # Of this Python says nothing, and the rest would be left out.
    "damaged header": (lambda p: tar_with_a_damaged_header(p / "a.tar"), "no whole tar file"),
    "large file in a tar": (
        lambda p: tar_of_one(p / "a.tar", MAX_BYTES + 1000),
        "more than 16 MiB",
    ),
    # Python before 3.11.10 takes hours for so many digits (CVE-2024-6232).
    "words without end": (
        lambda p: tar_of_words(p / "a.tar", words=b"1" * 1_000_000, times=1),
        "the archive says too much of one of its files",
    ),
    "words on words": (
        lambda p: tar_of_words(p / "a.tar", words=b"12 comment=x", times=2000),
        "says too much of one of its files|no whole tar file",
    ),
    # Older releases of Python go round in it for ever (CVE-2025-8194).
    **{
        f"{steps} steps back": (
            lambda p, steps=steps: tar_that_goes_back(p / "a.tar", steps),  # type: ignore[misc]
            "no whole tar file",
        )
        for steps in (3, 4, 5)
    },
    "far file": (lambda p: zip_with_a_far_file(p / "a.zip"), "no whole zip file"),
    "odd compression": (
        lambda p: make_zip(p / "a.zip", {"bot.py": BOT}, method=zipfile.ZIP_LZMA),
        "compressed in a way that is not supported",
    ),
    "half a gzip": (
        lambda p: make_folder(p, {"a.tgz": gzip.compress(bytes(9999))[:-9]}) / "a.tgz",
        "no whole gzip file: give a zip, tar or tar.gz archive",
    ),
    **{
        f"no {name[2:]}": (
            lambda p, name=name: make_folder(p, {name: b"x" * 999}) / name,  # type: ignore[misc]
            "no tar file, whatever its name: give a zip, tar or tar.gz archive",
        )
        for name in ("a.tar", "a.tar.gz", "a.tgz")
    },
}


@pytest.mark.timeout(20)
@pytest.mark.parametrize(("make", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_refused(make: Callable[[Path], Path], words: str, tmp_path: Path) -> None:
    """Each threat and each mistake gets one clear line."""
    with pytest.raises(BundleError, match=words) as caught:
        pack(make(tmp_path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("made", "name"), [("a.tgz", "a.tar"), ("a.tar", "a.tar.gz")])
def test_a_tar_that_was_packed_or_unpacked_on_its_way(made: str, name: str, tmp_path: Path) -> None:
    """Its name tells what it was; what it is is read."""
    path = make_tar(tmp_path / made, FILES).rename(tmp_path / name)
    assert {name: file.content for name, file in collect(path).files.items()} == FILES


TAKEN: Mapping[str, Callable[[Path], object]] = {
    "long name": lambda p: make_zip(p / "a.zip", {"bot.py": b"", "x" * 200: b""}),
    "many files": lambda p: make_zip(
        p / "a.zip", {"bot.py": b"", **{f"{n}.txt": b"" for n in range(999)}}
    ),
    "large file": lambda p: make_folder(p, {"bot.py": bytes(16 << 20)}) / "bot.py",
    "large file in a folder": lambda p: make_folder(p, {"bot.py": bytes(16 << 20)}),
    "large file in a zip": lambda p: make_zip(p / "a.zip", {"bot.py": bytes(16 << 20)}),
    "large file in a tar": lambda p: tar_of_one(p / "a.tar", 16 << 20),
}


@pytest.mark.parametrize("make", TAKEN.values(), ids=TAKEN.keys())
def test_the_most_that_is_taken(make: Callable[[Path], Path], tmp_path: Path) -> None:
    """Each limit is what is still a bot: a name of 200 bytes, 1000 files, 16 MiB."""
    assert "bot.py" in collect(make(tmp_path)).files


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


@pytest.mark.timeout(20)
def test_a_pipe_is_no_bot(tmp_path: Path) -> None:
    """It is refused as it stands, and nobody waits for what comes through it."""
    os.mkfifo(tmp_path / "bot.py")
    with pytest.raises(BundleError, match=r"'bot\.py' is no plain file"):
        pack(tmp_path / "bot.py")


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
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
