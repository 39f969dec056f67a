"""Large files: the form of a bundle that has them, and the same files wherever they come from."""

from __future__ import annotations

import hashlib
import io
import os
import stat
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.workers.conftest import LIMITS, python_launch
from tests.workers.test_archives import BOT, make_folder, make_tar, make_zip
from workers import archives, kept_files
from workers.bundles import Bundle, digest_of, pack, store, sweep_store, unpack
from workers.kept_files import KeptFiles, RoomError
from workers.large_files import MAX_BYTES, MIB, SMALL_BYTES, Aside, BundleError, is_large, read_link
from workers.sandbox import Sandbox

LARGEST = 64 * MIB
NET = b"weights " * (17 * MIB // 8)
HEAD = b"head" * (SMALL_BYTES // 4) + b"!"
FILES = {"bot.py": BOT, "lib/own.py": b"GAME = 1\n", "net/big.bin": NET, "net/head.bin": HEAD}


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def files_in(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


class Place:
    """A store and a worker's caches."""

    def __init__(self, above: Path, most_bytes: int = LARGEST) -> None:
        self.store, self.cache, self.builds = above / "store", above / "bundles", above / "builds"
        for folder in (self.store, self.cache, self.builds, above / "large"):
            folder.mkdir(parents=True, exist_ok=True)
        self.kept = KeptFiles(above / "large", (self.cache, self.builds), most_bytes=most_bytes)

    def unpack(self, bundle: Bundle, held: ExitStack) -> Path:
        return unpack(self.store / bundle.digest, bundle.digest, self.cache, self.kept, held=held)

    def names(self) -> list[str]:
        return sorted(path.name for path in self.kept.folder.iterdir())


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "place")


MAKERS: Mapping[str, Callable[[Path, Mapping[str, bytes]], Path]] = {
    "folder": lambda folder, files: make_folder(folder / "mine", files),
    "zip": lambda folder, files: make_zip(folder / "mine.zip", files),
    "stored zip": lambda folder, files: make_zip(
        folder / "mine.zip", files, method=zipfile.ZIP_STORED
    ),
    "tar": lambda folder, files: make_tar(folder / "mine.tar", files),
    "tar.gz": lambda folder, files: make_tar(folder / "mine.tar.gz", files),
}


@pytest.mark.long
@pytest.mark.parametrize("maker", MAKERS.values(), ids=MAKERS.keys())
def test_same_files_are_the_same_bundle_by_every_way(
    maker: Callable[[Path, Mapping[str, bytes]], Path], place: Place, tmp_path: Path
) -> None:
    """It is stored in parts, proven by ``sha256sum``, and unpacked it is what was packed."""
    bundle = pack(maker(tmp_path, FILES), max_bytes=LARGEST)
    assert digest(bundle.archive) == bundle.digest
    with tarfile.open(fileobj=io.BytesIO(bundle.archive)) as archive:
        links = {one.name: one.linkname for one in archive if one.issym()}
    assert links == {
        "net/big.bin": f"sha256:{digest(NET)}:{len(NET)}",
        "net/head.bin": f"sha256:{digest(HEAD)}:{len(HEAD)}",
    }
    assert bundle.size == len(bundle.archive) + len(NET) + len(HEAD)
    for damage in (None, b"", NET[:-1] + b"x"):
        if damage is not None:
            (place.store / digest(NET)).unlink()  # it may be one with what was put aside
            (place.store / digest(NET)).write_bytes(damage)
        store(place.store, bundle)
        stored = {path.name for path in place.store.iterdir()}
        assert stored == {bundle.digest, digest(NET), digest(HEAD)}
        assert all(digest((place.store / name).read_bytes()) == name for name in stored)
    with ExitStack() as held:
        folder = place.unpack(bundle, held)
        assert files_in(folder) == FILES
        assert digest_of(folder) == bundle.digest
        assert pack(folder, max_bytes=LARGEST).digest == bundle.digest
        modes = {stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*")}
        assert modes == {0o755, 0o644}


def test_a_bundle_of_up_to_16_mib_is_what_it_always_was(tmp_path: Path) -> None:
    """One tar of all, as GNU tar would make it, however large a file is; and a byte more is not."""
    files = {"bot.py": b"#" * 100, "net.bin": bytes(MAX_BYTES - 100)}
    bundle = pack(make_folder(tmp_path / "mine", files))
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, content in sorted(files.items()):
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content), 0o644
            archive.addfile(member, io.BytesIO(content))
    assert bundle.archive == plain.getvalue()
    assert bundle.large == ()
    (tmp_path / "mine" / "bot.py").write_bytes(b"#" * 101)
    with pytest.raises(BundleError, match="the files have more than 16 MiB unpacked"):
        pack(tmp_path / "mine")
    assert [one.size for one in pack(tmp_path / "mine", max_bytes=LARGEST).large] == [
        MAX_BYTES - 100
    ]


@given(st.lists(st.integers(0, 40), min_size=1, max_size=8))
@settings(deadline=None, max_examples=25, suppress_health_check=list(HealthCheck))
def test_large_is_a_rule_of_the_files_alone(sizes: list[int]) -> None:
    """Around both limits: nothing is large in a small bundle, and no small file in any."""
    whole = [size * SMALL_BYTES // 2 for size in sizes]
    found = [is_large(size, sum(whole)) for size in whole]
    assert not any(found) if sum(whole) <= MAX_BYTES else True
    assert all(size > SMALL_BYTES for size, large in zip(whole, found, strict=True) if large)


@pytest.mark.parametrize(
    ("files", "most", "words"),
    [
        ({"bot.py": BOT, "a": NET}, 17 * MIB, "the files have more than 17 MiB unpacked"),
        (
            {"bot.py": BOT, **{f"{n}": bytes(SMALL_BYTES) for n in range(17)}},
            LARGEST,
            "the files of at most 1 MiB have more than 16 MiB together",
        ),
        ({"a/bot.py": BOT, "../b": NET}, LARGEST, "leads out of the bot's folder"),
        ({"bot.py": BOT, "a": NET, "./a": NET}, LARGEST, "the name 'a' is there twice"),
    ],
    ids=["together", "small ones", "path", "twice"],
)
@pytest.mark.parametrize("make", [make_zip, make_tar], ids=["zip", "tar"])
def test_limits_hold_as_before(
    make: Callable[[Path, Mapping[str, bytes]], Path],
    files: Mapping[str, bytes],
    most: int,
    words: str,
    tmp_path: Path,
) -> None:
    """They do for count, size and path; and what was put aside is gone with the refusal."""
    above = tmp_path / "above"
    above.mkdir()
    path = make(tmp_path / f"mine.{'zip' if make is make_zip else 'tar'}", files)
    with pytest.raises(BundleError, match=words):
        pack(path, max_bytes=most, aside=Aside(above))
    assert list(above.iterdir()) == []


def test_a_bomb_is_broken_off_at_the_limit(tmp_path: Path) -> None:
    """It unpacks a thousand times as much: read until there is too much, and no further."""
    bomb = make_zip(tmp_path / "mine.zip", {"bot.py": BOT, "net": bytes(100 * MIB)})
    assert bomb.stat().st_size < MIB
    above = tmp_path / "above"
    above.mkdir()
    seen: list[int] = []

    class Watched(Aside):
        def put(self, begun, source, most):  # type: ignore[no-untyped-def]
            large = super().put(begun, source, most)
            seen.append(large.path.stat().st_size)
            return large

    with pytest.raises(BundleError, match="more than 20 MiB unpacked"):
        pack(bomb, max_bytes=20 * MIB, aside=Watched(above))
    assert seen == [20 * MIB + 1 - len(BOT)]


def test_an_archive_that_names_a_file_needs_it_given(tmp_path: Path) -> None:
    """Its digest and size are asked for; without it a link is a link, as ever."""
    bundle = pack(make_folder(tmp_path / "mine", FILES), max_bytes=LARGEST)
    sent = tmp_path / "mine.tar"
    sent.write_bytes(bundle.archive)
    with pytest.raises(BundleError, match="was not sent, or not by you: send it first"):
        pack(sent, max_bytes=LARGEST)
    of = {large.digest: large.path for large in bundle.large}
    again = pack(sent, max_bytes=LARGEST, aside=Aside(given=of.get))
    assert (again.digest, again.size) == (bundle.digest, bundle.size)
    large = bundle.large[0]
    with pytest.raises(BundleError, match="was not sent"):
        Aside(given=of.get).named(large.digest, large.size - 1)


@pytest.mark.parametrize(
    "text",
    [
        "/etc/passwd",
        "sha256:",
        f"sha256:{'0' * 63}:5",
        f"sha256:{'0' * 64}:0",
        f"sha256:{'G' * 64}:5",
        f"sha256:{'0' * 64}:99999999999999",
        f"sha256:{'0' * 64}:5\n",
        f"../sha256:{'0' * 64}:5",
    ],
)
def test_other_links_are_refused(text: str, tmp_path: Path) -> None:
    """What stands for no large file is a link."""
    assert read_link(text) is None
    with tarfile.open(tmp_path / "mine.tar", "w") as archive:
        archive.addfile(tarfile.TarInfo("bot.py"))
        member = tarfile.TarInfo("net")
        member.type, member.linkname = tarfile.SYMTYPE, text
        archive.addfile(member)
    with pytest.raises(BundleError, match="'net' is a link: put the file itself there"):
        pack(tmp_path / "mine.tar", max_bytes=LARGEST)


def test_one_file_under_many_names_is_kept_once(place: Place, tmp_path: Path) -> None:
    """Also by several bundles; as a program it is another, since links have one mode."""
    files = {"bot.py": BOT, "a.bin": NET, "b.bin": NET}
    first = pack(make_folder(tmp_path / "one", files), max_bytes=LARGEST)
    (make_folder(tmp_path / "two", {**files, "bot.py": BOT + b"#"}) / "b.bin").chmod(0o755)
    second = pack(tmp_path / "two", max_bytes=LARGEST)
    assert [len(bundle.large) for bundle in (first, second)] == [1, 1]
    with ExitStack() as held:
        folders = [place.unpack(store_(place, bundle), held) for bundle in (first, second)]
    assert place.names() == [digest(NET), f"{digest(NET)}-x"]
    inodes = {(folder / name).stat().st_ino for folder in folders for name in ("a.bin", "b.bin")}
    assert len(inodes) == 2
    assert os.access(folders[1] / "b.bin", os.X_OK)
    assert not (folders[0] / "b.bin").stat().st_mode & stat.S_IXUSR


def store_(place: Place, bundle: Bundle) -> Bundle:
    store(place.store, bundle)
    return bundle


@pytest.mark.parametrize("damage", ["changed", "gone", "in the cache", "same time"])
def test_damage_is_found_and_put_right(damage: str, place: Place, tmp_path: Path) -> None:
    """Before the bot plays, of its folder and of what is kept."""
    bundle = store_(place, pack(make_folder(tmp_path / "mine", FILES), max_bytes=LARGEST))
    with ExitStack() as held:
        folder = place.unpack(bundle, held)
    net = folder / "net/big.bin"
    if damage == "gone":
        net.unlink()
    elif damage == "in the cache":
        with (place.kept.folder / digest(NET)).open("r+b") as file:
            file.write(b"other")
    else:
        before = net.stat()
        with net.open("r+b") as file:
            file.write(b"other")
        if damage == "same time":  # a disk's damage, which a worker finds when it starts
            os.utime(net, ns=(before.st_atime_ns, before.st_mtime_ns))
            kept_files._proven.clear()
    with ExitStack() as held:
        assert files_in(place.unpack(bundle, held)) == FILES


def test_what_is_proven_is_not_read_again(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A match begins without hashing what has stayed as it is."""
    bundle = store_(place, pack(make_folder(tmp_path / "mine", FILES), max_bytes=LARGEST))
    with ExitStack() as held:
        place.unpack(bundle, held)
        read: list[Path] = []
        whole = kept_files.digest_of_file
        monkeypatch.setattr(
            kept_files, "digest_of_file", lambda path, most: read.append(path) or whole(path, most)
        )
        place.unpack(bundle, held)
    assert read == []


def bundle_of(place: Place, tmp_path: Path, number: int) -> Bundle:
    """A bundle with a large file of 17 MiB of its own."""
    files = {"bot.py": BOT, "net.bin": NET[:-1] + bytes([number])}
    return store_(place, pack(make_folder(tmp_path / f"bot{number}", files), max_bytes=LARGEST))


def test_room_is_made_by_what_was_unused_for_longest(tmp_path: Path) -> None:
    """Never by what is in use; and what fits nowhere is refused in the operator's words."""
    place = Place(tmp_path / "place", 40 * MIB)
    one, two, three = (bundle_of(place, tmp_path, number) for number in range(3))
    with ExitStack() as long:
        place.unpack(one, long)
        with ExitStack() as held:
            place.unpack(two, held)
            with pytest.raises(RoomError, match=r"too much is in use .*ARENA_CACHE_GIB"):
                place.unpack(three, held)
        with ExitStack() as held:
            place.unpack(three, held)
        assert {path.name for path in place.cache.iterdir()} == {one.digest, three.digest}
    with ExitStack() as held:  # one was used before three
        place.unpack(two, held)
    assert {path.name for path in place.cache.iterdir()} == {two.digest, three.digest}
    assert len(place.names()) == 2
    small = Place(tmp_path / "small", 16 * MIB)
    store_(small, one)
    with pytest.raises(RoomError, match=r"and this worker keeps at most .*ARENA_CACHE_GIB"):
        unpack(small.store / one.digest, one.digest, small.cache, small.kept)
    assert small.names() == []


def test_an_unpacked_bundle_that_goes_takes_its_build_along(tmp_path: Path) -> None:
    """Both have links to the same files; if one is in use, so is the other."""
    place = Place(tmp_path / "place", 20 * MIB)
    one, two = (bundle_of(place, tmp_path, number) for number in range(2))
    with ExitStack() as held:
        folder = place.unpack(one, held)
        built = place.builds / f"{one.digest}-0123"
        built.mkdir()
        os.link(folder / "net.bin", built / "net.bin")
        with pytest.raises(RoomError):
            place.unpack(two, held)
        assert built.exists()
    with ExitStack() as held:
        place.unpack(two, held)
    assert not built.exists()
    assert len(place.names()) == 1


def test_what_was_begun_and_killed_is_swept(tmp_path: Path) -> None:
    """It lies in a store: a file, or a folder of what was put aside, a day after."""
    for name, age in (("old", 90_000), ("new", 60)):
        (tmp_path / f".new-{name}").mkdir()
        (tmp_path / f".new-{name}" / "x").write_bytes(b"x")
        (tmp_path / f".new-{name}-file").write_bytes(b"x")
        for path in (tmp_path / f".new-{name}", tmp_path / f".new-{name}-file"):
            then = path.stat().st_mtime - age
            os.utime(path, (then, then))
    sweep_store(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".new-new", ".new-new-file"]


def test_a_zip_that_lists_too_much_is_not_read(tmp_path: Path) -> None:
    """Its table of contents is in memory while it is read, so that is bounded, too."""
    path = tmp_path / "mine.zip"
    size = archives.MAX_ARCHIVE_BYTES + 1
    end = b"PK\5\6" + bytes(4) + (1).to_bytes(2, "little") * 2
    end += size.to_bytes(4, "little") + bytes(4) + bytes(2)
    with path.open("wb") as file:
        file.truncate(size)
        file.seek(size)
        file.write(end)
    with pytest.raises(BundleError, match="names more than 20000 files"):
        pack(path, max_bytes=LARGEST)


THIEF = """import os
for path in PATHS:
    for mode in ("rb", "r+b"):
        try:
            with open(path, mode) as file:
                print(path, mode, file.read(4))
        except OSError:
            pass
for path in ("net.bin", *PATHS):
    for change in (os.unlink, lambda path: os.chmod(path, 0o777),
                   lambda path: os.truncate(path, 1), lambda path: os.link(path, "mine")):
        try:
            change(path)
            print(path, "was changed")
        except OSError:
            pass
print("own", open("net.bin", "rb").read(4), flush=True)
"""


def test_a_bot_reads_no_others_weights_and_changes_none(sandbox: Sandbox, tmp_path: Path) -> None:
    """Not by digest, where all of them are kept, nor where another bot has them."""
    store_folder = tmp_path / "store"
    victim = pack(
        make_folder(tmp_path / "victim", {"bot.py": BOT, "net.bin": NET}), max_bytes=LARGEST
    )
    store(store_folder, victim)
    with ExitStack() as held:

        def unpacked(bundle: Bundle) -> Path:
            place = store_folder / bundle.digest
            return unpack(place, bundle.digest, sandbox.bundles, sandbox.kept, held=held)

        theirs = unpacked(victim)
        paths = [
            str(sandbox.kept.folder / digest(NET)),
            str(theirs / "net.bin"),
            *(f"{above}/{digest(NET)}" for above in ("/bot", ".", "..", "../large", "../../large")),
            f"../{victim.digest}/net.bin",
        ]
        code = f"PATHS = {paths!r}\n{THIEF}".encode()
        other = NET[::-1]
        thief = pack(
            make_folder(tmp_path / "thief", {"bot.py": code, "net.bin": other}), max_bytes=LARGEST
        )
        store(store_folder, thief)
        folder = unpacked(thief)
        before = {path: path.stat().st_mtime_ns for path in sandbox.kept.folder.iterdir()}
        program = sandbox.start(folder, python_launch(), LIMITS)
        try:
            said = b""
            while not (b"own" in said and said.endswith(b"\n")):
                more = os.read(program.stdout, 4096)
                assert more, os.pread(program.stderr, 4096, 0)
                said += more
        finally:
            program.kill()
        assert said.strip() == f"own {other[:4]!r}".encode()
        assert {path: path.stat().st_mtime_ns for path in before} == before
        assert (theirs / "net.bin").read_bytes() == NET
