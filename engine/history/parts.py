"""A run taken apart into what can be compared: each part a text, at its place in the run."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import IntEnum
from typing import NamedTuple, cast

from pydantic import JsonValue, TypeAdapter

from ...compaction.conversation import Reasoning
from ...tracing import Usage
from ..errors import NotFound
from ..store.codec import encode
from ..store.facts import (
    Began,
    Checked,
    Compacted,
    Fact,
    Faulted,
    Linked,
    Noted,
    Opened,
    Replied,
    Settled,
    SkillActivated,
    Stopped,
    TasksSet,
)
from ..store.journal import Row


class Part(IntEnum):
    """What can differ, in the order in which it happens inside an iteration."""

    MODEL = 1
    STATIC = 2
    """Digest of the prompt's first layer."""
    CONTEXT = 3
    """Digest of the second."""
    MESSAGE = 4
    FILES = 5
    OUTPUT = 6
    """The schema that the answer has to fit."""
    LIMITS = 7
    SKILL = 8
    NOTE = 9
    FAULT = 10
    PROMPT = 11
    """Digest of all that was sent, layer upon layer."""
    REASONING = 12
    REPLY = 13
    STOP = 14
    """Why the reply ended."""
    CALL = 15
    ARGUMENTS = 16
    TOKENS = 17
    COST = 18
    RESULT = 19
    RECORDS = 20
    TASKS = 21
    LINK = 22
    FIGURES = 23
    OTHER = 24
    """A fact of a kind that is not looked into here."""
    END = 25
    """Why the run stopped."""


class Place(NamedTuple):
    """Where in a run a part is. Places are ordered as a run goes."""

    iteration: int
    """From 1; 0 is before the first reply was asked for."""
    part: Part
    number: int = 1
    """Of several of the sort in one iteration: from 1, for calls as they were asked for."""

    def __str__(self) -> str:
        number = f" {self.number}" if self.number > 1 else ""
        return f"iteration {self.iteration}, {self.part.name.lower()}{number}"


@dataclass(slots=True)
class _Taken:
    """What has been taken apart so far."""

    parts: dict[Place, str] = field(default_factory=dict[Place, str])
    iteration: int = 0
    calls: list[str] = field(default_factory=list[str])
    """Ids of the newest reply's calls."""

    def add(self, part: Part, text: str, *, ahead: bool = False) -> None:
        """Adds a part of this iteration, or, what is said ahead of a reply, of the next one."""
        iteration = self.iteration + ahead
        number = 1
        while Place(iteration, part, number) in self.parts:
            number += 1
        self.parts[Place(iteration, part, number)] = text

    def put(self, part: Part, number: int, text: str) -> None:
        self.parts[Place(self.iteration, part, number)] = text


def parts_of(rows: Sequence[Row], run: str) -> Mapping[Place, str]:
    """The parts of one run of a stream.

    Raises:
        NotFound: the rows have no such run.
        JournalUnreadable: this release does not know a row.
    """
    taken = _Taken()
    opened = next((row.known for row in rows if isinstance(row.fact, Opened)), None)
    if isinstance(opened, Opened):
        _opened(taken, opened)
    for row in _of(rows, run):
        _TAKERS.get(type(row.fact), _other)(taken, row.known)
    return taken.parts


class Totals(NamedTuple):
    """What a run came to and took."""

    iterations: int
    usage: Usage
    cost: Decimal | None
    """US dollars; None where the cost of a call is unknown."""
    answer: str
    """What the model said last."""
    stopped: str
    """Why it stopped; empty while it has not."""


def totals_of(rows: Sequence[Row], run: str) -> Totals:
    """What a run came to and took."""
    facts = [row.known for row in _of(rows, run)]
    replies = [fact for fact in facts if isinstance(fact, Replied)]
    asked = [fact for fact in facts if isinstance(fact, Replied | Faulted | Compacted)]
    usage, cost = Usage(), cast("Decimal | None", Decimal(0))
    for fact in asked:
        usage += fact.reply.usage if isinstance(fact, Replied) else fact.usage
        cost = None if cost is None or fact.cost is None else cost + fact.cost
    said = [text for fact in replies if (text := fact.reply.message.text).strip()]
    ends = [fact.why for fact in facts if isinstance(fact, Stopped)]
    is_over = bool(facts) and isinstance(facts[-1], Stopped)
    return Totals(len(replies), usage, cost, said[-1] if said else "", ends[-1] if is_over else "")


