"""Bundles by address: bounded, proven, waited for, and with no secret in what is said of them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from workers.archives import MAX_ARCHIVE_BYTES, BundleError
from workers.bundles import pack, store, unpack
from workers.fetching import fetch

Answer = tuple[int, bytes, int]
"""A status, a body, and how many bytes are said to come."""


@contextmanager
def pages(*answers: Answer) -> Iterator[str]:
    """An address that gives these answers one after the other, then the last for ever."""
    left = list(answers)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body, length = left.pop(0) if len(left) > 1 else left[0]
            self.send_response(status)
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
    """For a while."""
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
    """In a line that tells where it was, and not with which token."""
    with pages(answer) as address, pytest.raises(kind, match=words) as caught:
        fetch(address, patience=0.3)
    assert "hush" not in str(caught.value)


def test_an_address_where_nobody_listens() -> None:
    """Nor one that is no host's."""
    with pages(said(200)) as address:
        pass
    with pytest.raises(OSError, match=r"could not be fetched: .*refused"):
        fetch(address, patience=0.3)
