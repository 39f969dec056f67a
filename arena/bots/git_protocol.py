"""Asks a git repository elsewhere for one commit: git's protocol, version 2, by HTTPS.

Nothing here is git itself, so that what a stranger's server says is read by a language in which no
buffer overflows, with a bound on its bytes and its time (`arena.ground.outside`), and so that the
secret that opens the repository is told to nobody but its host. What comes is a pack, and is not
looked into: that is git's work, in a box without a network (`workers.checkouts`).

Sources: gitprotocol-http(5), gitprotocol-v2(5), gitprotocol-common(5), gitprotocol-pack(5).
"""

from __future__ import annotations

import base64
import http.client
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, NamedTuple

from arena.ground.outside import OutsideAddress, OutsideConnection, OutsideError
from engine.protocol import visible

MAX_PACK_BYTES = 64 << 20
"""The most that a commit without its history may have, as it is sent: more than any bot has that is
no large one."""
MAX_SAID_BYTES = 4 << 20
"""The most that a server may say besides."""
TOO_LARGE = "the commit has more than {} MiB, of which a bot may have less"
TOO_MANY = (
    "the repository's server lists more than {} MiB of branches and tags, and so none is taken"
)
"""What is said of a server that says more, with the MiB that it may."""
MAX_LINE = 65520
"""A packet line's length, with the four digits that tell it."""
FLUSH, DELIMITER = 0, 1
DATA, FAILED = 1, 3
"""What a packet of a pack is by its first byte: some of the pack, or why there is no more."""
USER = "x-token-auth"
"""Stands for the user where a token is all that counts: GitHub, GitLab and Gitea take any, and
Bitbucket this one."""
OBJECT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}", re.ASCII)
FORMATS = {40: "sha1", 64: "sha256"}


class RepositoryError(OutsideError):
    """A repository that can't be followed as things stand; one sentence in English."""


class Tip(NamedTuple):
    """Where a branch or a tag stands."""

    object: str
    """What it names: a commit, or a tag with words of its own."""
    commit: str
    """The commit, as far as the server says."""

    @property
    def object_format(self) -> str:
        """The hash that its objects are named by, as git calls it."""
        return FORMATS[len(self.object)]


@dataclass(frozen=True, slots=True)
class Remote:
    """A repository elsewhere, on a connection to its host."""

    connection: OutsideConnection
    place: OutsideAddress
    token: str = ""
    """What opens it, perhaps with a user and a colon before it; empty where nothing is needed."""

    def find(self, revision: str) -> Tip:
        """Where a branch or a tag stands; an empty one is the branch that the repository begins
        with.

        Raises:
            RepositoryError: there is no such one, or no such repository, or it is not open to us.
        """
        object_format = self._greet()
        its = revision.removeprefix("refs/")
        names = [f"refs/{kind}{its}" for kind in ("heads/", "tags/", "")] if its else ["HEAD"]
        asked = ["peel", *(f"ref-prefix {name}" for name in names)]
        said = self._ask("ls-refs", object_format, asked)
        tips: dict[str, Tip] = {}
        for line in _until_flush(said):
            name, tip = _read_ref(line)
            if name in names:
                tips[name] = tip
        if not tips and not its:
            raise RepositoryError("the repository is empty: push a commit to it")
        if not tips:
            raise RepositoryError(
                f"the repository has no branch or tag {revision!r}: it was removed, or never there"
            )
        if len({tip.commit for tip in tips.values()}) > 1:
            raise RepositoryError(
                f"the repository has a branch and a tag {revision!r}: write heads/{revision} or "
                f"tags/{revision}"
            )
        return next(iter(tips.values()))

    def fetch(self, tip: Tip, file: IO[bytes]) -> None:
        """Puts the pack of a commit without its history into a file.

        Raises:
            RepositoryError: the server does not give it, or it is too large.
        """
        asked = ["no-progress", "ofs-delta", "deepen 1", f"want {tip.object}", "done"]
        said = self._ask("fetch", tip.object_format, asked, MAX_PACK_BYTES, TOO_LARGE)
        while (section := next(said, None)) != b"packfile":
            if section is None:
                raise RepositoryError("the repository's server sent no pack")
        for packet in _until_flush(said):
            kind, data = packet[:1], packet[1:]
            if kind == bytes([DATA]):
                file.write(data)
            elif kind == bytes([FAILED]):
                raise RepositoryError(f"the repository's server says: {_shown(data)}")
        file.flush()

    def _greet(self) -> str:
        """Begins to speak, and gives the hash that the repository's objects are named by.

        Raises:
            RepositoryError: there is none, or its server does not speak this protocol.
        """
        answer = self._request("GET", "/info/refs?service=git-upload-pack")
        if answer.getheader("Content-Type") != "application/x-git-upload-pack-advertisement":
            raise RepositoryError(
                f"{self.place.shown}{self.place.path} is no address that git can fetch from"
            )
        said = [one for one in _packets(answer, MAX_SAID_BYTES, TOO_MANY) if isinstance(one, bytes)]
        if b"version 2" not in said[:2]:
            raise RepositoryError(
                f"{self.place.shown} does not speak version 2 of git's protocol, which servers "
                "have had since 2018"
            )
        named = {known for known in FORMATS.values() if f"object-format={known}".encode() in said}
        return named.pop() if named else FORMATS[40]

    def _ask(
        self,
        command: str,
        object_format: str,
        arguments: list[str],
        most_bytes: int = MAX_SAID_BYTES,
        beyond: str = TOO_MANY,
    ) -> Iterator[bytes | int]:
        """Asks one thing, and gives the packet lines of the answer."""
        told = [f"command={command}", f"object-format={object_format}"]
        body = b"".join([*map(_packet, told), b"0001", *map(_packet, arguments), b"0000"])
        return _packets(self._request("POST", "/git-upload-pack", body), most_bytes, beyond)

    def _request(
        self, method: str, path: str, body: bytes | None = None
    ) -> http.client.HTTPResponse:
        headers = {
            # Some forges know git by this name, and send all others a page.
            "User-Agent": "git/2.0 (game-bot-arena)",
            "Git-Protocol": "version=2",
            "Accept": "*/*",
        }
        if body is not None:
            headers["Content-Type"] = "application/x-git-upload-pack-request"
        if self.token:
            user, _, secret = self.token.rpartition(":")
            pair = f"{user or USER}:{secret}".encode()
            headers["Authorization"] = f"Basic {base64.b64encode(pair).decode()}"
        self.connection.request(method, f"{self.place.path.rstrip('/')}{path}", body, headers)
        answer = self.connection.getresponse()
        if answer.status != http.HTTPStatus.OK:
            raise RepositoryError(self._refused(answer))
        return answer

    def _refused(self, answer: http.client.HTTPResponse) -> str:
        """Words for the status of an answer that is no success."""
        where = f"{self.place.shown}{self.place.path}"
        match answer.status:
            case 401 | 403 if self.token:
                return (
                    f"the token does not open {where}: it ended, or may not read it; give another"
                )
            case 401 | 403:
                return f"{where} is private, or not there: give a token that may read it"
            case 404 if self.token:
                return f"there is no repository {where}, or the token may not read it"
            case 404:
                return f"there is no repository {where}; if it is private, give a token"
            case 429:
                return f"{self.place.shown} was asked too often, and is asked again later"
            case status if 300 <= status < 400:
                there = _shown(answer.getheader("Location", "elsewhere").encode())
                there = there.partition("/info/refs")[0]
                return f"{where} has moved to {there}: follow it there"
        return f"{self.place.shown} answers {answer.status}, and is asked again later"


