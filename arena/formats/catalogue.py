"""The formats that a tournament can be played by."""

from __future__ import annotations

from collections.abc import Mapping

from arena.formats.balanced import Balanced
from arena.formats.format import Format
from arena.formats.knockout import Knockout
from arena.formats.round_robin import GauntletFormat, RoundRobin
from arena.formats.settings import FormatSetting, Frame
from arena.formats.swiss import Swiss
from arena.ground.refusals import Refusal
from engine.translation import gettext, ngettext, pgettext

FORMATS: dict[str, type[Format]] = {
    form.name: form
    for form in (
        RoundRobin,
        GauntletFormat,
        Swiss,
        Knockout,
        Balanced,
    )
}
"""The formats by the names that commands and the database know them by. Commands, forms and pages
offer whatever stands here, and tests try it."""


def settings_of_all() -> dict[str, tuple[FormatSetting, list[str]]]:
    """Each setting that some format has, as the first of them has it, with their names."""
    found: dict[str, tuple[FormatSetting, list[str]]] = {}
    for name, kind in FORMATS.items():
        for key, setting in kind.settings.items():
            found.setdefault(key, (setting, []))[1].append(name)
    return found


def settings_for(name: str, frame: Frame, given: Mapping[str, int]) -> dict[str, int]:
    """All settings of a format: those given, and the others by default.

    Raises:
        Refusal: there is no such format or setting, the format is not for this number of
            seats or this field, or a value is not allowed.
    """
    if name not in FORMATS:
        raise Refusal(
            gettext(
                "there is no format %(name)r; there are %(formats)s",
                name=name[:40],
                formats=", ".join(FORMATS),
            )
        )
    form = FORMATS[name]
    if frame.seats not in form.for_seats:
        fitting = [other for other, one in FORMATS.items() if frame.seats in one.for_seats]
        raise Refusal(
            ngettext(
                "%(name)s is not for matches of %(seats)s bots; use %(fitting)s",
                "%(name)s is not for matches of %(seats)s bots; use one of %(fitting)s",
                len(fitting),
                name=name,
                seats=frame.seats,
                fitting=", ".join(fitting),
            )
        )
    if frame.size < max(2, frame.seats):
        raise Refusal(
            gettext(
                "a match takes %(seats)s bots, and the field has %(size)s",
                seats=frame.seats,
                size=frame.size,
            )
        )
    unknown = [key for key in given if key not in form.settings]
    if unknown:
        known = ", ".join(form.settings) or pgettext("of settings", "none")
        raise Refusal(
            gettext(
                "%(name)s has no setting %(unknown)r; it has %(known)s",
                name=name,
                unknown=unknown[0],
                known=known,
            )
        )
    settings = {
        key: given.get(key, setting.default_for(frame)) for key, setting in form.settings.items()
    }
    for key, value in settings.items():
        setting, most = form.settings[key], form.settings[key].most_for(frame)
        if not setting.least <= value <= most:
            raise Refusal(
                gettext(
                    "%(key)s is %(value)s, and in this field it can be from %(least)s to %(most)s",
                    key=key,
                    value=value,
                    least=setting.least,
                    most=most,
                )
            )
        if value and frame.size < setting.field:
            raise Refusal(
                gettext(
                    "%(key)s takes a field of %(field)s bots, and this one has %(size)s",
                    key=key,
                    field=setting.field,
                    size=frame.size,
                )
            )
        if frame.race and setting.in_a_race not in (None, value):
            raise Refusal(
                gettext(
                    "%(key)s must be %(in_a_race)s in a race: the same bots at the same start "
                    "would come out the same again",
                    key=key,
                    in_a_race=setting.in_a_race,
                )
            )
    try:
        form.build(frame, settings)
    except ValueError as error:
        raise Refusal(str(error)) from None
    return settings
