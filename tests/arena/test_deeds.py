"""Each deed is tried by being registered: its doors do the same, and say it in the same words.

A deed without its row in `EXAMPLES` fails; who may do what is in the table of
`tests.arena.web.test_access`.
"""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click
import pytest
import sqlalchemy as sa
from flask import Flask, url_for
from werkzeug.test import TestResponse

from arena.all_deeds import DEEDS
from arena.analyses.analysis_deeds import KeepAnalysis, RemoveAnalysis
from arena.analyses.asking import AskBots
from arena.audit import ARENA, Actor
from arena.bots import teams
from arena.bots.account_deletion import DeleteUser
from arena.bots.bar_deeds import BarBot, UnbarBot
from arena.bots.bot_deeds import (
    CancelCheck,
    ChangeBot,
    EnterBot,
    RetireBot,
    ShareBot,
    UnshareBot,
    WithdrawBot,
)
from arena.bots.deletion import DeleteBot
from arena.bots.follow_deeds import (
    FollowBot,
    FollowCompetition,
    UnfollowBot,
    UnfollowCompetition,
)
from arena.bots.home_deeds import ConnectBot
from arena.bots.member_deeds import (
    AddMember,
    ChangeVisibility,
    ImportMembers,
    JoinCompetition,
    LeaveCompetition,
    RemoveMember,
    RenewJoinCode,
)
from arena.bots.profile_deeds import DescribeBot, PictureBot, RenameBot
from arena.bots.repository_deeds import FetchRepository, FollowRepository, UnfollowRepository
from arena.bots.runtimes import RemoveRuntime
from arena.bots.team_deeds import (
    DescribeTeam,
    DissolveTeam,
    FoundTeam,
    GiveBot,
    HandOverTeam,
    JoinTeam,
    LeaveTeam,
    RemoveTeamMember,
    RenameTeam,
    RenewTeamCode,
)
from arena.cli import COMMANDS, InputError, cli, deeds, run
from arena.cli.client import Where
from arena.competitions import books, members
from arena.competitions.book_deeds import AddBook, RemoveBook
from arena.competitions.comparisons import ApproveComparison
from arena.competitions.date_deeds import RemoveDate, SetDate
from arena.competitions.gauntlet_deeds import CreateGauntlet, StopGauntlet
from arena.competitions.ladder_deeds import ChangeLadder, CreateLadder
from arena.competitions.mask_deeds import LookBehindMasks, RevealCompetition
from arena.competitions.presets import KeepPreset, RemovePreset
from arena.competitions.renaming import RenameCompetition
from arena.competitions.round_deeds import NameBoss
from arena.competitions.sign_up_deeds import CheckInBot, SignOffBot, SignUpBot
from arena.competitions.strength_deeds import (
    CloneTest,
    CreateTest,
    ExtendTest,
    PrioritiseTest,
    StopTest,
)
from arena.competitions.strength_exclusions import ExcludeWorker, IncludeWorker
from arena.competitions.tournament_deeds import (
    CallOffTournament,
    ChangeTournament,
    CreateTournament,
    EnterTournament,
    WithdrawFromTournament,
)
from arena.competitions.tuning_deeds import (
    CreateTuning,
    ExtendTuning,
    PauseTuning,
    ResumeTuning,
    StopTuning,
)
from arena.courses.course_deeds import ChooseHandIn, MarkCourse, PublishMarks, SetCourse
from arena.deeds import By, Deed, perform
from arena.ground.db import Database
from arena.ground.refusals import NotAllowed, NotThere, Refusal, WrongField
from arena.lists.selection_deeds import KeepSelection, RemoveSelection
from arena.models import (
    SCOPES,
    Analysis,
    Approval,
    AuditEntry,
    Base,
    Bot,
    BotVersion,
    ChangedPart,
    Check,
    CompetitionDate,
    CompetitionState,
    CoOwner,
    DateKind,
    Delivery,
    DeliveryState,
    Entrant,
    Epoch,
    Follow,
    HomeRule,
    Hook,
    HookFormat,
    JobStatus,
    Ladder,
    MemberRole,
    Notification,
    Repository,
    Role,
    Scope,
    Selection,
    SignUp,
    StrengthTest,
    Tournament,
    User,
    VersionStatus,
    Worker,
)
from arena.operation.maintenance import SetMaintenance
from arena.operation.notice import GiveNotice
from arena.operation.settings import ChangeSetting
from arena.people.accounts import add_token
from arena.people.hooks import AddHook, RemoveHook, SendAgain, TryHook
from arena.people.notification_deeds import ChooseTold, ReadNotifications
from arena.people.notifications import delivery_of, notify, told_to
from arena.people.profiles import DescribeUser, RenameUser
from arena.people.user_deeds import (
    ActivateUser,
    ChangeRole,
    DeactivateUser,
    ResetSecondFactor,
    SetQuota,
)
from arena.recorder.match_set_deeds import ChooseMatches, DecideMatches
from arena.schedule.requests import RequestUnratedMatch
from arena.schedule.verdicts import RequeueChecks, RequeueMatch, VoidMatch
from arena.schedule.workers import ForgetWorker, ReadmitWorker
from engine.games import GAMES
from tests.arena.cli.remote.conftest import served
from tests.arena.web.conftest import furnish
from tests.arena.web.signing_in import now, pages, person, signed_in
from tests.furnished import furnished_database