def _packet(line: str) -> bytes:
    data = f"{line}\n".encode()
    return b"%04x%s" % (len(data) + 4, data)


def _packets(
    answer: http.client.HTTPResponse, most_bytes: int, beyond: str
) -> Iterator[bytes | int]:
    """The packet lines of an answer to its end, those of text without their line's end; numbers
    stand for what is between them.

    Raises:
        RepositoryError: it is none of these, or more than that.
    """
    left = most_bytes
    while head := answer.read(4):
        try:
            length = int(head, 16) if re.fullmatch(rb"[0-9a-fA-F]{4}", head) else -1
        except ValueError:
            length = -1
        if length in (0, 1, 2):
            yield length
            continue
        if not 4 < length <= MAX_LINE:
            raise RepositoryError("what the repository's server says is not git's protocol")
        data = answer.read(length - 4)
        if len(data) != length - 4:
            raise RepositoryError("the repository's server broke off")
        left -= length
        if left < 0:
            raise RepositoryError(beyond.format(most_bytes >> 20))
        if data.startswith(b"ERR "):
            raise RepositoryError(f"the repository's server says: {_shown(data[4:])}")
        # Of what is binary each byte counts; it begins with the number of its kind.
        yield data if data[0] <= FAILED else data.removesuffix(b"\n")


def _until_flush(packets: Iterator[bytes | int]) -> Iterator[bytes]:
    """What stands before the end of an answer.

    Raises:
        RepositoryError: it has no end.
    """
    for packet in packets:
        if packet == FLUSH:
            # The connection is asked once more when all was read.
            for _ in packets:
                pass
            return
        if isinstance(packet, bytes):
            yield packet
    raise RepositoryError("the repository's server broke off")


def _read_ref(line: bytes) -> tuple[str, Tip]:
    """A line of ls-refs: an object, a name, and what an annotated tag leads to."""
    words = line.decode(errors="replace").split(" ")
    peeled = next((word[7:] for word in words[2:] if word.startswith("peeled:")), words[0])
    if len(words) < 2 or not OBJECT.fullmatch(words[0]) or not OBJECT.fullmatch(peeled):
        raise RepositoryError("what the repository's server says is not git's protocol")
    return words[1], Tip(words[0], peeled)


def _shown(said: bytes) -> str:
    """What a server says, as a line of ours may have it."""
    return visible(said[:200].decode(errors="replace").strip(), but="")
