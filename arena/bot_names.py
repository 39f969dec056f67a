"""What a bot may be called: by who hands it in, in addresses, and by commands."""

from __future__ import annotations

import re

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}", re.ASCII)


def refusal(name: str) -> str:
    """Why a bot can't be called so; empty if it can."""
    # An address that ends so asks for JSON.
    if _NAME.fullmatch(name) and not name.endswith(".json"):
        return ""
    return (
        f"{name[:60]!r} is no name for a bot: 1 to 40 letters, digits, '_', '.', '-', a letter "
        "or digit first, and no .json at the end"
    )
