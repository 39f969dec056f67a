"""Recovery codes as they are shown, once."""

from __future__ import annotations

from typing import Any

from flask import flash, redirect, render_template, url_for


def show_codes(codes: list[str], said: str) -> Any:
    """Shows recovery codes this once, if there are new ones, and says what was done."""
    if codes:
        return render_template("recovery_codes.html", codes=codes, said=said)
    flash(said)
    return redirect(url_for("safety.overview"))
