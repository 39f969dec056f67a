"""What pages weigh: answers are compressed where nobody learns from it, and sent once."""

from __future__ import annotations

import gzip
import re
from typing import Any

import pytest

from arena.web import light
from tests.arena.web.conftest import Site

PACKED = {"Accept-Encoding": "gzip, deflate, br"}
OURS = {**PACKED, "Sec-Fetch-Site": "same-origin"}
THEIRS = {**PACKED, "Sec-Fetch-Site": "cross-site"}


@pytest.mark.parametrize(
    ("address", "headers", "session", "packed"),
    [
        ("/ladders/ladder-0", PACKED, False, True),
        ("/ladders/ladder-0", THEIRS, False, True),  # without a session there is no secret
        ("/ladders/ladder-0", OURS, True, True),
        ("/ladders/ladder-0", {**PACKED, "Sec-Fetch-Site": "none"}, True, True),
        ("/ladders/ladder-0", THEIRS, True, False),
        ("/ladders/ladder-0", {**PACKED, "Sec-Fetch-Site": "same-site"}, True, False),
        ("/ladders/ladder-0", PACKED, True, False),  # by a browser that does not say who asks
        ("/ladders/ladder-0", {}, False, False),
        ("/ladders/ladder-0", {"Accept-Encoding": "br"}, False, False),
        ("/ladders/ladder-0", {"Accept-Encoding": "gzip;q=0, br"}, False, False),
        ("/ladders/ladder-0", {"Accept-Encoding": "*"}, False, True),
        ("/ladders/ladder-0.json", PACKED, False, True),
        ("/ladders/ladder-0.csv", PACKED, False, True),
        ("/api/v1/ladders", PACKED, False, True),
        ("/games/{trio}/0.svg", PACKED, False, True),
        ("/games/{trio}/0.png", PACKED, False, False),
        ("/games/{trio}.json", PACKED, False, True),
        ("/bots/bot-0/feed.atom", PACKED, False, True),
        ("/docs/protocol", PACKED, False, True),
        ("/static/arena.css", THEIRS, True, True),  # it is the same for everybody
        ("/static/icon.svg", PACKED, False, False),
        ("/healthz", PACKED, False, False),
    ],
)
def test_answers_are_compressed_where_nobody_learns_from_it(
    site: Site, address: str, headers: dict[str, str], session: bool, packed: bool
) -> None:
    """The same bytes come out, and a cache is told that there are two ways to say them."""
    client = site.client.application.test_client()
    if session:
        client.set_cookie("arena", "whatever")
    where = site.address(address)
    answer = client.get(where, headers=headers, buffered=True)
    plain = client.get(where, buffered=True)
    assert answer.status_code == 200
    assert (answer.headers.get("Content-Encoding") == "gzip") == packed
    assert "Content-Encoding" not in plain.headers
    assert ("Accept-Encoding" in answer.vary) == (answer.mimetype in light.TYPES)
    if packed:
        assert gzip.decompress(answer.data) == plain.data
        assert len(answer.data) < len(plain.data) * 0.7
        assert int(answer.headers["Content-Length"]) == len(answer.data)


def test_the_head_of_a_page_is_that_of_the_page(site: Site) -> None:
    """Its length is what would come."""
    get, head = (
        getattr(site.client, method)("/docs/protocol", headers=PACKED) for method in ("get", "head")
    )
    assert head.data == b""
    assert head.headers["Content-Length"] == get.headers["Content-Length"] == str(len(get.data))


@pytest.mark.parametrize(
    "address",
    [
        "/",
        "/ladders/ladder-0",
        "/ladders/ladder-0.json",
        "/api/v1/ladders",
        "/docs/protocol",
        "/games/{trio}/0.svg",
        "/games/{trio}/0.png",
        "/bots/bot-0/feed.atom",
        "/static/arena.css",
    ],
)
@pytest.mark.parametrize("again", [PACKED, {}])
def test_what_somebody_has_is_not_sent_again(
    site: Site, address: str, again: dict[str, str]
) -> None:
    """Whether it comes compressed or not, it has one validator."""
    first = site.client.get(site.address(address), headers=PACKED)
    etag = first.headers["ETag"]
    for known, status in ((etag, 304), ('"other"', 200)):
        asked = {**again, "If-None-Match": known}
        answer = site.client.get(first.request.path, headers=asked, buffered=True)
        assert (answer.status_code, bool(answer.data)) == (status, status == 200)


def test_what_nobody_may_keep_has_no_validator(site: Site) -> None:
    """A page for one reader is never said to be known."""
    address = "/sign-in"
    first = site.client.get(address)
    assert "no-store" in first.headers["Cache-Control"]
    known: dict[str, Any] = {"If-None-Match": first.headers.get("ETag", "*")}
    assert site.client.get(address, headers=known).status_code == 200


def test_static_files_are_kept_by_the_address_of_their_content(site: Site) -> None:
    """It is a year by their own address; by any other, as an older release may give it, none."""
    address = re.search(r'href="(/static/arena\.css\?v=\w+)"', site.page("/"))
    assert address
    for asked, kept in (
        (address[1], "public, max-age=31536000, immutable"),
        ("/static/arena.css", "no-cache"),
        ("/static/arena.css?v=0123456789ab", "no-cache"),
    ):
        assert site.client.get(asked, buffered=True).headers["Cache-Control"] == kept


def test_a_part_of_a_file_is_sent_as_it_is(site: Site) -> None:
    """Its bytes are asked for, of which a compressed one has others."""
    answer = site.client.get(
        "/static/arena.css", headers={**PACKED, "Range": "bytes=0-99"}, buffered=True
    )
    assert answer.status_code == 206
    assert len(answer.data) == 100
    assert "Content-Encoding" not in answer.headers
