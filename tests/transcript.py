"""What a model is sent, as text that a person reviews: one numbered line a message, long content short.

It is read from the body that reached the server, so a line shows what was sent and nothing else.
"""

import json
from collections.abc import Mapping
from typing import Any

from loopback_prompt import as_list, as_object, blocks_of

SHOWN = 160
"""Characters of a text that a line shows."""


def transcript(scenario: str, body: Mapping[str, Any]) -> str:
    """The messages of a request body. `*` stands behind what carries a cache marker."""
    messages = [as_object(message) or {} for message in as_list(body.get("messages"))]
    lines = [f"{number} {_message(message)}" for number, message in enumerate(messages, start=1)]
    return "\n".join([f"Scenario: {scenario}", *lines])


def frame(scenario: str, body: Mapping[str, Any]) -> str:
    """The first two layers of a request body: tools in one line each, then the system prompt, whole."""
    tools = [as_object(tool) or {} for tool in as_list(body.get("tools"))]
    listed = [f"- {tool['name']}{_inputs(tool)}: {tool['description']}" for tool in tools]
    system = [f"{block['text']}{_mark(block)}" for block in blocks_of(body.get("system"))]
    return "\n".join([f"Scenario: {scenario}", "TOOLS", *listed, "SYSTEM", "\n====\n".join(system)])


def short(text: str) -> str:
    """The text on one line, its middle left out when it is long."""
    line = text.replace("\n", "\\n")
    if len(line) <= SHOWN:
        return line
    half = SHOWN // 2
    return f"{line[:half]} ...{len(line) - 2 * half}... {line[-half:]}"


def _message(message: Mapping[str, Any]) -> str:
    return f"{message['role']}: {' | '.join(map(_block, blocks_of(message['content'])))}"


def _block(block: Mapping[str, Any]) -> str:
    match block["type"]:
        case "text":
            shown = short(block["text"])
        case "tool_use":
            shown = short(f"CALL {block['id']} {block['name']} {_compact(block['input'])}")
        case "tool_result":
            failed = " ERROR" if block.get("is_error") else ""
            shown = f"RESULT {block['tool_use_id']}{failed} {_content(block['content'])}"
        case "thinking":
            shown = f"THINKING {short(block['thinking'])!r}"
        case kind:
            shown = f"[{kind}]"
    return f"{shown}{_mark(block)}"


def _content(content: object) -> str:
    return ", ".join(_block(block) for block in blocks_of(content))


def _inputs(tool: Mapping[str, Any]) -> str:
    schema = as_object(tool["input_schema"]) or {}
    required = as_list(schema.get("required"))
    names = [f"{name}" if name in required else f"{name}?" for name in schema.get("properties", {})]
    return f"({', '.join(names)})"


def _mark(block: Mapping[str, Any]) -> str:
    return " *" if "cache_control" in block else ""


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
