"""The forms of accounts and submissions, each field with the words that refuse it."""

from __future__ import annotations

import re
from typing import Any

from flask import current_app
from flask_babel import LazyString
from flask_security import PasswordUtil, Security
from flask_wtf import FlaskForm
from flask_wtf.file import FileField, MultipleFileField
from markupsafe import escape
from wtforms import (
    BooleanField,
    HiddenField,
    IntegerField,
    PasswordField,
    SelectField,
    SelectMultipleField,
    StringField,
    TextAreaField,
)
from wtforms.validators import EqualTo, InputRequired, Length, StopValidation
from wtforms.widgets import CheckboxInput, ListWidget

from arena.bots.submissions import LONGEST_NOTE
from arena.ground import bot_names
from arena.people import accounts
from arena.web.identity import PASSWORD_LENGTH_MIN, database
from arena.web.words import sentence
from engine.translation import N_, gettext, translated

PASSWORD_LENGTH_MAX = 200
SECRET = frozenset({"password", "again", "present", "token", "code", "credential"})
"""Fields of forms that no page may show again."""


class _Later(LazyString):
    """A text that is no HTML, whatever a translation has in it."""

    def __html__(self) -> str:
        return escape(str(self))


def later(text: str) -> Any:
    """A text of a form that is made once for all: each reader sees it in their language.

    Args:
        text: in English, as `translated` takes it.
    """
    return _Later(translated, text)


def password_rule() -> str:
    """What a password has to be, in a sentence."""
    return gettext(
        "%(least)s to %(most)s characters, and not with your name in it.",
        least=PASSWORD_LENGTH_MIN,
        most=PASSWORD_LENGTH_MAX,
    )


NEEDED = InputRequired(later(N_("This is needed.")))
NUMBER = InputRequired(later(N_("Give a number.")))
PASSWORD = Length(
    max=PASSWORD_LENGTH_MAX, message=later(N_("A password has at most %(max)d characters."))
)
NAME = Length(max=40, message=later(N_("A name has at most %(max)d characters.")))


class WholeNumber(IntegerField):
    """An integer that a database can keep; more digits are no number that anybody means."""

    MOST_DIGITS = 18

    def process_formdata(self, valuelist: list[str]) -> None:
        """Reads what was sent.

        Raises:
            ValueError: it is no such number.
        """
        if valuelist and len(valuelist[0].strip()) > self.MOST_DIGITS:
            raise ValueError(
                gettext("A number has at most %(digits)s digits here.", digits=self.MOST_DIGITS)
            )
        super().process_formdata(valuelist)


def _password_util() -> PasswordUtil:
    security: Security = current_app.extensions["security"]
    return security.password_util


def _good_password(form: Any, field: Any) -> None:
    """Refuses what is too short or too simple, and keeps one form of equal characters."""
    if field.errors:  # it is too long, and what else there is to say of it would be wrong
        return
    problems, normal = _password_util().validate(field.data or "", False)
    words = [str(problem) for problem in problems or ()]
    name = form.name.data if "name" in form else ""
    if name and name.lower() in normal.lower():
        words.append(gettext("A password must not have the name in it."))
    if words:
        raise StopValidation(" ".join(words))
    field.data = normal


def _normal(text: str | None) -> str | None:
    return text and str(_password_util().normalize(text))


def _typed(text: str | None) -> str | None:
    return text and accounts.typed(text)


def named_number(text: str, otherwise: int = 0) -> int:
    """A number by which a form without fields of its own names something.

    Args:
        otherwise: what all else counts as; by default 0, which names nothing.
    """
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text, re.ASCII) else otherwise


class SignInForm(FlaskForm):
    """Name and password."""

    name = StringField(
        later(N_("Name")), [NEEDED, NAME], filters=[_typed], render_kw={"autocomplete": "username"}
    )
    password = PasswordField(
        later(N_("Password")),
        [NEEDED, PASSWORD],
        filters=[_normal],
        render_kw={"autocomplete": "current-password"},
    )
    next = HiddenField()


