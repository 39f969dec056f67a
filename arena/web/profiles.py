"""The pages by which bots and people are described, renamed and deleted, and bots' pictures."""

from __future__ import annotations

import base64
from typing import Any
from urllib.parse import urlsplit

from flask import Blueprint, Response, abort, render_template, url_for
from flask_security import logout_user, verify_password
from flask_wtf.file import FileField
from werkzeug.datastructures import FileStorage
from wtforms import PasswordField, StringField, TextAreaField

from arena.bots import account_export
from arena.bots.account_deletion import DeleteUser
from arena.bots.deletion import DeleteBot
from arena.bots.pictures import FORMATS
from arena.bots.profile_deeds import DescribeBot, PictureBot, RenameBot
from arena.deeds import Done
from arena.ground.texts import cut
from arena.models import Bot, Picture, Scope, User
from arena.people.profiles import DescribeUser, RenameUser
from arena.web.deeds import REFUSED, DeedForm, add_deed, form_of, sent
from arena.web.downloads import Download
from arena.web.entering import sign_in_again
from arena.web.forms import later
from arena.web.identity import database, keep_to_itself, settings, signed_in
from arena.web.lookup import find_bot, find_person, reading
from arena.web.permissions import needs
from arena.web.unchanging import YEAR
from engine.translation import N_, gettext

profiles = Blueprint("profiles", __name__)
people = Blueprint("people", __name__)

LONGEST_SHOWN = 60
"""Characters of a link that are shown."""


class _Lines(TextAreaField):
    """Several words, each on a line or with spaces between them."""

    def process_formdata(self, valuelist: list[str]) -> None:
        """Reads them, as none of them has a space."""
        self.data = tuple(" ".join(valuelist).split())

    def _value(self) -> str:
        return "\n".join(self.data or ())


class _Words(StringField):
    """Several words, with spaces between them."""

    def process_formdata(self, valuelist: list[str]) -> None:
        """Reads words between commas or spaces."""
        self.data = tuple(" ".join(valuelist).replace(",", " ").split())

    def _value(self) -> str:
        return " ".join(self.data or ())


def description_field() -> TextAreaField:
    """A field of a form for a description."""
    return TextAreaField(later(N_("Description")), render_kw={"rows": 8, "maxlength": 4000})


def links_field() -> TextAreaField:
    """A field of a form for links, each on a line."""
    return _Lines(later(N_("Links")), render_kw={"rows": 3, "inputmode": "url"})


class _WithPicture(DeedForm):
    def said(self) -> dict[str, Any]:
        """What is filled in, as of every form, with the file as the deed takes it."""
        found = super().said()
        sent = found.pop("file", None)
        if isinstance(sent, FileStorage) and sent.filename:
            found["picture"] = base64.b64encode(sent.read()).decode()
        return found


_TAGS = _Words(later(N_("Tags")), render_kw={"autocapitalize": "none", "spellcheck": "false"})
DescribeBotForm = form_of(
    DescribeBot, description=description_field(), links=links_field(), tags=_TAGS
)
DescribeUserForm = form_of(DescribeUser, description=description_field(), links=links_field())
_PICTURE = form_of(PictureBot, file=FileField(later(N_("Picture"))))
PictureForm: type[DeedForm] = type("PictureForm", (_WithPicture, _PICTURE), {})
RenameBotForm, RenameUserForm = form_of(RenameBot), form_of(RenameUser)


def shortened(link: str) -> str:
    """A link as it is shown: without its scheme, and not longer than there is room for."""
    parts = urlsplit(link)
    words = parts.path if parts.scheme == "mailto" else link.partition("://")[2].rstrip("/")
    return cut(words, LONGEST_SHOWN)


@profiles.get("/pictures/<digest>.webp")
def portrait(digest: str) -> Response:
    """A bot's picture; another one has another address."""
    with reading() as session:
        found = session.get(Picture, digest)
        if found is None:
            abort(404, gettext("There is no such picture."))
        answer = Response(found.content, mimetype="image/webp")
    answer.set_etag(digest[:24])
    answer.cache_control.public, answer.cache_control.max_age = True, YEAR
    answer.cache_control.immutable = True
    return answer


@profiles.get("/bots/<name>/profile")
@needs(Scope.SUBMIT)
def change_bot(name: str) -> Response:
    """The forms by which a bot is described, renamed and deleted."""
    return keep_to_itself(Response(_bot_page(name)))


def _bot_page(name: str, form: DeedForm | None = None, problem: str = "") -> str:
    with reading() as session:
        bot, account = find_bot(session, name), signed_in()
        if bot.deleted or not (account.owns(bot) or account.may(Scope.ADMIN)):
            abort(403, gettext("The bot %(bot)s is not yours.", bot=bot.name))
        return render_template(
            "bot_profile.html",
            bot=bot,
            forms=_forms(form, bot),
            problem=problem,
            formats=", ".join(f"image/{one.lower()}" for one in FORMATS),
        )


