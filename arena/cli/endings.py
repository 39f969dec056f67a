"""How games end, as records have it, in the language of whoever reads."""

from __future__ import annotations

from engine.game import Termination
from engine.translation import N_, translated

WORDS = {
    Termination.NORMAL: N_("normal"),
    Termination.REPETITION: N_("repetition"),
    Termination.PLY_LIMIT: N_("plylimit"),
    Termination.ILLEGAL: N_("illegal"),
    Termination.TIMEOUT: N_("timeout"),
    Termination.CRASH: N_("crash"),
    Termination.MEMORY: N_("memory"),
    Termination.PROTOCOL: N_("protocol"),
    Termination.START: N_("start"),
    Termination.RESIGN: N_("resign"),
    Termination.VOID: N_("void"),
}


def ending_words(ending: Termination) -> str:
    """How a game ended, or a seat left it, in a word."""
    return translated(WORDS[ending])
