"""The process that reads the code of hand-ins, whatever stands in it.

To tell tokens apart is to run patterns over what strangers wrote, and some texts take such patterns
ages. So it is done by a process for each hand-in that has nothing but its files: each of them has a
second, all have some, and so much memory; what they do not do for is said.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

from arena.bots.stored_files import read
from arena.courses.similarity import MOST_BYTES, RUN, Allowance, is_known, prints_of

FILE_SECONDS, ALL_SECONDS = 1.0, 10
"""The most of a core's time for a file, and for all of a hand-in."""
LONGEST_SECONDS = 60
"""The most by the clock."""
MEMORY_BYTES = 1 << 30
USUAL = ("a.py", "a.cpp", "a.c", "a.java", "a.js", "a.rs", "a.go")
MOST_FILES = 200
TOO_LONG = "it takes too long to be read"
TOO_LARGE = "it is too large"
UNKNOWN = "its language is not known by its name"
TOO_MANY = "there are too many files, or too large ones"


class _TooLong(BaseException):
    """A file has had its second; whatever reads it catches nothing of this kind."""


def _break_off(_: int, __: FrameType | None) -> None:
    raise _TooLong


def found_in(files: Mapping[str, tuple[int, bytes]]) -> dict[str, Any]:
    """The fingerprints of files, as `ReadCode` keeps them.

    Args:
        files: of each its size, and what stands in it.
    """
    prints: list[Any] = []
    names: list[str] = []
    unread: list[list[str]] = []
    allowance = Allowance()
    for count, name in enumerate(sorted(files)):
        size, content = files[name]
        if b"\0" in content[:4096]:
            continue  # no text at all
        if size > MOST_BYTES:
            unread.append([name, TOO_LARGE])
            continue
        if not is_known(name):
            if len(content.split()) >= RUN:  # it could be a program
                unread.append([name, UNKNOWN])
            continue
        if size > allowance.bytes or not allowance.tokens or count >= MOST_FILES:
            unread.append([name, TOO_MANY])
            continue
        try:
            signal.setitimer(signal.ITIMER_PROF, FILE_SECONDS)
            its = prints_of({name: content}, allowance)
            signal.setitimer(signal.ITIMER_PROF, 0)
        except _TooLong:
            unread.append([name, TOO_LONG])
            continue
        if not allowance.tokens:
            unread.append([name, TOO_MANY])  # but for its beginning
        if its.hashes:
            prints += [
                [f"{hashed:x}", len(names), there.first, there.last]
                for hashed, there in zip(its.hashes, its.passages, strict=True)
            ]
            names.append(name)
    return {"prints": prints, "files": names, "unread": unread}


def files_at(path: Path) -> dict[str, tuple[int, bytes]]:
    """The files of a bundle, or of a folder, by their names, each with its size."""
    if path.is_dir():
        return {
            str(one.relative_to(path)): (one.stat().st_size, one.read_bytes())
            for one in _below(path)
        }
    return {name: (one.size, one.content) for name, one in read(path, MOST_BYTES).items()}


def _below(folder: Path) -> Iterator[Path]:
    for one in sorted(folder.rglob("*")):
        if one.is_file() and one.stat().st_size <= MOST_BYTES and "__pycache__" not in one.parts:
            yield one


def main() -> int:
    """Reads the bundles and folders that are named, each in a process forked for it: a line for
    each, which is no JSON where that process was ended."""
    # What knows the usual languages is loaded once, and not by each process anew.
    prints_of(dict.fromkeys(USUAL, b"x"))
    for path in map(Path, sys.argv[1:]):
        child = os.fork()
        if not child:
            resource.setrlimit(resource.RLIMIT_CPU, (ALL_SECONDS, ALL_SECONDS))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
            signal.signal(signal.SIGPROF, _break_off)
            signal.alarm(LONGEST_SECONDS)  # nobody handles it: it ends this process
            _write(json.dumps(found_in(files_at(path))).encode())
            os._exit(0)
        os.waitpid(child, 0)
        _write(b"\n")
    return 0


def _write(content: bytes) -> None:
    with open(1, "wb", closefd=False) as file:
        file.write(content)


if __name__ == "__main__":
    sys.exit(main())
