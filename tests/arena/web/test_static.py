"""The files that pages load: what was taken over is what its authors published."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from arena import web
from engine.colours import GROUND

STATIC = Path(web.__file__).parent / "static"


def test_vendored_files_are_unchanged() -> None:
    """Each file of others has the digest that is written down, and none is without one."""
    sums = dict(
        reversed(line.split(maxsplit=1))
        for line in (STATIC / "vendor/SHA256SUMS").read_text().splitlines()
    )
    files = {file.name for file in (STATIC / "vendor").iterdir()} - {"SHA256SUMS"}
    assert files == set(sums)
    for name, digest in sums.items():
        assert hashlib.sha256((STATIC / "vendor" / name).read_bytes()).hexdigest() == digest


def test_stylesheets_load_nothing() -> None:
    """No stylesheet asks for another file; pictures in it are part of it."""
    for sheet in STATIC.rglob("*.css"):
        loaded = re.findall(r"url\(\s*[\"']?([^\"')]{0,20})", sheet.read_text())
        assert all(address.startswith("data:") for address in loaded)
        assert "@import" not in sheet.read_text()


def test_dark_pages_have_the_colours_of_dark_pictures() -> None:
    """A board within a page and a picture of it beside one look the same."""
    rules = (STATIC / "arena.css").read_text().rpartition("@media (prefers-color-scheme: dark)")[2]
    colours = set(re.findall(r"(?:fill|stroke): (#[0-9a-f]{6})", rules.partition("\n}")[0]))
    assert colours == set(GROUND["dark"].values())
