"""The forms of accounts and submissions, each field with the words that refuse it."""

from __future__ import annotations

import re
from typing import Any

from flask import current_app
from flask_security import PasswordUtil, Security
from flask_wtf import FlaskForm
from flask_wtf.file import FileField, MultipleFileField
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

PASSWORD_LENGTH_MAX = 200
PASSWORD_RULE = (
    f"{PASSWORD_LENGTH_MIN} to {PASSWORD_LENGTH_MAX} characters, and not with your name in it."
)

NEEDED = InputRequired("This is needed.")
NUMBER = InputRequired("Give a number.")
PASSWORD = Length(max=PASSWORD_LENGTH_MAX, message="A password has at most %(max)d characters.")
NAME = Length(max=40, message="A name has at most %(max)d characters.")


class WholeNumber(IntegerField):
    """An integer that a database can keep; more digits are no number that anybody means."""

    MOST_DIGITS = 18

    def process_formdata(self, valuelist: list[str]) -> None:
        """Reads what was sent.

        Raises:
            ValueError: it is no such number.
        """
        if valuelist and len(valuelist[0].strip()) > self.MOST_DIGITS:
            raise ValueError(f"A number has at most {self.MOST_DIGITS} digits here.")
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
        words.append("A password must not have the name in it.")
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
        "Name", [NEEDED, NAME], filters=[_typed], render_kw={"autocomplete": "username"}
    )
    password = PasswordField(
        "Password",
        [NEEDED, PASSWORD],
        filters=[_normal],
        render_kw={"autocomplete": "current-password"},
    )
    next = HiddenField()


class _NewPassword(FlaskForm):
    password = PasswordField(
        "New password",
        [NEEDED, PASSWORD, _good_password],
        render_kw={"autocomplete": "new-password"},
    )
    again = PasswordField(
        "The same again",
        [NEEDED, EqualTo("password", "The two are not the same.")],
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


class RegisterForm(_NewPassword):
    """A new account."""

    name = StringField(
        "Name", [NEEDED, NAME, _free_name], filters=[_typed], render_kw={"autocomplete": "username"}
    )
    invitation = HiddenField()
    next = HiddenField()


class PasswordForm(_NewPassword):
    """A new password for who knows the present one."""

    present = PasswordField(
        "Present password",
        [NEEDED, PASSWORD],
        filters=[_normal],
        render_kw={"autocomplete": "current-password"},
    )


class _Boxes(SelectMultipleField):
    widget = ListWidget(prefix_label=False)
    option_widget = CheckboxInput()


class TokenForm(FlaskForm):
    """A new token; its scopes are those that its owner has."""

    name = StringField(
        "What it is for",
        [NEEDED, Length(max=60, message="At most %(max)d characters.")],
        render_kw={"placeholder": "e.g. my bot's CI"},
    )
    scopes = _Boxes("It may")


def _bot_name(_: Any, field: Any) -> None:
    """Refuses what no bot can be called, with all else that is wrong; none is the file's."""
    if field.data and not field.errors and (words := bot_names.refusal(field.data)):
        raise StopValidation(sentence(words))


class SubmitForm(FlaskForm):
    """A bot's files, and what is said of them."""

    file = FileField("File")
    folder = MultipleFileField("Folder")
    name = StringField("The bot's name", [NAME, _bot_name], render_kw={"autocomplete": "off"})
    note = TextAreaField(
        "What is new in this version",
        [Length(max=LONGEST_NOTE, message="A note has at most %(max)d characters.")],
        render_kw={"rows": 2},
    )
    ladder = SelectField("Ladder", validate_choice=False)
    test_first = BooleanField("A strength test against the active version first")
