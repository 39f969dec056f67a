"""What people are told: the page of it, what they follow, how they are told, and their hooks."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from flask import Blueprint, abort, redirect, render_template, request, url_for
from sqlalchemy.orm import joinedload
from werkzeug.wrappers import Response
from wtforms import SelectChoice, SelectField

from arena.bots.follow_deeds import (
    FollowBot,
    FollowCompetition,
    UnfollowBot,
    UnfollowCompetition,
)
from arena.bots.sharing import belongs_to
from arena.deeds import Done
from arena.ground.catalogues import languages, name_of
from arena.ground.db import LARGEST_ID
from arena.models import (
    Bot,
    Competition,
    Delivery,
    Follow,
    HookFormat,
    MailChoice,
    Notification,
    Scope,
    User,
    Wishes,
)
from arena.people import audience, hooks
from arena.people.hooks import AddHook, RemoveHook, SendAgain, TryHook, hooks_of
from arena.people.notification_deeds import ChooseTold, ReadNotifications
from arena.people.notification_deeds import make_feed as new_feed
from arena.people.notifications import TOPICS, text_of, told_to, unread, wishes_of
from arena.signing import unsubscribes
from arena.web.deeds import DeedForm, add_deed, form_of, sent
from arena.web.forms import later
from arena.web.identity import current, database, keep_to_itself, own_address, settings, signed_in
from arena.web.lookup import reading
from arena.web.permissions import by_proof, demand_session, needs
from arena.web.present import open_in_maintenance
from engine.translation import N_, gettext, translated

pages = Blueprint("notifications", __name__)

SHOWN, DELIVERIES_SHOWN = 50, 50
"""How many notifications, and messages to a hook, a page shows."""
WHEN = {
    MailChoice.NEVER: N_("no mail"),
    MailChoice.AT_ONCE: N_("at once"),
    MailChoice.DAILY: N_("once a day"),
}

pages.after_request(keep_to_itself)


def unread_here() -> int:
    """How much of what they were told the reader has not seen; 0 for who is not signed in."""
    account = current()
    if account is None:
        return 0
    with reading() as session:
        return unread(session, account.id)


def hears_of(subject: Bot | Competition) -> bool:
    """Whether the reader hears of a bot or a competition."""
    account = current()
    if account is None:
        return False
    with reading() as session:
        return audience.hears(session, account.id, subject)


@pages.get("/notifications")
@needs(Scope.READ)
def own_notifications() -> str:
    """What one was told, the newest first; ``?before=`` is the page after."""
    before = request.args.get("before", type=int)
    if before is not None:
        before = max(0, min(before, LARGEST_ID))
    with reading() as session:
        found = told_to(session, signed_in().id, before=before, count=SHOWN + 1)
    shown = found[:SHOWN]
    return render_template(
        "notifications.html",
        shown=[(one, text_of(one)) for one in shown],
        following_page=shown[-1].id if len(found) > SHOWN else None,
        newest=shown[0].id if shown else None,
        unread=any(one.read is None for one in shown),
    )


@pages.get("/notifications/<int:number>")
@needs(Scope.READ)
def opened(number: int) -> Response:
    """Goes to the page that a notification is about."""
    with reading() as session:
        found = session.get(Notification, number)
        if found is None or found.user_id != signed_in().id:
            abort(404, gettext("You were told nothing of the number %(number)s.", number=number))
        address = own_address(found.address) or url_for("notifications.own_notifications")
    return redirect(address)


@pages.get("/following")
@needs(Scope.READ)
def listing() -> str:
    """What one hears of: what is one's own, and what one follows."""
    who = signed_in()
    with reading() as session:
        own = session.scalars(sa.select(Bot).where(belongs_to(who.id)).order_by(Bot.lower_name))
        query = (
            sa.select(Follow)
            .where(Follow.user_id == who.id)
            .order_by(Follow.id.desc())
            .options(joinedload(Follow.bot), joinedload(Follow.competition))
        )
        chosen = session.scalars(query).all()
        muted = {one.bot_id for one in chosen if one.muted and one.bot_id}
        return render_template(
            "following.html",
            own=[(bot, bot.id not in muted) for bot in own],
            bots=[one for one in chosen if one.bot is not None and not one.muted],
            competitions=[one for one in chosen if one.competition is not None],
        )


def _back(done: Done, **_: str) -> str:
    """The page of what somebody follows now, or no more."""
    there = own_address(request.form.get("next"))
    if there is not None:
        return there
    page = "bots.bot" if done.answer.kind == "bot" else "competitions.competition"
    return url_for(page, name=done.answer.name)


add_deed(pages, "/bots/<name>/follow", FollowBot, then=_back)
add_deed(pages, "/bots/<name>/unfollow", UnfollowBot, then=_back)
add_deed(
    pages,
    "/competitions/<name>/follow",
    FollowCompetition,
    then=_back,
    endpoint="follow_competition",
)
add_deed(
    pages,
    "/competitions/<name>/unfollow",
    UnfollowCompetition,
    then=_back,
    endpoint="unfollow_competition",
)


def _there(_: Done, **__: Any) -> str:
    return url_for("notifications.own_notifications")


add_deed(pages, "/notifications/read", ReadNotifications, then=_there)


