"""The settings as an operator sees them: what holds, who changed it, and how it is changed."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from datetime import datetime
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit
from arena.deeds import By, Deed, Done, asked
from arena.ground.config import (
    CHANGEABLE,
    SECRET,
    SettingError,
    Settings,
    value_of,
    variable,
)
from arena.ground.refusals import NotThere, Refusal
from arena.models import ChangedSetting, Scope
from engine.guesses import alike, did_you_mean
from engine.translation import gettext

_USER_OF_ADDRESS = re.compile(r"(?<=://)[^@/\s,]*(?=@)")
HIDDEN = "…"
"""What is shown in the place of a secret."""
LONGEST_VALUE = 2000


class SettingSource(StrEnum):
    """Whence a setting has its value."""

    DEFAULT = "default"
    ENVIRONMENT = "environment"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class SettingState:
    """A setting, for whoever runs the arena."""

    name: str
    variable: str
    value: str
    """The value that holds; secrets are hidden."""
    usual: str
    """What holds where nobody has changed it: the environment's, or the default."""
    source: SettingSource
    words: str
    """What it is, in sentences; translated where they are shown."""
    choices: tuple[str, ...]
    """All that it can be, where these are few."""
    rule: str
    """What it must be, in words with ``%(choices)s`` for those; empty if anything goes."""
    is_changeable: bool
    """Whether it can be changed while the arena runs; for others it is to be started again."""
    changed_by: str
    at: datetime | None
    """When it was changed."""
    problem: str
    """Why a value that was stored does not hold; empty if it does."""


def states(session: Session, settings: Settings) -> list[SettingState]:
    """All settings in the order of the documentation.

    Args:
        settings: the environment's of this process.
    """
    defaults = Settings()
    changes = {one.name: one for one in session.scalars(sa.select(ChangedSetting))}
    found = []
    for known in fields(Settings):
        own, default = getattr(settings, known.name), getattr(defaults, known.name)
        source = SettingSource.DEFAULT if own == default else SettingSource.ENVIRONMENT
        rule, value, problem = known.metadata["rule"], own, ""
        change = changes.get(known.name) if known.name in CHANGEABLE else None
        if change is not None:
            try:
                value, source = value_of(known.name, change.value), SettingSource.CHANGED
            except SettingError as error:
                problem = str(error)
        found.append(
            SettingState(
                known.name,
                variable(known.name),
                _shown(known.name, value),
                _shown(known.name, own),
                source,
                known.metadata["doc"],
                rule.choices if rule else (),
                rule.words if rule else "",
                known.name in CHANGEABLE,
                change.changed_by if change else "",
                change.at if change else None,
                problem,
            )
        )
    return found


def _shown(name: str, value: Any) -> str:
    """A value for people: of a secret only that there is one, and addresses without passwords."""
    text = f"{value:g}" if isinstance(value, float) else str(value)
    if name in SECRET and text:
        return HIDDEN
    return _USER_OF_ADDRESS.sub(HIDDEN, text)


@dataclass(frozen=True)
class ChangeSetting(Deed):
    """Change a setting while the arena runs; all its processes go by it within seconds.

    Without a value the environment's holds again, or the default.
    """

    scope = Scope.ADMIN
    address = "POST /settings/<name>"
    command = "setting change NAME VALUE"
    example = "registration open"
    subject = "arena"

    name: str = asked("The setting's name, as in registration", most=80)
    value: str | None = asked(
        "What it is to be, as it would stand in the environment; by default what that says",
        label="Value",
        default=None,
        most=LONGEST_VALUE,
    )

    def do(self, session: Session, by: By) -> Done:
        name = known_name(self.name)
        before = session.get(ChangedSetting, name, populate_existing=True)
        was = None if before is None else before.value
        if self.value is None:
            if before is None:
                raise Refusal(gettext("%(name)s is as the environment says already", name=name))
            session.delete(before)
            detail = f"as the environment says; it was {was}"
            said = gettext("%(name)s is as the environment says", name=name)
        else:
            value = self.value.strip()
            try:
                value_of(name, value)
            except SettingError as error:
                raise Refusal(str(error)) from None
            session.merge(
                ChangedSetting(name=name, value=value, changed_by=by.actor.name, at=by.now)
            )
            detail = value if was is None else f"{value}; it was {was}"
            said = gettext("%(name)s is %(value)s now", name=name, value=value or '""')
        audit.note(session, by.actor, "change setting", f"setting {name}", detail, now=by.now)
        undo = () if was == self.value else (ChangeSetting(name, was),)
        return Done(said, undo=undo)


def known_name(name: str) -> str:
    """The name of a setting that can be changed while the arena runs, by what somebody calls it.

    Raises:
        NotThere: there is none of that name.
        Refusal: it can't be changed so.
    """
    found = name.lower().removeprefix("arena_")
    names = [known.name for known in fields(Settings)]
    if found not in names:
        near = alike(found, names)
        words = gettext("there is no setting %(name)s", name=name[:80])
        raise NotThere(f"{words}; {did_you_mean(near)}" if near else words)
    if found not in CHANGEABLE:
        raise Refusal(
            gettext(
                "%(variable)s is read as a process starts: change it in its environment, and "
                "start it again",
                variable=variable(found),
            )
        )
    return found
