"""A store that speaks S3, as far as a cold store asks: each request is proven, or refused.

What a request is signed with is worked out here from what came over the wire, by the words of
"Create a signed AWS API request" (IAM User Guide), and by nothing of the client's.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

KEY, SECRET, REGION, BUCKET = "AKIDEXAMPLE", "wJalr/XUt+nFEMI", "eu-south-1", "games"
PAGE = 2
"""Names that a list has at once."""


class BucketServer(ThreadingHTTPServer):
    """Files of one bucket, by their names."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files: dict[str, bytes] = {}
        self.asked: list[str] = []
        """What was asked for, and allowed."""
        self._answers = Event()
        self._answers.set()

    @contextmanager
    def hanging(self) -> Iterator[None]:
        """It takes what it is asked, and does not answer meanwhile."""
        self._answers.clear()
        yield
        self._answers.set()

    def go_on(self) -> None:
        """Waits until it answers."""
        self._answers.wait()

    def address(self, *, secret: str = "wJalr%2FXUt%2BnFEMI", folder: str = "") -> str:
        """As a setting names it."""
        there = f"127.0.0.1:{self.server_port}/{BUCKET}{folder}"
        return f"http://{KEY}:{secret}@{there}?region={REGION}"


class _Handler(BaseHTTPRequestHandler):
    server: BucketServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def do_PUT(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self._is_allowed(body):
            self.server.files[self._name] = body
            self._answer(200, b"")

    def do_GET(self) -> None:
        self.server.go_on()
        if not self._is_allowed(b""):
            return
        asked = parse_qs(urlsplit(self.path).query)
        if asked.get("list-type") == ["2"]:
            self._list(asked["prefix"][0] if "prefix" in asked else "", asked)
            return
        found = self.server.files.get(self._name)
        if found is None:
            self._refuse(404, "NoSuchKey")
        elif wanted := re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", "")):
            self._answer(206, found[int(wanted[1]) : int(wanted[2]) + 1])
        else:
            self._answer(200, found)

    @property
    def _name(self) -> str:
        return unquote(urlsplit(self.path).path).removeprefix(f"/{BUCKET}/")

    def _list(self, prefix: str, asked: dict[str, list[str]]) -> None:
        names = sorted(name for name in self.server.files if name.startswith(prefix))
        start = int(asked.get("continuation-token", ["0"])[0].removeprefix("from/"))
        some, more = names[start : start + PAGE], start + PAGE < len(names)
        contents = "".join(
            f"<Contents><Key>{escape(name)}</Key><Size>{len(self.server.files[name])}</Size>"
            "</Contents>"
            for name in some
        )
        token = f"<NextContinuationToken>from/{start + PAGE}</NextContinuationToken>"
        self._answer(
            200,
            (
                '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
                f"<IsTruncated>{str(more).lower()}</IsTruncated>{contents}{token if more else ''}"
                "</ListBucketResult>"
            ).encode(),
        )

    def _is_allowed(self, body: bytes) -> bool:
        told = self.headers["Authorization"]
        said = dict(re.findall(r"(Credential|SignedHeaders|Signature)=([^,\s]+)", told))
        path, _, query = self.path.partition("?")
        names = said["SignedHeaders"].split(";")
        canonical = [self.command, path, "&".join(sorted(query.split("&")) if query else [])]
        canonical += [f"{name}:{self.headers[name].strip()}" for name in names]
        canonical += ["", said["SignedHeaders"], hashlib.sha256(body).hexdigest()]
        day = self.headers["x-amz-date"][:8]
        scope = f"{day}/{REGION}/s3/aws4_request"
        key = ("AWS4" + SECRET).encode()
        for part in (day, REGION, "s3", "aws4_request"):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        request = hashlib.sha256("\n".join(canonical).encode()).hexdigest()
        words = "\n".join(("AWS4-HMAC-SHA256", self.headers["x-amz-date"], scope, request))
        signature = hmac.new(key, words.encode(), hashlib.sha256).hexdigest()
        if said != {
            "Credential": f"{KEY}/{scope}", "SignedHeaders": said["SignedHeaders"],
            "Signature": signature,
        } or "host" not in names:  # fmt: skip
            self._refuse(403, "SignatureDoesNotMatch")
            return False
        self.server.asked.append(f"{self.command} {path}")
        return True

    def _refuse(self, status: int, code: str) -> None:
        self._answer(status, f"<Error><Code>{code}</Code></Error>".encode())

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def bucket_server() -> Iterator[BucketServer]:
    """One that answers, for the length of a block."""
    with BucketServer() as server:
        thread = Thread(target=server.serve_forever, args=[0.05])
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
