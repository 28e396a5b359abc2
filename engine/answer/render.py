"""An answer for a plain screen, as Markdown, and as JSON: each figure's sources down to file and row."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, cast

from pydantic import JsonValue, TypeAdapter

from ...namespaces.tool import Record
from ..scrub import json_object
from ..store.facts import Figure
from .citations import CITATION, Citation

if TYPE_CHECKING:
    from .result import Result

_DERIVATION = 100
"""Characters shown of a derivation that is no expression."""
_SPACED = re.compile(rf"\s*{CITATION.pattern}")


def as_text(answer: str, cited: Sequence[Citation], figures: Sequence[Figure]) -> str:
    """Numbers in brackets for citations, and the sources in a list below."""
    body = _numbered(_marked(answer, figures, "[not linked]"), cited, "[{}]".format)
    sources = [f"[{one.number}] {source_line(one)}" for one in cited]
    return _joined(body, "Sources", sources, figures)


def as_markdown(answer: str, cited: Sequence[Citation], figures: Sequence[Figure]) -> str:
    """A footnote for each record."""
    body = _numbered(_marked(answer, figures, "**[not linked]**"), cited, "[^{}]".format)
    notes = "\n".join(f"[^{one.number}]: {_escaped(source_line(one))}" for one in cited)
    told = _joined(body, "", (), figures)
    return f"{told}\n\n{notes}" if notes else told


def as_json(result: "Result") -> dict[str, JsonValue]:
    """All that a program needs to show the answer its own way."""
    return {
        "run": result.run,
        "why": result.why,
        "detail": result.detail,
        "answer": result.answer,
        "figures": [_figure(figure) for figure in result.figures],
        "citations": [
            {"number": one.number, "id": one.id, "record": _record(one.record)} for one in result.citations
        ],
        "missing_sections": list(result.missing),
        "links": {figure: list(records) for figure, records in result.links.items()},
        "skills": dict(result.skills),
        "tasks": [{"title": task.title, "status": task.status} for task in result.tasks],
        "unknown": list(result.unknown),
        "approvals": [_fields(one) for one in result.approvals],
        "questions": [_fields(one) for one in result.questions],
        "iterations": result.iterations,
        "retries": result.retries,
        "usage": _fields(result.usage),
        "cost": None if result.cost is None else str(result.cost),
        "trace": result.trace,
        "cache": {**_fields(result.cache), "missed": result.cache.missed},
    }


def _fields(value: object) -> dict[str, JsonValue]:
    """A dataclass of plain values, field by field."""
    return cast("dict[str, JsonValue]", TypeAdapter(type(value)).dump_python(value, mode="json"))


def source_line(citation: Citation) -> str:
    """Where a citation leads, in one line."""
    record = citation.record
    if record is None:
        return f"{citation.id}: NOT A RECORD OF THIS SESSION"
    parts = (
        record.text,
        None if record.amount is None else f"{record.amount:,} {record.currency or ''}".strip(),
        record.date.isoformat() if record.date else None,
        record.file and (f"{record.file}:{record.row}" if record.row else record.file),
        record.derivation and _derived(record.derivation),
    )
    return f"{citation.id}: {' | '.join(part for part in parts if part)}"


def _numbered(answer: str, cited: Sequence[Citation], written: Callable[[int], str]) -> str:
    numbers = {one.id: written(one.number) for one in cited}
    return _SPACED.sub(lambda found: f" {numbers[found[1].strip()]}", answer)


def _marked(answer: str, figures: Iterable[Figure], mark: str) -> str:
    """The answer with a mark behind each figure that is not linked."""
    for figure in sorted(figures, key=lambda each: -each.end):
        if figure.problem:
            answer = f"{answer[: figure.end]} {mark}{answer[figure.end :]}"
    return answer


def _joined(body: str, title: str, lines: Sequence[str], figures: Iterable[Figure]) -> str:
    unlinked = [f"- {figure.text}: {figure.problem}" for figure in figures if figure.problem]
    parts = [body.rstrip() if lines or unlinked else body]
    if unlinked:
        parts += ["", "Not linked to a record that says the same:", *unlinked]
    if lines:
        parts += ["", title, *lines]
    return "\n".join(parts)


def _figure(figure: Figure) -> JsonValue:
    return {
        "text": figure.text,
        "start": figure.start,
        "end": figure.end,
        "records": list(figure.records),
        "linked": not figure.problem,
        "problem": figure.problem,
    }


def _record(record: Record | None) -> JsonValue:
    if record is None:
        return None
    return {
        "id": record.id,
        "amount": None if record.amount is None else str(record.amount),
        "currency": record.currency,
        "date": None if record.date is None else record.date.isoformat(),
        "text": record.text,
        "file": record.file,
        "row": record.row,
        "derivation": record.derivation,
    }


def _escaped(line: str) -> str:
    """What a bank wrote is text, not markup."""
    return re.sub(r"([\\`*_\[\]<>|])", r"\\\1", line)


def _derived(derivation: str) -> str:
    """How a computed record came about, in one line; the whole is in the record."""
    told = json_object(derivation) or {}
    expression, inputs = told.get("expression"), told.get("inputs")
    if not isinstance(expression, str) or not isinstance(inputs, dict):
        return f"= {derivation[:_DERIVATION]}"
    records = sum(len(given) if isinstance(given, list) else 1 for given in inputs.values())
    return f"= {expression} over {records} records"
