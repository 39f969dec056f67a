"""How a server takes files in, without knowing what runs them.

The pages only see this; the composition root gives them what packs and stores bundles.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from engine.game import Variant

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What the system says of a disk on which nothing more can be put."""


@dataclass(frozen=True, slots=True)
class TakenIn:
    """A bot's files, found to be a bot, and stored."""

    digest: str
    size: int
    """Bytes, as they are stored, each large file once."""
    files_bytes: int
    """Those of its files alone, without what an archive adds."""
    language: str
    name: str
    """What the bot is called by its manifest, or its file."""
    large: Mapping[str, int] = field(default_factory=dict)
    """The sizes of its large files by their digests."""
    runtime: str = ""
    """The name of the runtime that it asks for; empty for none."""


@dataclass(frozen=True, slots=True)
class FirstFiles:
    """A bot to begin with."""

    program: Mapping[str, str]
    """The files that make it with their texts, the one to write in first."""
    beside: Mapping[str, str]
    """What lies beside them: a test, and a page on what next."""


@dataclass(frozen=True, slots=True)
class Sender:
    """Whoever hands files in, as far as it matters which are taken."""

    most_bytes: int
    """How many bytes the files may have together, if that is more than every bot may."""
    given: Callable[[str], Path | None]
    """Where a large file lies that is only named by its digest; None if they may not name it."""
    claim: Callable[[Mapping[str, int]], None]
    """Called before large files are stored, with their sizes by their digests; may refuse them."""


class Intake(Protocol):
    """Whatever takes a bot's files in."""

    largest: int
    """Bytes that a request may bring, and a bot may have wherever it plays."""
    left_out: Collection[str]
    """Names of files and folders that are not taken in; ``*`` is any letters. A page need not send
    them."""
    left_out_with: Collection[str]
    """Names of files that tell of a folder, other than the bot's own, that is not taken in."""

    languages: Mapping[str, str]
    """The languages that bots can be begun in, by the names that `starter` takes, and what people
    call these."""

    def starter(self, name: str, language: str, variant: Variant) -> FirstFiles:
        """A bot that plays, to begin with.

        Raises:
            Refusal: it can't be called so.
        """

    def texts(self, digest: str) -> dict[str, str] | None:
        """The files of a stored bundle with their texts, the one to start first; None if some are
        no texts of this size.

        Raises:
            OSError: it is not stored here.
        """

    def __call__(self, path: Path, sender: Sender) -> TakenIn:
        """Takes in a file, folder or archive.

        Raises:
            SubmissionError: it is no bot; one sentence for its author.
            Refusal: what the sender's `claim` says.
            OSError: it can't be kept, with one of `FULL` if there is no room.
        """