def _forms(sent: DeedForm | None, of: Bot | User) -> dict[str, DeedForm]:
    """The forms of a page, each filled in with what is there; what was sent as it was."""
    kinds: dict[str, type[DeedForm]] = {
        "describe": DescribeUserForm,
        "rename": RenameUserForm,
        "delete": DeleteUserForm,
    }
    if isinstance(of, Bot):
        kinds = {"describe": DescribeBotForm, "picture": PictureForm, "rename": RenameBotForm}
    found = {}
    for key, kind in kinds.items():
        if isinstance(sent, kind):
            found[key] = sent
            continue
        found[key] = kind(formdata=None)
        if key == "describe":
            found[key]["description"].data = of.description
            found[key]["links"].data = tuple(of.links)
        if key == "describe" and isinstance(of, Bot):
            found[key]["tags"].data = tuple(one.tag for one in of.tags)
    return found


@people.get("/people/<name>/profile")
@needs(Scope.SUBMIT)
def change(name: str) -> Response:
    """The forms by which one's account is described, renamed and deleted."""
    return keep_to_itself(Response(_person_page(name)))


def _person_page(name: str, form: DeedForm | None = None, problem: str = "") -> str:
    with reading() as session:
        user, account = find_person(session, name), signed_in()
        if user.id != account.id and not account.may(Scope.ADMIN):
            abort(403, gettext("The account %(user)s is not yours.", user=user.name))
        return render_template(
            "person_profile.html", user=user, forms=_forms(form, user), problem=problem
        )


def _bot(done: Done, **_: str) -> str:
    return url_for("bots.bot", name=done.answer.name)


def _person(done: Done, **_: str) -> str:
    return url_for("directory.person", name=done.answer.name)


def _again(form: DeedForm, problem: str, name: str) -> str:
    return _bot_page(name, form, problem)


def _person_again(form: DeedForm, problem: str, name: str) -> str:
    return _person_page(name, form, problem)


add_deed(
    profiles, "/bots/<name>/describe", DescribeBot, then=_bot, again=_again, form=DescribeBotForm
)
add_deed(profiles, "/bots/<name>/picture", PictureBot, then=_bot, again=_again, form=PictureForm)
add_deed(profiles, "/bots/<name>/rename", RenameBot, then=_bot, again=_again, form=RenameBotForm)


def _own_page(_: Done, **__: str) -> str:
    return url_for("accounts.account")


add_deed(profiles, "/bots/<name>/delete", DeleteBot, then=_own_page)
add_deed(
    people,
    "/people/<name>/describe",
    DescribeUser,
    then=_person,
    again=_person_again,
    form=DescribeUserForm,
)
add_deed(
    people,
    "/people/<name>/rename",
    RenameUser,
    then=_person,
    again=_person_again,
    form=RenameUserForm,
)


class _DeleteUserForm(DeedForm):
    password = PasswordField(later(N_("Password")), render_kw={"autocomplete": "current-password"})


DeleteUserForm: type[DeedForm] = type("DeleteUserForm", (_DeleteUserForm, form_of(DeleteUser)), {})


@people.post("/people/<name>/delete")
@needs(Scope.SUBMIT)
def delete(name: str) -> Any:
    """Deletes an account, for who signed in lately; one's own for who knows its password."""
    if (again := sign_in_again(url_for("people.change", name=name))) is not None:
        return again
    form, account = DeleteUserForm(), signed_in()
    with reading() as session:
        user = find_person(session, name)
        stored, own = user.password, user.id == account.id
    if own and stored and not verify_password(form["password"].data or "-", stored):
        form.validate()
        form["password"].errors = [gettext("This is not your password.")]
        return _person_page(name, form), REFUSED
    answer = sent(DeleteUser, form, then=_away, again=_person_again, there={"name": name})
    if own and getattr(answer, "status_code", 0) == 302:
        logout_user()
    return answer


def _away(_: Done, **__: str) -> str:
    return url_for("front.first_page")


@people.get("/people/<name>/export")
@needs(Scope.READ)
def export(name: str) -> Response:
    """All that is kept of a person's own, as one ZIP, for them and administrators."""
    with reading() as session:
        user, account = find_person(session, name), signed_in()
        if user.id != account.id and not account.may(Scope.ADMIN):
            abort(403, gettext("The account %(user)s is not yours.", user=user.name))
        number, named = user.id, user.name
    parts = account_export.export(database(), settings().bundles, number)
    answer = Response(Download(parts), mimetype="application/zip")
    answer.headers.set("Content-Disposition", "attachment", filename=f"{named}.zip")
    return keep_to_itself(answer)


FILTERS = {"shortened": shortened}
