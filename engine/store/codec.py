"""Facts as bytes and back.

The body of a row is UTF-8 JSON. Each kind has a version; a row of an older one is brought up to date
by pure functions from JSON to JSON before it is read, so that the fold knows today's facts only.
"""

import json
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from typing import NamedTuple, cast

from pydantic import JsonValue, TypeAdapter

from ..errors import JournalUnreadable
from .branches import Forked, Moved
from .cached import Warmed
from .facts import (
    Began,
    Checked,
    Compacted,
    Fact,
    Faulted,
    Linked,
    Noted,
    Opened,
    Remembered,
    Replied,
    Resumed,
    Settled,
    SkillActivated,
    Started,
    Stopped,
    TasksSet,
    Unknown,
    Waited,
)
from .people import Answered, CancelAsked, Decided, Expired, Questioned, Refused, Requested, Said

Upcaster = Callable[[dict[str, JsonValue]], dict[str, JsonValue]]


class Body(NamedTuple):
    """A fact as a row keeps it."""

    kind: str
    version: int
    body: bytes


KINDS: Mapping[str, type[Fact]] = {
    "opened": Opened,
    "began": Began,
    "resumed": Resumed,
    "noted": Noted,
    "replied": Replied,
    "faulted": Faulted,
    "waited": Waited,
    "compacted": Compacted,
    "started": Started,
    "settled": Settled,
    "tasks": TasksSet,
    "linked": Linked,
    "checked": Checked,
    "skill": SkillActivated,
    "remembered": Remembered,
    "requested": Requested,
    "questioned": Questioned,
    "expired": Expired,
    "decided": Decided,
    "answered": Answered,
    "said": Said,
    "cancel": CancelAsked,
    "refused": Refused,
    "stopped": Stopped,
    "warmed": Warmed,
    "forked": Forked,
    "moved": Moved,
}
"""The name of each kind in a journal. Names are for good: classes may be renamed, these not."""

UPCASTERS: Mapping[str, tuple[Upcaster, ...]] = {}
"""Per kind, the functions from version 1 to 2, from 2 to 3, and so on: today's version is one more
than there are."""

_NAMES = {kind: name for name, kind in KINDS.items()}


@cache
def _adapter(name: str) -> TypeAdapter[Fact]:
    return TypeAdapter(KINDS[name])


def encode(fact: Fact) -> Body:
    """The fact as a row keeps it, at today's version of its kind."""
    name = _NAMES[type(fact)]
    return Body(name, 1 + len(UPCASTERS.get(name, ())), _adapter(name).dump_json(fact))


def decode(body: Body, upcasters: Mapping[str, tuple[Upcaster, ...]] = UPCASTERS) -> Fact | Unknown:
    """The fact behind a row; Unknown when its kind or version is newer than this release.

    Raises:
        JournalUnreadable: the body is damaged.
    """
    steps = upcasters.get(body.kind, ())
    if body.kind not in KINDS or body.version > 1 + len(steps):
        return Unknown(body.kind, body.version, body.body)
    try:
        return _adapter(body.kind).validate_json(_upcast(body, steps))
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise JournalUnreadable(f"a row of kind {body.kind!r} is damaged: {error}") from error


def unrecordable(fact: Fact) -> str:
    """Why the fact would not be read back as it is; empty when it would.

    Facts hold what models, tools and hosts gave. One that comes back changed would make the fold
    differ from the state, and one that cannot be read would end its session for good.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read_back = decode(encode(fact))
    except (JournalUnreadable, ValueError, TypeError, RecursionError) as error:
        return str(error) or type(error).__name__
    return "" if read_back == fact else "it is not the same when it is read back"


def _upcast(body: Body, steps: tuple[Upcaster, ...]) -> bytes:
    if body.version < 1:
        raise ValueError(f"there is no version {body.version}")
    missing = steps[body.version - 1 :]
    if not missing:
        return body.body
    value = cast("dict[str, JsonValue]", json.loads(body.body))
    for step in missing:
        value = step(value)
    return json.dumps(value).encode()
