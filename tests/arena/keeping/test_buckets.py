"""A cold store in a bucket: requests are signed as Amazon's manual signs them, and are proven by a
store that works the signature out for itself.
"""

from __future__ import annotations

import hashlib
import io
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingTCPServer
from threading import Thread

import pytest

from arena.keeping import buckets
from arena.keeping.buckets import NOTHING, BucketStore, Credentials, signed_headers
from arena.keeping.stores import StoreError
from tests.arena.keeping.bucket import BucketServer, bucket_server

MANUAL = Credentials(
    "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "us-east-1"
)
MOMENT = datetime(2013, 5, 24, tzinfo=UTC)
WELCOME = hashlib.sha256(b"Welcome to Amazon S3.").hexdigest()


@pytest.mark.parametrize(
    ("method", "path", "headers", "payload", "signature"),
    # Amazon S3 API Reference, "Signature Calculations for the Authorization Header", Examples.
    [
        (
            "GET", "/test.txt", {"Range": "bytes=0-9"}, NOTHING,
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
        ),
        (
            "PUT", "/test%24file.text",
            {
                "Date": "Fri, 24 May 2013 00:00:00 GMT",
                "x-amz-storage-class": "REDUCED_REDUNDANCY",
            },
            WELCOME, "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
        ),
        (
            "GET", "/?lifecycle", {}, NOTHING,
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
        ),
        (
            "GET", "/?max-keys=2&prefix=J", {}, NOTHING,
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
        ),
    ],
    ids=["a part of a file", "a file that is put", "a query without a value", "a list"],
)  # fmt: skip
def test_requests_are_signed_as_the_manual_has_them(
    method: str, path: str, headers: dict[str, str], payload: str, signature: str
) -> None:
    """They are the same to the last letter."""
    address = f"https://examplebucket.s3.amazonaws.com{path}"
    found = signed_headers(MANUAL, method, address, headers, payload, MOMENT)
    assert found["authorization"].endswith(f"Signature={signature}")
    assert f"Credential={MANUAL.key}/20130524/us-east-1/s3/aws4_request," in found["authorization"]


@pytest.fixture(scope="module")
def bucket() -> Iterator[BucketServer]:
    with bucket_server() as server:
        yield server


def put(store: BucketStore, name: str, content: bytes) -> None:
    store.put(name, io.BytesIO(content), len(content), hashlib.sha256(content).hexdigest())


@pytest.mark.parametrize("folder", ["", "/deep/er"])
def test_files_come_and_go(bucket: BucketServer, folder: str) -> None:
    """Whole and in parts, empty ones too, and each is in the list, however many pages it has."""
    bucket.files.clear()
    bucket.files["other/x"] = b"somebody else's"
    store = BucketStore(bucket.address(folder=folder))
    files = {f"2026-01-0{day}-1-a+b=c.jsonl.xz": b"x" * day * 1000 for day in range(5)}
    for name, content in files.items():
        put(store, name, content)
    assert dict(store.names()) == {name: len(content) for name, content in files.items()}
    assert len(bucket.files) == 6
    *_, last = files
    assert store.read(last, 1000, 10) == b"x" * 10
    assert store.read(last, 3998, 10) == b"xx"
    with store.open(last) as file:
        assert file.read(3) + file.read() == files[last]


WRONG = {
    "the secret": lambda server: server.address(secret="other"),
    "nobody there": lambda server: server.address().replace(str(server.server_port), "9"),
}


@pytest.mark.parametrize(("wrong", "words"), [
    ("the secret", "403 SignatureDoesNotMatch"), ("nobody there", "ConnectionError"),
])  # fmt: skip
def test_what_is_wrong_is_told_without_the_secret(
    bucket: BucketServer, wrong: str, words: str
) -> None:
    """It is a line, whatever is asked."""
    store = BucketStore(WRONG[wrong](bucket))
    for ask in (
        lambda: list(store.names()),
        lambda: store.read("x", 0, 1),
        lambda: put(store, "x", b"y"),
        lambda: store.open("x").__enter__(),
    ):
        with pytest.raises(StoreError, match=words) as told:
            ask()
        assert not any(word in str(told.value) for word in ("other@", "wJalr", "AKID"))


def test_a_file_that_is_not_there(bucket: BucketServer) -> None:
    """Is said to be none."""
    with pytest.raises(StoreError, match="404 NoSuchKey"):
        BucketStore(bucket.address()).read("nothing", 0, 1)


