"""What brings a bot's files, for the pages and the API: read, stored, and their check asked for."""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import IO, Any, cast

import sqlalchemy as sa
from flask import Request, Response, abort, current_app, request
from sqlalchemy.orm import Session
from werkzeug.datastructures import FileStorage, MultiDict
from werkzeug.formparser import FormDataParser

from arena.bots import discarding, sending, teams
from arena.bots.forges import Commit
from arena.bots.intake import FULL, Intake, Sender, TakenIn
from arena.bots.profile_deeds import LONGEST_PICTURE
from arena.bots.submissions import SubmissionError, hand_in
from arena.competitions.founding import find_named
from arena.ground.db import database_time
from arena.models import Check, Ladder, User
from arena.strength.terms import StrengthTerms
from arena.web.identity import BEGAN, Account, began, current, database, settings, signed_in
from engine.timers import Every
from engine.translation import gettext

FOLDER_FILES = 1000
SENT = "sent"
"""The fields of files that were sent before, in parts: each the digest and the path of one."""
PART = "api.send_part"
"""The endpoint that takes a part of a large file."""
SWEEP_SECONDS = 60 * 60
"""How often what was sent and is in no bot is looked for, when somebody sends something."""
DISCARD_SECONDS = 60
"""How often files are looked for that are to go."""
DELETING = ("profiles.delete", "people.delete", "api.delete_bot", "api.delete_user")
"""The endpoints by which some may be to go."""
UPLOADS = ("submissions.submit", "api.submit_bot")
"""The endpoints that take a bot's files."""
PICTURES = ("profiles.picture", "api.picture_bot")
"""The endpoints that take a bot's picture."""
TAKING_FILES = (*UPLOADS, "books.add", "replays.show", "profiles.picture")
"""The endpoints that take any file."""
FILES = {"file", "folder"}
"""The fields that have them."""
MOST_SENT = 20_000
"""Files that a request may have, those that are left out of a bot among them."""
SPARE_BYTES = 4 * 1024 * 1024
"""What an upload has besides the files: an archive's headers, the form."""


END_BYTES = 1024
"""The end of a body of forms, which is read at once: more than its last boundary has."""


class FormParser(FormDataParser):
    """Reads a form's fields and files.

    Werkzeug's takes what is before the last boundary for longer by a byte if a read ends between
    the two hyphens after it, as one of each 64 KiB may, and adds one to the file.
    """

    def parse(
        self,
        stream: IO[bytes],
        mimetype: str,
        content_length: int | None,
        options: dict[str, str] | None = None,
    ) -> tuple[IO[bytes], MultiDict[str, str], MultiDict[str, FileStorage]]:
        """Parses as Werkzeug does, but is given the end of a form in one piece."""
        if mimetype == "multipart/form-data":
            stream = cast("IO[bytes]", _EndTogether(stream))
        return super().parse(stream, mimetype, content_length, options)


