"""The context of a call's span goes where the call goes: to HTTP services and to MCP servers."""

import json
import sys
from pathlib import Path

import pytest
from pydantic import JsonValue

from failing_run import Kept
from offing.engine import ApprovalPolicy, ApprovalRule, Call, Engine, Scripted, Step
from offing.namespaces.mcp import McpNamespace
from offing.namespaces.tool import Namespace
from offing.tracing import Tracing
from offing.tracing.span import Span
from openapi_billing import CREDENTIALS, Billing, billing
from openapi_service import Service
from worlds import invoke

pytestmark = pytest.mark.anyio
ALLOWED = ApprovalPolicy((ApprovalRule("*__*", "allow"),))


async def call_made(namespace: Namespace, call: Call) -> Span:
    """The span of the one call of a run."""
    kept = Kept()
    script = Scripted([Step(calls=[call]), "Done."])
    async with Engine(script, [namespace], approvals=ALLOWED, tracing=Tracing([kept])) as engine:
        await engine.session("s", credentials=CREDENTIALS).ask("Go.")
    (span,) = (one for one in kept.spans if one.name.startswith("execute_tool"))
    assert span.error == ""
    return span


async def test_an_http_service_is_told_in_a_header() -> None:
    async with Service(Billing()) as service:
        invoice: dict[str, JsonValue] = {"customer": "ACME", "amount": "120.00"}
        span = await call_made(billing(service.url), invoke("create_invoice", ns="billing", body=invoice))
        (seen,) = service.seen
    assert seen.headers["traceparent"] == f"00-{span.trace}-{span.id}-01"


async def test_an_mcp_server_is_told_in_its_requests_meta(tmp_path: Path) -> None:
    log = tmp_path / "calls.txt"
    told = json.dumps({"log": str(log), "traces": True})
    server = Path(__file__).with_name("raw_mcp_server.py")
    namespace = McpNamespace("raw", command=[sys.executable, "-I", "-S", str(server), told])
    span = await call_made(namespace, Call("raw__invoke_tool", {"tool": "look", "arguments": {}}))
    assert log.read_text().splitlines()[-1] == f"look 00-{span.trace}-{span.id}-01"
