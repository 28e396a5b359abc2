"""What is said in an attribute, within bounds: text that is cut says so, JSON stays JSON.

Collectors drop spans that are too large, and viewers show nothing of JSON that was cut in its middle.
"""

import json
from collections.abc import Iterable, Mapping, Sequence

from .span import Attribute

TEXT = 4_000
"""Characters of one text."""
DOCUMENT = 32_000
"""Characters of one JSON document."""
MOST = 120
"""Attributes of a span: from 129 on the SDK drops the oldest, the core ones (WIRE.md, section 3)."""

Json = str | int | float | bool | None | Sequence["Json"] | Mapping[str, "Json"]


def text(value: str, limit: int = TEXT) -> str:
    """The text, or its beginning with how much is missing. Lone surrogates, which no wire carries, go."""
    clean = value.encode("utf-8", "replace").decode("utf-8")
    if len(clean) <= limit:
        return clean
    return f"{clean[:limit]}... [{len(clean) - limit:,} more characters]"


def document(value: Json, limit: int = DOCUMENT) -> str:
    """The value as JSON: whole, or with its texts shortened, or, when even that is too long, what it was."""
    for most in (TEXT, 400, 40):
        made = json.dumps(_shortened(value, most), ensure_ascii=False, default=str, allow_nan=False)
        if len(made) <= limit:
            return made
    return json.dumps({"left_out": f"{len(made):,} characters of JSON"})


def newest(documents: Iterable[str], limit: int = DOCUMENT) -> list[str]:
    """As many of the newest, given newest first, as fit; in the order in which they came. One at least."""
    kept: list[str] = []
    room = limit
    for each in documents:
        room -= len(each) + 1
        if room < 0 and kept:
            break
        kept.append(each)
    return kept[::-1]


def bounded(attributes: Mapping[str, Attribute]) -> dict[str, Attribute]:
    """No more attributes than a span can hold: the first ones are the ones that matter."""
    return dict(list(attributes.items())[:MOST])


def _shortened(value: Json, most: int) -> Json:
    match value:
        case str():
            return text(value, most)
        case float():
            return value if value - value == 0 else str(value)  # neither NaN nor infinite
        case Mapping():
            return {text(str(key), most): _shortened(each, most) for key, each in value.items()}
        case Sequence():
            return [_shortened(each, most) for each in value]
        case _:
            return value