PICTURE = base64.b64encode(
    # The smallest: one pixel.
    b"GIF89a\1\0\1\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\1\0\1\0\0\2\2D\1\0;"
).decode()
"""A GIF."""
Numbers = dict[str, int]
Values = dict[str, Any]
EXAMPLES: dict[type[Deed], tuple[Callable[[Numbers], dict[str, Any]], dict[str, Any], str]] = {
    VoidMatch: (
        lambda its: {"number": its["played"], "note": "power cut", "replay": True},
        {"number": 999_999},
        "there is no match 999999",
    ),
    RequeueMatch: (
        lambda its: {"number": its["aside"]},
        {"number": 1},
        "match 1 is fixed, and not set aside",
    ),
    ChangeVisibility: (
        lambda _: {"name": "ladder-0", "visibility": "unlisted"},
        {"name": "nothing"},
        "there is no competition 'nothing'",
    ),
    RenewJoinCode: (
        lambda _: {"name": "ladder-0"},
        {"name": "nothing"},
        "there is no competition 'nothing'",
    ),
    AddMember: (
        lambda _: {"name": "ladder-0", "user": "mate", "role": "organiser"},
        {"user": "nobody"},
        "there is no user 'nobody'",
    ),
    RemoveMember: (
        lambda _: {"name": "ladder-0", "user": "pupil"},
        {"user": "mate"},
        "mate is no member of ladder-0",
    ),
    ImportMembers: (
        lambda _: {"name": "ladder-0", "names": "name\nanna\nbernd\n"},
        {"names": "anna\nbad name\n"},
        "line 2: 'bad name' is no name",
    ),
    LookBehindMasks: (
        lambda _: {"name": "cup"},
        {"name": "ladder-0"},
        "ladder-0 is not anonymous",
    ),
    RevealCompetition: (
        lambda _: {"name": "cup"},
        {"name": "ladder-1"},
        "ladder-1 is not anonymous",
    ),
    JoinCompetition: (
        lambda _: {"code": "AAAA BBBB cccc"},
        {"code": "aaaa-bbbb-dddd"},
        "nothing is joined by the code 'aaaa-bbbb-dddd'",
    ),
    LeaveCompetition: (
        lambda _: {"name": "ladder-1"},
        {"name": "ladder-0"},
        "you are no member of ladder-0",
    ),
    KeepSelection: (
        lambda _: {"name": "lost on time", "filter": "ending=timeout&result=lost"},
        {"filter": "ending=boredom"},
        "ending: it is one of normal",
    ),
    FollowBot: (
        lambda _: {"name": "bot-1"},
        {"name": "nobody"},
        "there is no bot 'nobody'",
    ),
    UnfollowBot: (
        lambda _: {"name": "bot-0"},
        {"name": "nobody"},
        "there is no bot 'nobody'",
    ),
    FollowCompetition: (
        lambda _: {"name": "cup"},
        {"name": "nowhere"},
        "there is no competition 'nowhere'",
    ),
    UnfollowCompetition: (
        lambda _: {"name": "ladder-0"},
        {"name": "nowhere"},
        "there is no competition 'nowhere'",
    ),
    ReadNotifications: (
        lambda its: {"until": its["notification"]},
        {"until": 999_999},
        "you were told nothing of the number 999999",
    ),
    ChooseTold: (
        lambda _: {"mail": "never", "silenced": ("check",), "language": "it"},
        {"silenced": ("weather",)},
        "a topic is one of check, suspension",
    ),
    AddHook: (
        lambda _: {"url": "https://hooks.example.org/x", "format": "discord"},
        {"url": "http://hooks.example.org/x"},
        "give an address that begins with https://",
    ),
    RemoveHook: (
        lambda its: {"number": its["hook"]},
        {"number": 999_999},
        "you have no hook 999999",
    ),
    TryHook: (
        lambda its: {"number": its["hook"]},
        {"number": 999_999},
        "you have no hook 999999",
    ),
    SendAgain: (
        lambda its: {"number": its["hook"], "delivery": its["delivery"]},
        {"delivery": 999_999},
        "there is no message 999999 to hook",
    ),
    RemoveSelection: (
        lambda its: {"number": its["selection"]},
        {"number": 999_999},
        "there is no selection 999999",
    ),
    AskBots: (
        lambda _: {"game": "clobber size=6x7", "bots": ("bot-1",), "whole": True},
        {"bots": ("nobody",)},
        "no bot 'nobody' that may be asked plays clobber here",
    ),
    KeepAnalysis: (
        lambda _: {
            "name": "a blunder",
            "game": "clobber size=3x2",
            "moves": "b1c1 a1a2 1:b2a2",
            "comments": {"3": "why not?"},
        },
        {"moves": "z9"},
        "'z9' is not legal here",
    ),
    RemoveAnalysis: (
        lambda _: {"code": "known"},
        {"code": "unknown"},
        "there is no analysis unknown",
    ),
    AddBook: (
        lambda _: {"name": "mine", "game": "clobber size=4x4", "text": "a2a1\nb1a1 b2b3"},
        {"text": "a1a4"},
        "mine, line 1: this is neither moves",
    ),
    RemoveBook: (
        lambda _: {"name": "small"},
        {"name": "large"},
        "there is no book 'large'; there are: small",
    ),
    CreateLadder: (
        lambda _: {
            "name": "blitz",
            "game": "clobber",
            "options": {"size": "5x6"},
            "settings": {"time": "5+0.05"},
        },
        {"game": "chess"},
        "there is no game 'chess'",
    ),
    ChangeLadder: (
        lambda _: {"name": "ladder-0", "settings": {"state": "frozen", "note": "a <note>"}},
        {"settings": {"colour": "red"}},
        "a ladder has no 'colour'",
    ),
    CreateTournament: (
        lambda _: {
            "name": "mini",
            "format": "swiss",
            "ladder": "ladder-0",
            "bots": ("bot-0:1", "bot-1:1", "bot-3:1"),
            "settings": {"rounds": 2},
            "paused": True,
        },
        {"ladder": "nowhere"},
        "there is no ladder 'nowhere'; there are: ladder-0",
    ),
    ChangeTournament: (
        lambda _: {"name": "cup", "state": "open"},
        {"name": "cap"},
        "there is no tournament 'cap'; did you mean cup?",
    ),
    EnterTournament: (
        lambda _: {"name": "cup", "bots": ("bot-0:1",)},
        {"bots": ("bot-1",)},
        "stands in the field twice",
    ),
    WithdrawFromTournament: (
        lambda _: {"name": "cup", "bot": "bot-1"},
        {"bot": "nobody"},
        "'nobody' is not in the tournament cup",
    ),
    SignUpBot: (
        lambda _: {"name": "later", "bot": "bot-1:1"},
        {"bot": "nobody"},
        "there is no bot 'nobody'",
    ),
    SignOffBot: (
        lambda _: {"name": "later", "bot": "bot-2"},
        {"bot": "bot-1"},
        "bot-1 is not signed up for later",
    ),
    CheckInBot: (
        lambda _: {"name": "later", "bot": "bot-2"},
        {"name": "cup"},
        "nobody signs up for cup",
    ),
    SetDate: (
        lambda _: {
            "name": "ladder-0",
            "what": "final",
            "at": "2100-12-24T18:00Z",
            "settings": {"top": "4", "format": "knockout", "legs": "2"},
        },
        {"at": "at noon"},
        "'at noon' is no moment: write it as 2026-12-24T18:00Z",
    ),
    RemoveDate: (
        lambda _: {"name": "ladder-0", "what": "closes"},
        {"what": "freeze"},
        "ladder-0 has no date freeze",
    ),
    NameBoss: (
        lambda _: {"name": "ladder-0", "division": 2, "bot": "bot-1"},
        {"bot": "nobody"},
        "there is no bot 'nobody' on ladder-0 that can play in a tournament",
    ),
    SetCourse: (
        lambda _: {
            "name": "ladder-2",
            "references": ("bot-1:1",),
            "marks": "bot-1 50% 10",
            "late_until": "2100-12-24T18:00Z",
        },
        {"marks": "bot-9 50% 10"},
        "line 1: bot-9 is no reference bot here",
    ),
    MarkCourse: (
        lambda _: {"name": "ladder-2"},
        {"name": "ladder-1"},
        "ladder-1 is no course",
    ),
    PublishMarks: (
        lambda _: {"name": "ladder-2"},
        {"name": "ladder-1"},
        "ladder-1 is no course",
    ),
    ChooseHandIn: (
        lambda _: {"name": "ladder-2", "user": "administrator", "late": True},
        {"user": "mate"},
        "ladder-2 has no student mate",
    ),
    CreateTest: (
        lambda _: {
            "candidate": "bot-0:1",
            "baseline": "bot-1:1",
            "ladder": "ladder-0",
            "note": "x",
        },
        {"baseline": "nobody"},
        "there is no bot 'nobody' that is ready",
    ),
    StopTest: (
        lambda its: {"number": its["test"]},
        {"number": 999},
        "there is no strength test 999",
    ),
    ExtendTest: (
        lambda its: {"number": its["test"], "max_games": 30_000},
        {"max_games": 7},
        "allow it more",
    ),
    ApproveComparison: (
        lambda its: {"name": f"test-{its['waits']}"},
        {"name": "ladder-0"},
        "there is no competition 'ladder-0'; there are: ",
    ),
    PrioritiseTest: (
        lambda its: {"number": its["test"], "weight": 0.5},
        {"number": 999},
        "there is no strength test 999",
    ),
    KeepPreset: (
        lambda _: {"name": "quick", "note": "a <note>", "elo1": 50.0, "time": "1+0.01"},
        {"games": 100},
        "leave out elo1",
    ),
    RemovePreset: (
        lambda _: {"name": "kept"},
        {"name": "lost"},
        "there is no preset 'lost'; there are: kept",
    ),
    CloneTest: (
        lambda its: {"number": its["ended"]},
        {"number": 999},
        "there is no strength test 999",
    ),
    CreateTuning: (
        lambda _: {"bot": "bot-0:1", "parameters": ("width=1:0:2", "depth"), "ladder": "ladder-0"},
        {"parameters": ("speed",)},
        "has no option speed: it has depth, style, width",
    ),
    PauseTuning: (
        lambda its: {"number": its["tuning"]},
        {"number": 999},
        "there is no tuning 999",
    ),
    StopTuning: (
        lambda its: {"number": its["tuning"]},
        {"number": 999},
        "there is no tuning 999",
    ),
    ResumeTuning: (
        lambda its: {"number": its["untuned"]},
        {"number": 999},
        "there is no tuning 999",
    ),
    ExtendTuning: (
        lambda its: {"number": its["untuned"], "games": 3200},
        {"games": 7},
        "allow it more",
    ),
    ExcludeWorker: (
        lambda its: {"number": its["test"], "worker": "one", "why": "its clock <stood> still"},
        {"worker": "two"},
        "'two' has played no match of test",
    ),
    IncludeWorker: (
        lambda its: {"number": its["ended"], "worker": "one"},
        {"number": 999},
        "there is no strength test 999",
    ),
    CreateGauntlet: (
        lambda _: {
            "candidate": "bot-0:1",
            "baseline": "bot-1:1",
            "against": ("bot-2:1",),
            "ladder": "ladder-0",
            "seed": 1,
        },
        {"against": ("bot-1:1",)},
        "the version bot-1 v1 stands in the field twice",
    ),
    StopGauntlet: (
        lambda _: {"name": "gauntlet"},
        {"name": "gauntlet-9"},
        "there is no gauntlet 'gauntlet-9'; did you mean gauntlet?",
    ),
    ChooseMatches: (
        lambda _: {"verdict": "replay", "filter": "competition=ladder-0", "note": "its fan"},
        {"filter": "competition=nowhere"},
        "there is no competition nowhere",
    ),
    DecideMatches: (
        lambda its: {"number": its["set"]},
        {"number": 999_999},
        "there is no set of matches 999999",
    ),
    ChangeSetting: (
        lambda _: {"name": "registration", "value": "open"},
        {"value": "everybody"},
        "ARENA_REGISTRATION=everybody is not allowed: it is one of open, invitation, closed",
    ),
    SetMaintenance: (
        lambda _: {"on": True, "text": "until <noon>"},
        {"text": "until\u200b noon"},
        "there are characters in it that can't be seen",
    ),
    RequeueChecks: (
        lambda _: {"bots": ("bot-3",)},
        {"bots": ("bot-2",)},
        "no check of bot-2 is set aside",
    ),
    EnterBot: (
        lambda _: {"name": "bot-0", "ladder": "ladder-0", "version": 1},
        {"version": 99},
        "there is no version 99 of the bot bot-0",
    ),
    ConnectBot: (
        lambda _: {"name": "bot-0", "ladder": "ladder-0", "new_version": "deeper"},
        {"ladder": "nowhere"},
        "there is no ladder 'nowhere'",
    ),
    RetireBot: (
        lambda _: {"name": "bot-0", "ladder": "ladder-0"},
        {"ladder": "nowhere"},
        "there is no ladder 'nowhere'",
    ),
    WithdrawBot: (
        lambda _: {"name": "bot-0"},
        {"name": "nobody"},
        "there is no bot 'nobody'",
    ),
    ChangeBot: (
        lambda _: {"name": "bot-0", "open_source": True},
        {"name": "nobody"},
        "there is no bot 'nobody'",
    ),
    DescribeBot: (
        lambda _: {
            "name": "bot-0",
            "description": "It **counts**.",
            "links": ("https://example.org/bot",),
            "tags": ("counting", "c++"),
        },
        {"links": ("javascript:alert(1)",)},
        "'javascript:alert(1)' is no link",
    ),
    PictureBot: (
        lambda _: {"name": "bot-0", "picture": PICTURE},
        {"picture": "bm8gcGljdHVyZQ=="},
        "this is no picture in PNG, JPEG, WebP or GIF",
    ),
    RenameBot: (
        lambda _: {"name": "bot-0", "to": "counter"},
        {"to": "bot-1"},
        "the name bot-1 is taken: choose another",
    ),
    DeleteBot: (
        lambda _: {"name": "bot-0"},
        {"name": "nobody"},
        "there is no bot 'nobody'",
    ),
    DescribeUser: (
        lambda _: {"name": "mate", "description": "Somebody.", "links": ("mailto:a@example.org",)},
        {"name": "nobody"},
        "there is no user 'nobody'",
    ),
    RenameUser: (
        lambda _: {"name": "mate", "to": "comrade"},
        {"to": "arena"},
        "the name arena is taken: choose another",
    ),
    DeleteUser: (
        lambda _: {"name": "mate", "confirm": "mate"},
        {"confirm": "tame"},
        "write the name of the account that is to go",
    ),
    RenameCompetition: (
        lambda _: {"name": "ladder-0", "to": "first"},
        {"to": "test-7"},
        "test-7 is what a strength test is called: choose another name",
    ),
    BarBot: (
        lambda _: {"name": "ladder-0", "bot": "bot-0", "note": "it is a copy"},
        {"bot": "nobody"},
        "there is no bot 'nobody'",
    ),
    UnbarBot: (
        lambda _: {"name": "ladder-2", "bot": "bot-3"},
        {"bot": "bot-0"},
        "no organiser took bot-0 off ladder-2",
    ),
    ShareBot: (
        lambda _: {"name": "bot-0", "user": "mate"},
        {"user": "nobody"},
        "there is no user 'nobody'",
    ),
    UnshareBot: (
        lambda _: {"name": "bot-1", "user": "mate"},
        {"name": "bot-0"},
        "mate is no co-owner of the bot bot-0",
    ),
    FoundTeam: (
        lambda _: {"name": "bishops"},
        {"name": "mate"},
        "the name mate is taken: choose another",
    ),
    DescribeTeam: (
        lambda _: {"name": "knights", "description": "We.", "links": ("mailto:a@example.org",)},
        {"name": "nobody"},
        "there is no team 'nobody'",
    ),
    RenameTeam: (
        lambda _: {"name": "knights", "to": "pawns"},
        {"to": "rooks"},
        "the name rooks is taken: choose another",
    ),
    RenewTeamCode: (
        lambda _: {"name": "knights"},
        {"name": "nobody"},
        "there is no team 'nobody'",
    ),
    JoinTeam: (
        lambda _: {"code": "AAAA BBBB eeee"},
        {"code": "aaaa-bbbb-dddd"},
        "nothing is joined by the code 'aaaa-bbbb-dddd'",
    ),
    LeaveTeam: (
        lambda _: {"name": "knights"},
        {"name": "rooks"},
        "administrator is no member of the team rooks",
    ),
    RemoveTeamMember: (
        lambda _: {"name": "knights", "user": "administrator"},
        {"user": "mate"},
        "mate is the captain of the team knights",
    ),
    HandOverTeam: (
        lambda _: {"name": "knights", "user": "administrator"},
        {"user": "pupil"},
        "pupil is no member of the team knights",
    ),
    DissolveTeam: (
        lambda _: {"name": "rooks"},
        {"name": "nobody"},
        "there is no team 'nobody'",
    ),
    GiveBot: (
        lambda _: {"name": "spare", "to": "knights"},
        {"to": "rooks"},
        "administrator is no member of the team rooks",
    ),
    FollowRepository: (
        lambda _: {
            "name": "bot-0",
            "repository": "https://git.example.org/me/bot.git",
            "ladders": ("ladder-0",),
            "revision": "main",
        },
        {"ladders": ("nowhere",)},
        "there is no ladder 'nowhere'",
    ),
    FetchRepository: (
        lambda _: {"name": "bot-2"},
        {"name": "bot-0"},
        "the bot bot-0 follows no git repository",
    ),
    UnfollowRepository: (
        lambda _: {"name": "bot-2"},
        {"name": "bot-0"},
        "the bot bot-0 follows no git repository",
    ),
    CancelCheck: (
        lambda its: {"number": its["check"]},
        {"number": 999_999},
        "there is no check 999999 of a bot of yours",
    ),
    RequestUnratedMatch: (
        lambda _: {"ladder": "ladder-0", "bots": ("bot-0:1", "bot-1:1")},
        {"bots": ("bot-0:1",)},
        "is between 2 bots, not 1",
    ),
    RemoveRuntime: (
        lambda _: {"name": "scientific"},
        {"name": "nothing"},
        "there is no runtime 'nothing' here; there are: ",
    ),
    ReadmitWorker: (
        lambda _: {"worker": "one"},
        {"worker": "three"},
        "there is no worker 'three'; there are: ",
    ),
    ForgetWorker: (
        lambda _: {"worker": "two"},
        {"worker": "three"},
        "there is no worker 'three'; there are: ",
    ),
    GiveNotice: (
        lambda _: {"text": "back at noon"},
        {"text": "x" * 301},
        "a notice has at most 300 characters",
    ),
    ChangeRole: (
        lambda _: {"name": "mate", "role": "organiser"},
        {"name": "nobody"},
        "there is no user 'nobody'",
    ),
    DeactivateUser: (
        lambda _: {"name": "mate"},
        {"name": "administrator"},
        "is the only administrator",
    ),
    ActivateUser: (
        lambda _: {"name": "shut"},
        {"name": "nobody"},
        "there is no user 'nobody'",
    ),
    SetQuota: (
        lambda _: {"name": "mate", "mib": 4096},
        {"name": "nobody"},
        "there is no user 'nobody'",
    ),
    ResetSecondFactor: (
        lambda _: {"name": "mate"},
        {"name": "nobody"},
        "there is no user 'nobody'",
    ),
    CallOffTournament: (
        lambda _: {"name": "cup", "note": "rain"},
        {"name": "cap"},
        "there is no tournament 'cap'",
    ),
}
"""What can be done by each deed on the arena of `furnish`, what of it is refused, and how."""
each_deed = pytest.mark.parametrize("deed", DEEDS, ids=[deed.__name__ for deed in DEEDS])


