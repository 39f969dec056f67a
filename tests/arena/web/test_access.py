"""Who may see what: every route and method, for each kind of person. A new route must be added.

The table says what each of them gets of the site's example of a route. 200 and 302 are what the
route does for those who may, 401 and 403 that it refuses. Somebody who is not signed in is sent
to do so (302 to /sign-in, written ASK) where a page was asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask
from flask.testing import FlaskClient

from arena.audit import ARENA
from arena.bots import teams
from arena.cli.bundle_intake import BundleIntake
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import Bot, BotVersion, Check, Entrant, Ladder, Picture, Role, Scope, Team, User
from arena.people.accounts import add_token
from arena.sittings import Person, Wish, begin
from arena.web.app import create_app
from arena.web.docs import guides_in
from engine.games import GAMES
from tests.arena.web.conftest import Site
from tests.arena.web.dumped import lay_down
from tests.arena.web.signing_in import Browser, now, person, signed_in

PEOPLE = ("anonymous", "other", "owner", "organiser", "administrator")
ASK = "ask"
ALL = (200,) * 5
SIGNED_IN = (ASK, 200, 200, 200, 200)
OWNERS = (ASK, 403, 200, 403, 403)
OWNERS_AND_ADMINISTRATORS = (ASK, 403, 200, 403, 200)
API_OWNERS = (401, 403, 200, 403, 403)
ORGANISERS = (ASK, 403, 403, 200, 200)
ADMINISTRATORS = (ASK, 403, 403, 403, 200)
# A team without bots, of the owner's.
TEAMS = (404, 404, 200, 404, 200)
# A form that is sent empty: it comes back (422), or is refused for what it lacks (400, 404).
ROUTES: dict[tuple[str, str], tuple[str, tuple[Any, ...]]] = {
    ("GET", "static"): ("/static/arena.css", ALL),
    ("GET", "healthz"): ("/healthz", ALL),
    ("GET", "favicon"): ("/favicon.ico", ALL),
    ("GET", "security_txt"): ("/.well-known/security.txt", (404,) * 5),
    ("GET", "robots"): ("/robots.txt", ALL),
    ("GET", "metrics.scrape"): ("/metrics", ALL),
    ("GET", "metrics.readyz"): ("/readyz", (503,) * 5),  # no recorder is there
    ("GET", "operation.overview"): ("/operator", ORGANISERS),
    ("GET", "operation.overview_json"): ("/operator.json", (401, *ORGANISERS[1:])),
    ("POST", "operation.decide"): ("/operator/matches", (401, 403, 403, 400, 400)),
    ("POST", "operation.change_state"): ("/operator/ladders/x", (401, 403, 403, 400, 400)),
    ("POST", "operation.readmit"): ("/operator/workers/readmit", (401, 403, 403, 422, 422)),
    ("POST", "operation.forget"): ("/operator/workers/forget", (401, 403, 403, 422, 422)),
    ("GET", "bundles.fetch"): ("/bundles/{digest}?token=none", (403,) * 5),
    ("GET", "bundles.fetch_large"): ("/bundles/{digest}/{digest}?token=none", (403,) * 5),
    ("GET", "match_sets.listing"): ("/operator/match-sets", ORGANISERS),
    ("GET", "match_sets.one"): ("/operator/match-sets/{set}", ORGANISERS),
    ("POST", "match_sets.choose"): ("/operator/match-sets/choose", (401, 403, 403, 422, 422)),
    ("POST", "match_sets.decide"): ("/operator/match-sets/99/decide", (401, 403, 403, 404, 404)),
    ("GET", "setting_pages.overview"): ("/operator/settings", ADMINISTRATORS),
    ("POST", "setting_pages.change"): ("/operator/settings/x/change", (401, 403, 403, 403, 404)),
    ("POST", "setting_pages.maintenance"): ("/operator/maintenance", (401, 403, 403, 403, 302)),
    ("GET", "runtimes.listing"): ("/docs/runtimes", ALL),
    ("GET", "runtimes.listing_json"): ("/runtimes.json", ALL),
    ("GET", "runtimes.lock"): ("/runtimes/nothing/lock", (404,) * 5),
    ("GET", "runtimes.fetch"): ("/runtimes/{digest}?token=none", (403,) * 5),
    ("GET", "front.first_page"): ("/", ALL),
    ("GET", "front.now"): ("/now", ALL),
    ("GET", "front.watch"): ("/watch", ALL),
    ("GET", "ladders.listing"): ("/ladders", ALL),
    ("GET", "ladders.leaderboard"): ("/ladders/ladder-0", ALL),
    ("GET", "ladders.leaderboard_part"): ("/ladders/ladder-0/board", ALL),
    ("GET", "ladders.final_json"): ("/ladders/ladder-0/final.json", (404,) * 5),  # it is open
    ("GET", "ladders.final_csv"): ("/ladders/ladder-0/final.csv", (404,) * 5),
    ("GET", "ladders.rounds_json"): ("/ladders/ladder-0/rounds.json", ALL),
    ("GET", "ladders.rounds_csv"): ("/ladders/ladder-0/rounds.csv", ALL),
    ("GET", "dates.of"): ("/competitions/ladder-0/dates", ORGANISERS),
    ("POST", "dates.of"): ("/competitions/ladder-0/dates", (401, 403, 403, 422, 422)),
    ("POST", "dates.remove"): ("/competitions/ladder-0/dates/remove", (401, 403, 403, 422, 422)),
    ("POST", "dates.bosses"): ("/competitions/ladder-0/bosses", (401, 403, 403, 422, 422)),
    ("GET", "courses.of"): ("/ladders/ladder-0/course", (404, 404, 404, 200, 200)),
    ("GET", "courses.grades"): ("/ladders/ladder-0/course.csv", (ASK, 403, 403, 404, 404)),
    ("GET", "courses.archive"): ("/ladders/ladder-0/course.tar", (ASK, 403, 403, 404, 404)),
    ("GET", "courses.alike"): ("/ladders/ladder-0/course/alike", (ASK, 403, 403, 404, 404)),
    ("POST", "courses.set"): ("/ladders/ladder-0/course/set", (401, 403, 403, 422, 422)),
    ("POST", "courses.mark"): ("/ladders/ladder-0/course/mark", (401, 403, 403, 404, 404)),
    ("POST", "courses.publish"): ("/ladders/ladder-0/course/publish", (401, 403, 403, 404, 404)),
    ("POST", "courses.choose"): ("/ladders/ladder-0/course/choose", (401, 403, 403, 422, 422)),
    ("GET", "api.get_course"): ("/api/v1/ladders/ladder-0/course", (404,) * 5),
    ("GET", "api.list_alike"): (
        "/api/v1/ladders/ladder-0/course/alike",
        (401, 403, 403, 404, 404),
    ),
    ("POST", "api.set_course"): ("/api/v1/ladders/ladder-0/course", (401, 403, 403, 415, 415)),
    ("POST", "api.mark_course"): (
        "/api/v1/ladders/ladder-0/course/mark",
        (401, 403, 403, 404, 404),
    ),
    ("POST", "api.publish_marks"): (
        "/api/v1/ladders/ladder-0/course/publish",
        (401, 403, 403, 415, 415),
    ),
    ("POST", "api.choose_hand_in"): (
        "/api/v1/ladders/ladder-0/course/choose",
        (401, 403, 403, 415, 415),
    ),
    ("GET", "crosstables.crosstable"): ("/ladders/ladder-0/crosstable", ALL),
    ("GET", "ladders.leaderboard_json"): ("/ladders/ladder-0.json", ALL),
    ("GET", "ladders.leaderboard_csv"): ("/ladders/ladder-0.csv", ALL),
    ("GET", "truth.accuracy"): ("/ladders/ladder-0/accuracy", ALL),
    ("GET", "truth.accuracy_json"): ("/ladders/ladder-0/accuracy.json", ALL),
    ("GET", "members.listing"): ("/competitions/ladder-0/members", ORGANISERS),
    ("POST", "members.add"): ("/competitions/ladder-0/members/add", (401, 403, 403, 422, 422)),
    ("POST", "members.remove"): (
        "/competitions/ladder-0/members/remove",
        (401, 403, 403, 422, 422),
    ),
    ("POST", "members.import_names"): (
        "/competitions/ladder-0/members/import",
        (401, 403, 403, 422, 422),
    ),
    ("POST", "members.visibility"): (
        "/competitions/ladder-0/visibility",
        (401, 403, 403, 422, 422),
    ),
    ("POST", "members.who"): ("/competitions/ladder-0/who", (401, 403, 403, 422, 422)),
    ("POST", "members.reveal"): ("/competitions/nothing/reveal", (401, 403, 403, 404, 404)),
    ("POST", "members.join_code"): ("/competitions/nothing/join-code", (401, 403, 403, 404, 404)),
    ("GET", "members.join_form"): ("/join/aaaa-bbbb-cccc", SIGNED_IN),
    ("POST", "members.join"): ("/join", (401, 422, 422, 422, 422)),
    ("POST", "members.leave"): ("/competitions/nothing/leave", (401, 404, 404, 404, 404)),
    ("GET", "bots.bot"): ("/bots/bot-0", ALL),
    ("GET", "news.feed"): ("/bots/bot-0/feed.atom", ALL),
    ("GET", "directory.bots"): ("/bots", ALL),
    ("GET", "directory.people"): ("/people", ALL),
    ("GET", "directory.person"): ("/people/{person}", ALL),
    ("GET", "directory.search"): ("/search?q=bot", ALL),
    ("GET", "teams.listing"): ("/teams", ALL),
    ("GET", "teams.team"): ("/teams/{team}", TEAMS),
    ("GET", "teams.change"): ("/teams/{team}/profile", (ASK, *TEAMS[1:])),
    ("POST", "teams.found"): ("/teams", (401, 422, 422, 422, 422)),
    ("GET", "teams.join_form"): ("/join-team/aaaa-bbbb-cccc", SIGNED_IN),
    ("POST", "teams.join"): ("/join-team", (401, 422, 422, 422, 422)),
    ("POST", "teams.describe"): ("/teams/{team}/describe", (401, 403, 302, 403, 302)),
    ("POST", "teams.rename"): ("/teams/{team}/rename", (401, 404, 422, 404, 422)),
    ("POST", "teams.join_code"): ("/teams/nobody/join-code", (401, 404, 404, 404, 404)),
    ("POST", "teams.leave"): ("/teams/nobody/leave", (401, 404, 404, 404, 404)),
    ("POST", "teams.remove"): ("/teams/nobody/remove", (401, 422, 422, 422, 422)),
    ("POST", "teams.captain"): ("/teams/nobody/captain", (401, 422, 422, 422, 422)),
    ("POST", "teams.dissolve"): ("/teams/nobody/dissolve", (401, 404, 404, 404, 404)),
    ("POST", "submissions.give"): ("/bots/bot-0/give", (401, 422, 422, 422, 422)),
    ("GET", "api.list_teams"): ("/api/v1/teams", ALL),
    ("GET", "api.get_team"): ("/api/v1/teams/{team}", TEAMS),
    ("POST", "api.found_team"): ("/api/v1/teams", (401, 403, 403, 403, 415)),
    ("POST", "api.join_team"): ("/api/v1/teams/join", (401, 403, 403, 403, 415)),
    ("POST", "api.describe_team"): ("/api/v1/teams/nobody/describe", (401, 403, 403, 403, 415)),
    ("POST", "api.rename_team"): ("/api/v1/teams/nobody/rename", (401, 403, 403, 403, 415)),
    ("POST", "api.renew_team_code"): ("/api/v1/teams/nobody/join-code", (401, 403, 403, 403, 415)),
    ("POST", "api.leave_team"): ("/api/v1/teams/nobody/leave", (401, 404, 404, 404, 404)),
    ("POST", "api.remove_team_member"): ("/api/v1/teams/nobody/remove", (401, 403, 403, 403, 415)),
    ("POST", "api.hand_over_team"): ("/api/v1/teams/nobody/captain", (401, 403, 403, 403, 415)),
    ("POST", "api.dissolve_team"): ("/api/v1/teams/nobody/dissolve", (401, 403, 403, 403, 403)),
    ("POST", "api.give_bot"): ("/api/v1/bots/bot-0/give", (401, 403, 403, 403, 415)),
    ("GET", "profiles.portrait"): ("/pictures/{portrait}.webp", ALL),
    ("GET", "profiles.change_bot"): ("/bots/bot-0/profile", OWNERS_AND_ADMINISTRATORS),
    ("POST", "profiles.describe"): ("/bots/bot-0/describe", (401, 403, 302, 403, 302)),
    ("POST", "profiles.picture"): ("/bots/bot-0/picture", (401, 403, 302, 403, 302)),
    ("POST", "profiles.rename"): ("/bots/bot-0/rename", (401, 403, 422, 403, 422)),
    ("POST", "profiles.delete"): ("/bots/nothing/delete", (401, 404, 404, 404, 404)),
    ("POST", "api.delete_bot"): ("/api/v1/bots/nothing/delete", (401, 404, 404, 404, 404)),
    ("GET", "people.change"): ("/people/{person}/profile", OWNERS_AND_ADMINISTRATORS),
    ("POST", "people.describe"): ("/people/{person}/describe", (401, 403, 302, 403, 302)),
    ("POST", "people.rename"): ("/people/{person}/rename", (401, 403, 422, 403, 422)),
    ("POST", "people.delete"): ("/people/{person}/delete", (401, 403, 422, 403, 422)),
    ("GET", "people.export"): ("/people/{person}/export", OWNERS_AND_ADMINISTRATORS),
    ("GET", "api.export_person"): ("/api/v1/people/{person}/export", (401, 403, 200, 403, 200)),
    ("POST", "api.delete_user"): ("/api/v1/people/{person}/delete", (401, 403, 403, 403, 415)),
    ("GET", "api.list_people"): ("/api/v1/people", ALL),
    ("GET", "api.get_person"): ("/api/v1/people/{person}", ALL),
    ("GET", "api.search"): ("/api/v1/search?q=bot", ALL),
    ("POST", "api.describe_bot"): ("/api/v1/bots/bot-0/describe", (401, 415, 415, 415, 415)),
    ("POST", "api.picture_bot"): ("/api/v1/bots/bot-0/picture", (401, 415, 415, 415, 415)),
    ("POST", "api.rename_bot"): ("/api/v1/bots/bot-0/rename", (401, 415, 415, 415, 415)),
    ("POST", "api.describe_user"): (
        "/api/v1/people/{person}/describe",
        (401, 403, 403, 403, 415),
    ),
    ("POST", "api.rename_user"): ("/api/v1/people/{person}/rename", (401, 403, 403, 403, 415)),
    ("POST", "api.approve_comparison"): (
        "/api/v1/competitions/gauntlet/approve",
        (401, 403, 403, 409, 409),
    ),
    ("POST", "api.rename_competition"): (
        "/api/v1/competitions/cup/rename",
        (401, 403, 403, 415, 415),
    ),
    ("GET", "news.ladder_feed"): ("/ladders/ladder-0/feed.atom", ALL),
    ("GET", "news.tournament_feed"): ("/tournaments/cup/feed.atom", ALL),
    ("GET", "news.tests_feed"): ("/tests/feed.atom", ALL),
    ("GET", "news.own_feed"): ("/feeds/nothing.atom", (404,) * 5),
    ("GET", "notifications.own_notifications"): ("/notifications", SIGNED_IN),
    ("GET", "notifications.opened"): ("/notifications/999", (ASK, 404, 404, 404, 404)),
    ("POST", "notifications.read"): ("/notifications/read", (401, 302, 302, 302, 302)),
    ("GET", "notifications.listing"): ("/following", SIGNED_IN),
    ("POST", "notifications.follow"): ("/bots/bot-0/follow", (401, 302, 302, 302, 302)),
    ("POST", "notifications.unfollow"): ("/bots/bot-0/unfollow", (401, 302, 302, 302, 302)),
    ("POST", "notifications.follow_competition"): (
        "/competitions/ladder-0/follow",
        (401, 302, 302, 302, 302),
    ),
    ("POST", "notifications.unfollow_competition"): (
        "/competitions/ladder-0/unfollow",
        (401, 302, 302, 302, 302),
    ),
    ("GET", "notifications.choices"): ("/notifications/choices", SIGNED_IN),
    ("POST", "notifications.choose"): ("/notifications/choices", (401, 302, 302, 302, 302)),
    ("POST", "notifications.make_feed"): ("/notifications/feed", (401, 200, 200, 200, 200)),
    ("GET", "notifications.unsubscribe"): ("/unsubscribe/nothing", (404,) * 5),
    ("POST", "notifications.unsubscribe"): ("/unsubscribe/nothing", (404,) * 5),
    ("GET", "notifications.own_hooks"): ("/hooks", SIGNED_IN),
    ("POST", "notifications.add_hook"): ("/hooks", (401, 422, 422, 422, 422)),
    ("GET", "notifications.hook"): ("/hooks/999", (ASK, 404, 404, 404, 404)),
    ("POST", "notifications.remove"): ("/hooks/999/remove", (401, 404, 404, 404, 404)),
    ("POST", "notifications.test"): ("/hooks/999/test", (401, 404, 404, 404, 404)),
    ("POST", "notifications.again"): ("/hooks/999/deliveries/1/again", (401, 404, 404, 404, 404)),
    ("GET", "bots.encounter"): ("/bots/bot-0/against/bot-1", ALL),
    ("GET", "bots.encounter_json"): ("/bots/bot-0/against/bot-1.json", ALL),
    ("GET", "lists.games"): ("/games?ending=normal", ALL),
    ("GET", "lists.game_charts"): ("/games/charts?competition=ladder-0", ALL),
    ("GET", "explorer.explored"): ("/explorer/ladder-0", ALL),
    ("GET", "explorer.of_game"): ("/games/{trio}/3/explore", (302,) * 5),
    ("GET", "lists.selection"): ("/selections/999", (404,) * 5),
    ("POST", "lists.keep"): ("/games/keep", (401, 422, 422, 422, 422)),
    ("POST", "lists.remove"): ("/selections/999/remove", (401, 404, 404, 404, 404)),
    ("GET", "games.match"): ("/matches/{played}", ALL),
    ("GET", "games.live"): ("/matches/{played}/live", ALL),
    ("GET", "live.stream"): ("/matches/{played}/stream", (501,) * 5),  # this server has none
    ("GET", "live.best"): ("/tv", ALL),
    ("GET", "games.game"): ("/games/{trio}", ALL),
    ("GET", "games.board"): ("/games/{trio}/0/board", ALL),
    ("GET", "games.log"): ("/games/{trio}/0/log", OWNERS),
    ("GET", "games.picture"): ("/games/{trio}/0.svg", ALL),
    ("GET", "games.game_json"): ("/games/{trio}.json", ALL),
    ("GET", "games.game_text"): ("/games/{trio}.txt", ALL),
    ("GET", "games.game_pgn"): ("/games/{trio}.pgn", (404,) * 5),
    ("GET", "pictures.preview"): ("/games/{trio}/0.png", ALL),
    ("GET", "pictures.latest"): ("/latest.png?competition=ladder-1", ALL),
    ("GET", "pictures.animation"): ("/games/{solo}.gif", ALL),
    ("GET", "pictures.embed"): ("/games/{trio}/embed", ALL),
    ("GET", "replays.form"): ("/replay", ALL),
    ("POST", "replays.show"): ("/replay", (422,) * 5),
    ("GET", "analyses.board"): ("/analysis?game=clobber", ALL),
    ("GET", "analyses.board_json"): ("/analysis.json?game=clobber", ALL),
    ("GET", "analyses.picture"): ("/analysis.svg?game=clobber", ALL),
    ("GET", "analyses.kept"): ("/analyses/nothing", (404,) * 5),
    ("POST", "analyses.keep"): ("/analyses", (401, 422, 422, 422, 422)),
    ("POST", "analyses.remove"): ("/analyses/nothing/remove", (401, 404, 404, 404, 404)),
    ("GET", "analyses.of_sitting"): ("/play/{sitting}/analysis", (302,) * 5),
    ("POST", "analyses.ask"): ("/analysis/ask", (401, 422, 422, 422, 422)),
    ("GET", "analyses.of_game"): ("/games/{trio}/analysis?node=3", ALL),
    ("GET", "docs.index"): ("/docs/", ALL),
    ("GET", "docs.guide"): ("/docs/protocol", ALL),
    ("GET", "rules.listing"): ("/rules", ALL),
    ("GET", "rules.listing_json"): ("/rules.json", ALL),
    ("GET", "rules.game"): ("/rules/clobber", ALL),
    ("GET", "rules.emblem"): ("/rules/clobber.svg", ALL),
    ("GET", "rules.picture"): ("/rules/clobber/1.svg", ALL),
    ("GET", "docs.about"): ("/about", ALL),
    ("GET", "translations.choose"): ("/language/en", (302,) * 5),
    ("GET", "sittings.listing"): ("/play", ALL),
    ("GET", "sittings.begin"): ("/play/on/ladder-2", SIGNED_IN),
    ("POST", "sittings.begin"): ("/play/on/ladder-0", (401, 422, 422, 422, 422)),
    ("GET", "sittings.game"): ("/play/{sitting}", ALL),
    ("GET", "sittings.board"): ("/play/{sitting}/0/board", ALL),
    ("GET", "sittings.picture"): ("/play/{sitting}/0.svg", ALL),
    ("GET", "sittings.game_json"): ("/play/{sitting}.json", ALL),
    ("GET", "sittings.moves"): ("/play/{sitting}/moves?at=blue+O4", ALL),
    ("POST", "sittings.move"): ("/play/{sitting}/move", (401, 403, 409, 403, 403)),
    ("POST", "sittings.take_back"): ("/play/{sitting}/back", (401, 403, 409, 403, 403)),
    ("POST", "sittings.asking"): ("/play/{sitting}/asking", (401, 303, 303, 303, 303)),
    ("POST", "sittings.resign"): ("/play/{sitting}/resign", (401, 403, 409, 403, 403)),
    ("GET", "tournaments.listing"): ("/tournaments", ALL),
    ("GET", "tournaments.tournament"): ("/tournaments/cup", ALL),
    ("GET", "tournaments.live"): ("/tournaments/cup/live", ALL),
    ("GET", "competitions.listing"): ("/competitions?kind=tournament", ALL),
    ("GET", "competitions.competition"): ("/competitions/cup", (302,) * 5),
    ("GET", "competitions.live"): ("/competitions/cup/live", ALL),
    ("POST", "competitions.approve"): (
        "/competitions/gauntlet/approve",
        (401, 403, 403, 409, 409),
    ),
    ("GET", "tournaments.tournament_json"): ("/tournaments/cup.json", ALL),
    ("GET", "tournaments.tournament_csv"): ("/tournaments/cup.csv", ALL),
    ("GET", "tournaments.meetings"): ("/tournaments/cup/1/2", ALL),
    ("GET", "tournaments.create"): ("/new-tournament", ORGANISERS),
    ("POST", "tournaments.create"): ("/new-tournament", (401, 403, 403, 422, 422)),
    ("POST", "tournaments.state"): ("/tournaments/cup/state", (401, 403, 403, 422, 422)),
    ("GET", "tournaments.change"): ("/tournaments/cup/change", (ASK, 403, 200, 200, 200)),
    ("POST", "tournaments.enter"): ("/tournaments/cup/enter", (401, 403, 403, 422, 422)),
    ("POST", "tournaments.withdraw"): (
        "/tournaments/cup/withdraw",
        (401, 403, 422, 422, 422),
    ),
    ("POST", "tournaments.sign_up"): ("/tournaments/cup/sign-up", (401, 422, 422, 422, 422)),
    ("POST", "tournaments.sign_off"): ("/tournaments/cup/sign-off", (401, 422, 422, 422, 422)),
    ("POST", "tournaments.check_in"): ("/tournaments/cup/check-in", (401, 422, 422, 422, 422)),
    ("POST", "tournaments.call_off"): (
        "/tournaments/cup/call-off",
        (401, 403, 403, 422, 422),
    ),
    ("GET", "ladders.choose_game"): ("/new-ladder", ORGANISERS),
    ("GET", "ladders.create"): ("/new-ladder/clobber", ORGANISERS),
    ("POST", "ladders.create"): ("/new-ladder/clobber", (401, 403, 403, 422, 422)),
    ("GET", "ladders.change"): ("/ladders/ladder-0/settings", ORGANISERS),
    ("POST", "ladders.bar"): ("/ladders/ladder-0/bar", (401, 403, 403, 422, 422)),
    ("POST", "ladders.unbar"): ("/ladders/ladder-0/unbar", (401, 403, 403, 422, 422)),
    ("POST", "api.bar_bot"): ("/api/v1/ladders/ladder-0/bar", (401, 403, 403, 415, 415)),
    ("POST", "api.unbar_bot"): ("/api/v1/ladders/ladder-0/unbar", (401, 403, 403, 415, 415)),
    ("POST", "ladders.change"): (
        "/ladders/ladder-0/settings",
        (401, 403, 403, 302, 302),
    ),
    ("POST", "ladders.change_state"): (
        "/ladders/ladder-0/state",
        (401, 403, 403, 422, 422),
    ),
    ("POST", "verdicts.void"): ("/matches/{played}/void", (401, 403, 403, 422, 422)),
    ("POST", "verdicts.requeue"): ("/matches/{played}/requeue", (401, 403, 403, 409, 409)),
    ("GET", "requests.ask"): ("/ladders/ladder-0/unrated", SIGNED_IN),
    ("POST", "requests.ask"): ("/ladders/ladder-0/unrated", (401, 422, 422, 422, 422)),
    ("GET", "dumps.listing"): ("/dumps", ALL),
    ("GET", "dumps.addresses"): ("/dumps/2026-05-04.txt", ALL),
    ("GET", "dumps.file"): ("/dumps/2026-05-04/dump.json", ALL),
    ("GET", "books.listing"): ("/books", ALL),
    ("GET", "books.book"): ("/books/nothing", (404,) * 5),
    ("POST", "books.add"): ("/books/add", (401, 422, 422, 422, 422)),
    ("POST", "books.remove"): ("/books/nothing/remove", (401, 404, 404, 404, 404)),
    ("GET", "strength.listing"): ("/tests", ALL),
    ("GET", "strength.listing_json"): ("/tests.json", ALL),
    ("GET", "strength.test"): ("/tests/{test}", ALL),
    ("GET", "strength.live"): ("/tests/{test}/live", ALL),
    ("GET", "strength.test_json"): ("/tests/{test}.json", ALL),
    ("GET", "blocks.picture"): ("/tests/{test}.svg", ALL),
    ("GET", "blocks.pixels"): ("/tests/{test}.png", ALL),
    ("GET", "strength.create"): ("/tests/new", SIGNED_IN),
    ("POST", "strength.create"): ("/tests/new", (401, 422, 422, 422, 422)),
    ("POST", "strength.stop"): ("/tests/{ended}/stop", (401, 403, 403, 409, 409)),
    ("POST", "strength.extend"): ("/tests/{ended}/extend", (401, 409, 409, 409, 409)),
    ("POST", "strength.priority"): ("/tests/{ended}/priority", (401, 422, 422, 422, 422)),
    ("GET", "presets.listing"): ("/presets", ALL),
    ("POST", "presets.keep"): ("/presets/keep", (401, 403, 403, 422, 422)),
    ("POST", "presets.remove"): ("/presets/nothing/remove", (401, 403, 403, 404, 404)),
    ("GET", "gauntlets.listing"): ("/gauntlets", ALL),
    ("GET", "gauntlets.gauntlet"): ("/gauntlets/gauntlet", ALL),
    ("GET", "gauntlets.live"): ("/gauntlets/gauntlet/live", ALL),
    ("GET", "gauntlets.gauntlet_json"): ("/gauntlets/gauntlet.json", ALL),
    ("GET", "gauntlets.create"): ("/gauntlets/new", SIGNED_IN),
    ("POST", "gauntlets.create"): ("/gauntlets/new", (401, 422, 422, 422, 422)),
    ("POST", "gauntlets.stop"): ("/gauntlets/gauntlet/stop", (401, 403, 403, 302, 302)),
    ("POST", "undoing.undo"): ("/undo", (401, 400, 400, 400, 400)),
    ("GET", "strength.exclusion_form"): ("/tests/{test}/exclude?worker=one", ORGANISERS),
    ("POST", "strength.exclude"): ("/tests/{test}/exclude", (401, 403, 403, 404, 404)),
    ("POST", "strength.include"): ("/tests/{test}/include", (401, 403, 403, 422, 422)),
    ("POST", "strength.clone"): ("/tests/{ended}/clone", (401, 403, 302, 302, 302)),
    ("GET", "tunings.listing"): ("/tunings", ALL),
    ("GET", "tunings.listing_json"): ("/tunings.json", ALL),
    ("GET", "tunings.tuning"): ("/tunings/{tuning}", ALL),
    ("GET", "tunings.live"): ("/tunings/{tuning}/live", ALL),
    ("GET", "tunings.tuning_json"): ("/tunings/{tuning}.json", ALL),
    ("GET", "tunings.create"): ("/tunings/new", SIGNED_IN),
    ("POST", "tunings.create"): ("/tunings/new", (401, 422, 422, 422, 422)),
    ("POST", "tunings.pause"): ("/tunings/{untuned}/pause", (401, 403, 403, 409, 409)),
    ("POST", "tunings.stop"): ("/tunings/{untuned}/stop", (401, 403, 403, 409, 409)),
    ("POST", "tunings.resume"): ("/tunings/{tuning}/resume", (401, 403, 403, 409, 409)),
    ("POST", "tunings.extend"): ("/tunings/{untuned}/extend", (401, 422, 422, 422, 422)),
    ("GET", "accounts.sign_in"): ("/sign-in", (200, 302, 302, 302, 302)),
    ("POST", "accounts.sign_in"): ("/sign-in", (422,) * 5),
    ("GET", "accounts.register"): ("/register", ALL),
    ("POST", "accounts.register"): ("/register", (422,) * 5),
    ("GET", "accounts.reset"): ("/reset/nonsense", (403,) * 5),
    ("POST", "accounts.reset"): ("/reset/nonsense", (403,) * 5),
    ("GET", "accounts.account"): ("/account", SIGNED_IN),
    ("GET", "accounts.password"): ("/account/password", SIGNED_IN),
    ("POST", "accounts.password"): ("/account/password", (401, 422, 422, 422, 422)),
    ("GET", "second_step.second_factor"): ("/sign-in/second", (302,) * 5),
    ("POST", "second_step.second_factor"): ("/sign-in/second", (302,) * 5),
    ("GET", "providers.begin"): ("/sign-in/with/nothing", (404,) * 5),
    ("GET", "providers.back"): ("/sign-in/with/nothing/back", (404,) * 5),
    ("GET", "providers.register"): ("/register/with", (302,) * 5),
    ("POST", "providers.register"): ("/register/with", (302,) * 5),
    ("POST", "providers.link"): ("/account/identities/nothing/link", (401, 404, 404, 404, 404)),
    ("POST", "providers.unlink"): ("/account/identities/0/unlink", (401, 404, 404, 404, 404)),
    ("POST", "passkeys.sign_in"): ("/sign-in/passkey", (403,) * 5),
    ("GET", "passkeys.make"): ("/account/passkeys/new", SIGNED_IN),
    ("POST", "passkeys.make"): ("/account/passkeys/new", (401, 422, 422, 422, 422)),
    ("POST", "passkeys.remove"): ("/account/passkeys/0/remove", (401, 404, 404, 404, 404)),
    ("GET", "mail.forgotten"): ("/forgotten", (404,) * 5),  # no mail is set up
    ("POST", "mail.forgotten"): ("/forgotten", (404,) * 5),
    ("GET", "mail.change"): ("/account/mail", (ASK, 404, 404, 404, 404)),
    ("POST", "mail.change"): ("/account/mail", (401, 404, 404, 404, 404)),
    ("POST", "mail.remove"): ("/account/mail/remove", (401, 302, 302, 302, 302)),
    ("GET", "mail.confirm"): ("/account/mail/nonsense", (ASK, 403, 403, 403, 403)),
    ("POST", "mail.confirm"): ("/account/mail/nonsense", (401, 403, 403, 403, 403)),
    ("GET", "safety.overview"): ("/account/safety", SIGNED_IN),
    ("GET", "safety.overview_json"): ("/account/safety.json", (401, *SIGNED_IN[1:])),
    ("GET", "safety.app"): ("/account/app", SIGNED_IN),
    ("POST", "safety.app"): ("/account/app", (401, 422, 422, 422, 422)),
    ("POST", "safety.remove_app"): ("/account/app/remove", (401, 302, 302, 302, 302)),
    ("POST", "safety.recovery_codes"): ("/account/recovery-codes", (401, 409, 409, 409, 409)),
    ("POST", "safety.end_session"): ("/account/sessions/0/end", (401, 404, 404, 404, 404)),
    ("POST", "accounts.add_token"): ("/account/tokens", (401, 422, 422, 422, 422)),
    ("POST", "accounts.revoke_token"): (
        "/account/tokens/{owners_token}/revoke",
        (401, 404, 302, 404, 404),
    ),
    ("GET", "submissions.submit"): ("/submit", SIGNED_IN),
    ("POST", "submissions.submit"): ("/submit", (401, 422, 422, 422, 422)),
    ("GET", "editor.starter_file"): ("/starter.zip?ladder=ladder-0&name=mine", ALL),
    ("GET", "editor.edit"): ("/editor?ladder=ladder-0&name=mine", SIGNED_IN),
    ("POST", "editor.change"): ("/editor", (401, 404, 404, 404, 404)),
    ("GET", "submissions.check"): ("/checks/{owners_check}", (ASK, 404, 200, 404, 404)),
    ("GET", "submissions.check_live"): ("/checks/{owners_check}/live", (ASK, 404, 200, 404, 404)),
    ("POST", "submissions.cancel"): ("/checks/{owners_check}/cancel", (401, 404, 302, 404, 404)),
    ("POST", "submissions.enter"): ("/bots/bot-0/enter", (401, 422, 422, 422, 422)),
    ("POST", "submissions.retire"): ("/bots/bot-0/retire", (401, 422, 422, 422, 422)),
    ("POST", "submissions.settings"): ("/bots/bot-0/settings", (401, 403, 302, 403, 403)),
    ("POST", "submissions.withdraw"): ("/bots/bot-0/withdraw", (401, 403, 302, 403, 403)),
    ("POST", "submissions.share"): ("/bots/bot-0/share", (401, 422, 422, 422, 422)),
    ("GET", "repositories.show"): ("/bots/bot-0/repository", OWNERS),
    ("POST", "repositories.repository"): ("/bots/bot-0/repository", (401, 403, 422, 403, 403)),
    ("POST", "repositories.fetch"): ("/bots/bot-0/repository/fetch", (401, 403, 404, 403, 403)),
    ("POST", "repositories.leave"): ("/bots/bot-0/repository/leave", (401, 403, 404, 403, 403)),
    ("POST", "repositories.push"): ("/api/push/unknown", (403,) * 5),
    ("POST", "submissions.unshare"): ("/bots/bot-0/unshare", (401, 422, 422, 422, 422)),
    ("GET", "submissions.download"): ("/bots/bot-0/versions/{last}.tar", OWNERS),
    ("GET", "submissions.log"): ("/games/{trio}/logs/1", OWNERS),
    ("GET", "administration.users"): ("/users", ADMINISTRATORS),
    ("GET", "administration.users_json"): ("/users.json", (401, *ADMINISTRATORS[1:])),
    ("GET", "administration.log"): ("/audit", ADMINISTRATORS),
    ("GET", "administration.log_json"): ("/audit.json", (401, *ADMINISTRATORS[1:])),
    ("POST", "administration.role"): ("/users/other/role", (401, 403, 403, 403, 422)),
    ("POST", "administration.deactivate"): ("/users/nobody/deactivate", (401, 403, 403, 403, 404)),
    ("POST", "administration.activate"): ("/users/other/activate", (401, 403, 403, 403, 302)),
    ("POST", "administration.quota"): ("/users/other/quota", (401, 403, 403, 403, 302)),
    ("POST", "administration.second_factor"): (
        "/users/nobody/second-factor",
        (401, 403, 403, 403, 404),
    ),
    ("POST", "administration.give_reset_link"): ("/users/other/reset", (401, 403, 403, 403, 200)),
    ("POST", "administration.invite"): ("/users/invitations", (401, 403, 403, 403, 400)),
    ("GET", "api.openapi"): ("/api/v1/openapi.json", ALL),
    ("GET", "api.operations"): ("/api/v1/", ALL),
    ("GET", "api.list_competitions"): ("/api/v1/competitions", ALL),
    ("GET", "api.get_competition"): ("/api/v1/competitions/cup", ALL),
    ("GET", "api.list_competition_entrants"): ("/api/v1/competitions/cup/entrants", ALL),
    ("GET", "api.list_competition_members"): (
        "/api/v1/competitions/cup/members",
        (401, *ORGANISERS[1:]),
    ),
    ("POST", "api.add_member"): (
        "/api/v1/competitions/cup/members",
        (401, 403, 403, 415, 415),
    ),
    ("POST", "api.remove_member"): (
        "/api/v1/competitions/cup/members/remove",
        (401, 403, 403, 415, 415),
    ),
    ("POST", "api.import_members"): (
        "/api/v1/competitions/cup/members/import",
        (401, 403, 403, 415, 415),
    ),
    ("POST", "api.change_visibility"): (
        "/api/v1/competitions/cup/visibility",
        (401, 403, 403, 415, 415),
    ),
    ("POST", "api.look_behind_masks"): (
        "/api/v1/competitions/cup/who",
        (401, 403, 403, 409, 409),
    ),
    ("POST", "api.reveal_competition"): (
        "/api/v1/competitions/cup/reveal",
        (401, 403, 403, 409, 409),
    ),
    ("POST", "api.renew_join_code"): (
        "/api/v1/competitions/cup/join-code",
        (401, 403, 403, 415, 415),
    ),
    ("POST", "api.join_competition"): ("/api/v1/join", (401, 415, 415, 415, 415)),
    ("POST", "api.leave_competition"): (
        "/api/v1/competitions/nothing/leave",
        (401, 404, 404, 404, 404),
    ),
    ("GET", "api.list_dates"): ("/api/v1/competitions/cup/dates", ALL),
    ("POST", "api.set_date"): ("/api/v1/competitions/cup/dates", (401, 403, 403, 415, 415)),
    ("POST", "api.remove_date"): (
        "/api/v1/competitions/cup/dates/remove",
        (401, 403, 403, 415, 415),
    ),
    ("GET", "api.get_final_table"): ("/api/v1/ladders/ladder-0/final-table", (404,) * 5),
    ("GET", "api.get_rounds"): ("/api/v1/ladders/ladder-0/rounds", ALL),
    ("POST", "api.name_boss"): ("/api/v1/ladders/ladder-0/bosses", (401, 403, 403, 415, 415)),
    ("GET", "api.list_seasons"): ("/api/v1/ladders/ladder-0/seasons", ALL),
    ("GET", "api.list_ladders"): ("/api/v1/ladders", ALL),
    ("GET", "api.get_ladder"): ("/api/v1/ladders/ladder-0", ALL),
    ("GET", "api.get_leaderboard"): ("/api/v1/ladders/ladder-0/leaderboard", ALL),
    ("GET", "api.list_entrants"): ("/api/v1/ladders/ladder-0/entrants", ALL),
    ("GET", "api.export_ladder"): ("/api/v1/ladders/ladder-0/games.jsonl", ALL),
    ("GET", "api.export_games"): ("/api/v1/games.jsonl?competition=ladder-0", ALL),
    ("GET", "api.list_bots"): ("/api/v1/bots", ALL),
    ("GET", "api.get_bot"): ("/api/v1/bots/bot-0", ALL),
    ("GET", "api.get_bot_on_ladder"): ("/api/v1/bots/bot-0/ladders/ladder-0", ALL),
    ("GET", "api.list_versions"): ("/api/v1/bots/bot-0/versions", ALL),
    ("GET", "api.get_encounter"): ("/api/v1/bots/bot-0/against/bot-1", ALL),
    ("GET", "api.download_version"): ("/api/v1/bots/bot-0/versions/{last}/files", API_OWNERS),
    ("GET", "api.list_matches"): ("/api/v1/matches", ALL),
    ("GET", "api.get_best_match"): ("/api/v1/matches/best", ALL),
    ("GET", "api.get_match"): ("/api/v1/matches/{played}", ALL),
    ("GET", "api.list_games"): ("/api/v1/games", ALL),
    ("GET", "api.explore_line"): ("/api/v1/explorer/ladder-0", ALL),
    ("GET", "api.get_quotas"): ("/api/v1/ladders/ladder-0/quotas?bot=new", (401, *SIGNED_IN[1:])),
    ("GET", "api.get_crosstable"): ("/api/v1/ladders/ladder-0/crosstable", ALL),
    ("GET", "api.get_accuracy"): ("/api/v1/ladders/ladder-0/accuracy", ALL),
    ("GET", "api.count_games"): ("/api/v1/games/counts", ALL),
    ("GET", "api.export_games_csv"): ("/api/v1/games.csv", ALL),
    ("GET", "api.list_notifications"): ("/api/v1/notifications", (401, 200, 200, 200, 200)),
    ("GET", "api.list_following"): ("/api/v1/following", (401, 200, 200, 200, 200)),
    ("GET", "api.list_hooks"): ("/api/v1/hooks", (401, 200, 200, 200, 200)),
    ("GET", "api.list_deliveries"): ("/api/v1/hooks/999/deliveries", (401, 404, 404, 404, 404)),
    ("GET", "api.list_own_selections"): (
        "/api/v1/account/selections",
        (401, 200, 200, 200, 200),
    ),
    ("GET", "api.list_own_analyses"): (
        "/api/v1/account/analyses",
        (401, 200, 200, 200, 200),
    ),
    ("GET", "api.get_analysis"): ("/api/v1/analyses/nothing", (404,) * 5),
    ("POST", "api.keep_analysis"): ("/api/v1/analyses", (401, 415, 415, 415, 415)),
    ("POST", "api.remove_analysis"): (
        "/api/v1/analyses/nothing/remove",
        (401, 404, 404, 404, 404),
    ),
    ("GET", "api.list_answers"): ("/api/v1/answers?game=oxoxo", ALL),
    ("POST", "api.ask_bots"): ("/api/v1/questions", (401, 415, 415, 415, 415)),
    ("GET", "api.get_game"): ("/api/v1/games/{trio}", ALL),
    ("GET", "api.get_record"): ("/api/v1/games/{trio}/record", ALL),
    ("GET", "api.get_pgn"): ("/api/v1/games/{trio}/pgn", (404,) * 5),
    ("GET", "api.read_log"): ("/api/v1/games/{trio}/logs/1", API_OWNERS),
    ("GET", "api.list_tournaments"): ("/api/v1/tournaments", ALL),
    ("GET", "api.get_tournament"): ("/api/v1/tournaments/cup", ALL),
    ("GET", "api.list_dumps"): ("/api/v1/dumps", ALL),
    ("GET", "api.get_dump"): ("/api/v1/dumps/2026-05-04", ALL),
    ("GET", "api.list_books"): ("/api/v1/books", ALL),
    ("GET", "api.read_book"): ("/api/v1/books/nothing", (404,) * 5),
    ("GET", "api.list_runtimes"): ("/api/v1/runtimes", ALL),
    ("GET", "api.read_lock"): ("/api/v1/runtimes/nothing/lock", (404,) * 5),
    ("GET", "api.read_runtime"): ("/api/v1/runtimes/nothing/file", (401, 404, 404, 404, 404)),
    ("POST", "api.remove_runtime"): (
        "/api/v1/runtimes/nothing/remove",
        (401, 403, 403, 404, 404),
    ),
    ("GET", "api.list_tests"): ("/api/v1/tests", ALL),
    ("GET", "api.list_presets"): ("/api/v1/presets", ALL),
    ("GET", "api.get_block"): ("/api/v1/tests/{test}/block", ALL),
    ("GET", "api.estimate_test"): ("/api/v1/tests/estimate?ladder=ladder-0", ALL),
    ("GET", "api.get_test"): ("/api/v1/tests/{test}", ALL),
    ("GET", "api.list_tunings"): ("/api/v1/tunings", ALL),
    ("GET", "api.get_tuning"): ("/api/v1/tunings/{tuning}", ALL),
    ("GET", "api.list_workers"): ("/api/v1/workers", ALL),
    ("GET", "api.list_sittings"): ("/api/v1/sittings", (401, 200, 200, 200, 200)),
    ("GET", "api.get_sitting"): ("/api/v1/sittings/{sitting}", ALL),
    ("GET", "api.get_sitting_record"): ("/api/v1/sittings/{sitting}/record", ALL),
    ("GET", "api.get_overview"): ("/api/v1/overview", (401, 403, 403, 200, 200)),
    ("GET", "api.list_users"): ("/api/v1/users", (401, 403, 403, 403, 200)),
    ("GET", "api.list_audit_entries"): ("/api/v1/audit", (401, 403, 403, 403, 200)),
    ("GET", "api.list_match_sets"): ("/api/v1/match-sets", (401, 403, 403, 200, 200)),
    ("POST", "api.choose_matches"): ("/api/v1/match-sets", (401, 403, 403, 415, 415)),
    ("GET", "api.get_match_set"): ("/api/v1/match-sets/{set}", (401, 403, 403, 200, 200)),
    ("GET", "api.list_matches_of_set"): (
        "/api/v1/match-sets/{set}/matches",
        (401, 403, 403, 200, 200),
    ),
    ("POST", "api.decide_matches"): (
        "/api/v1/match-sets/99/decide",
        (401, 403, 403, 404, 404),
    ),
    ("GET", "api.list_settings"): ("/api/v1/settings", (401, 403, 403, 403, 200)),
    ("POST", "api.change_setting"): ("/api/v1/settings/x", (401, 403, 403, 403, 415)),
    ("GET", "api.get_maintenance"): ("/api/v1/maintenance", ALL),
    ("POST", "api.set_maintenance"): ("/api/v1/maintenance", (401, 403, 403, 403, 415)),
    ("GET", "api.get_notice"): ("/api/v1/notice", ALL),
    ("GET", "api.get_account"): ("/api/v1/account", (401, 200, 200, 200, 200)),
    ("GET", "api.list_own_matches"): ("/api/v1/account/matches", (401, 200, 200, 200, 200)),
    ("GET", "api.get_check"): ("/api/v1/checks/{owners_check}", (401, 404, 200, 404, 404)),
    ("POST", "api.cancel_check"): (
        "/api/v1/checks/{owners_check}/cancel",
        (401, 404, 409, 404, 404),
    ),
    ("GET", "api.list_checks"): ("/api/v1/bots/bot-0/checks", API_OWNERS),
    # A form is no JSON (415); a change without a form's secret or a token is refused (400).
    ("POST", "api.begin_file"): ("/api/v1/large-files", (401, 415, 415, 415, 415)),
    ("GET", "api.get_file"): ("/api/v1/large-files/{digest}", (401, 404, 404, 404, 404)),
    ("PATCH", "api.send_part"): (  # by a session, without the secret of a form
        "/api/v1/large-files/{digest}?offset=0",
        (401, 400, 400, 400, 400),
    ),
    ("POST", "api.submit_bot"): ("/api/v1/submissions", (401, 415, 415, 415, 415)),
    ("POST", "api.enter_bot"): ("/api/v1/bots/bot-0/enter", (401, 415, 415, 415, 415)),
    ("POST", "api.connect_bot"): ("/api/v1/home", (401, 415, 415, 415, 415)),
    ("GET", "api.open_link"): ("/api/v1/home/link", (405,) * 5),  # no WebSocket
    ("POST", "api.poll_link"): ("/api/v1/home/link", (401, 400, 400, 400, 400)),
    ("POST", "api.retire_bot"): ("/api/v1/bots/bot-0/retire", (401, 415, 415, 415, 415)),
    ("POST", "api.withdraw_bot"): ("/api/v1/bots/bot-0/withdraw", (401, 403, 200, 403, 403)),
    ("POST", "api.share_bot"): ("/api/v1/bots/bot-0/share", (401, 415, 415, 415, 415)),
    ("GET", "api.get_repository"): (
        "/api/v1/bots/bot-0/repository",
        (401, 403, 404, 403, 403),
    ),
    ("GET", "api.get_push"): ("/api/v1/bots/bot-0/repository/push", (401, 403, 404, 403, 403)),
    ("POST", "api.follow_repository"): (
        "/api/v1/bots/bot-0/repository",
        (401, 415, 415, 415, 415),
    ),
    ("POST", "api.fetch_repository"): (
        "/api/v1/bots/bot-0/repository/fetch",
        (401, 403, 404, 403, 403),
    ),
    ("POST", "api.unfollow_repository"): (
        "/api/v1/bots/bot-0/repository/leave",
        (401, 403, 404, 403, 403),
    ),
    ("POST", "api.unshare_bot"): ("/api/v1/bots/bot-0/unshare", (401, 415, 415, 415, 415)),
    ("PATCH", "api.change_bot"): ("/api/v1/bots/bot-0", (401, 400, 400, 400, 400)),
    ("POST", "api.readmit_worker"): ("/api/v1/workers/readmit", (401, 403, 403, 415, 415)),
    ("POST", "api.forget_worker"): ("/api/v1/workers/forget", (401, 403, 403, 415, 415)),
    ("POST", "api.give_notice"): ("/api/v1/notice", (401, 403, 403, 403, 415)),
    ("POST", "api.change_role"): ("/api/v1/users/other/role", (401, 403, 403, 403, 415)),
    ("POST", "api.set_quota"): ("/api/v1/users/other/quota", (401, 403, 403, 403, 415)),
    ("POST", "api.deactivate_user"): (
        "/api/v1/users/nobody/deactivate",
        (401, 403, 403, 403, 404),
    ),
    ("POST", "api.activate_user"): ("/api/v1/users/other/activate", (401, 403, 403, 403, 200)),
    ("POST", "api.reset_second_factor"): (
        "/api/v1/users/nobody/second-factor/reset",
        (401, 403, 403, 403, 404),
    ),
    ("POST", "api.requeue_checks"): ("/api/v1/checks/requeue", (401, 403, 403, 415, 415)),
    ("POST", "api.begin_sitting"): ("/api/v1/sittings", (401, 415, 415, 415, 415)),
    ("POST", "api.play_move"): ("/api/v1/sittings/{sitting}/move", (401, 415, 415, 415, 415)),
    ("POST", "api.take_back"): ("/api/v1/sittings/{sitting}/back", (401, 415, 415, 415, 415)),
    ("POST", "api.resign_sitting"): (
        "/api/v1/sittings/{sitting}/resign",
        (401, 415, 415, 415, 415),
    ),
    ("POST", "api.create_ladder"): ("/api/v1/ladders", (401, 403, 403, 415, 415)),
    ("PATCH", "api.change_ladder"): ("/api/v1/ladders/ladder-0", (401, 403, 403, 400, 400)),
    ("POST", "api.request_unrated_match"): ("/api/v1/matches", (401, 415, 415, 415, 415)),
    ("POST", "api.void_match"): ("/api/v1/matches/{played}/void", (401, 403, 403, 415, 415)),
    ("POST", "api.requeue_match"): ("/api/v1/matches/{played}/requeue", (401, 403, 403, 409, 409)),
    ("POST", "api.create_tournament"): ("/api/v1/tournaments", (401, 403, 403, 415, 415)),
    ("PATCH", "api.change_tournament"): ("/api/v1/tournaments/cup", (401, 403, 403, 400, 400)),
    ("POST", "api.enter_tournament"): (
        "/api/v1/tournaments/cup/enter",
        (401, 403, 403, 415, 415),
    ),
    ("POST", "api.withdraw_from_tournament"): (
        "/api/v1/tournaments/cup/withdraw",
        (401, 415, 415, 415, 415),
    ),
    ("POST", "api.sign_up_bot"): (
        "/api/v1/tournaments/cup/sign-up",
        (401, 415, 415, 415, 415),
    ),
    ("POST", "api.sign_off_bot"): (
        "/api/v1/tournaments/cup/sign-off",
        (401, 415, 415, 415, 415),
    ),
    ("POST", "api.check_in_bot"): (
        "/api/v1/tournaments/cup/check-in",
        (401, 415, 415, 415, 415),
    ),
    ("POST", "api.call_off_tournament"): (
        "/api/v1/tournaments/cup/call-off",
        (401, 403, 403, 415, 415),
    ),
    ("POST", "api.follow_bot"): ("/api/v1/bots/bot-0/follow", (401, 200, 200, 200, 200)),
    ("POST", "api.unfollow_bot"): ("/api/v1/bots/bot-0/unfollow", (401, 200, 200, 200, 200)),
    ("POST", "api.follow_competition"): (
        "/api/v1/competitions/ladder-0/follow",
        (401, 200, 200, 200, 200),
    ),
    ("POST", "api.unfollow_competition"): (
        "/api/v1/competitions/ladder-0/unfollow",
        (401, 200, 200, 200, 200),
    ),
    ("POST", "api.read_notifications"): (
        "/api/v1/notifications/read",
        (401, 415, 415, 415, 415),
    ),
    ("POST", "api.choose_told"): ("/api/v1/account/told", (401, 403, 403, 403, 415)),
    ("POST", "api.add_hook"): ("/api/v1/hooks", (401, 403, 403, 403, 415)),
    ("POST", "api.remove_hook"): ("/api/v1/hooks/999/remove", (401, 403, 403, 403, 403)),
    ("POST", "api.try_hook"): ("/api/v1/hooks/999/test", (401, 403, 403, 403, 403)),
    ("POST", "api.send_again"): (
        "/api/v1/hooks/999/deliveries/1/again",
        (401, 403, 403, 403, 403),
    ),
    ("POST", "api.keep_selection"): ("/api/v1/selections", (401, 415, 415, 415, 415)),
    ("POST", "api.remove_selection"): (
        "/api/v1/selections/999/remove",
        (401, 404, 404, 404, 404),
    ),
    ("POST", "api.add_book"): ("/api/v1/books", (401, 415, 415, 415, 415)),
    ("POST", "api.remove_book"): ("/api/v1/books/nothing/remove", (401, 404, 404, 404, 404)),
    ("POST", "api.create_test"): ("/api/v1/tests", (401, 415, 415, 415, 415)),
    ("GET", "api.list_gauntlets"): ("/api/v1/gauntlets", ALL),
    ("GET", "api.get_gauntlet"): ("/api/v1/gauntlets/gauntlet", ALL),
    ("POST", "api.create_gauntlet"): ("/api/v1/gauntlets", (401, 415, 415, 415, 415)),
    ("POST", "api.stop_gauntlet"): ("/api/v1/gauntlets/gauntlet/stop", (401, 403, 403, 409, 409)),
    ("GET", "api.test_without"): (
        "/api/v1/tests/{test}/without?worker=one",
        (401, 403, 403, 200, 200),
    ),
    ("POST", "api.exclude_worker"): ("/api/v1/tests/{test}/exclude", (401, 403, 403, 415, 415)),
    ("POST", "api.include_worker"): ("/api/v1/tests/{test}/include", (401, 403, 403, 415, 415)),
    ("POST", "api.stop_test"): ("/api/v1/tests/{ended}/stop", (401, 403, 403, 409, 409)),
    ("POST", "api.extend_test"): ("/api/v1/tests/{ended}/extend", (401, 415, 415, 415, 415)),
    ("POST", "api.prioritise_test"): (
        "/api/v1/tests/{ended}/priority",
        (401, 415, 415, 415, 415),
    ),
    ("POST", "api.keep_preset"): ("/api/v1/presets", (401, 403, 403, 415, 415)),
    ("POST", "api.remove_preset"): (
        "/api/v1/presets/nothing/remove",
        (401, 403, 403, 404, 404),
    ),
    ("POST", "api.clone_test"): ("/api/v1/tests/{ended}/clone", (401, 403, 201, 201, 201)),
    ("POST", "api.create_tuning"): ("/api/v1/tunings", (401, 415, 415, 415, 415)),
    ("POST", "api.pause_tuning"): ("/api/v1/tunings/{untuned}/pause", (401, 403, 403, 409, 409)),
    ("POST", "api.stop_tuning"): ("/api/v1/tunings/{untuned}/stop", (401, 403, 403, 409, 409)),
    ("POST", "api.resume_tuning"): ("/api/v1/tunings/{tuning}/resume", (401, 403, 403, 409, 409)),
    ("POST", "api.extend_tuning"): ("/api/v1/tunings/{untuned}/extend", (401, 415, 415, 415, 415)),
    # These end sessions, so they come last.
    ("POST", "safety.end_sessions"): ("/account/end-sessions", (401, 302, 302, 302, 302)),
    ("POST", "accounts.sign_out"): ("/sign-out", (401, 302, 302, 302, 302)),
}


@pytest.fixture(scope="module")
def door(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """The site, with one of each kind of person at a browser, and things of the owner's."""
    with unchanged(site.database):
        found = opened(site, tmp_path_factory.mktemp("data"))
        yield found
        found.app.extensions["arena.database"].close()


