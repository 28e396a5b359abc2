"""What was said, in the JSON of the GenAI conventions: only where the host opted in to tell it."""

from collections.abc import Mapping
from typing import assert_never

from ...compaction.conversation import Block, Media, Message, Reasoning, Role, Text, ToolCall, ToolResult
from ...tracing.bounded import Json
from ..models.model import Reply

_ROLES: Mapping[Role, str] = {"user": "user", "assistant": "assistant", "tool": "tool", "note": "user"}


def messages_of(message: Message) -> list[Json]:
    """The message; each tool result as one of its own, since Phoenix keeps but the last of several."""
    role = _ROLES[message.role]
    if message.results:
        return [{"role": role, "parts": _parts(each)} for each in message.blocks]
    return [{"role": role, "parts": [part for block in message.blocks for part in _parts(block)]}]


def reply_of(reply: Reply) -> dict[str, Json]:
    """A reply as one message."""
    return {"role": "assistant", "parts": [part for block in reply.message.blocks for part in _parts(block)]}


def _parts(block: Block) -> list[Json]:
    match block:
        case Text(text):
            return [{"type": "text", "content": text}]
        case Reasoning(text):
            return [{"type": "reasoning", "content": text}] if text else []
        case ToolCall():
            return [{"type": "tool_call", "id": block.id, "name": block.name, "arguments": block.arguments}]
        case ToolResult():
            return [{"type": "tool_call_response", "id": block.call, "response": block.content}]
        case Media():
            return [{"type": "text", "content": f"[{block.mime} {block.name}]"}]
        case _ as never:
            assert_never(never)
