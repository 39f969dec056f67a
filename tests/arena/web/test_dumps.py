"""The dumps that a site gives away: which there are, and each of their files, whole or in part."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from arena.ground.config import Settings
from arena.web.app import create_app
from tests.arena.web.dumped import DAY, LETTERS, lay_down

FILE = f"/dumps/{DAY}/plies/part-00002.parquet"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two dumps that are whole, one that is being made, and what is none."""
    found = tmp_path_factory.mktemp("dumped")
    lay_down(found)
    lay_down(found, "2026-05-03")
    lay_down(found, "2026-05-05", is_finished=False)
    lay_down(found, "notes")
    lay_down(found, "2026-05-02")
    (found / "2026-05-02" / "dump.json").write_text('{"format": 99}')
    lay_down(found, "2026-05-01")
    (found / "2026-05-01" / "games" / "part-00001.parquet").unlink()
    (found / DAY / "secret").write_text("of somebody else")
    return found


@pytest.fixture(scope="module")
def client(folder: Path, sqlite_like: Path) -> Iterator[FlaskClient]:
    app = create_app(Settings(database=f"sqlite:///{sqlite_like}", dumps=str(folder)))
    app.testing = True
    yield app.test_client()
    app.extensions["arena.database"].close()


def test_those_that_are_whole_are_listed(client: FlaskClient) -> None:
    """The newest first, with their files, and how many games they have."""
    size = (6 * len(LETTERS), 7)
    items = client.get("/api/v1/dumps").json["items"]
    assert [(one["name"], one["games"], one["plies"]) for one in items] == [
        (DAY, 3, 42),
        ("2026-05-03", 3, 42),
    ]
    assert items[0]["licence"] == "CC0-1.0"
    told = client.get(f"/api/v1/dumps/{DAY}").json
    assert len(told["files"]) == size[1]
    assert told["size"] == sum(one["size"] for one in told["files"])
    assert told["size"] - told["files"][0]["size"] == size[0]
    lines = client.get(f"/dumps/{DAY}.txt").text.splitlines()
    assert lines == [f"http://localhost{one['address']}" for one in told["files"]]
    assert lines[0] == f"http://localhost/dumps/{DAY}/dump.json"
    for line in lines:
        path = line.removeprefix("http://localhost")
        assert client.get(path, buffered=True).status_code == 200
    page = client.get("/dumps").text
    assert page.count('<td class="nowrap">2026-') == 2
    assert f"curl http://localhost/dumps/{DAY}.txt | wget -c" in page
    assert 'href="/dumps"' in client.get("/games").text


@pytest.mark.parametrize(
    ("wanted", "status", "content", "said"),
    [
        (None, 200, LETTERS, None),
        ("bytes=0-2", 206, b"abc", "bytes 0-2/26000"),
        ("bytes=25998-", 206, b"yz", "bytes 25998-25999/26000"),
        ("bytes=-1", 206, b"z", "bytes 25999-25999/26000"),
        ("bytes=26000-", 416, None, "bytes */26000"),
    ],
)
def test_a_file_in_part(
    client: FlaskClient, wanted: str | None, status: int, content: bytes | None, said: str | None
) -> None:
    """So that what was broken off goes on where it was (RFC 9110, section 14)."""
    answer = client.get(FILE, headers={"Range": wanted} if wanted else {}, buffered=True)
    assert answer.status_code == status
    assert answer.headers.get("Content-Range") == said
    if content is not None:
        assert answer.data == content
        assert answer.headers["Content-Length"] == str(len(content))
        assert answer.headers["Accept-Ranges"] == "bytes"


def test_a_file_that_did_not_change_is_not_sent_again(client: FlaskClient) -> None:
    """Whoever asks for the rest of one that changed gets all of it."""
    tag = client.get(FILE, buffered=True).headers["ETag"]
    assert client.get(FILE, headers={"If-None-Match": tag}).status_code == 304
    rest = {"Range": "bytes=25990-"}
    assert client.get(FILE, headers={**rest, "If-Range": tag}).data == b"qrstuvwxyz"
    assert client.get(FILE, headers={**rest, "If-Range": '"another"'}).data == LETTERS
    head = client.head(FILE)
    assert (head.data, head.content_length) == (b"", 26000)


@pytest.mark.parametrize(
    "path",
    [
        f"/dumps/{DAY}/secret",
        f"/dumps/{DAY}/games/../secret",
        f"/dumps/{DAY}/games/%2e%2e/secret",
        f"/dumps/{DAY}/games",
        f"/dumps/{DAY}//etc/passwd",
        "/dumps/../2026-05-03/dump.json",
        "/dumps/notes/dump.json",
        "/dumps/2026-05-05/dump.json",
        "/dumps/2026-05-02/dump.json",
        "/dumps/2026-05-01/dump.json",
        "/dumps/2026-05-06.txt",
        "/api/v1/dumps/2026-05-06",
    ],
)
def test_nothing_else_is_given_away(client: FlaskClient, path: str) -> None:
    """Neither what lies beside a dump, nor one that is not whole."""
    assert client.get(path).status_code in (404, 308)
    assert client.get(path, follow_redirects=True).status_code == 404


def test_downloads_have_their_places(client: FlaskClient) -> None:
    """As all have: two for an address, and a place is free again when its reader has gone."""
    open_ones = [client.get(FILE) for _ in range(2)]
    answer = client.get(FILE)
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "30")
    known = {"If-None-Match": open_ones[0].headers["ETag"]}
    assert client.get(FILE, headers=known).status_code == 304
    for one in open_ones:
        one.close()
    assert client.get(FILE).data == LETTERS


def test_without_the_setting_there_are_none(sqlite_like: Path) -> None:
    """Whatever lies in the data folder."""
    app = create_app(Settings(database=f"sqlite:///{sqlite_like}"))
    with app.test_client() as client:
        assert client.get("/api/v1/dumps").json == {"items": []}
        assert "None is kept here" in client.get("/dumps").text
        assert 'href="/dumps"' not in client.get("/games").text
    app.extensions["arena.database"].close()
