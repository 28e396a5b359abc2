"""A server that speaks MCP over stdio as it stands in the specification, without any SDK, and misbehaves.

    python raw_mcp_server.py '{"protocol": "2025-06-18", "log": "calls.txt"}'

Its one argument says how: `PLAN.get` below names what it may hold. Without a word of the protocol it speaks
a version before 2026, as most servers do today; with "2026-07-28" it knows that one alone.
"""

import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

Message: TypeAlias = Mapping[str, Any]

PLAN: Message = json.loads(sys.argv[1])
LOG = Path(PLAN["log"])
"""A line for each start, each call and each word that is not a request."""
MODERN = PLAN.get("protocol") == "2026-07-28"
FORM: Message = {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]}
HINTS: Mapping[str, Message] = {
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
    "model": {"readOnlyHint": True},
    "wrong": {"destructiveHint": False},
}


def noted(line: str) -> int:
    """Writes a line into the log; gives how often it stands there."""
    with LOG.open("a") as log:
        log.write(f"{line}\n")
    return LOG.read_text().splitlines().count(line)


def send(message: Message) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def said(text: str, beside: Message | None = None) -> Message:
    return {"content": [{"type": "text", "text": text}], "resultType": "complete", **(beside or {})}


class Failed(Exception):
    """An error of the protocol."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message, **({} if data is None else {"data": data})}


# The tools.


def odd(identity: object, params: Message) -> Message:
    """Gives what does not fit its own schema."""
    return said("all of it", {"structuredContent": {"total": 7}})


def junk(identity: object, params: Message) -> Message:
    """Writes what is no message."""
    sys.stdout.write("Loading model...\n{not json\n[1, 2\n\n")
    sys.stdout.flush()
    sys.stdout.buffer.write(b"\xff\xfe\x00 half a line\n")
    return said("junk")


def env(identity: object, params: Message) -> Message:
    """Tells its environment."""
    return said(json.dumps(dict(os.environ)))


def book(identity: object, params: Message) -> Message:
    """Asks for a day first."""
    answer = _given(params) if MODERN else _asked(identity)
    if answer is None:
        asks = {"method": "elicitation/create", "params": {"message": "Which day?", "requestedSchema": FORM}}
        state = f"state of {os.getpid()}"
        return {"resultType": "input_required", "inputRequests": {"day": asks}, "requestState": state}
    noted(f"answered {json.dumps(answer)}")
    accepted = answer.get("action") == "accept"
    return said(f"booked {answer['content']['day']}" if accepted else "nothing is booked")


def _given(params: Message) -> Message | None:
    if params.get("requestState", f"state of {os.getpid()}") != f"state of {os.getpid()}":
        noted("unknown state")
        raise Failed(-32602, "unknown state")
    return params.get("inputResponses", {}).get("day")


def _asked(identity: object) -> Message:
    """What the client answers in the middle of the call."""
    asks = {"message": "Which day?", "requestedSchema": FORM}
    send({"id": f"ask {identity}", "method": "elicitation/create", "params": asks})
    for line in sys.stdin:
        answer = json.loads(line)
        if answer.get("id") == f"ask {identity}":
            return answer["result"]
    raise Failed(-32603, "nobody is there")


def page(identity: object, params: Message) -> Message:
    """Wants a page to be opened first (2025-11-25)."""
    if noted("asked to open the page") > 1:
        return said("the page was opened")
    wanted = {"mode": "url", "message": "Sign in.", "url": "https://example.com/in", "elicitationId": "e1"}
    raise Failed(-32042, "sign in", {"elicitations": [wanted]})


def model(identity: object, params: Message) -> Message:
    """Wants to use the client's model."""
    content = {"role": "user", "content": {"type": "text", "text": "Hello?"}}
    asks = {"method": "sampling/createMessage", "params": {"messages": [content], "maxTokens": 9}}
    return {"resultType": "input_required", "inputRequests": {"m": asks}}


def hang(identity: object, params: Message) -> None:
    """Tells how far it is, and never ends."""
    token = params["_meta"]["progressToken"]
    send({"method": "notifications/progress", "params": {"progressToken": token, "progress": 1, "total": 4}})


def wrong(identity: object, params: Message) -> Message:
    """Gives what is no result."""
    return {"content": "all of it"}


TOOLS: Mapping[str, Callable[[object, Message], Message | None]] = {
    "odd": odd,
    "junk": junk,
    "env": env,
    "book": book,
    "page": page,
    "model": model,
    "hang": hang,
    "wrong": wrong,
}


# The methods.


def called(identity: object, params: Message) -> Message | None:
    name, word = params["name"], params.get("arguments", {}).get("word", "")
    key = params.get("_meta", {}).get("offing/idempotency-key", "") if PLAN.get("keys") else ""
    context = params.get("_meta", {}).get("traceparent", "") if PLAN.get("traces") else ""
    line = " ".join(filter(None, (name, word, key, context)))
    if noted(line) <= PLAN.get("dies", {}).get(name, 0):
        sys.stderr.write("out of memory\n")
        sys.stderr.flush()
        os._exit(3)
    tool = TOOLS.get(name)
    return said(" ".join(filter(None, (name, word)))) if tool is None else tool(identity, params)


def listed(identity: object, params: Message) -> Message:
    per_page, pages = PLAN.get("per_page", 0), PLAN.get("pages", 1)
    page = int(params.get("cursor", 0))
    names = [f"tool_{page * per_page + place:05}" for place in range(per_page)] or list(HINTS)
    if PLAN.get("grows") and LOG.read_text().count("started") > 1:
        names.append("new")
    more = {} if pages is not None and page + 1 >= pages else {"nextCursor": str(page + 1)}
    return {"tools": [about(name) for name in names], **more, **CACHED}


CACHED: Message = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"} if MODERN else {}


def about(name: str) -> Message:
    schema = {"type": "object", "properties": {"word": {"type": "string"}}}
    said: dict[str, Any] = {"name": name, "description": f"Does {name}.", "inputSchema": schema}
    if name == "odd":
        said["outputSchema"] = {"type": "object", "required": ["sum"]}
    return {**said, "annotations": HINTS.get(name, {"readOnlyHint": True})}


def initialized(identity: object, params: Message) -> Message:
    version = PLAN.get("protocol", "2025-06-18")
    server = {"name": "raw", "version": "1"}
    return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server}


def discovered(identity: object, params: Message) -> Message:
    return {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, **CACHED}


def unheard(identity: object, params: Message) -> Message:
    raise Failed(-32601, "there is no such method")


METHODS: Mapping[str, Callable[[object, Message], Message | None]] = {
    "tools/call": called,
    "tools/list": listed,
    **({"server/discover": discovered} if MODERN else {"initialize": initialized}),
}


def answered(message: Message) -> None:
    identity, method = message.get("id"), message["method"]
    if identity is None:
        if method == "notifications/cancelled":
            noted("cancelled")
        return
    try:
        result = METHODS.get(method, unheard)(identity, message.get("params", {}))
    except Failed as failed:
        send({"id": identity, "error": failed.error})
    else:
        if result is not None:
            send({"id": identity, "result": result})


def serve(at_start: str) -> None:
    noted("started")
    if at_start == "die":
        sys.stderr.write("no licence: KEY=hush-hush-secret\n")
        return
    if at_start == "junk":
        sys.stdout.write("Welcome to the raw server!\n\n")
    for line in sys.stdin:
        if at_start != "silent":
            answered(json.loads(line))


if __name__ == "__main__":
    serve(PLAN.get("at_start", ""))
