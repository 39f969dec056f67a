"""The command setting: what settings hold, and what can be changed of them while the arena runs."""

from __future__ import annotations

import click
from sqlalchemy.orm import Session

from arena.cli import deeds
from arena.cli.client import Where, on_arena
from arena.cli.listing import show
from arena.cli.options import as_json
from arena.cli.reading import read
from arena.ground.config import Settings
from arena.web.api.setting_shapes import SettingList
from engine.translation import N_


@click.group()
def setting() -> None:
    """Settings: list them, and change what can be changed while the arena runs."""


@setting.command("list")
@on_arena
@as_json
def settings_command(where: Where, in_json: bool) -> None:
    """List all settings: what holds, and who changed it.

    Of a data folder those of the environment are of whoever asks, and not of what runs there.

    Example: arena setting list
    """

    def here(session: Session, settings: Settings) -> SettingList:
        return SettingList.now(session, settings)

    show(
        read(where, "/settings", here)["items"],
        (N_("setting"), N_("value"), N_("from"), N_("changed by"), N_("at")),
        in_json,
        cells=lambda one: {
            "setting": one["name"],
            "from": one["source"],
            "changed by": one["changed_by"],
        },
    )


deeds.add_commands(setting)
