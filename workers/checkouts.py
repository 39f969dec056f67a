"""The files of a commit, taken out of a pack by git itself, in a box.

A pack comes from a stranger's server, and git has had holes in what reads such. So it runs where
bots are built: without a network, apart from all else, within limits of time, memory, bytes and
files, and what comes out is judged as a stranger's archive is: no links, no devices, plain names
(`workers.building`). There is nothing of the repository that git would run: no hooks and no
settings come with a pack, filters are run by settings alone, and submodules are not fetched.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple

from workers.box_folder import open_to_readers
from workers.building import BuildError, build
from workers.files import Files
from workers.languages import LanguageError
from workers.large_files import BundleError
from workers.launches import Launch, box_program
from workers.sandbox import Sandbox

SECONDS = 60.0
"""How long git may take to unpack it all."""
PACK = "pack"
LFS = b"version https://git-lfs.github.com/spec/v1\n"
"""How a file begins that stands for one in Git LFS (its specification, The Pointer)."""
SCRIPT = """\
set -e
say() { echo "fatal: $1" >&2; exit 1; }
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_DIR="$HOME/git" LC_ALL=C
git="$1"
"$git" init --quiet --template= --object-format="$3" >/dev/null
"$git" index-pack --stdin < pack >/dev/null
rm pack
commit="$("$git" rev-parse --verify --quiet "$2^{commit}")" || say "it names no commit"
# It came without its history, which git is told so that it looks for none.
echo "$commit" > "$GIT_DIR/shallow"
tree="$("$git" rev-parse --verify --quiet "$commit:$4")" || say "there is no folder of that name"
[ "$("$git" cat-file -t "$tree")" = tree ] || say "there is no folder of that name"
if "$git" ls-tree -r "$tree" | grep -q '^160000 '; then
    say "it has a submodule, which is not fetched: put its files into the repository"
fi
export GIT_WORK_TREE="$PWD"
"$git" read-tree "$tree"
"$git" checkout-index --all --force
echo "commit $commit" >&2
"$git" log -1 --encoding=UTF-8 --no-show-signature --format='subject %s' "$commit" >&2
"""
"""Takes git, the object, the format of its names and the folder. It says last what it found."""
FOUND = re.compile(r"^commit ([0-9a-f]{40,64})\nsubject (.*)$", re.MULTILINE)


class CheckoutError(ValueError):
    """A pack that no bot can be taken out of; one sentence in English."""


class Checkout(NamedTuple):
    """The files of a commit."""

    files: Files
    commit: str
    subject: str
    """The first line of its message, as one line."""


def check_out(box: Sandbox, pack: Path, wanted: str, object_format: str, folder: str) -> Checkout:
    """Takes the files of a commit out of a pack.

    Args:
        wanted: the name of the commit, or of a tag of it, in hexadecimal digits.
        object_format: ``sha1`` or ``sha256``.
        folder: the one that is wanted, relative to the repository; empty for all of it.

    Raises:
        CheckoutError: git can't do it, or it is more than a bot may have.
        BoxError: no box can be built.
    """
    try:
        git = box_program("git")
    except LanguageError as error:
        raise CheckoutError(f"no repository can be fetched here: {error}") from None
    command = Launch(("/bin/sh", "-c", SCRIPT, "checkout", git, wanted, object_format, folder))
    with tempfile.TemporaryDirectory(prefix=".work-", dir=box.builds) as made:
        shutil.copy(pack, Path(made, PACK))
        open_to_readers(Path(made))
        try:
            files, log = build(box, Path(made), command, wall_seconds=SECONDS)
        except BuildError as error:
            raise CheckoutError(_reason(error, folder)) from None
    found = [*FOUND.finditer(log)]
    if not found:
        raise CheckoutError("git did not say what it unpacked")
    for name, file in files.items():
        if file.content.startswith(LFS):
            raise CheckoutError(
                f"{name!r} is kept in Git LFS, which is not fetched: put the file itself into the "
                "repository"
            )
    # What stands before may be a stranger's words.
    return Checkout(files, found[-1][1], found[-1][2].strip())


def _reason(error: BuildError, folder: str) -> str:
    """Why git could not unpack it."""
    if isinstance(error.__cause__, BundleError):
        return str(error.__cause__)
    said = [line for line in error.log.splitlines() if line.startswith(("fatal: ", "error: "))]
    if not said:
        return f"git can't unpack it: {error}"
    words = said[0].partition(": ")[2]
    if words.startswith("there is no folder"):
        return f"the repository has no folder {folder!r}"
    return f"git can't unpack it: {words[:200]}"
