"""OFX tags as statements: of which transaction, balance or account each tag is."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ..tables.source import Findings
from .tokens import Tag

_LEVELS = {
    **dict.fromkeys(("OFX",), 0),
    **dict.fromkeys(("STMTRS", "CCSTMTRS", "INVSTMTRS"), 1),
    **dict.fromkeys(("BANKACCTFROM", "CCACCTFROM", "BANKTRANLIST", "LEDGERBAL", "AVAILBAL"), 2),
    **dict.fromkeys(("BALLIST", "BANKTRANLISTP", "STATUS"), 2),
    **dict.fromkeys(("STMTTRN", "STMTTRNP", "BAL"), 3),
    **dict.fromkeys(("PAYEE", "BANKACCTTO", "CCACCTTO", "CURRENCY", "ORIGCURRENCY"), 4),
}
"""Aggregates that matter, by depth: opening one ends each that is as deep or deeper, so a missing
closing tag does no harm."""
_LEAVES_TOO = {"CURRENCY", "ORIGCURRENCY", "PAYEE"}
"""Some banks write these as plain tags with a text."""
_STATEMENTS = {"STMTRS", "CCSTMTRS", "INVSTMTRS"}


@dataclass(slots=True)
class Aggregate:
    """One aggregate with the leaf tags directly in it."""

    name: str
    row: int
    """Line of its opening tag, counted from 1."""
    fields: dict[str, str] = field(default_factory=dict[str, str])
    """The first value of each leaf tag."""
    repeated: frozenset[str] = frozenset()
    """Leaf tags that stand in it more than once."""


@dataclass(slots=True)
class RawStatement:
    """One statement as its tags have it."""

    root: Aggregate
    parts: list[Aggregate] = field(default_factory=list[Aggregate])
    """All aggregates in it, in order, without their nesting."""

    def named(self, *names: str) -> Iterator[Aggregate]:
        """Its aggregates of these names."""
        return (part for part in self.parts if part.name in names)


def statements_in(tags: Iterable[Tag], findings: Findings) -> list[RawStatement]:
    """Gathers the bank and card statements of a file; what is cut off at its end is left out."""
    raws: list[RawStatement] = []
    stack: list[Aggregate] = []
    closed = False
    for tag in tags:
        closed = closed or (tag.name == "OFX" and not tag.opens)
        for ended in _ended(stack, tag):
            _collect(ended, raws, findings, complete=True)
        if tag.opens and _is_aggregate(tag):
            stack.append(Aggregate(tag.name, tag.row))
            if tag.name in _STATEMENTS:
                raws.append(RawStatement(stack[-1]))
        elif tag.opens and tag.value and stack:
            _fill(stack, tag)
    for ended in reversed(stack):
        _collect(ended, raws, findings, complete=closed)
    if not closed:
        findings.add("error", "ends before </OFX>: it is cut off, so entries may be missing")
    return [raw for raw in raws if _is_read(raw, findings)]


def _is_aggregate(tag: Tag) -> bool:
    return tag.name in _LEVELS and not (tag.value and tag.name in _LEAVES_TOO)


def _is_read(raw: RawStatement, findings: Findings) -> bool:
    if raw.root.name != "INVSTMTRS":
        return True
    what = "an investment statement is not read: only bank and card statements are"
    findings.add("error", what, raw.root.row)
    return False


def _ended(stack: list[Aggregate], tag: Tag) -> Iterator[Aggregate]:
    """Takes off the stack what this tag ends, innermost first."""
    level = _LEVELS.get(tag.name)
    if level is None or (tag.opens and not _is_aggregate(tag)):
        return
    if not tag.opens and all(each.name != tag.name for each in stack):
        return
    while stack and _LEVELS[stack[-1].name] >= level:
        yield stack.pop()


def _fill(stack: list[Aggregate], tag: Tag) -> None:
    top = stack[-1]
    if tag.name in top.fields:
        top.repeated |= {tag.name}
    else:
        top.fields[tag.name] = tag.value
    if top.name == "PAYEE" and tag.name == "NAME" and len(stack) > 1:
        stack[-2].fields.setdefault("NAME", tag.value)
    if top.name == "CURRENCY" and tag.name == "CURSYM" and len(stack) > 1:
        stack[-2].fields.setdefault("CURSYM", tag.value)


def _collect(ended: Aggregate, raws: list[RawStatement], findings: Findings, *, complete: bool) -> None:
    if ended.name == "STATUS" and ended.fields.get("SEVERITY") == "ERROR":
        code, says = ended.fields.get("CODE", "?"), ended.fields.get("MESSAGE", "")
        findings.add("error", f"the bank reports error {code} {says}".rstrip(), ended.row)
    if not complete and ended.name in {"STMTTRN", "STMTTRNP", "LEDGERBAL", "BAL"}:
        what = f"the file ends inside this {ended.name}, so it is left out"
        findings.add("error", what, ended.row)
    elif raws and ended.fields:
        raws[-1].parts.append(ended)
    elif ended.name in {"STMTTRN", "STMTTRNP"} and not raws:
        findings.add("error", "an entry outside of any statement is left out", ended.row)
