"""Servers that others have written, where they are installed: over stdio, connected and called."""

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from offing.engine import Call, Engine, Scripted, Step
from offing.namespaces.mcp import McpNamespace
from worlds import outside, state_of


@pytest.mark.parametrize(
    ("program", "tool", "arguments", "answer"),
    [
        ("mcp-server-everything", "get-sum", {"a": 1, "b": 2}, "The sum of 1 and 2 is 3."),
        ("mcp-server-filesystem", "list_allowed_directories", {}, "Allowed directories:"),
        ("mcp-server-memory", "read_graph", {}, '{"entities":[],"relations":[]}'),
        ("mcp-server-time", "get_current_time", {"timezone": "Europe/London"}, '{"timezone":"Europe/London"'),
        ("mcp-server-git", "git_status", {"repo_path": "."}, ""),
        ("mcp-server-fetch", "fetch", {"url": "http://127.0.0.1:9/"}, "Error executing tool fetch"),
    ],
)
async def test_a_server_that_others_have_written_is_a_namespace(
    program: str, tool: str, arguments: Mapping[str, str], answer: str, tmp_path: Path
) -> None:
    found = shutil.which(program)
    if found is None:
        pytest.skip(f"{program} is not on the PATH")
    where = [str(tmp_path)] if program == "mcp-server-filesystem" else []
    memory = {"MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl")} if program == "mcp-server-memory" else {}
    namespace = McpNamespace("sys", command=[found, *where], env=memory)
    asked = Call("sys__invoke_tool", {"tool": tool, "arguments": dict(arguments)})
    async with Engine(Scripted([Step(calls=[asked]), "done"]), [namespace], outside=outside()) as engine:
        session = engine.session("s")
        assert (await session.ask("Go.")).answered
        assert session.disconnected == []
        state = await state_of(engine, "s")
    ((result,),) = [message.results for message in state.conversation.messages if message.results]
    assert result.content.startswith(answer)
