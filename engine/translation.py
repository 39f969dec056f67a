"""Texts in the language of whoever reads them.

Code says each text in English, as the message that a translation is looked for by; what stands at
a named place of it, as ``%(name)s``, is put in afterwards, so that a translation may have the
places in another order. Who serves a reader has a translation spoken to them (`speaking`); without
one they read English. What is kept or sent to programs, such as records, notes in logs and what
workers report, is said without these functions: it is in English, whoever reads it later.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from gettext import NullTranslations


@dataclass(frozen=True, slots=True)
class Translation:
    """What is spoken to somebody."""

    language: str
    """The tag of the language (BCP 47): ``it``."""
    catalogue: NullTranslations
    """Its texts by the messages; of one that it has no text for, the message."""


ENGLISH = Translation("en", NullTranslations())
_spoken: ContextVar[Translation] = ContextVar("spoken", default=ENGLISH)


def spoken() -> Translation:
    """What is spoken just now."""
    return _spoken.get()


def speak(translation: Translation) -> None:
    """Has a translation spoken from now on, in this thread or task."""
    _spoken.set(translation)


@contextmanager
def speaking(translation: Translation) -> Iterator[None]:
    """Has a translation spoken for a while."""
    before = _spoken.set(translation)
    try:
        yield
    finally:
        _spoken.reset(before)


def gettext(message: str, /, **places: object) -> str:
    """A text, in the language that is spoken.

    Args:
        message: in English; a per cent sign in it is written twice.
        places: what stands at ``%(name)s``.
    """
    return spoken().catalogue.gettext(message) % places


def ngettext(one: str, many: str, number: float, /, **places: object) -> str:
    """A text about a number of things; what is no whole number goes as several.

    Args:
        one, many: in English, for one thing and for any other number of them.
        number: how many; it stands at no place by itself.
    """
    return spoken().catalogue.ngettext(one, many, whole(number)) % places


def whole(number: float) -> int:
    """The whole number by which catalogues are asked for a text about a number of things."""
    return int(number) if float(number).is_integer() else 2


def pgettext(context: str, message: str, /, **places: object) -> str:
    """A text whose English words mean several things.

    Args:
        context: which of them is meant: ``a kind of game``.
    """
    return spoken().catalogue.pgettext(context, message) % places


def translated(text: str) -> str:
    """A text without places that was declared elsewhere, such as the help of a command."""
    return spoken().catalogue.gettext(text) if text else ""


def N_(message: str, /) -> str:
    """Marks a text that `gettext` will be asked for later, such as one in a table."""
    return message
