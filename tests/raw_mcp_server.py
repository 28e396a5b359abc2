"""A server that speaks MCP over stdio as it stands in the specification, without any SDK, and misbehaves.

    python raw_mcp_server.py '{"protocol": "2025-06-18", "log": "calls.txt"}'

Its parameters are those of `Plan`. It knows the versions before 2026 only, as most servers do today.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

PLAN: dict[str, Any] = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
LOG = Path(PLAN.get("log", os.devnull))

HINTS = {
    "look": {"readOnlyHint": True},
    "put": {"idempotentHint": True, "destructiveHint": False},
    "add": {"destructiveHint": False},
    "pay": {},
    "book": {"destructiveHint": False},
    "odd": {"readOnlyHint": True},
    "junk": {"readOnlyHint": True},
    "env": {"readOnlyHint": True},
    "hang": {"destructiveHint": False},
    "page": {"readOnlyHint": True},
}


def noted(line: str) -> int:
    """Writes a line into the log; gives how often it stands there."""
    if LOG == Path(os.devnull):
        return 1
    with LOG.open("a") as log:
        log.write(f"{line}\n")
    return LOG.read_text().splitlines().count(line)


def send(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def said(text: str, **beside: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], **beside}


def tool(name: str, **hints: bool) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"word": {"type": "string"}}}
    listed: dict[str, Any] = {"name": name, "description": f"Does {name}.", "inputSchema": schema}
    if hints:
        listed["annotations"] = hints
    if name == "odd":
        listed["outputSchema"] = {"type": "object", "required": ["sum"]}
    return listed


def listed(cursor: str | None) -> dict[str, Any]:
    per_page, pages = PLAN.get("per_page"), PLAN.get("pages", 1)
    if per_page is None:
        return {"tools": [tool(name, **hints) for name, hints in HINTS.items()]}
    page = int(cursor or 0)
    tools = [tool(f"tool_{page * per_page + place:05}", readOnlyHint=True) for place in range(per_page)]
    last = pages is not None and page + 1 >= pages
    return {"tools": tools} if last else {"tools": tools, "nextCursor": str(page + 1)}


def asked(identity: Any, message: str) -> Any:
    """What the client answers to a question in the middle of a call."""
    form = {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]}
    params = {"message": message, "requestedSchema": form}
    send(id=f"ask-{identity}", method="elicitation/create", params=params)
    for line in sys.stdin:
        answer = json.loads(line)
        if answer.get("id") == f"ask-{identity}":
            return answer.get("result")
    return None


def called(identity: Any, params: dict[str, Any]) -> dict[str, Any] | None:
    name, word = params["name"], params.get("arguments", {}).get("word", "")
    key = params.get("_meta", {}).get("offing/idempotency-key", "")
    times = noted(f"{name} {word}{f' {key}' if PLAN.get('keys') else ''}")
    if times <= PLAN.get("dies", {}).get(name, 0):
        print("out of memory", file=sys.stderr, flush=True)
        os._exit(3)
    if name == "odd":
        return said("all of it", structuredContent={"total": 7})
    if name == "junk":
        print("Loading model...\n{not json\n[1, 2\n\ud83d".encode("utf-8", "replace"), flush=True)
        sys.stdout.buffer.write(b"\xff\xfe\x00 half a line\n")
        sys.stdout.flush()
    if name == "env":
        return said(json.dumps(dict(os.environ)))
    if name == "book":
        answer = asked(identity, "Which day?")
        noted(f"answered {json.dumps(answer)}")
        accepted = answer is not None and answer.get("action") == "accept"
        return said(f"booked {answer['content']['day']}" if accepted else "nothing is booked")
    if name == "page":
        page = {"mode": "url", "message": "Sign in.", "url": "https://example.com/in", "elicitationId": "e1"}
        if times == 1:
            send(id=identity, error={"code": -32042, "message": "sign in", "data": {"elicitations": [page]}})
            return None
    if name == "hang":
        token = params["_meta"]["progressToken"]
        send(method="notifications/progress", params={"progressToken": token, "progress": 1, "total": 4})
        return None
    return said(f"{name} {word}".strip())


def answered(message: dict[str, Any]) -> None:
    method, identity, params = message.get("method"), message.get("id"), message.get("params", {})
    if method == "initialize":
        about = {"name": "raw", "version": "1"}
        version = PLAN.get("protocol", "2025-06-18")
        send(
            id=identity,
            result={"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about},
        )
    elif method == "tools/list":
        send(id=identity, result=listed(params.get("cursor")))
    elif method == "tools/call":
        result = called(identity, params)
        if result is not None:
            send(id=identity, result=result)
    elif method == "notifications/cancelled":
        noted("cancelled")
    elif identity is not None:
        send(id=identity, error={"code": -32601, "message": f"no method {method}"})


if __name__ == "__main__":
    noted("started")
    if PLAN.get("at_start") == "die":
        print("no licence: KEY=hush-hush-secret", file=sys.stderr)
        sys.exit(2)
    if PLAN.get("at_start") == "junk":
        print("Welcome to the raw server!\n\n")
    for line in sys.stdin:
        if PLAN.get("at_start") != "silent":
            answered(json.loads(line))
