"""Which submissions have code in common: fingerprints of their tokens.

A file is read as tokens of its language (by Pygments), of which names, numbers and texts count only
as that, and blanks and comments not at all: so a program stays alike when its variables are renamed
and its lines wrapped. Of all runs of `RUN` tokens some are chosen as fingerprints by *winnowing*
(Schleimer, Wilkerson and Aiken, "Winnowing: Local Algorithms for Document Fingerprinting", SIGMOD
2003): of each `WINDOW` runs that follow each other the one of the least hash. Any
`RUN + WINDOW - 1` tokens that two programs share have a fingerprint in common, wherever they
stand, and no fewer than `RUN` ever do.

What is likeness is for people to judge: there are few ways to write down what the referee says.
"""

from __future__ import annotations

import zlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import comb
from typing import NamedTuple

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_for_filename
from pygments.token import Comment, Literal, Name, Number, String, Text, _TokenType
from pygments.util import ClassNotFound

RUN, WINDOW = 20, 15
"""How many tokens a fingerprint stands for, and of how many runs one is chosen."""
MOST_BYTES = 256 * 1024
"""The most that a file may have; of a longer one nothing is read."""
MOST_ALL_BYTES = 2 * 1024 * 1024
MOST_TOKENS = 200_000
"""The most that are read of a submission, by the order of its files' names; what is beyond either
is not."""
MOST_PAIRS = 2_000_000
"""The most pairs of submissions with a fingerprint in common, over all fingerprints. Beyond that
what most have is taken for given."""
MOST_PLACES = 100_000
"""The most that are looked at of two submissions put side by side: what stands in few places comes
first. So many take about a second, for which whoever asks waits."""
MOST_ALIKE = 20
"""What stands more often in a submission is not looked for in fragments: such code is made by a
program, or is a table."""
_BASE, _MODULUS = 1_000_003, (1 << 61) - 1
"""The numbers of the rolling hash (Karp and Rabin)."""


class Passage(NamedTuple):
    """Where a fingerprint stands in a submission."""

    file: str
    first: int
    """The line in which its first token stands, from 1."""
    last: int


@dataclass(frozen=True, slots=True)
class Prints:
    """The fingerprints of a submission, in the order of its files and their tokens."""

    hashes: tuple[int, ...]
    passages: tuple[Passage, ...]
    """Where each of them stands."""

    def without(self, known: Collection[int]) -> Prints:
        """Those that are not known already, as of code that everybody was given."""
        kept = [n for n, one in enumerate(self.hashes) if one not in known]
        return Prints(tuple(self.hashes[n] for n in kept), tuple(self.passages[n] for n in kept))


class Fragment(NamedTuple):
    """What two submissions have in common in one place each."""

    first: Passage
    second: Passage
    prints: int
    """How many fingerprints of it follow each other in both."""


class Likeness(NamedTuple):
    """How alike two submissions are."""

    first: str
    second: str
    of_first: float
    """The share of the first's fingerprints that stand in the second, too, from 0 to 1."""
    of_second: float
    prints: int
    """How many different fingerprints they have in common."""

    @property
    def share(self) -> float:
        """The larger of both shares: who takes all of a small program adds to it."""
        return max(self.of_first, self.of_second)


class Allowance:
    """How much is read still of a submission: all of its files share one."""

    def __init__(self) -> None:
        """Begins with all that may be read."""
        self.bytes, self.tokens = MOST_ALL_BYTES, MOST_TOKENS


def prints_of(files: Mapping[str, bytes], allowance: Allowance | None = None) -> Prints:
    """The fingerprints of a submission's files.

    Args:
        files: what stands in them, by their names. What is of a language that is not known by the
            file's name (`is_known`), or beyond one of the limits above, is left out.
        allowance: what the submission's other files left; by default these are all.
    """
    allowance = allowance or Allowance()
    hashes: list[int] = []
    passages: list[Passage] = []
    for name in sorted(files):
        lexer, content = _lexer(name), files[name]
        if lexer is None or len(content) > min(MOST_BYTES, allowance.bytes):
            continue
        allowance.bytes -= len(content)
        codes, lines = _tokens(lexer, content, allowance.tokens)
        allowance.tokens -= len(codes)
        for at, hashed in _winnowed(codes):
            hashes.append(hashed)
            passages.append(Passage(name, lines[at], lines[at + RUN - 1]))
    return Prints(tuple(hashes), tuple(passages))


def likenesses(
    submissions: Mapping[str, Prints], *, given: Iterable[Prints] = (), common: int | None = None
) -> list[Likeness]:
    """All pairs of submissions that have a fingerprint in common, the most alike first.

    Args:
        submissions: by the names of those who handed them in.
        given: of code that everybody was given, which counts nowhere.
        common: what stands in more submissions than so many is taken for given, too, and what most
            have where there are more pairs than `MOST_PAIRS`.
    """
    known = {one for prints in given for one in prints.hashes}
    its = {name: set(prints.without(known).hashes) for name, prints in submissions.items()}
    owners: dict[int, list[str]] = defaultdict(list)
    for name in sorted(its):
        for one in its[name]:
            owners[one].append(name)
    shared: Counter[tuple[str, str]] = Counter()
    counts = {one: len(names) for one, names in owners.items()}
    many = {one for one, count in counts.items() if common is not None and count > common}
    kept = _fewest(
        {one: comb(count, 2) for one, count in counts.items() if one not in many}, MOST_PAIRS
    )
    for one in kept:
        shared.update(combinations(owners[one], 2))
    many |= counts.keys() - kept
    sizes = {name: len(own - many) for name, own in its.items()}
    found = [
        Likeness(first, second, prints / sizes[first], prints / sizes[second], prints)
        for (first, second), prints in shared.items()
    ]
    return sorted(found, key=lambda one: (-one.share, -one.prints, one.first, one.second))


