"""The page of presets of strength tests: which there are, and the forms that change them."""

from __future__ import annotations

from typing import Any, get_args

from flask import Blueprint, render_template, url_for
from wtforms import SelectChoice, SelectField

from arena.competitions.presets import KeepPreset, RemovePreset, listed, words
from arena.deeds import Done
from arena.models import Scope, TestPreset
from arena.ratings.sprt import Model
from arena.web.deeds import DeedForm, add_deed, form_of
from arena.web.forms import later
from arena.web.identity import current
from arena.web.lookup import reading
from engine.translation import N_

presets = Blueprint("presets", __name__)


def unit_field() -> SelectField:
    """A field of a form for the unit of a test's hypotheses, where nothing may be chosen."""
    choices = [SelectChoice("", later(N_("as usual"))), *map(SelectChoice, get_args(Model))]
    return SelectField(
        later(N_("Unit of both")), choices=choices, default="", validate_choice=False
    )


PresetForm = form_of(KeepPreset, model=unit_field())


@presets.get("/presets")
def listing() -> str:
    """The presets of strength tests."""
    account = current()
    # A form's secret takes a cookie, which nobody needs who only reads.
    form = PresetForm(formdata=None) if account and account.may(Scope.ORGANISE) else None
    return _page(form, "")


def _page(form: DeedForm | None, problem: str) -> str:
    with reading() as session:
        found = session.scalars(listed().order_by(TestPreset.name)).all()
        return render_template(
            "presets.html",
            found=[(preset, words(preset)) for preset in found],
            form=form,
            problem=problem,
        )


def _listed(_: Done, **_there: Any) -> str:
    return url_for("presets.listing")


add_deed(presets, "/presets/keep", KeepPreset, then=_listed, again=_page, form=PresetForm)
add_deed(presets, "/presets/<name>/remove", RemovePreset, then=_listed)
