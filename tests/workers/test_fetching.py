"""Files by address: bounded, proven, waited for, and with no secret in what is said of them."""

from __future__ import annotations

import errno
import hashlib
import os
import resource
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from workers.archives import MAX_ARCHIVE_BYTES, BundleError
from workers.bundles import pack, store, unpack
from workers.fetching import UNFINISHED, fetch, fetch_to

LARGE = bytes(range(256)) * 1000
"""What is given in parts to who asks for one."""
PROOF = hashlib.sha256(LARGE).hexdigest()

Answer = tuple[int, bytes, int]
"""A status, a body, and how many bytes are said to come."""


@contextmanager
def pages(*answers: Answer) -> Iterator[str]:
    """An address that gives these answers one after the other, then the last for ever."""
    left = list(answers)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body, length = left.pop(0) if len(left) > 1 else left[0]
            if (wanted := self.headers.get("Range")) and status == 200 and LARGE.startswith(body):
                first = int(wanted.removeprefix("bytes=").removesuffix("-"))
                status = 206 if first < length else 416
                body, length = body[first:], max(0, length - first)
            self.send_response(status)
            if status == 206:
                self.send_header("Content-Range", f"bytes {first}-{len(LARGE) - 1}/{len(LARGE)}")
            self.send_header("Content-Length", str(length))
            self.end_headers()
            try:
                self.wfile.write(body)
            except OSError:
                pass  # who asked has seen enough

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/bundles/x?token=hush"
        server.shutdown()
        thread.join()


def said(status: int, body: bytes = b"tar") -> Answer:
    return status, body, len(body)


def test_a_bundle_comes_by_its_address(tmp_path: Path) -> None:
    """Once: afterwards it is in the cache, and the address is not asked."""
    (tmp_path / "bot.py").write_text("print('ready')\n")
    bundle = pack(tmp_path / "bot.py")
    stored = store(tmp_path / "store", bundle)
    with pages(said(200, stored.read_bytes())) as address:
        folder = unpack(address, bundle.digest, tmp_path / "cache")
    assert pack(folder).digest == bundle.digest
    assert unpack(address, bundle.digest, tmp_path / "cache") == folder


def test_another_bundle_is_refused(tmp_path: Path) -> None:
    """What comes must have the digest that the job names."""
    with pages(said(200)) as address, pytest.raises(BundleError, match="is not the") as caught:
        unpack(address, "0" * 64, tmp_path / "cache")
    assert "hush" not in str(caught.value)
    assert not (tmp_path / "cache").exists()


def test_pages_that_are_away_are_waited_for() -> None:
    """They are so for a while."""
    with pages(said(503), (200, b"ta", 3), said(200)) as address:
        assert fetch(address) == b"tar"


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (said(403), BundleError, "does not give .*: 403"),
        (said(404), BundleError, "does not give .*: 404"),
        (said(500), OSError, "could not be fetched: 500"),
        ((200, b"ta", 3), OSError, "could not be fetched"),
        ((200, bytes(MAX_ARCHIVE_BYTES + 1), MAX_ARCHIVE_BYTES + 1), BundleError, "is larger"),
    ],
    ids=["refused", "not there", "broken", "cut short", "too large"],
)
def test_what_is_no_bundle_is_said(answer: Answer, kind: type[Exception], words: str) -> None:
    """It is a line that tells where it was, and not with which token."""
    with pages(answer) as address, pytest.raises(kind, match=words) as caught:
        fetch(address, patience=0.3)
    assert "hush" not in str(caught.value)


def test_an_address_where_nobody_listens() -> None:
    """Nor one that is no host's."""
    with pages(said(200)) as address:
        pass
    with pytest.raises(OSError, match=r"could not be fetched: .*refused"):
        fetch(address, patience=0.3)


CUT = (200, LARGE[:100_000], len(LARGE))


@pytest.mark.parametrize(
    ("answers", "had"),
    [
        ([said(200, LARGE)], None),
        ([CUT, said(200, LARGE)], None),
        ([said(200, LARGE)], LARGE[:7]),
        ([said(200, LARGE)], LARGE),
        ([said(200, LARGE)], b"of something else"),
        ([said(200, LARGE)], bytes(len(LARGE) + 5)),
    ],
    ids=["whole", "cut", "begun before", "all but named", "other", "longer"],
)
def test_a_file_comes_whole_whatever_was_there(
    answers: list[Answer], had: bytes | None, tmp_path: Path
) -> None:
    """It goes on where it was cut, and has its name only when it is proven."""
    if had is not None:
        (tmp_path / f"{UNFINISHED}x").write_bytes(had)
    with pages(*answers) as address:
        fetch_to(tmp_path / "x", address, PROOF, len(LARGE))
    assert (tmp_path / "x").read_bytes() == LARGE
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


@pytest.mark.parametrize(
    ("answer", "most", "kind", "words", "kept"),
    [
        (said(403), 10**6, BundleError, "does not give .*: 403", False),
        (said(200, b"other"), 10**6, BundleError, "is not the file", False),
        (said(200, LARGE), len(LARGE) - 1, BundleError, "is larger than", False),
        (CUT, 10**6, OSError, "could not be fetched: it was cut short", True),
    ],
    ids=["refused", "another file", "too large", "always cut"],
)
def test_a_file_that_does_not_come_has_no_name(
    answer: Answer, most: int, kind: type[Exception], words: str, kept: bool, tmp_path: Path
) -> None:
    """Only what may still become whole is kept for the next try."""
    with pages(answer) as address, pytest.raises(kind, match=words) as caught:
        fetch_to(tmp_path / "x", address, PROOF, most, patience=0.1)
    assert "hush" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == [f"{UNFINISHED}x"] * kept


def test_a_file_of_this_machine_is_copied_and_proven(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(LARGE)
    fetch_to(tmp_path / "x", str(source), PROOF, len(LARGE))
    assert (tmp_path / "x").read_bytes() == LARGE
    source.write_bytes(LARGE[::-1])
    for most, words in ((len(LARGE), "is not the file"), (len(LARGE) - 1, "is larger")):
        with pytest.raises(BundleError, match=words):
            fetch_to(tmp_path / "y", str(source), PROOF, most)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source", "x"]


def test_many_fetch_one_file_at_once(tmp_path: Path) -> None:
    """One does, and the others wait for it: the answers after the first are of no use."""
    with pages(said(200, LARGE), said(404)) as address:
        given = (tmp_path / "x", address, PROOF, len(LARGE))
        threads = [threading.Thread(target=fetch_to, args=given) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert (tmp_path / "x").read_bytes() == LARGE


def test_a_full_disk_is_not_asked_again(tmp_path: Path) -> None:
    """And is given back what it took."""
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    with pages(said(200, LARGE)) as address:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limit[1]))
        try:
            with pytest.raises(OSError, match=os.strerror(errno.EFBIG)):
                fetch_to(tmp_path / "x", address, PROOF, len(LARGE))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert list(tmp_path.iterdir()) == []