def fragments(first: Prints, second: Prints, *, given: Iterable[Prints] = ()) -> list[Fragment]:
    """What two submissions have in common, the longest first, for people to see side by side.

    Fingerprints that follow each other in both are one fragment; of those that stand in several
    passages each is told.
    """
    known = {one for prints in given for one in prints.hashes}
    first, second = first.without(known), second.without(known)
    where: dict[int, list[int]] = defaultdict(list)
    for number, one in enumerate(second.hashes):
        where[one].append(number)
    often = Counter(first.hashes)
    kept = _fewest(
        {
            one: count * len(where[one])
            for one, count in often.items()
            if one in where and max(count, len(where[one])) <= MOST_ALIKE
        },
        MOST_PLACES,
    )
    pairs = {
        (number, other)
        for number, one in enumerate(first.hashes)
        if one in kept
        for other in where[one]
    }
    begun = sorted(pair for pair in pairs if (pair[0] - 1, pair[1] - 1) not in pairs)
    found = []
    for beginning in begun:
        chain = list(_chain(pairs, beginning))
        for part in _by_files(chain, first, second):
            ones, others = zip(*part, strict=True)
            found.append(Fragment(_span(first, ones), _span(second, others), len(part)))
    return sorted(found, key=lambda one: (-one.prints, one.first, one.second))


def _fewest(pairs: Mapping[int, int], most: int) -> set[int]:
    """The fingerprints that make no more than so many pairs, those that make few first.

    Args:
        pairs: how many each makes.
    """
    left, kept = most, set[int]()
    for one in sorted(pairs, key=lambda one: (pairs[one], one)):
        left -= pairs[one]
        if left < 0:
            break
        kept.add(one)
    return kept


def _chain(pairs: Collection[tuple[int, int]], at: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """Pairs that follow each other, from one on."""
    while at in pairs:
        yield at
        at = at[0] + 1, at[1] + 1


def _by_files(
    chain: Sequence[tuple[int, int]], first: Prints, second: Prints
) -> Iterator[list[tuple[int, int]]]:
    """A chain, cut where either side goes on in another file."""
    part = [chain[0]]
    for before, pair in pairwise(chain):
        same = (
            first.passages[before[0]].file == first.passages[pair[0]].file
            and second.passages[before[1]].file == second.passages[pair[1]].file
        )
        if not same:
            yield part
            part = []
        part.append(pair)
    yield part


def _span(prints: Prints, numbers: Sequence[int]) -> Passage:
    its = [prints.passages[number] for number in numbers]
    return Passage(its[0].file, min(one.first for one in its), max(one.last for one in its))


def _tokens(lexer: Lexer, content: bytes, most: int) -> tuple[list[int], list[int]]:
    """A code for each token of a file, no more than so many, and the line in which it begins."""
    # What is written in another encoding has its letters replaced, and is built as it is.
    text = content.decode("utf-8", "replace")
    codes, lines, line = list[int](), list[int](), 1
    for kind, value in lexer.get_tokens(text):
        if len(codes) >= most:
            break
        word = _word(kind, value)
        if word:
            codes.append(zlib.crc32(word.encode()))
            lines.append(line)
        line += value.count("\n")
    return codes, lines


def _word(kind: _TokenType, value: str) -> str:
    """What a token counts as; empty if it is none."""
    families = kind.split()
    if Comment.Preproc in families:
        return value.strip()
    if Comment in families or String.Doc in families or Text in families or not value.strip():
        return ""
    # Built-in names and the like tell what is done; those that somebody chose do not.
    if Name in families and Name.Builtin not in families:
        return "name"
    if Number in families:
        return "number"
    return "text" if Literal in families else value.strip()


def is_known(name: str) -> bool:
    """Whether a file's language is known by its name."""
    return _lexer(name) is not None


def _lexer(name: str) -> Lexer | None:
    """What reads a file's language; None of plain text and of what is not known."""
    try:
        # Blanks at its ends are left as they are, or lines would be counted wrong.
        found = get_lexer_for_filename(name, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None
    return None if found.name == "Text only" else found


def _winnowed(codes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The fingerprints of a file's tokens: where each begins, and its hash."""
    hashes = list(_rolling(codes))
    chosen = -1
    for start in range(max(1, len(hashes) - WINDOW + 1) if hashes else 0):
        window = range(start, min(start + WINDOW, len(hashes)))
        # The last of several that are the least, so that a run of the same is not chosen anew.
        least = min(window, key=lambda at: (hashes[at], -at))
        if least != chosen:
            chosen = least
            yield least, hashes[least]


def _rolling(codes: Sequence[int]) -> Iterator[int]:
    """The hash of each run of `RUN` tokens."""
    if len(codes) < RUN:
        return
    top = pow(_BASE, RUN - 1, _MODULUS)
    hashed = 0
    for number, code in enumerate(codes):
        if number >= RUN:
            hashed = (hashed - codes[number - RUN] * top) % _MODULUS
        hashed = (hashed * _BASE + code) % _MODULUS
        if number >= RUN - 1:
            # A polynomial grows with its first token, and the least would be the same kind of
            # place in every program.
            yield hashed * 0x9E3779B97F4A7C15 % (1 << 64)
