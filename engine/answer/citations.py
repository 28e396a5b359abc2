"""The `[[record id]]` of an answer."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ...namespaces.tool import Record

CITATION = re.compile(r"\[\[([^\[\]\n]{1,300})\]\]")


@dataclass(frozen=True, slots=True)
class Citation:
    """One `[[record id]]` of an answer."""

    number: int
    """From 1, in order of first mention."""
    id: str
    record: Record | None
    """None when no such record was read in this session: the citation is invented."""


class Mention(NamedTuple):
    """One place of an answer where a record is cited."""

    start: int
    end: int
    """Characters of the answer, the brackets included."""
    id: str


def mentions(answer: str) -> list[Mention]:
    """Every citation, in the order of the text."""
    return [Mention(*found.span(), found[1].strip()) for found in CITATION.finditer(answer)]


def citations(answer: str, records: Mapping[str, Record]) -> tuple[Citation, ...]:
    """The records that an answer cites, each once."""
    cited = dict.fromkeys(mention.id for mention in mentions(answer))
    return tuple(
        Citation(number, identity, records.get(identity)) for number, identity in enumerate(cited, start=1)
    )