@contextmanager
def copied(
    request: pytest.FixtureRequest, folder: Path
) -> Iterator[tuple[Database, Numbers, Path]]:
    """An arena with a bit of everything in a data folder of its own."""
    folder.mkdir()
    request.param = "sqlite"
    with furnished_database(request, folder, furnish_all) as (database, numbers):
        yield database, numbers, folder


def furnish_all(database: Database) -> Numbers:
    """The arena of `furnish`, with what else there is to do something with."""
    numbers = furnish(database)
    user = person(database, "administrator", Role.ADMINISTRATOR)
    mate = person(database, "mate")
    person(database, "shut", active=False)
    with database.begin() as session:
        session.execute(sa.update(Bot).values(owner_id=user.id))
        session.execute(sa.update(Ladder).values(home=HomeRule.BESIDE))
        bot = session.scalars(sa.select(Bot).where(Bot.name == "bot-1")).one()
        session.add(CoOwner(bot_id=bot.id, user_id=mate.id))
        ladder, other = session.scalars(
            sa.select(Ladder).where(Ladder.name.in_(["ladder-0", "ladder-1"])).order_by("name")
        )
        ladder.join_code = "aaaa-bbbb-cccc"
        cup = sa.update(Tournament).where(Tournament.name == "cup")
        session.execute(cup.values(anonymous=True))
        pupil = User(name="pupil", created=now())
        session.add(pupil)
        session.flush()
        mates, themselves = (session.get_one(User, one.id) for one in (mate, user))
        knights = teams.make(session, "knights", mates, now())
        teams.join(session, knights, themselves, now())
        teams.make(session, "rooks", pupil, now()).join_code = "aaaa-bbbb-eeee"
        for its, one in ((ladder, pupil), (other, user)):
            members.add(session, ARENA, its, one, MemberRole.MEMBER, now())
        followed = session.scalars(sa.select(Bot).where(Bot.name == "bot-2")).one()
        session.add(
            Repository(
                bot_id=followed.id,
                user_id=user.id,
                address="https://git.example.org/me/bot.git",
                ladders=list(session.scalars(sa.select(Ladder.id))),
                fetched=now(),
                due=now(),
            )
        )
        # One check that was set aside, and one that is not over.
        checks = sa.select(Check).join(Check.version).join(BotVersion.bot)
        for name, status in {"bot-3": JobStatus.SET_ASIDE, "bot-2": JobStatus.OPEN}.items():
            old = session.scalars(checks.where(Bot.name == name).limit(1)).one()
            check = Check(
                version=old.version,
                ladder=old.ladder,
                status=status,
                created=now(),
                findings=[],
            )
            session.add(check)
        for worker in session.scalars(sa.select(Worker)):
            worker.set_aside = now()
        perform(session, BarBot("ladder-2", "bot-3", "a copy"), By(ARENA, frozenset(Scope), now()))
        ladder = session.scalars(sa.select(Ladder).where(Ladder.name == "ladder-0")).one()
        closes = datetime(2101, 1, 1, tzinfo=UTC)
        session.add(
            CompetitionDate(competition=ladder, what=DateKind.CLOSES, at=closes, settings={})
        )
        later = {"entries-close": (now() + timedelta(hours=10)).isoformat()}
        its = {"format": "swiss", "ladder": "ladder-0", "sign_up": True, "dates": later}
        by = By(ARENA, frozenset(Scope), now(), at_machine=True)
        taught = session.scalars(sa.select(Ladder).where(Ladder.name == "ladder-2")).one()
        members.add(session, ARENA, taught, user, MemberRole.MEMBER, now())
        perform(session, SetCourse("ladder-2", ("bot-1:1",), "bot-1 50% 10"), by)
        handed_in = sa.select(Entrant).join(Entrant.version).join(BotVersion.bot)
        handed_in = handed_in.where(Entrant.competition_id == taught.id, Bot.name == "bot-2")
        for entrant in session.scalars(handed_in):
            entrant.version.status = VersionStatus.READY
        its_end = {"what": DateKind.FREEZE, "at": now(), "settings": {}}
        session.add(CompetitionDate(competition=taught, happened=now(), **its_end))
        perform(session, CreateTournament("later", each_person=3, check_in=720, **its), by)
        perform(session, SignUpBot("later", "bot-2"), by)
        session.execute(sa.update(SignUp).values(checked_in=None))
        variant = GAMES["clobber"].variant()
        books.add(session, "small", variant, "a2a1", now(), ARENA, most=None)
        selection = Selection(owner_id=user.id, name="all", words="", created=now())
        session.add(selection)
        hook = Hook(
            user_id=user.id, url="https://h.example/", format=HookFormat.JSON, created=now()
        )
        cup = session.scalars(sa.select(Tournament.id).where(Tournament.name == "cup")).one()
        session.add_all(
            [
                hook,
                Bot(name="spare", owner_id=user.id, created=now()),  # in no course
                Follow(user_id=user.id, bot_id=bot.id, muted=True, since=now()),
                Follow(user_id=user.id, competition_id=cup, muted=True, since=now()),
            ]
        )
        session.flush()
        notify(session, [user.id], "hello", {}, "/", now())
        told = told_to(session, user.id, count=1)[0]
        sent = delivery_of(hook, None, now())
        sent.state = DeliveryState.ARRIVED
        session.add(sent)
        session.add(
            Analysis(
                code="known",
                owner_id=user.id,
                name="known",
                game="clobber size=3x2",
                position="",
                moves="",
                comments={},
                shared=True,
                created=now(),
                changed=now(),
            )
        )
        clone = CloneTest(numbers["ended"])
        waits = perform(session, clone, By(ARENA, frozenset(Scope), now())).answer
        waits.creator_id, waits.approval = mate.id, Approval.NEEDED
        waits.state = CompetitionState.PAUSED
        session.flush()
        return {
            **numbers, "check": check.id, "selection": selection.id, "waits": waits.id,
            "hook": hook.id, "delivery": sent.id, "notification": told.id,
        }  # fmt: skip


