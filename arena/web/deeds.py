"""How pages do deeds: a form made of the deed's fields, what it refuses, and where it leads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from flask import Blueprint, abort, flash, redirect, render_template, request, url_for
from flask_wtf import FlaskForm
from wtforms import BooleanField, Field, FloatField, SelectChoice, SelectField, StringField
from wtforms.validators import Optional

from arena.deeds import Deed, Done, Part, asked_before, fields_of, look_ahead, perform
from arena.ground import bot_names
from arena.ground.refusals import NotAllowed, NotThere, Refusal, WrongField
from arena.web.forms import SECRET, WholeNumber, later
from arena.web.identity import database, own_address, signed_in, signer
from arena.web.permissions import demand_session, needs
from arena.web.present import open_in_maintenance
from arena.web.words import sentence
from engine.translation import N_, gettext

REFUSED = 422
"""The status of a form that comes back with what is wrong in it."""
MOST_UNDO_CHARACTERS, MOST_UNDONE = 2000, 100
"""How long what takes something back may be, packed and signed, and of how many deeds."""
UNDO = "undo"
"""The purpose for which the button that undoes a deed is signed."""
MESSAGE = "message"
"""The category of what is said where nothing undoes it; of all else it says what does."""

D = TypeVar("D", bound=Deed)
Page = Callable[..., str]
"""A page with a form: takes what is in the address, the form, and what is wrong with all of it."""


class DeedForm(FlaskForm):
    """What a deed asks for, as a form; each field has the name that it has there."""

    def said(self) -> dict[str, Any]:
        """What is filled in, by the fields' names; an empty field says nothing."""
        return {
            field.name: field.data.strip() if isinstance(field.data, str) else field.data
            for field in self
            if field.name != "csrf_token" and field.data not in (None, "")
        }

    def blame(self, error: WrongField) -> None:
        """Puts what is wrong beside its field.

        Raises:
            WrongField: there is no such field here.
        """
        if error.field not in self:
            raise error
        field = self[error.field]
        if not field.errors:  # one that could not be read seems to be empty, too
            field.errors = [sentence(error.words)]


class NamesField(StringField):
    """Names, one a field or several with spaces between them."""

    def process_formdata(self, valuelist: list[str]) -> None:
        """Reads them all as one text."""
        self.data = " ".join(valuelist).strip()


def form_of(deed: type[Deed], **others: Field) -> type[DeedForm]:
    """The form of a deed, with all its fields but those in the address.

    Args:
        others: fields instead of those that are made, or besides them.
    """
    fields = {part.name: _field(part) for part in deed.parts() if not part.in_address}
    return type(f"{deed.__name__}Form", (DeedForm,), fields | others)


def _field(part: Part) -> Field:
    its, label = part.limits, later(part.limits.label or part.limits.words)
    default = None if part.needed else part.default
    if its.choices:
        choices = [SelectChoice(one, one) for one in its.choices]
        if not part.needed and default is None:
            choices.insert(0, SelectChoice("", later(N_("by default"))))
        return SelectField(label, choices=choices, default=default, validate_choice=False)
    if part.kind is bool:
        return BooleanField(label, default=default)
    if part.kind in (int, float):
        kind = WholeNumber if part.kind is int else FloatField
        return kind(label, [Optional()], default=default, render_kw={"required": part.needed})
    looks = {"autocomplete": "off", "required": part.needed}
    if part.kind is tuple:
        return NamesField(label, render_kw=looks)
    if part.kind is str and its.most is not None:
        looks["maxlength"] = int(its.most)
    return StringField(label, default=default if part.kind is str else None, render_kw=looks)


def filled_in(
    deed: type[D], form: DeedForm, more: Mapping[str, Any] = MappingProxyType({})
) -> D | None:
    """A deed of what was filled in; None if something can't be so or is missing, all of which is
    put beside its fields. Names are told apart by spaces and commas.

    Args:
        more: fields of the deed that are no fields of the form.

    Raises:
        WrongField: something of these can't be so.
        Refusal: what was filled in contradicts itself.
    """
    values, is_sound = {**form.said(), **more}, form.validate()
    for part in deed.parts():
        try:
            if part.name in values:
                if part.kind is tuple and isinstance(values[part.name], str):
                    values[part.name] = tuple(bot_names.apart(values[part.name]))
                part.check(values[part.name])
            elif part.needed:
                raise WrongField(part.name, gettext("this is needed"))
        except WrongField as error:
            form.blame(error)
            is_sound = False
    if not is_sound:
        return None
    return deed(**{part.name: values[part.name] for part in deed.parts() if part.name in values})