@contextmanager
def unchanged(database: Database) -> Iterator[None]:
    """Puts back what other tests look at, too: bots on their ladders, and their checks."""
    columns = {
        Entrant: (Entrant.id, Entrant.state, Entrant.reason),
        Check: (Check.id, Check.status, Check.cancelled, Check.problem, Check.ended),
    }
    with database.read() as session:
        before = {
            kind: [row._asdict() for row in session.execute(sa.select(*its))]
            for kind, its in columns.items()
        }
    yield
    with database.begin() as session:
        for kind, rows in before.items():
            session.execute(sa.update(kind), rows)


def opened(site: Site, data: Path) -> SimpleNamespace:
    """The application of a site with people at its door; who opens it closes its database."""
    settings = Settings(data=data, database=site.database.url, registration="open", dumps="dumps")
    lay_down(settings.dump_folder)
    app = create_app(settings, BundleIntake(settings.bundles))
    app.testing = True
    numbers = dict(site.numbers)
    with site.database.begin() as session:
        owner = session.scalars(sa.select(User).join(Bot, Bot.owner_id == User.id)).first()
        assert owner is not None
        bot = session.scalars(sa.select(Bot).where(Bot.name == "bot-0")).one()
        version = session.scalars(
            sa.select(BotVersion)
            .where(BotVersion.bot_id == bot.id)
            .order_by(BotVersion.number.desc())
        ).first()
        assert version is not None
        numbers["last"] = version.number
        numbers["owners_check"] = session.scalars(
            sa.select(Check.id).where(Check.version_id == version.id)
        ).first()
        name = owner.name
        digest = numbers["digest"] = version.digest
    (data / "bundles").mkdir()
    (data / "bundles" / digest).write_bytes(b"a tar")
    person(site.database, "other")
    person(site.database, "organiser", Role.ORGANISER)
    person(site.database, "administrator", Role.ADMINISTRATOR)
    owner = person(site.database, name)
    with site.database.begin() as session:
        add_token(session, ARENA, owner, "ci", [Scope.READ], now())
        session.flush()
        puzzle = session.scalars(sa.select(Ladder).where(Ladder.game == "puzzle")).one()
        wish = Wish(puzzle, 0, (), False, "form", 5)
        begun = begin(session, Person(owner.name, owner.id), wish, now(), most_open=1)
        numbers["sitting"] = begun.id
        numbers["owners_token"] = session.scalars(sa.text("SELECT max(id) FROM api_token")).one()
        numbers["person"], numbers["team"] = name, "knights"
        if session.scalar(sa.select(Team.id).where(Team.name == "knights")) is None:
            captain = session.get_one(User, owner.id)
            teams.make(session, "knights", captain, now()).join_code = "aaaa-bbbb-ffff"
        numbers["portrait"] = "0" * 64
        session.merge(Picture(digest=numbers["portrait"], content=b"a picture"))
    browsers = {"anonymous": Browser(app)}
    for kind, named in {**{kind: kind for kind in PEOPLE[1:]}, "owner": name}.items():
        browsers[kind] = signed_in(app, named)
    return SimpleNamespace(app=app, browsers=browsers, numbers=numbers, owner=name, site=site)