def notes(database: Database) -> list[AuditEntry]:
    with database.read() as session:
        return list(session.scalars(sa.select(AuditEntry).order_by(AuditEntry.id)))


UNEQUAL = {"code", "secret", "seed", "creator", "approver", "told", "links"}
"""Keys of answers that follow from chance, or from who asked; in what is told is a seed, too."""


def timeless(answer: Any) -> Any:
    """An answer without its moments and what is `UNEQUAL`."""
    if isinstance(answer, dict):
        return {key: timeless(one) for key, one in answer.items() if key not in UNEQUAL}
    if isinstance(answer, list):
        return [timeless(one) for one in answer]
    is_moment = isinstance(answer, str) and re.match(r"\d{4}-\d\d-\d\dT", answer)
    return "a moment" if is_moment else answer


def test_each_deed_has_an_example() -> None:
    """A deed that is not in the table has not been tried."""
    assert set(EXAMPLES) == set(DEEDS)


@each_deed
def test_a_deed_says_what_it_is(deed: type[Deed]) -> None:
    """It has words for people, and where it is for programs."""
    summary, _, more = deed.words().partition("\n\n")
    assert summary.endswith("."), summary
    assert more != summary
    assert re.fullmatch(r"(POST|PATCH) /\S+", deed.address)
    for part in deed.parts():
        assert part.name not in vars(Deed), "what a deed says of itself has this name"
        assert part.limits.words, part
        assert not part.limits.words.endswith("."), part
        assert part.kind is not str or part.in_address or part.limits.most or part.limits.choices
    if deed.command:
        names = {part.name for part in deed.parts()}
        assert {word.lower().rstrip(".") for word in re.findall("[A-Z.]+", deed.command)} <= names
        group = deed.command.partition(" ")[0]
        assert group in COMMANDS