def _of(rows: Sequence[Row], run: str) -> Iterator[Row]:
    found = [row for row in rows if row.run == run]
    if not any(isinstance(row.fact, Began) for row in found):
        raise NotFound(f"there is no run {run!r}")
    return (row for row in found if not isinstance(row.fact, Opened))


def _opened(taken: _Taken, fact: Opened) -> None:
    taken.add(Part.MODEL, fact.model)
    taken.add(Part.STATIC, fact.static)
    taken.add(Part.CONTEXT, fact.context)


def _began(taken: _Taken, fact: Began) -> None:
    taken.add(Part.MESSAGE, _json(TypeAdapter(type(fact.message)).dump_python(fact.message, mode="json")))
    taken.add(Part.LIMITS, repr(fact.limits))
    for stored in fact.files:
        taken.add(Part.FILES, f"{stored.handle} {stored.ref}")
    if fact.output is not None:
        taken.add(Part.OUTPUT, _json(cast("JsonValue", dict(fact.output))))


def _replied(taken: _Taken, fact: Replied) -> None:
    message = fact.reply.message
    taken.iteration += 1
    taken.calls = [call.id for call in message.calls]
    if fact.request:
        taken.add(Part.PROMPT, fact.request)
    thought = "".join(block.text for block in message.blocks if isinstance(block, Reasoning))
    for part, text in ((Part.REASONING, thought), (Part.REPLY, message.text)):
        if text:
            taken.add(part, text)
    taken.add(Part.STOP, f"{fact.reply.stop} {fact.reply.detail}".strip())
    for number, call in enumerate(message.calls, start=1):
        taken.put(Part.CALL, number, call.name)
        written = _json(cast("JsonValue", dict(call.arguments))) if call.malformed is None else call.malformed
        taken.put(Part.ARGUMENTS, number, written)
    taken.add(Part.TOKENS, repr(fact.reply.usage))
    taken.add(Part.COST, "unknown" if fact.cost is None else f"{fact.cost.normalize():f} USD")


def _settled(taken: _Taken, fact: Settled) -> None:
    result = fact.result
    number = taken.calls.index(result.call) + 1
    marks = f"{'error: ' if result.error else ''}{'unknown: ' if fact.unknown else ''}"
    media = [hashlib.sha256(one.base64.encode()).hexdigest() for one in result.media]
    taken.put(Part.RESULT, number, f"{marks}{result.content}{''.join(f' [media {one}]' for one in media)}")
    if fact.records:
        taken.put(Part.RECORDS, number, "\n".join(map(repr, fact.records)))


def _noted(taken: _Taken, fact: Noted) -> None:
    taken.add(Part.NOTE, fact.text, ahead=True)


def _skill(taken: _Taken, fact: SkillActivated) -> None:
    taken.add(Part.SKILL, f"{fact.name} {fact.version} ({fact.how})")


def _faulted(taken: _Taken, fact: Faulted) -> None:
    taken.add(Part.FAULT, f"{fact.fault}: {fact.message}", ahead=True)


def _tasks(taken: _Taken, fact: TasksSet) -> None:
    items = ", ".join(f"{task.title} ({task.status})" for task in fact.tasks)
    taken.add(Part.TASKS, f"{items}; confidence {fact.confidence}")


def _linked(taken: _Taken, fact: Linked) -> None:
    taken.add(Part.LINK, f"{fact.figure}: {', '.join(fact.records)}")


def _checked(taken: _Taken, fact: Checked) -> None:
    lines = [f"{one.text} {', '.join(one.records)}: {one.problem or 'linked'}" for one in fact.figures]
    taken.add(Part.FIGURES, "\n".join([*filter(None, [fact.problem]), *lines, *fact.missing]))


def _stopped(taken: _Taken, fact: Stopped) -> None:
    taken.add(Part.END, f"{fact.why} {fact.detail}".strip())


def _other(taken: _Taken, fact: Fact) -> None:
    """Facts of other rooms count too, but for those that tell only when, where and by whom."""
    kind, _, body = encode(fact)
    if kind not in _APART:
        taken.add(Part.OTHER, f"{kind} {body.decode()}")


_APART = frozenset({"resumed", "waited", "started", "forked", "moved"})
"""Kinds that are another way in each run, or are told by what follows on them."""

_TAKERS: Mapping[type, Callable[..., None]] = {
    Began: _began,
    Replied: _replied,
    Settled: _settled,
    Noted: _noted,
    SkillActivated: _skill,
    Faulted: _faulted,
    TasksSet: _tasks,
    Linked: _linked,
    Checked: _checked,
    Stopped: _stopped,
}


def _json(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