# How one is told.


def _choices_form() -> type[DeedForm]:
    """The form of choices, but for the topics, which are boxes of those that are heard."""
    when = [SelectChoice(str(one), later(words)) for one, words in WHEN.items()]
    spoken = [SelectChoice(one, name_of(one)) for one in languages()]
    return type(
        "ChoicesForm",
        (DeedForm,),
        {
            "mail": SelectField(later(N_("By mail")), choices=when, validate_choice=False),
            "language": SelectField(
                later(N_("Language of mail and of Discord")), choices=spoken, validate_choice=False
            ),
        },
    )


@pages.get("/notifications/choices")
@needs(Scope.READ)
def choices() -> str:
    """Shows what one hears of, and how one is told."""
    return _choices(_choices_form()())


def _choices(form: DeedForm, problem: str = "", feed: str = "") -> str:
    with reading() as session:
        user = session.get_one(User, signed_in().id)
        wishes = wishes_of(session, user.id)
        if request.method == "GET" or feed:
            form.mail.data, form.language.data = str(wishes.mail), user.language or "en"
        silenced = wishes.silenced
        if request.method == "POST" and not feed:
            heard = set(request.form.getlist("hears"))
            silenced = [topic for topic in TOPICS if topic not in heard]
        return render_template(
            "notification_choices.html",
            form=form,
            problem=problem,
            topics=[
                (topic, translated(words), topic not in silenced) for topic, words in TOPICS.items()
            ],
            address=user.mail,
            sends_mail=bool(settings().mail),
            has_feed=wishes.feed_digest is not None,
            feed=feed,
        )


@pages.post("/notifications/choices")
@needs(Scope.SUBMIT)
def choose() -> Any:
    """Changes of what one hears, and how."""
    demand_session()
    heard = set(request.form.getlist("hears"))
    silenced = tuple(str(topic) for topic in TOPICS if topic not in heard)
    form = _choices_form()()
    return sent(
        ChooseTold,
        form,
        then=lambda _: url_for("notifications.choices"),
        again=_choices,
        silenced=silenced,
    )


@pages.post("/notifications/feed")
@needs(Scope.SUBMIT)
def make_feed() -> str:
    """Makes the address of one's own feed, and shows it this once."""
    demand_session()
    with database().begin() as session:
        secret = new_feed(session, signed_in().by())
    address = url_for("news.own_feed", secret=secret, _external=True)
    return _choices(_choices_form()(), feed=address)


@pages.route("/unsubscribe/<token>", methods=["GET", "POST"])
@by_proof
@open_in_maintenance
def unsubscribe(token: str) -> str:
    """Ends the letters to who got this address in one; the address is the proof (RFC 8058)."""
    with reading() as session:
        person = unsubscribes(session, token)
    if person is None:
        abort(404, gettext("This is no address that the arena wrote in a letter."))
    if request.method == "POST":
        with database().begin() as session:
            wishes = session.get(Wishes, person)
            if wishes is not None:
                wishes.mail = MailChoice.NEVER
            its = Notification.user_id == person, Notification.mail_waits
            session.execute(sa.update(Notification).where(*its).values(mail_waits=False))
    return render_template("unsubscribe.html", done=request.method == "POST", token=token)


# Hooks.


@pages.get("/hooks")
@needs(Scope.READ)
def own_hooks() -> str:
    """One's hooks, and a form for another."""
    demand_session()
    return _hooks(form_of(AddHook)())


def _hooks(form: DeedForm, problem: str = "") -> str:
    with reading() as session:
        return render_template(
            "hooks.html",
            hooks=hooks_of(session, signed_in().id),
            form=form,
            problem=problem,
            most=hooks.MOST,
            are_sent=settings().hooks != "nobody",
        )


def _hook_page(done: Done, **_: Any) -> str:
    return url_for("notifications.hook", number=done.answer.id)


@pages.get("/hooks/<int:number>")
@needs(Scope.READ)
def hook(number: int) -> str:
    """A hook: its secret, and what was sent there."""
    demand_session()
    with reading() as session:
        found = hooks.find_hook(session, number, signed_in().by())
        query = (
            sa.select(Delivery)
            .where(Delivery.hook_id == found.id)
            .order_by(Delivery.id.desc())
            .limit(DELIVERIES_SHOWN)
            .options(joinedload(Delivery.notification))
        )
        shown = [
            (one, text_of(one.notification) if one.notification else gettext("a test"))
            for one in session.scalars(query)
        ]
        return render_template(
            "hook.html", hook=found, shown=shown, is_discord=found.format is HookFormat.DISCORD
        )


@pages.post("/hooks")
@needs(Scope.SUBMIT)
def add_hook() -> Any:
    """Adds a hook."""
    demand_session()
    return sent(AddHook, form_of(AddHook)(), then=_hook_page, again=_hooks)


def _hooks_page(_: Done, **__: Any) -> str:
    return url_for("notifications.own_hooks")


add_deed(pages, "/hooks/<int:number>/remove", RemoveHook, then=_hooks_page)
add_deed(pages, "/hooks/<int:number>/test", TryHook, then=_hook_page)
add_deed(pages, "/hooks/<int:number>/deliveries/<int:delivery>/again", SendAgain, then=_hook_page)
