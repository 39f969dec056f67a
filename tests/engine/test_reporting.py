"""What workers say, who may be anybody: whatever is no report is refused in one line."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest

from engine.jobs import JobError
from engine.record import RecordError
from engine.reporting import (
    AnswersReport,
    Built,
    CheckReport,
    MatchReport,
    MoveReport,
    Progress,
    Started,
)

LEASE = {"kind": "match", "job": 7, "attempt": 1, "ticket": "t"}
PLAYED = {"lease": LEASE, "worker": "w", "games": [], "logs": []}


def under_way(game: Any) -> dict[str, Any]:
    """A word of how far a match is."""
    return {"lease": LEASE, "progress": {"game": game, "moves": [], "findings": []}}


def checked(*options: Any) -> dict[str, Any]:
    """What a check found of a bot's options."""
    return {"lease": LEASE, "worker": "w", "findings": [], "log": "", "options": [*options]}


ANSWER = {
    "ply": 0,
    "move": "1:a1a2",
    "cpu_us": 5,
    "wall_us": 6,
    "text": "",
    "values": {"eval": 0.5},
    "pv": ["a1a2"],
}


def answered(**changes: Any) -> dict[str, Any]:
    """What a bot that was asked answered, with something else in it."""
    return {"lease": LEASE, "worker": "w", "answers": [ANSWER | changes]}


KINDS = [MatchReport, Started, Progress, CheckReport, MoveReport, AnswersReport, Built]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("data", [None, 7, "report", ["lease"], {}], ids=repr)
def test_what_is_no_report_is_refused(kind: Any, data: Any) -> None:
    with pytest.raises(JobError, match=r"^no (report of a|word of) "):
        kind.from_json(data)


def test_a_check_tells_of_options() -> None:
    """It does in one way, whichever way they were declared; None if it does not say, as of old."""
    said = checked("depth int 01 +20 6", "width float 0 1e0 .5")
    report = CheckReport.from_json(said)
    assert report.options == ("depth int 1 20 6", "width float 0 1 0.5")
    assert CheckReport.from_json(report.to_json()) == report
    del said["options"]
    assert CheckReport.from_json(said).options is None


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"values": {"eval": inf}}, "'inf' is no number"),
        ({"values": {"eval": "0.5"}}, "'0.5' is no number"),
        ({"cpu_us": 2**63}, "is no time in microseconds"),
        ({"cpu_us": None}, "None is no time"),
        ({"ply": 0.5}, "no number of its ply"),
        ({"move": "a1a2"}, "no move with its seat"),
        ({"pv": "a1a2"}, "is no list"),
        ({"pv": [7]}, "is no text"),
    ],
)
def test_what_no_bot_answers_is_refused(changes: dict[str, Any], words: str) -> None:
    assert AnswersReport.from_json(answered()).answers[0][1].move == "a1a2"
    with pytest.raises(RecordError, match=words):
        AnswersReport.from_json(answered(**changes))


@pytest.mark.parametrize(
    ("kind", "data", "words"),
    [
        (Started, {"worker": "w", "lease": LEASE | {"job": inf}}, "no lease: "),
        (MatchReport, PLAYED | {"lease": LEASE | {"attempt": inf}}, "no lease: "),
        (MatchReport, PLAYED | {"seconds": 10**400}, "no time in seconds: '1000"),
        (MatchReport, PLAYED | {"seconds": inf}, "no time in seconds: 'inf'"),
        (Built, {"worker": "w", "lease": LEASE, "digest": "d", "seconds": inf}, "no time in sec"),
        (Progress, under_way(inf), "no word of how far it is: "),
        # One more, as pages count them, can't be written out.
        (Progress, under_way("9" * 4300), "no word of how far it is: .*there is no game 9999"),
        (AnswersReport, answered(fault="crash", seat=inf, detail=""), "no report of a question: "),
        (AnswersReport, answered(fault="bored", seat=1, detail=""), "no report of a question: "),
        (
            AnswersReport,
            answered(fault="crash", seat=1, detail="\ud800"),
            "no report of a question",
        ),
        (AnswersReport, answered(text="\ud800"), "no report of a question"),
        (CheckReport, checked(7), "no report of a check: its options are no list"),
        (CheckReport, checked("depth"), "no report of a check: the option depth is of no kind"),
        (CheckReport, checked("w float 0 1e400 1"), "no report of a check: w takes a number"),
        (
            CheckReport,
            checked(*(f"o{number} bool true" for number in range(65))),
            "no report of a check: a bot has at most 64 options",
        ),
        (Progress, under_way(-1), "no word of how far it is: .*there is no game -1"),
    ],
)
def test_numbers_beyond_all_bounds_are_refused(kind: Any, data: Any, words: str) -> None:
    """JSON has numbers that no computer's integer, or no float, can hold."""
    with pytest.raises(JobError, match=f"^{words}"):
        kind.from_json(data)