Outcome = tuple[str, Any, str]
"""What was said, what was answered, and how what can't be was refused."""


def by_command(deed: type[Deed], values: Values, wrong: Values, where: Where) -> Outcome:
    """As commands do it."""
    with pytest.raises(InputError) as refused:
        deeds.do([deed(**{**values, **wrong})], where)
    (told,) = deeds.do([deed(**values)], where, in_json=True)
    return told.said, timeless(told.answer), refused.value.message


def by_form(app: Flask, endpoint: str, values: Values, wrong: Values) -> Outcome:
    """As a page does it, which answers no more than what was done."""
    browser = signed_in(app, "administrator")

    def send(said: Values) -> TestResponse:
        with app.test_request_context():
            rule = next(app.url_map.iter_rules(endpoint))
            address = url_for(endpoint, **{name: said[name] for name in rule.arguments})
        fields = {
            name: " ".join(one) if isinstance(one, tuple) else one
            for name, one in said.items()
            if name not in rule.arguments and one is not False
        }
        fields |= {"confirmed": "y"}
        return browser.post(address, fields, page="/account", follow_redirects=True)

    refused, done = send({**values, **wrong}), send(values)
    assert refused.status_code in (404, 409, 422)
    assert done.status_code == 200, done.text
    return html.unescape(done.text), None, html.unescape(refused.text)