def do(deed: Deed) -> Done:
    """Does a deed for who asks.

    Raises:
        Refusal: it can't be done so, or not by them.
    """
    by = signed_in().by()
    deed = look_ahead(database().read, deed, by)
    with database().begin() as session:
        done = perform(session, deed, by)
        session.flush()
    return done


def is_meant() -> bool:
    """Whether what was sent has been asked about."""
    return "confirmed" in request.form


def asked_first(words: str, form: DeedForm | None = None) -> str:
    """The page that asks whether what was sent is meant, and sends it once more; what is secret of
    it is asked for anew, so that no page has it.

    Args:
        words: what will happen, in sentences.
        form: that was sent, which says what its fields are called.
    """
    filled = [pair for pair in request.form.items(multi=True) if pair[0] != "csrf_token"]
    sent = [pair for pair in filled if pair[0] not in SECRET]
    anew = {
        name: form[name].label.text if form is not None and name in form else name.capitalize()
        for name, text in filled
        if name in SECRET and text
    }
    back = own_address(request.referrer) or url_for("front.first_page")
    return render_template("ask.html", words=words, sent=sent, anew=anew, back=back)


def _asked(deed: Deed, form: DeedForm) -> str | None:
    """The page that asks before a deed, if it can be done; None to do it at once.

    Raises:
        Refusal: it can't be done so, or not by them.
    """
    if is_meant():
        return None
    by = signed_in().by()
    with database().begin() as session:
        words = asked_before(session, deed, by)
        if words:
            perform(session, deed, by)
            session.flush()
            session.rollback()
    return asked_first(words, form) if words else None


def tell(done: Done) -> None:
    """Says on the next page what was done, with a button that takes it back if something does."""
    said = sentence(done.said)
    named = [[deed.called(), fields_of(deed)] for deed in done.undo]
    undo = str(signer(UNDO).dumps([signed_in().id, named]))
    # It travels in the session's cookie, in which browsers keep so much.
    fits = len(undo) <= MOST_UNDO_CHARACTERS and len(named) <= MOST_UNDONE
    flash(said, undo if named and fits else MESSAGE)


def sent(
    deed: type[Deed],
    form: DeedForm,
    *,
    then: Callable[..., str],
    again: Page | None = None,
    there: Mapping[str, Any] = MappingProxyType({}),
    **more: Any,
) -> Any:
    """What is answered to a form that was sent to do a deed.

    Args:
        then: the address that it leads to, by what was done and what is in the address.
        again: the page with the form, which comes back with what is wrong; without one that is
            answered alone.
        there: what is in the address.
        more: fields of the deed that are no fields of the form.
    """
    problem = ""
    try:
        meant = filled_in(deed, form, {**there, **more})
        if meant is not None:
            if (page := _asked(meant, form)) is not None:
                return page
            done = do(meant)
            tell(done)
            return redirect(then(done, **there))
    except WrongField as error:
        form.blame(error)
    except Refusal as error:
        # A page about what is not there, or for somebody else, has no form to come back.
        lost = isinstance(error, NotAllowed) or (there and isinstance(error, NotThere))
        if again is None or lost:
            raise
        problem = sentence(error)
    if again is None:
        field, errors = next(iter(form.errors.items()))
        abort(REFUSED, f"{field}: {errors[0]}")
    return again(form=form, problem=problem, **there), REFUSED


def add_deed(
    blueprint: Blueprint,
    rule: str,
    deed: type[Deed],
    *,
    then: Callable[..., str],
    again: Page | None = None,
    form: type[DeedForm] | None = None,
    endpoint: str = "",
) -> None:
    """Has a page's form do a deed.

    Args:
        rule: where the form is sent to.
        then, again: as of `sent`.
        form: the form, if it is not just that of the deed.
        endpoint: its name, if that is not how the rule ends.
    """

    kind = form or form_of(deed)

    def view(**there: Any) -> Any:
        if deed.personal:
            demand_session()
        return sent(deed, kind(), then=then, again=again, there=there)

    view.__doc__ = deed.__doc__
    view.deed = deed  # type: ignore[attr-defined]
    if deed.in_maintenance:
        open_in_maintenance(view)
    endpoint = endpoint or rule.rpartition("/")[2].replace("-", "_")
    marked = needs(deed.scope, of_one=deed.is_of_one())(view)
    blueprint.add_url_rule(rule, endpoint, marked, methods=["POST"])
