"""The page of settings, for administrators: what holds, who changed it, and maintenance."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, render_template, request, url_for

from arena.deeds import Done
from arena.models import Scope
from arena.operation.maintenance import SetMaintenance
from arena.operation.settings import ChangeSetting, states
from arena.present import maintenance
from arena.web.deeds import DeedForm, add_deed, form_of
from arena.web.identity import keep_to_itself, own_settings
from arena.web.lookup import reading
from arena.web.permissions import needs

setting_pages = Blueprint("setting_pages", __name__)
setting_pages.after_request(keep_to_itself)


@setting_pages.get("/operator/settings")
@needs(Scope.ADMIN)
def overview() -> str:
    """All settings: those that can be changed now, and those that a process reads as it starts."""
    return _page()


def _page(name: str = "", problem: str = "", text: str = "") -> str:
    """The page, with what is wrong with a value that was sent."""
    with reading() as session:
        return render_template(
            "settings.html",
            settings=states(session, own_settings()),
            under_way=maintenance(session),
            name=name,
            problem=problem,
            text=text,
        )


class ValueForm(form_of(ChangeSetting)):  # type: ignore[misc]
    """The value of a setting: an empty one is meant, and a button of its own says that none is."""

    def said(self) -> dict[str, Any]:
        return {} if "reset" in request.form else {"value": "", **super().said()}


def _again(form: DeedForm, problem: str, name: str) -> str:
    errors = [str(error) for those in form.errors.values() for error in those]
    return _page(name, problem or " ".join(errors), form["value"].data or "")


def _there(_: Done, **__: str) -> str:
    return url_for("setting_pages.overview")


add_deed(
    setting_pages,
    "/operator/settings/<name>/change",
    ChangeSetting,
    then=_there,
    again=_again,
    form=ValueForm,
)
add_deed(setting_pages, "/operator/maintenance", SetMaintenance, then=_there)
