"""How large a drill is, as the environment asks for it."""

from __future__ import annotations

import os
from dataclasses import fields
from typing import Any


def asked_for(of: type[Any], prefix: str) -> dict[str, str]:
    """What the environment says of a dataclass's fields, by ``PREFIX_`` and a name in capitals."""
    said = {one.name: os.environ.get(f"{prefix}_{one.name.upper()}") for one in fields(of)}
    return {name: text for name, text in said.items() if text}
