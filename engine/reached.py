"""What a run reads of its strands: what each came to, short, whatever they found.

Whole answers are kept in one document. Of each that is longer than its share the beginning is shown, with
the place in that document where it goes on.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from ..namespaces.tool import Attachment, ToolOutput
from .answer.delivered import Delivered, delivered
from .lineage import child_of
from .prompts import prompt
from .run_state import RunState
from .scrub import scrub
from .state import State

DOCUMENT = "strands.md"
"""Name of the document with the whole answers."""
_LEAST = 100
"""Characters of an answer that are shown however many strands there are."""
_BESIDE = 200
"""Characters that each strand takes beside its answer, roughly."""
_DETAIL = 300
"""Characters of why a strand stopped."""
_MOST = 20
"""Figures, tasks or calls that are listed one by one."""


@dataclass(slots=True)
class _Document:
    text: str = ""
    is_needed: bool = False
    """Whether anything of it is not shown."""
    shown: list[str] = field(default_factory=list[str])


def reached(state: State, call: str) -> ToolOutput:
    """The result of a call whose strands have stopped. It is an error when none of them has an answer."""
    run = state.current
    strands = run.strands[call]
    limits = run.began.limits
    share = max(_LEAST, min(limits.strand_chars, limits.result_chars // len(strands) - _BESIDE))
    document, answered = _Document(), False
    for number, strand in enumerate(strands, start=1):
        child = state.children[child_of(run.id, call, number)]
        heading = {"number": f"{number}", "title": strand.title, "how": _how(child.run)}
        whole = _whole(child)
        document.text += f"{prompt('strand_result', reached='', **heading)}\n"
        start = len(document.text)
        document.text += f"{whole}\n\n"
        shown = _cut(whole, share, start, f"result/{call}/{DOCUMENT}")
        document.is_needed = document.is_needed or shown != whole
        document.shown.append(prompt("strand_result", reached=shown, **heading))
        answered = answered or (child.run is not None and _is_answered(child.run))
    kept = (Attachment(DOCUMENT, document.text.encode(), "text/markdown"),) if document.is_needed else ()
    return ToolOutput("\n\n".join(document.shown), error=not answered, attachments=kept)


def _is_answered(run: RunState) -> bool:
    return run.stopped is not None and run.stopped.why == "answered"


def _how(run: RunState | None) -> str:
    if run is None or run.stopped is None:
        return "not begun: the run was told to stop"
    if run.stopped.why == "answered":
        return "answered"
    return f"stopped ({run.stopped.why}): {' '.join(run.stopped.detail.split())[:_DETAIL]}"


def _whole(child: State) -> str:
    """All that a strand came to."""
    run = child.run
    if run is None:
        return "It did nothing."
    final = delivered(run)
    said = scrub(final.answer).strip() or "It said nothing."
    return "\n".join([said, *_linked(final), *_doubtful(final), *_left(child), *_unknown(run)])


def _linked(final: Delivered) -> Iterator[str]:
    """Figures whose records are tied to them apart from the text."""
    tied = [each for each in final.figures if each.records and not each.problem]
    apart = [each for each in tied if not any(record in final.answer for record in each.records)]
    for each in apart[:_MOST]:
        yield f"{each.text} {' '.join(f'[[{record}]]' for record in each.records)}"


def _doubtful(final: Delivered) -> Iterator[str]:
    for each in [figure for figure in final.figures if figure.problem][:_MOST]:
        yield f"Not borne out by a record: {each.text}: {each.problem}"


def _left(child: State) -> Iterator[str]:
    """What it had on its list and did not get to, unless it has answered."""
    left = [task.title for task in child.tasks if task.status in {"pending", "active"}]
    if left and not _is_answered(child.current):
        yield f"Left undone: {', '.join(left[:_MOST])}"


def _unknown(run: RunState) -> Iterator[str]:
    if run.unknown:
        yield f"Outcome unknown, inspect before repeating: {', '.join(run.unknown[:_MOST])}"


def _cut(text: str, most: int, start: int, handle: str) -> str:
    """The beginning of a text, not in the middle of a citation, and where the rest is."""
    if len(text) <= most:
        return text
    head = text[:most]
    if head.rfind("[[") > head.rfind("]]"):
        head = head[: head.rfind("[[")]
    place = {"handle": handle, "offset": f"{start + len(head)}"}
    return (
        f"{head}\n{prompt('strand_cut', left=f'{len(text) - len(head):,}', total=f'{len(text):,}', **place)}"
    )