class _EndTogether:
    """A stream of which no read ends within its last bytes."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._kept = b""

    def read(self, size: int) -> bytes:
        """Reads about so many bytes more, and none only at the end."""
        found = self._kept
        while more := self._stream.read(size):
            found += more
            if len(found) > END_BYTES:
                self._kept = found[-END_BYTES:]
                return found[:-END_BYTES]
        self._kept = b""
        return found


class FormRequest(Request):
    """A request to pages or the API."""

    form_data_parser_class = FormParser

    def __init__(self, environ: dict[str, Any], *given: Any, **named: Any) -> None:
        # Its body is yet to be read, which may take long.
        environ.setdefault(BEGAN, time.monotonic())
        super().__init__(environ, *given, **named)


def intake() -> Intake:
    """What takes files in on this server."""
    found: Intake | None = current_app.extensions["arena.bots.intake"]
    return found or abort(
        503, gettext("This server takes no uploads: use arena submit on its machine.")
    )


def widen() -> None:
    """Lets a request that brings files be as large as a bot may be, from those signed in."""
    if request.endpoint in UPLOADS and request.method == "POST" and current():
        request.max_content_length = intake().largest + SPARE_BYTES
        request.max_form_parts = MOST_SENT
    elif request.endpoint == PART and current():
        request.max_content_length = sending.PART_BYTES
    elif request.endpoint in PICTURES and request.method == "POST" and current():
        request.max_content_length = LONGEST_PICTURE + SPARE_BYTES


def allowed() -> str:
    """What is said of an upload that is too large to be even read."""
    return gettext(
        "This is too large: a bot may have %(files)s files, of %(mib)s MiB together; more, where a "
        "ladder grants it, is sent by arena submit, or by this form with scripts.",
        files=FOLDER_FILES,
        mib=f"{intake().largest / 2**20:.0f}",
    )


_discarding = Every(DISCARD_SECONDS)


def discard_if_due(response: Response) -> Response:
    """Takes files of deleted bots off the disk: when one was deleted, and while workers fetch
    others, for those that were still played with."""
    deleted = request.endpoint in DELETING and response.status_code in (200, 302)
    fetched = request.endpoint == "bundles.fetch" and _discarding.is_due()
    if deleted or fetched:
        discarding.sweep(database(), settings().bundles, datetime.now(UTC))
    return response


_sweeping = Every(SWEEP_SECONDS)


def sweep_if_due() -> None:
    """Forgets now and then what people sent and use in no bot."""
    if _sweeping.is_due():
        sending.sweep(database(), settings().bundles, datetime.now(UTC))


def _sender(who: Account, ladder: Ladder) -> Sender:
    """Who asks, as whoever hands files in for a ladder."""
    its = settings()
    return sending.sender_of(database(), its.bundles, who.id, ladder.bundle_bytes, its.quota_bytes)


def take_files(uploaded: list[Any], ladder: Ladder) -> TakenIn:
    """Takes in what a browser sent: one file, or a folder's files by their paths.

    Those that were sent before, in parts, stand in the form by their digests.

    Args:
        ladder: that the bot is for, which says how large it may be.

    Raises:
        SubmissionError: there is nothing, or it is no bot.
        Refusal: there is no room for it.
    """
    sweep_if_due()
    sender = _sender(signed_in(), ladder)
    if sent := request.form.getlist(SENT):
        return _take_sent(uploaded, sent, sender)
    return _take(uploaded, {}, sender, None)


def _take_sent(uploaded: list[Any], sent: list[str], sender: Sender) -> TakenIn:
    """Takes in what a browser sent, where some of the files are in the store."""
    if len(sent) > FOLDER_FILES:
        raise SubmissionError(gettext("there are more than %(most)s files", most=FOLDER_FILES))
    linked = {}
    for line in sent:
        digest, _, name = line.partition(" ")
        path = sender.given(digest) if sending.DIGEST.fullmatch(digest) else None
        if path is None or not path.is_file():
            raise SubmissionError(
                gettext(
                    "the file %(name)r was not sent, or is forgotten: do it again", name=name[:60]
                )
            )
        linked[_path(name)] = path
    return _take(uploaded, linked, sender, settings().bundles)


def _take(
    uploaded: list[Any], linked: Mapping[Path, Path], sender: Sender, above: Path | None
) -> TakenIn:
    """Takes in the files of a form, and those of the store by their paths.

    Args:
        above: where the folder is made that they are put into.
    """
    files = [file for file in uploaded if isinstance(file, FileStorage) and file.filename]
    if not files and not linked:
        raise SubmissionError(gettext("choose a file or a folder"))
    prefix = sending.UNFINISHED if above else "arena-upload-"
    with tempfile.TemporaryDirectory(prefix=prefix, dir=above) as made:
        folder = Path(made)
        paths = [*(_path(str(file.filename)) for file in files), *linked]
        puts: list[Callable[[Path], Any]] = [file.save for file in files]
        puts += [partial(os.link, stored) for stored in linked.values()]
        if len(paths) == 1 and len(paths[0].parts) == 1:
            for put in puts:
                put(folder / paths[0])
            return intake()(folder / paths[0], sender)
        path, times = Counter(paths).most_common(1)[0]
        if times > 1:
            raise SubmissionError(
                gettext(
                    "%(name)r was sent %(times)s times: send each file once",
                    name=str(path)[:60],
                    times=times,
                )
            )
        top = folder / "upload"
        for put, path in zip(puts, paths, strict=True):
            try:
                (top / path).parent.mkdir(parents=True, exist_ok=True)
                put(top / path)
            except OSError as error:
                if error.errno in FULL:
                    raise
                raise SubmissionError(_no_name(str(path))) from None
        return intake()(_without_common_folder(top), sender)


def _no_name(name: str) -> str:
    return gettext("%(name)r is no name for a file", name=name[:60])


def _without_common_folder(top: Path) -> Path:
    """The folder that was sent, which gives the bot its name unless it says one."""
    inside = list(top.iterdir())
    return inside[0] if len(inside) == 1 and inside[0].is_dir() else top


def _path(name: str) -> Path:
    """The path of an uploaded file, below the folder that it is put in.

    Raises:
        SubmissionError: it leads elsewhere, or is no name.
    """
    parts = name.split("/")
    if any(
        part in ("", ".", "..") or len(part.encode()) > 200 or re.search(r"[\\\0-\x1f]", part)
        for part in parts
    ):
        raise SubmissionError(_no_name(name))
    return Path(*parts)


def store(
    name: str,
    taken: TakenIn,
    ladder: Ladder,
    note: str | None,
    *,
    test_first: StrengthTerms | None,
    enters: bool = True,
    commit: Commit | None = None,
    team: str = "",
) -> int:
    """Takes a bot's stored files in, and gives the number of their check.

    Args:
        commit: the commit that they are of, if somebody says.
        enters: whether they are to enter the ladder, or are only tried.
        team: the name of the team whose bot it is to be; empty for none.

    Raises:
        Refusal: it is none of theirs; or as `arena.bots.submissions.hand_in`.
    """
    who = signed_in()

    def take_in(session: Session) -> int:
        now = max(began(), database_time(session) - sending.grace(taken.size))
        # By its name: it may have begun again meanwhile.
        there = find_named(session, Ladder, ladder.name)
        user = session.get_one(User, who.id)
        version = hand_in(
            session,
            who.actor,
            user,
            name,
            taken,
            there,
            note=note or "",
            test_first=test_first,
            most_stored=settings().quota_bytes,
            enters=enters,
            commit=commit,
            tries_a_day=settings().tries_a_day,
            bots_a_person=settings().bots_a_person,
            team=teams.own(session, team, user) if team else None,
            now=now,
        )
        asked = sa.select(sa.func.max(Check.id)).where(
            Check.version_id == version.id, Check.ladder_id == there.id
        )
        return session.scalars(asked).one()

    return database().run(take_in)