class _NewPassword(FlaskForm):
    password = PasswordField(
        later(N_("New password")),
        [NEEDED, PASSWORD, _good_password],
        render_kw={"autocomplete": "new-password"},
    )
    again = PasswordField(
        later(N_("The same again")),
        [NEEDED, EqualTo("password", later(N_("The two are not the same.")))],
        filters=[_normal],
        render_kw={"autocomplete": "new-password"},
    )


class ResetForm(_NewPassword):
    """A new password, without the old one."""


def _free_name(_: Any, field: Any) -> None:
    """Refuses what nobody can be called, with all else that is wrong."""
    if field.errors:
        return
    with database().read() as reading:
        if words := accounts.refusal(reading, field.data):
            raise StopValidation(sentence(words))


class NameForm(FlaskForm):
    """The name of a new account that has no password."""

    name = StringField(
        later(N_("Name")),
        [NEEDED, NAME, _free_name],
        filters=[_typed],
        render_kw={"autocomplete": "username"},
    )


class RegisterForm(_NewPassword):
    """A new account."""

    name = StringField(
        later(N_("Name")),
        [NEEDED, NAME, _free_name],
        filters=[_typed],
        render_kw={"autocomplete": "username"},
    )
    invitation = HiddenField()
    next = HiddenField()


class PasswordForm(_NewPassword):
    """A new password for who knows the present one."""

    present = PasswordField(
        later(N_("Present password")),
        [NEEDED, PASSWORD],
        filters=[_normal],
        render_kw={"autocomplete": "current-password"},
    )


class PasskeyForm(FlaskForm):
    """A passkey that a browser has made."""

    name = StringField(
        later(N_("Name")),
        [NEEDED, Length(max=60, message=later(N_("At most %(max)d characters.")))],
        render_kw={"autocomplete": "off"},
    )
    credential = HiddenField()


class MailForm(FlaskForm):
    """A mail address."""

    address = StringField(
        later(N_("Mail address")),
        [NEEDED, Length(max=254, message=later(N_("At most %(max)d characters.")))],
        filters=[_typed],
        render_kw={"autocomplete": "email", "inputmode": "email"},
    )


class ForgottenForm(FlaskForm):
    """Who forgot a password."""

    who = StringField(
        later(N_("Your name here, or your mail address")),
        [NEEDED, Length(max=254, message=later(N_("At most %(max)d characters.")))],
        filters=[_typed],
        render_kw={"autocomplete": "username"},
    )


class CodeForm(FlaskForm):
    """A code of an app, or a recovery code."""

    code = StringField(
        later(N_("Code")),
        [NEEDED, Length(max=40, message=later(N_("A code has at most %(max)d characters.")))],
        render_kw={"autocomplete": "one-time-code"},
    )


class _Boxes(SelectMultipleField):
    widget = ListWidget(prefix_label=False)
    option_widget = CheckboxInput()


class TokenForm(FlaskForm):
    """A new token; its scopes are those that its owner has."""

    name = StringField(
        later(N_("What it is for")),
        [NEEDED, Length(max=60, message=later(N_("At most %(max)d characters.")))],
        render_kw={"placeholder": later(N_("e.g. my bot's CI"))},
    )
    scopes = _Boxes(later(N_("It may")))


def _bot_name(_: Any, field: Any) -> None:
    """Refuses what no bot can be called, with all else that is wrong; none is the file's."""
    if field.data and not field.errors and (words := bot_names.refusal(field.data)):
        raise StopValidation(sentence(words))


class SubmitForm(FlaskForm):
    """A bot's files, and what is said of them."""

    file = FileField(later(N_("File")))
    folder = MultipleFileField(later(N_("Folder")))
    name = StringField(
        later(N_("The bot's name")), [NAME, _bot_name], render_kw={"autocomplete": "off"}
    )
    note = TextAreaField(
        later(N_("What is new in this version")),
        [Length(max=LONGEST_NOTE, message=later(N_("A note has at most %(max)d characters.")))],
        render_kw={"rows": 2},
    )
    team = SelectField(later(N_("Whose bot it is")), default="")
    ladder = SelectField(later(N_("Ladder")), validate_choice=False)
    test_first = BooleanField(later(N_("A strength test against the active version first")))
