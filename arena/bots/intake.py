"""How a server takes files in, without knowing what runs them.

The pages only see this; the composition root gives them what packs and stores bundles.
"""

from __future__ import annotations

import errno
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What the system says of a disk on which nothing more can be put."""


@dataclass(frozen=True, slots=True)
class TakenIn:
    """A bot's files, found to be a bot, and stored."""

    digest: str
    size: int
    """Bytes, as they are stored."""
    language: str
    name: str
    """What the bot is called by its manifest, or its file."""


class Intake(Protocol):
    """Whatever takes a bot's files in."""

    largest: int
    """Bytes that an upload may have."""
    left_out: Collection[str]
    """Names of files and folders that are not taken in; ``*`` is any letters. A page need not send
    them."""
    left_out_with: Collection[str]
    """Names of files that tell of a folder, other than the bot's own, that is not taken in."""

    def __call__(self, path: Path) -> TakenIn:
        """Takes in a file, folder or archive.

        Raises:
            SubmissionError: it is no bot; one sentence for its author.
            OSError: it can't be kept, with one of `FULL` if there is no room.
        """
