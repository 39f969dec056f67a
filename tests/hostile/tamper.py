"""Changes its runtime for whoever plays with it next, or what is loaded before it in its place."""

import os
import pathlib

from frame import TARGETS, play, tried

PLACES = [pathlib.Path("/runtime"), pathlib.Path(TARGETS["runtime"])]


def in_each(change):
    """Does it in every place where the runtime could be."""
    problem = None
    for place in PLACES:
        try:
            change(place / "packages" / "pieces")
            return
        except OSError as error:
            problem = error
    raise problem


def preload():
    """Begins once more with a library of its own before all others."""
    os.environ["LD_PRELOAD"] = "./own.so"
    with open("own.so", "wb") as file:
        file.write(b"")


def attack():
    """Tries each."""
    return tried(
        {
            "write": lambda: in_each(lambda at: (at / "evil.py").write_text("")),
            "replace": lambda: in_each(lambda at: (at / "__init__.py").write_text("NAME = 1")),
            "remove": lambda: in_each(lambda at: (at / "__init__.py").unlink()),
            "chmod": lambda: in_each(lambda at: at.chmod(0o777)),
            "compiled": lambda: in_each(lambda at: (at / "__pycache__").mkdir()),
            "link": lambda: in_each(lambda at: (at / "link").symlink_to("/etc/passwd")),
            "preload": preload,
            "others": lambda: os.listdir(PLACES[1].parents[1]),
        }
    )


play(attack)
