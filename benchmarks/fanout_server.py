"""The server side of `fanout.py`: answers each request after a while, by what it is a part of.

    PYTHONPATH=tests python benchmarks/fanout_server.py STRANDS STEPS SECONDS

A request that begins with "Fan out" is the top run's: its first answer hands work on to STRANDS strands, its
second one is the last. All others are of strands: they make a call in each step, and answer in the last one.
What is written is made before the first request. Its URL is the first line it prints.
"""

import asyncio
import sys

from overhead_server import HEAD

from loopback import Answer, Text, ToolUse, Usage, stream_plan
from loopback_answers import Envelope


def wire(place: int, answer: Answer) -> bytes:
    """A reply of Anthropic's `POST /v1/messages`, streamed."""
    return stream_plan(answer, answer, Envelope(f"msg_{place:04}", "claude", Usage()), HEAD).wire


class Server:
    """Answers by how many replies a conversation has, and whose it is."""

    def __init__(self, strands: int, steps: int, seconds: float) -> None:
        parts = [{"title": f"Part {n}", "task": f"Work on part {n}."} for n in range(strands)]
        look = ToolUse("sys__invoke_tool", {"tool": "look", "arguments": {}})
        self._top = [
            wire(0, Answer([ToolUse("delegate", {"strands": parts})])),
            wire(1, Answer([Text("All are done.")])),
        ]
        self._strand = [wire(n, Answer([look])) for n in range(steps - 1)]
        self._strand.append(wire(steps, Answer([Text("Part done. " * 20)])))
        self._seconds = seconds

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection; the client closes it."""
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
                body = await reader.readexactly(length)
                wires = self._top if b'"Fan out' in body else self._strand
                await asyncio.sleep(self._seconds)
                writer.write(wires[body.count(b'"role":"assistant"')])
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


async def serve(strands: int, steps: int, seconds: float) -> None:
    """Serves until it is killed."""
    server = await asyncio.start_server(
        Server(strands, steps, seconds).connected, "127.0.0.1", 0, backlog=1_024
    )
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])))
