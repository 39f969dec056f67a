"""What is reached at addresses that strangers gave."""

from __future__ import annotations

import socket
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from arena.ground import outside
from arena.ground.outside import OutsideAddress, OutsideError, connected, is_public, read_address
from tests.secure import serving

PUBLIC = {
    "1.1.1.1": True,
    "2606:4700::1111": True,
    "127.0.0.1": False,
    "10.1.2.3": False,
    "172.16.0.1": False,
    "192.168.1.1": False,
    "169.254.169.254": False,  # where clouds tell machines their secrets
    "100.64.0.1": False,  # carriers' own (RFC 6598)
    "0.0.0.0": False,
    "255.255.255.255": False,
    "224.0.0.1": False,
    "240.0.0.1": False,
    "198.18.0.1": False,
    "192.0.0.9": False,
    "192.88.99.1": False,
    "::": False,
    "::1": False,
    "fe80::1": False,
    "fe80::1%eth0": False,
    "fc00::1": False,
    "fec0::1": False,
    "ff0e::1": False,
    "::ffff:8.8.8.8": False,
    "::8.8.8.8": False,
    "64:ff9b::a00:1": False,  # translated to 10.0.0.1 (RFC 6052)
    "64:ff9b:1::1": False,
    "2002:a00:1::": False,  # 6to4 of 10.0.0.1
    "2001::1": False,
    "2001:db8::1": False,
    "3fff::1": False,
    "5f00::1": False,
    "nowhere": False,
}
"""Addresses, and whether they are outside, by the IANA's registries of special ones."""
READ = {
    "https://git.example.org/me/bot.git": OutsideAddress("git.example.org", 443, "/me/bot.git"),
    "HTTPS://Git.Example.org:8443?x=1": OutsideAddress("git.example.org", 8443, "/?x=1"),
    "https://[2606:4700::1111]/": OutsideAddress("2606:4700::1111", 443, "/"),
    "http://git.example.org/": "give an address that begins with https://",
    "file:///etc/passwd": "give an address that begins with https://",
    "ext::sh -c id": "without spaces",
    "--upload-pack=id": "give an address that begins with https://",
    "https://me:secret@git.example.org/": "leave the name and the password out",
    "https://git.example.org@127.0.0.1/": "leave the name and the password out",
    "https://git.example.org:22/": "port 443, or one from 1024",
    "https://git.example.org:99999/": "this is no address",
    "https://[::1/": "this is no address",
    "https://-x/": "-x is no name of a host",
    "https://a..b/": "a..b is no name of a host",
    "https:///x": "give an address that begins with https://",
    "https://gït.example.org/": "write the address in plain letters",
    "https://a\\b/": "write the address in plain letters",
    "https://a/\r\nx": "write the address in plain letters",
    "https://a/" + "x" * 500: "at most 500 characters",
}


def test_addresses(subtests: pytest.Subtests) -> None:
    for address, public in PUBLIC.items():
        with subtests.test(address):
            assert is_public(address) is public
    for text, found in READ.items():
        with subtests.test(text):
            if isinstance(found, OutsideAddress):
                assert read_address(text) == found
            else:
                with pytest.raises(OutsideError, match=found):
                    read_address(text)


@pytest.mark.parametrize(
    ("host", "found"),
    [
        ("localhost", ["127.0.0.1"]),
        ("127.1", ["127.0.0.1"]),
        ("0x7f.1", ["127.0.0.1"]),
        ("two.example", ["1.1.1.1", "10.0.0.1"]),
    ],
)
def test_one_inner_address_is_enough(
    host: str, found: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """However it is written, or whatever stands beside it; but for hosts that are named."""
    if host.endswith(".example"):
        known = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, 443)) for one in found]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: known)
    with pytest.raises(OutsideError, match="is not on the public internet"):
        outside.public_addresses(host, 443)
    assert set(found) <= set(outside.public_addresses(host, 443, inside={host}))


def test_what_leads_nowhere_and_what_leads_inside_is_said_alike(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nobody learns what names the operator's network has; and this machine is inside by whatever
    address it has."""

    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    said = "x.example is not on the public internet, and so is not asked"
    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(OutsideError, match=f"^{said}$"):
        outside.public_addresses("x.example", 443)
    own = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 443))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: own)
    monkeypatch.setattr(outside, "is_public", lambda _: True)
    with pytest.raises(OutsideError, match=f"^{said}$"):
        outside.public_addresses("x.example", 443)
    assert not outside.is_own("192.0.2.1")


class Odd(BaseHTTPRequestHandler):
    """Does by its path what servers do."""

    def do_GET(self) -> None:
        if self.path == "/drips":
            self.wfile.write(b"HTTP/1.1 200 OK\r\n")
            for _ in range(100):
                self.wfile.write(b"X: y\r\n")
                time.sleep(0.05)
        elif self.path == "/drips-when-closed":
            # From here on the connection is the answer's alone.
            self.wfile.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
            for _ in range(100):
                self.wfile.write(b"y")
                time.sleep(0.05)
        elif self.path == "/hangs":
            time.sleep(5)
        elif self.path == "/resets":
            return
        else:
            self.send_response(302)
            self.send_header("Location", "https://localhost:1/")
            self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


def test_a_server_that_does_not_do_its_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    """It takes no longer than it may, and no redirect is followed."""
    with serving(Odd, tmp_path, monkeypatch) as address:
        place = read_address(address)
        for path, words in {
            "/moved": "",
            "/drips": "did not answer within 0.5 s",
            "/drips-when-closed": "did not answer within 0.5 s",
            "/hangs": "did not answer within 0.5 s",
            "/resets": "does not speak HTTP|can't be reached",
        }.items():
            began = time.monotonic()
            with subtests.test(path):
                if words:
                    with pytest.raises(OutsideError, match=words):
                        _get(place, path)
                else:
                    assert _get(place, path) == 302
            assert time.monotonic() - began < 2
        monkeypatch.delenv("SSL_CERT_FILE")
        with pytest.raises(OutsideError, match="certificate can't be trusted"):
            _get(place, "/")
        port = urlsplit(address).port
        monkeypatch.setattr(
            outside, "public_addresses", lambda *_, **__: ["127.0.0.1"]
        )  # as of a name that leads here
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
        with pytest.raises(OutsideError, match=r"certificate can't be trusted \(Hostname mismatch"):
            _get(OutsideAddress("other.example", port or 0, "/"), "/")


def test_an_address_that_says_nothing_before_one_that_drips(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time that the first has taken is not given again to the second."""
    with serving(Odd, tmp_path, monkeypatch) as address, socket.socket() as mute:
        place = read_address(address)
        mute.bind(("127.0.0.2", place.port))
        mute.listen(0)
        addresses = ["127.0.0.2", "127.0.0.1"]
        monkeypatch.setattr(outside, "public_addresses", lambda *_, **__: addresses)
        with socket.create_connection(("127.0.0.2", place.port)):  # it takes in nobody else
            began = time.monotonic()
            with pytest.raises(OutsideError, match=r"did not answer within 0\.5 s"):
                _get(place, "/drips")
            assert time.monotonic() - began < 2
        # Where there is time, the second is asked.
        mute.close()
        assert _get(place, "/moved") == 302


def _get(place: OutsideAddress, path: str) -> int:
    with connected(place, seconds=0.5, inside={"localhost"}) as connection:
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        return answer.status