def routes(app: Flask) -> set[tuple[str, str]]:
    """Every route of an application with each of its methods."""
    return {
        (method, rule.endpoint)
        for rule in app.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }


def test_the_table_has_every_route(door: SimpleNamespace) -> None:
    """A route that is not in it has not been thought about; one that is gone is taken out."""
    assert routes(door.app) == set(ROUTES)


@pytest.mark.parametrize(
    ("site", "kind"),
    [
        # The last two get at everything that is asked of a database.
        *(("sqlite", kind) for kind in PEOPLE if kind not in ("owner", "administrator")),
        pytest.param("postgresql", "owner", marks=pytest.mark.long),
        ("postgresql", "administrator"),
    ],
    indirect=["site"],
)
def test_everybody_gets_what_the_table_says(door: SimpleNamespace, kind: str) -> None:
    """No more, and no less; and no cache for all keeps what was made for one: whatever looked at
    who asks says so, and what may be kept for everybody is said by its view."""
    number = PEOPLE.index(kind)
    browser, found, wanted, kept = door.browsers[kind], {}, {}, {}
    secret = browser.secret("/sign-in" if kind == "anonymous" else "/account")
    for (method, endpoint), (pattern, answers) in ROUTES.items():
        address = pattern.format(**door.numbers)
        data = {"csrf_token": secret, "confirmed": "y"} if method == "POST" else None
        with browser.client.open(address, method=method, data=data) as answer:
            sent = answer.status_code == 302 and "/sign-in?next=" in answer.location
            found[method, endpoint] = ASK if sent else answer.status_code
            if method == "GET":
                cache = answer.cache_control
                said = bool(cache.private), bool(cache.public)
                kept[endpoint] = (*said, "Cookie" in answer.vary)
        wanted[method, endpoint] = answers[number]
        if endpoint == "safety.end_sessions" and answer.status_code == 302:
            secret = browser.secret("/account")
    assert found == wanted
    assert {endpoint for endpoint, one in kept.items() if one == (False, False, True)} == set()
    assert {endpoint for endpoint, one in kept.items() if one[:2] == (True, True)} == set()
    assert kept["strength.test"] == (True, False, True)
    assert kept["healthz"] == (False, False, False)


