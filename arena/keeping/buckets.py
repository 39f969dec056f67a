"""A cold store in a bucket, at whatever speaks S3.

Requests are signed by version 4 of AWS's signatures ("Authenticating Requests (AWS Signature
Version 4)" in the Amazon S3 API Reference): a hash of what is asked and of what is sent, by a key
that is made of the secret, the day and the region. The bucket is named in the path, which every
store takes.
"""

from __future__ import annotations

import hashlib
import hmac
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from http import HTTPStatus
from typing import IO, Any, NamedTuple
from urllib.parse import parse_qsl, quote, unquote, urlsplit
from xml.etree import ElementTree

import requests
from urllib3.exceptions import HTTPError

from arena.keeping.stores import StoreError

SECONDS = (5.0, 30.0)
"""How long may pass until there is a connection, and until the next bytes come."""
SLOWEST = 64_000
"""Bytes a second. What is sent may take as long as the first bytes may, and as long as it takes at
this speed: else one that sends a few now and then would be waited for without end."""
CHUNK = 1 << 16
NOTHING = hashlib.sha256().hexdigest()
AWAY_SECONDS = 30.0
"""How long nobody waits for a part of a file, but one who tries, after there was no answer."""
LONGEST_ANSWER = 16 << 20
"""Bytes of a list of names, which has a thousand."""


class _NoAnswer(StoreError):
    """A bucket that is not there, or broke off."""


class Credentials(NamedTuple):
    """The key and secret by which requests are signed, and the region that they are for."""

    key: str
    secret: str
    region: str


def signed_headers(
    credentials: Credentials,
    method: str,
    address: str,
    headers: Mapping[str, str],
    payload: str,
    now: datetime,
) -> dict[str, str]:
    """The headers of a request, with its signature.

    Args:
        address: whole, its path and its query quoted as they are sent.
        headers: those that are signed, too, beside the host, the day and the payload.
        payload: SHA-256 of what is sent, in hexadecimal.
    """
    parts, moment = urlsplit(address), now.strftime("%Y%m%dT%H%M%SZ")
    signed = {key.lower(): value.strip() for key, value in headers.items()}
    signed |= {"host": parts.netloc, "x-amz-content-sha256": payload, "x-amz-date": moment}
    names = ";".join(sorted(signed))
    pairs = sorted(parse_qsl(parts.query, keep_blank_values=True))
    request = "\n".join(
        [
            method,
            parts.path,
            "&".join(
                f"{quote(key, safe='-_.~')}={quote(value, safe='-_.~')}" for key, value in pairs
            ),
            *(f"{key}:{signed[key]}" for key in sorted(signed)),
            "",
            names,
            payload,
        ]
    )
    scope = f"{moment[:8]}/{credentials.region}/s3/aws4_request"
    digest = hashlib.sha256(request.encode()).hexdigest()
    key = f"AWS4{credentials.secret}".encode()
    for word in scope.split("/"):
        key = hmac.digest(key, word.encode(), "sha256")
    text = f"AWS4-HMAC-SHA256\n{moment}\n{scope}\n{digest}"
    signature = hmac.digest(key, text.encode(), "sha256").hex()
    del signed["host"]  # which the client sends by itself
    return {
        **signed,
        "authorization": f"AWS4-HMAC-SHA256 Credential={credentials.key}/{scope},"
        f"SignedHeaders={names},Signature={signature}",
    }


