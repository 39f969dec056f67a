"""Mail addresses at the pages: said and proven, and a new password by a letter.

Links in letters lead to the address of the settings, and never to the one that a request names:
anybody can ask under any name.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any

from flask import Blueprint, abort, flash, redirect, render_template, request, url_for
from itsdangerous import BadData

from arena.audit import Actor
from arena.ground.catalogues import translation
from arena.ground.refusals import Refusal
from arena.models import Scope, User
from arena.people import addresses
from arena.people.outbox import add_mail
from arena.web.deeds import REFUSED
from arena.web.entering import recently
from arena.web.forms import ForgottenForm, MailForm
from arena.web.identity import database, keep_to_itself, settings, signed_in, signer
from arena.web.lookup import reading
from arena.web.permissions import anybody, demand_session, needs
from arena.web.words import sentence
from engine.translation import ENGLISH, gettext, speaking

mail = Blueprint("mail", __name__)

mail.after_request(keep_to_itself)

USE = "mail address"
PROVEN_SECONDS = 3 * 24 * 60 * 60
ANSWER_SECONDS = 0.3
"""How long it takes at least to answer who forgot a password: the time tells nothing either."""


def _demand_mail() -> None:
    if not settings().mail:
        abort(404, gettext("This arena sends no mail: ask an administrator of it."))


def _page(endpoint: str, **values: Any) -> str:
    """A page's address, for a letter."""
    return settings().pages + url_for(endpoint, **values)


@mail.route("/account/mail", methods=["GET", "POST"])
@needs(Scope.READ)
@recently
def change() -> Any:
    """Takes a mail address, to which a letter goes that proves it."""
    _demand_mail()
    who, form = signed_in(), MailForm()
    if form.validate_on_submit():
        now = datetime.now(UTC)
        try:
            with database().begin() as writing:
                user = writing.get_one(User, who.id)
                addresses.want(writing, who.actor, user, form.address.data, now)
                wanted = user.mail_wanted or ""
                token = str(signer(USE).dumps([who.id, wanted, int(time.time())]))
                text = gettext(
                    "%(address)s is to be the mail address of the account %(name)s. If that is "
                    "you, open this page where you are signed in, within three days:",
                    address=wanted,
                    name=who.name,
                )
                link, otherwise = _page("mail.confirm", token=token), gettext("If not, do nothing.")
                subject = gettext("Is this your mail address?")
                add_mail(writing, wanted, subject, f"{text}\n\n{link}\n\n{otherwise}\n", now)
        except Refusal as error:
            form.address.errors = [sentence(error)]
        else:
            flash(
                gettext(
                    "A letter to %(address)s is on its way: open the page that it names.",
                    address=wanted,
                )
            )
            return redirect(url_for("safety.overview"))
    with reading() as session:
        user = session.get_one(User, who.id)
        page = render_template("mail.html", form=form, user=user)
    return page, REFUSED if form.errors else 200


@mail.post("/account/mail/remove")
@needs(Scope.READ)
@recently
def remove() -> Any:
    """Takes the mail address away."""
    who = signed_in()
    with database().begin() as writing:
        user = writing.get_one(User, who.id)
        addresses.forget(writing, who.actor, user, datetime.now(UTC))
    flash(gettext("There is no mail address of yours here any more."))
    return redirect(url_for("safety.overview"))


@mail.route("/account/mail/<token>", methods=["GET", "POST"])
@needs(Scope.READ)
def confirm(token: str) -> Any:
    """Proves a mail address by what its letter brought, once that is said to be meant."""
    demand_session()
    who = signed_in()
    try:
        whose, address, issued = signer(USE).loads(token)
    except BadData:
        whose, address, issued = 0, "", 0
    if issued < time.time() - PROVEN_SECONDS:
        abort(403, gettext("This letter is too old, or was never sent from here: ask for another."))
    if whose != who.id:
        words = gettext("This letter is for another account than yours, %(name)s.", name=who.name)
        abort(403, words)
    if request.method == "GET":
        return render_template("confirm_mail.html", address=address)
    try:
        with database().begin() as writing:
            user = writing.get_one(User, who.id)
            if user.mail != address:  # who sends it twice is told the same
                addresses.confirm(writing, who.actor, user, address, datetime.now(UTC))
    except Refusal as error:
        abort(409, sentence(error))
    flash(gettext("%(address)s is your mail address now.", address=address))
    return redirect(url_for("safety.overview"))


@mail.route("/forgotten", methods=["GET", "POST"])
@anybody
def forgotten() -> Any:
    """Sends a letter to who forgot a password; says the same whether there is such an account."""
    begun = time.monotonic()
    _demand_mail()
    form = ForgottenForm()
    if form.validate_on_submit():
        _send_links(form.who.data)
        time.sleep(max(0.0, begun + ANSWER_SECONDS - time.monotonic()))
        return render_template("forgotten.html", form=form, is_sent=True)
    page = render_template("forgotten.html", form=form, is_sent=False)
    return page, REFUSED if form.errors else 200


def _send_links(who: str) -> None:
    now = datetime.now(UTC)
    with database().begin() as writing:
        for user in addresses.forgetful(writing, who, now):
            by = Actor(None, user.name, request.remote_addr or "")
            link = _page("accounts.reset", secret=addresses.reset_link(writing, by, user, now))
            with speaking(translation(user.language or ENGLISH.language)):
                text = gettext(
                    "By this page you set a new password for the account %(name)s, once, within "
                    "an hour:",
                    name=user.name,
                )
                otherwise = gettext(
                    "If you did not ask for it, do nothing: the password stays as it is."
                )
                subject = gettext("A new password for %(name)s", name=user.name)
            assert user.mail is not None
            add_mail(writing, user.mail, subject, f"{text}\n\n{link}\n\n{otherwise}\n", now)