@pytest.fixture(scope="module")
def forms(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[type[Deed], str]:
    """The endpoint of each deed that has a form."""
    with copied(request, tmp_path_factory.mktemp("forms") / "arena") as (database, _, folder):
        app = pages(database, data=folder)
        app.extensions["arena.database"].close()
    views = app.view_functions.items()
    return {vars(view)["deed"]: endpoint for endpoint, view in views if "deed" in vars(view)}


@pytest.mark.parametrize("other", ["form", pytest.param("server", marks=pytest.mark.long)])
@each_deed
def test_its_doors_do_the_same(
    request: pytest.FixtureRequest,
    deed: type[Deed],
    other: str,
    forms: dict[type[Deed], str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A data folder, a server and a form agree: what is done and said, one note, the refusal."""
    example, wrong, words = EXAMPLES[deed]
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("LOGNAME", "administrator")
    found, noted = {}, {}
    for door in ("data", *((other,) if other == "server" or deed in forms else ())):
        with copied(request, tmp_path / door) as (database, numbers, folder):
            values, before = example(numbers), len(notes(database))
            if door == "data":
                found[door] = by_command(deed, values, wrong, Where(data=folder))
            elif door == "server":
                user = person(database, "administrator")
                with database.begin() as session:
                    token = add_token(session, ARENA, user, "t", SCOPES[user.role], now())
                monkeypatch.setenv("ARENA_TOKEN", token)
                with served(database, folder) as address:
                    found[door] = by_command(deed, values, wrong, Where(address))
            else:
                app = pages(database, data=folder)
                found[door] = by_form(app, forms[deed], values, wrong)
                app.extensions["arena.database"].close()
            noted[door] = [
                (one.action, one.subject, one.detail)
                for one in notes(database)[before:]
                if one.actor != ARENA.name and one.action not in ("add token", "sign in")
            ]
    said, answer, refusal = found["data"]
    assert words.casefold() in refusal.casefold()
    assert len(noted["data"]) == 1
    sentence = refusal.rstrip(".").casefold()
    if "server" in found:
        server, _, said_there = found["server"][0].partition(": ")
        assert server.startswith("http://127.0.0.1:")
        assert (said_there, found["server"][1]) == (said, answer)
        assert found["server"][2].rstrip(".").casefold() == sentence
        assert noted["server"] == noted["data"]
    if "form" in found:
        assert said.casefold() in found["form"][0].casefold()
        # Of what is wrong in a field its page does not tell the name, which stands there.
        beside = sentence.partition(": ")[2] or sentence
        assert any(words in found["form"][2].casefold() for words in (sentence, beside))
        assert noted["form"] == noted["data"]


MOMENTS = {"id", "created", "since", "changed", "finished", "reason", "rebuild_due", "joined"}
PASSING = MOMENTS | {
    "mu", "sigma", "conservative", "returned", "returned_after", "returned_at", "games_before",
    "announced",
}  # fmt: skip
"""Columns in which what is taken back may differ from what never was: moments, how firmly a rating
is held, since a bot that comes back may be another by then, and what people were told."""


def standing(session: sa.orm.Session) -> dict[str, list[str]]:
    """All that is stored, but for notes of what was done or has changed, and what people were
    told."""
    session.flush()
    kinds = AuditEntry, Notification, Delivery, Epoch, ChangedPart
    said = {kind.__tablename__ for kind in kinds}
    tables = [one for one in Base.metadata.sorted_tables if one.name not in said]
    found = {}
    for table in tables:
        columns = [one for one in table.columns if one.name not in PASSING]
        found[table.name] = sorted(
            map(str, session.execute(sa.select(*columns)) if columns else ())
        )
    return found


@pytest.mark.long
def test_each_deed_asks_or_is_undone_or_only_adds(
    request: pytest.FixtureRequest, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """One of the three; what undoes it asks nothing, and leaves everything as it was."""
    with copied(request, tmp_path / "arena") as (database, numbers, _):
        user = person(database, "administrator")
        by = By(Actor(user.id, user.name, ""), frozenset(Scope), now())
        with database.begin() as session:
            # With a check under way, or where no bots are taken, it asks before it leaves a ladder.
            its = sa.select(BotVersion.id).join(BotVersion.bot).where(Bot.name == "bot-0")
            over = sa.update(Check).where(Check.version_id.in_(its))
            session.execute(over.values(status=JobStatus.VOID))
            session.execute(sa.update(Ladder).values(state=CompetitionState.OPEN))
            perform(session, GiveNotice("soon"), by)
        for deed in DEEDS:
            with subtests.test(deed.__name__), database.begin() as session:
                if deed is EnterBot:  # its example is there already: it is to come back
                    perform(session, RetireBot("bot-0", "ladder-0"), by)
                asked = deed(**EXAMPLES[deed][0](numbers))
                adds, asks = bool(deed.adds or deed.makes), bool(asked.asks(session, by))
                before = None if adds or asks else standing(session)
                done = perform(session, asked, by)
                assert adds + asks + bool(done.undo) == 1, "it adds, is undone, or asks before"
                if before is not None:
                    assert standing(session) != before, "there is something to undo"
                    for one in done.undo:
                        assert not one.asks(session, by)
                        perform(session, one, by)
                    assert standing(session) == before
                session.rollback()


@each_deed
def test_nobody_does_it_without_its_scope(deed: type[Deed]) -> None:
    """Whatever door they come through."""
    values, *_ = EXAMPLES[deed]
    numbers = [
        "played", "set", "aside", "ended", "test", "waits", "tuning", "untuned", "check",
        "selection", "hook", "delivery", "notification",
    ]  # fmt: skip
    asked = deed(**values(dict.fromkeys(numbers, 1)))
    nobody = By(ARENA, frozenset(), now())
    with pytest.raises(NotAllowed, match=f"scope {deed.scope}"):
        perform(sa.orm.Session(), asked, nobody)


@pytest.mark.parametrize(
    "deed", [deed for deed in DEEDS if deed.command], ids=lambda deed: deed.__name__
)
def test_a_command_does_it(deed: type[Deed]) -> None:
    """It takes what the deed asks for, on a data folder or on a server; a command of its own stands
    before each of the others."""
    found: Any = cli
    for word in re.findall(r"[a-z-]+", deed.command):
        found = found.get_command(click.Context(found), word)
    takes = {one.name for one in found.params}
    assert takes == {part.name for part in deed.parts()} | {"server", "data", "in_json"}


def test_a_group_of_deeds_alone_is_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes no module of its own."""
    monkeypatch.setitem(COMMANDS, "bot", ("deeds", "What is done with bots."))
    group = cli.get_command(click.Context(cli), "bot")
    assert isinstance(group, click.Group)
    assert group.help == "What is done with bots."
    assert {"share", "unshare", "withdraw"} <= set(group.commands)


def test_an_organiser_elsewhere_runs_a_tournament(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """They type commands as they are; each says what was done, or in one line why not."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with (
        copied(request, tmp_path / "arena") as (database, numbers, folder),
        served(database, folder) as address,
    ):
        user = person(database, "olga", Role.ORGANISER)
        with database.begin() as session:
            token = add_token(session, ARENA, user, "t", SCOPES[user.role], now())
        monkeypatch.setenv("ARENA_TOKEN", token)
        monkeypatch.setenv("ARENA_SERVER", address)
        cup = "tournament create mini --ladder ladder-0 --format swiss --top 3 --paused"
        for line, code, words in (
            (cup, 0, "the tournament mini waits until you open it: swiss of 3 bots"),
            (cup, 2, "there is a competition mini already: choose another name"),
            ("tournament enter mini bot-0:1", 0, "in the tournament mini, of 4 bots now"),
            ("tournament withdraw mini bot-0:1", 0, "the bot bot-0 v1 is no more in the"),
            ("tournament resume mini", 0, "the tournament mini is open"),
            ("tournament pause mini", 0, "is paused; go on with: arena tournament resume mini"),
            ("tournament call-off mini --note rain", 0, "the tournament mini is called off"),
            ("ladder change ladder-0 state=paused", 0, "state: open → paused"),
            (f"match void {numbers['played']} --note rain", 0, "is void"),
            ("match requeue --all", 0, "1 match is to be tried again"),
            (f"match void {10**30} --note rain", 2, "no such name or number, or the arena is of"),
            ("bot recheck bot-3", 0, "1 check is to be tried again"),
            (f"strength stop test-{numbers['test']}", 0, "is stopped after"),
            (f"tuning pause tuning-{numbers['tuning']}", 0, "is paused"),
            (f"tuning extend {numbers['tuning']} --games 9", 2, "may have 320 games already"),
            ("notice hello", 2, "This is for administrators; your role is organiser."),
            ("match request ladder-0 bot-0 bot-1 --user olga", 2, "--user is for this machine's"),
        ):
            assert run(line.split()) == code, line
            said = capsys.readouterr()
            # The API's refusals are sentences, with a capital.
            assert words.casefold() in (said.err if code else said.out).casefold()
            assert code or said.out.startswith(f"{address}: "), "it tells where it was done"


WHO: list[tuple[type[Deed], dict[str, Any], str]] = [
    (EnterBot, {"name": "bot-1", "ladder": "ladder-0", "version": 1}, "owner co-owner"),
    (ConnectBot, {"name": "bot-1", "ladder": "ladder-0"}, "owner co-owner"),
    (RetireBot, {"name": "bot-1", "ladder": "ladder-0"}, "owner co-owner"),
    (WithdrawBot, {"name": "bot-1"}, "owner co-owner"),
    (ChangeBot, {"name": "bot-1", "open_source": True}, "owner co-owner"),
    (DescribeBot, {"name": "bot-1", "tags": ("c++",)}, "owner co-owner"),
    (PictureBot, {"name": "bot-1"}, "owner co-owner"),
    (RenameBot, {"name": "bot-1", "to": "other"}, "owner co-owner"),
    (DeleteBot, {"name": "bot-1"}, "owner"),
    (DescribeUser, {"name": "mate", "description": "x"}, "co-owner"),
    (DeleteUser, {"name": "mate", "confirm": "mate"}, "co-owner"),
    (RenameUser, {"name": "mate", "to": "comrade"}, "co-owner"),
    (ShareBot, {"name": "bot-1", "user": "olga"}, "owner"),
    (DescribeTeam, {"name": "knights", "description": "x"}, "co-owner"),
    (RenameTeam, {"name": "knights", "to": "pawns"}, "co-owner"),
    (RenewTeamCode, {"name": "knights"}, "co-owner"),
    (RemoveTeamMember, {"name": "knights", "user": "administrator"}, "co-owner"),
    (HandOverTeam, {"name": "knights", "user": "administrator"}, "co-owner"),
    (DissolveTeam, {"name": "knights"}, "co-owner"),
    (UnshareBot, {"name": "bot-1", "user": "mate"}, "owner co-owner"),
    (
        FollowRepository,
        {"name": "bot-1", "repository": "https://git.example.org/x", "ladders": ("ladder-0",)},
        "owner co-owner",
    ),
    (CancelCheck, {"number": "check"}, "owner co-owner"),
    (WithdrawFromTournament, {"name": "cup", "bot": "bot-1"}, "owner co-owner organiser"),
    (SignUpBot, {"name": "later", "bot": "bot-1"}, "owner co-owner organiser"),
    (StopTest, {"number": "test"}, "owner organiser"),
    (ExtendTest, {"number": "test", "max_games": 30_000}, "owner organiser"),
    (ApproveComparison, {"name": "test-{waits}"}, "organiser"),
    (PrioritiseTest, {"number": "test", "weight": 0.5}, "owner organiser"),
    (PrioritiseTest, {"number": "test", "weight": 2.0}, "organiser"),
    (CloneTest, {"number": "test"}, "owner co-owner organiser"),
    (ExcludeWorker, {"number": "test", "worker": "one", "why": "x"}, "organiser"),
    (IncludeWorker, {"number": "ended", "worker": "one"}, "organiser"),
    (StopGauntlet, {"name": "gauntlet"}, "organiser"),
    *(
        (
            CreateGauntlet,
            {"candidate": "bot-1:1", "baseline": "bot-0:1", "against": ("bot-2:1",), **rules},
            who,
        )
        for rules, who in (
            ({"ladder": "ladder-0"}, "owner co-owner organiser"),
            ({"game": "clobber size=5x6"}, "organiser"),
        )
    ),
    *(
        (CreateTest, {"candidate": "bot-1:1", "baseline": "bot-0:1", **rules}, who)
        for rules, who in (
            ({"ladder": "ladder-0"}, "owner co-owner organiser"),
            ({"game": "clobber size=5x6"}, "organiser"),
            ({"ladder": "ladder-0", "time": "86400+0"}, "organiser"),
            ({"ladder": "ladder-0", "move": 86_400_000}, "organiser"),
        )
    ),
]
"""What takes more than a scope, and who may: the bot's owner, who made the test, and so on."""


def test_whose_it_is_does_it_and_nobody_else(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """So it is at whatever door: what is another's is not told to be there, or not theirs."""
    with copied(request, tmp_path / "arena") as (database, numbers, _):
        owner, mate = person(database, "owner"), person(database, "mate")
        people = {
            "owner": owner,
            "co-owner": mate,
            "organiser": person(database, "olga", Role.ORGANISER),
            "another": person(database, "eve"),
        }
        with database.begin() as session:
            session.execute(sa.update(Bot).values(owner_id=owner.id))
            session.get_one(StrengthTest, numbers["test"]).creator_id = owner.id
            bots = frozenset(session.scalars(sa.select(Bot.id)))
        found, wanted = [], []
        for deed, values, who in WHO:
            said = {key: numbers[one] if key == "number" else one for key, one in values.items()}
            if "name" in said:
                said["name"] = said["name"].format(**numbers)
            for name, user in people.items():
                shared = bots if user is mate else frozenset[int]()
                by = By(Actor(user.id, user.name, ""), SCOPES[user.role], now(), shared)
                may = True
                with database.begin() as session:
                    try:
                        perform(session, deed(**said), by)
                    except (NotAllowed, NotThere):
                        may = False
                    session.rollback()
                found.append((deed, values, name, may))
                wanted.append((deed, values, name, name in who.split()))
        assert found == wanted


BOUNDS = [
    (VoidMatch, {"number": 1, "note": " "}, "note: this is needed"),
    (VoidMatch, {"number": 1, "note": "a\0b"}, "note: leave out the character NUL"),
    (VoidMatch, {"number": 1, "note": "x" * 2001}, "note: give at most 2,000 characters"),
    (CreateTest, {"candidate": "a", "baseline": "b", "move": 0}, "move: give a number from 1"),
    (
        CreateTest,
        {"candidate": "a", "baseline": "b", "elo0": float("nan")},
        "elo0: give a number from -1,000 to 1,000",
    ),
    (
        ChangeLadder,
        {"name": "l", "settings": {"draws": "0.05" + "0" * 2000}},
        "settings: give texts of at most 2,000 characters",
    ),
]


@pytest.mark.parametrize(("deed", "values", "words"), BOUNDS)
def test_a_deed_holds_its_own_limits(deed: type[Deed], values: dict[str, Any], words: str) -> None:
    """Whoever makes it: there is none that is out of them."""
    with pytest.raises(WrongField) as refused:
        deed(**values)
    assert str(refused.value) == words
    assert isinstance(refused.value, Refusal)


def test_a_name_of_before_is_told_to_be_so(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Commands do what is asked, here and elsewhere, and say what it is called now."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with (
        copied(request, tmp_path / "arena") as (database, _, folder),
        served(database, folder) as address,
    ):
        user = person(database, "administrator")
        with database.begin() as session:
            token = add_token(session, ARENA, user, "t", SCOPES[user.role], now())
        monkeypatch.setenv("ARENA_TOKEN", token)
        for where in (["--server", address], ["--data", str(folder)]):
            assert run(["bot", "rename", "bot-0", where[0][2:], *where]) == 0
            capsys.readouterr()
            assert run(["bot", "change", "bot-0", "--open-source", *where]) == 0
            said = capsys.readouterr()
            assert said.err == f"bot-0 is called {where[0][2:]} now\n"
            assert f"code and logs of {where[0][2:]} are for everybody now" in said.out
