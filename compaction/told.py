"""Messages as text: what is kept of a stretch that left the view, and what a digest is written from."""

import json
from collections.abc import Callable, Iterator, Sequence

from .conversation import Media, Message, Placed, Reasoning, Text, ToolCall, ToolResult

Cut = Callable[[str], str]
"""Shortens a text."""


def whole(text: str) -> str:
    """The text as it is."""
    return text


def told(said: Sequence[Placed], cut: Cut = whole) -> str:
    """The messages under their numbers, from 1; `cut` shortens results. Reasoning and images are left out."""
    return "\n\n".join(
        "\n".join((f"## {place + 1} {message.role}", *_blocks(message, cut))) for place, message in said
    )


def operation(call: ToolCall) -> str:
    """What a call is of: the tool behind a meta-tool, such as `bank__list_transactions`."""
    tool, namespace = call.arguments.get("tool"), call.name.partition("__")[0]
    is_behind = call.name.endswith("__invoke_tool") and isinstance(tool, str)
    return f"{namespace}__{tool}" if is_behind else call.name


def _blocks(message: Message, cut: Cut) -> Iterator[str]:
    for block in message.blocks:
        match block:
            case Text(text):
                yield text
            case ToolCall(identity, name, arguments):
                yield f"CALL {identity} {name} {json.dumps(dict(arguments), ensure_ascii=False)}"
            case ToolResult():
                yield f"RESULT {block.call}{' ERROR' if block.error else ''}\n{cut(block.content)}"
            case Media(mime, name=name):
                yield f"[{mime} {name}]"
            case Reasoning():
                pass


def ends(most: int) -> Cut:
    """Leaves the beginning and the end of a text: `most` characters in all."""

    def cut(text: str) -> str:
        if len(text) <= most:
            return text
        head, tail = text[: most * 3 // 4], text[len(text) - most // 4 :]
        return f"{head}\n[... {len(text) - len(head) - len(tail):,} characters left out ...]\n{tail}"

    return cut