class BucketStore:
    """Files in a bucket.

    Args:
        address: ``https://KEY:SECRET@HOST/BUCKET?region=REGION``, where folders may follow on the
            bucket. Without a region it is that of stores that have none, ``us-east-1``.
    """

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        host = parts.netloc.rpartition("@")[2]
        bucket, _, folder = parts.path.strip("/").partition("/")
        self._bucket = f"{parts.scheme}://{host}/{bucket}"
        self._folder = f"{folder}/" if folder else ""
        self.where = f"{self._bucket}/{self._folder}".rstrip("/")
        region = dict(parse_qsl(parts.query)).get("region", "us-east-1")
        self._credentials = Credentials(
            unquote(parts.username or ""), unquote(parts.password or ""), region
        )
        self._own = threading.local()
        self._again: float | None = None
        """When it is tried again, since it did not answer; None if it did."""

    def names(self) -> Iterator[tuple[str, int]]:
        more = ""
        while True:
            asked = {"list-type": "2", "prefix": self._folder}
            if more:
                asked["continuation-token"] = more
            query = "&".join(f"{key}={quote(value, safe='')}" for key, value in asked.items())
            with self._ask("GET", f"{self._bucket}?{query}") as answer:
                found = _listed(_Body(answer).read(LONGEST_ANSWER, decoded=True))
            for one in found.iterfind("Contents"):
                name = (one.findtext("Key") or "").removeprefix(self._folder)
                size = one.findtext("Size") or ""
                if name and "/" not in name:
                    # What is no number is no size that a file is to have.
                    yield name, int(size) if size.isdecimal() else -1
            before, more = more, found.findtext("NextContinuationToken") or ""
            if found.findtext("IsTruncated") != "true":
                return
            if more in ("", before):
                raise StoreError(f"{self.where} does not go on with its list of names")

    def read(self, name: str, start: int, size: int) -> bytes:
        wanted = {"Range": f"bytes={start}-{start + size - 1}"}
        # Pages are made by few threads, of which all would wait for a store that hangs.
        if self._again is not None:
            if time.monotonic() < self._again:
                raise StoreError(f"{self.where} did not answer a moment ago")
            self._again = time.monotonic() + AWAY_SECONDS
        try:
            with self._ask("GET", self._address(name), headers=wanted) as answer:
                self._again = None
                if start and answer.status_code != HTTPStatus.PARTIAL_CONTENT:
                    raise StoreError(f"{self.where} does not give parts of files")
                return _Body(answer).read(size)
        except _NoAnswer:
            self._again = time.monotonic() + AWAY_SECONDS
            raise

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        with self._ask("GET", self._address(name)) as answer:
            yield _Body(answer)  # type: ignore[misc]

    def put(self, name: str, content: IO[bytes], size: int, digest: str) -> None:
        sent = {"Content-Length": str(size)}
        body = content if size else None  # of nothing the client would not say how long it is
        with self._ask("PUT", self._address(name), headers=sent, content=body, payload=digest):
            pass

    def _address(self, name: str) -> str:
        return f"{self._bucket}/{quote(self._folder + name, safe='/-_.~')}"

    @property
    def _client(self) -> requests.Session:
        """The client of this thread."""
        if not hasattr(self._own, "client"):
            self._own.client = requests.Session()
        client: requests.Session = self._own.client
        return client

    @contextmanager
    def _ask(
        self,
        method: str,
        address: str,
        *,
        headers: Mapping[str, str] | None = None,
        content: IO[bytes] | None = None,
        payload: str = NOTHING,
    ) -> Iterator[requests.Response]:
        asked = signed_headers(
            self._credentials, method, address, headers or {}, payload, datetime.now(UTC)
        )
        try:
            found = self._client.request(
                method,
                address,
                headers={**asked, "Accept-Encoding": "identity"},
                data=content,
                stream=True,
                timeout=SECONDS,
                allow_redirects=False,
            )
        except (requests.RequestException, OSError) as error:
            raise _NoAnswer(f"{self.where}: {type(error).__name__}") from None
        with found as answer:
            if not HTTPStatus.OK <= answer.status_code < HTTPStatus.MULTIPLE_CHOICES:
                raise StoreError(
                    f"{address.partition('?')[0]}: {answer.status_code} {_why(answer)}"
                )
            yield answer


class _Body:
    """What is sent, to be read; only here it may break off."""

    def __init__(self, answer: requests.Response) -> None:
        self._answer = answer
        self._waited, self._came = 0.0, 0

    def read(self, size: int = -1, *, decoded: bool = False) -> bytes:
        """Reads so many bytes, or all; fewer only at the end."""
        found = bytearray()
        while size < 0 or len(found) < size:
            most = CHUNK if size < 0 else min(CHUNK, size - len(found))
            if not (more := self._next(most, decoded)):
                break
            found += more
        return bytes(found)

    def _next(self, most: int, decoded: bool) -> bytes:
        began, where = time.monotonic(), self._answer.url.partition("?")[0]
        try:
            found: bytes = self._answer.raw.read1(most, decode_content=decoded)
        except HTTPError as error:
            raise _NoAnswer(f"{where}: {type(error).__name__}") from None
        # Not the time that whoever reads takes in between.
        self._waited += time.monotonic() - began
        self._came += len(found)
        if self._waited > SECONDS[1] + self._came / SLOWEST:
            raise _NoAnswer(f"{where}: it sends less than {SLOWEST} bytes a second")
        return found

    def readable(self) -> bool:
        return True


def _listed(text: bytes) -> ElementTree.Element:
    """A list as the store tells it, without the namespace, which some leave out."""
    try:
        found = ElementTree.fromstring(text)  # noqa: S314 - the operator's own store
    except ElementTree.ParseError as error:
        raise StoreError(f"the bucket's list can't be read: {error}") from None
    for one in found.iter():
        one.tag = one.tag.rpartition("}")[2]
    return found


def _why(answer: requests.Response) -> str:
    """What a store says of a request that it refuses."""
    try:
        code: Any = _listed(_Body(answer).read(LONGEST_ANSWER, decoded=True)).findtext("Code")
    except StoreError:
        code = None
    return code or answer.reason or ""