RUDE = {
    "breaks off": (b"Content-Length: 99\r\n\r\n<a>", "ProtocolError"),
    "is not packed as it says": (b"Content-Encoding: gzip\r\n\r\n<a>", "DecodeError"),
    "goes on without end": (
        b"\r\n<a><IsTruncated>true</IsTruncated>"
        b"<NextContinuationToken>1</NextContinuationToken></a>",
        "does not go on with its list",
    ),
    "does not say how it goes on": (
        b"\r\n<a><IsTruncated>true</IsTruncated></a>",
        "does not go on with its list",
    ),
    "is no list": (b"\r\n<a>", "can't be read"),
}


@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize("answer", RUDE)
def test_a_store_that_answers_nonsense(answer: str, status: int) -> None:
    """Is at fault, as it says itself or as is found."""
    told, words = RUDE[answer]
    with rude_server(f"HTTP/1.1 {status} No\r\n".encode() + told) as address:
        store = BucketStore(address)
        with pytest.raises(StoreError, match=words if status == 200 else "500 No"):
            list(store.names())
        if status == 500:
            with pytest.raises(StoreError, match="500 No"):
                store.read("x", 0, 1)


def test_nobody_waits_again_for_a_store_that_hangs(
    bucket: BucketServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But one who tries, after a while; then it is asked as before."""
    store, seconds = BucketStore(bucket.address()), buckets.SECONDS
    put(store, "x", b"y")
    monkeypatch.setattr(buckets, "SECONDS", (5.0, 0.2))
    with bucket.hanging():
        with pytest.raises(StoreError, match="ReadTimeout"):
            store.read("x", 0, 1)
        for _ in range(3):
            with pytest.raises(StoreError, match="did not answer a moment ago"):
                store.read("x", 0, 1)
        monkeypatch.setattr(store, "_again", 0.0)  # as it is after a while
        with pytest.raises(StoreError, match="ReadTimeout"):
            store.read("x", 0, 1)
        with pytest.raises(StoreError, match="did not answer a moment ago"):
            store.read("x", 0, 1)
    monkeypatch.setattr(buckets, "SECONDS", seconds)
    monkeypatch.setattr(store, "_again", 0.0)
    assert [store.read("x", 0, 1) for _ in range(2)] == [b"y"] * 2


def _read_whole(store: BucketStore) -> bytes:
    with store.open("x") as file:
        return file.read()


ASKED: dict[str, Callable[[BucketStore], object]] = {
    "a part": lambda store: store.read("x", 0, 99999),
    "a file": _read_whole,
    "the names": lambda store: list(store.names()),
}


@pytest.mark.parametrize("what", ASKED)
def test_a_store_that_trickles_is_not_waited_for(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often a few bytes come, all of them are to come in time; pages do not wait again."""
    monkeypatch.setattr(buckets, "SECONDS", (5.0, 0.5))
    begin = b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n"
    with rude_server(begin, trickle=b"x" * 100) as address:
        store = BucketStore(address)
        with pytest.raises(StoreError, match="it sends less than 64000 bytes a second"):
            ASKED[what](store)
        if what == "a part":
            with pytest.raises(StoreError, match="did not answer a moment ago"):
                store.read("x", 0, 1)


@contextmanager
def rude_server(answer: bytes, trickle: bytes = b"") -> Iterator[str]:
    """The address of a bucket that says the same whatever it is asked, then a byte now and then,
    and hangs up.
    """

    class Rude(BaseRequestHandler):
        def handle(self) -> None:
            while b"\r\n\r\n" not in self.request.recv(1 << 16):
                pass
            self.request.sendall(answer)
            with suppress(OSError):  # who asked may have gone
                for byte in trickle:
                    time.sleep(0.05)
                    self.request.sendall(bytes([byte]))

    with ThreadingTCPServer(("127.0.0.1", 0), Rude) as server:
        thread = Thread(target=server.serve_forever, args=[0.05])
        thread.start()
        try:
            yield f"http://a:b@127.0.0.1:{server.server_address[1]}/c"
        finally:
            server.shutdown()
            thread.join()


def test_what_fails_here_is_not_held_against_the_store(bucket: BucketServer) -> None:
    """Such as a disk that is full of what is copied from there."""
    store = BucketStore(bucket.address())
    put(store, "x", b"y")

    def copy() -> None:
        with store.open("x") as file, Path("/dev/full").open("wb", buffering=0) as full:
            full.write(file.read())

    with pytest.raises(OSError, match="No space left"):
        copy()
