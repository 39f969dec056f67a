"""The texts of templates, in the language that is spoken."""

from __future__ import annotations

from jinja2 import Environment

from arena.ground.catalogues import languages, name_of
from engine.translation import spoken, translated, whole


def install(environment: Environment) -> None:
    """Has templates say their texts by ``trans`` and ``gettext``; what those are given must stand
    in the template itself, as it is taken for HTML. Words from elsewhere go through the filter
    ``translated``.
    """
    environment.policies["ext.i18n.trimmed"] = True
    environment.add_extension("jinja2.ext.i18n")
    environment.install_gettext_callables(  # type: ignore[attr-defined]
        _gettext, _ngettext, pgettext=_pgettext, newstyle=True
    )
    environment.globals.update(spoken=spoken, spoken_here=languages, name_of=name_of)
    environment.filters["translated"] = translated


def _gettext(message: str) -> str:
    return spoken().catalogue.gettext(message)


def _ngettext(one: str, many: str, number: float) -> str:
    return spoken().catalogue.ngettext(one, many, whole(number))


def _pgettext(context: str, message: str) -> str:
    return spoken().catalogue.pgettext(context, message)
