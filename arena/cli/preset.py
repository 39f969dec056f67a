"""The command preset: what strength tests of one kind are asked to be."""

from __future__ import annotations

import click

from arena.cli import deeds
from arena.cli.client import Where, on_arena
from arena.cli.listing import show
from arena.cli.options import as_json
from arena.cli.reading import read_all
from arena.competitions.presets import listed
from arena.models import TestPreset
from arena.web.api.presets import PresetShape
from engine.translation import N_


@click.group()
def preset() -> None:
    """Presets of strength tests: list them, keep one, remove one."""


@preset.command("list")
@on_arena
@as_json
def list_command(where: Where, in_json: bool) -> None:
    """List the presets of strength tests, the last made first.

    Example: arena preset list
    """
    newest_first = listed().order_by(TestPreset.id.desc())
    found = read_all(where, "/presets", PresetShape, lambda session: session.scalars(newest_first))
    show(found, (N_("name"), N_("told"), N_("note")), in_json)


deeds.add_commands(preset)
