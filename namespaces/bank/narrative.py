"""What an MT940 :86: says: the other party's name apart from the rest, in whichever way it is split."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_MAX_TEXT = 2000
_FULL = 60
"""A line at least this long was broken where it was full, so nothing stood at the break."""
_NUMBERED = re.compile(r"[0-9]{3}([^A-Za-z0-9\s])(?=[0-9]{2})")
_KEYS = "0[0-9]|1[0-9]|2[0-9]|3[0-9]|6[0-9]"
_SEPA = re.compile(r"[A-Z]{4}\+")
"""How a part such as SVWZ+ begins."""
_POSTING, _ACCOUNT, _NAMES = ("00",), ("31",), ("32", "33")
_PURPOSE = tuple(f"{ten}{one}" for ten in (2, 6) for one in range(10))
_WORDS = (
    *("TRCD", "TRTP", "RTRN", "EREF", "PREF", "MARF", "CSID", "CNTP", "REMI", "PURP", "ULTB", "ULTD", "ULTC"),
    *("NAME", "IBAN", "BIC", "BENM", "ORDP", "ADDR", "ISDT", "EXCH", "CHGS", "OCMT", "SUM", "KREF", "MREF"),
)
_CODED = re.compile(rf"/({'|'.join(_WORDS)})(?=/)")
_KIND = re.compile(r"/?(?:USTD/|STRD/CUR|STRD/ISO)/")
_PARTY_PARTS = 3
"""A CNTP has account, bank and name, in that order."""


class Narrative(NamedTuple):
    """The content of one :86:."""

    name: str
    """The other party; empty when it is not told apart."""
    text: str


def read_narrative(lines: Sequence[str]) -> Narrative:
    """Takes the lines of one :86: apart; what has no known parts is all text."""
    whole = "".join(lines)
    if found := _NUMBERED.match(whole):
        return _numbered(whole, found[1])
    if _CODED.match(whole):
        return _coded(whole)
    return Narrative("", tidy(joined(lines)))


def joined(lines: Sequence[str]) -> str:
    """Lines as one: with a blank at a break, unless the line before was full."""
    parts = [line if len(line) >= _FULL else f"{line} " for line in lines]
    return "".join(parts)


def tidy(text: str) -> str:
    """On one line, blanks joined, and not too long."""
    return " ".join(text.split())[:_MAX_TEXT]


def _numbered(whole: str, mark: str) -> Narrative:
    """166?00CREDIT?20purpose?21goes on?31account?32name: a field that is full goes on in the next."""
    parts = re.split(rf"{re.escape(mark)}({_KEYS})", whole)
    fields: dict[str, list[str]] = {}
    for key, value in zip(parts[1::2], parts[2::2], strict=True):
        apart = " " if _SEPA.match(value) else ""
        fields.setdefault(key, []).append(apart + value)
    posting, purpose, account, name = (
        "".join(part for key in keys for part in fields.get(key, ()))
        for keys in (_POSTING, _PURPOSE, _ACCOUNT, _NAMES)
    )
    return Narrative(tidy(name), tidy(f"{posting} {purpose} {account}"))


def _coded(whole: str) -> Narrative:
    """/EREF/reference//CNTP/account/bank/name///REMI/USTD//text/: the text first, the rest after it."""
    parts = _CODED.split(whole)
    fields = list(zip(parts[1::2], parts[2::2], strict=True))
    name = next(_names(fields), "")
    said = [_KIND.sub("", value, count=1).strip("/ ") for key, value in fields if key == "REMI"]
    rest = [f"{key} {value.strip('/ ')}" for key, value in fields if key not in {"REMI", "NAME"}]
    return Narrative(tidy(name), tidy(" ".join([*said, *(each for each in rest if " " in each.strip())])))


def _names(fields: Sequence[tuple[str, str]]) -> Iterator[str]:
    for key, value in fields:
        if key == "NAME":
            yield value.strip("/ ")
        split = value[1:].split("/")
        if key == "CNTP" and len(split) >= _PARTY_PARTS:
            yield split[2].strip()
