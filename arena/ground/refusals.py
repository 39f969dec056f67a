"""How it is said that something can't be done: in one sentence that says what to do."""

from __future__ import annotations


class Refusal(ValueError):
    """What can't be done as things stand."""


class NotThere(Refusal):
    """What is named is not there."""


class NotAllowed(Refusal):
    """What is not for whoever asks."""


class UnderMaintenance(Refusal):
    """What is asked for while nothing can be changed."""


class WrongField(Refusal):
    """What is said in one field can't be.

    Attributes:
        field: its name.
        words: what is wrong with it, for whoever sees it beside the field.
    """

    def __init__(self, field: str, words: str) -> None:
        super().__init__(f"{field}: {words}")
        self.field, self.words = field, words
