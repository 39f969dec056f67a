"""Large files by the API: sent in parts, theirs who sent them, and counted."""

from __future__ import annotations

import hashlib
import io
import os
import resource
import tarfile
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import sqlalchemy as sa
from werkzeug.test import TestResponse

from arena import signing
from arena.audit import ARENA
from arena.bots import quota, sending, stored_files
from arena.bots.furnish import furnish
from arena.bots.lost_bundles import is_lost
from arena.cli.bundle_intake import BundleIntake
from arena.cli.client import form_with_file
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import Bot, BotVersion, CoOwner, Ladder, LargeFile, Scope, SentFile, User
from arena.people.accounts import add_token
from arena.people.user_deeds import SetQuota
from arena.web.app import create_app
from arena.web.bundle_diff import difference
from engine.games import GAMES
from tests.arena.doing import do
from tests.arena.web.signing_in import now, person
from tests.workers.test_archives import BOT, make_folder, make_tar, make_zip
from workers import large_files
from workers.bundles import Bundle, pack, store

MIB = 1 << 20
NET = b"weights " * (17 * MIB // 8)
OTHER = NET[:-1] + b"!"
LADDER = "clobber-6x7"
PARTS = (6 * MIB, 6 * MIB, 5 * MIB)


def digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


NAME = digest_of(NET)


class Sender:
    """Somebody with a token."""

    def __init__(self, client: Any, token: str, user_id: int) -> None:
        self._client, self._headers = client, {"Authorization": f"Bearer {token}"}
        self.id = user_id

    def begin(self, content: bytes = NET, size: int | None = None) -> TestResponse:
        said = {"digest": digest_of(content), "size": len(content) if size is None else size}
        return self._client.post("/api/v1/large-files", json=said, headers=self._headers)

    def part(self, offset: int, part: bytes, name: str = NAME) -> TestResponse:
        address = f"/api/v1/large-files/{name}?offset={offset}"
        return self._client.patch(address, data=part, headers=self._headers)

    def get(self, address: str) -> TestResponse:
        return self._client.get(f"/api/v1{address}", headers=self._headers)

    def send(self, content: bytes = NET) -> TestResponse:
        answer = self.begin(content)
        offset = answer.json["received"]
        for size in PARTS:
            if offset < len(content):
                answer = self.part(offset, content[offset : offset + size], digest_of(content))
                offset += size
        return answer

    def submit(self, content: bytes, file: str = "mine.tar", **fields: str) -> TestResponse:
        said = {"ladder": LADDER, **fields}
        kind, body = form_with_file(said.items(), file, io.BytesIO(content))
        headers = {**self._headers, "Content-Type": kind}
        return self._client.post("/api/v1/submissions", data=body, headers=headers)


@pytest.fixture
def arena(sqlite_database: Database, tmp_path: Path) -> Iterator[SimpleNamespace]:
    """A ladder that grants much, and two people with tokens; one has room for 60 MiB."""
    database = sqlite_database
    with database.begin() as session:
        furnish(session, [], now(), games=[GAMES["clobber"]])
        session.execute(sa.update(Ladder).values(bundle_bytes=512 * MIB))
    settings = Settings(
        data=tmp_path, database=database.url, quota_mib=60, public_url="http://localhost"
    )
    app = create_app(settings, BundleIntake(settings.bundles))
    app.testing = True
    people = {}
    for name in ("ada", "eve"):
        user = person(database, name)
        with database.begin() as session:
            scopes = [Scope.READ, Scope.SUBMIT]
            token = add_token(session, ARENA, session.get_one(User, user.id), "t", scopes, now())
        people[name] = Sender(app.test_client(), token, user.id)
    yield SimpleNamespace(
        app=app, database=database, store=settings.bundles, settings=settings, **people
    )
    app.extensions["arena.database"].close()


def stored_of(arena: SimpleNamespace, who: Sender) -> int:
    with arena.database.read() as session:
        return quota.stored_bytes(session, who.id)


def make_bot(folder: Path, net: bytes = NET, code: bytes = BOT) -> Bundle:
    return pack(make_folder(folder, {"bot.py": code, "net.bin": net}), max_bytes=64 * MIB)


def complaint(answer: TestResponse) -> str:
    assert answer.status_code >= 400, answer.text
    return str(answer.json["detail"])


def test_a_file_comes_in_parts_and_is_proven(arena: SimpleNamespace) -> None:
    """How much has come is told at any time; whole it stands in the store by its digest."""
    assert arena.ada.begin().json["received"] == 0
    offset = 0
    for size in PARTS:
        assert not (arena.store / NAME).exists()
        answer = arena.ada.part(offset, NET[offset : offset + size])
        offset += size
        assert answer.json == {
            "digest": NAME,
            "size": len(NET),
            "received": offset,
            "part_bytes": sending.PART_BYTES,
        }
        assert arena.ada.get(f"/large-files/{NAME}").json == answer.json
    assert (arena.store / NAME).read_bytes() == NET
    assert [path.name for path in arena.store.iterdir()] == [NAME]
    assert arena.ada.begin().json["received"] == len(NET)
    assert arena.ada.part(0, NET[:MIB]).json["received"] == len(NET)


@pytest.mark.parametrize(
    ("offset", "part", "words"),
    [
        (0, NET[:MIB], "6291456 bytes of the file have come, so the next part begins there"),
        (12 * MIB, NET[:MIB], "6291456 bytes of the file have come"),
        (6 * MIB, NET[: 8 * MIB + 1], "This is too large: 8.4 MB are allowed"),
        (
            16 * MIB,
            NET[: 2 * MIB],
            "from byte 16777216 to 18874368 is none of a file of 17825792 bytes",
        ),
        (6 * MIB, b"", "from byte 6291456 to 6291456 is none"),
        (2**30, b"x", "from byte 1073741824 to"),
    ],
    ids=["twice", "out of order", "too much at once", "beyond the end", "nothing", "far"],
)
def test_parts_that_do_not_fit_change_nothing(
    arena: SimpleNamespace, offset: int, part: bytes, words: str
) -> None:
    arena.ada.begin()
    arena.ada.part(0, NET[: 6 * MIB])
    assert words in complaint(arena.ada.part(offset, part))
    assert arena.ada.get(f"/large-files/{NAME}").json["received"] == 6 * MIB


@pytest.mark.parametrize(
    ("digest", "size", "words"),
    [
        ("../etc/passwd", 5, "A digest is the SHA-256 of a file"),
        (NAME.upper(), 5, "A digest is the SHA-256 of a file"),
        (NAME, 0, "A file may have from 1 to"),
        (NAME, 2**30 + 1, "A file may have from 1 to"),
        (NAME, 61 * MIB, "This needs 61.0 MiB more, and of the 60.0 MiB that you may have stored"),
    ],
)
def test_what_can_not_be_sent_is_refused_before(
    arena: SimpleNamespace, digest: str, size: int, words: str
) -> None:
    said = {"digest": digest, "size": size}
    answer = arena.app.test_client().post(
        "/api/v1/large-files", json=said, headers=arena.ada._headers
    )
    assert words in complaint(answer)
    assert stored_of(arena, arena.ada) == 0


def test_a_size_that_lies_is_found(arena: SimpleNamespace) -> None:
    """As is another content: it never has the name, and is sent again."""
    arena.ada.begin(size=MIB)
    assert "is not the file" in complaint(arena.ada.part(0, NET[:MIB]))
    assert arena.ada.get(f"/large-files/{NAME}").json["received"] == 0
    assert "you began to send that file with" in complaint(arena.ada.begin()).lower()
    arena.eve.begin()
    for offset, size in ((0, 6 * MIB), (6 * MIB, 6 * MIB)):
        arena.eve.part(offset, OTHER[offset : offset + size])
    assert "is not the file" in complaint(arena.eve.part(12 * MIB, OTHER[12 * MIB :]))
    assert not (arena.store / NAME).exists()


def test_the_digest_of_anothers_file_is_of_no_use(arena: SimpleNamespace, tmp_path: Path) -> None:
    """Not to have it in a bot, and not to learn whether it is here: only who sends it has it."""
    bundle = make_bot(tmp_path / "mine")
    unknown = make_bot(tmp_path / "other", OTHER)
    arena.ada.send()
    assert arena.ada.submit(bundle.archive).status_code == 201
    answers = [
        (
            arena.eve.get(f"/large-files/{large.digest}"),
            arena.eve.part(0, NET[:MIB], large.digest),
            arena.eve.submit(one.archive),
            arena.eve.begin(content),
        )
        for one, content in ((bundle, NET), (unknown, OTHER))
        for large in one.large
    ]
    for known, not_known in zip(*answers, strict=True):
        texts = [
            answer.text.replace(one.large[0].digest, "X").replace(one.large[0].digest[:12], "X")
            for answer, one in ((known, bundle), (not_known, unknown))
        ]
        assert texts[0] == texts[1]
        assert known.status_code == not_known.status_code
    assert "was not sent, or not by you: send it first" in complaint(answers[0][2])
    assert answers[0][3].json["received"] == 0
    assert arena.eve.send().json["received"] == len(NET)
    assert arena.eve.submit(bundle.archive, name="hers").status_code == 201


@pytest.mark.parametrize("how", ["owner", "co-owner", "open source"])
def test_who_may_read_a_bot_need_not_send_its_files_again(
    arena: SimpleNamespace, how: str, tmp_path: Path
) -> None:
    arena.ada.send()
    assert arena.ada.submit(make_bot(tmp_path / "mine").archive).status_code == 201
    with arena.database.begin() as session:
        session.execute(sa.delete(SentFile))
        bot = session.scalars(sa.select(Bot)).one()
        if how == "co-owner":
            session.add(CoOwner(bot_id=bot.id, user_id=arena.eve.id))
        bot.open_source = how == "open source"
    who = arena.ada if how == "owner" else arena.eve
    assert who.begin().json["received"] == len(NET)
    name = "mine" if how == "owner" else "hers"
    new = make_bot(tmp_path / "new", code=BOT + b"#")
    assert who.submit(new.archive, name=name).status_code == 201, who.submit(new.archive).text


@pytest.mark.parametrize("make", [make_zip, make_tar], ids=["zip", "tar.gz"])
def test_an_archive_with_large_files_is_taken_apart(
    arena: SimpleNamespace, make: Any, tmp_path: Path
) -> None:
    """It is one that packs well, so that one request brings it; the version is as by parts."""
    path = tmp_path / ("mine.zip" if make is make_zip else "mine.tar.gz")
    archive = make(path, {"bot.py": BOT, "net.bin": NET}).read_bytes()
    assert arena.ada.submit(archive, path.name).status_code == 201
    bundle = make_bot(tmp_path / "folder")
    with arena.database.read() as session:
        version = session.scalars(sa.select(BotVersion)).one()
        assert (version.digest, version.size) == (bundle.digest, bundle.size)
        (large,) = session.scalars(sa.select(LargeFile))
        assert (large.bundle, large.digest, large.size) == (bundle.digest, NAME, len(NET))
    assert sorted(path.name for path in arena.store.iterdir()) == sorted([bundle.digest, NAME])
    assert stored_of(arena, arena.ada) == bundle.size


def test_each_file_counts_once(arena: SimpleNamespace, tmp_path: Path) -> None:
    """It does for versions and bots of one person, sent or in a bot; for each person who has it."""
    first, second = make_bot(tmp_path / "a"), make_bot(tmp_path / "b", code=BOT + b"#")
    arena.ada.send()
    assert stored_of(arena, arena.ada) == len(NET)
    tars = 0
    for bundle, name in ((first, "one"), (second, "one"), (second, "two")):
        assert arena.ada.submit(bundle.archive, name=name).status_code == 201
        tars += 0 if name == "two" else len(bundle.archive)
        assert stored_of(arena, arena.ada) == len(NET) + tars
    account = arena.ada.get("/account").json
    assert (account["stored_bytes"], account["quota_bytes"]) == (len(NET) + tars, 60 * MIB)
    assert stored_of(arena, arena.eve) == 0
    arena.eve.begin()
    assert stored_of(arena, arena.eve) == len(NET)


def test_what_has_no_room_is_refused_and_the_rest_stays(
    arena: SimpleNamespace, tmp_path: Path
) -> None:
    """Sent or in an archive; what was sent before may go into more bots."""
    contents = [NET[:-1] + bytes([number]) for number in range(4)]
    for content in contents[:3]:
        assert arena.ada.send(content).json["received"] == len(content)
    assert "9.0 MiB are left: files that you have sent count once" in complaint(
        arena.ada.begin(contents[3])
    )
    archive = make_zip(tmp_path / "m.zip", {"bot.py": BOT, "net.bin": contents[3]}).read_bytes()
    assert "This needs 17.0 MiB more" in complaint(arena.ada.submit(archive, "m.zip"))
    assert arena.ada.submit(make_bot(tmp_path / "m", contents[0]).archive).status_code == 201
    small = {"bot.py": BOT, "net.bin": os.urandom(10 * MIB)}
    full = make_tar(tmp_path / "f.tar", small).read_bytes()
    assert "This needs 10.0 MiB more" in complaint(arena.ada.submit(full, "f.tar"))
    with arena.database.read() as session:
        assert len(session.scalars(sa.select(BotVersion)).all()) == 1


def test_two_sends_at_once_do_not_pass_the_quota(arena: SimpleNamespace) -> None:
    """Each reserves its room by a lock on the person."""
    contents = [NET[:-1] + bytes([number]) for number in range(8)]
    statuses: list[int] = []

    def begin(content: bytes) -> None:
        own = Sender(arena.app.test_client(), "", arena.ada.id)
        own._headers = arena.ada._headers
        statuses.append(own.begin(content).status_code)

    threads = [threading.Thread(target=begin, args=(content,)) for content in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [200] * 3 + [409] * 5
    assert stored_of(arena, arena.ada) == 3 * len(NET)


def test_two_people_send_one_file_at_once(arena: SimpleNamespace) -> None:
    """Each a file of its own until it is whole; then it is stored once."""
    for who in (arena.ada, arena.eve):
        who.begin()
        who.part(0, NET[: 6 * MIB])
    names = {path.name for path in arena.store.iterdir()}
    assert names == {f".new-{who.id}-{NAME}" for who in (arena.ada, arena.eve)}
    for who in (arena.eve, arena.ada):
        who.part(6 * MIB, NET[6 * MIB : 12 * MIB])
        assert who.part(12 * MIB, NET[12 * MIB :]).json["received"] == len(NET)
    assert [path.name for path in arena.store.iterdir()] == [NAME]


def test_one_part_comes_at_a_time(arena: SimpleNamespace) -> None:
    """So it is of one file of one person: the other is told so, and asks how much has come."""
    arena.ada.begin()
    arena.ada.part(0, NET[:MIB])
    with sending._alone(arena.store / f".new-{arena.ada.id}-{NAME}"):
        refused = arena.ada.part(MIB, NET[MIB : 2 * MIB])
    assert "send one after another" in complaint(refused)
    assert arena.ada.part(MIB, NET[MIB : 2 * MIB]).json["received"] == 2 * MIB


def test_a_server_killed_before_the_proof_goes_on(arena: SimpleNamespace) -> None:
    """With all bytes there, or more by a part that was on its way: only what is proven is whole."""
    part = arena.store / f".new-{arena.ada.id}-{NAME}"
    for left in (NET, NET + b"and a bit more"):
        arena.ada.begin()
        arena.store.mkdir(exist_ok=True)
        part.write_bytes(left)
        there = arena.ada.get(f"/large-files/{NAME}").json["received"]
        assert there == len(NET) - 1
        assert arena.ada.part(there, NET[there:]).json["received"] == len(NET)
        (arena.store / NAME).unlink()  # lost: it can be sent again


def test_a_full_disk_keeps_nothing_of_the_part(
    arena: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is nobody's fault who sends, and goes on when there is room."""
    arena.ada.begin()
    arena.ada.part(0, NET[: 2 * MIB])
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3 * MIB, limit[1]))
    try:
        answer = arena.ada.part(2 * MIB, NET[2 * MIB : 6 * MIB])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert answer.status_code == 503
    assert "disk is full" in answer.text
    assert arena.ada.get(f"/large-files/{NAME}").json["received"] == 2 * MIB
    assert arena.ada.part(2 * MIB, NET[2 * MIB : 6 * MIB]).json["received"] == 6 * MIB


def test_what_no_bot_has_is_forgotten_after_a_day(arena: SimpleNamespace, tmp_path: Path) -> None:
    """Unfinished or whole; what a bot has, or another still sends, stays."""
    arena.ada.send()
    assert arena.ada.submit(make_bot(tmp_path / "mine").archive).status_code == 201
    arena.ada.send(OTHER)
    third = OTHER[:-1] + b"?"
    arena.ada.begin(third)
    arena.ada.part(0, third[:MIB], digest_of(third))
    kept = {NAME, make_bot(tmp_path / "mine").digest}
    for who, days, more in ((arena.eve, 0.9, 2), (arena.ada, 1.1, 0)):
        sending.sweep(arena.database, arena.store, now() + timedelta(days=days))
        there = {path.name for path in arena.store.iterdir()}
        assert kept <= there
        assert len(there) == len(kept) + more, who
    assert stored_of(arena, arena.ada) == make_bot(tmp_path / "mine").size
    assert arena.ada.get(f"/large-files/{NAME}").json["received"] == len(NET)


def test_a_version_is_downloaded_whole(arena: SimpleNamespace, tmp_path: Path) -> None:
    """Its owner has it, as a tar of all its files; nobody else has."""
    bundle = make_bot(tmp_path / "mine")
    arena.ada.send()
    arena.ada.submit(bundle.archive)
    address = "/bots/mine/versions/1/files"
    with arena.ada.get(address) as answer:
        assert answer.content_length == len(answer.data)
    with tarfile.open(fileobj=io.BytesIO(answer.data)) as archive:
        assert {one.name: archive.extractfile(one).read() for one in archive} == {
            "bot.py": BOT,
            "net.bin": NET,
        }
    (tmp_path / "again.tar").write_bytes(answer.data)
    assert pack(tmp_path / "again.tar", max_bytes=64 * MIB).digest == bundle.digest
    assert arena.eve.get(address).status_code == 403
    (arena.store / NAME).unlink()
    assert arena.ada.get(address).status_code == 404


def test_a_worker_elsewhere_fetches_by_the_bundles_address(
    arena: SimpleNamespace, tmp_path: Path
) -> None:
    """The token of a bundle is one for its own large files, and for the rest of one; no others."""
    bundle = make_bot(tmp_path / "mine")
    arena.ada.send()
    arena.ada.submit(bundle.archive)
    arena.eve.send(OTHER)
    with arena.database.begin() as session:
        address = signing.bundle_location(session, arena.settings, bundle.digest, now())
    client, token = arena.app.test_client(), address.partition("?")[2]
    large = f"/bundles/{bundle.digest}/{NAME}"
    with client.get(f"{large}?{token}") as whole:
        assert whole.data == NET
    with client.get(f"{large}?{token}", headers={"Range": f"bytes={16 * MIB}-"}) as rest:
        assert (rest.status_code, rest.data) == (206, NET[16 * MIB :])
    for path, status in (
        (large, 403),
        (f"{large}?token=none", 403),
        (f"/bundles/{bundle.digest}/{digest_of(OTHER)}?{token}", 404),
        (f"/bundles/{bundle.digest}/{bundle.digest}?{token}", 404),
        (f"/bundles/{NAME}?{token}", 403),
        (f"/bundles/{NAME}/{NAME}?{token}", 403),
    ):
        assert client.get(path).status_code == status, path


def test_a_large_file_that_is_lost_is_a_lost_bundle(arena: SimpleNamespace, tmp_path: Path) -> None:
    bundle = make_bot(tmp_path / "mine")
    arena.ada.send()
    arena.ada.submit(bundle.archive)
    assert not is_lost(arena.store, bundle.digest, NAME)
    (arena.store / NAME).write_bytes(OTHER)
    assert is_lost(arena.store, bundle.digest, NAME)
    (arena.store / NAME).unlink()
    assert is_lost(arena.store, bundle.digest, NAME)
    # Sent again, as its owner is told to, it is there again.
    assert arena.ada.begin().json["received"] == 0
    assert arena.ada.send().json["received"] == len(NET)
    assert not is_lost(arena.store, bundle.digest, NAME)


def test_versions_differ_by_their_large_files(arena: SimpleNamespace, tmp_path: Path) -> None:
    """Which have no text to show, also where only they do."""
    versions = []
    for number, net in enumerate((NET, OTHER, OTHER + b"more")):
        bundle = make_bot(tmp_path / f"{number}", net)
        store(arena.store, bundle)
        bot = Bot(name="mine", owner_id=arena.ada.id, created=now())
        versions.append(BotVersion(bot=bot, number=number, digest=bundle.digest))
    first, second, third = versions
    assert difference(arena.store, first, first) == []
    for one, other, size in ((second, first, len(OTHER)), (third, second, len(OTHER) + 4)):
        (line,) = difference(arena.store, one, other)
        assert line.text == f"net.bin: {len(NET)} and {size} bytes, no text to show"


def test_the_form_of_a_link_is_one() -> None:
    """Those who write it and those who read it know nothing of each other."""
    assert stored_files.LINK.fullmatch(large_files.Large(NAME, 5).link)
    assert sending.MOST_BYTES == large_files.MOST_BYTES


def test_a_person_may_have_a_quota_of_their_own(arena: SimpleNamespace) -> None:
    """More or less than everybody: what is stored already stays, and nothing is added to it."""

    def grant(mib: int | None) -> None:
        with arena.database.begin() as session:
            do(session, SetQuota("ada", mib), now())

    def begin(content: str) -> int:
        return int(arena.ada.begin(content.encode(), 50 * MIB).status_code)

    assert [begin("a"), begin("b")] == [200, 409]
    grant(100)
    assert [begin("b"), begin("c")] == [200, 409]
    account = arena.ada.get("/account").json
    assert (account["stored_bytes"], account["quota_bytes"]) == (100 * MIB, 100 * MIB)
    grant(0)
    assert [begin("b"), begin("c")] == [200, 409]
    grant(None)
    assert arena.ada.get("/account").json["quota_bytes"] == 60 * MIB
