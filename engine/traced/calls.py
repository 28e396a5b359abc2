"""What follows from a reply as parts of a run: calls of tools, waiting for people, checks of answers."""

import json
import re

from ...compaction.conversation import ToolCall, ToolResult
from ...tracing.bounded import document, text
from ...tracing.span import Attribute
from ..store.facts import Checked, Settled
from ..store.people import Answered, Decided, Expired, Questioned, Requested
from .parts import Part

_FAILED = re.compile(r'\s*(?:[{\[]\s*"?)?(?:error|exception|traceback|failed|failure)\b', re.IGNORECASE)
"""How an output begins that says it failed though its call did not."""


def tool(call: ToolCall | None, settled: Settled, *, content: bool) -> Part:
    """A call of a tool."""
    result = settled.result
    told: dict[str, Attribute | None] = {
        "operation": "execute_tool",
        "kind": "TOOL",
        "tool": settled.tool,
        "tool_type": "function",
        "call": result.call,
        "as_called": None if call is None else call.name,
        "result_chars": len(result.content),
        "offloaded": result.handle,
        "records": len(settled.records),
        "outcome": _outcome(settled),
        "error_type": "tool_error" if result.error else None,
        **(_exchanged(call, result) if content else {}),
    }
    # What a tool says is content: without it only that the call failed is told.
    error = (result.content if content else _outcome(settled)) if result.error else ""
    return Part(("tool", result.call), f"execute_tool {settled.tool}", told, error=error)


def _outcome(settled: Settled) -> str:
    """What became of a call; "suspect" for a success that reads like a failure, or says nothing."""
    result = settled.result
    if settled.unknown:
        return "unknown"
    if result.error:
        return "failed"
    nothing = result.content == "(no output)" and not result.media
    return "suspect" if nothing or _FAILED.match(result.content) else "done"


Heard = Decided | Answered | Expired


def waited(asked: Requested | Questioned, said: Heard) -> Part:
    """The time in which a call waited for a person."""
    kind = "approval" if isinstance(asked, Requested) else "question"
    told: dict[str, Attribute | None] = {
        "kind": "CHAIN",
        "call": asked.call,
        "tool": asked.tool if isinstance(asked, Requested) else None,
        "waited_for": kind,
        "outcome": _decision(said),
        "who": None if isinstance(said, Expired) else said.posted.who or None,
    }
    return Part(("wait", asked.call), f"wait for {kind}", told)


def _decision(said: Heard) -> str:
    match said:
        case Decided():
            return "approved" if said.approved else "denied"
        case Answered():
            return "answered"
        case Expired():
            return "expired"


def check(turn: int, checked: Checked, *, content: bool) -> Part:
    """The check of an answer."""
    doubts = [*checked.doubts, *([checked.problem] if checked.problem else [])]
    told: dict[str, Attribute | None] = {
        "kind": "EVALUATOR",
        "figures": len(checked.figures),
        "figures_unlinked": sum(bool(each.problem) for each in checked.figures),
        "doubts": document(doubts, 4_000) if doubts and content else None,
    }
    error = f"{len(doubts)} {'doubt' if len(doubts) == 1 else 'doubts'}" if doubts else ""
    return Part(("check", turn), "check answer", told, error=error)


def _exchanged(call: ToolCall | None, result: ToolResult) -> dict[str, Attribute | None]:
    arguments = None if call is None else document(call.arguments, 8_000)
    said = text(result.content)
    return {
        "arguments": arguments,
        "call_result": document(said, 8_000),
        "input": arguments,
        "input_type": "application/json",
        "output": said,
        "output_type": "application/json" if _is_json(said) else "text/plain",
    }


def _is_json(said: str) -> bool:
    if not said.startswith(("{", "[")):
        return False
    try:
        json.loads(said)
    except (ValueError, RecursionError):
        return False
    return True