def test_who_is_not_known_is_told_so_by_every_method(door: SimpleNamespace) -> None:
    """HEAD says what GET says (RFC 9110, 9.3.2), and each 401 what is asked for (15.5.2)."""
    client = door.browsers["anonymous"].client
    for (method, endpoint), (pattern, answers) in ROUTES.items():
        if answers[0] not in (ASK, 401):
            continue
        address = pattern.format(**door.numbers)
        answer = client.open(address, method=method)
        if answer.status_code == 401:
            assert answer.headers["WWW-Authenticate"] == 'Bearer realm="arena"', endpoint
        if method == "GET":
            head = client.head(address)
            assert (head.status_code, head.location) == (answer.status_code, answer.location)


OF_GAMES = {
    "editor.edit",
    "editor.starter_file",
    "rules.game",
    "rules.emblem",
    "rules.picture",
    "ladders.create",
    "analyses.board",
    "analyses.board_json",
    "analyses.of_sitting",
    "analyses.picture",
    "analyses.of_game",
}
"""Routes whose example is of a game, so that there is nothing when it is gone."""


def test_all_is_shown_of_games_that_are_gone(
    door: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their packages were uninstalled: people get the same, but for what is of the games.

    Who looks is an owner and administrator in one, to whom each page shows all its parts.
    """
    kinds = [PEOPLE.index(kind) for kind in ("owner", "administrator")]
    browser = door.browsers["owner"]
    left = [one for one in GAMES.declared.values() if one.name == "oxoxo"]
    monkeypatch.setattr(GAMES, "_given", left)
    GAMES.look_again()
    guides_in.cache_clear()
    # As people would see it, and all that fails at once.
    monkeypatch.setattr(door.app, "testing", False)
    found = {}
    try:
        give_role(door, Role.ADMINISTRATOR)
        for (method, endpoint), (pattern, answers) in ROUTES.items():
            if method == "GET":
                address = pattern.format(**door.numbers)
                with browser.client.get(address) as answer:
                    got = answer.status_code
                if got != min((answers[kind] for kind in kinds), key=lambda one: (one == 403, one)):
                    found[endpoint] = got
    finally:
        give_role(door, Role.PARTICIPANT)
        monkeypatch.undo()
        GAMES.look_again()
        guides_in.cache_clear()
    assert found == {name: 404 for name in OF_GAMES if name in found}


def give_role(door: SimpleNamespace, role: Role) -> None:
    """Makes the owner of the bots what they are to be."""
    with door.site.database.begin() as session:
        session.execute(sa.update(User).where(User.name == door.owner).values(role=role))


NO_PAGES = {
    "/ladders/nothing.json": (404, "nothing"),
    "/games/999999.json": (404, "999999"),
    "/games/1000000000000000000000.json": (404, "nothing at this address"),
    "/no-such-place.json": (404, "There is nothing at this address."),
    "/users.json": (401, "This needs an account"),
}
"""Addresses of data at which there is none, and what is said."""


@pytest.mark.parametrize(("address", "said"), NO_PAGES.items())
def test_what_is_wrong_with_data_is_told_as_data(
    door: SimpleNamespace, address: str, said: tuple[int, str]
) -> None:
    """A problem document (RFC 9457), as of the API: whoever asks for JSON reads no page."""
    answer = door.browsers["anonymous"].client.get(address)
    assert (answer.status_code, answer.mimetype) == (said[0], "application/problem+json")
    assert said[1] in answer.json["detail"]
    assert answer.json["status"] == said[0]


@pytest.mark.long
def test_who_only_reads_gets_no_cookie(door: SimpleNamespace) -> None:
    """It comes with a form that is there to be sent, and with no page before."""
    found = set()
    for (method, endpoint), (pattern, answers) in ROUTES.items():
        if method == "GET" and answers[0] == 200:
            with door.app.test_client().get(pattern.format(**door.numbers)) as answer:
                found |= {endpoint} if "Set-Cookie" in answer.headers else set()
    assert found == {"accounts.sign_in", "accounts.register", "replays.form"}


@pytest.fixture(scope="module")
def named(site: Site) -> Iterator[FlaskClient]:
    """Somebody before the pages of an arena that knows its names."""
    hosts = "Arena.example.org,10.0.0.7,.example.net"
    app = create_app(Settings(database=site.database.url, hosts=hosts))
    yield app.test_client()
    app.extensions["arena.database"].close()


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ("arena.example.org", 200),
        ("Arena.Example.org:8000", 200),
        ("10.0.0.7", 200),
        ("a.example.net", 200),
        ("b.a.example.net:443", 200),
        ("example.net", 421),
        ("badexample.net", 421),
        ("rebound.example.com", 421),
        ("arena.example.org.example.com", 421),
        ("arena.example.org@example.com", 421),
        ("", 421),
        ("[", 421),
        # A supervisor and who scrapes metrics ask so.
        ("localhost:8000", 200),
        ("127.0.0.1:8000", 200),
        ("[::1]:8000", 200),
    ],
)
def test_only_names_of_the_arena_are_answered(named: FlaskClient, asked: str, status: int) -> None:
    """As a page elsewhere may have its own name lead to this machine (DNS rebinding)."""
    for path in ("/", "/api/v1/ladders", "/healthz", "/nothing"):
        expected = 404 if path == "/nothing" and status == 200 else status
        answer = named.get(path, headers={"Host": asked})
        assert answer.status_code == expected
        assert ("ARENA_HOSTS" in answer.text) == (status == 421)
